// G15: who outlives whom. A context that goes destroys what is pending there; a synchronizer that goes completes it.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <asio/binding.hpp>
#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir::test {
namespace {

using namespace std::chrono_literals;

TEST(asio_life, a_pending_operation_counts_as_work) {
  asio::io_context io;
  semaphore sem(0);
  bool called = false;
  sem.acquire()(asio::bind_executor(io, [&](net_error) { called = true; }));
  EXPECT_EQ(io.poll(), 0u);
  EXPECT_FALSE(io.stopped()) << "there is work to do";
  sem.release();
  io.run();
  EXPECT_TRUE(called);
  EXPECT_TRUE(io.stopped());
}

TEST(asio_life, destroying_the_context_destroys_what_is_pending_without_calling_it) {
  semaphore sem(0);
  auto witness = std::make_shared<int>(0);
  {
    asio::io_context io;
    auto never = [witness](net_error) { ADD_FAILURE() << "called"; };
    sem.acquire()(asio::bind_executor(io, never));
    sem.acquire().within(1h)(asio::bind_executor(asio::make_strand(io), never));
    sem.acquire()(asio::bind_executor(asio::any_io_executor(io.get_executor()), never));
    EXPECT_EQ(sem.waiting(), 3u);
  }
  EXPECT_EQ(sem.waiting(), 0u);
  EXPECT_EQ(witness.use_count(), 1);
  sem.release();
  EXPECT_EQ(sem.available(), 1u);
}

TEST(asio_life, destroying_the_context_gives_back_what_was_granted) {
  semaphore sem(0);
  queue<int> items;
  {
    asio::io_context io;
    sem.acquire(2)(asio::bind_executor(io, [](net_error) { ADD_FAILURE() << "called"; }));
    items.pop()(asio::bind_executor(io, [](net_error, std::optional<int>) { ADD_FAILURE() << "called"; }));
    sem.release(2);
    items.try_push(7);
    EXPECT_EQ(sem.available(), 0u);
  }
  EXPECT_EQ(sem.available(), 2u);
  EXPECT_EQ(items.try_pop(), 7);
}

// The first of the two is granted and destroyed; what it gives back is granted to the second, which is ready behind it.
TEST(asio_life, what_a_context_that_goes_gives_back_may_be_granted_to_another_that_goes) {
  semaphore sem(0);
  semaphore other(0);
  {
    asio::io_context io;
    const auto never = [](net_error) { ADD_FAILURE() << "called"; };
    other.acquire()(asio::bind_executor(io, never));
    sem.acquire()(asio::bind_executor(io, never));
    sem.acquire()(asio::bind_executor(io, never));
    sem.release();
    other.release();
  }
  EXPECT_EQ(sem.available(), 1u);
  EXPECT_EQ(other.available(), 1u);
}

TEST(asio_life, what_is_ready_on_a_strand_that_nobody_else_holds_goes_with_its_context) {
  semaphore sem(0);
  {
    asio::io_context io;
    const auto never = [](net_error) { ADD_FAILURE() << "called"; };
    sem.acquire()(asio::bind_executor(io, never));  // weir's service is there before that of strands
    sem.acquire()(asio::bind_executor(asio::make_strand(io), never));
    sem.release(2);
  }
  EXPECT_EQ(sem.available(), 2u);
}

TEST(asio_life, destroying_the_context_destroys_its_tasks_and_gives_back_what_they_hold) {
  mutex m;
  semaphore sem(0);
  std::optional<future<int>> made;
  bool destroyed = false;
  struct notes {
    explicit notes(bool& into) : gone(&into) {}
    ~notes() { *gone = true; }
    bool* gone;
  };
  {
    asio::io_context io;
    auto waits = [](mutex& locks, semaphore& never, bool& gone) -> task<int> {
      const notes witness(gone);
      auto held = co_await locks.scoped_lock();
      co_await never.acquire();
      co_return 1;
    };
    made = spawn(io.get_executor(), waits(m, sem, destroyed));
    io.poll();
    EXPECT_TRUE(m.locked());
  }
  EXPECT_TRUE(destroyed);
  EXPECT_FALSE(m.locked());
  EXPECT_EQ(sem.waiting(), 0u);
  EXPECT_EQ(made->get().as_result().wait().error(), errc::closed);
}

TEST(asio_life, a_task_that_was_granted_and_not_resumed_gives_back) {
  semaphore sem(0);
  std::optional<future<>> made;
  std::optional<future<>> unstarted;
  {
    asio::io_context io;
    auto waits = [](semaphore& wanted) -> task<> { co_await wanted.acquire(); };
    made = spawn(io.get_executor(), waits(sem));
    io.poll();
    sem.release();
    unstarted = spawn(io.get_executor(), waits(sem));
    EXPECT_EQ(sem.available(), 0u);
  }
  EXPECT_EQ(sem.available(), 1u);
  EXPECT_EQ(made->get().as_result().wait().error(), errc::closed);
  EXPECT_EQ(unstarted->get().as_result().wait().error(), errc::closed);
}

TEST(asio_life, a_pool_that_outlives_its_context_has_nothing_running) {
  semaphore never(0);
  auto io = std::make_unique<asio::io_context>();
  pool jobs(io->get_executor(), 1);
  auto waits = [](semaphore& wanted) -> task<> { co_await wanted.acquire(); };
  auto made = jobs.submit(waits(never)).wait();
  promise<> into;
  auto second = into.get_future();
  io->poll();
  EXPECT_EQ(jobs.running(), 1u);
  io.reset();
  EXPECT_EQ(jobs.running(), 0u);
  EXPECT_EQ(never.waiting(), 0u);
  EXPECT_EQ(made.get().as_result().wait().error(), errc::closed);
  EXPECT_TRUE(jobs.join().within(0s).wait());
}

TEST(asio_life, destroying_a_context_with_awaitables_that_hold_locks_leaks_nothing) {
  mutex m;
  ASSERT_TRUE(m.try_lock());
  auto witness = std::make_shared<int>(0);
  {
    asio::io_context io;
    auto waits = [&, witness]() -> asio::awaitable<void> {
      auto held = co_await m.async_scoped_lock(asio::use_awaitable);
      ADD_FAILURE() << "resumed";
    };
    for (int i = 0; i < 3; ++i) asio::co_spawn(io, waits, asio::detached);
    io.poll();
    EXPECT_EQ(m.waiting(), 3u);
    m.unlock();  // granted to the first, which is destroyed with it: then to the next, …
  }
  EXPECT_FALSE(m.locked());
  EXPECT_EQ(m.waiting(), 0u);
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(asio_life, an_awaitable_that_was_never_started_goes_quietly) {
  semaphore sem(1);
  {
    asio::io_context io;
    asio::co_spawn(io, sem.async_acquire(asio::use_awaitable), asio::detached);
  }
  EXPECT_EQ(sem.available(), 1u);
}

TEST(asio_life, G11_a_synchronizer_that_is_destroyed_first_completes_with_closed) {
  asio::io_context io;
  std::optional<semaphore> sem(std::in_place, 0);
  net_error got;
  sem->acquire()(asio::bind_executor(io, [&](net_error error) { got = error; }));
  sem.reset();
  io.run();
  EXPECT_EQ(std::error_code(got), errc::closed);
}

TEST(asio_life, G6_a_handler_may_destroy_its_synchronizer) {
  asio::io_context io;
  std::optional<semaphore> sem(std::in_place, 0);
  int called = 0;
  for (int i = 0; i < 2; ++i) {
    sem->acquire()(asio::bind_executor(io, [&](net_error) {
      ++called;
      sem.reset();
    }));
  }
  sem->release();
  io.run();
  EXPECT_EQ(called, 2);
}

TEST(asio_life, a_handler_may_keep_its_context_and_weir_keeps_nothing_of_it) {
  auto io = std::make_shared<asio::io_context>();
  const std::weak_ptr<asio::io_context> watched = io;
  event e;
  bool called = false;
  e.wait()(asio::bind_executor(*io, [keeps = io, &called](net_error) { called = true; }));
  std::jthread runs([owns = io]() mutable {
    owns->run();
    owns.reset();
  });
  e.set();
  io.reset();  // not before: whoever posts to a context keeps it
  runs.join();
  EXPECT_TRUE(called);
  EXPECT_TRUE(watched.expired());
}

TEST(asio_life, a_task_in_a_pool_counts_as_work_until_it_has_ended_and_no_longer) {
  asio::io_context io;
  pool jobs(io.get_executor(), 2);
  semaphore sem(0);
  auto waits = [](semaphore& wanted) -> task<> { co_await wanted.acquire(); };
  auto first = jobs.submit(waits(sem)).wait();
  auto second = jobs.submit(waits(sem)).wait();
  io.poll();
  EXPECT_FALSE(io.stopped()) << "two are pending";
  sem.release();
  io.poll();
  EXPECT_FALSE(io.stopped()) << "one is pending";
  sem.release();
  io.run();
  EXPECT_TRUE(first.ready() && second.ready());
  EXPECT_TRUE(io.stopped());
}

TEST(asio_life, the_context_of_a_thread_pool_destroys_what_is_pending_too) {
  semaphore sem(0);
  {
    asio::thread_pool threads(2);
    sem.acquire()(asio::bind_executor(threads, [](net_error) { ADD_FAILURE() << "called"; }));
    threads.stop();
    threads.join();
  }
  EXPECT_EQ(sem.waiting(), 0u);
}

TEST(asio_life, a_task_that_awaits_asio_is_destroyed_with_its_context) {
  std::optional<future<>> made;
  {
    asio::io_context io;
    auto waits = [](asio::io_context& where) -> task<> {
      asio::steady_timer timer(where, 1h);
      co_await timer.async_wait(use_task);
      ADD_FAILURE() << "resumed";
    };
    made = spawn(io.get_executor(), waits(io));
    io.poll();
  }
  EXPECT_EQ(made->get().as_result().wait().error(), errc::closed);
}

TEST(asio_life, a_coroutine_that_is_destroyed_while_it_awaits_asio_is_not_resumed) {
  asio::io_context io;
  asio::steady_timer timer(io, 1ms);
  auto waits = [](asio::steady_timer& slow) -> foreign {
    co_await slow.async_wait(use_task);
    ADD_FAILURE() << "resumed";
  };
  auto coroutine = waits(timer);
  coroutine.destroy();
  EXPECT_EQ(io.run(), 1u);
}

/// Everything at once, on a context that one or four threads run.
class asio_stress : public testing::TestWithParam<int> {};

TEST_P(asio_stress, G2_handlers_tasks_and_threads_with_limits_and_slots_lose_nothing) {
  constexpr int waits_each = 400;
  asio::io_context io(GetParam());
  semaphore sem(3);
  std::atomic<int> inside{0};
  std::atomic<int> too_many{0};
  auto holds = [&] {
    if (++inside > 3) ++too_many;
    --inside;
    sem.release();
  };
  auto as_awaitable = [&]() -> asio::awaitable<void> {
    for (int i = 0; i < waits_each; ++i) {
      auto [error] =
          co_await sem.acquire().within(std::chrono::microseconds(i % 60))(asio_tokens::as_tuple(asio::use_awaitable));
      if (!error) holds();
    }
  };
  auto without_limit = [&]() -> asio::awaitable<void> {
    for (int i = 0; i < waits_each; ++i) {
      co_await sem.acquire()(asio::use_awaitable);
      holds();
    }
  };
  auto as_task = [](semaphore& wanted, auto& held) -> task<> {
    for (int i = 0; i < waits_each; ++i) {
      if (co_await wanted.acquire().within(std::chrono::microseconds(i % 60))) held();
    }
  };
  auto with_slot = [&]() -> asio::awaitable<void> {
    using namespace asio_operators;
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (int i = 0; i < waits_each; ++i) {
      timer.expires_after(std::chrono::microseconds(i % 30));
      const auto first = co_await (sem.acquire()(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
      if (first.index() == 0) holds();
    }
  };
  std::vector<future<>> tasks;
  for (int i = 0; i < 3; ++i) {
    asio::co_spawn(asio::make_strand(io), as_awaitable, asio::detached);
    asio::co_spawn(asio::make_strand(io), with_slot, asio::detached);
    asio::co_spawn(io, without_limit, asio::detached);
    tasks.push_back(spawn(io.get_executor(), as_task(sem, holds)));
  }
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < GetParam(); ++i) threads.emplace_back([&] { io.run(); });
    threads.emplace_back([&] {
      for (int i = 0; i < waits_each; ++i) {
        if (sem.acquire().within(std::chrono::microseconds(i % 60)).wait()) holds();
      }
    });
  }
  EXPECT_EQ(too_many, 0);
  EXPECT_EQ(sem.available(), 3u);
  EXPECT_EQ(sem.waiting(), 0u);
}

INSTANTIATE_TEST_SUITE_P(threads, asio_stress, testing::Values(1, 4));

task<> ends_elsewhere(event& opened, manual_executor& there) { co_await opened.wait().resume_on(there); }

TEST(asio_life, a_pool_over_a_strand_has_let_go_of_it_when_it_is_joined) {
  manual_executor elsewhere;
  event opened;
  auto io = std::make_unique<asio::io_context>();
  std::optional<pool> jobs(std::in_place, asio::make_strand(*io), 1);
  std::ignore = jobs->try_submit(ends_elsewhere(opened, elsewhere));
  io->poll();
  opened.set();
  std::ignore = jobs->join().start([&](const result<>&) {
    jobs.reset();
    io.reset();
  });
  elsewhere.run_all();
  EXPECT_FALSE(io);
}

TEST(asio_life, a_task_that_goes_with_its_context_has_broken_its_promise_when_the_pool_is_joined) {
  auto io = std::make_unique<asio::io_context>();
  event never;
  pool jobs(io->get_executor(), 1);
  promise<> into;
  auto made = into.get_future();
  const auto waits = [](event& opened) -> task<> { co_await opened.wait(); };
  jobs.submit(waits(never), std::move(into)).wait();
  io->poll();
  bool ready = false;
  std::ignore = jobs.join().start([&](const result<>&) { ready = made.ready(); });
  io.reset();
  EXPECT_TRUE(ready);
}

/// Fails the test if it is called; counts how many of it live.
struct never_called {
  std::shared_ptr<int> alive = std::make_shared<int>();
  template <class... Args>
  void operator()(Args&&...) const {
    ADD_FAILURE() << "a handler was called";
  }
};

TEST(asio_life, a_callback_that_resumes_on_a_context_counts_as_work_until_it_has_been_called) {
  asio::io_context io;
  event ready;
  bool called = false;
  auto waits = ready.wait().resume_on(io.get_executor()).start([&](const result<>&) { called = true; });
  EXPECT_EQ(io.poll(), 0u);
  EXPECT_FALSE(io.stopped()) << "run() would return although a callback is pending";
  ready.set();
  EXPECT_EQ(io.run(), 1u);
  EXPECT_TRUE(called);
}

TEST(asio_life, a_callback_that_resumes_on_a_context_is_destroyed_with_it_and_gives_back) {
  semaphore sem(0);
  never_called pending;
  never_called granted;
  std::vector<ticket> tickets;
  {
    asio::io_context io;
    auto strand = asio::make_strand(io);
    tickets.push_back(sem.acquire().resume_on(strand).start(granted));
    sem.release();
    tickets.push_back(sem.acquire().resume_on(io.get_executor()).start(pending));
    EXPECT_EQ(granted.alive.use_count(), 2);
  }
  EXPECT_EQ(granted.alive.use_count(), 1);
  EXPECT_EQ(pending.alive.use_count(), 1);
  EXPECT_EQ(sem.available(), 1u);
  EXPECT_EQ(sem.waiting(), 0u);
  for (auto& each : tickets) {
    EXPECT_FALSE(each.cancel());
    EXPECT_FALSE(each.done()) << "the callback was not entered";
  }
}

TEST(asio_life, a_ticket_may_outlive_the_strand_of_its_callback) {
  std::optional<asio::io_context> io(std::in_place);
  event ready(true);
  auto waits = ready.wait().resume_on(asio::make_strand(*io)).start([](const result<>&) {});
  io->run();
  EXPECT_TRUE(waits.done());
  io.reset();
}

/// Starts something on a context from its destructor.
template <class Start>
struct starts_when_destroyed {
  explicit starts_when_destroyed(Start how) : start(std::make_unique<Start>(how)) {}
  starts_when_destroyed(starts_when_destroyed&&) noexcept = default;
  ~starts_when_destroyed() {
    if (start) (*start)();
  }
  void operator()() const {}
  std::unique_ptr<Start> start;
};

TEST(asio_life, what_is_started_on_a_context_that_is_being_destroyed_is_destroyed_at_once) {
  event never;
  never_called handler;
  future<> spawned;
  std::optional<future<>> submitted;
  const auto waits = [](event& until, never_called captured) -> task<> {
    co_await until.wait();
    captured();
  };
  {
    asio::io_context io;
    auto strand = asio::make_strand(io);
    auto jobs = std::make_shared<pool>(strand, 1);
    const auto start = [&, jobs, strand] {
      spawned = spawn(strand, waits(never, handler));
      submitted = jobs->try_submit(waits(never, handler));
      never.wait()(asio::bind_executor(strand, handler));
      std::ignore = never.wait().resume_on(strand).start(handler);
    };
    asio::post(io, starts_when_destroyed(start));
  }
  EXPECT_EQ(handler.alive.use_count(), 1) << "something that was started too late has leaked";
  EXPECT_EQ(never.waiting(), 0u);
  EXPECT_EQ(spawned.get().as_result().wait().error(), errc::closed);
  ASSERT_TRUE(submitted);
  EXPECT_EQ(submitted->get().as_result().wait().error(), errc::closed);
}

TEST(asio_life, a_pool_on_a_strand_may_outlive_its_context) {
  std::optional<asio::io_context> io(std::in_place);
  std::optional<pool> jobs(std::in_place, asio::make_strand(*io), 2);
  const auto nothing = []() -> task<> { co_return; };
  ASSERT_TRUE(jobs->try_submit(nothing()));
  io->run();
  io.reset();
  auto late = jobs->submit(nothing()).wait();
  EXPECT_EQ(late.get().as_result().wait().error(), errc::closed);
  EXPECT_TRUE(jobs->join().within(std::chrono::seconds(0)).wait());
  EXPECT_EQ(jobs->running(), 0u);
  jobs.reset();
}

TEST(asio_life, a_ticket_may_outlive_a_context_on_which_its_callback_was_started_too_late) {
  event never;
  ticket late;
  {
    asio::io_context io;
    std::ignore = spawn(io, []() -> task<> { co_return; }());
    auto strand = asio::make_strand(io);
    const auto start = [&, strand] { late = never.wait().resume_on(strand).start(never_called()); };
    asio::post(io, starts_when_destroyed(start));
  }
  EXPECT_FALSE(late.cancel());
  EXPECT_FALSE(late.done());
}

TEST(asio_life, the_first_use_of_a_context_may_come_while_it_is_destroyed) {
  event never;
  never_called handler;
  future<> spawned;
  std::optional<pool> jobs;
  const auto waits = [](event& until, never_called captured) -> task<> {
    co_await until.wait();
    captured();
  };
  {
    asio::io_context io;
    const auto start = [&] {
      spawned = spawn(io, waits(never, handler));
      jobs.emplace(io, 1);
      never.wait()(asio::bind_executor(io, handler));
    };
    asio::post(io, starts_when_destroyed(start));
  }
  EXPECT_EQ(handler.alive.use_count(), 1);
  EXPECT_EQ(spawned.get().as_result().wait().error(), errc::closed);
  EXPECT_EQ(jobs->submit(waits(never, handler)).wait().get().as_result().wait().error(), errc::closed);
  EXPECT_FALSE(core::unfinished_frame::is_being_destroyed());
}

TEST(asio_life, a_pool_that_is_made_on_a_context_that_is_being_destroyed_runs_nothing) {
  std::optional<pool> jobs;
  const auto nothing = []() -> task<> { co_return; };
  {
    asio::io_context io;
    std::ignore = spawn(io, nothing());
    const auto start = [&] { jobs.emplace(io, 1); };
    asio::post(io, starts_when_destroyed(start));
  }
  EXPECT_EQ(jobs->submit(nothing()).wait().get().as_result().wait().error(), errc::closed);
}

TEST(asio_life, a_signal_may_be_emitted_after_the_context_is_gone) {
  event never;
  asio::cancellation_signal signal;
  {
    asio::io_context io;
    never.wait()(asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(io, never_called())));
  }
  signal.emit(asio::cancellation_type::terminal);
  EXPECT_EQ(never.waiting(), 0u);
}

TEST(asio_life, a_pop_many_whose_queue_is_gone_when_its_slot_fires_gets_the_item_that_it_was_granted) {
  asio::io_context io;
  asio::cancellation_signal signal;
  std::optional<queue<int>> q(std::in_place);
  std::vector<int> got;
  q->pop_many(2)(asio::bind_cancellation_slot(
      signal.slot(), asio::bind_executor(io, [&](net_error, std::vector<int> items) { got = std::move(items); })));
  EXPECT_TRUE(q->try_push(1));
  q.reset();
  signal.emit(asio::cancellation_type::terminal);
  io.run();
  EXPECT_EQ(got, std::vector{1});
}

}  // namespace
}  // namespace weir::test
