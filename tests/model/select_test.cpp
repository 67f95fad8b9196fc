// The races of select beyond those that every synchronizer runs with it (cases.hpp).

#include <weir/mutex.hpp>
#include <weir/queue.hpp>
#include <weir/semaphore.hpp>
#include <weir/wait/select.hpp>

#include <model/scenario.hpp>

namespace weir::model {
namespace {

TEST(model_select, two_selects_cross_over_two_semaphores) {
  explore([] {
    semaphore left(0);
    semaphore right(0);
    waited first;
    waited second;
    auto one = select(left.acquire(), right.acquire()).start(first.callback());
    auto two = select(right.acquire(), left.acquire()).start(second.callback());
    together([&] { left.release(); }, [&] { right.release(); });
    EXPECT_TRUE(first.got && second.got);
    EXPECT_EQ(left.available() + right.available(), 0u);
    EXPECT_EQ(left.waiting() + right.waiting(), 0u);
  });
}

/// The losing branch held back those behind it: they are let through when it leaves.
TEST(model_select, a_large_branch_that_loses_lets_those_behind_it_through) {
  explore([] {
    semaphore sem(1);
    semaphore other(0);
    waited came;
    waited behind;
    auto selects = select(sem.acquire(2), other.acquire()).start(came.callback());
    together([&] { behind.note(sem.acquire().as_result().wait()); }, [&] { other.release(); });
    EXPECT_TRUE(came.got);
    EXPECT_EQ(came.index, 1u);
    EXPECT_TRUE(behind.got);
    EXPECT_EQ(sem.available() + other.available(), 0u);
  });
}

TEST(model_select, two_grants_while_it_is_started_and_cancelled) {
  explore([] {
    semaphore left(0);
    semaphore right(0);
    waited came;
    bool cancelled = false;
    together(
        [&] {
          auto ticket = select(left.acquire(), right.acquire()).start(came.callback());
          cancelled = ticket.cancel();
        },
        [&] { left.release(); }, [&] { right.release(); });
    EXPECT_EQ(came.got, !cancelled);
    EXPECT_EQ(left.available() + right.available(), came.got ? 1u : 2u);
    EXPECT_EQ(left.waiting() + right.waiting(), 0u);
  });
}

TEST(model_select, a_coroutine_is_destroyed_while_two_grant) {
  explore([] {
    executor runs;
    semaphore left(0);
    semaphore right(0);
    waited came;
    auto coroutine = await(select(left.acquire(), right.acquire()).as_result().resume_on(runs), came);
    together([&] { left.release(); }, [&] { right.release(); }, [&] { coroutine.destroy(); });
    EXPECT_EQ(came.times, 0);
    EXPECT_EQ(left.available(), 1u);
    EXPECT_EQ(right.available(), 1u);
  });
}

TEST(model_select, a_lock_and_an_item_against_a_stop) {
  explore([] {
    platform::stop_source stop;
    mutex m;
    queue<int> q;
    waited came;
    m.try_lock();
    together([&] { came.note(select(q.pop(), m.lock()).stop_on(stop.get_token()).wait()); },
             [&] {
               m.unlock();
               q.try_push(1);
             },
             [&] { stop.request_stop(); });
    EXPECT_TRUE(got_or(came, errc::cancelled));
    EXPECT_EQ(q.size(), came.got && came.index == 0 ? 0u : 1u);
    EXPECT_EQ(m.locked(), came.got && came.index == 1);
    if (m.locked()) m.unlock();
  });
}

TEST(model_select, both_its_objects_are_destroyed) {
  explore([] {
    std::optional<semaphore> left(std::in_place, 0);
    std::optional<semaphore> right(std::in_place, 0);
    waited came;
    auto ticket = select(left->acquire(), right->acquire()).start(came.callback());
    together([&] { left.reset(); }, [&] { right.reset(); }, [&] { ticket.cancel(); });
    EXPECT_FALSE(came.got);
    EXPECT_TRUE(got_or(came, errc::closed, errc::cancelled));
  });
}

/// Larger than all schedules: at random.
TEST(model_select, many_selects_and_releases_at_random) {
  explore(
      [] {
        time clock;
        semaphore left(0);
        semaphore right(0);
        waited came[3];
        const auto wait = [&](waited& mine) {
          mine.note(select(left.acquire(), right.acquire(2)).within(1s).wait());
          if (!mine.got) return;
          mine.index == 0 ? left.release() : right.release(2);
        };
        together([&] { wait(came[0]); }, [&] { wait(came[1]); }, [&] { wait(came[2]); }, [&] { left.release(); },
                 [&] { right.release(); }, [&] { right.release(); },
                 [&] {
                   clock.pass();
                   clock.pass();
                   clock.pass();
                 });
        EXPECT_EQ(left.available(), 1u);
        EXPECT_EQ(right.available(), 2u);
        EXPECT_EQ(left.waiting() + right.waiting(), 0u);
      },
      {.random = 200000});
}

}  // namespace
}  // namespace weir::model
