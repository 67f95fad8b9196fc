// Downgrading, and upgrading ahead of the queue.

#include <chrono>
#include <string>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

#include <weir/run/timers.hpp>
#include <weir/shared_mutex.hpp>

#include <support/notes.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::note;

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

}  // namespace
}  // namespace weir
