// G10 (see publication.hpp): semaphore, the ways of waiting, and the ways in which a wait ends.

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <stress/publication.hpp>

namespace weir::publication {
namespace {

using namespace std::chrono_literals;

// semaphore

struct empty_semaphore : semaphore {
  empty_semaphore() : semaphore(0) {}
};

TEST(publication, G10_a_release_is_ordered_before_the_acquire_that_it_satisfies) {
  const auto release = [](semaphore& sem) { sem.release(); };
  const auto acquire = [](semaphore& sem) { sem.acquire().wait(); };
  published_first<empty_semaphore>(release, acquire);
  published_later<empty_semaphore>(release, acquire, waiting);
  published_later<empty_semaphore>(
      release, [](semaphore& sem) { EXPECT_TRUE(sem.acquire().within(1h).wait()); }, waiting);
}

TEST(publication, G10_every_release_is_ordered_before_the_acquire_that_needs_them_all) {
  const auto release = [](semaphore& sem) { sem.release(); };
  const auto acquire = [](semaphore& sem) { sem.acquire(2).wait(); };
  published_by_two<empty_semaphore>(release, acquire);
  published_by_two_later<empty_semaphore>(release, acquire);
}

TEST(publication, G10_a_release_is_ordered_before_a_try_acquire_that_succeeds) {
  const auto release = [](semaphore& sem) { sem.release(); };
  published_first<empty_semaphore>(release, [](semaphore& sem) { spin_until([&] { return sem.try_acquire(); }); });
}

TEST(publication, G10_a_release_is_ordered_before_available_returns_what_it_added) {
  const auto release = [](semaphore& sem) { sem.release(); };
  published_first<empty_semaphore>(release, [](semaphore& sem) { spin_until([&] { return sem.available() == 1; }); });
}

TEST(publication, G10_the_end_of_a_permit_is_ordered_before_the_acquire_that_it_satisfies) {
  for (int round = 0; round < rounds; ++round) {
    semaphore sem(1);
    int data = 0;
    const std::jthread holds([&, held = sem.try_scoped_acquire()]() mutable {
      data = 1;
      held.release();
    });
    const auto next = sem.scoped_acquire().wait();
    EXPECT_EQ(data, 1);
  }
}

// Other ways of waiting, and other ends of a wait.

TEST(publication, G10_a_release_is_ordered_before_the_callback_and_that_before_done_returns_true) {
  for (int round = 0; round < rounds; ++round) {
    semaphore sem(0);
    int data = 0;
    int seen = 0;
    const auto waits = sem.acquire().start([&](const result<>&) { seen = data; });
    const std::jthread releases([&] {
      data = 1;
      sem.release();
    });
    spin_until([&] { return waits.done(); });
    EXPECT_EQ(data, 1);
  }
}

TEST(publication, G10_a_release_is_ordered_before_the_select_that_it_decides) {
  for (int round = 0; round < rounds; ++round) {
    semaphore first(0);
    semaphore second(0);
    int data = 0;
    const std::jthread releases([&] {
      spin_until([&] { return second.waiting() != 0; });
      data = 1;
      (round % 2 == 0 ? first : second).release();
    });
    const auto won = select(first.acquire(), second.acquire()).wait();
    EXPECT_EQ(won.index(), static_cast<std::size_t>(round % 2));
    EXPECT_EQ(data, 1);
  }
}

TEST(publication, G10_a_release_is_ordered_before_a_task_that_it_resumes) {
  thread_pool threads(1);
  for (int round = 0; round < rounds; ++round) {
    semaphore sem(0);
    int data = 0;
    const auto reads = [](semaphore& wanted, const int& from) -> task<int> {
      co_await wanted.acquire();
      co_return from;
    };
    auto made = spawn(threads, reads(sem, data));
    spin_until([&] { return sem.waiting() != 0; });
    data = 1;
    sem.release();
    EXPECT_EQ(made.get().wait(), 1);
  }
}

/// Posts to a thread, and lets others act before it returns.
class slow_executor {
 public:
  slow_executor(relaxed_count& posted, const relaxed_count& acted) noexcept : posted_(posted), acted_(acted) {}
  void post(work& item) noexcept {
    threads_.post(item);
    posted_.raise();
    acted_.await();
  }

 private:
  relaxed_count& posted_;
  const relaxed_count& acted_;
  thread_pool threads_{1};
};

TEST(publication, G10_a_notification_that_comes_while_the_wait_is_being_started_is_ordered_before_its_end) {
  for (int round = 0; round < rounds; ++round) {
    mutex m;
    condition changed;
    int data = 0;
    relaxed_count posted;
    relaxed_count notified;
    slow_executor slow(posted, notified);
    auto held = m.scoped_lock().wait();
    std::ignore = m.lock().resume_on(slow).start([&](const result<>&) { m.unlock(); });
    const std::jthread notifies([&] {
      posted.await();
      data = 1;
      changed.notify_one();
      notified.raise();
    });
    changed.wait(held).wait();  // hands the mutex over once it is queued, and so meets the executor
    EXPECT_EQ(data, 1);
  }
}

TEST(publication, what_ends_a_wait_without_a_grant_is_ordered_before_its_owner_resumes) {
  const auto fails_with = [](errc expected) {
    return [expected](semaphore& sem) { EXPECT_EQ(sem.acquire().as_result().wait().error(), expected); };
  };
  published_later<empty_semaphore>([](semaphore& sem) { sem.cancel_all(); }, fails_with(errc::cancelled), waiting);
  published_later<empty_semaphore>([](semaphore& sem) { sem.close(); }, fails_with(errc::closed), waiting);
  published_first<empty_semaphore>([](semaphore& sem) { sem.close(); }, fails_with(errc::closed));
  published_first<empty_semaphore>([](semaphore& sem) { sem.close(); },
                                   [](semaphore& sem) { spin_until([&] { return sem.closed(); }); });
}

TEST(publication, a_stop_and_a_clock_that_end_a_wait_are_ordered_before_its_owner_resumes) {
  manual_timers clock;
  const use_timers by_hand(clock);
  for (int round = 0; round < rounds; ++round) {
    semaphore sem(0);
    std::stop_source stop;
    int data = 0;
    const std::jthread ends([&] {
      spin_until([&] { return sem.waiting() != 0; });
      data = 1;
      if (round % 2 == 0) {
        stop.request_stop();
      } else {
        clock.advance(2ms);
      }
    });
    const auto outcome = sem.acquire().within(1ms).stop_on(stop.get_token()).wait();
    EXPECT_EQ(outcome.error(), round % 2 == 0 ? errc::cancelled : errc::timed_out);
    EXPECT_EQ(data, 1);
  }
}

}  // namespace
}  // namespace weir::publication
