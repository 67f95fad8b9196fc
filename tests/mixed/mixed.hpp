#pragma once

// One program of files that are compiled with and without NDEBUG: the linker merges their inline functions, so each
// check of a debug file may meet what a release file has done, and the other way round. What each kind does is declared
// once here, and defined by both in actions.hpp.

#include <weir/weir.hpp>

namespace mixed {

using acquiring = decltype(std::declval<weir::semaphore&>().acquire());
using pushing = decltype(std::declval<weir::queue<int>&>().push(1));

struct actions {
  virtual acquiring describe(weir::semaphore& sem) = 0;
  virtual void wait(acquiring described) = 0;
  virtual void destroy_moved(acquiring& moved) = 0;
  virtual pushing describe_push(weir::queue<int>& q, int item) = 0;
  virtual bool wait_with_a_limit(pushing described) = 0;
  virtual weir::permit take(weir::semaphore& sem, std::size_t count) = 0;
  virtual void drop(weir::permit held) = 0;
  virtual weir::permit split(weir::permit& held) = 0;
  virtual std::unique_ptr<weir::semaphore> make_semaphore() = 0;
  virtual void destroy(std::unique_ptr<weir::semaphore> sem) = 0;
  virtual weir::task<int> count(weir::semaphore& sem) = 0;
  virtual weir::future<int> spawn(weir::thread_pool& where, weir::task<int> body) = 0;
  virtual std::unique_ptr<weir::thread_pool> make_threads() = 0;
  virtual void destroy(std::unique_ptr<weir::thread_pool> threads) = 0;

 protected:
  ~actions() = default;
};

actions& checked();
actions& unchecked();

}  // namespace mixed
