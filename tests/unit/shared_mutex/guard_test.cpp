// Guards, and the functions that downgrade and upgrade them.

#include <chrono>
#include <concepts>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include <weir/shared_mutex.hpp>

#include <support/notes.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::refusal_of;

TEST(shared_mutex_guard, unlocks_when_it_goes_and_is_moved_not_copied) {
  static_assert(!std::copyable<shared_mutex::guard> && !std::copyable<shared_mutex::shared_guard>);
  static_assert(!std::same_as<shared_mutex::guard, shared_mutex::shared_guard>);
  static_assert(std::same_as<decltype(std::declval<shared_mutex&>().scoped_lock())::value_type, shared_mutex::guard>);
  shared_mutex m;
  {
    auto held = m.try_scoped_lock();
    EXPECT_TRUE(held && held.owns_lock());
    EXPECT_FALSE(m.try_scoped_lock());
    auto moved = std::move(held);
    EXPECT_FALSE(held);
    EXPECT_TRUE(m.locked());
  }
  {
    auto one = m.scoped_lock_shared().wait();
    auto two = m.try_scoped_lock_shared();
    EXPECT_EQ(m.readers(), 2u);
    one = std::move(two);
    EXPECT_EQ(m.readers(), 1u);
  }
  EXPECT_EQ(m.readers(), 0u);
}

TEST(shared_mutex_guard, unlocks_once_and_releases) {
  shared_mutex m;
  auto held = m.try_scoped_lock_shared();
  held.unlock();
  EXPECT_EQ(refusal_of([&] { held.unlock(); }), errc::not_owner);
  EXPECT_EQ(held.release(), nullptr);
  EXPECT_EQ(m.try_scoped_lock().release(), &m);
  EXPECT_TRUE(m.locked());
  m.unlock();
}

TEST(shared_mutex_guard, is_downgraded_and_upgraded_as_a_member_and_as_a_free_function) {
  shared_mutex m;
  auto written = m.try_scoped_lock();
  auto read = m.downgrade(std::move(written));
  EXPECT_FALSE(written);
  EXPECT_EQ(m.readers(), 1u);
  written = m.upgrade(std::move(read)).wait();
  EXPECT_FALSE(read);
  EXPECT_TRUE(m.locked());
  read = downgrade(std::move(written));
  EXPECT_EQ(m.readers(), 1u);
  written = upgrade(std::move(read)).wait();
  EXPECT_TRUE(m.locked());
  EXPECT_FALSE(read);
}

TEST(shared_mutex_guard, stays_with_the_caller_if_its_upgrade_fails) {
  shared_mutex m;
  auto read = m.try_scoped_lock_shared();
  auto other = m.try_scoped_lock_shared();
  EXPECT_EQ(upgrade(std::move(read)).within(0s).wait().error(), errc::timed_out);
  EXPECT_TRUE(read);
  EXPECT_EQ(m.readers(), 2u);
  other.unlock();
  auto written = upgrade(std::move(read)).within(0s).wait();
  EXPECT_TRUE(written);
  EXPECT_FALSE(read);
}

TEST(shared_mutex_guard, goes_along_with_a_started_upgrade) {
  shared_mutex m;
  shared_mutex::guard written;
  ASSERT_TRUE(m.try_lock_shared());
  {
    auto read = m.try_scoped_lock_shared();
    std::ignore = upgrade(std::move(read)).start([&](result<shared_mutex::guard> outcome) {
      if (outcome) written = std::move(*outcome);
    });
  }
  EXPECT_EQ(m.readers(), 2u);
  m.unlock_shared();
  EXPECT_TRUE(written);
  written.unlock();
  EXPECT_EQ(m.readers(), 0u);
}

TEST(shared_mutex_guard, that_went_along_with_an_upgrade_that_failed_is_unlocked_with_it) {
  shared_mutex m;
  ASSERT_TRUE(m.try_lock_shared());
  {
    auto waits = m.upgrade(m.try_scoped_lock_shared()).start([](result<shared_mutex::guard> outcome) {
      EXPECT_EQ(outcome.error(), errc::cancelled);
    });
    EXPECT_TRUE(waits.cancel());
  }
  EXPECT_EQ(m.readers(), 1u);
  m.unlock_shared();
}

TEST(shared_mutex_guard, G12_an_empty_or_foreign_one_is_refused_untouched) {
  shared_mutex m;
  shared_mutex n;
  shared_mutex::guard no_writer;
  shared_mutex::shared_guard no_reader;
  EXPECT_EQ(refusal_of([&] { std::ignore = m.downgrade(std::move(no_writer)); }), errc::not_owner);
  EXPECT_EQ(refusal_of([&] { std::ignore = downgrade(std::move(no_writer)); }), errc::not_owner);
  EXPECT_EQ(refusal_of([&] { std::ignore = m.upgrade(std::move(no_reader)).wait(); }), errc::not_owner);
  EXPECT_EQ(refusal_of([&] { std::ignore = upgrade(std::move(no_reader)).wait(); }), errc::not_owner);
  auto written = n.try_scoped_lock();
  EXPECT_THROW(std::ignore = m.downgrade(std::move(written)), std::invalid_argument);
  EXPECT_TRUE(written);
  auto read = downgrade(std::move(written));
  EXPECT_THROW(std::ignore = m.upgrade(std::move(read)).wait(), std::invalid_argument);
  EXPECT_TRUE(read);
  EXPECT_EQ(n.readers(), 1u);
}

}  // namespace
}  // namespace weir
