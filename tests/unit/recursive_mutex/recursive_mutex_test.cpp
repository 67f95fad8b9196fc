#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/recursive_mutex.hpp>
#include <weir/select.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <support/notes.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::foreign;
using test::note;

TEST(recursive_mutex, a_thread_locks_again_and_unlocks_as_often) {
  recursive_mutex m;
  m.lock().wait();
  m.lock().wait();
  EXPECT_TRUE(m.lock().within(0s).wait());
  m.unlock();
  m.unlock();
  EXPECT_TRUE(m.locked());
  m.unlock();
  EXPECT_FALSE(m.locked());
  EXPECT_TRUE(m.check_invariants());
}

task<bool> lock_inside(recursive_mutex& m) {
  auto held = co_await m.scoped_lock().within(0s);
  co_return held.has_value();
}

task<bool> lock_and_let_a_child_lock(recursive_mutex& m) {
  auto held = co_await m.scoped_lock();
  co_return co_await lock_inside(m);
}

TEST(recursive_mutex, a_chain_of_tasks_is_one_owner) {
  recursive_mutex m;
  EXPECT_TRUE(sync_wait(lock_and_let_a_child_lock(m)));
  EXPECT_FALSE(m.locked());
}

TEST(recursive_mutex, a_chain_owns_what_it_was_handed) {
  recursive_mutex m;
  run_loop loop;
  ASSERT_TRUE(m.try_lock());
  auto ends = spawn(loop, lock_and_let_a_child_lock(m));
  auto unlock_it = [](recursive_mutex& locked, run_loop& where) -> task<> {
    locked.unlock();
    co_await yield();
    where.finish();
  };
  auto other = spawn(loop, unlock_it(m, loop));
  loop.run();
  EXPECT_TRUE(ends.get().wait());
}

TEST(recursive_mutex, another_thread_waits_until_the_last_unlock) {
  recursive_mutex m;
  m.lock().wait();
  m.lock().wait();
  bool unlocked = false;
  std::jthread other([&] {
    m.lock().wait();
    EXPECT_TRUE(unlocked);
    m.unlock();
  });
  while (m.waiting() == 0) std::this_thread::yield();
  m.unlock();
  EXPECT_EQ(m.waiting(), 1u);
  unlocked = true;
  m.unlock();
}

TEST(recursive_mutex, a_spawned_task_is_another_owner) {
  recursive_mutex m;
  m.lock().wait();
  run_loop loop;
  auto locks = [](recursive_mutex& locked, run_loop& where) -> task<bool> {
    auto inside = co_await lock_inside(locked);
    where.finish();
    co_return inside;
  };
  auto ends = spawn(loop, locks(m, loop));
  loop.run();
  EXPECT_FALSE(ends.get().wait());
  m.unlock();
}

TEST(recursive_mutex, a_named_owner_locks_again_whoever_calls) {
  recursive_mutex m;
  const auto name = owner_id::make();
  const auto other = owner_id::make();
  m.lock(name).wait();
  EXPECT_TRUE(m.try_lock(name));
  EXPECT_FALSE(m.try_lock(other));
  EXPECT_FALSE(m.lock().within(0s).wait()) << "the thread is not what was named";
  EXPECT_FALSE(m.lock(other).within(0s).wait());
  auto again = m.lock(name).start([](result<> outcome) { EXPECT_TRUE(outcome); });
  EXPECT_TRUE(again.done());
  std::jthread([&] { EXPECT_TRUE(m.try_lock(name)); }).join();
  for (int i = 0; i < 4; ++i) m.unlock();
  EXPECT_FALSE(m.locked());
  EXPECT_TRUE(m.try_lock(other));
  m.unlock();
}

TEST(recursive_mutex, without_a_name_try_lock_succeeds_only_on_a_free_one) {
  recursive_mutex m;
  m.lock().wait();
  EXPECT_FALSE(m.try_lock());
  EXPECT_FALSE(m.try_scoped_lock());
  m.unlock();
  EXPECT_TRUE(m.try_lock());
  EXPECT_FALSE(m.try_lock());
  EXPECT_EQ(m.lock().within(0s).wait().error(), errc::timed_out) << "try_lock records no owner";
  m.unlock();
}

TEST(recursive_mutex, G12_unlocking_what_is_not_locked_throws_and_changes_nothing) {
  recursive_mutex m;
  EXPECT_EQ(test::refusal_of([&] { m.unlock(); }, "weir::recursive_mutex::unlock"), errc::not_owner);
  EXPECT_TRUE(m.check_invariants());
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(recursive_mutex, G12_a_name_of_nobody_is_refused) {
  recursive_mutex m;
  EXPECT_THROW(std::ignore = m.try_lock(owner_id()), std::invalid_argument);
  EXPECT_THROW(m.lock(owner_id()).wait(), std::invalid_argument);
  EXPECT_THROW(std::ignore = m.scoped_lock(owner_id()).wait(), std::invalid_argument);
  EXPECT_FALSE(m.locked());
}

TEST(recursive_mutex, unlock_does_not_ask_who_calls) {
  recursive_mutex m;
  m.lock().wait();
  m.lock().wait();
  std::jthread([&] { m.unlock(); }).join();
  m.unlock();
  EXPECT_FALSE(m.locked());
}

TEST(recursive_mutex, G3_the_last_unlock_hands_it_to_the_first_that_waits) {
  recursive_mutex m;
  std::string order;
  m.lock().wait();
  m.lock().wait();
  auto a = note(m.lock(), order, 'a');
  auto b = note(m.lock(), order, 'b');
  EXPECT_TRUE(m.lock().within(0s).wait()) << "the owner does not stand in line";
  m.unlock();
  m.unlock();
  EXPECT_EQ(order, "");
  m.unlock();
  EXPECT_EQ(order, "a");
  EXPECT_TRUE(m.locked());
  EXPECT_FALSE(m.try_lock());
  m.unlock();
  EXPECT_EQ(order, "ab");
  m.unlock();
  EXPECT_FALSE(m.locked());
}

TEST(recursive_mutex, waits_of_one_name_side_by_side_enter_together_and_others_keep_their_place) {
  recursive_mutex m;
  std::string order;
  const auto name = owner_id::make();
  ASSERT_TRUE(m.try_lock());
  auto a = note(m.lock(name), order, 'a');
  auto b = note(m.lock(name), order, 'b');
  auto other = note(m.lock(), order, 'o');
  auto c = note(m.lock(name), order, 'c');
  m.unlock();
  EXPECT_EQ(order, "ab");
  EXPECT_TRUE(m.check_invariants());
  EXPECT_TRUE(other.cancel());
  EXPECT_NE(order.find('c'), std::string::npos) << "the one that stood between has left";
  for (int i = 0; i < 3; ++i) m.unlock();
  EXPECT_FALSE(m.locked());
}

TEST(recursive_mutex, G5_cancelling_head_middle_and_tail_leaves_the_others_in_order) {
  recursive_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock());
  std::vector<ticket> line;
  for (char name : {'A', 'B', 'C', 'D', 'E'}) line.push_back(note(m.lock(), order, name));
  EXPECT_TRUE(line[0].cancel());
  EXPECT_TRUE(line[2].cancel());
  EXPECT_TRUE(line[4].cancel());
  EXPECT_EQ(m.waiting(), 2u);
  m.unlock();
  m.unlock();
  EXPECT_EQ(order, "A!C!E!BD");
  EXPECT_FALSE(line[1].cancel());
  m.unlock();
}

TEST(recursive_mutex, G9_limits_withdraw) {
  manual_timers clock;
  use_timers by_hand(clock);
  std::stop_source stop;
  recursive_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock());
  auto timed = note(m.lock().within(1s), order, 't');
  auto stopped = note(m.lock().stop_on(stop.get_token()), order, 's');
  clock.advance(900ms);
  EXPECT_EQ(order, "");
  clock.advance(200ms);
  EXPECT_EQ(order, "t!");
  stop.request_stop();
  EXPECT_EQ(order, "t!s!");
  EXPECT_EQ(m.waiting(), 0u);
  EXPECT_EQ(m.lock().stop_on(stop.get_token()).wait().error(), errc::cancelled);
  m.unlock();
}

TEST(recursive_mutex, G11_closed_is_closed_for_its_owner_too_who_still_unlocks) {
  recursive_mutex m;
  std::string order;
  m.lock().wait();
  auto waits = note(m.lock(), order, 'w');
  m.close();
  EXPECT_EQ(order, "w!");
  EXPECT_EQ(m.lock().as_result().wait().error(), errc::closed);
  m.unlock();
  EXPECT_FALSE(m.locked());
  EXPECT_FALSE(m.try_lock());
}

TEST(recursive_mutex, cancel_all_says_how_many) {
  recursive_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock());
  auto a = note(m.lock(), order, 'a');
  auto b = note(m.scoped_lock(), order, 'b');
  EXPECT_EQ(m.cancel_all(), 2u);
  EXPECT_EQ(order, "a!b!");
  m.unlock();
}

TEST(recursive_mutex, G11_destroying_closes_whoever_waits) {
  std::optional<recursive_mutex> m(std::in_place);
  std::error_code seen;
  ASSERT_TRUE(m->try_lock());
  auto waits = m->lock().start([&seen, held = &*m](result<> outcome) {
    held->unlock();  // nobody may hold it when it is gone
    seen = outcome.error();
  });
  m.reset();
  EXPECT_EQ(seen, errc::closed);
}

TEST(recursive_mutex, G6_a_completion_may_destroy_it) {
  auto m = std::make_unique<recursive_mutex>();
  ASSERT_TRUE(m->try_lock());
  auto last = m->lock().start([&](result<>) {
    m->unlock();
    m.reset();
  });
  m->unlock();
  EXPECT_FALSE(m);
}

TEST(recursive_mutex_guard, unlocks_one_level) {
  static_assert(!std::copyable<recursive_mutex::guard>);
  recursive_mutex m;
  const auto name = owner_id::make();
  auto outer = m.scoped_lock(name).wait();
  {
    auto inner = m.try_scoped_lock(name);
    EXPECT_TRUE(inner);
    auto moved = std::move(inner);
    EXPECT_FALSE(inner.owns_lock());
  }
  EXPECT_TRUE(m.locked());
  outer.unlock();
  EXPECT_FALSE(m.locked());
  EXPECT_THROW(outer.unlock(), std::system_error);
  EXPECT_EQ(m.try_scoped_lock().release(), &m);
  m.unlock();
}

TEST(recursive_mutex_guard, a_disowned_lock_has_no_owner) {
  recursive_mutex m;
  auto held = m.scoped_lock().wait();
  held.disown();
  EXPECT_EQ(m.lock().within(0s).wait().error(), errc::timed_out);
}

template <class Make>
foreign wait_for(Make make, bool& reached) {
  {
    [[maybe_unused]] auto outcome = co_await make();
  }
  reached = true;
}

TEST(recursive_mutex_abandon, G2_an_undelivered_lock_goes_to_the_next) {
  recursive_mutex m;
  test::manual_executor where;
  bool reached = false;
  std::string order;
  const auto name = owner_id::make();
  ASSERT_TRUE(m.try_lock());
  auto first = wait_for([&] { return m.lock(name).as_result().resume_on(where); }, reached);
  auto queued = wait_for([&] { return m.lock().as_result(); }, reached);
  auto next = note(m.lock(), order, 'n');
  m.unlock();
  queued.destroy();
  EXPECT_EQ(order, "");
  first.destroy();
  EXPECT_EQ(order, "n");
  EXPECT_EQ(where.run_all(), 0u);
  EXPECT_FALSE(reached);
  m.unlock();
}

TEST(recursive_mutex_abandon, G2_an_undelivered_second_lock_leaves_the_first) {
  recursive_mutex m;
  test::manual_executor where;
  bool reached = false;
  const auto name = owner_id::make();
  ASSERT_TRUE(m.try_lock(name));
  auto again = wait_for([&] { return m.scoped_lock(name).as_result().resume_on(where); }, reached);
  again.destroy();
  EXPECT_TRUE(m.try_lock(name)) << "the owner is still known";
  m.unlock();
  m.unlock();
  EXPECT_FALSE(m.locked());
}

TEST(recursive_mutex_select, G2_a_branch_that_loses_takes_nothing) {
  recursive_mutex m;
  event other;
  std::optional<std::size_t> won;
  ASSERT_TRUE(m.try_lock());
  auto waits = select(m.scoped_lock(), other.wait()).start([&](auto outcome) { won = outcome->index(); });
  other.set();
  EXPECT_EQ(won, 1u);
  EXPECT_EQ(m.waiting(), 0u);
  m.unlock();
  m.lock().wait();
  EXPECT_EQ(select(m.lock(), other.wait()).wait().index(), 0u) << "its owner's branch is ready";
  m.unlock();
  m.unlock();
  EXPECT_FALSE(m.locked());
}

int add_recursively(recursive_mutex& m, long& data, int depth) {
  auto held = m.scoped_lock().wait();
  ++data;
  return depth == 0 ? 1 : 1 + add_recursively(m, data, depth - 1);
}

TEST(recursive_mutex_stress, G10_threads_on_plain_data) {
  recursive_mutex m;
  long data = 0;
  std::vector<long> added(4);
  {
    std::vector<std::jthread> threads;
    for (long& mine : added) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1500; ++i) {
          if (i % 3 != 0) {
            mine += add_recursively(m, data, i % 4);
          } else if (auto held = m.scoped_lock().within(std::chrono::microseconds(i % 30)).wait()) {
            ++data;
            ++mine;
          }
        }
      });
    }
  }
  EXPECT_EQ(data, added[0] + added[1] + added[2] + added[3]);
  EXPECT_FALSE(m.locked());
  EXPECT_TRUE(m.check_invariants());
}

}  // namespace
}  // namespace weir
