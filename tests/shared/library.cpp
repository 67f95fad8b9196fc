// Linked into each of the libraries: see entry.cpp.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <tuple>

#include "library.hpp"

namespace weir::test {
namespace {

using namespace std::chrono_literals;

std::error_code times_out() {
  semaphore none(0);
  return none.acquire().within(1ms).wait().error();
}

task<bool> refuses_to_lock_twice(mutex& locked) {
  const auto held = co_await locked.scoped_lock();
  const auto again = co_await locked.lock().as_result();
  co_return again.error() == errc::would_deadlock;
}

asio::awaitable<int> gives_one() {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  co_return 1;
}

int runs_an_awaitable(asio::io_context& io) {
  pool jobs(io.get_executor(), 1);
  auto made = jobs.submit(gives_one()).wait();
  io.run();
  return made.get().wait();
}

/// Constructed when the library is loaded, before all statics that weir makes when they are needed: destroyed after
/// them.
struct last_user {
  ~last_user() {
    if (!wanted) return;
    const std::error_code error = times_out();
    if (error == errc::timed_out && error.message() == "the wait timed out" && error == std::errc::timed_out) return;
    std::fputs("a static destructor did not get the error that it knows\n", stderr);
    std::_Exit(1);
  }
  bool wanted = false;
} at_exit;

constexpr library all_calls{
    .makes_an_owner = [] { return owner_id::make(); },
    .owner_of_this_thread = [] { return owner_id::this_thread(); },
    .locks = [](mutex& wanted) { return wanted.lock().within(0s).wait().error(); },
    .locks_again = [](recursive_mutex& wanted) { return wanted.lock().within(0s).wait().error(); },
    .times_out = times_out,
    .knows_as_timed_out = [](std::error_code error) { return error == errc::timed_out; },
    .uses_a_limit_in_vain =
        [] {
          event now;
          std::ignore = now.wait().within(20ms).start([](const result<>&) {});
          now.set();
        },
    .calls_after_a_limit =
        [](void (*call)(void*), void* argument) {
          std::ignore = sleep_for(1ms).start([=](const result<>&) { call(argument); });
        },
    .starts_to_wait =
        [](semaphore& wanted, void (*call)(void*), void* argument) {
          std::ignore = wanted.acquire().within(1h).start([=](const result<>&) { call(argument); });
        },
    .on = [](event& set, void (*call)(void*),
             void* argument) { std::ignore = set.wait().start([=](const result<>&) { call(argument); }); },
    .sets = [](event& unset) { unset.set(); },
    .makes_a_pool = [] { return new thread_pool(2); },
    .ends_pool = [](thread_pool* made) { delete made; },
    .spawns = [](executor_ref where, mutex& locked) { return spawn(where, refuses_to_lock_twice(locked)); },
    .makes_a_pool_on = [](asio::io_context& io) { return new pool(io.get_executor(), 1); },
    .ends_pool_on = [](pool* made) { delete made; },
    .submits_an_awaitable = [](pool& jobs) { return jobs.submit(gives_one()).wait(); },
    .runs_an_awaitable = runs_an_awaitable,
    .uses_limits_at_exit = [] { at_exit.wanted = true; },
};

}  // namespace

const library* calls();
const library* calls() { return &all_calls; }

}  // namespace weir::test
