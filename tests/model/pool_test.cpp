// The races of pool: slots are freed by tasks that end while others wait to submit, give up, stop or go away.

#include <memory>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/pool.hpp>
#include <weir/run/run_loop.hpp>
#include <weir/run/sync_wait.hpp>

#include <model/scenario.hpp>

namespace weir::model {
namespace {

task<int> one() { co_return 1; }
task<int> one_after(event& gate) {
  co_await gate.wait();
  co_return 1;
}

TEST(model_pool, two_submit_to_one_slot) {
  explore([] {
    executor runs;
    pool slots(runs, 1);
    int got = 0;
    const auto submit = [&] {
      auto made = slots.submit(one()).as_result().wait();
      runs.run_all();
      got += (*made).get().wait();
    };
    together(submit, submit);
    EXPECT_EQ(got, 2);
    EXPECT_EQ(slots.peak(), 1u);
    EXPECT_EQ(slots.running(), 0u);
    EXPECT_EQ(slots.completed(), 2u);
  });
}

TEST(model_pool, the_end_of_a_task_against_a_submit_that_times_out) {
  explore([] {
    time clock;
    executor runs;
    event gate;
    pool slots(runs, 1);
    bool submitted = false;
    waited joined;
    auto first = slots.try_submit(one_after(gate));
    runs.run_all();
    together([&] { submitted = slots.submit(one()).within(1s).wait().has_value(); },
             [&] {
               gate.set();
               runs.run_all();
             },
             [&] { clock.pass(); });
    runs.run_all();
    joined.note(slots.join().as_result().wait());
    EXPECT_TRUE(joined.got);
    EXPECT_EQ(slots.completed(), submitted ? 2u : 1u);
    EXPECT_EQ(slots.running(), 0u);
    EXPECT_EQ(slots.waiting(), 0u);
  });
}

TEST(model_pool, the_end_of_a_task_against_request_stop_and_a_submit) {
  explore([] {
    executor runs;
    event gate;
    pool slots(runs, 1);
    bool submitted = false;
    auto first = slots.try_submit(one_after(gate));
    runs.run_all();
    together([&] { submitted = slots.submit(one()).as_result().wait().has_value(); },
             [&] {
               gate.set();
               runs.run_all();
             },
             [&] { slots.request_stop(); });
    runs.run_all();
    EXPECT_EQ(slots.completed(), submitted ? 2u : 1u);
    EXPECT_EQ(slots.running(), 0u);
  });
}

TEST(model_pool, join_against_the_end_of_two_tasks) {
  explore([] {
    executor runs;
    event gate;
    pool slots(runs, 2);
    auto first = slots.try_submit(one_after(gate));
    auto second = slots.try_submit(one_after(gate));
    runs.run_all();
    together(
        [&] {
          slots.join().wait();
          EXPECT_TRUE(first->ready() && second->ready()) << "when join completes all futures are ready";
          EXPECT_EQ(slots.running(), 0u);
        },
        [&] {
          gate.set();
          runs.run_all();
        },
        [&] { runs.run_all(); });
  });
}

TEST(model_pool, it_is_destroyed_while_its_task_ends) {
  explore([] {
    executor runs;
    event gate;
    std::optional<pool> slots(std::in_place, runs, 1);
    waited came;
    auto made = slots->try_submit(one_after(gate));
    auto ticket = slots->submit(one()).start([&](const result<future<int>>& outcome) {
      ++came.times;
      came.got = outcome.has_value();
    });
    runs.run_all();
    together(
        [&] {
          gate.set();
          runs.run_all();
        },
        [&] { slots.reset(); }, [&] { ticket.cancel(); });
    runs.run_all();
    EXPECT_TRUE(made->ready());
    EXPECT_EQ(came.times, 1);
  });
}

task<> enter(mutex& m, int& inside, int& entered) {
  auto held = co_await m.scoped_lock();
  EXPECT_EQ(++inside, 1);
  point();
  --inside;
  ++entered;
}

TEST(model_task, tasks_of_two_threads_exclude_one_another) {
  explore([] {
    mutex m;
    int inside = 0;
    int entered = 0;
    const auto run = [&] { sync_wait(enter(m, inside, entered)); };
    together(run, run);
    EXPECT_EQ(entered, 2);
    EXPECT_FALSE(m.locked());
  });
}

TEST(model_task, work_is_posted_to_a_run_loop_while_it_goes_to_sleep_and_finishes) {
  explore([] {
    struct job : work {
      job() noexcept : work([](work& posted) noexcept { ++static_cast<job&>(posted).ran; }) {}
      int ran = 0;
    };
    job first;
    job second;
    run_loop loop;
    together([&] { loop.run(); }, [&] { loop.post(first); },
             [&] {
               loop.post(second);
               loop.finish();
             });
    if (first.ran == 0) loop.run();
    EXPECT_EQ(first.ran, 1);
    EXPECT_EQ(second.ran, 1);
  });
}

TEST(model_task, a_run_loop_goes_as_soon_as_the_last_that_was_posted_has_finished_it) {
  explore([] {
    struct job : work {
      explicit job(run_loop* last = nullptr) noexcept
          : work([](work& posted) noexcept {
              auto& self = static_cast<job&>(posted);
              ++self.ran;
              if (self.loop != nullptr) self.loop->finish();
            }),
            loop(last) {}
      run_loop* loop;
      int ran = 0;
    };
    auto loop = std::make_unique<run_loop>();
    job first;
    job last(loop.get());
    together(
        [&] {
          loop->run();
          loop.reset();
        },
        [&, posts = loop.get()] {
          posts->post(first);
          posts->post(last);
        });
    EXPECT_EQ(first.ran, 1);
    EXPECT_EQ(last.ran, 1);
  });
}

}  // namespace
}  // namespace weir::model
