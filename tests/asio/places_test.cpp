// G15: where code resumes under Asio (api.md §7 and §8). Two strands of one context tell apart where it runs, on an
// io_context and on a thread_pool of Asio.

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <future>
#include <stop_token>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <asio/binding.hpp>
#include <support/foreign.hpp>

namespace weir::test {
namespace {

using namespace std::chrono_literals;

/// Two threads run it.
class on_io_context {
 public:
  using type = asio::io_context;
  void run() {
    std::jthread second([this] { context.run(); });
    context.run();
  }
  type context{2};
};

class on_thread_pool {
 public:
  using type = asio::thread_pool;
  void run() { context.join(); }
  type context{2};
};

/// An awaitable of another library, which resumes on an executor and knows nothing of tasks.
template <class Executor>
class moves_to {
 public:
  explicit moves_to(Executor where) : where_(std::move(where)) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> owner) const {
    asio::post(where_, [owner] { owner.resume(); });
  }
  void await_resume() const noexcept {}

 private:
  Executor where_;
};

/// Everything is started and ended in the other strand, and has to run in its own.
template <class Context>
class strands : public testing::Test {
 public:
  using strand = asio::strand<typename Context::type::executor_type>;

  /// Whether its caller runs in its own strand and in no other.
  [[nodiscard]] bool at_home() const { return mine.running_in_this_thread() && !other.running_in_this_thread(); }
  [[nodiscard]] bool away() const { return !mine.running_in_this_thread() && other.running_in_this_thread(); }

  void look() { at_home() ? ++right : ++wrong; }

  /// A handler for any arguments.
  auto looks() {
    return [this](auto&&...) { look(); };
  }

  /// Calls `end` in the other strand, once `count` wait.
  template <class Subject, class End>
  void once_queued(Subject& subject, std::size_t count, End end) {
    asio::post(other, [this, &subject, count, end] {
      if (subject.waiting() < count) return once_queued(subject, count, end);
      end();
    });
  }

  void run(int times) {
    runs.run();
    EXPECT_EQ(right, times);
    EXPECT_EQ(wrong, 0);
  }

  Context runs;
  strand mine = asio::make_strand(runs.context);
  strand other = asio::make_strand(runs.context);
  std::atomic<int> right{0};
  std::atomic<int> wrong{0};
};

using contexts = testing::Types<on_io_context, on_thread_pool>;
TYPED_TEST_SUITE(strands, contexts);

TYPED_TEST(strands, a_callback_runs_in_the_strand_that_it_is_bound_to) {
  semaphore ready(2);
  semaphore later(0);
  asio::post(this->other, [&] {
    ready.acquire()(asio::bind_executor(this->mine, this->looks()));
    ready.acquire()(asio::bind_executor(asio::any_io_executor(this->mine), this->looks()));
    later.acquire()(asio::bind_executor(this->mine, this->looks()));
    later.acquire()(asio::bind_executor(asio::any_io_executor(this->mine), this->looks()));
  });
  this->once_queued(later, 2, [&] { later.release(2); });
  this->run(4);
}

TYPED_TEST(strands, a_callback_runs_in_the_strand_that_resume_on_names) {
  semaphore ready(1);
  semaphore later(0);
  asio::post(this->other, [&] {
    ready.acquire().resume_on(this->mine)(this->looks());
    later.acquire().resume_on(this->mine)(this->looks());
  });
  this->once_queued(later, 1, [&] { later.release(); });
  this->run(2);
}

TYPED_TEST(strands, the_executor_of_a_handler_is_stronger_than_resume_on) {
  semaphore ready(1);
  semaphore later(0);
  ready.acquire().resume_on(this->other)(asio::bind_executor(this->mine, this->looks()));
  later.acquire().resume_on(this->other)(asio::bind_executor(this->mine, this->looks()));
  this->once_queued(later, 1, [&] { later.release(); });
  this->run(2);
}

TYPED_TEST(strands, a_callback_of_start_runs_in_the_strand_that_resume_on_names) {
  semaphore ready(1);
  semaphore later(0);
  auto working = asio::make_work_guard(this->mine);
  asio::post(this->other, [&] {
    std::ignore = ready.acquire().resume_on(this->mine).start(this->looks());
    std::ignore = later.acquire().resume_on(this->mine).start([&](const result<>&) {
      this->look();
      working.reset();
    });
  });
  this->once_queued(later, 1, [&] { later.release(); });
  this->run(2);
}

TYPED_TEST(strands, a_deferred_operation_runs_its_handler_in_the_strand_that_it_is_bound_to) {
  semaphore ready(1);
  semaphore later(0);
  asio::post(this->other, [&] {
    auto at_once = ready.acquire()(asio_tokens::deferred);
    auto queued = later.acquire()(asio_tokens::deferred);
    std::move(at_once)(asio::bind_executor(this->mine, this->looks()));
    std::move(queued)(asio::bind_executor(this->mine, this->looks()));
  });
  this->once_queued(later, 1, [&] { later.release(); });
  this->run(2);
}

TYPED_TEST(strands, however_a_wait_ends_its_handler_runs_in_its_strand) {
  semaphore closes(0);
  semaphore cancels(0);
  semaphore times_out(0);
  std::stop_source stop;
  const auto bound = [&] { return asio::bind_executor(this->mine, this->looks()); };
  asio::post(this->other, [&] {
    closes.acquire()(bound());
    cancels.acquire()(bound());
    cancels.acquire().stop_on(stop.get_token())(bound());
    times_out.acquire().within(1ms)(bound());
    times_out.acquire().within(0ms)(bound());
  });
  this->once_queued(closes, 1, [&] { closes.close(); });
  this->once_queued(cancels, 2, [&] {
    stop.request_stop();
    cancels.cancel_all();
  });
  this->run(5);
}

TYPED_TEST(strands, an_awaitable_stays_in_the_strand_that_it_was_spawned_on) {
  semaphore ready(1);
  semaphore later(0);
  queue<int> items;
  promise<int> made;
  auto given = made.get_future();
  auto waits = [&]() -> asio::awaitable<void> {
    co_await ready.acquire()(asio::use_awaitable);
    this->look();
    co_await later.acquire()(asio::use_awaitable);
    this->look();
    std::ignore = co_await later.acquire().within(1ms)(asio_tokens::as_tuple(asio::use_awaitable));
    this->look();
    std::ignore = co_await items.async_pop(asio::use_awaitable);
    this->look();
    std::ignore = co_await select(later.acquire(), given.get())(asio::use_awaitable);
    this->look();
    co_await sleep_for(1ms)(asio::use_awaitable);
    this->look();
  };
  asio::co_spawn(this->mine, waits, asio::detached);
  this->once_queued(later, 1, [&] {
    later.release();
    items.try_push(1);
    made.set_value(1);
  });
  this->run(6);
}

TYPED_TEST(strands, a_foreign_coroutine_resumes_in_the_strand_that_resume_on_names) {
  semaphore ready(1);
  semaphore later(0);
  auto waits = [](strands<TypeParam>& places, semaphore& wanted) -> foreign {
    co_await wanted.acquire().resume_on(places.mine);
    places.look();
  };
  auto working = asio::make_work_guard(this->runs.context);
  const auto at_once = waits(*this, ready);
  const auto queued = waits(*this, later);
  this->once_queued(later, 1, [&] {
    later.release();
    asio::post(this->mine, [&] { working.reset(); });
  });
  this->run(2);
}

template <class Context>
task<> keeps_to_its_strand(strands<Context>& places, semaphore& ready, semaphore& later) {
  places.look();
  co_await ready.acquire();
  places.look();
  co_await later.acquire();
  places.look();
  co_await yield();
  places.look();
  co_await sleep_for(1ms);
  places.look();
  std::ignore = co_await later.acquire().within(1ms);
  places.look();
}

TYPED_TEST(strands, a_task_stays_in_the_strand_that_it_was_spawned_on) {
  semaphore ready(1);
  semaphore later(0);
  const auto made = spawn(this->mine, keeps_to_its_strand(*this, ready, later));
  this->once_queued(later, 1, [&] { later.release(); });
  this->run(6);
  EXPECT_TRUE(made.ready());
}

template <class Context>
task<> waits_for_a_condition(strands<Context>& places, mutex& m, condition& changed, const std::atomic<bool>& ready) {
  auto held = co_await m.scoped_lock();
  auto asks = [&] {
    places.look();
    return ready.load();
  };
  co_await changed.wait(held, asks);
  places.look();
}

TYPED_TEST(strands, a_task_that_waits_for_a_condition_asks_and_resumes_in_its_strand) {
  mutex m;
  condition changed;
  std::atomic<bool> ready{false};
  const auto made = spawn(this->mine, waits_for_a_condition(*this, m, changed, ready));
  this->once_queued(changed, 1, [&] {
    ready = true;
    changed.notify_one();
  });
  this->run(3);
  EXPECT_TRUE(made.ready());
}

template <class Context>
task<> notes_in_the_other(strands<Context>& places, std::atomic<int>& noted) {
  if (places.away()) ++noted;
  co_await moves_to(places.mine);
  co_await yield();
  if (places.away()) ++noted;
}

template <class Context>
task<> runs_others(strands<Context>& places, std::atomic<int>& noted) {
  auto there = spawn(places.other, notes_in_the_other(places, noted));
  co_await there.get();
  places.look();
  pool jobs(places.other, 1);
  auto first = co_await jobs.submit(notes_in_the_other(places, noted));
  places.look();
  auto second = co_await jobs.submit(notes_in_the_other(places, noted));
  places.look();
  co_await jobs.join();
  places.look();
  const std::vector<int> items(2);
  const auto body = [&](int) { return notes_in_the_other(places, noted); };
  co_await for_each(places.other, items, 1, body);
  places.look();
}

TYPED_TEST(strands, what_a_task_runs_in_another_strand_runs_there_and_the_task_resumes_in_its_own) {
  std::atomic<int> noted{0};
  const auto made = spawn(this->mine, runs_others(*this, noted));
  this->run(5);
  EXPECT_TRUE(made.ready());
  EXPECT_EQ(noted, 10);
}

template <class Context>
task<> awaits_asio(strands<Context>& places, asio::io_context& elsewhere) {
  asio::steady_timer timer(elsewhere, 1ms);
  co_await timer.async_wait(use_task);
  places.look();
  timer.expires_after(1ms);
  co_await timer.async_wait(asio_tokens::deferred);
  places.look();
  asio::steady_timer bound(places.other, 1ms);
  co_await bound.async_wait(use_task);
  places.look();
  event set(true);
  co_await set.wait();
  places.look();
}

TYPED_TEST(strands, a_task_resumes_in_its_strand_after_an_operation_of_asio_that_completes_elsewhere) {
  asio::io_context elsewhere;
  auto working = asio::make_work_guard(elsewhere);
  const std::jthread thread([&] { elsewhere.run(); });
  const auto made = spawn(this->mine, awaits_asio(*this, elsewhere));
  this->run(4);
  EXPECT_TRUE(made.ready());
  working.reset();
}

template <class Context>
task<> leaves(strands<Context>& places) {
  co_await moves_to(places.other);
  EXPECT_TRUE(places.away());
}

template <class Context>
task<> comes_home(strands<Context>& places, semaphore& ready) {
  co_await moves_to(places.other);
  EXPECT_TRUE(places.away());
  co_await ready.acquire();
  places.look();
  co_await ready.acquire().resume_on(places.other);
  EXPECT_TRUE(places.away());
  co_await ready.acquire();
  places.look();
  co_await leaves(places);
  EXPECT_TRUE(places.away()) << "a child that ended elsewhere leaves its parent there";
  co_await ready.acquire();
  places.look();
  co_await when_all(leaves(places), leaves(places));
  co_await ready.acquire();
  places.look();
  co_await leaves(places);
  co_await yield();
  places.look();
  co_await leaves(places);
  asio::steady_timer timer(places.other, 1ms);
  co_await timer.async_wait(use_task);
  places.look();
  co_await leaves(places);
  std::ignore = co_await ready.acquire().within(0s);
  places.look();
}

TYPED_TEST(strands, a_task_that_has_left_its_strand_is_back_after_its_next_wait) {
  semaphore ready(5);
  const auto made = spawn(this->mine, comes_home(*this, ready));
  this->run(7);
  EXPECT_TRUE(made.ready());
}

TYPED_TEST(strands, a_task_on_a_type_erased_strand_is_back_after_its_next_wait) {
  semaphore ready(5);
  const auto made = spawn(asio::any_io_executor(this->mine), comes_home(*this, ready));
  this->run(7);
  EXPECT_TRUE(made.ready());
}

template <class Context>
task<> leaves_and_waits(strands<Context>& places, semaphore& ready) {
  co_await leaves(places);
  co_await ready.acquire();
  places.look();
}

template <class Context>
task<> is_away_with_children(strands<Context>& places, semaphore& ready) {
  co_await leaves(places);
  co_await when_all(leaves_and_waits(places, ready), leaves_and_waits(places, ready));
  places.look();
  co_await ready.acquire();
  places.look();
}

TYPED_TEST(strands, children_of_a_task_that_is_away_come_home_and_so_does_their_parent) {
  semaphore ready(3);
  const auto made = spawn(this->mine, is_away_with_children(*this, ready));
  this->run(4);
  EXPECT_TRUE(made.ready());
}

TYPED_TEST(strands, the_awaitables_of_a_pool_stay_in_its_strand) {
  pool jobs(this->mine, 1);
  semaphore ready(1);
  semaphore later(0);
  const auto waits = [](strands<TypeParam>& places, semaphore& first, semaphore& second) -> asio::awaitable<void> {
    places.look();
    co_await first.acquire()(asio::use_awaitable);
    places.look();
    co_await second.acquire()(asio::use_awaitable);
    places.look();
  };
  asio::post(this->other, [&] {
    auto submits = jobs.submit(waits(*this, ready, later));
    std::move(submits)(asio::bind_executor(this->mine, this->looks()));
  });
  this->once_queued(later, 1, [&] { later.release(); });
  this->run(4);
}

TYPED_TEST(strands, limits_of_strands_over_type_erased_executors_are_not_delayed_by_each_other) {
  const auto erased = asio::any_io_executor(this->runs.context.get_executor());
  const auto blocked = asio::make_strand(erased);
  const auto free = asio::make_strand(erased);
  semaphore sem(0);
  std::promise<void> expired;
  auto over = expired.get_future();
  bool in_time = false;
  sem.acquire().within(1us)(asio::bind_executor(blocked, [&](net_error) {
    EXPECT_TRUE(blocked.running_in_this_thread());
    sem.acquire().within(1ms)(asio::bind_executor(free, [&](net_error) {
      EXPECT_TRUE(free.running_in_this_thread());
      expired.set_value();
    }));
    in_time = over.wait_for(30s) == std::future_status::ready;
  }));
  this->runs.run();
  EXPECT_TRUE(in_time);
}

TYPED_TEST(strands, a_limit_is_not_delayed_by_a_long_handler_of_another_strand) {
  semaphore sem(0);
  std::promise<void> expired;
  auto over = expired.get_future();
  bool in_time = false;
  sem.acquire().within(1us)(asio::bind_executor(this->other, [&](net_error) {  // the first limit of this context
    sem.acquire().within(1ms)(asio::bind_executor(this->mine, [&](net_error) { expired.set_value(); }));
    in_time = over.wait_for(30s) == std::future_status::ready;
  }));
  this->runs.run();
  EXPECT_TRUE(in_time);
}

TYPED_TEST(strands, a_limit_of_a_task_is_not_delayed_by_a_long_handler_of_another_strand) {
  semaphore sem(0);
  std::promise<void> expired;
  auto over = expired.get_future();
  bool in_time = false;
  const auto waits = [](semaphore& wanted, std::promise<void>& done) -> task<> {
    std::ignore = co_await wanted.acquire().within(1ms);
    done.set_value();
  };
  const auto blocks = [](semaphore& wanted, std::future<void>& until, bool& ready) -> task<> {
    std::ignore = co_await wanted.acquire().within(1us);
    ready = until.wait_for(30s) == std::future_status::ready;
  };
  std::ignore = spawn(asio::any_io_executor(this->other), blocks(sem, over, in_time));
  std::ignore = spawn(asio::any_io_executor(this->mine), waits(sem, expired));
  this->runs.run();
  EXPECT_TRUE(in_time);
}

TYPED_TEST(strands, a_wait_that_is_granted_is_not_delayed_by_a_long_handler_of_another_strand) {
  semaphore sem(0);
  std::promise<void> resumed;
  auto over = resumed.get_future();
  bool in_time = false;
  sem.acquire()(asio::bind_executor(this->mine, [&](net_error) { resumed.set_value(); }));
  sem.acquire()(asio::bind_executor(this->other, [&](net_error) {
    sem.release();
    in_time = over.wait_for(30s) == std::future_status::ready;
  }));
  sem.acquire()(asio::bind_executor(this->mine, [&](net_error) {}));
  sem.release(2);
  this->runs.run();
  EXPECT_TRUE(in_time);
}

}  // namespace
}  // namespace weir::test
