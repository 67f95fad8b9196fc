#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue.hpp>
#include <weir/select.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using when_full = queue<int>::when_full;

/// No default constructor, no copy; tells whether it was destroyed under a lock of the queue that it is in.
struct item {
  explicit item(int n) noexcept : number(std::make_unique<int>(n)) {}
  std::unique_ptr<int> number;
};

template <class T>
std::vector<T> drain(queue<T>& from) {
  std::vector<T> all;
  while (auto next = from.try_pop()) all.push_back(std::move(*next));
  return all;
}

TEST(queue, gives_items_in_the_order_in_which_they_came) {
  queue<int> q;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(q.try_push(i));
  EXPECT_EQ(q.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(q.pop().wait(), i);
  EXPECT_FALSE(q.try_pop());
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.capacity(), queue<int>::unbounded);
}

TEST(queue, keeps_the_order_while_it_grows_and_wraps_around) {
  queue<int> q;
  int pushed = 0;
  int popped = 0;
  for (int round = 1; round < 60; ++round) {
    for (int i = 0; i < round; ++i) EXPECT_TRUE(q.try_push(pushed++));
    for (int i = 0; i < round / 2; ++i) EXPECT_EQ(q.try_pop(), popped++);
  }
  while (auto next = q.try_pop()) EXPECT_EQ(*next, popped++);
  EXPECT_EQ(popped, pushed);
}

TEST(queue, takes_items_that_can_only_be_moved_and_have_no_default) {
  queue<item> q(2);
  EXPECT_TRUE(q.try_push(item(1)));
  q.push(item(2)).wait();
  EXPECT_EQ(*q.pop().wait()->number, 1);
  EXPECT_EQ(*q.try_pop()->number, 2);
}

TEST(queue, makes_an_item_of_what_is_given) {
  queue<std::string> q;
  const std::string kept = "kept";
  q.push("literal").wait();
  q.push(kept).wait();
  EXPECT_TRUE(q.try_push("tried"));
  EXPECT_EQ(kept, "kept");
  EXPECT_EQ(drain(q), (std::vector<std::string>{"literal", "kept", "tried"}));
}

TEST(queue, a_push_waits_while_it_is_full) {
  queue<int> q(1);
  EXPECT_TRUE(q.try_push(1));
  EXPECT_FALSE(q.try_push(2));
  bool pushed = false;
  auto waits = q.push(2).start([&](result<> outcome) { pushed = outcome.has_value(); });
  EXPECT_EQ(q.waiting_push(), 1u);
  EXPECT_EQ(q.waiting_pop(), 0u);
  EXPECT_FALSE(pushed);
  EXPECT_EQ(q.try_pop(), 1);
  EXPECT_TRUE(pushed);
  EXPECT_EQ(q.size(), 1u);
  EXPECT_EQ(q.try_pop(), 2);
  EXPECT_TRUE(q.check_invariants());
}

TEST(queue, an_item_goes_directly_to_the_first_waiting_popper) {
  queue<int> q(1);
  std::vector<int> got;
  auto first = q.pop().start([&](auto outcome) { got.push_back(**outcome); });
  auto second = q.pop().start([&](auto outcome) { got.push_back(10 + **outcome); });
  EXPECT_EQ(q.waiting_pop(), 2u);
  EXPECT_TRUE(q.try_push(1));
  EXPECT_EQ(q.size(), 0u);
  EXPECT_FALSE(q.try_pop()) << "it was handed over";
  EXPECT_TRUE(q.try_push(2));
  EXPECT_EQ(got, (std::vector{1, 12}));
}

TEST(queue, G3_nothing_overtakes_a_waiting_pusher) {
  queue<int> q(1);
  EXPECT_TRUE(q.try_push(1));
  auto second = q.push(2).start([](result<>) {});
  auto third = q.push(3).start([](result<>) {});
  EXPECT_FALSE(q.try_push(4));
  EXPECT_EQ(q.try_pop(), 1);
  EXPECT_FALSE(q.try_push(4));
  EXPECT_EQ(q.try_pop(), 2);
  EXPECT_EQ(q.try_pop(), 3);
}

TEST(queue, G2_a_push_from_that_fails_leaves_the_item_untouched) {
  manual_timers clock;
  use_timers by_hand(clock);
  queue<item> q(1);
  EXPECT_TRUE(q.try_push(item(1)));
  item mine(2);
  EXPECT_FALSE(q.try_push(std::move(mine)));
  EXPECT_EQ(*mine.number, 2);
  EXPECT_EQ(q.push_from(mine).within(0s).wait().error(), errc::timed_out);
  EXPECT_EQ(*mine.number, 2);
  q.close();
  EXPECT_EQ(q.push_from(mine).as_result().wait().error(), errc::closed);
  EXPECT_EQ(*mine.number, 2);
  EXPECT_FALSE(q.try_push(std::move(mine)));
  EXPECT_EQ(*mine.number, 2);
}

TEST(queue, G2_a_pop_that_timed_out_has_taken_no_item) {
  manual_timers clock;
  use_timers by_hand(clock);
  queue<int> q;
  std::error_code seen;
  auto gives_up = q.pop().within(1ms).start([&](auto outcome) { seen = outcome.error(); });
  clock.advance(2ms);
  EXPECT_EQ(seen, errc::timed_out);
  EXPECT_TRUE(q.try_push(7));
  EXPECT_EQ(q.try_pop(), 7);
}

/// Its item is made of temporaries of this function.
auto pushes_a_temporary(queue<std::string>& q, const std::string& end) {
  return q.push("a long beginning, and " + end);
}

TEST(queue, a_push_owns_its_item_from_the_call_on) {
  queue<std::string> q(2);
  pushes_a_temporary(q, "an end").wait();
  auto kept = pushes_a_temporary(q, "another end");
  std::move(kept).within(0s).wait().value();
  EXPECT_EQ(drain(q), (std::vector<std::string>{"a long beginning, and an end", "a long beginning, and another end"}));
}

TEST(queue, a_push_by_callback_or_in_a_select_owns_its_item) {
  queue<item> q(1);
  queue<int> never;
  EXPECT_TRUE(q.try_push(item(1)));
  {
    item first(2);
    item second(3);
    (void)q.push(std::move(first)).start([](result<>) {});
    (void)select(never.pop(), q.push(std::move(second))).start([](auto) {});
  }
  for (const int expected : {1, 2, 3}) EXPECT_EQ(*q.try_pop()->number, expected);
}

TEST(queue, the_item_of_a_failed_push_is_destroyed_with_its_operation) {
  queue<std::shared_ptr<int>> q(1);
  EXPECT_TRUE(q.try_push(nullptr));
  const auto witness = std::make_shared<int>(1);
  EXPECT_EQ(q.push(witness).within(0s).wait().error(), errc::timed_out);
  EXPECT_EQ(witness.use_count(), 1);
  {
    auto waits = q.push(witness).start([](result<>) {});
    EXPECT_TRUE(waits.cancel());
  }
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(queue, a_push_from_moves_the_item_when_it_is_accepted_however_late) {
  queue<item> q(1);
  EXPECT_TRUE(q.try_push(item(1)));
  item mine(2);
  bool pushed = false;
  auto waits = q.push_from(mine).start([&](result<> outcome) { pushed = outcome.has_value(); });
  EXPECT_TRUE(mine.number);
  EXPECT_EQ(*q.try_pop()->number, 1);
  EXPECT_TRUE(pushed);
  EXPECT_FALSE(mine.number) << "the item was accepted, and must have been moved from";
  EXPECT_EQ(*q.try_pop()->number, 2);
}

test::foreign pops_on(queue<int>& q, test::manual_executor& executor, bool& resumed) {
  std::ignore = co_await q.pop().resume_on(executor);
  resumed = true;
}

test::foreign pops_many_on(queue<int>& q, test::manual_executor& executor, bool& resumed) {
  std::ignore = co_await q.pop_many(2).resume_on(executor);
  resumed = true;
}

TEST(queue, an_item_that_is_given_back_twice_keeps_its_place) {
  queue<int> q;
  test::manual_executor executor;
  bool resumed = false;
  for (int i = 1; i <= 4; ++i) EXPECT_TRUE(q.try_push(i));
  auto first = pops_on(q, executor, resumed);
  auto second = pops_on(q, executor, resumed);
  first.destroy();
  auto again = pops_on(q, executor, resumed);
  auto third = pops_on(q, executor, resumed);
  third.destroy();
  second.destroy();
  again.destroy();
  EXPECT_EQ(drain(q), (std::vector{1, 2, 3, 4}));
}

TEST(queue, items_that_went_directly_to_poppers_and_are_given_back_keep_their_order) {
  queue<int> q;
  test::manual_executor executor;
  bool resumed = false;
  auto first = pops_on(q, executor, resumed);
  auto second = pops_many_on(q, executor, resumed);
  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(q.try_push(i));
  first.destroy();
  second.destroy();
  EXPECT_EQ(drain(q), (std::vector{1, 2, 3}));
}

TEST(queue, a_pop_many_that_was_granted_before_its_queue_was_destroyed_gets_the_item_that_it_was_granted) {
  test::manual_executor executor;
  auto q = std::make_unique<queue<int>>();
  std::vector<int> got;
  bool resumed = false;
  auto destroys = q->pop_many(3).resume_on(executor).start([&](const auto&) { q.reset(); });
  auto comes_late = q->pop_many(3).resume_on(executor).start([&](auto outcome) { got = *outcome; });
  auto is_destroyed = pops_many_on(*q, executor, resumed);
  for (int i = 1; i <= 4; ++i) EXPECT_TRUE(q->try_push(i));
  executor.run_one();
  is_destroyed.destroy();
  executor.run_all();
  EXPECT_EQ(q, nullptr);
  EXPECT_EQ(got, std::vector{2});
  EXPECT_FALSE(resumed);
}

TEST(queue, items_that_are_given_back_come_out_in_their_order_whatever_the_order_of_giving_back) {
  const std::vector<std::vector<std::size_t>> orders = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2},
                                                        {1, 2, 0}, {0, 2, 1}, {2, 0, 1}};
  for (const auto& order : orders) {
    queue<int> q;
    test::manual_executor executor;
    for (int i = 1; i <= 5; ++i) EXPECT_TRUE(q.try_push(i));
    bool resumed = false;
    std::vector<test::foreign> granted;
    granted.push_back(pops_on(q, executor, resumed));
    granted.push_back(pops_many_on(q, executor, resumed));
    granted.push_back(pops_on(q, executor, resumed));
    EXPECT_EQ(q.size(), 2u);
    for (const std::size_t index : order) {
      granted[index].destroy();
      EXPECT_TRUE(q.check_invariants());
    }
    EXPECT_EQ(drain(q), (std::vector{1, 2, 3, 4, 5}));
    EXPECT_FALSE(resumed);
  }
}

TEST(queue, G11_closing_drains_and_then_gives_nothing) {
  queue<int> q(2);
  EXPECT_TRUE(q.try_push(1));
  EXPECT_TRUE(q.try_push(2));
  std::error_code push_error;
  auto pusher = q.push(3).start([&](result<> outcome) { push_error = outcome.error(); });
  q.close();
  EXPECT_EQ(push_error, errc::closed);
  EXPECT_TRUE(q.closed());
  EXPECT_EQ(q.pop().wait(), 1);
  EXPECT_EQ(q.pop().wait(), 2);
  EXPECT_EQ(q.pop().wait(), std::nullopt);
  EXPECT_TRUE(q.pop_many(5).wait().empty());
}

TEST(queue, G11_closing_or_destroying_gives_nothing_to_those_that_wait_to_pop) {
  int empty_handed = 0;
  const auto note = [&](auto outcome) { empty_handed += outcome.has_value() && !*outcome; };
  queue<int> closed;
  auto first = closed.pop().start(note);
  auto second = closed.pop().start(note);
  closed.close();
  EXPECT_EQ(empty_handed, 2);
  std::optional<queue<int>> destroyed(std::in_place);
  auto third = destroyed->pop().start(note);
  destroyed.reset();
  EXPECT_EQ(empty_handed, 3);
}

TEST(queue, stop_drops_what_is_inside_and_says_how_many) {
  queue<item> q(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(q.try_push(item(i)));
  std::error_code push_error;
  auto pusher = q.push(item(3)).start([&](result<> outcome) { push_error = outcome.error(); });
  EXPECT_EQ(q.stop(), 3u);
  EXPECT_EQ(push_error, errc::closed);
  EXPECT_EQ(q.dropped(), 3u);
  EXPECT_EQ(q.stop(), 0u);
  EXPECT_FALSE(q.pop().wait());
}

TEST(queue, a_drop_policy_never_waits) {
  queue<int> oldest(2, when_full::drop_oldest);
  queue<int> newest(2, when_full::drop_newest);
  for (int i = 0; i < 5; ++i) {
    oldest.push(i).wait();
    newest.push(i).wait();
  }
  EXPECT_EQ(oldest.dropped(), 3u);
  EXPECT_EQ(newest.dropped(), 3u);
  EXPECT_EQ(drain(oldest), (std::vector{3, 4}));
  EXPECT_EQ(drain(newest), (std::vector{0, 1}));
}

TEST(queue, pop_many_gives_what_is_there_up_to_so_many) {
  queue<int> q(4);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(q.try_push(i));
  bool pushed = false;
  auto waits = q.push(4).start([&](result<>) { pushed = true; });
  EXPECT_EQ(q.pop_many(3).wait(), (std::vector{0, 1, 2}));
  EXPECT_TRUE(pushed);
  EXPECT_EQ(q.pop_many(10).wait(), (std::vector{3, 4}));
  std::vector<int> later;
  auto pops = q.pop_many(10).start([&](auto outcome) { later = *outcome; });
  EXPECT_TRUE(q.try_push(5));
  EXPECT_EQ(later, (std::vector{5}));
}

TEST(queue, G12_mistakes_are_told_with_their_numbers) {
  EXPECT_THROW(queue<int>(0), std::invalid_argument);
  queue<int> q;
  EXPECT_THROW((void)q.pop_many(0), std::invalid_argument);
}

test::foreign pops_on(queue<int>& q, test::manual_executor& executor, std::optional<int>& got) {
  got = co_await q.pop().resume_on(executor);
}

TEST(queue, G2_an_item_that_could_not_be_delivered_goes_back_to_the_front) {
  queue<int> q(2);
  test::manual_executor executor;
  std::optional<int> got;
  auto waits = pops_on(q, executor, got);
  EXPECT_TRUE(q.try_push(1));
  EXPECT_TRUE(q.try_push(2));
  EXPECT_TRUE(q.try_push(3));
  waits.destroy();
  EXPECT_EQ(q.size(), 3u);
  EXPECT_EQ(drain(q), (std::vector{1, 2, 3}));
  executor.run_all();
  EXPECT_FALSE(got);

  auto again = pops_on(q, executor, got);
  std::optional<int> next;
  auto behind = q.pop().start([&](auto outcome) { next = *outcome; });
  EXPECT_TRUE(q.try_push(4));
  again.destroy();
  EXPECT_EQ(next, 4) << "the next that waits has it";
  executor.run_all();
}

TEST(queue, G6_an_item_may_use_its_queue_when_it_is_destroyed) {
  struct echoing {
    explicit echoing(queue<echoing>* home) noexcept : queue_(home) {}
    echoing(echoing&& from) noexcept : queue_(std::exchange(from.queue_, nullptr)) {}
    ~echoing() {
      if (queue_ != nullptr) (void)queue_->size(), (void)queue_->check_invariants();  // takes the lock
    }
    queue<echoing>* queue_;
  };
  queue<echoing> q(1, queue<echoing>::when_full::drop_oldest);
  for (int i = 0; i < 3; ++i) q.push(echoing(&q)).wait();
  EXPECT_EQ(q.stop(), 1u);
}

TEST(queue, G2_a_select_that_another_branch_wins_takes_no_item_and_leaves_its_own) {
  queue<item> full(1);
  queue<item> empty;
  queue<item> ready;
  EXPECT_TRUE(full.try_push(item(1)));
  EXPECT_TRUE(ready.try_push(item(2)));
  item mine(3);
  auto won = select(full.push_from(mine), empty.pop(), ready.pop()).wait();
  EXPECT_EQ(won.index(), 2u);
  EXPECT_EQ(*std::get<2>(won)->number, 2);
  EXPECT_EQ(*mine.number, 3);
  EXPECT_EQ(full.waiting() + empty.waiting() + ready.waiting(), 0u);
  EXPECT_TRUE(empty.try_push(item(4)));
  EXPECT_EQ(*empty.try_pop()->number, 4);
}

task<> produces(queue<int>& q, int count) {
  for (int i = 0; i < count; ++i) co_await q.push(i);
  q.close();
}

task<long> consumes(queue<int>& q) {
  long sum = 0;
  for (;;) {
    auto next = co_await q.pop();
    if (!next) co_return sum;
    sum += *next;
  }
}

TEST(queue, connects_tasks_with_back_pressure) {
  queue<int> q(3);
  auto [nothing, sum] = sync_wait(when_all(produces(q, 1000), consumes(q)));
  EXPECT_EQ(sum, 499'500);
}

TEST(queue, a_failed_try_push_leaves_an_item_of_another_type_untouched) {
  struct base {
    virtual ~base() = default;
  };
  struct derived : base {};
  queue<std::unique_ptr<base>> q(1);
  auto mine = std::make_unique<derived>();
  EXPECT_TRUE(q.try_push(std::make_unique<derived>()));
  EXPECT_FALSE(q.try_push(std::move(mine)));
  EXPECT_TRUE(mine);
  q.close();
  EXPECT_FALSE(q.try_push(std::move(mine)));
  EXPECT_TRUE(mine);
}

TEST(queue, what_is_given_back_after_a_stop_keeps_the_invariants) {
  queue<int> q;
  test::manual_executor executor;
  bool resumed = false;
  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(q.try_push(i));
  auto first = pops_on(q, executor, resumed);
  auto second = pops_on(q, executor, resumed);
  first.destroy();
  EXPECT_EQ(q.stop(), 2u);
  second.destroy();
  EXPECT_TRUE(q.check_invariants());
}

}  // namespace
}  // namespace weir
