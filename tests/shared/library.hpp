#pragma once

// What each library of these tests offers: the same calls, linked into each of them and hidden there. What they are
// given was made by the program or by another library.

#include <system_error>

#include <weir/asio.hpp>
#include <weir/weir.hpp>

namespace weir::test {

struct library {
  owner_id (*makes_an_owner)();
  owner_id (*owner_of_this_thread)();

  /// Both wait for nothing: what was wrong, if it was not to be had at once.
  std::error_code (*locks)(mutex&);
  std::error_code (*locks_again)(recursive_mutex&);

  /// Waits for a limit to pass, and tells what error that is.
  std::error_code (*times_out)();
  bool (*knows_as_timed_out)(std::error_code);
  /// A limit that is far away, and is not needed any more when this returns.
  void (*uses_a_limit_in_vain)();
  /// Calls it on the timer thread, once the limit has passed.
  void (*calls_after_a_limit)(void (*call)(void*), void* argument);
  /// Arms a limit of an hour.
  void (*starts_to_wait)(semaphore&, void (*call)(void*), void* argument);

  void (*on)(event&, void (*call)(void*), void* argument);
  void (*sets)(event&);

  thread_pool* (*makes_a_pool)();
  void (*ends_pool)(thread_pool*);
  /// Yields whether the mutex was refused to the task as one that it holds.
  future<bool> (*spawns)(executor_ref, mutex&);

  pool* (*makes_a_pool_on)(asio::io_context&);
  void (*ends_pool_on)(pool*);
  /// Yields 1, by an asio::awaitable.
  future<int> (*submits_an_awaitable)(pool&);

  /// All of that, by itself.
  int (*runs_an_awaitable)(asio::io_context&);

  /// From here on a static destructor of the library uses limits and errors.
  void (*uses_limits_at_exit)();
};

}  // namespace weir::test
