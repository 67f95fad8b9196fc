// G10 (see publication.hpp): events, latch, wait_group and barrier.

#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <stress/publication.hpp>

namespace weir::publication {
namespace {

// event, auto_reset_event, latch, wait_group, barrier

TEST(publication, G10_a_set_is_ordered_before_the_wait_that_it_lets_through) {
  const auto set = [](event& e) { e.set(); };
  const auto wait = [](event& e) { e.wait().wait(); };
  published_first<event>(set, wait);
  published_later<event>(set, wait, waiting);
  published_later<event>([](event& e) { e.notify_all(); }, wait, waiting);
  published_later<event>([](event& e) { e.notify_one(); }, wait, waiting);
}

TEST(publication, G10_a_set_of_an_event_that_is_set_is_ordered_before_the_next_wait_too) {
  published_by_two<event>([](event& e) { e.set(); }, [](event& e) { e.wait().wait(); });
}

TEST(publication, G10_a_set_is_ordered_before_is_set_returns_true) {
  const auto set = [](event& e) { e.set(); };
  published_first<event>(set, [](event& e) { spin_until([&] { return e.is_set(); }); });
  published_by_two<event>(set, [](event& e) { spin_until([&] { return e.is_set(); }); });
}

TEST(publication, G10_a_set_of_an_auto_reset_event_is_ordered_before_the_wait_that_uses_it) {
  const auto set = [](auto_reset_event& e) { e.set(); };
  const auto wait = [](auto_reset_event& e) { e.wait().wait(); };
  published_first<auto_reset_event>(set, wait);
  published_later<auto_reset_event>(set, wait, waiting);
  published_first<auto_reset_event>(set, [](auto_reset_event& e) { spin_until([&] { return e.is_set(); }); });
}

TEST(publication, G10_a_second_set_of_an_auto_reset_event_is_ordered_before_the_one_wait_that_both_let_through) {
  published_by_two<auto_reset_event>([](auto_reset_event& e) { e.set(); },
                                     [](auto_reset_event& e) { e.wait().wait(); });
}

struct latch_of_one : latch {
  latch_of_one() : latch(1) {}
};
struct latch_of_two : latch {
  latch_of_two() : latch(2) {}
};

TEST(publication, G10_every_count_down_of_a_latch_is_ordered_before_the_wait) {
  const auto count_down = [](latch& all) { all.count_down(); };
  const auto wait = [](latch& all) { all.wait().wait(); };
  published_first<latch_of_one>(count_down, wait);
  published_later<latch_of_one>(count_down, wait, waiting);
  published_by_two<latch_of_two>(count_down, wait);
  published_by_two_later<latch_of_two>(count_down, wait);
}

TEST(publication, G10_every_count_down_of_a_latch_is_ordered_before_try_wait_returns_true) {
  published_by_two<latch_of_two>([](latch& all) { all.count_down(); },
                                 [](latch& all) { spin_until([&] { return all.try_wait(); }); });
}

TEST(publication, G10_every_arrival_at_a_latch_is_ordered_before_all_that_arrive_and_wait) {
  for (int round = 0; round < rounds; ++round) {
    latch all(3);
    int data[3] = {};
    std::vector<std::jthread> threads;
    for (int& mine : data) {
      threads.emplace_back([&] {
        mine = 1;
        all.arrive_and_wait().wait();
        EXPECT_EQ(data[0] + data[1] + data[2], 3);
      });
    }
  }
}

struct group_of_one : wait_group {
  group_of_one() { add(); }
};
struct group_of_two : wait_group {
  group_of_two() { add(2); }
};

TEST(publication, G10_every_done_of_a_wait_group_is_ordered_before_the_wait) {
  const auto done = [](wait_group& group) { group.done(); };
  const auto wait = [](wait_group& group) { group.wait().wait(); };
  published_first<group_of_one>(done, wait);
  published_later<group_of_one>(done, wait, waiting);
  published_by_two<group_of_two>(done, wait);
  published_by_two_later<group_of_two>(done, wait);
}

TEST(publication, G10_every_arrival_at_a_barrier_is_ordered_before_its_function_and_that_before_all_waits) {
  constexpr int phases = 20;
  constexpr int threads_in_all = 3;
  int data[threads_in_all] = {};
  int sum = 0;
  barrier meets(threads_in_all, [&] { sum = data[0] + data[1] + data[2]; });
  std::vector<std::jthread> threads;
  for (int& mine : data) {
    threads.emplace_back([&] {
      for (int phase = 1; phase <= phases; ++phase) {
        mine = phase;
        meets.arrive_and_wait().wait();
        EXPECT_EQ(sum, threads_in_all * phase);
        meets.arrive_and_wait().wait();  // nobody writes while another thread still reads
      }
    });
  }
}

TEST(publication, G10_an_arrival_that_does_not_wait_or_leaves_is_ordered_before_those_that_wait) {
  for (int round = 0; round < rounds; ++round) {
    barrier meets(3);
    int first = 0;
    int second = 0;
    const std::jthread arrives([&] {
      first = 1;
      std::ignore = meets.arrive();
    });
    const std::jthread leaves([&] {
      second = 2;
      meets.arrive_and_drop();
    });
    meets.arrive_and_wait().wait();
    EXPECT_EQ(first + second, 3);
  }
}

}  // namespace
}  // namespace weir::publication
