#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/work.hpp>

namespace {

using weir::work;
using weir::work_list;

/// Takes all out, in order.
std::vector<const work*> drained(work_list& list) {
  std::vector<const work*> all;
  while (work* item = list.pop_front()) all.push_back(item);
  return all;
}

using order = std::vector<const work*>;

TEST(work_list, is_first_in_first_out) {
  std::array<work, 3> w;
  work_list list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.pop_front(), nullptr);
  for (auto& each : w) list.push_back(each);
  EXPECT_FALSE(list.empty());
  EXPECT_EQ(list.front(), &w[0]);
  EXPECT_EQ(drained(list), (order{&w[0], &w[1], &w[2]}));
  EXPECT_TRUE(list.empty());
}

TEST(work_list, takes_again_what_it_has_given_out) {
  work w;
  work_list list;
  for (int round = 0; round < 3; ++round) {
    list.push_back(w);
    EXPECT_EQ(drained(list), (order{&w}));
  }
}

TEST(work_list, removes_from_anywhere_and_can_be_added_to_afterwards) {
  for (std::size_t gone = 0; gone < 3; ++gone) {
    std::array<work, 4> w;
    work_list list;
    for (std::size_t i = 0; i < 3; ++i) list.push_back(w[i]);
    EXPECT_TRUE(list.remove(w[gone]));
    EXPECT_FALSE(list.remove(w[gone]));
    list.push_back(w[3]);
    order expected;
    for (std::size_t i = 0; i < 4; ++i) {
      if (i != gone) expected.push_back(&w[i]);
    }
    EXPECT_EQ(drained(list), expected);
  }
}

TEST(work_list, removes_only_what_is_there) {
  work here;
  work there;
  work_list list;
  work_list other;
  EXPECT_FALSE(list.remove(here));
  list.push_back(here);
  other.push_back(there);
  EXPECT_FALSE(list.remove(there));
  EXPECT_TRUE(list.remove(here));
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(drained(other), (order{&there}));
}

TEST(work_list, appending_puts_the_others_behind_and_empties_them) {
  std::array<work, 5> w;
  work_list list;
  work_list other;
  list.append(other);
  EXPECT_TRUE(list.empty());
  list.push_back(w[0]);
  other.push_back(w[1]);
  other.push_back(w[2]);
  list.append(other);
  EXPECT_TRUE(other.empty());
  list.append(other);
  list.push_back(w[3]);
  other.push_back(w[4]);
  EXPECT_EQ(drained(list), (order{&w[0], &w[1], &w[2], &w[3]}));
  list.append(other);
  EXPECT_EQ(drained(list), (order{&w[4]}));
}

TEST(work_list, agrees_with_a_deque_over_a_long_random_sequence) {
  std::mt19937 random(3);
  std::array<work, 10> w;
  work_list list;
  std::deque<const work*> model;
  for (int step = 0; step < 20'000; ++step) {
    work& one = w[random() % w.size()];
    const auto at = std::find(model.begin(), model.end(), &one);
    if (random() % 3 == 0) {
      EXPECT_EQ(list.pop_front(), model.empty() ? nullptr : model.front());
      if (!model.empty()) model.pop_front();
    } else if (at == model.end()) {
      list.push_back(one);
      model.push_back(&one);
    } else {
      EXPECT_TRUE(list.remove(one));
      model.erase(at);
    }
    ASSERT_EQ(list.front(), model.empty() ? nullptr : model.front()) << "after step " << step;
  }
  EXPECT_EQ(drained(list), order(model.begin(), model.end()));
}

}  // namespace
