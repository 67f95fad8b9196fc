#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/claim.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/errc.hpp>

namespace {

using weir::core::deciders;
using weir::core::outcome;

struct claim : weir::core::claim {
  claim() = default;
  explicit claim(deciders who) { set_deciders(who); }
};

constexpr std::array outcomes = {outcome::granted, outcome::timed_out, outcome::cancelled, outcome::closed};

TEST(claim, is_pending_until_decided) {
  claim wait(deciders::anybody);
  EXPECT_EQ(wait.verdict(), outcome::pending);
  EXPECT_FALSE(wait.decided());
  EXPECT_TRUE(wait.decide(outcome::timed_out));
  EXPECT_EQ(wait.verdict(), outcome::timed_out);
  EXPECT_TRUE(wait.decided());
}

TEST(claim, G1_is_decided_once_whatever_comes_second) {
  for (const outcome first : outcomes) {
    claim wait(deciders::anybody);
    EXPECT_TRUE(wait.decide(first));
    for (const outcome second : outcomes) EXPECT_FALSE(wait.decide(second));
    EXPECT_EQ(wait.verdict(), first);
  }
}

TEST(claim, of_a_lock_holder_has_the_outcome_that_it_was_given) {
  for (const outcome verdict : outcomes) {
    claim wait;
    EXPECT_EQ(wait.decided_by(), deciders::lock_holder);
    EXPECT_TRUE(wait.decide(verdict));
    EXPECT_EQ(wait.verdict(), verdict);
  }
}

TEST(claim, the_failures_have_the_numbers_of_their_errc) {
  EXPECT_EQ(static_cast<weir::errc>(outcome::timed_out), weir::errc::timed_out);
  EXPECT_EQ(static_cast<weir::errc>(outcome::cancelled), weir::errc::cancelled);
  EXPECT_EQ(static_cast<weir::errc>(outcome::closed), weir::errc::closed);
  EXPECT_EQ(static_cast<weir::errc>(outcome::would_deadlock), weir::errc::would_deadlock);
  EXPECT_NE(static_cast<weir::errc>(outcome::granted), weir::errc::failed);
}

TEST(claim, G1_of_many_threads_that_decide_at_once_exactly_one_wins) {
  constexpr int rounds = 500;
  std::array<claim, rounds> waits;
  std::array<std::atomic<int>, rounds> winners{};
  std::array<std::atomic<outcome>, rounds> won{};
  for (auto& wait : waits) wait.set_deciders(deciders::anybody);

  std::barrier together(static_cast<std::ptrdiff_t>(outcomes.size()));
  std::vector<std::thread> racers;
  for (const outcome mine : outcomes) {
    racers.emplace_back([&, mine] {
      for (std::size_t round = 0; round < rounds; ++round) {
        together.arrive_and_wait();
        if (waits[round].decide(mine)) {
          ++winners[round];
          won[round] = mine;
        }
      }
    });
  }
  for (auto& racer : racers) racer.join();

  for (std::size_t round = 0; round < rounds; ++round) {
    EXPECT_EQ(winners[round].load(), 1) << "in round " << round;
    EXPECT_EQ(waits[round].verdict(), won[round].load()) << "in round " << round;
  }
}

TEST(claim, a_completion_after_the_arming_tells_the_owner) {
  claim wait(deciders::anybody);
  wait.start_arming();
  EXPECT_TRUE(wait.finish_arming());
  EXPECT_FALSE(wait.decided());
  EXPECT_TRUE(wait.decide(outcome::granted));
  EXPECT_TRUE(wait.arrive());
  EXPECT_EQ(wait.verdict(), outcome::granted);
}

TEST(claim, a_completion_during_the_arming_leaves_the_owner_to_its_starter) {
  claim wait(deciders::anybody);
  wait.start_arming();
  EXPECT_FALSE(wait.decided());
  EXPECT_TRUE(wait.decide(outcome::granted));
  EXPECT_FALSE(wait.arrive());
  EXPECT_FALSE(wait.finish_arming());
  EXPECT_EQ(wait.verdict(), outcome::granted);
}

TEST(claim, one_decided_but_not_completed_during_the_arming_is_told_by_its_completion) {
  claim wait(deciders::anybody);
  wait.start_arming();
  EXPECT_TRUE(wait.decide(outcome::cancelled));
  EXPECT_TRUE(wait.finish_arming());
  EXPECT_TRUE(wait.arrive());
  EXPECT_EQ(wait.verdict(), outcome::cancelled);
}

TEST(claim, G1_the_last_of_arming_and_completion_goes_on_and_sees_what_the_other_did) {
  constexpr std::size_t rounds = 1'000;
  struct wait_and_traces : claim {
    int by_starter = 0;
    int by_completer = 0;
    int seen_by_the_last = 0;
    std::atomic<int> went_on{0};

    void go_on() {
      ++went_on;
      seen_by_the_last = by_starter + by_completer;
    }
  };
  std::array<wait_and_traces, rounds> waits;
  for (auto& wait : waits) {
    wait.set_deciders(deciders::anybody);
    wait.start_arming();
  }

  std::barrier together(2);
  std::thread completer([&] {
    for (auto& wait : waits) {
      together.arrive_and_wait();
      wait.by_completer = 1;
      wait.decide(outcome::granted);
      if (wait.arrive()) wait.go_on();
    }
  });
  for (auto& wait : waits) {
    together.arrive_and_wait();
    wait.by_starter = 2;
    if (!wait.finish_arming()) wait.go_on();
  }
  completer.join();

  for (auto& wait : waits) {
    EXPECT_EQ(wait.went_on.load(), 1);
    EXPECT_EQ(wait.seen_by_the_last, 3);
  }
}

}  // namespace
