// Included by one file with NDEBUG and by one without.

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include <mixed/mixed.hpp>

namespace mixed {
namespace {

struct here final : actions {
  acquiring describe(weir::semaphore& sem) override { return sem.acquire(); }
  void wait(acquiring described) override { std::move(described).wait(); }
  void destroy_moved(acquiring& moved) override { wait(std::move(moved)); }
  pushing describe_push(weir::queue<int>& q, int item) override { return q.push(item); }
  bool wait_with_a_limit(pushing described) override {
    return std::move(described).within(std::chrono::seconds(0)).wait().has_value();
  }
  weir::permit take(weir::semaphore& sem, std::size_t count) override { return sem.scoped_acquire(count).wait(); }
  void drop(weir::permit held) override { held.release(); }
  weir::permit split(weir::permit& held) override { return held.split(1); }
  std::unique_ptr<weir::semaphore> make_semaphore() override { return std::make_unique<weir::semaphore>(2u, 2u); }
  void destroy(std::unique_ptr<weir::semaphore> sem) override { sem.reset(); }
  weir::task<int> count(weir::semaphore& sem) override {
    auto kept = sem.acquire();
    const weir::permit other = co_await sem.scoped_acquire();
    co_await weir::yield();
    co_await std::move(kept);
    sem.release();
    co_return 1;
  }
  weir::future<int> spawn(weir::thread_pool& where, weir::task<int> body) override {
    return weir::spawn(where, std::move(body));
  }
  std::unique_ptr<weir::thread_pool> make_threads() override { return std::make_unique<weir::thread_pool>(1u); }
  void destroy(std::unique_ptr<weir::thread_pool> threads) override { threads.reset(); }
};

}  // namespace
}  // namespace mixed
