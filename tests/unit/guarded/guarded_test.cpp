#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/guarded.hpp>
#include <weir/select.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::foreign;

task<std::size_t> append(guarded<std::string>& text, std::string more) {
  auto ref = co_await text.lock();
  *ref += more;
  co_return ref->size();
}

TEST(guarded, is_made_of_what_its_value_is_made_of) {
  guarded<std::string> text(std::size_t{3}, 'x');
  EXPECT_EQ(*text.try_lock(), "xxx");
  guarded<int> zero;
  EXPECT_EQ(*zero.try_lock(), 0);
  guarded<std::unique_ptr<int>> moved(std::make_unique<int>(7));
  EXPECT_EQ(**moved.lock().wait(), 7);
}

TEST(guarded, is_reached_under_its_lock) {
  guarded<std::string> text("a");
  EXPECT_EQ(sync_wait(append(text, "bc")), 3u);
  EXPECT_FALSE(text.locked());
  auto ref = text.lock().wait();
  EXPECT_TRUE(text.locked());
  EXPECT_EQ(*ref, "abc");
  ref->clear();
  ref.unlock();
  EXPECT_FALSE(text.locked());
  EXPECT_TRUE(text.try_lock()->empty());
  EXPECT_TRUE(text.check_invariants());
}

TEST(guarded, try_lock_gives_an_empty_reference_if_it_cannot) {
  guarded<int> value(1);
  auto ref = value.try_lock();
  EXPECT_TRUE(ref);
  EXPECT_FALSE(value.try_lock());
  auto moved = std::move(ref);
  EXPECT_FALSE(ref);
  EXPECT_TRUE(moved.owns_lock());
  EXPECT_EQ(*moved, 1);
}

TEST(guarded, a_reference_is_moved_not_copied_and_no_bool_by_accident) {
  using reference = guarded<int>::reference;
  static_assert(!std::copyable<reference> && std::movable<reference>);
  static_assert(!std::convertible_to<reference, bool>);
  static_assert(!std::copy_constructible<guarded<int>> && !std::move_constructible<guarded<int>>);
  guarded<int> one(1);
  guarded<int> two(2);
  auto ref = one.try_lock();
  ref = two.try_lock();
  EXPECT_EQ(*ref, 2);
  EXPECT_FALSE(one.locked());
  EXPECT_TRUE(two.locked());
}

TEST(guarded, G12_unlocking_an_empty_reference_throws) {
  guarded<int>::reference empty;
  EXPECT_THROW(empty.unlock(), std::system_error);
}

TEST(guarded, its_owner_is_told_that_it_would_deadlock_and_one_that_disowned_it_is_not) {
  guarded<int> value(1);
  auto ref = value.lock().wait();
  EXPECT_EQ(value.lock().as_result().wait().error(), errc::would_deadlock);
  ref.disown();
  EXPECT_EQ(value.lock().within(0s).wait().error(), errc::timed_out);
}

TEST(guarded, G3_G5_is_handed_on_in_order_past_those_that_gave_up) {
  guarded<std::string> text;
  std::vector<ticket> line;
  auto ref = text.try_lock();
  for (char name : {'A', 'B', 'C', 'D', 'E'}) {
    line.push_back(text.lock().start([name](result<guarded<std::string>::reference> got) {
      if (got) **got += name;
    }));
  }
  EXPECT_EQ(text.waiting(), 5u);
  EXPECT_TRUE(line[0].cancel());
  EXPECT_TRUE(line[2].cancel());
  EXPECT_TRUE(line[4].cancel());
  ref.unlock();
  EXPECT_EQ(*text.try_lock(), "BD");
}

TEST(guarded, G9_limits_withdraw) {
  manual_timers clock;
  use_timers by_hand(clock);
  std::stop_source stop;
  guarded<int> value;
  auto ref = value.try_lock();
  std::error_code timed;
  std::error_code stopped;
  auto first = value.lock().within(1s).start([&](auto outcome) { timed = outcome.error(); });
  auto second = value.lock().stop_on(stop.get_token()).start([&](auto outcome) { stopped = outcome.error(); });
  clock.advance(2s);
  stop.request_stop();
  EXPECT_EQ(timed, errc::timed_out);
  EXPECT_EQ(stopped, errc::cancelled);
  EXPECT_EQ(value.waiting(), 0u);
}

TEST(guarded, G11_closes_and_cancels_as_its_mutex) {
  guarded<int> value;
  std::vector<std::error_code> seen;
  auto ref = value.try_lock();
  auto first = value.lock().start([&](auto outcome) { seen.push_back(outcome.error()); });
  EXPECT_EQ(value.cancel_all(), 1u);
  auto second = value.lock().start([&](auto outcome) { seen.push_back(outcome.error()); });
  value.close();
  EXPECT_TRUE(value.closed());
  EXPECT_EQ(seen, (std::vector<std::error_code>{errc::cancelled, errc::closed}));
  *ref = 2;
  ref.unlock();
  EXPECT_FALSE(value.try_lock());
}

TEST(guarded, G11_destroying_closes_whoever_waits_while_the_value_is_still_there) {
  std::optional<guarded<std::string>> text(std::in_place, "still here");
  std::string seen;
  auto ref = text->try_lock();
  auto waits = text->lock().start([&](auto outcome) {
    EXPECT_EQ(outcome.error(), errc::closed);
    seen = *ref;
    ref.unlock();  // nobody may hold it when it is gone
  });
  text.reset();
  EXPECT_EQ(seen, "still here");
}

foreign hold(guarded<int>& value, test::manual_executor& where, bool& reached) {
  {
    auto ref = co_await value.lock().resume_on(where);
    ++*ref;
  }
  reached = true;
}

TEST(guarded, G2_an_undelivered_lock_is_given_back) {
  guarded<int> value(0);
  test::manual_executor where;
  bool reached = false;
  auto ref = value.try_lock();
  auto waits = hold(value, where, reached);
  ref.unlock();
  EXPECT_TRUE(value.locked());
  waits.destroy();
  EXPECT_FALSE(value.locked());
  EXPECT_EQ(where.run_all(), 0u);
  auto delivered = hold(value, where, reached);
  where.run_all();
  EXPECT_TRUE(reached);
  EXPECT_EQ(*value.try_lock(), 1);
}

TEST(guarded, is_a_branch_of_a_select) {
  guarded<int> value(5);
  event other;
  {
    auto first = select(other.wait(), value.lock()).wait();
    EXPECT_EQ(*std::get<1>(first), 5);
  }
  auto ref = value.try_lock();
  std::optional<std::size_t> won;
  auto waits = select(value.lock(), other.wait()).start([&](auto outcome) { won = outcome->index(); });
  other.set();
  EXPECT_EQ(won, 1u);
  EXPECT_EQ(value.waiting(), 0u);
}

task<> count_up(guarded<int>& value, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    auto ref = co_await value.lock();
    ++*ref;
  }
}

TEST(guarded_stress, G10_threads_and_tasks_on_one_value) {
  constexpr int rounds = 1000;
  guarded<int> value(0);
  thread_pool threads(3);
  std::vector<future<>> ends;
  for (int i = 0; i < 4; ++i) ends.push_back(spawn(threads, count_up(value, rounds)));
  for (int i = 0; i < rounds; ++i) ++*value.lock().wait();
  for (auto& end : ends) end.get().wait();
  EXPECT_EQ(*value.lock().wait(), 5 * rounds);
}

}  // namespace
}  // namespace weir
