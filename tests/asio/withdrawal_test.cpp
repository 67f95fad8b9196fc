// A grant that is withdrawn before it was delivered: for every operation and every way of withdrawing, what is reported
// and what has happened agree.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <asio/binding.hpp>

namespace weir::test {
namespace {

/// Receives the outcome of an operation, and keeps what it yields until the state has been looked at.
struct report {
  std::optional<bool> success;
  std::shared_ptr<void> kept;

  template <class Error, class... Value>
  void operator()(const Error& error, Value&&... value) {
    success = !error;
    kept = std::make_shared<std::tuple<std::decay_t<Value>...>>(std::forward<Value>(value)...);
  }
};

enum class withdrawing { by_slot, by_slot_in_a_select, with_the_context, with_the_coroutine };

/// `wait()` is an operation that has to wait until `grant()`; `has_effect()` says whether it has taken what it waited
/// for.
template <class Wait, class Grant, class Effect>
void withdraw_after_the_grant(withdrawing way, Wait wait, Grant grant, Effect has_effect) {
  std::optional<asio::io_context> io(std::in_place);
  asio::cancellation_signal signal;
  report reported;
  const auto handler = [&] {
    return asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(*io, std::ref(reported)));
  };
  event never;
  std::optional<task<>> waits;
  const auto awaits = [](Wait& operation) -> task<> { std::ignore = co_await operation().as_result(); };
  switch (way) {
    case withdrawing::by_slot:
      wait()(handler());
      break;
    case withdrawing::by_slot_in_a_select:
      select(never.wait(), wait())(handler());
      break;
    case withdrawing::with_the_context:
      wait()(handler());
      break;
    case withdrawing::with_the_coroutine:
      std::ignore = spawn(io->get_executor(), awaits(wait));
      io->poll();
      break;
  }
  grant();
  switch (way) {
    case withdrawing::by_slot:
    case withdrawing::by_slot_in_a_select:
      signal.emit(asio::cancellation_type::terminal);
      io->run();
      ASSERT_TRUE(reported.success.has_value());
      EXPECT_EQ(has_effect(), *reported.success);
      break;
    case withdrawing::with_the_context:
    case withdrawing::with_the_coroutine:
      io.reset();
      EXPECT_FALSE(reported.success.has_value()) << "the handler was called";
      EXPECT_FALSE(has_effect());
      break;
  }
}

class withdrawal : public testing::TestWithParam<withdrawing> {
 protected:
  template <class Wait, class Grant, class Effect>
  void check(Wait wait, Grant grant, Effect has_effect) {
    withdraw_after_the_grant(GetParam(), wait, grant, has_effect);
  }
  /// For what cannot be undone: it stands, whatever was destroyed.
  template <class Wait, class Grant, class Effect>
  void check_stands(Wait wait, Grant grant, Effect has_effect) {
    const bool destroyed = GetParam() == withdrawing::with_the_context || GetParam() == withdrawing::with_the_coroutine;
    withdraw_after_the_grant(GetParam(), wait, grant, [&] { return destroyed != has_effect(); });
  }
};

TEST_P(withdrawal, of_semaphore_acquire) {
  semaphore sem(0);
  check([&] { return sem.acquire(2); }, [&] { sem.release(2); }, [&] { return sem.available() == 0; });
}

TEST_P(withdrawal, of_semaphore_scoped_acquire) {
  semaphore sem(0);
  check([&] { return sem.scoped_acquire(2); }, [&] { sem.release(2); }, [&] { return sem.available() == 0; });
}

TEST_P(withdrawal, of_mutex_lock) {
  mutex m;
  ASSERT_TRUE(m.try_lock());
  check([&] { return m.lock(); }, [&] { m.unlock(); }, [&] { return m.locked(); });
  if (m.locked()) m.unlock();
}

TEST_P(withdrawal, of_mutex_scoped_lock) {
  mutex m;
  ASSERT_TRUE(m.try_lock());
  check([&] { return m.scoped_lock(); }, [&] { m.unlock(); }, [&] { return m.locked(); });
}

TEST_P(withdrawal, of_recursive_mutex_lock) {
  recursive_mutex m;
  ASSERT_TRUE(m.try_lock());
  check([&] { return m.lock(); }, [&] { m.unlock(); }, [&] { return m.locked(); });
  if (m.locked()) m.unlock();
}

TEST_P(withdrawal, of_shared_mutex_lock) {
  shared_mutex m;
  ASSERT_TRUE(m.try_lock());
  check([&] { return m.lock(); }, [&] { m.unlock(); }, [&] { return m.locked(); });
  if (m.locked()) m.unlock();
}

TEST_P(withdrawal, of_shared_mutex_lock_shared) {
  shared_mutex m;
  ASSERT_TRUE(m.try_lock());
  check([&] { return m.scoped_lock_shared(); }, [&] { m.unlock(); }, [&] { return m.readers() == 1; });
}

TEST_P(withdrawal, of_shared_mutex_upgrade) {
  shared_mutex m;
  ASSERT_TRUE(m.try_lock_shared() && m.try_lock_shared());
  check([&] { return m.upgrade(); }, [&] { m.unlock_shared(); }, [&] { return m.locked(); });
  m.locked() ? m.unlock() : m.unlock_shared();
}

TEST_P(withdrawal, of_guarded_lock) {
  guarded<int> g;
  auto held = g.try_lock();
  check([&] { return g.lock(); }, [&] { held = {}; }, [&] { return !g.try_lock(); });
}

TEST_P(withdrawal, of_auto_reset_event_wait) {
  auto_reset_event e;
  check([&] { return e.wait(); }, [&] { e.set(); }, [&] { return !e.is_set(); });
}

TEST_P(withdrawal, of_queue_push) {
  queue<std::string> q(1);
  ASSERT_TRUE(q.try_push("first"));
  check_stands([&] { return q.push("second"); }, [&] { EXPECT_EQ(q.try_pop(), "first"); },
               [&] { return q.size() == 1; });
}

TEST_P(withdrawal, of_queue_pop) {
  queue<std::string> q;
  check([&] { return q.pop(); }, [&] { EXPECT_TRUE(q.try_push("item")); }, [&] { return q.empty(); });
}

TEST_P(withdrawal, of_queue_pop_many) {
  queue<std::string> q;
  check([&] { return q.pop_many(3); }, [&] { EXPECT_TRUE(q.try_push("item")); }, [&] { return q.empty(); });
}

TEST_P(withdrawal, of_pool_submit) {
  run_loop loop;
  pool jobs(loop, 1);
  event end_first;
  bool ran = false;
  const auto waits = [](event& until) -> task<> { co_await until.wait(); };
  const auto runs = [](bool& seen) -> task<> {
    seen = true;
    co_return;
  };
  auto first = jobs.try_submit(waits(end_first));
  ASSERT_TRUE(first);
  check([&] { return jobs.submit(runs(ran)); },
        [&] {
          end_first.set();
          loop.finish();
          loop.run();
        },
        [&] {
          loop.run();
          EXPECT_EQ(jobs.running(), 0u);
          return ran;
        });
}

TEST_P(withdrawal, of_future_get) {
  promise<std::string> made;
  auto value = made.get_future();
  check([&] { return value.get(); }, [&] { made.set_value("value"); },
        [&] { return !value.get().as_result().wait().has_value(); });
}

TEST_P(withdrawal, of_oneshot_receive) {
  auto [tx, rx] = make_oneshot<std::string>();
  check([&, &to = rx] { return to.receive(); }, [&, &from = tx] { from.send("value"); },
        [&, &to = rx] { return !to.receive().as_result().wait().has_value(); });
}

INSTANTIATE_TEST_SUITE_P(by, withdrawal,
                         testing::Values(withdrawing::by_slot, withdrawing::by_slot_in_a_select,
                                         withdrawing::with_the_context, withdrawing::with_the_coroutine));

TEST(withdrawal_of_a_push, beside_a_timer_does_not_duplicate_the_item_on_retry) {
  asio::io_context io;
  queue<int> q(1);
  ASSERT_TRUE(q.try_push(1));
  const auto pushes = [](queue<int>& into) -> asio::awaitable<void> {
    using namespace asio_operators;
    const auto here = co_await asio::this_coro::executor;
    asio::steady_timer timer(here);
    for (;;) {
      timer.expires_at(asio::steady_timer::time_point::min());
      auto pushed = co_await (into.push(2)(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
      if (pushed.index() == 0) break;
      EXPECT_EQ(into.try_pop(), 1) << "the item of a push that was not reported as pushed is in the queue";
    }
  };
  asio::co_spawn(io, pushes(q), asio::detached);
  io.run();
  EXPECT_EQ(q.try_pop(), 2);
  EXPECT_EQ(q.try_pop(), std::nullopt);
}

}  // namespace
}  // namespace weir::test
