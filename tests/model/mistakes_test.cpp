// Mistakes that others have shipped, as scenarios, as far as they are not among the races of each synchronizer
// (docs/proof.md lists which is where).

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/semaphore.hpp>

#include <model/explorer.hpp>
#include <model/scenario.hpp>

namespace weir::model {
namespace {

/// "The waiter that re-checks after enqueueing removes the queue's first entry instead of itself."
TEST(model_mistakes, a_newcomer_that_is_let_in_takes_nobody_elses_place) {
  explore([] {
    semaphore sem(0);
    waited first;
    waited newcomer;
    auto one = sem.acquire().start(first.callback());
    ticket two;
    together([&] { two = sem.acquire().start(newcomer.callback()); }, [&] { sem.release(); });
    EXPECT_TRUE(first.got);
    EXPECT_EQ(newcomer.times, 0);
    sem.release();
    EXPECT_TRUE(newcomer.got);
    EXPECT_EQ(sem.waiting(), 0u);
  });
}

/// "A cancelled waiter's handler is never called, so its coroutine hangs for ever."
TEST(model_mistakes, one_that_is_cancelled_in_three_ways_is_told_once) {
  explore([] {
    time clock;
    semaphore sem(0);
    waited came;
    auto ticket = sem.acquire().within(1s).start(came.callback());
    together([&] { ticket.cancel(); }, [&] { clock.pass(); }, [&] { sem.cancel_all(); });
    EXPECT_EQ(came.times, 1);
    EXPECT_FALSE(came.got);
    EXPECT_EQ(sem.waiting(), 0u);
  });
}

/// "A time-out that races a grant reports a time-out, and the lock stays held for ever."
TEST(model_mistakes, a_time_out_that_races_a_grant_does_not_keep_the_lock) {
  explore([] {
    time clock;
    mutex m;
    waited came;
    m.try_lock();
    auto ticket = m.lock().within(1s).start(came.callback());
    together([&] { m.unlock(); }, [&] { clock.pass(); });
    EXPECT_TRUE(got_or(came, errc::timed_out));
    EXPECT_EQ(m.locked(), came.got);
    if (came.got) m.unlock();
  });
}

/// "Unlocking resumes the next waiter in place, and a long queue overflows the stack."
TEST(model_mistakes, unlocking_resumes_nobody_inside_a_completion) {
  explore([] {
    mutex m;
    int told = 0;
    int deepest = 0;
    int depth = 0;
    m.try_lock();
    const auto passes_it_on = [&](const auto&) {
      deepest = std::max(deepest, ++depth);
      ++told;
      m.unlock();
      --depth;
    };
    auto first = m.lock().start(passes_it_on);
    auto second = m.lock().start(passes_it_on);
    ticket third;
    together([&] { m.unlock(); }, [&] { third = m.lock().start([&](const auto&) { ++told, m.unlock(); }); });
    EXPECT_EQ(told, 3);
    EXPECT_EQ(deepest, 1);
    EXPECT_FALSE(m.locked());
  });
}

/// "Cancelling one of n waiters walks or rebuilds the queue": that it does not is measured (W8); here, that the others
/// keep their places.
TEST(model_mistakes, cancelling_one_in_the_middle_leaves_the_others_their_places) {
  explore([] {
    semaphore sem(0);
    waited came[3];
    int turn = 0;
    int turns[3] = {};
    const auto note = [&](int i) {
      return [&, i](const auto& outcome) {
        came[i].note(outcome);
        turns[i] = ++turn;
      };
    };
    auto first = sem.acquire().start(note(0));
    auto middle = sem.acquire().start(note(1));
    auto last = sem.acquire().start(note(2));
    together([&] { middle.cancel(); }, [&] { sem.release(2); });
    EXPECT_TRUE(came[0].got);
    EXPECT_NE(came[1].got, came[2].got);
    if (came[1].got) sem.release();
    EXPECT_TRUE(came[2].got);
    EXPECT_LT(turns[0], turns[2]);
  });
}

/// "An over-release is silently dropped, or wraps around."
TEST(model_mistakes, an_over_release_is_refused_and_changes_nothing) {
  explore([] {
    semaphore sem(1, 2);
    int refused = 0;
    const auto release = [&] {
      try {
        sem.release();
      } catch (const std::overflow_error&) {
        ++refused;
      }
    };
    bool taken = false;
    together(release, release, [&] { taken = sem.try_acquire(); });
    EXPECT_EQ(static_cast<int>(sem.available()), 3 - refused - (taken ? 1 : 0));
    EXPECT_LE(refused, 1);
    EXPECT_TRUE(sem.check_invariants());
  });
}

/// "A request larger than can ever be satisfied blocks everyone behind it."
TEST(model_mistakes, a_request_that_can_never_be_satisfied_does_not_queue) {
  explore([] {
    semaphore sem(0, 2);
    waited came;
    bool refused = false;
    together(
        [&] {
          try {
            sem.acquire(3).wait();
          } catch (const std::invalid_argument&) {
            refused = true;
          }
        },
        [&] { came.note(sem.acquire().as_result().wait()); }, [&] { sem.release(); });
    EXPECT_TRUE(refused);
    EXPECT_TRUE(came.got);
  });
}

/// "A callback that blocks strands the completions queued behind it on its own thread."
TEST(model_mistakes, a_callback_that_blocks_waits_for_one_that_is_told_after_it) {
  explore([] {
    semaphore sem(0);
    event second_was_told;
    waited first;
    waited second;
    auto one = sem.acquire().start([&](const auto& outcome) {
      second_was_told.wait().wait();
      first.note(outcome);
    });
    auto two = sem.acquire().start([&](const auto& outcome) {
      second.note(outcome);
      second_was_told.set();
    });
    together([&] { sem.release(2); }, [&] { sem.release(); });
    EXPECT_TRUE(first.got && second.got);
    EXPECT_EQ(sem.available(), 1u);
  });
}

/// A completion under the lock.
TEST(model_mistakes, what_close_tells_may_call_the_same_object) {
  explore([] {
    semaphore sem(0);
    waited came;
    auto ticket = sem.acquire().start([&](const auto& outcome) {
      came.note(outcome);
      sem.release();
    });
    together([&] { sem.close(); }, [&] { sem.release(); });
    EXPECT_EQ(came.times, 1);
    EXPECT_EQ(sem.available(), came.got ? 1u : 2u);
  });
}

}  // namespace
}  // namespace weir::model
