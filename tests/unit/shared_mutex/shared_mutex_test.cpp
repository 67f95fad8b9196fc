#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/select.hpp>
#include <weir/shared_mutex.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <support/notes.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::foreign;
using test::note;

template <class Call>
std::error_code refusal_of(Call call) {
  try {
    call();
  } catch (const std::system_error& thrown) {
    EXPECT_NE(std::string(thrown.what()).find("weir::"), std::string::npos);
    return thrown.code();
  }
  return {};
}

TEST(shared_mutex, is_held_by_many_readers_or_one_writer) {
  shared_mutex m;
  EXPECT_TRUE(m.try_lock_shared());
  EXPECT_TRUE(m.try_lock_shared());
  EXPECT_EQ(m.readers(), 2u);
  EXPECT_FALSE(m.try_lock());
  m.unlock_shared();
  m.unlock_shared();
  EXPECT_TRUE(m.try_lock());
  EXPECT_TRUE(m.locked());
  EXPECT_FALSE(m.try_lock());
  EXPECT_FALSE(m.try_lock_shared());
  m.unlock();
  EXPECT_FALSE(m.locked());
  EXPECT_TRUE(m.check_invariants());
}

TEST(shared_mutex, is_waited_for_in_every_way) {
  shared_mutex m;
  m.lock().wait();
  m.unlock();
  m.lock_shared().wait();
  m.lock_shared().wait();  // no owner rule: one thread may hold two
  m.unlock_shared();
  m.unlock_shared();
  auto both = [](shared_mutex& locked) -> task<int> {
    {
      auto held = co_await locked.scoped_lock();
    }
    auto one = co_await locked.scoped_lock_shared();
    auto two = co_await locked.scoped_lock_shared().within(1s);
    co_return static_cast<int>(locked.readers()) + (two ? 1 : 0);
  };
  EXPECT_EQ(sync_wait(both(m)), 3);
  EXPECT_EQ(m.readers(), 0u);
}

TEST(shared_mutex, G12_giving_up_what_nobody_holds_throws_and_changes_nothing) {
  shared_mutex m;
  EXPECT_EQ(refusal_of([&] { m.unlock(); }), errc::not_owner);
  EXPECT_EQ(refusal_of([&] { m.unlock_shared(); }), errc::not_owner);
  EXPECT_EQ(refusal_of([&] { m.downgrade(); }), errc::not_owner);
  ASSERT_TRUE(m.try_lock());
  EXPECT_EQ(refusal_of([&] { m.unlock_shared(); }), errc::not_owner);
  EXPECT_TRUE(m.locked());
  m.unlock();
  ASSERT_TRUE(m.try_lock_shared());
  EXPECT_EQ(refusal_of([&] { m.unlock(); }), errc::not_owner);
  EXPECT_EQ(refusal_of([&] { m.downgrade(); }), errc::not_owner);
  EXPECT_EQ(m.readers(), 1u);
  m.unlock_shared();
  EXPECT_TRUE(m.check_invariants());
}

TEST(shared_mutex, G12_an_upgrade_of_what_nobody_holds_fails) {
  shared_mutex m;
  EXPECT_EQ(m.upgrade().as_result().wait().error(), errc::not_owner);
  ASSERT_TRUE(m.try_lock());
  EXPECT_EQ(m.upgrade().as_result().wait().error(), errc::not_owner);
  m.unlock();
  EXPECT_FALSE(m.locked());
}

TEST(shared_mutex, G3_one_line_in_which_adjacent_readers_enter_together) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock());
  auto a = note(m.lock_shared(), order, 'a');
  auto b = note(m.lock_shared(), order, 'b');
  auto c = note(m.lock(), order, 'C');
  auto d = note(m.lock_shared(), order, 'd');
  EXPECT_EQ(m.waiting(), 4u);
  m.unlock();
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(m.readers(), 2u);
  m.unlock_shared();
  EXPECT_EQ(order, "ab");
  m.unlock_shared();
  EXPECT_EQ(order, "abC");
  EXPECT_TRUE(m.locked());
  EXPECT_TRUE(m.check_invariants());
  m.unlock();
  EXPECT_EQ(order, "abCd");
  m.unlock_shared();
}

TEST(shared_mutex, G3_a_waiting_writer_stops_later_readers_and_try_does_not_overtake) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = note(m.lock(), order, 'W');
  EXPECT_FALSE(m.try_lock_shared());
  EXPECT_FALSE(m.try_scoped_lock_shared());
  EXPECT_EQ(m.lock_shared().within(0s).wait().error(), errc::timed_out);
  auto reader = note(m.lock_shared(), order, 'r');
  EXPECT_EQ(order, "");
  m.unlock_shared();
  EXPECT_EQ(order, "W");
  EXPECT_FALSE(m.try_lock());
  m.unlock();
  EXPECT_EQ(order, "Wr");
  m.unlock_shared();
}

TEST(shared_mutex, G3_readers_that_arrive_without_pause_do_not_starve_a_writer) {
  shared_mutex m;
  std::vector<ticket> arrived;
  std::size_t entered = 0;
  std::optional<std::size_t> before_the_writer;
  const auto arrive = [&] { arrived.push_back(m.lock_shared().start([&](result<>) { ++entered; })); };
  for (int i = 0; i < 3; ++i) arrive();
  auto writer = m.lock().start([&](result<>) { before_the_writer = entered; });
  for (int i = 0; i < 1000; ++i) {
    arrive();  // one comes and, while there are any, one that is inside goes
    if (i < 3) m.unlock_shared();
  }
  EXPECT_EQ(before_the_writer, 3u);
  EXPECT_EQ(entered, 3u);
  m.unlock();
  EXPECT_EQ(entered, 1003u);
  for (int i = 0; i < 1000; ++i) m.unlock_shared();
}

TEST(shared_mutex, G3_writers_that_arrive_without_pause_do_not_starve_a_reader) {
  shared_mutex m;
  std::vector<ticket> arrived;
  std::size_t entered = 0;
  std::optional<std::size_t> before_the_reader;
  const auto arrive = [&] { arrived.push_back(m.lock().start([&](result<>) { ++entered; })); };
  for (int i = 0; i < 3; ++i) arrive();
  auto reader = m.lock_shared().start([&](result<>) { before_the_reader = entered; });
  for (int i = 0; i < 1000; ++i) {
    arrive();
    if (!before_the_reader) m.unlock();
  }
  EXPECT_EQ(before_the_reader, 3u);
  EXPECT_EQ(entered, 3u);
  m.unlock_shared();
  for (int i = 0; i < 1000; ++i) m.unlock();
  EXPECT_EQ(entered, 1003u);
}

TEST(shared_mutex, G5_a_writer_that_gives_up_lets_the_readers_behind_it_in_at_once) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = note(m.lock(), order, 'W');
  auto a = note(m.lock_shared(), order, 'a');
  auto b = note(m.lock_shared(), order, 'b');
  auto next = note(m.lock(), order, 'N');
  auto c = note(m.lock_shared(), order, 'c');
  EXPECT_TRUE(writer.cancel());
  EXPECT_EQ(m.readers(), 3u);
  EXPECT_EQ(m.waiting(), 2u);
  EXPECT_NE(order.find("W!"), std::string::npos);
  EXPECT_EQ(order.find('c'), std::string::npos);
  EXPECT_TRUE(m.check_invariants());
  for (int i = 0; i < 3; ++i) m.unlock_shared();
  EXPECT_TRUE(m.locked());
  m.unlock();
  EXPECT_EQ(order.substr(4), "Nc");
  m.unlock_shared();
}

TEST(shared_mutex, G5_cancelling_head_middle_and_tail_leaves_the_others_in_order) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock());
  std::vector<ticket> line;
  for (char name : {'A', 'B', 'C', 'D', 'E'}) line.push_back(note(m.lock(), order, name));
  EXPECT_TRUE(line[0].cancel());
  EXPECT_TRUE(line[2].cancel());
  EXPECT_TRUE(line[4].cancel());
  EXPECT_EQ(order, "A!C!E!");
  EXPECT_EQ(m.waiting(), 2u);
  m.unlock();
  m.unlock();
  EXPECT_EQ(order, "A!C!E!BD");
  EXPECT_FALSE(line[1].cancel()) << "G2: what was granted cannot be cancelled";
  m.unlock();
  EXPECT_FALSE(m.locked());
}

TEST(shared_mutex, G9_a_writer_that_times_out_lets_the_readers_behind_it_in) {
  manual_timers clock;
  use_timers by_hand(clock);
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = note(m.lock().within(1s), order, 'W');
  auto reader = note(m.lock_shared(), order, 'r');
  clock.advance(900ms);
  EXPECT_EQ(order, "");
  clock.advance(200ms);
  EXPECT_NE(order.find("W!"), std::string::npos);
  EXPECT_EQ(m.readers(), 2u);
  m.unlock_shared();
  m.unlock_shared();
}

TEST(shared_mutex, a_stop_request_withdraws_and_one_made_before_takes_nothing) {
  shared_mutex m;
  std::stop_source stop;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = note(m.lock().stop_on(stop.get_token()), order, 'W');
  stop.request_stop();
  EXPECT_EQ(order, "W!");
  EXPECT_EQ(m.lock_shared().stop_on(stop.get_token()).wait().error(), errc::cancelled);
  EXPECT_EQ(m.upgrade().stop_on(stop.get_token()).wait().error(), errc::cancelled);
  EXPECT_EQ(m.readers(), 1u);
  m.unlock_shared();
}

TEST(shared_mutex, G11_closing_completes_all_that_wait_and_who_is_inside_still_unlocks) {
  shared_mutex m;
  std::vector<std::error_code> seen;
  const auto keep = [&](result<> outcome) { seen.push_back(outcome.error()); };
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = m.lock().start(keep);
  auto reader = m.lock_shared().start(keep);
  auto upgrade = m.upgrade().start(keep);
  EXPECT_EQ(m.waiting(), 3u);
  m.close();
  EXPECT_TRUE(m.closed());
  EXPECT_EQ(seen, std::vector<std::error_code>(3, errc::closed));
  EXPECT_EQ(m.readers(), 2u) << "a failed upgrade keeps its shared lock";
  EXPECT_FALSE(m.try_lock_shared());
  EXPECT_EQ(m.lock_shared().as_result().wait().error(), errc::closed);
  EXPECT_EQ(m.lock().within(0s).wait().error(), errc::closed);
  m.unlock_shared();
  EXPECT_EQ(m.upgrade().as_result().wait().error(), errc::closed) << "closed wins over granted";
  m.unlock_shared();
  EXPECT_FALSE(m.try_lock());
  EXPECT_TRUE(m.check_invariants());
}

TEST(shared_mutex, the_writer_of_a_closed_one_downgrades_and_unlocks) {
  shared_mutex m;
  ASSERT_TRUE(m.try_lock());
  m.close();
  m.downgrade();
  EXPECT_EQ(m.readers(), 1u);
  m.unlock_shared();
  EXPECT_EQ(m.readers(), 0u);
}

TEST(shared_mutex, cancel_all_withdraws_all_that_wait_an_upgrade_too) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = note(m.lock(), order, 'W');
  std::ignore = note(m.upgrade(), order, 'U');
  auto reader = note(m.lock_shared(), order, 'r');
  EXPECT_EQ(m.cancel_all(), 3u);
  EXPECT_EQ(order, "U!W!r!") << "an upgrade waits ahead of the others";
  EXPECT_EQ(m.waiting(), 0u);
  EXPECT_EQ(m.readers(), 2u);
  EXPECT_EQ(m.upgrade().within(0s).wait().error(), errc::timed_out) << "the one before is forgotten";
  EXPECT_TRUE(m.check_invariants());
  m.unlock_shared();
  m.upgrade().wait();
  m.unlock();
}

TEST(shared_mutex, G11_destroying_closes_whoever_waits) {
  std::optional<shared_mutex> m(std::in_place);
  std::vector<std::error_code> seen;
  const auto keep = [&](result<> outcome) { seen.push_back(outcome.error()); };
  ASSERT_TRUE(m->try_lock_shared());
  ASSERT_TRUE(m->try_lock_shared());
  auto writer = m->lock().start(keep);
  auto reader = m->lock_shared().start(keep);
  // Whoever is inside has to be out before it is gone: the upgrade that is told leaves with both locks.
  auto upgrade = m->upgrade().start([&keep, inside = &*m](result<> outcome) {
    inside->unlock_shared();
    inside->unlock_shared();
    keep(std::move(outcome));
  });
  m.reset();
  EXPECT_EQ(seen, std::vector<std::error_code>(3, errc::closed));
}

TEST(shared_mutex, G6_a_completion_may_destroy_it) {
  auto m = std::make_unique<shared_mutex>();
  ASSERT_TRUE(m->try_lock());
  auto last = m->lock().start([&](result<>) {
    m->unlock();
    m.reset();
  });
  m->unlock();
  EXPECT_FALSE(m);
}

TEST(shared_mutex_downgrade, leaves_no_gap_and_lets_the_readers_first_in_line_in) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock());
  auto a = note(m.lock_shared(), order, 'a');
  auto b = note(m.lock_shared(), order, 'b');
  auto writer = note(m.lock(), order, 'W');
  auto c = note(m.lock_shared(), order, 'c');
  m.downgrade();
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(m.readers(), 3u);
  EXPECT_TRUE(m.check_invariants());
  for (int i = 0; i < 3; ++i) m.unlock_shared();
  EXPECT_EQ(order, "abW");
  m.downgrade();
  EXPECT_EQ(order, "abWc");
  m.unlock_shared();
  m.unlock_shared();
}

TEST(shared_mutex_downgrade, does_not_let_a_writer_that_is_first_in_line_in) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock());
  auto writer = note(m.lock(), order, 'W');
  auto reader = note(m.lock_shared(), order, 'r');
  m.downgrade();
  EXPECT_EQ(order, "");
  EXPECT_EQ(m.readers(), 1u);
  m.unlock_shared();
  EXPECT_EQ(order, "W");
  m.unlock();
  m.unlock_shared();
}

TEST(shared_mutex_upgrade, of_the_only_reader_is_granted_at_once_ahead_of_the_line) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  m.upgrade().wait();
  EXPECT_TRUE(m.locked());
  EXPECT_EQ(m.readers(), 0u);
  m.downgrade();
  auto writer = note(m.lock(), order, 'W');
  auto reader = note(m.lock_shared(), order, 'r');
  auto upgrade = note(m.upgrade(), order, 'U');
  EXPECT_EQ(order, "U");
  m.unlock();
  EXPECT_EQ(order, "UW");
  m.unlock();
  m.unlock_shared();
}

TEST(shared_mutex_upgrade, waits_for_the_readers_inside_and_nobody_enters_past_it) {
  shared_mutex m;
  std::string order;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(m.try_lock_shared());
  auto upgrade = note(m.upgrade(), order, 'U');
  EXPECT_EQ(m.waiting(), 1u);
  EXPECT_FALSE(m.try_lock_shared());
  auto a = note(m.lock_shared(), order, 'a');
  auto writer = note(m.lock(), order, 'W');
  m.unlock_shared();
  EXPECT_EQ(order, "");
  EXPECT_TRUE(m.check_invariants());
  m.unlock_shared();
  EXPECT_EQ(order, "U");
  EXPECT_TRUE(m.locked());
  m.unlock();
  EXPECT_EQ(order, "Ua");
  m.unlock_shared();
  EXPECT_EQ(order, "UaW");
  m.unlock();
}

TEST(shared_mutex_upgrade, overtakes_a_writer_that_waited_before_it) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = note(m.lock(), order, 'W');
  auto upgrade = note(m.upgrade(), order, 'U');
  m.unlock_shared();
  EXPECT_EQ(order, "U");
  m.downgrade();
  EXPECT_EQ(order, "U");
  m.unlock_shared();
  EXPECT_EQ(order, "UW");
  m.unlock();
}

TEST(shared_mutex_upgrade, a_second_one_at_the_same_time_would_deadlock_and_keeps_its_shared_lock) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto first = note(m.upgrade(), order, 'U');
  EXPECT_EQ(m.upgrade().as_result().wait().error(), errc::would_deadlock);
  EXPECT_EQ(m.upgrade().within(0s).wait().error(), errc::would_deadlock) << "before timed_out";
  EXPECT_EQ(m.readers(), 2u);
  EXPECT_EQ(order, "");
  m.unlock_shared();
  EXPECT_EQ(order, "U");
  m.unlock();
}

TEST(shared_mutex_upgrade, that_gives_up_keeps_its_shared_lock_and_lets_readers_in_and_the_next_upgrade) {
  shared_mutex m;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto first = note(m.upgrade(), order, 'U');
  auto reader = note(m.lock_shared(), order, 'r');
  auto writer = note(m.lock(), order, 'W');
  EXPECT_TRUE(first.cancel());
  EXPECT_NE(order.find("U!"), std::string::npos);
  EXPECT_EQ(m.readers(), 3u);
  EXPECT_EQ(m.waiting(), 1u);
  EXPECT_TRUE(m.check_invariants());
  auto second = note(m.upgrade(), order, 'V');
  m.unlock_shared();
  m.unlock_shared();
  EXPECT_TRUE(m.locked());
  EXPECT_TRUE(second.done());
  EXPECT_FALSE(writer.done());
  m.unlock();
  m.unlock();
}

TEST(shared_mutex_upgrade, G11_that_was_closed_is_forgotten) {
  shared_mutex m;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  std::error_code error;
  {
    auto waits = m.upgrade().start([&](result<> outcome) { error = outcome.error(); });
  }
  m.close();
  EXPECT_EQ(error, errc::closed);
  EXPECT_TRUE(m.check_invariants()) << "it looks at an upgrade that is gone";
  m.unlock_shared();
  m.unlock_shared();
  EXPECT_TRUE(m.check_invariants());
}

TEST(shared_mutex_upgrade, G9_that_times_out_keeps_its_shared_lock) {
  manual_timers clock;
  use_timers by_hand(clock);
  shared_mutex m;
  std::error_code seen;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  EXPECT_EQ(m.upgrade().within(0s).wait().error(), errc::timed_out);
  auto upgrade = m.upgrade().within(1s).start([&](result<> outcome) { seen = outcome.error(); });
  auto reader = m.lock_shared().start([](result<>) {});
  clock.advance(2s);
  EXPECT_EQ(seen, errc::timed_out);
  EXPECT_EQ(m.readers(), 3u);
  for (int i = 0; i < 3; ++i) m.unlock_shared();
}

TEST(shared_mutex_upgrade, by_a_thread_waits_for_another_reader) {
  shared_mutex m;
  m.lock_shared().wait();
  m.lock_shared().wait();
  std::jthread other([&] {
    while (m.waiting() == 0) std::this_thread::yield();
    m.unlock_shared();
  });
  m.upgrade().wait();
  EXPECT_TRUE(m.locked());
  m.unlock();
}

TEST(shared_mutex_guard, unlocks_when_it_goes_and_is_moved_not_copied) {
  static_assert(!std::copyable<shared_mutex::guard> && !std::copyable<shared_mutex::shared_guard>);
  static_assert(!std::same_as<shared_mutex::guard, shared_mutex::shared_guard>);
  static_assert(std::same_as<decltype(std::declval<shared_mutex&>().scoped_lock())::value_type, shared_mutex::guard>);
  shared_mutex m;
  {
    auto held = m.try_scoped_lock();
    EXPECT_TRUE(held && held.owns_lock());
    EXPECT_FALSE(m.try_scoped_lock());
    auto moved = std::move(held);
    EXPECT_FALSE(held);
    EXPECT_TRUE(m.locked());
  }
  {
    auto one = m.scoped_lock_shared().wait();
    auto two = m.try_scoped_lock_shared();
    EXPECT_EQ(m.readers(), 2u);
    one = std::move(two);
    EXPECT_EQ(m.readers(), 1u);
  }
  EXPECT_EQ(m.readers(), 0u);
}

TEST(shared_mutex_guard, unlocks_once_and_releases) {
  shared_mutex m;
  auto held = m.try_scoped_lock_shared();
  held.unlock();
  EXPECT_EQ(refusal_of([&] { held.unlock(); }), errc::not_owner);
  EXPECT_EQ(held.release(), nullptr);
  EXPECT_EQ(m.try_scoped_lock().release(), &m);
  EXPECT_TRUE(m.locked());
  m.unlock();
}

TEST(shared_mutex_guard, is_downgraded_and_upgraded_as_a_member_and_as_a_free_function) {
  shared_mutex m;
  auto written = m.try_scoped_lock();
  auto read = m.downgrade(std::move(written));
  EXPECT_FALSE(written);
  EXPECT_EQ(m.readers(), 1u);
  written = m.upgrade(std::move(read)).wait();
  EXPECT_FALSE(read);
  EXPECT_TRUE(m.locked());
  read = downgrade(std::move(written));
  EXPECT_EQ(m.readers(), 1u);
  written = upgrade(std::move(read)).wait();
  EXPECT_TRUE(m.locked());
  EXPECT_FALSE(read);
}

TEST(shared_mutex_guard, stays_with_the_caller_if_its_upgrade_fails) {
  shared_mutex m;
  auto read = m.try_scoped_lock_shared();
  auto other = m.try_scoped_lock_shared();
  EXPECT_EQ(upgrade(std::move(read)).within(0s).wait().error(), errc::timed_out);
  EXPECT_TRUE(read);
  EXPECT_EQ(m.readers(), 2u);
  other.unlock();
  auto written = upgrade(std::move(read)).within(0s).wait();
  EXPECT_TRUE(written);
  EXPECT_FALSE(read);
}

TEST(shared_mutex_guard, goes_along_with_a_started_upgrade) {
  shared_mutex m;
  shared_mutex::guard written;
  ASSERT_TRUE(m.try_lock_shared());
  {
    auto read = m.try_scoped_lock_shared();
    std::ignore = upgrade(std::move(read)).start([&](result<shared_mutex::guard> outcome) {
      if (outcome) written = std::move(*outcome);
    });
  }
  EXPECT_EQ(m.readers(), 2u);
  m.unlock_shared();
  EXPECT_TRUE(written);
  written.unlock();
  EXPECT_EQ(m.readers(), 0u);
}

TEST(shared_mutex_guard, that_went_along_with_an_upgrade_that_failed_is_unlocked_with_it) {
  shared_mutex m;
  ASSERT_TRUE(m.try_lock_shared());
  {
    auto waits = m.upgrade(m.try_scoped_lock_shared()).start([](result<shared_mutex::guard> outcome) {
      EXPECT_EQ(outcome.error(), errc::cancelled);
    });
    EXPECT_TRUE(waits.cancel());
  }
  EXPECT_EQ(m.readers(), 1u);
  m.unlock_shared();
}

TEST(shared_mutex_guard, G12_an_empty_or_foreign_one_is_refused_untouched) {
  shared_mutex m;
  shared_mutex n;
  shared_mutex::guard no_writer;
  shared_mutex::shared_guard no_reader;
  EXPECT_EQ(refusal_of([&] { std::ignore = m.downgrade(std::move(no_writer)); }), errc::not_owner);
  EXPECT_EQ(refusal_of([&] { std::ignore = downgrade(std::move(no_writer)); }), errc::not_owner);
  EXPECT_EQ(refusal_of([&] { std::ignore = m.upgrade(std::move(no_reader)).wait(); }), errc::not_owner);
  EXPECT_EQ(refusal_of([&] { std::ignore = upgrade(std::move(no_reader)).wait(); }), errc::not_owner);
  auto written = n.try_scoped_lock();
  EXPECT_THROW(std::ignore = m.downgrade(std::move(written)), std::invalid_argument);
  EXPECT_TRUE(written);
  auto read = downgrade(std::move(written));
  EXPECT_THROW(std::ignore = m.upgrade(std::move(read)).wait(), std::invalid_argument);
  EXPECT_TRUE(read);
  EXPECT_EQ(n.readers(), 1u);
}

template <class Make>
foreign wait_for(Make make, bool& reached) {
  {
    [[maybe_unused]] auto outcome = co_await make();
  }
  reached = true;
}

foreign upgrade_own_guard(shared_mutex& m, test::manual_executor& where, bool& reached) {
  auto read = m.try_scoped_lock_shared();
  {
    auto written = co_await upgrade(std::move(read)).as_result().resume_on(where);
  }
  reached = true;
}

TEST(shared_mutex_abandon, G5_a_destroyed_writer_lets_the_readers_behind_it_in) {
  shared_mutex m;
  bool reached = false;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = wait_for([&] { return m.lock().as_result(); }, reached);
  auto reader = note(m.lock_shared(), order, 'r');
  EXPECT_EQ(order, "");
  writer.destroy();
  EXPECT_EQ(order, "r");
  EXPECT_EQ(m.waiting(), 0u);
  m.unlock_shared();
  m.unlock_shared();
}

TEST(shared_mutex_abandon, G2_an_undelivered_lock_is_given_back) {
  shared_mutex m;
  test::manual_executor where;
  bool reached = false;
  std::string order;
  ASSERT_TRUE(m.try_lock());
  auto writer = wait_for([&] { return m.lock().as_result().resume_on(where); }, reached);
  auto reader = wait_for([&] { return m.scoped_lock_shared().as_result().resume_on(where); }, reached);
  auto last = note(m.lock(), order, 'L');
  m.unlock();
  EXPECT_TRUE(m.locked());
  writer.destroy();
  EXPECT_EQ(m.readers(), 1u);
  EXPECT_EQ(order, "");
  reader.destroy();
  EXPECT_EQ(order, "L");
  EXPECT_EQ(where.run_all(), 0u);
  EXPECT_FALSE(reached);
  m.unlock();
}

TEST(shared_mutex_abandon, G2_an_undelivered_upgrade_is_downgraded_again) {
  shared_mutex m;
  test::manual_executor where;
  bool reached = false;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto upgrades = wait_for([&] { return m.upgrade().as_result().resume_on(where); }, reached);
  auto reader = note(m.lock_shared(), order, 'r');
  m.unlock_shared();
  EXPECT_TRUE(m.locked());
  upgrades.destroy();
  EXPECT_EQ(m.readers(), 2u);
  EXPECT_EQ(order, "r");
  EXPECT_FALSE(reached);
  m.unlock_shared();
  m.unlock_shared();
}

TEST(shared_mutex_abandon, G2_a_guard_whose_upgrade_was_not_delivered_unlocks_its_shared_lock) {
  shared_mutex m;
  test::manual_executor where;
  bool reached = false;
  ASSERT_TRUE(m.try_lock_shared());
  auto waits = upgrade_own_guard(m, where, reached);
  waits.destroy();
  EXPECT_EQ(m.readers(), 1u);
  auto granted = upgrade_own_guard(m, where, reached);
  EXPECT_EQ(m.readers(), 2u);
  m.unlock_shared();
  EXPECT_TRUE(m.locked());
  granted.destroy();
  EXPECT_FALSE(m.locked());
  EXPECT_EQ(m.readers(), 0u);
  auto delivered = upgrade_own_guard(m, where, reached);
  EXPECT_TRUE(m.locked());
  where.run_all();
  EXPECT_TRUE(reached);
  EXPECT_FALSE(m.locked());
}

TEST(shared_mutex_select, G2_a_branch_that_loses_takes_nothing_and_lets_those_behind_it_in) {
  shared_mutex m;
  event other;
  std::string order;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto writer =
      select(m.lock(), other.wait()).start([&](auto outcome) { order += static_cast<char>('0' + outcome->index()); });
  auto upgrade = select(m.upgrade(), other.wait()).start([&](auto outcome) {
    order += static_cast<char>('0' + outcome->index());
  });
  auto reader = note(m.lock_shared(), order, 'r');
  EXPECT_EQ(m.waiting(), 3u);
  other.set();
  EXPECT_EQ(order, "11r");
  EXPECT_EQ(m.waiting(), 0u);
  EXPECT_EQ(m.readers(), 3u);
  for (int i = 0; i < 3; ++i) m.unlock_shared();
}

TEST(shared_mutex_select, an_upgrade_that_is_granted_decides) {
  shared_mutex m;
  event other;
  std::optional<std::size_t> won;
  ASSERT_TRUE(m.try_lock_shared());
  ASSERT_TRUE(m.try_lock_shared());
  auto waits = select(other.wait(), m.upgrade()).start([&](auto outcome) { won = outcome->index(); });
  m.unlock_shared();
  EXPECT_EQ(won, 1u);
  EXPECT_EQ(other.waiting(), 0u);
  EXPECT_TRUE(m.locked());
  m.unlock();
  auto either = select(m.scoped_lock_shared(), m.scoped_lock()).wait();
  EXPECT_EQ(either.index(), 0u);
  EXPECT_EQ(m.readers(), 1u);
}

// Plain data: what a writer wrote all who come after it see (G10), and nobody sees it while it is being written.
struct plain {
  std::array<int, 4> values{};
  void bump() {
    for (int& value : values) ++value;
  }
  [[nodiscard]] bool even() const {
    for (int value : values) {
      if (value != values[0]) return false;
    }
    return true;
  }
};

TEST(shared_mutex_stress, G10_readers_writers_upgrades_and_limits_on_plain_data) {
  constexpr int rounds = 1500;
  shared_mutex m;
  plain data;
  std::array<int, 4> bumped{};
  const auto work = [&](std::size_t self) {
    int& mine = bumped[self];
    for (int i = 0; i < rounds; ++i) {
      switch ((static_cast<std::size_t>(i) + self) % 4) {
        case 0: {
          auto written = m.scoped_lock().wait();
          data.bump();
          ++mine;
          auto read = downgrade(std::move(written));
          EXPECT_TRUE(data.even());
          break;
        }
        case 1: {
          auto written = m.scoped_lock().within(std::chrono::microseconds(i % 30)).wait();
          if (!written) break;
          data.bump();
          ++mine;
          break;
        }
        case 2: {
          auto read = m.scoped_lock_shared().wait();
          EXPECT_TRUE(data.even());
          auto written = upgrade(std::move(read)).within(std::chrono::microseconds(i % 30)).wait();
          EXPECT_NE(read.owns_lock(), written.has_value());
          EXPECT_TRUE(data.even());
          if (!written) break;
          data.bump();
          ++mine;
          break;
        }
        default: {
          auto read = m.scoped_lock_shared().within(std::chrono::microseconds(i % 30)).wait();
          EXPECT_TRUE(!read || data.even());
        }
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t self = 0; self < bumped.size(); ++self) threads.emplace_back(work, self);
  }
  int all = 0;
  for (int mine : bumped) all += mine;
  EXPECT_EQ(data.values[0], all);
  EXPECT_TRUE(data.even());
  EXPECT_EQ(m.waiting(), 0u);
  EXPECT_EQ(m.readers(), 0u);
  EXPECT_FALSE(m.locked());
  EXPECT_TRUE(m.check_invariants());
}

task<> reads_and_writes(shared_mutex& m, plain& data, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    {
      auto written = co_await m.scoped_lock();
      data.bump();
    }
    auto read = co_await m.scoped_lock_shared();
    EXPECT_TRUE(data.even());
  }
}

TEST(shared_mutex_stress, G10_tasks_on_a_pool_of_threads) {
  constexpr int tasks = 8;
  constexpr int rounds = 500;
  shared_mutex m;
  plain data;
  thread_pool threads(4);
  std::vector<future<>> ends;
  for (int i = 0; i < tasks; ++i) ends.push_back(spawn(threads, reads_and_writes(m, data, rounds)));
  for (auto& end : ends) end.get().wait();
  EXPECT_EQ(data.values[0], tasks * rounds);
  EXPECT_TRUE(m.check_invariants());
}

}  // namespace
}  // namespace weir
