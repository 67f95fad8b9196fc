#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/task.hpp>

namespace weir {
namespace {

TEST(event, is_set_and_reset) {
  event ready;
  EXPECT_FALSE(ready.is_set());
  ready.set();
  EXPECT_TRUE(ready.is_set());
  ready.set();
  ready.wait().wait();
  ready.wait().wait();
  ready.reset();
  EXPECT_FALSE(ready.is_set());
  EXPECT_TRUE(event(true).is_set());
}

TEST(event, G4_setting_it_wakes_all_in_order_and_lets_later_ones_through) {
  event ready;
  std::vector<int> woken;
  std::vector<ticket> tickets;
  for (int id = 0; id < 3; ++id) tickets.push_back(ready.wait().start([&woken, id](result<>) { woken.push_back(id); }));
  EXPECT_EQ(ready.waiting(), 3u);
  ready.set();
  EXPECT_EQ(woken, (std::vector{0, 1, 2}));
  EXPECT_EQ(ready.waiting(), 0u);
  EXPECT_TRUE(ready.check_invariants());
}

TEST(event, notify_all_wakes_those_that_wait_now_and_leaves_it_as_it_is) {
  event ready;
  int woken = 0;
  auto first = ready.wait().start([&](result<>) { ++woken; });
  auto second = ready.wait().start([&](result<>) { ++woken; });
  EXPECT_EQ(ready.notify_all(), 2u);
  EXPECT_EQ(woken, 2);
  EXPECT_FALSE(ready.is_set());
  EXPECT_EQ(ready.notify_all(), 0u);
}

TEST(event, notify_one_wakes_the_first) {
  event ready;
  std::vector<int> woken;
  auto first = ready.wait().start([&](result<> outcome) {
    if (outcome) woken.push_back(1);
  });
  auto second = ready.wait().start([&](result<> outcome) {
    if (outcome) woken.push_back(2);
  });
  EXPECT_EQ(ready.notify_one(), 1u);
  EXPECT_EQ(woken, (std::vector{1}));
  EXPECT_EQ(ready.waiting(), 1u);
  EXPECT_EQ(ready.notify_one(), 1u);
  EXPECT_EQ(ready.notify_one(), 0u);
  EXPECT_EQ(woken, (std::vector{1, 2}));
}

TEST(event, a_waiter_that_resets_it_does_not_stop_those_that_were_woken_with_it) {
  event ready;
  int woken = 0;
  auto first = ready.wait().start([&](result<>) {
    ready.reset();
    ++woken;
  });
  auto second = ready.wait().start([&](result<>) { ++woken; });
  ready.set();
  EXPECT_EQ(woken, 2);
  EXPECT_FALSE(ready.is_set());
}

}  // namespace
}  // namespace weir
