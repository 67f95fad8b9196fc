// What core/std_locks.hpp leaves as it is: standard locks of every mutex that is not weir's.

#include <mutex>
#include <shared_mutex>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

namespace weir::test {
namespace {

class not_defined_yet;

/// As a member it is instantiated here.
struct keeps_a_lock {
  std::unique_lock<not_defined_yet> lock;
};

class not_defined_yet {
 public:
  void lock() { ++locks; }
  void unlock() { ++unlocks; }

  int locks = 0;
  int unlocks = 0;
};

TEST(std_locks, lock_the_mutex_of_a_user_that_was_incomplete_when_the_lock_was_named) {
  not_defined_yet users;
  {
    const keeps_a_lock kept{std::unique_lock(users)};
    EXPECT_TRUE(kept.lock.owns_lock());
  }
  EXPECT_EQ(users.locks, 1);
  EXPECT_EQ(users.unlocks, 1);
}

TEST(std_locks, lock_standard_mutexes) {
  std::mutex one;
  std::mutex other;
  std::shared_mutex read;
  const std::lock_guard guard(one);
  const std::scoped_lock alone(other);
  const std::shared_lock shared(read);
  EXPECT_FALSE(std::unique_lock(one, std::try_to_lock));
  EXPECT_FALSE(std::unique_lock(other, std::try_to_lock));
  EXPECT_FALSE(std::unique_lock(read, std::try_to_lock));
}

TEST(std_locks, lock_several_standard_mutexes) {
  std::mutex one;
  std::recursive_mutex other;
  const std::scoped_lock guard(one, other);
  EXPECT_FALSE(std::unique_lock(one, std::try_to_lock));
}

}  // namespace
}  // namespace weir::test
