// The races of thread_pool: posting, stealing, falling asleep, stopping. A wake-up that is lost is a deadlock here.

#include <weir/run/thread_pool.hpp>

#include <gtest/gtest.h>

#include <model/scenario.hpp>

namespace weir::model {
namespace {

/// Calls a function, and counts how often.
template <class Body>
class job : public work {
 public:
  explicit job(Body body)
      : work([](work& posted) noexcept {
          auto& self = static_cast<job&>(posted);
          ++self.times;
          self.body_();
        }),
        body_(body) {}

  int times = 0;

 private:
  Body body_;
};

const auto nothing = [] {};

TEST(model_thread_pool, what_is_posted_before_the_end_is_run) {
  explore([] {
    job first(nothing);
    job second(nothing);
    {
      thread_pool pool(1);
      pool.post(first);
      pool.post(second);
    }
    EXPECT_EQ(first.times, 1);
    EXPECT_EQ(second.times, 1);
  });
}

TEST(model_thread_pool, what_is_posted_before_the_end_is_run_by_one_of_two) {
  explore(
      [] {
        job posted(nothing);
        {
          thread_pool pool(2);
          pool.post(posted);
        }
        EXPECT_EQ(posted.times, 1);
      },
      {.preemptions = 3});
}

TEST(model_thread_pool, what_work_posts_before_the_end_is_run) {
  explore(
      [] {
        job last(nothing);
        {
          std::optional<thread_pool> pool(std::in_place, 2);
          job first([&] { pool->post(last); });
          pool->post(first);
          pool.reset();
          EXPECT_EQ(first.times, 1);
        }
        EXPECT_EQ(last.times, 1);
      },
      {.preemptions = 3});
}

TEST(model_thread_pool, what_a_blocked_worker_has_posted_at_the_end_is_run_by_another) {
  explore(
      [] {
        platform::parker go_on;
        job inner([&] { go_on.unpark(); });
        {
          thread_pool pool(2);
          job outer([&] {
            pool.post(inner);
            go_on.park();
          });
          pool.post(outer);
        }
        EXPECT_EQ(inner.times, 1);
      },
      {.preemptions = 3});
}

TEST(model_thread_pool, a_post_wakes_the_only_worker) {
  explore([] {
    platform::parker ran;
    job posted([&] { ran.unpark(); });
    thread_pool pool(1);
    pool.post(posted);
    ran.park();
  });
}

TEST(model_thread_pool, posts_of_two_threads_are_both_run_without_another_post) {
  explore(
      [] {
        platform::parker first_ran;
        platform::parker second_ran;
        job first([&] { first_ran.unpark(); });
        job second([&] { second_ran.unpark(); });
        thread_pool pool(1);
        platform::thread other([&] { pool.post(second); });
        pool.post(first);
        first_ran.park();
        second_ran.park();
        other.join();
      },
      {.preemptions = 3});
}

TEST(model_thread_pool, what_a_blocked_worker_has_posted_is_run_by_another) {
  explore(
      [] {
        platform::parker go_on;
        platform::parker ended;
        job inner([&] { go_on.unpark(); });
        std::optional<thread_pool> pool(std::in_place, 2);
        job outer([&] {
          pool->post(inner);
          go_on.park();
          ended.unpark();
        });
        pool->post(outer);
        ended.park();
        pool.reset();
        EXPECT_EQ(inner.times, 1);
      },
      {.preemptions = 3});
}

TEST(model_thread_pool, two_posts_reach_two_workers_though_the_first_blocks) {
  explore(
      [] {
        platform::parker go_on;
        platform::parker ended;
        job first([&] {
          go_on.park();
          ended.unpark();
        });
        job second([&] { go_on.unpark(); });
        thread_pool pool(2);
        pool.post(first);
        pool.post(second);
        ended.park();
      },
      {.preemptions = 3});
}

// One worker has three and blocks; the other one has looked at its list before, comes again, takes the first and takes
// the second along. Nobody can run the second: whoever takes it back finds it in the one list or in the other.
TEST(model_thread_pool, what_a_thief_takes_along_can_be_retracted_meanwhile) {
  explore(
      [] {
        platform::parker posted;
        platform::parker go_on[2];
        std::optional<thread_pool> pool(std::in_place, 2);
        job first([&] { go_on[0].park(); });
        job second(nothing);
        job third(nothing);
        job all([&] {
          pool->post(first);
          pool->post(second);
          pool->post(third);
          posted.unpark();
          go_on[1].park();
        });
        job before(nothing);
        pool->post(all);
        pool->post(before);
        posted.park();
        EXPECT_TRUE(pool->retract(second));
        go_on[0].unpark();
        go_on[1].unpark();
        pool.reset();
      },
      {.preemptions = 2});
}

// One worker has three, a thief takes the first and takes the second along, both block; the third worker has looked at
// the thief's list before that, and sleeps.
void a_thief_takes_along() {
  platform::parker go_on[2];
  platform::parker ran;
  std::optional<thread_pool> pool(std::in_place, 3);
  job first([&] { go_on[0].park(); });
  job second([&] {
    go_on[0].unpark();
    go_on[1].unpark();
    ran.unpark();
  });
  job third([&] { go_on[1].park(); });
  job all([&] {
    pool->post(first);
    pool->post(second);
    pool->post(third);
  });
  pool->post(all);
  ran.park();
  pool.reset();
}

// The schedule that shows the mistake comes late among all of them: it is looked for at random too.
TEST(model_thread_pool, what_a_thief_has_taken_along_is_run_though_it_blocks) {
  explore(a_thief_takes_along, {.random = 300000, .drops = 4});
}

TEST(model_thread_pool, whoever_its_last_work_lets_through_may_destroy_it) {
  explore(
      [] {
        platform::parker ran;
        job posted([&] { ran.unpark(); });
        std::optional<thread_pool> pool(std::in_place, 1);
        platform::thread other([&] { pool->post(posted); });
        ran.park();
        pool.reset();  // while the other may still be on its way out of post()
        other.join();
      },
      {.preemptions = 3});
}

TEST(model_thread_pool, what_is_retracted_is_not_run_and_the_rest_is_run_once) {
  explore(
      [] {
        job posted(nothing);
        bool taken_back = false;
        {
          thread_pool pool(1);
          pool.post(posted);
          taken_back = pool.retract(posted);
        }
        EXPECT_EQ(posted.times, taken_back ? 0 : 1);
      },
      {.preemptions = 3});
}

TEST(model_thread_pool, what_no_worker_has_come_to_can_be_retracted) {
  explore([] {
    platform::parker go_on;
    job first([&] { go_on.park(); });
    job second(nothing);
    thread_pool pool(1);
    pool.post(first);
    pool.post(second);
    EXPECT_TRUE(pool.retract(second));
    go_on.unpark();
  });
}

}  // namespace
}  // namespace weir::model
