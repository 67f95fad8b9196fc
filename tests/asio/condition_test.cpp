// A condition under Asio: the mutex is held again when the handler is called, and the predicate is looked at again.

#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <asio/binding.hpp>

namespace weir::test {
namespace {

using namespace std::chrono_literals;

TEST(asio_condition, an_awaitable_that_was_notified_holds_the_mutex) {
  asio::io_context io;
  mutex m;
  condition changed;
  int held_by = 0;
  auto waits = [&]() -> asio::awaitable<void> {
    auto held = co_await m.scoped_lock()(asio::use_awaitable);
    co_await changed.wait(held)(asio::use_awaitable);
    EXPECT_TRUE(held.owns_lock());
    ++held_by;
  };
  for (int i = 0; i < 3; ++i) asio::co_spawn(io, waits, asio::detached);
  io.poll();
  EXPECT_FALSE(m.locked());
  EXPECT_EQ(changed.waiting(), 3u);
  changed.notify_all();
  io.run();
  EXPECT_EQ(held_by, 3);
  EXPECT_FALSE(m.locked());
}

TEST(asio_condition, a_handler_is_called_only_when_the_predicate_holds) {
  asio::io_context io;
  mutex m;
  condition changed;
  ASSERT_TRUE(m.try_lock());
  mutex::guard held(m, std::adopt_lock);
  bool ready = false;
  int called = 0;
  changed.wait(held, [&] { return ready; })(asio::bind_executor(io, [&](net_error error) {
    EXPECT_FALSE(error);
    EXPECT_TRUE(held.owns_lock());
    ++called;
  }));
  changed.notify_all();
  io.poll();
  EXPECT_EQ(called, 0);
  EXPECT_EQ(changed.waiting(), 1u);
  ready = true;
  changed.notify_one();
  io.restart();
  io.run();
  EXPECT_EQ(called, 1);
}

/// Waits for what never holds, until its slot is fired: what it was told, holding the mutex.
class asio_condition_slot : public testing::Test {
 protected:
  void start() {
    auto told = [this](net_error error) { told_ = error; };
    waiting_.wait(held_,
                  [] { return false; })(asio::bind_cancellation_slot(give_up_.slot(), asio::bind_executor(io_, told)));
    io_.poll();
  }
  void cancel() { give_up_.emit(asio::cancellation_type::terminal); }
  void expect_cancelled() {
    io_.restart();
    io_.poll();
    EXPECT_EQ(told_, asio::error::operation_aborted);
    EXPECT_TRUE(held_.owns_lock());
    EXPECT_EQ(waiting_.waiting(), 0u);
  }

  asio::io_context io_;
  asio::cancellation_signal give_up_;
  mutex m_;
  condition waiting_;
  mutex::guard held_ = m_.try_scoped_lock();
  std::optional<net_error> told_;
};

TEST_F(asio_condition_slot, cancels_the_wait_and_the_mutex_is_held) {
  start();
  cancel();
  expect_cancelled();
}

TEST_F(asio_condition_slot, cancels_a_wait_that_was_notified_in_vain) {
  start();
  waiting_.notify_all();
  cancel();  // the notification has decided, and the predicate is still to be looked at
  expect_cancelled();
}

TEST(asio_condition, what_waits_for_one_goes_with_its_context_and_the_next_gets_its_notification) {
  mutex m;
  condition changed;
  asio::io_context other;
  bool told = false;
  auto waits = [&](bool& into) -> asio::awaitable<void> {
    auto held = co_await m.scoped_lock()(asio::use_awaitable);
    co_await changed.wait(held)(asio::use_awaitable);
    into = true;
  };
  bool never = false;
  {
    asio::io_context io;
    asio::co_spawn(io, waits(never), asio::detached);
    io.poll();
    asio::co_spawn(other, waits(told), asio::detached);
    other.poll();
    EXPECT_EQ(changed.waiting(), 2u);
    changed.notify_one();
  }
  other.restart();
  other.run();
  EXPECT_FALSE(never);
  EXPECT_TRUE(told);
  EXPECT_FALSE(m.locked());
}

task<> waits_as_task(mutex& m, condition& changed) {
  auto held = co_await m.scoped_lock();
  co_await changed.wait(held);
  ADD_FAILURE() << "resumed";
}

TEST(asio_condition, what_is_in_line_for_its_mutex_goes_with_its_context) {
  mutex m;
  condition changed;
  mutex::guard by_handler = m.try_scoped_lock();
  mutex::guard other;
  {
    asio::io_context io;
    auto never = [](net_error) { ADD_FAILURE() << "called"; };
    changed.wait(by_handler)(asio::bind_executor(io, never));
    auto waits = [&]() -> asio::awaitable<void> {
      auto held = co_await m.scoped_lock()(asio::use_awaitable);
      co_await changed.wait(held)(asio::use_awaitable);
      ADD_FAILURE() << "resumed";
    };
    asio::co_spawn(io, waits, asio::detached);
    auto made = spawn(io.get_executor(), waits_as_task(m, changed));
    io.poll();
    other = m.try_scoped_lock();
    EXPECT_EQ(changed.waiting(), 3u);
    changed.notify_all();
    EXPECT_EQ(m.waiting(), 3u);
  }
  EXPECT_EQ(m.waiting(), 0u);
  other.unlock();
  EXPECT_FALSE(m.locked());
}

/// Notifies one condition after the other, again and again, on a thread of its own.
class notifier {
 public:
  /// From now on `which`, or none; and never again the one before.
  void notify(condition* which) {
    const std::lock_guard lock(mutex_);
    notified_ = which;
  }

 private:
  std::mutex mutex_;
  condition* notified_ = nullptr;
  std::jthread thread_{[this](const std::stop_token& enough) {
    while (!enough.stop_requested()) {
      const std::lock_guard lock(mutex_);
      if (notified_ != nullptr) notified_->notify_one();
    }
  }};
};

TEST(asio_condition, a_slot_that_the_predicate_fires_is_not_lost_whoever_notifies_meanwhile) {
  constexpr int rounds = 500;
  notifier other;
  for (int i = 0; i < rounds; ++i) {
    asio::io_context io;
    asio::cancellation_signal give_up;
    mutex m;
    condition changed;
    std::optional<net_error> told;
    mutex::guard held = m.try_scoped_lock();
    int looked = 0;
    auto fires = [&] {
      if (++looked == 1) other.notify(&changed);  // it begins to wait now
      if (looked == 2) give_up.emit(asio::cancellation_type::terminal);
      return false;
    };
    changed.wait(held, fires)
        .within(1h)(asio::bind_cancellation_slot(give_up.slot(),
                                                 asio::bind_executor(io, [&](net_error error) { told = error; })));
    while (looked < 2) io.poll();
    other.notify(nullptr);
    io.restart();
    io.poll();
    EXPECT_EQ(told, asio::error::operation_aborted);
    if (!told) changed.cancel_all();
    io.restart();
    io.run();
  }
}

}  // namespace
}  // namespace weir::test
