// Waiters that go away: destroyed coroutines, and branches of a select that lose.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/select.hpp>
#include <weir/shared_mutex.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <support/notes.hpp>

namespace weir {
namespace {

using test::foreign;
using test::note;

template <class Make>
foreign wait_for(Make make, bool& reached) {
  {
    [[maybe_unused]] auto outcome = co_await make();
  }
  reached = true;
}

foreign upgrade_own_guard(shared_mutex& m, test::manual_executor& where, bool& reached) {
  auto read = m.try_scoped_lock_shared();
  {
    auto written = co_await upgrade(std::move(read)).as_result().resume_on(where);
  }
  reached = true;
}

TEST(shared_mutex_abandon, G5_a_destroyed_writer_lets_the_readers_behind_it_in) {
  shared_mutex m;
  bool reached = false;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = wait_for([&] { return m.lock().as_result(); }, reached);
  auto reader = note(m.lock_shared(), order, 'r');
  EXPECT_EQ(order, "");
  writer.destroy();
  EXPECT_EQ(order, "r");
  EXPECT_EQ(m.waiting(), 0u);
  m.unlock_shared();
  m.unlock_shared();
}

TEST(shared_mutex_abandon, G2_an_undelivered_lock_is_given_back) {
  shared_mutex m;
  test::manual_executor where;
  bool reached = false;
  std::string order;
  ASSERT_TRUE(m.try_lock());
  auto writer = wait_for([&] { return m.lock().as_result().resume_on(where); }, reached);
  auto reader = wait_for([&] { return m.scoped_lock_shared().as_result().resume_on(where); }, reached);
  auto last = note(m.lock(), order, 'L');
  m.unlock();
  EXPECT_TRUE(m.locked());
  writer.destroy();
  EXPECT_EQ(m.readers(), 1u);
  EXPECT_EQ(order, "");
  reader.destroy();
  EXPECT_EQ(order, "L");
  EXPECT_EQ(where.run_all(), 0u);
  EXPECT_FALSE(reached);
  m.unlock();
}

TEST(shared_mutex_abandon, G2_an_undelivered_upgrade_is_downgraded_again) {
  shared_mutex m;
  test::manual_executor where;
  bool reached = false;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto upgrades = wait_for([&] { return m.upgrade().as_result().resume_on(where); }, reached);
  auto reader = note(m.lock_shared(), order, 'r');
  m.unlock_shared();
  EXPECT_TRUE(m.locked());
  upgrades.destroy();
  EXPECT_EQ(m.readers(), 2u);
  EXPECT_EQ(order, "r");
  EXPECT_FALSE(reached);
  m.unlock_shared();
  m.unlock_shared();
}

TEST(shared_mutex_abandon, G2_a_guard_whose_upgrade_was_not_delivered_unlocks_its_shared_lock) {
  shared_mutex m;
  test::manual_executor where;
  bool reached = false;
  ASSERT_TRUE(m.try_lock_shared());
  auto waits = upgrade_own_guard(m, where, reached);
  waits.destroy();
  EXPECT_EQ(m.readers(), 1u);
  auto granted = upgrade_own_guard(m, where, reached);
  EXPECT_EQ(m.readers(), 2u);
  m.unlock_shared();
  EXPECT_TRUE(m.locked());
  granted.destroy();
  EXPECT_FALSE(m.locked());
  EXPECT_EQ(m.readers(), 0u);
  auto delivered = upgrade_own_guard(m, where, reached);
  EXPECT_TRUE(m.locked());
  where.run_all();
  EXPECT_TRUE(reached);
  EXPECT_FALSE(m.locked());
}

TEST(shared_mutex_select, G2_a_branch_that_loses_takes_nothing_and_lets_those_behind_it_in) {
  shared_mutex m;
  event other;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto writer =
      select(m.lock(), other.wait()).start([&](auto outcome) { order += static_cast<char>('0' + outcome->index()); });
  auto upgrade = select(m.upgrade(), other.wait()).start([&](auto outcome) {
    order += static_cast<char>('0' + outcome->index());
  });
  auto reader = note(m.lock_shared(), order, 'r');
  EXPECT_EQ(m.waiting(), 3u);
  other.set();
  EXPECT_EQ(order, "11r");
  EXPECT_EQ(m.waiting(), 0u);
  EXPECT_EQ(m.readers(), 3u);
  for (int i = 0; i < 3; ++i) m.unlock_shared();
}

TEST(shared_mutex_select, an_upgrade_that_is_granted_decides) {
  shared_mutex m;
  event other;
  std::optional<std::size_t> won;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto waits = select(other.wait(), m.upgrade()).start([&](auto outcome) { won = outcome->index(); });
  m.unlock_shared();
  EXPECT_EQ(won, 1u);
  EXPECT_EQ(other.waiting(), 0u);
  EXPECT_TRUE(m.locked());
  m.unlock();
  auto either = select(m.scoped_lock_shared(), m.scoped_lock()).wait();
  EXPECT_EQ(either.index(), 0u);
  EXPECT_EQ(m.readers(), 1u);
}

}  // namespace
}  // namespace weir
