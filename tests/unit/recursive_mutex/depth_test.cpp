// A lock of several levels: disowned, named, closed, and unlocked in any order.

#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include <weir/recursive_mutex.hpp>
#include <weir/task.hpp>

#include <support/notes.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::note;

template <class Op>
bool at_once(Op op) {
  return std::move(op).within(0s).wait().has_value();
}

class depth : public testing::TestWithParam<int> {
 protected:
  /// Locks as often as the parameter says.
  void lock_all() {
    for (int i = 0; i < GetParam(); ++i) EXPECT_TRUE(m.try_lock(name));
  }

  recursive_mutex m;
  const owner_id name = owner_id::make();
  const owner_id other = owner_id::make();
};

TEST_P(depth, is_unlocked_by_as_many_unlocks_and_no_fewer) {
  lock_all();
  for (int i = 0; i < GetParam(); ++i) {
    EXPECT_TRUE(m.locked());
    EXPECT_FALSE(m.try_lock());
    EXPECT_FALSE(m.try_lock(other));
    m.unlock();
  }
  EXPECT_FALSE(m.locked());
  EXPECT_THROW(m.unlock(), std::system_error);
  EXPECT_TRUE(m.try_lock(other)) << "the first owner is forgotten";
  EXPECT_FALSE(m.try_lock(name));
  m.unlock();
}

TEST_P(depth, keeps_its_owner_until_the_last_unlock) {
  lock_all();
  for (int i = 1; i < GetParam(); ++i) {
    m.unlock();
    EXPECT_TRUE(m.try_lock(name));
    m.unlock();
    EXPECT_TRUE(at_once(m.lock(name)));
    m.unlock();
  }
  m.unlock();
  EXPECT_FALSE(m.locked());
}

TEST_P(depth, once_disowned_has_no_owner_and_still_all_its_levels) {
  lock_all();
  auto held = m.try_scoped_lock(name);
  held.disown();
  EXPECT_TRUE(held.owns_lock());
  EXPECT_FALSE(m.try_lock(name));
  EXPECT_FALSE(m.try_lock(other));
  EXPECT_FALSE(at_once(m.lock(name)));
  EXPECT_FALSE(at_once(m.lock()));
  EXPECT_TRUE(m.check_invariants());
  held.unlock();
  for (int i = 0; i < GetParam(); ++i) {
    EXPECT_TRUE(m.locked());
    EXPECT_FALSE(m.try_lock(name)) << "a level was unlocked, not the mutex";
    m.unlock();
  }
  EXPECT_FALSE(m.locked());
  EXPECT_TRUE(m.try_lock(name));
  EXPECT_TRUE(m.try_lock(name)) << "the owner is known again";
  m.unlock();
  m.unlock();
}

TEST_P(depth, once_disowned_is_handed_to_one_of_the_same_name_after_the_last_unlock) {
  std::string order;
  lock_all();
  auto held = m.try_scoped_lock(name);
  held.disown();
  auto waits = note(m.lock(name), order, 'w');
  auto beside = note(m.lock(name), order, 'v');
  EXPECT_EQ(m.waiting(), 2u);
  held.unlock();
  for (int i = 0; i < GetParam(); ++i) {
    EXPECT_EQ(order, "");
    m.unlock();
  }
  EXPECT_EQ(order, "wv") << "the second entered with the first, whose name it has";
  EXPECT_TRUE(m.try_lock(name));
  for (int i = 0; i < 3; ++i) m.unlock();
  EXPECT_FALSE(m.locked());
}

TEST_P(depth, closed_while_it_is_held_lets_nobody_in_and_its_levels_out) {
  std::string order;
  lock_all();
  auto waits = note(m.lock(other), order, 'w');
  m.close();
  EXPECT_EQ(order, "w!");
  EXPECT_FALSE(m.try_lock(name)) << "its owner neither";
  EXPECT_EQ(m.lock(name).as_result().wait().error(), errc::closed);
  EXPECT_EQ(m.scoped_lock(name).as_result().wait().error(), errc::closed);
  for (int i = 0; i < GetParam(); ++i) {
    EXPECT_TRUE(m.locked());
    m.unlock();
  }
  EXPECT_FALSE(m.locked());
  EXPECT_THROW(m.unlock(), std::system_error);
  EXPECT_FALSE(m.try_lock(name));
  EXPECT_FALSE(m.try_scoped_lock());
}

INSTANTIATE_TEST_SUITE_P(levels, depth, testing::Values(1, 2, 3));

TEST(depth_of_guards, is_unlocked_in_any_order) {
  recursive_mutex m;
  std::string order;
  const auto name = owner_id::make();
  auto outer = m.scoped_lock(name).wait();
  auto middle = m.scoped_lock(name).wait();
  auto inner = m.try_scoped_lock(name);
  auto waits = note(m.scoped_lock(), order, 'w');
  outer.unlock();
  EXPECT_TRUE(m.try_lock(name)) << "the owner is still inside";
  m.unlock();
  inner.unlock();
  EXPECT_EQ(order, "");
  middle.unlock();
  EXPECT_EQ(order, "w");
  EXPECT_FALSE(m.locked()) << "the guard of the callback's result has unlocked it";
}

TEST(depth_of_guards, a_thread_that_disowns_its_inner_lock_cannot_lock_again_and_unlocks_both) {
  recursive_mutex m;
  auto outer = m.scoped_lock().wait();
  auto inner = m.scoped_lock().wait();
  inner.disown();
  EXPECT_EQ(m.lock().within(0s).wait().error(), errc::timed_out);
  inner.unlock();
  EXPECT_EQ(m.lock().within(0s).wait().error(), errc::timed_out);
  outer.unlock();
  EXPECT_FALSE(m.locked());
  auto again = m.scoped_lock().wait();
  EXPECT_TRUE(at_once(m.scoped_lock())) << "it owns the new lock";
}

TEST(depth_of_guards, an_empty_guard_disowns_nothing) {
  recursive_mutex m;
  const auto name = owner_id::make();
  auto held = m.scoped_lock(name).wait();
  auto moved = std::move(held);
  held.disown();
  EXPECT_TRUE(m.try_lock(name));
  m.unlock();
  recursive_mutex::guard nothing;
  nothing.disown();
  EXPECT_FALSE(nothing);
}

TEST(depth_of_guards, one_that_was_granted_in_line_owns_the_mutex) {
  recursive_mutex m;
  const auto name = owner_id::make();
  ASSERT_TRUE(m.try_lock());
  std::optional<recursive_mutex::guard> held;
  auto waits = m.scoped_lock(name).start([&](result<recursive_mutex::guard> got) { held = std::move(*got); });
  EXPECT_FALSE(m.try_lock(name)) << "it stands in line, and owns nothing";
  m.unlock();
  ASSERT_TRUE(held);
  EXPECT_TRUE(m.try_lock(name));
  EXPECT_FALSE(at_once(m.lock()));
  m.unlock();
  held.reset();
  EXPECT_FALSE(m.locked());
}

TEST(depth_of_guards, cancel_all_leaves_its_levels_and_its_owner) {
  recursive_mutex m;
  std::string order;
  const auto name = owner_id::make();
  auto outer = m.scoped_lock(name).wait();
  auto inner = m.scoped_lock(name).wait();
  auto waits = note(m.lock(), order, 'w');
  EXPECT_EQ(m.cancel_all(), 1u);
  EXPECT_EQ(order, "w!");
  EXPECT_TRUE(m.try_lock(name));
  m.unlock();
  inner.unlock();
  EXPECT_TRUE(m.locked());
}

TEST(depth_of_guards, a_lock_without_an_owner_is_not_locked_again_by_another_without_one) {
  recursive_mutex m;
  std::string order;
  auto first = note(m.lock(), order, 'a');   // a callback has no owner
  auto second = note(m.lock(), order, 'b');  // and this one neither: they are not the same
  EXPECT_EQ(order, "a");
  m.unlock();
  EXPECT_EQ(order, "ab");
  m.unlock();
  EXPECT_FALSE(m.locked());
}

task<bool> child_locks(recursive_mutex& m) { co_return (co_await m.lock().within(0s)).has_value(); }

TEST(depth_of_guards, a_task_that_disowns_cannot_lock_again_until_it_was_free) {
  recursive_mutex m;
  auto disowns = [](recursive_mutex& locked) -> task<> {
    auto outer = co_await locked.scoped_lock();
    auto inner = co_await locked.scoped_lock();
    outer.disown();
    EXPECT_FALSE(co_await child_locks(locked));
    inner.unlock();
    EXPECT_FALSE(co_await child_locks(locked));
    outer.unlock();
    EXPECT_TRUE(co_await child_locks(locked));
    EXPECT_TRUE(co_await child_locks(locked));
    locked.unlock();
    locked.unlock();
  };
  sync_wait(disowns(m));
  EXPECT_FALSE(m.locked());
}

}  // namespace
}  // namespace weir
