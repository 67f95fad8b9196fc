#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/ring.hpp>

namespace {

struct element {
  element* next = nullptr;
  element* prev = nullptr;
  int name = 0;
};

using ring = weir::core::ring<element>;

template <std::size_t N>
std::array<element, N> elements() {
  std::array<element, N> made{};
  for (std::size_t i = 0; i < N; ++i) made[i].name = static_cast<int>(i);
  return made;
}

std::vector<int> names(const ring& all) {
  std::vector<int> seen;
  for (element* at = all.front(); at != nullptr; at = all.after(*at)) seen.push_back(at->name);
  return seen;
}

using order = std::vector<int>;

TEST(ring, is_empty_at_first) {
  ring all;
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(all.front(), nullptr);
  EXPECT_EQ(all.pop_front(), nullptr);
}

TEST(ring, pushes_at_both_ends) {
  auto e = elements<4>();
  ring all;
  all.push_back(e[1]);
  all.push_back(e[2]);
  all.push_front(e[0]);
  all.push_back(e[3]);
  EXPECT_EQ(names(all), (order{0, 1, 2, 3}));
  EXPECT_EQ(all.front(), &e[0]);
}

TEST(ring, pushing_in_front_of_nothing_is_pushing) {
  auto e = elements<2>();
  ring all;
  all.push_front(e[1]);
  all.push_front(e[0]);
  EXPECT_EQ(names(all), (order{0, 1}));
}

TEST(ring, knows_who_is_behind_whom_and_that_nobody_is_behind_the_last) {
  auto e = elements<2>();
  ring all;
  all.push_back(e[0]);
  EXPECT_EQ(all.after(e[0]), nullptr);
  all.push_back(e[1]);
  EXPECT_EQ(all.after(e[0]), &e[1]);
  EXPECT_EQ(all.after(e[1]), nullptr);
}

TEST(ring, an_element_is_linked_exactly_while_it_is_inside) {
  auto e = elements<2>();
  ring all;
  EXPECT_FALSE(ring::linked(e[0]));
  all.push_back(e[0]);
  EXPECT_TRUE(ring::linked(e[0]));
  all.push_back(e[1]);
  all.remove(e[0]);
  EXPECT_FALSE(ring::linked(e[0]));
  EXPECT_TRUE(ring::linked(e[1]));
  EXPECT_EQ(all.pop_front(), &e[1]);
  EXPECT_FALSE(ring::linked(e[1]));
}

TEST(ring, removes_the_first_the_middle_and_the_last) {
  auto e = elements<5>();
  ring all;
  for (auto& each : e) all.push_back(each);
  all.remove(e[2]);
  EXPECT_EQ(names(all), (order{0, 1, 3, 4}));
  all.remove(e[0]);
  EXPECT_EQ(names(all), (order{1, 3, 4}));
  all.remove(e[4]);
  EXPECT_EQ(names(all), (order{1, 3}));
  all.push_back(e[2]);
  EXPECT_EQ(names(all), (order{1, 3, 2}));
}

TEST(ring, what_was_removed_can_come_back_and_the_last_leaves_it_empty) {
  auto e = elements<1>();
  ring all;
  for (int round = 0; round < 3; ++round) {
    all.push_back(e[0]);
    EXPECT_FALSE(all.empty());
    all.remove(e[0]);
    EXPECT_TRUE(all.empty());
  }
}

TEST(ring, pops_in_order) {
  auto e = elements<3>();
  ring all;
  for (auto& each : e) all.push_back(each);
  EXPECT_EQ(all.pop_front(), &e[0]);
  EXPECT_EQ(all.pop_front(), &e[1]);
  EXPECT_EQ(all.pop_front(), &e[2]);
  EXPECT_EQ(all.pop_front(), nullptr);
  EXPECT_TRUE(all.empty());
}

TEST(ring, appending_puts_the_others_behind_and_empties_them) {
  auto e = elements<5>();
  ring all;
  ring others;
  all.push_back(e[0]);
  all.push_back(e[1]);
  for (std::size_t i = 2; i < 5; ++i) others.push_back(e[i]);
  all.append(others);
  EXPECT_EQ(names(all), (order{0, 1, 2, 3, 4}));
  EXPECT_TRUE(others.empty());
  all.remove(e[4]);
  all.remove(e[2]);
  EXPECT_EQ(names(all), (order{0, 1, 3}));
}

TEST(ring, appending_to_or_from_nothing_works) {
  auto e = elements<1>();
  ring all;
  ring others;
  all.append(others);
  EXPECT_TRUE(all.empty());
  others.push_back(e[0]);
  all.append(others);
  EXPECT_EQ(names(all), (order{0}));
  EXPECT_TRUE(others.empty());
  all.append(others);
  EXPECT_EQ(names(all), (order{0}));
}

TEST(ring, agrees_with_a_deque_over_a_long_random_sequence) {
  std::mt19937 random(7);
  auto e = elements<12>();
  ring all;
  std::deque<int> model;
  for (int step = 0; step < 20'000; ++step) {
    auto& one = e[random() % e.size()];
    if (!ring::linked(one)) {
      if (random() % 2 == 0) {
        all.push_back(one);
        model.push_back(one.name);
      } else {
        all.push_front(one);
        model.push_front(one.name);
      }
    } else if (random() % 2 == 0) {
      all.remove(one);
      model.erase(std::find(model.begin(), model.end(), one.name));
    } else {
      EXPECT_EQ(all.pop_front()->name, model.front());
      model.pop_front();
    }
    ASSERT_EQ(names(all), order(model.begin(), model.end())) << "after step " << step;
  }
}

}  // namespace
