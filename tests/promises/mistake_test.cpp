// Mistakes that a debug build reports: a death test each. A build with NDEBUG has none of these checks.

#include <gtest/gtest.h>

#include <weir/mutex.hpp>
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

#if !defined(NDEBUG)

namespace weir {
namespace {

class mistake_DeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(mistake_DeathTest, a_forgotten_co_await_asserts) {
  semaphore sem(1);
  EXPECT_DEATH((void)sem.acquire(), "is a co_await missing");
}

TEST_F(mistake_DeathTest, an_operation_that_is_waited_on_twice_asserts) {
  semaphore sem(2);
  auto operation = sem.acquire();
  std::move(operation).wait();
  EXPECT_DEATH(std::move(operation).wait(), "waited on once");
}

TEST_F(mistake_DeathTest, destroying_a_locked_mutex_asserts) {
  EXPECT_DEATH(
      {
        mutex m;
        (void)m.try_lock();
      },
      "destroyed while it was locked");
}

TEST_F(mistake_DeathTest, destroying_a_semaphore_with_a_permit_outstanding_asserts) {
  EXPECT_DEATH(
      {
        permit outlives;
        semaphore sem(1);
        outlives = sem.try_scoped_acquire();
      },
      "while a permit of it was held");
}

TEST_F(mistake_DeathTest, a_callback_that_throws_terminates) {
  semaphore sem(1);
  EXPECT_DEATH((void)sem.acquire().start([](result<>) { throw 1; }), "");
}

TEST(mistake, an_operation_that_an_exception_prevents_is_no_mistake) {
  semaphore sem(1);
  const auto refuse = [](auto) { throw 1; };
  EXPECT_THROW(refuse(sem.acquire()), int);
}

}  // namespace
}  // namespace weir

#endif
