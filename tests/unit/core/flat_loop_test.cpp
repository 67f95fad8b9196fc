#include <algorithm>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include <weir/core/flat_loop.hpp>

#include <support/job.hpp>

namespace {

using weir::work;
using weir::core::flat_loop;
using weir::test::job;
using weir::test::log;
using weir::test::writes;

void post(work& item) { flat_loop::current().post(item); }

TEST(flat_loop, runs_what_is_posted_before_the_outermost_post_returns) {
  log written;
  auto a = writes(written, "a");
  post(a);
  EXPECT_EQ(written, (log{"a"}));
}

TEST(flat_loop, runs_nested_posts_one_after_the_other_and_never_inside_one_another) {
  log written;
  auto b = writes(written, "b");
  auto c = writes(written, "c");
  job a([&] {
    written.emplace_back("a begins");
    post(b);
    post(c);
    written.emplace_back("a ends");
  });
  post(a);
  EXPECT_EQ(written, (log{"a begins", "a ends", "b", "c"}));
}

TEST(flat_loop, G7_a_chain_of_a_million_posts_uses_bounded_stack) {
  struct chain : work {
    chain() : work([](work& posted) noexcept { static_cast<chain&>(posted).step(); }) {}
    void step() noexcept {
      const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
      lowest = std::min(lowest, here);
      highest = std::max(highest, here);
      if (--left > 0) post(*this);
    }
    std::uintptr_t lowest = UINTPTR_MAX;
    std::uintptr_t highest = 0;
    int left = 1'000'000;
  };
  chain steps;
  post(steps);
  EXPECT_EQ(steps.left, 0);
  EXPECT_LT(steps.highest - steps.lowest, 4'096U);
}

TEST(flat_loop, a_scope_holds_everything_until_it_closes) {
  log written;
  auto a = writes(written, "a");
  auto b = writes(written, "b");
  {
    flat_loop::scope hold;
    post(a);
    post(b);
    EXPECT_TRUE(written.empty());
  }
  EXPECT_EQ(written, (log{"a", "b"}));
}

TEST(flat_loop, of_nested_scopes_only_the_outermost_runs) {
  log written;
  auto a = writes(written, "a");
  {
    flat_loop::scope outer;
    {
      flat_loop::scope inner;
      post(a);
    }
    EXPECT_TRUE(written.empty());
  }
  EXPECT_EQ(written, (log{"a"}));
}

TEST(flat_loop, a_scope_opened_by_what_it_runs_is_not_outermost) {
  log written;
  auto b = writes(written, "b");
  job a([&] {
    {
      flat_loop::scope nested;
      post(b);
    }
    written.emplace_back("a ends");
  });
  post(a);
  EXPECT_EQ(written, (log{"a ends", "b"}));
}

TEST(flat_loop, works_again_after_a_scope_has_closed) {
  log written;
  auto a = writes(written, "a");
  {
    flat_loop::scope nothing;
  }
  post(a);
  EXPECT_EQ(written.size(), 1U);
  post(a);
  EXPECT_EQ(written.size(), 2U);
}

TEST(flat_loop, what_was_retracted_does_not_run_and_the_others_keep_their_order) {
  log written;
  auto a = writes(written, "a");
  auto b = writes(written, "b");
  auto c = writes(written, "c");
  {
    flat_loop::scope hold;
    post(a);
    post(b);
    post(c);
    EXPECT_TRUE(flat_loop::current().retract(b));
    EXPECT_FALSE(flat_loop::current().retract(b));
  }
  EXPECT_EQ(written, (log{"a", "c"}));
}

TEST(flat_loop, what_has_run_or_was_never_posted_cannot_be_retracted) {
  log written;
  auto a = writes(written, "a");
  EXPECT_FALSE(flat_loop::current().retract(a));
  post(a);
  EXPECT_FALSE(flat_loop::current().retract(a));
  EXPECT_EQ(written.size(), 1U);
}

TEST(flat_loop, what_it_runs_may_retract_those_behind) {
  log written;
  auto b = writes(written, "b");
  auto c = writes(written, "c");
  job a([&] { EXPECT_TRUE(flat_loop::current().retract(b)); });
  {
    flat_loop::scope hold;
    post(a);
    post(b);
    post(c);
  }
  EXPECT_EQ(written, (log{"c"}));
}

TEST(flat_loop, what_runs_may_go_away) {
  struct short_lived : work {
    explicit short_lived(int& ran)
        : work([](work& posted) noexcept {
            auto* self = static_cast<short_lived*>(&posted);
            ++self->ran_;
            delete self;
          }),
          ran_(ran) {}
    int& ran_;
  };
  int ran = 0;
  {
    flat_loop::scope hold;
    for (int i = 0; i < 3; ++i) post(*new short_lived(ran));
  }
  EXPECT_EQ(ran, 3);
}

TEST(flat_loop, a_thread_about_to_block_inside_a_completion_can_run_those_behind_it_first) {
  log written;
  auto b = writes(written, "b");
  job a([&] {
    flat_loop::current().run();
    written.emplace_back("a ends");
  });
  {
    flat_loop::scope hold;
    post(a);
    post(b);
  }
  EXPECT_EQ(written, (log{"b", "a ends"}));
}

TEST(flat_loop, an_inner_loop_first_runs_what_was_held) {
  log written;
  auto b = writes(written, "b");
  job a([&] {
    flat_loop::inner base;
    written.emplace_back("inside");
  });
  {
    flat_loop::scope hold;
    post(a);
    post(b);
  }
  EXPECT_EQ(written, (log{"b", "inside"}));
}

TEST(flat_loop, inside_an_inner_loop_a_post_runs_as_if_it_were_outermost_and_afterwards_it_is_held_again) {
  log written;
  auto b = writes(written, "b");
  auto c = writes(written, "c");
  job a([&] {
    {
      flat_loop::inner base;
      post(b);
      written.emplace_back("inner ends");
    }
    post(c);
    written.emplace_back("a ends");
  });
  post(a);
  EXPECT_EQ(written, (log{"b", "inner ends", "a ends", "c"}));
}

TEST(flat_loop, an_inner_loop_outside_of_any_completion_changes_nothing) {
  log written;
  auto a = writes(written, "a");
  {
    flat_loop::inner base;
    post(a);
    EXPECT_EQ(written.size(), 1U);
  }
  post(a);
  EXPECT_EQ(written.size(), 2U);
}

TEST(flat_loop, each_thread_has_its_own) {
  log written;
  auto a = writes(written, "here");
  flat_loop::scope hold;
  post(a);
  log there;
  std::thread([&] {
    auto b = writes(there, "there");
    post(b);
  }).join();
  EXPECT_EQ(there, (log{"there"}));
  EXPECT_TRUE(written.empty());
  EXPECT_TRUE(flat_loop::current().retract(a));
}

TEST(flat_loop, the_inline_executor_is_the_flat_loop_of_whoever_posts) {
  log written;
  auto b = writes(written, "b");
  auto c = writes(written, "c");
  job a([&] {
    weir::inline_executor().post(b);
    weir::inline_executor().post(c);
    EXPECT_TRUE(weir::inline_executor().retract(c));
    written.emplace_back("a ends");
  });
  weir::inline_executor().post(a);
  EXPECT_EQ(written, (log{"a ends", "b"}));
}

}  // namespace
