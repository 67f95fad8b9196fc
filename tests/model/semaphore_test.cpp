// The races of semaphore.

#include <weir/semaphore.hpp>

#include <model/cases.hpp>

namespace weir::model {
namespace {

struct semaphore_subject {
  static constexpr bool consumes = true;
  static constexpr bool gives_back = true;

  auto wait() { return object.acquire(); }
  int grant() { return object.release(), 1; }
  void put_back() { object.release(); }
  int left() const { return static_cast<int>(object.available()); }

  semaphore object{0};
};

INSTANTIATE_TYPED_TEST_SUITE_P(semaphore, race, semaphore_subject);
INSTANTIATE_TYPED_TEST_SUITE_P(semaphore, sum, semaphore_subject);
INSTANTIATE_TYPED_TEST_SUITE_P(semaphore, death, semaphore_subject);

/// "The head is cancelled while permits are free, and the smaller requests behind it stay stuck."
TEST(model_semaphore, a_large_head_times_out_with_permits_to_pass_on) {
  explore([] {
    time clock;
    semaphore sem(0);
    waited head;
    waited behind;
    auto large = sem.acquire(2).within(1s).start(head.callback());
    auto small = sem.acquire().start(behind.callback());
    together([&] { sem.release(); }, [&] { clock.pass(); });
    EXPECT_EQ(head.error, errc::timed_out);
    EXPECT_TRUE(behind.got);
    EXPECT_EQ(sem.available(), 0u);
    EXPECT_EQ(sem.waiting(), 0u);
  });
}

/// "Try-acquire succeeds between a hand-over and the woken waiter's resumption."
TEST(model_semaphore, try_acquire_against_a_hand_over) {
  explore([] {
    semaphore sem(0);
    waited came;
    bool stolen = false;
    auto ticket = sem.acquire().start(came.callback());
    together([&] { sem.release(); }, [&] { stolen = sem.try_acquire(); });
    EXPECT_TRUE(came.got);
    EXPECT_FALSE(stolen);
    EXPECT_EQ(sem.available(), 0u);
  });
}

TEST(model_semaphore, try_acquire_against_a_large_request_that_comes_together) {
  explore([] {
    semaphore sem(0);
    waited came;
    bool stolen = false;
    auto ticket = sem.acquire(2).start(came.callback());
    together([&] { sem.release(); }, [&] { stolen = sem.try_acquire(); }, [&] { sem.release(); });
    EXPECT_TRUE(came.got);
    EXPECT_FALSE(stolen);
    EXPECT_EQ(sem.available(), 0u);
  });
}

/// It is in line until whoever has withdrawn it takes it out; it is no waiter any more.
TEST(model_semaphore, one_that_has_given_up_does_not_hold_up_a_try) {
  explore([] {
    semaphore sem(0);
    waited large;
    auto ticket = sem.acquire(2).start(large.callback());
    together([&] { ticket.cancel(); },
             [&] {
               sem.release();
               const bool nobody_waits = sem.cancel_all() == 0;
               EXPECT_TRUE(!nobody_waits || sem.try_acquire());
             });
    EXPECT_EQ(large.error, errc::cancelled);
  });
}

/// "Shrinking a limit while waiters queue grants too much."
TEST(model_semaphore, reduce_against_two_releases_and_two_that_wait) {
  explore([] {
    semaphore sem(0);
    waited first;
    waited second;
    auto one = sem.acquire().start(first.callback());
    auto two = sem.acquire().start(second.callback());
    together([&] { sem.reduce(1); }, [&] { sem.release(); }, [&] { sem.release(); });
    EXPECT_TRUE(sem.check_invariants());
    sem.release();
    EXPECT_TRUE(first.got && second.got);
    EXPECT_EQ(sem.available(), 0u) << "one permit of three is owed to nobody";
  });
}

/// What runs inside request_stop(), let through by one that was stopped, may wait for that one.
TEST(model_semaphore, what_a_stop_lets_through_waits_for_the_one_that_was_stopped) {
  explore([] {
    platform::stop_source stop;
    executor runs;
    semaphore sem(1);
    event left;
    waited head;
    waited behind;
    auto large = sem.acquire(2).stop_on(stop.get_token()).resume_on(runs).start(head.callback());
    auto small = sem.acquire().start([&](const auto& outcome) {
      left.wait().wait();
      behind.note(outcome);
    });
    together(
        [&] {
          runs.run_until([&] { return head.times != 0; });
          left.set();
        },
        [&] { stop.request_stop(); });
    EXPECT_EQ(head.error, errc::cancelled);
    EXPECT_TRUE(behind.got);
    EXPECT_EQ(sem.available(), 0u);
  });
}

}  // namespace
}  // namespace weir::model
