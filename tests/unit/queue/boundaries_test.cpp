// Queues at their limits: full and empty, dropped and given back, closed with either kind of waiter.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using policy = queue<int>::when_full;
using test::foreign;
using test::manual_executor;

template <class T>
std::vector<T> drained(queue<T>& from) {
  std::vector<T> all;
  while (auto item = from.try_pop()) all.push_back(std::move(*item));
  return all;
}

class bounded : public testing::TestWithParam<std::size_t> {
 protected:
  /// Pushes 0, 1, 2 … by callbacks, and notes which were accepted.
  void push(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const int item = next_++;
      waits.push_back(q.push(int{item}).start(
          [this, item](const result<>& outcome) { (outcome ? accepted : refused).push_back(item); }));
    }
  }

  std::vector<int> accepted;
  std::vector<int> refused;
  std::vector<ticket> waits;
  queue<int> q{GetParam()};

 private:
  int next_ = 0;
};

TEST_P(bounded, holds_as_many_as_its_capacity_and_no_more) {
  EXPECT_EQ(q.capacity(), GetParam());
  for (std::size_t i = 0; i < GetParam(); ++i) {
    EXPECT_EQ(q.size(), i);
    EXPECT_TRUE(q.try_push(static_cast<int>(i)));
  }
  EXPECT_FALSE(q.try_push(100));
  EXPECT_EQ(q.push(100).within(0s).wait().error(), errc::timed_out);
  EXPECT_EQ(q.size(), GetParam());
  EXPECT_EQ(q.dropped(), 0u) << "what was refused was not dropped";
  EXPECT_TRUE(q.try_pop());
  EXPECT_TRUE(q.try_push(100));
  EXPECT_FALSE(q.try_push(101));
  EXPECT_EQ(drained(q).back(), 100);
  EXPECT_TRUE(q.empty());
}

TEST_P(bounded, counts_those_that_wait_to_push_and_those_that_wait_to_pop_apart) {
  push(GetParam() + 2);
  EXPECT_EQ(q.waiting_push(), 2u);
  EXPECT_EQ(q.waiting_pop(), 0u);
  EXPECT_EQ(q.waiting(), 2u);
  EXPECT_EQ(accepted.size(), GetParam());
  EXPECT_EQ(drained(q).size(), GetParam() + 2);
  EXPECT_EQ(q.waiting_push(), 0u);
  int popped = 0;
  auto first = q.pop().start([&](const auto& item) { popped += item->has_value() ? 1 : 0; });
  auto second = q.pop().start([&](const auto& item) { popped += item->has_value() ? 1 : 0; });
  EXPECT_EQ(q.waiting_pop(), 2u);
  EXPECT_EQ(q.waiting_push(), 0u);
  push(1);
  EXPECT_EQ(popped, 1);
  EXPECT_EQ(q.waiting_pop(), 1u);
  EXPECT_TRUE(q.empty());
  EXPECT_TRUE(q.check_invariants());
}

TEST_P(bounded, each_pop_lets_one_pusher_in_in_order) {
  push(GetParam() + 3);
  for (std::size_t i = 0; i < GetParam() + 3; ++i) {
    EXPECT_EQ(q.try_pop(), static_cast<int>(i));
    EXPECT_EQ(accepted.size(), std::min(GetParam() + i + 1, GetParam() + 3));
    EXPECT_TRUE(q.check_invariants());
  }
  EXPECT_FALSE(q.try_pop());
}

TEST_P(bounded, pop_many_takes_up_to_its_number_and_lets_the_pushers_in) {
  push(GetParam() + 2);
  const auto all = q.pop_many(GetParam() + 1).wait();
  EXPECT_LE(all.size(), GetParam() + 1);
  EXPECT_GE(all.size(), GetParam());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int>(i));
  EXPECT_EQ(accepted.size(), GetParam() + 2);
  const auto rest = drained(q);
  EXPECT_EQ(all.size() + rest.size(), GetParam() + 2);
}

TEST_P(bounded, closed_while_full_refuses_the_pushers_and_keeps_the_items) {
  push(GetParam() + 2);
  q.close();
  EXPECT_EQ(refused.size(), 2u);
  EXPECT_FALSE(q.try_push(7));
  EXPECT_EQ(q.push(7).as_result().wait().error(), errc::closed);
  EXPECT_EQ(q.size(), GetParam());
  for (std::size_t i = 0; i < GetParam(); ++i) EXPECT_EQ(q.pop().wait(), static_cast<int>(i));
  EXPECT_EQ(q.pop().wait(), std::nullopt);
  EXPECT_TRUE(q.pop_many(3).wait().empty());
  EXPECT_EQ(q.dropped(), 0u);
}

TEST_P(bounded, stopped_while_full_drops_the_items_and_refuses_the_pushers) {
  push(GetParam() + 2);
  EXPECT_EQ(q.stop(), GetParam());
  EXPECT_EQ(refused.size(), 2u);
  EXPECT_EQ(q.dropped(), GetParam());
  EXPECT_TRUE(q.empty());
  EXPECT_TRUE(q.closed());
  EXPECT_EQ(q.pop().wait(), std::nullopt);
  EXPECT_EQ(q.stop(), 0u);
  EXPECT_EQ(q.dropped(), GetParam());
}

TEST_P(bounded, cancel_all_takes_no_item_from_those_it_withdraws) {
  push(GetParam() + 2);
  EXPECT_EQ(q.cancel_all(), 2u);
  EXPECT_EQ(refused.size(), 2u);
  EXPECT_EQ(q.size(), GetParam());
  EXPECT_EQ(drained(q).size(), GetParam());
}

TEST_P(bounded, an_item_given_back_may_exceed_the_capacity_and_then_pushers_wait_for_two_pops) {
  manual_executor executor;
  auto pops = [](queue<int>& from, manual_executor& where) -> foreign {
    (void)co_await from.pop().resume_on(where);
    ADD_FAILURE() << "resumed";
  };
  push(GetParam());
  auto undelivered = pops(q, executor);
  EXPECT_EQ(q.size(), GetParam() - 1);
  push(2);
  EXPECT_EQ(q.waiting_push(), 1u);
  undelivered.destroy();
  EXPECT_EQ(q.size(), GetParam() + 1);
  EXPECT_EQ(q.try_pop(), 0) << "it went back to the front";
  EXPECT_EQ(q.waiting_push(), 1u) << "it is still full";
  EXPECT_EQ(q.try_pop(), 1);
  EXPECT_EQ(q.waiting_push(), 0u);
  EXPECT_EQ(q.size(), GetParam());
  EXPECT_TRUE(q.check_invariants());
}

INSTANTIATE_TEST_SUITE_P(capacities, bounded, testing::Values(1, 2, 3, 8, 9));

class dropping : public testing::TestWithParam<policy> {};

TEST_P(dropping, drops_one_for_each_push_past_the_capacity_and_counts_them) {
  for (const std::size_t capacity : {1u, 2u, 5u}) {
    queue<int> q(capacity, GetParam());
    for (int i = 0; i < 10; ++i) {
      if (i % 2 == 0) {
        q.push(int{i}).wait();
      } else {
        EXPECT_TRUE(q.try_push(int{i}));
      }
      EXPECT_EQ(q.size(), std::min<std::size_t>(capacity, static_cast<std::size_t>(i) + 1));
    }
    EXPECT_EQ(q.dropped(), 10 - capacity);
    EXPECT_EQ(q.waiting_push(), 0u);
    const auto all = drained(q);
    const int first = GetParam() == policy::drop_oldest ? 10 - static_cast<int>(capacity) : 0;
    ASSERT_EQ(all.size(), capacity);
    for (std::size_t i = 0; i < capacity; ++i) EXPECT_EQ(all[i], first + static_cast<int>(i));
  }
}

TEST_P(dropping, drops_nothing_while_somebody_waits_to_pop) {
  queue<int> q(1, GetParam());
  std::vector<int> popped;
  auto first = q.pop().start([&](const auto& item) { popped.push_back(**item); });
  auto second = q.pop().start([&](const auto& item) { popped.push_back(**item); });
  q.push(1).wait();
  q.push(2).wait();
  q.push(3).wait();
  EXPECT_EQ(popped, (std::vector{1, 2}));
  EXPECT_EQ(q.dropped(), 0u);
  EXPECT_EQ(q.try_pop(), 3);
}

TEST_P(dropping, once_closed_refuses_and_drops_nothing_more) {
  queue<int> q(1, GetParam());
  q.push(1).wait();
  q.close();
  EXPECT_FALSE(q.try_push(2));
  EXPECT_EQ(q.push(3).as_result().wait().error(), errc::closed);
  EXPECT_EQ(q.dropped(), 0u);
  EXPECT_EQ(q.pop().wait(), 1);
  EXPECT_EQ(q.pop().wait(), std::nullopt);
}

TEST_P(dropping, destroys_what_it_drops) {
  const auto witness = std::make_shared<int>(0);
  queue<std::shared_ptr<int>> q(2, GetParam() == policy::drop_oldest
                                       ? queue<std::shared_ptr<int>>::when_full::drop_oldest
                                       : queue<std::shared_ptr<int>>::when_full::drop_newest);
  for (int i = 0; i < 5; ++i) q.push(std::shared_ptr<int>(witness)).wait();
  EXPECT_EQ(witness.use_count(), 3);
  EXPECT_EQ(q.stop(), 2u);
  EXPECT_EQ(witness.use_count(), 1);
  EXPECT_EQ(q.dropped(), 5u);
}

INSTANTIATE_TEST_SUITE_P(policies, dropping, testing::Values(policy::drop_oldest, policy::drop_newest));

TEST(queue_pop_many, gives_exactly_its_number_if_there_are_more_or_as_many_and_what_there_is_if_fewer) {
  for (const std::size_t most : {1u, 2u, 3u, 4u, 5u, 100u}) {
    queue<int> q;
    for (int i = 0; i < 4; ++i) q.push(int{i}).wait();
    const auto some = q.pop_many(most).wait();
    EXPECT_EQ(some.size(), std::min<std::size_t>(most, 4));
    EXPECT_EQ(q.size(), 4 - some.size());
    for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i], static_cast<int>(i));
  }
}

TEST(queue_pop_many, of_one_that_waited_gives_what_is_there_when_it_goes_on) {
  queue<int> q;
  manual_executor executor;
  std::vector<int> got;
  auto waits = q.pop_many(3).resume_on(executor).start([&](result<std::vector<int>> items) { got = *items; });
  for (int i = 0; i < 5; ++i) q.push(int{i}).wait();
  executor.run_all();
  EXPECT_EQ(got, (std::vector{0, 1, 2}));
  EXPECT_EQ(drained(q), (std::vector{3, 4}));
}

TEST(queue_pop_many, takes_nothing_when_it_fails) {
  queue<int> q;
  std::stop_source stop;
  stop.request_stop();
  q.push(1).wait();
  EXPECT_EQ(q.pop_many(2).stop_on(stop.get_token()).wait().error(), errc::cancelled);
  EXPECT_EQ(q.size(), 1u);
  EXPECT_EQ(q.try_pop(), 1);
  EXPECT_EQ(q.pop_many(2).within(0s).wait().error(), errc::timed_out);
}

TEST(queue_end, gives_nothing_to_every_popper_and_an_error_to_no_one) {
  for (const bool stops : {false, true}) {
    queue<int> q(1);
    std::vector<bool> nothing;
    auto note = [&](const result<std::optional<int>>& item) { nothing.push_back(item && !item->has_value()); };
    auto first = q.pop().start(note);
    auto second = q.pop().start(note);
    std::optional<bool> none;
    auto many = q.pop_many(4).start([&](const auto& items) { none = items && items->empty(); });
    if (stops) {
      EXPECT_EQ(q.stop(), 0u);
    } else {
      q.close();
    }
    EXPECT_EQ(nothing, (std::vector{true, true}));
    EXPECT_EQ(none, true);
  }
}

TEST(queue_end, of_a_closed_one_an_undelivered_item_can_still_be_popped) {
  queue<int> q;
  manual_executor executor;
  auto pops = [](queue<int>& from, manual_executor& where) -> foreign {
    (void)co_await from.pop().resume_on(where);
    ADD_FAILURE() << "resumed";
  };
  auto undelivered = pops(q, executor);
  q.push(1).wait();
  q.close();
  EXPECT_TRUE(q.empty());
  undelivered.destroy();
  EXPECT_EQ(q.pop().wait(), 1);
  EXPECT_EQ(q.pop().wait(), std::nullopt);
}

TEST(queue_end, an_undelivered_item_goes_to_the_next_that_waits) {
  queue<int> q;
  manual_executor executor;
  auto pops = [](queue<int>& from, manual_executor& where) -> foreign {
    (void)co_await from.pop().resume_on(where);
    ADD_FAILURE() << "resumed";
  };
  auto first = pops(q, executor);
  std::optional<int> got;
  auto second = q.pop().start([&](const auto& item) { got = *item; });
  q.push(1).wait();
  EXPECT_FALSE(got);
  first.destroy();
  EXPECT_EQ(got, 1);
  EXPECT_TRUE(q.empty());
}

}  // namespace
}  // namespace weir
