// start(callback): what lives how long.

#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/queue.hpp>
#include <weir/shared_mutex.hpp>
#include <weir/wait/callback.hpp>

#include <support/manual_executor.hpp>

namespace weir {
namespace {

TEST(callback, is_destroyed_with_its_captures_when_it_has_returned) {
  event ready;
  const auto witness = std::make_shared<int>(0);
  bool alive_inside = false;
  auto ticket =
      ready.wait().start([&, captured = witness](const result<>&) { alive_inside = captured.use_count() == 2; });
  EXPECT_EQ(witness.use_count(), 2);
  ready.set();
  EXPECT_TRUE(alive_inside);
  EXPECT_EQ(witness.use_count(), 1) << "the ticket keeps the callback";
  EXPECT_TRUE(ticket.done());
  EXPECT_FALSE(ticket.cancel());
}

TEST(callback, that_is_cancelled_is_destroyed_when_it_has_returned) {
  event ready;
  const auto witness = std::make_shared<int>(0);
  auto ticket = ready.wait().start([captured = witness](const result<>&) {});
  EXPECT_TRUE(ticket.cancel());
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(callback, may_own_the_object_that_keeps_its_ticket) {
  struct connection {
    std::shared_ptr<int> witness;
    ticket waits;
  };
  event ready;
  const auto witness = std::make_shared<int>(0);
  {
    auto self = std::make_shared<connection>();
    self->witness = witness;
    self->waits = ready.wait().start([self](const result<>&) {});
  }
  EXPECT_EQ(witness.use_count(), 2);
  ready.set();
  EXPECT_EQ(witness.use_count(), 1) << "the object keeps its callback, and that the object";
}

TEST(callback, is_done_inside_itself_and_cannot_be_cancelled_there) {
  event ready;
  ticket waits;
  std::optional<bool> done;
  std::optional<bool> cancelled;
  waits = ready.wait().start([&](const result<>&) {
    done = waits.done();
    cancelled = waits.cancel();
  });
  EXPECT_FALSE(waits.done());
  ready.set();
  EXPECT_EQ(done, true);
  EXPECT_EQ(cancelled, false);
}

TEST(callback, that_is_posted_is_not_done_before_it_is_entered) {
  test::manual_executor executor;
  event ready(true);
  auto waits = ready.wait().resume_on(executor).start([](const result<>&) {});
  EXPECT_FALSE(waits.done());
  executor.run_all();
  EXPECT_TRUE(waits.done());
}

TEST(callback, of_a_failed_upgrade_finds_the_shared_lock_unlocked) {
  shared_mutex m;
  auto other = m.try_scoped_lock_shared();
  auto mine = m.try_scoped_lock_shared();
  std::optional<std::size_t> readers;
  auto ticket = upgrade(std::move(mine)).start([&](const auto& outcome) {
    EXPECT_EQ(outcome.error(), errc::cancelled);
    readers = m.readers();
  });
  EXPECT_EQ(m.readers(), 2u);
  EXPECT_TRUE(ticket.cancel());
  EXPECT_EQ(readers, 1u) << "nobody can reach the guard: it has to unlock before the ticket goes";
  other.unlock();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

}  // namespace
}  // namespace weir
