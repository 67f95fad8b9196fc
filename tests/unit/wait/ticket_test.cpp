// Tickets: moved, dropped, asked and cancelled, also inside callbacks.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/semaphore.hpp>
#include <weir/wait/callback.hpp>

#include <support/manual_executor.hpp>
#include <support/notes.hpp>

namespace weir {
namespace {

using test::note;

TEST(ticket, of_nothing_is_done_and_has_no_id) {
  ticket nothing;
  EXPECT_TRUE(nothing.done());
  EXPECT_EQ(nothing.id(), 0u);
  EXPECT_FALSE(nothing.cancel());
}

TEST(ticket, has_an_id_of_its_own_which_moves_along) {
  event ready;
  std::set<std::uint64_t> ids;
  std::vector<ticket> waits;
  for (int i = 0; i < 100; ++i) {
    waits.push_back(ready.wait().start([](const result<>&) {}));
    EXPECT_NE(waits.back().id(), 0u);
    ids.insert(waits.back().id());
  }
  EXPECT_EQ(ids.size(), 100u);
  const auto id = waits[0].id();
  ticket moved = std::move(waits[0]);
  EXPECT_EQ(moved.id(), id);
  EXPECT_EQ(waits[0].id(), 0u);
  EXPECT_TRUE(waits[0].done());
  EXPECT_FALSE(waits[0].cancel()) << "the operation is no longer its own";
  EXPECT_FALSE(moved.done());
  EXPECT_TRUE(moved.cancel());
  EXPECT_TRUE(moved.done());
  EXPECT_EQ(moved.id(), id) << "also of what has ended";
  EXPECT_FALSE(moved.cancel()) << "a second time";
}

TEST(ticket, assigned_to_one_that_waits_withdraws_nothing) {
  event ready;
  std::string order;
  ticket first = note(ready.wait(), order, 'a');
  ticket second = note(ready.wait(), order, 'b');
  const auto id = second.id();
  first = std::move(second);
  EXPECT_EQ(first.id(), id);
  EXPECT_EQ(second.id(), 0u);
  EXPECT_TRUE(second.done());
  EXPECT_EQ(ready.waiting(), 2u);
  EXPECT_TRUE(first.cancel());
  EXPECT_EQ(order, "b!");
  ready.set();
  EXPECT_EQ(order, "b!a") << "a dropped ticket withdraws nothing";
}

TEST(ticket, assigned_to_itself_keeps_its_operation) {
  event ready;
  const auto witness = std::make_shared<int>(0);
  ticket waits = ready.wait().start([witness](const result<>&) {});
  const auto id = waits.id();
  ticket& same = waits;
  waits = std::move(same);
  EXPECT_EQ(waits.id(), id);
  EXPECT_FALSE(waits.done());
  EXPECT_TRUE(waits.cancel());
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(ticket, swapped_with_another_cancels_the_others_operation) {
  event ready;
  std::string order;
  ticket a = note(ready.wait(), order, 'a');
  ticket b = note(ready.wait(), order, 'b');
  std::swap(a, b);
  EXPECT_TRUE(a.cancel());
  EXPECT_EQ(order, "b!");
  EXPECT_FALSE(b.done());
  EXPECT_TRUE(b.cancel());
  EXPECT_EQ(order, "b!a!");
}

TEST(ticket, erased_from_a_vector_leaves_the_others_their_own) {
  event ready;
  std::string order;
  std::vector<ticket> waits;
  for (const char name : {'a', 'b', 'c', 'd'}) waits.push_back(note(ready.wait(), order, name));
  waits.erase(waits.begin() + 1);
  EXPECT_TRUE(waits[1].cancel());
  EXPECT_EQ(order, "c!");
  ready.set();
  EXPECT_EQ(order, "c!abd");
}

TEST(ticket, dropped_inside_its_callback_leaves_the_callback_alive_until_it_returns) {
  event ready;
  const auto witness = std::make_shared<int>(0);
  std::optional<ticket> waits;
  waits = ready.wait().start([&waits, witness, copies = 0](const result<>&) mutable {
    waits.reset();
    copies = static_cast<int>(witness.use_count());
    EXPECT_EQ(copies, 2);
  });
  ready.set();
  EXPECT_FALSE(waits);
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(ticket, moved_inside_its_callback_is_done_in_its_new_place) {
  event ready;
  const auto witness = std::make_shared<int>(0);
  ticket waits;
  ticket kept;
  bool done_inside = false;
  waits = ready.wait().start([&, witness](const result<>&) {
    kept = std::move(waits);
    done_inside = kept.done();
  });
  const auto id = waits.id();
  ready.set();
  EXPECT_TRUE(done_inside);
  EXPECT_EQ(kept.id(), id);
  EXPECT_EQ(waits.id(), 0u);
  EXPECT_TRUE(kept.done());
  EXPECT_FALSE(kept.cancel());
  EXPECT_EQ(witness.use_count(), 1) << "the callback is gone, though its ticket is kept";
}

TEST(ticket, replaced_inside_its_callback_by_the_next_wait_is_that_ones) {
  semaphore sem(0);
  int rounds = 0;
  ticket waits;
  struct again {
    semaphore* sem;
    ticket* waits;
    int* rounds;
    void operator()(const result<>& outcome) const {
      if (!outcome) return;
      ++*rounds;
      *waits = sem->acquire().start(*this);
    }
  };
  waits = sem.acquire().start(again{&sem, &waits, &rounds});
  auto last_id = waits.id();
  for (int i = 1; i <= 3; ++i) {
    sem.release();
    EXPECT_EQ(rounds, i);
    EXPECT_FALSE(waits.done());
    EXPECT_NE(waits.id(), last_id);
    last_id = waits.id();
  }
  EXPECT_TRUE(waits.cancel());
  EXPECT_EQ(sem.waiting(), 0u);
}

TEST(ticket, is_done_and_cannot_be_cancelled_in_a_callback_that_was_cancelled) {
  event ready;
  ticket waits;
  std::optional<bool> done;
  std::optional<bool> cancelled;
  waits = ready.wait().start([&](const result<>& outcome) {
    EXPECT_EQ(outcome.error(), errc::cancelled);
    done = waits.done();
    cancelled = waits.cancel();
  });
  EXPECT_TRUE(waits.cancel());
  EXPECT_EQ(done, true);
  EXPECT_EQ(cancelled, false);
}

TEST(ticket, G7_cancelled_inside_another_callback_is_reported_after_that_has_returned) {
  semaphore sem(0);
  event never;
  std::string order;
  ticket second = note(never.wait(), order, 'b');
  auto first = sem.acquire().start([&](const result<>&) {
    order += '(';
    EXPECT_TRUE(second.cancel());
    EXPECT_FALSE(second.done()) << "its callback has been entered inside another one";
    order += ')';
  });
  sem.release();
  EXPECT_EQ(order, "()b!");
  EXPECT_TRUE(second.done());
  EXPECT_EQ(never.waiting(), 0u);
}

TEST(ticket, G2_of_one_that_was_granted_together_cannot_be_cancelled_by_the_callback_before_it) {
  event ready;
  std::string order;
  ticket second;
  auto first = ready.wait().start([&](const result<>&) {
    order += 'a';
    EXPECT_FALSE(second.done()) << "granted, but not entered";
    EXPECT_FALSE(second.cancel());
  });
  second = note(ready.wait(), order, 'b');
  ready.set();
  EXPECT_EQ(order, "ab");
}

TEST(ticket, G5_cancelled_inside_another_callback_lets_those_behind_it_through) {
  semaphore sem(0, 5);
  event ready;
  std::string order;
  ticket large = note(sem.acquire(5), order, 'l');
  auto small = note(sem.acquire(1), order, 's');
  sem.release(1);
  EXPECT_EQ(order, "");
  auto cancels = ready.wait().start([&](const result<>&) { EXPECT_TRUE(large.cancel()); });
  ready.set();
  EXPECT_NE(order.find('s'), std::string::npos);
  EXPECT_NE(order.find("l!"), std::string::npos);
  EXPECT_EQ(sem.available(), 0u);
}

TEST(ticket, is_not_done_while_its_cancelled_callback_is_only_posted) {
  test::manual_executor executor;
  event never;
  std::optional<std::error_code> error;
  auto waits = never.wait().resume_on(executor).start([&](const result<>& outcome) { error = outcome.error(); });
  EXPECT_TRUE(waits.cancel());
  EXPECT_FALSE(waits.done());
  EXPECT_FALSE(waits.cancel()) << "it has been withdrawn already";
  EXPECT_FALSE(error);
  executor.run_all();
  EXPECT_TRUE(waits.done());
  EXPECT_EQ(error, errc::cancelled);
}

TEST(ticket, dropped_before_its_callback_runs_withdraws_nothing_and_frees_it_once) {
  test::manual_executor executor;
  event ready;
  const auto witness = std::make_shared<int>(0);
  int calls = 0;
  std::ignore = ready.wait().resume_on(executor).start([&calls, witness](const result<>& outcome) {
    EXPECT_TRUE(outcome);
    ++calls;
  });
  EXPECT_EQ(ready.waiting(), 1u);
  ready.set();
  EXPECT_EQ(witness.use_count(), 2);
  executor.run_all();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(witness.use_count(), 1);
}

}  // namespace
}  // namespace weir
