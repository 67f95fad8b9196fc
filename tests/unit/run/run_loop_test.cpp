#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/executor.hpp>
#include <weir/core/flat_loop.hpp>
#include <weir/run/run_loop.hpp>

#include <support/job.hpp>

namespace {

using weir::run_loop;
using weir::work;
using weir::test::job;
using weir::test::log;
using weir::test::writes;

TEST(run_loop, is_an_executor) {
  static_assert(weir::executor<run_loop>);
  run_loop loop;
  EXPECT_EQ(weir::executor_ref(loop).timers(), nullptr);
}

TEST(run_loop, runs_first_what_was_posted_first) {
  log written;
  auto a = writes(written, "a");
  auto b = writes(written, "b");
  auto c = writes(written, "c");
  run_loop loop;
  loop.post(b);
  loop.post(a);
  loop.post(c);
  loop.finish();
  loop.run();
  EXPECT_EQ(written, (log{"b", "a", "c"}));
}

TEST(run_loop, G7_post_runs_nothing_on_the_stack_of_its_caller) {
  log written;
  auto b = writes(written, "b");
  run_loop loop;
  job a([&] {
    loop.post(b);
    written.emplace_back("a ends");
    loop.finish();
  });
  loop.post(a);
  EXPECT_TRUE(written.empty());
  loop.run();
  EXPECT_EQ(written, (log{"a ends", "b"}));
}

TEST(run_loop, what_is_posted_from_inside_queues_behind_what_is_there) {
  log written;
  auto c = writes(written, "c");
  run_loop loop;
  job a([&] {
    written.emplace_back("a");
    loop.post(c);
  });
  auto b = writes(written, "b");
  loop.post(a);
  loop.post(b);
  loop.finish();
  loop.run();
  EXPECT_EQ(written, (log{"a", "b", "c"}));
}

TEST(run_loop, finished_before_it_runs_it_returns_once_nothing_is_left) {
  run_loop loop;
  loop.finish();
  loop.run();
  log written;
  auto a = writes(written, "a");
  loop.post(a);
  loop.run();
  EXPECT_EQ(written, (log{"a"}));
}

TEST(run_loop, after_finish_it_still_runs_what_its_work_posts) {
  log written;
  run_loop loop;
  auto c = writes(written, "c");
  job b([&] { loop.post(c); });
  job a([&] { loop.post(b); });
  loop.post(a);
  loop.finish();
  loop.run();
  EXPECT_EQ(written, (log{"c"}));
}

TEST(run_loop, finish_from_another_thread_lets_it_return) {
  for (int round = 0; round < 200; ++round) {
    run_loop loop;
    std::thread finisher([&] { loop.finish(); });
    loop.run();
    finisher.join();
  }
}

TEST(run_loop, finish_by_its_own_work_lets_it_return_after_those_behind) {
  log written;
  run_loop loop;
  job a([&] { loop.finish(); });
  auto b = writes(written, "b");
  loop.post(a);
  loop.post(b);
  loop.run();
  EXPECT_EQ(written, (log{"b"}));
}

TEST(run_loop, a_post_from_another_thread_wakes_it_and_runs_here) {
  for (int round = 0; round < 200; ++round) {
    run_loop loop;
    std::thread::id ran_on;
    job a([&] {
      ran_on = std::this_thread::get_id();
      loop.finish();
    });
    std::thread poster([&] { loop.post(a); });
    loop.run();
    poster.join();
    EXPECT_EQ(ran_on, std::this_thread::get_id());
  }
}

TEST(run_loop, may_be_destroyed_as_soon_as_run_returns) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<run_loop*> shared{nullptr};
    std::thread finisher([&] {
      shared.wait(nullptr);
      shared.load()->finish();
    });
    {
      run_loop loop;
      shared.store(&loop);
      shared.notify_one();
      loop.run();
    }
    finisher.join();
  }
}

TEST(run_loop, posts_of_many_threads_all_run_once_and_each_threads_in_its_order) {
  constexpr std::size_t threads = 4;
  constexpr std::size_t each = 1'000;
  struct numbered : work {
    numbered() : work([](work& posted) noexcept { static_cast<numbered&>(posted).note(); }) {}
    void note() noexcept {
      seen->push_back(number);
      if (--*left == 0) loop->finish();
    }
    std::size_t number = 0;
    std::vector<std::size_t>* seen = nullptr;
    std::size_t* left = nullptr;
    run_loop* loop = nullptr;
  };
  run_loop loop;
  std::size_t left = threads * each;
  std::array<std::vector<std::size_t>, threads> seen;
  std::vector<std::vector<numbered>> items(threads);
  for (std::size_t t = 0; t < threads; ++t) {
    items[t] = std::vector<numbered>(each);
    for (std::size_t i = 0; i < each; ++i) {
      items[t][i].number = i;
      items[t][i].seen = &seen[t];
      items[t][i].left = &left;
      items[t][i].loop = &loop;
    }
  }
  std::vector<std::thread> posters;
  for (auto& mine : items) {
    posters.emplace_back([&] {
      for (auto& item : mine) loop.post(item);
    });
  }
  loop.run();
  for (auto& poster : posters) poster.join();
  for (const auto& mine : seen) {
    ASSERT_EQ(mine.size(), each);
    for (std::size_t i = 0; i < each; ++i) EXPECT_EQ(mine[i], i);
  }
}

TEST(run_loop, what_arrives_from_outside_is_not_starved_by_work_that_keeps_posting) {
  run_loop loop;
  std::atomic<bool> arrived{false};
  struct endless : work {
    endless(run_loop& target, std::atomic<bool>& until)
        : work([](work& posted) noexcept {
            auto& self = static_cast<endless&>(posted);
            if (!self.until_.load()) self.loop_.post(self);
          }),
          loop_(target),
          until_(until) {}
    run_loop& loop_;
    std::atomic<bool>& until_;
  };
  endless busy(loop, arrived);
  job outside([&] {
    arrived = true;
    loop.finish();
  });
  loop.post(busy);
  std::thread poster([&] { loop.post(outside); });
  loop.run();
  poster.join();
  EXPECT_TRUE(arrived.load());
}

TEST(run_loop, what_was_retracted_does_not_run) {
  log written;
  auto a = writes(written, "a");
  auto b = writes(written, "b");
  auto c = writes(written, "c");
  run_loop loop;
  EXPECT_FALSE(loop.retract(a));
  loop.post(a);
  loop.post(b);
  loop.post(c);
  EXPECT_TRUE(loop.retract(b));
  EXPECT_FALSE(loop.retract(b));
  loop.finish();
  loop.run();
  EXPECT_EQ(written, (log{"a", "c"}));
  EXPECT_FALSE(loop.retract(a));
}

TEST(run_loop, its_work_may_retract_those_behind_wherever_they_were_posted) {
  log written;
  run_loop loop;
  auto inside = writes(written, "inside");
  auto outside = writes(written, "outside");
  job a([&] {
    loop.post(inside);
    std::thread([&] { loop.post(outside); }).join();
    EXPECT_TRUE(loop.retract(outside));
    EXPECT_TRUE(loop.retract(inside));
    loop.finish();
  });
  loop.post(a);
  loop.run();
  EXPECT_TRUE(written.empty());
}

TEST(run_loop, what_runs_may_be_posted_again_or_go_away) {
  struct countdown : work {
    countdown(run_loop& target, int& runs)
        : work([](work& posted) noexcept {
            auto* self = static_cast<countdown*>(&posted);
            if (++self->runs_ < 3) {
              self->loop_.post(*self);
            } else {
              delete self;
            }
          }),
          loop_(target),
          runs_(runs) {}
    run_loop& loop_;
    int& runs_;
  };
  run_loop loop;
  int runs = 0;
  loop.post(*new countdown(loop, runs));
  loop.finish();
  loop.run();
  EXPECT_EQ(runs, 3);
}

TEST(run_loop, one_inside_another_runs_only_its_own_and_then_the_other_goes_on) {
  log written;
  run_loop outer;
  run_loop inner;
  auto posted_to_outer = writes(written, "outer work");
  auto waiting_in_outer = writes(written, "outer work that waited");
  job in_inner([&] {
    written.emplace_back("inner work");
    outer.post(posted_to_outer);
    inner.finish();
  });
  job nests([&] {
    inner.post(in_inner);
    inner.run();
    written.emplace_back("inner loop ended");
  });
  outer.post(nests);
  outer.post(waiting_in_outer);
  outer.finish();
  outer.run();
  EXPECT_EQ(written, (log{"inner work", "inner loop ended", "outer work that waited", "outer work"}));
}

TEST(run_loop, after_an_inner_loop_posts_from_inside_the_outer_one_are_still_from_inside) {
  log written;
  run_loop outer;
  auto last = writes(written, "last");
  job nests([&] {
    run_loop inner;
    inner.finish();
    inner.run();
    outer.post(last);
    written.emplace_back("first");
  });
  outer.post(nests);
  outer.finish();
  outer.run();
  EXPECT_EQ(written, (log{"first", "last"}));
}

TEST(run_loop, inside_a_completion_it_first_runs_what_the_flat_loop_holds) {
  log written;
  auto behind = writes(written, "behind");
  auto in_loop = writes(written, "in the loop");
  job completion([&] {
    run_loop loop;
    loop.post(in_loop);
    loop.finish();
    loop.run();
  });
  {
    weir::core::flat_loop::scope hold;
    weir::inline_executor().post(completion);
    weir::inline_executor().post(behind);
  }
  EXPECT_EQ(written, (log{"behind", "in the loop"}));
}

TEST(run_loop, inside_a_completion_its_work_finds_the_flat_loop_as_if_outermost) {
  log written;
  auto flat = writes(written, "flat");
  job in_loop([&] {
    weir::inline_executor().post(flat);
    written.emplace_back("after the post");
  });
  job completion([&] {
    run_loop loop;
    loop.post(in_loop);
    loop.finish();
    loop.run();
  });
  weir::inline_executor().post(completion);
  EXPECT_EQ(written, (log{"flat", "after the post"}));
}

/// g++ 12 aligns no frame for what lives in it.
TEST(run_loop, may_be_a_local_of_a_coroutine) { EXPECT_LE(alignof(run_loop), __STDCPP_DEFAULT_NEW_ALIGNMENT__); }

}  // namespace
