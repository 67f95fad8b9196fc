// A library that blocks, and that is not safe to use from two threads, gets a thread of its own; the tasks that use it
// are elsewhere, and are back there afterwards, also with an exception.
//
// Prints:
//   7 rows, asked on the library's thread, used at home
//   no such table: told at home
//   a tour and back

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

struct where_called {
  std::thread::id thread;
};

/// Somebody else's: blocks.
int count_rows(const std::string& table, where_called& seen) {
  seen.thread = std::this_thread::get_id();
  std::this_thread::sleep_for(2ms);
  if (table.empty()) throw std::runtime_error("no such table");
  return 7;
}

// [blocking]
template <class Fn>
weir::task<std::invoke_result_t<Fn&>> call(Fn fn) {
  co_return fn();
}

/// Runs fn() on threads that may block. The caller resumes on its own executor.
template <class Fn>
weir::task<std::invoke_result_t<Fn&>> blocking(weir::thread_pool& may_block, Fn fn) {
  auto made = weir::spawn(may_block, call(std::move(fn)));
  co_return co_await made.get();  // the value of fn, or its exception
}

weir::task<int> rows_of(weir::thread_pool& library, std::string table, where_called& seen) {
  auto ask = [&] { return count_rows(table, seen); };  // with g++ 12 give it a name before the co_await
  co_return co_await blocking(library, ask);
}
// [blocking]

// [there_and_back]
weir::task<int> there_and_back(weir::thread_pool& library, weir::semaphore& licences, where_called& seen) {
  auto licence = co_await licences.scoped_acquire().resume_on(library);  // now on the library's thread
  const int rows = count_rows("tour", seen);
  co_await weir::yield();  // and back again
  co_return rows;
}
// [there_and_back]

weir::task<bool> use(weir::thread_pool& library) {
  const auto home = std::this_thread::get_id();
  auto at_home = [home] { return std::this_thread::get_id() == home; };
  where_called seen;
  const int rows = co_await rows_of(library, "orders", seen);
  bool right = rows == 7 && seen.thread != home && at_home();
  std::printf("%d rows, asked on the library's thread, used %s\n", rows, at_home() ? "at home" : "elsewhere");

  std::string told = "nothing";
  try {
    co_await rows_of(library, "", seen);
  } catch (const std::runtime_error& e) {
    told = e.what();
  }
  right = right && at_home();
  std::printf("%s: told %s\n", told.c_str(), at_home() ? "at home" : "elsewhere");

  weir::semaphore licences(1);
  const int again = co_await there_and_back(library, licences, seen);
  right = right && again == 7 && seen.thread != home && at_home();
  std::printf("a tour and %s\n", right ? "back" : "not back");
  co_return right;
}

}  // namespace

int main() {
  weir::thread_pool library(1);
  weir::thread_pool home(1);
  return weir::spawn(home, use(library)).get().wait() ? 0 : 1;
}
