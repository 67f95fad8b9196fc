// Readers and writers in one FIFO queue, their limits, closing and destroying.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/run/timers.hpp>
#include <weir/shared_mutex.hpp>
#include <weir/task.hpp>

#include <support/notes.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::note;
using test::refusal_of;

TEST(shared_mutex, is_held_by_many_readers_or_one_writer) {
  shared_mutex m;
  EXPECT_TRUE(m.try_lock_shared());
  EXPECT_TRUE(m.try_lock_shared());
  EXPECT_EQ(m.readers(), 2u);
  EXPECT_FALSE(m.try_lock());
  m.unlock_shared();
  m.unlock_shared();
  EXPECT_TRUE(m.try_lock());
  EXPECT_TRUE(m.locked());
  EXPECT_FALSE(m.try_lock());
  EXPECT_FALSE(m.try_lock_shared());
  m.unlock();
  EXPECT_FALSE(m.locked());
  EXPECT_TRUE(m.check_invariants());
}

TEST(shared_mutex, is_waited_for_in_every_way) {
  shared_mutex m;
  m.lock().wait();
  m.unlock();
  m.lock_shared().wait();
  m.lock_shared().wait();  // no owner rule: one thread may hold two
  m.unlock_shared();
  m.unlock_shared();
  auto both = [](shared_mutex& locked) -> task<int> {
    {
      auto held = co_await locked.scoped_lock();
    }
    auto one = co_await locked.scoped_lock_shared();
    auto two = co_await locked.scoped_lock_shared().within(1s);
    co_return static_cast<int>(locked.readers()) + (two ? 1 : 0);
  };
  EXPECT_EQ(sync_wait(both(m)), 3);
  EXPECT_EQ(m.readers(), 0u);
}

TEST(shared_mutex, G12_giving_up_what_nobody_holds_throws_and_changes_nothing) {
  shared_mutex m;
  EXPECT_EQ(refusal_of([&] { m.unlock(); }), errc::not_owner);
  EXPECT_EQ(refusal_of([&] { m.unlock_shared(); }), errc::not_owner);
  EXPECT_EQ(refusal_of([&] { m.downgrade(); }), errc::not_owner);
  ASSERT_TRUE(m.try_lock());
  EXPECT_EQ(refusal_of([&] { m.unlock_shared(); }), errc::not_owner);
  EXPECT_TRUE(m.locked());
  m.unlock();
  ASSERT_TRUE(m.try_lock_shared());
  EXPECT_EQ(refusal_of([&] { m.unlock(); }), errc::not_owner);
  EXPECT_EQ(refusal_of([&] { m.downgrade(); }), errc::not_owner);
  EXPECT_EQ(m.readers(), 1u);
  m.unlock_shared();
  EXPECT_TRUE(m.check_invariants());
}

TEST(shared_mutex, G12_an_upgrade_of_what_nobody_holds_fails) {
  shared_mutex m;
  EXPECT_EQ(m.upgrade().as_result().wait().error(), errc::not_owner);
  ASSERT_TRUE(m.try_lock());
  EXPECT_EQ(m.upgrade().as_result().wait().error(), errc::not_owner);
  m.unlock();
  EXPECT_FALSE(m.locked());
}

TEST(shared_mutex, G3_one_line_in_which_adjacent_readers_enter_together) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock());
  auto a = note(m.lock_shared(), order, 'a');
  auto b = note(m.lock_shared(), order, 'b');
  auto c = note(m.lock(), order, 'C');
  auto d = note(m.lock_shared(), order, 'd');
  EXPECT_EQ(m.waiting(), 4u);
  m.unlock();
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(m.readers(), 2u);
  m.unlock_shared();
  EXPECT_EQ(order, "ab");
  m.unlock_shared();
  EXPECT_EQ(order, "abC");
  EXPECT_TRUE(m.locked());
  EXPECT_TRUE(m.check_invariants());
  m.unlock();
  EXPECT_EQ(order, "abCd");
  m.unlock_shared();
}

TEST(shared_mutex, G3_a_waiting_writer_stops_later_readers_and_try_does_not_overtake) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = note(m.lock(), order, 'W');
  EXPECT_FALSE(m.try_lock_shared());
  EXPECT_FALSE(m.try_scoped_lock_shared());
  EXPECT_EQ(m.lock_shared().within(0s).wait().error(), errc::timed_out);
  auto reader = note(m.lock_shared(), order, 'r');
  EXPECT_EQ(order, "");
  m.unlock_shared();
  EXPECT_EQ(order, "W");
  EXPECT_FALSE(m.try_lock());
  m.unlock();
  EXPECT_EQ(order, "Wr");
  m.unlock_shared();
}

TEST(shared_mutex, G3_readers_that_arrive_without_pause_do_not_starve_a_writer) {
  shared_mutex m;
  std::vector<ticket> arrived;
  std::size_t entered = 0;
  std::optional<std::size_t> before_the_writer;
  const auto arrive = [&] { arrived.push_back(m.lock_shared().start([&](result<>) { ++entered; })); };
  for (int i = 0; i < 3; ++i) arrive();
  auto writer = m.lock().start([&](result<>) { before_the_writer = entered; });
  for (int i = 0; i < 1000; ++i) {
    arrive();  // one comes and, while there are any, one that is inside goes
    if (i < 3) m.unlock_shared();
  }
  EXPECT_EQ(before_the_writer, 3u);
  EXPECT_EQ(entered, 3u);
  m.unlock();
  EXPECT_EQ(entered, 1003u);
  for (int i = 0; i < 1000; ++i) m.unlock_shared();
}

TEST(shared_mutex, G3_writers_that_arrive_without_pause_do_not_starve_a_reader) {
  shared_mutex m;
  std::vector<ticket> arrived;
  std::size_t entered = 0;
  std::optional<std::size_t> before_the_reader;
  const auto arrive = [&] { arrived.push_back(m.lock().start([&](result<>) { ++entered; })); };
  for (int i = 0; i < 3; ++i) arrive();
  auto reader = m.lock_shared().start([&](result<>) { before_the_reader = entered; });
  for (int i = 0; i < 1000; ++i) {
    arrive();
    if (!before_the_reader) m.unlock();
  }
  EXPECT_EQ(before_the_reader, 3u);
  EXPECT_EQ(entered, 3u);
  m.unlock_shared();
  for (int i = 0; i < 1000; ++i) m.unlock();
  EXPECT_EQ(entered, 1003u);
}

TEST(shared_mutex, G5_a_writer_that_gives_up_lets_the_readers_behind_it_in_at_once) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = note(m.lock(), order, 'W');
  auto a = note(m.lock_shared(), order, 'a');
  auto b = note(m.lock_shared(), order, 'b');
  auto next = note(m.lock(), order, 'N');
  auto c = note(m.lock_shared(), order, 'c');
  EXPECT_TRUE(writer.cancel());
  EXPECT_EQ(m.readers(), 3u);
  EXPECT_EQ(m.waiting(), 2u);
  EXPECT_NE(order.find("W!"), std::string::npos);
  EXPECT_EQ(order.find('c'), std::string::npos);
  EXPECT_TRUE(m.check_invariants());
  for (int i = 0; i < 3; ++i) m.unlock_shared();
  EXPECT_TRUE(m.locked());
  m.unlock();
  EXPECT_EQ(order.substr(4), "Nc");
  m.unlock_shared();
}

TEST(shared_mutex, G5_cancelling_head_middle_and_tail_leaves_the_others_in_order) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock());
  std::vector<ticket> line;
  for (char name : {'A', 'B', 'C', 'D', 'E'}) line.push_back(note(m.lock(), order, name));
  EXPECT_TRUE(line[0].cancel());
  EXPECT_TRUE(line[2].cancel());
  EXPECT_TRUE(line[4].cancel());
  EXPECT_EQ(order, "A!C!E!");
  EXPECT_EQ(m.waiting(), 2u);
  m.unlock();
  m.unlock();
  EXPECT_EQ(order, "A!C!E!BD");
  EXPECT_FALSE(line[1].cancel()) << "G2: what was granted cannot be cancelled";
  m.unlock();
  EXPECT_FALSE(m.locked());
}

TEST(shared_mutex, G9_a_writer_that_times_out_lets_the_readers_behind_it_in) {
  manual_timers clock;
  use_timers by_hand(clock);
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = note(m.lock().within(1s), order, 'W');
  auto reader = note(m.lock_shared(), order, 'r');
  clock.advance(900ms);
  EXPECT_EQ(order, "");
  clock.advance(200ms);
  EXPECT_NE(order.find("W!"), std::string::npos);
  EXPECT_EQ(m.readers(), 2u);
  m.unlock_shared();
  m.unlock_shared();
}

TEST(shared_mutex, a_stop_request_withdraws_and_one_made_before_takes_nothing) {
  shared_mutex m;
  std::stop_source stop;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = note(m.lock().stop_on(stop.get_token()), order, 'W');
  stop.request_stop();
  EXPECT_EQ(order, "W!");
  EXPECT_EQ(m.lock_shared().stop_on(stop.get_token()).wait().error(), errc::cancelled);
  EXPECT_EQ(m.upgrade().stop_on(stop.get_token()).wait().error(), errc::cancelled);
  EXPECT_EQ(m.readers(), 1u);
  m.unlock_shared();
}

TEST(shared_mutex, G11_closing_completes_all_that_wait_and_who_is_inside_still_unlocks) {
  shared_mutex m;
  std::vector<std::error_code> seen;
  const auto keep = [&](result<> outcome) { seen.push_back(outcome.error()); };
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = m.lock().start(keep);
  auto reader = m.lock_shared().start(keep);
  auto upgrade = m.upgrade().start(keep);
  EXPECT_EQ(m.waiting(), 3u);
  m.close();
  EXPECT_TRUE(m.closed());
  EXPECT_EQ(seen, std::vector<std::error_code>(3, errc::closed));
  EXPECT_EQ(m.readers(), 2u) << "a failed upgrade keeps its shared lock";
  EXPECT_FALSE(m.try_lock_shared());
  EXPECT_EQ(m.lock_shared().as_result().wait().error(), errc::closed);
  EXPECT_EQ(m.lock().within(0s).wait().error(), errc::closed);
  m.unlock_shared();
  EXPECT_EQ(m.upgrade().as_result().wait().error(), errc::closed) << "closed wins over granted";
  m.unlock_shared();
  EXPECT_FALSE(m.try_lock());
  EXPECT_TRUE(m.check_invariants());
}

TEST(shared_mutex, the_writer_of_a_closed_one_downgrades_and_unlocks) {
  shared_mutex m;
  ASSERT_TRUE(m.try_lock());
  m.close();
  m.downgrade();
  EXPECT_EQ(m.readers(), 1u);
  m.unlock_shared();
  EXPECT_EQ(m.readers(), 0u);
}

TEST(shared_mutex, cancel_all_withdraws_all_that_wait_an_upgrade_too) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = note(m.lock(), order, 'W');
  std::ignore = note(m.upgrade(), order, 'U');
  auto reader = note(m.lock_shared(), order, 'r');
  EXPECT_EQ(m.cancel_all(), 3u);
  EXPECT_EQ(order, "U!W!r!") << "an upgrade waits ahead of the others";
  EXPECT_EQ(m.waiting(), 0u);
  EXPECT_EQ(m.readers(), 2u);
  EXPECT_EQ(m.upgrade().within(0s).wait().error(), errc::timed_out) << "the one before is forgotten";
  EXPECT_TRUE(m.check_invariants());
  m.unlock_shared();
  m.upgrade().wait();
  m.unlock();
}

TEST(shared_mutex, G11_destroying_closes_whoever_waits) {
  std::optional<shared_mutex> m(std::in_place);
  std::vector<std::error_code> seen;
  const auto keep = [&](result<> outcome) { seen.push_back(outcome.error()); };
  ASSERT_TRUE(m->try_lock_shared());
  ASSERT_TRUE(m->try_lock_shared());
  auto writer = m->lock().start(keep);
  auto reader = m->lock_shared().start(keep);
  // Whoever is inside has to be out before it is gone: the upgrade that is told leaves with both locks.
  auto upgrade = m->upgrade().start([&keep, inside = &*m](result<> outcome) {
    inside->unlock_shared();
    inside->unlock_shared();
    keep(std::move(outcome));
  });
  m.reset();
  EXPECT_EQ(seen, std::vector<std::error_code>(3, errc::closed));
}

TEST(shared_mutex, G6_a_completion_may_destroy_it) {
  auto m = std::make_unique<shared_mutex>();
  ASSERT_TRUE(m->try_lock());
  auto last = m->lock().start([&](result<>) {
    m->unlock();
    m.reset();
  });
  m->unlock();
  EXPECT_FALSE(m);
}

}  // namespace
}  // namespace weir
