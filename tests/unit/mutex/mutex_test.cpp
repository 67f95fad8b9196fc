#include <concepts>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/mutex.hpp>
#include <weir/task.hpp>

#include <support/notes.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

task<std::error_code> lock_again(mutex& m) { co_return (co_await m.lock().as_result()).error(); }

TEST(mutex, is_locked_by_one_at_a_time) {
  mutex m;
  EXPECT_FALSE(m.locked());
  EXPECT_TRUE(m.try_lock());
  EXPECT_TRUE(m.locked());
  EXPECT_FALSE(m.try_lock());
  m.unlock();
  EXPECT_FALSE(m.locked());
  m.lock().wait();
  EXPECT_TRUE(m.locked());
  m.unlock();
}

TEST(mutex, hands_itself_directly_to_the_first_waiter) {
  mutex m;
  ASSERT_TRUE(m.try_lock());
  bool locked = false;
  auto waits = m.lock().start([&](result<> outcome) { locked = outcome.has_value(); });
  m.unlock();
  EXPECT_TRUE(locked);
  EXPECT_TRUE(m.locked());
  EXPECT_FALSE(m.try_lock());
  m.unlock();
}

TEST(mutex, G12_unlocking_what_is_not_locked_throws_and_changes_nothing) {
  mutex m;
  const auto refusal = test::refusal_of([&] { m.unlock(); }, "weir::mutex::unlock");
  EXPECT_EQ(refusal, errc::not_owner);
  EXPECT_EQ(refusal, std::errc::operation_not_permitted);
  EXPECT_TRUE(m.check_invariants());
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(mutex, a_thread_that_locks_again_is_told_so) {
  mutex m;
  m.lock().wait();
  EXPECT_EQ(m.lock().as_result().wait().error(), errc::would_deadlock);
  EXPECT_EQ(m.lock().within(0s).wait().error(), errc::would_deadlock) << "before timed_out";
  EXPECT_THROW(m.lock().wait(), std::system_error);
  EXPECT_EQ(m.waiting(), 0u);
  m.unlock();
  m.lock().wait();
  m.unlock();
}

TEST(mutex, another_thread_waits_instead) {
  mutex m;
  m.lock().wait();
  std::jthread other([&] {
    m.lock().wait();
    m.unlock();
  });
  while (m.waiting() == 0) std::this_thread::yield();
  m.unlock();
}

task<std::error_code> lock_and_let_a_child_lock(mutex& m) {
  auto held = co_await m.scoped_lock();
  co_return co_await lock_again(m);
}

TEST(mutex, a_chain_of_tasks_that_locks_again_is_told_so) {
  mutex m;
  EXPECT_EQ(sync_wait(lock_and_let_a_child_lock(m)), errc::would_deadlock);
  EXPECT_FALSE(m.locked());
}

TEST(mutex, a_chain_keeps_its_lock_over_a_suspension_and_a_hand_over) {
  mutex m;
  run_loop loop;
  ASSERT_TRUE(m.try_lock());
  auto ends = spawn(loop, lock_and_let_a_child_lock(m));
  bool unlocked = false;
  auto unlock_it = [](mutex& locked, bool& done, run_loop& where) -> task<> {
    locked.unlock();
    done = true;
    co_await yield();
    where.finish();
  };
  auto other = spawn(loop, unlock_it(m, unlocked, loop));
  loop.run();
  EXPECT_TRUE(unlocked);
  EXPECT_EQ(ends.get().wait(), errc::would_deadlock);
}

task<std::error_code> lock_and_spawn_one_that_locks(mutex& m, run_loop& loop) {
  auto held = co_await m.scoped_lock();
  auto other = spawn(loop, lock_again(m));
  while (m.waiting() == 0) co_await yield();
  held.unlock();
  auto error = co_await other.get();
  m.unlock();
  loop.finish();
  co_return error;
}

TEST(mutex, a_spawned_task_is_another_owner) {
  mutex m;
  run_loop loop;
  auto ends = spawn(loop, lock_and_spawn_one_that_locks(m, loop));
  loop.run();
  EXPECT_EQ(ends.get().wait(), std::error_code());
}

task<std::error_code> lock_and_unlock(mutex& m) {
  auto outcome = co_await m.lock().as_result();
  co_await yield();
  if (outcome) m.unlock();
  co_return outcome.error();
}

TEST(mutex, the_children_of_when_all_are_owners_of_their_own) {
  mutex m;
  auto [first, second] = sync_wait(when_all(lock_and_unlock(m), lock_and_unlock(m)));
  EXPECT_FALSE(first);
  EXPECT_FALSE(second);
}

TEST(mutex, sync_wait_locks_on_behalf_of_its_thread) {
  mutex m;
  m.lock().wait();
  EXPECT_EQ(sync_wait(lock_again(m)), errc::would_deadlock);
  m.unlock();
}

TEST(mutex, try_lock_and_callbacks_record_no_owner) {
  mutex m;
  ASSERT_TRUE(m.try_lock());
  EXPECT_EQ(m.lock().within(0s).wait().error(), errc::timed_out);
  m.unlock();
  auto locks = m.lock().start([](result<> outcome) { EXPECT_TRUE(outcome); });
  EXPECT_EQ(m.lock().within(0s).wait().error(), errc::timed_out);
  m.unlock();
}

TEST(mutex, a_disowned_lock_has_no_owner) {
  mutex m;
  auto held = m.scoped_lock().wait();
  held.disown();
  EXPECT_EQ(m.lock().within(0s).wait().error(), errc::timed_out);
}

TEST(mutex, has_no_owner_once_it_is_unlocked) {
  mutex m;
  m.lock().wait();
  m.unlock();
  EXPECT_TRUE(m.check_invariants()) << "the owner is still known";
  m.lock().wait();
  m.close();
  m.unlock();
  EXPECT_TRUE(m.check_invariants());
}

TEST(mutex, closed_wins_over_would_deadlock) {
  mutex m;
  m.lock().wait();
  m.close();
  EXPECT_EQ(m.lock().as_result().wait().error(), errc::closed);
  EXPECT_FALSE(m.try_lock());
  m.unlock();
  EXPECT_FALSE(m.locked()) << "the holder of a closed mutex still unlocks";
}

TEST(mutex_guard, unlocks_when_it_goes) {
  mutex m;
  {
    auto held = m.try_scoped_lock();
    EXPECT_TRUE(held);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(m.try_scoped_lock());
  }
  EXPECT_FALSE(m.locked());
}

TEST(mutex_guard, is_moved_not_copied) {
  static_assert(!std::copyable<mutex::guard>);
  mutex m;
  mutex n;
  auto held = m.try_scoped_lock();
  auto moved = std::move(held);
  EXPECT_FALSE(held);
  EXPECT_TRUE(moved);
  moved = n.try_scoped_lock();
  EXPECT_FALSE(m.locked());
  EXPECT_TRUE(n.locked());
}

TEST(mutex_guard, unlocks_once) {
  mutex m;
  auto held = m.try_scoped_lock();
  held.unlock();
  EXPECT_FALSE(m.locked());
  EXPECT_THROW(held.unlock(), std::system_error);
}

TEST(mutex_guard, release_leaves_the_mutex_locked) {
  mutex m;
  mutex* left = m.try_scoped_lock().release();
  EXPECT_EQ(left, &m);
  EXPECT_TRUE(m.locked());
  m.unlock();
}

}  // namespace
}  // namespace weir
