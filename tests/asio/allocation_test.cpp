// G8 under Asio: one allocation by weir for a waiting handler, through its allocator; none for a waiting task.

#include <cstddef>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <asio/binding.hpp>
#include <support/allocations.hpp>

namespace weir::test {
namespace {

struct tally {
  int allocated = 0;
  int freed = 0;
};

template <class T>
class counting {
 public:
  using value_type = T;

  explicit counting(tally& into) noexcept : into_(&into) {}
  template <class U>
  counting(const counting<U>& other) noexcept : into_(other.into_) {}

  T* allocate(std::size_t n) {
    ++into_->allocated;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    ++into_->freed;
    std::allocator<T>().deallocate(memory, n);
  }
  friend bool operator==(const counting&, const counting&) noexcept = default;

 private:
  template <class U>
  friend class counting;
  tally* into_;
};

struct counted_handler {
  using allocator_type = counting<void>;
  using executor_type = asio::io_context::executor_type;

  tally* count;
  asio::io_context* io;
  int* called;

  [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(*count); }
  [[nodiscard]] executor_type get_executor() const noexcept { return io->get_executor(); }
  void operator()(net_error) const {
    EXPECT_EQ(count->freed, 1) << "its memory is free again when it is called";
    ++*called;
  }
};

TEST(asio_allocation, G8_a_waiting_handler_costs_one_allocation_through_its_allocator) {
  asio::io_context io;
  semaphore sem(0);
  tally count;
  int called = 0;
  sem.acquire()(counted_handler{&count, &io, &called});
  EXPECT_EQ(count.allocated, 1);
  sem.release();
  io.run();
  EXPECT_EQ(called, 1);
  EXPECT_EQ(count.allocated, 1);
  EXPECT_EQ(count.freed, 1);
}

TEST(asio_allocation, G8_starting_to_wait_with_a_plain_handler_allocates_once_at_most) {
  asio::io_context io;
  semaphore sem(0);
  int called = 0;
  auto counts = [&](net_error) { ++called; };
  sem.acquire()(asio::bind_executor(io.get_executor(), counts));  // the service of the context
  const auto before = allocations();
  sem.acquire()(asio::bind_executor(io.get_executor(), counts));
  EXPECT_LE(allocations() - before, 1u) << "Asio recycles it";
  sem.release(2);
  io.run();
  EXPECT_EQ(called, 2);
}

task<> hands_over(semaphore& mine, semaphore& others, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await mine.acquire();
    others.release();
  }
}

TEST(asio_allocation, G8_a_waiting_task_allocates_nothing) {
  constexpr int rounds = 100;
  asio::io_context io;
  semaphore a(1);
  semaphore b(0);
  auto one = spawn(io.get_executor(), hands_over(a, b, rounds));
  auto two = spawn(io.get_executor(), hands_over(b, a, rounds));
  for (int i = 0; i < 20; ++i) io.run_one();  // Asio keeps the memory of its posts and uses it again
  const auto before = allocations();
  while (!two.ready()) io.run_one();
  EXPECT_EQ(allocations() - before, 0u);
  EXPECT_TRUE(one.ready());
}

}  // namespace
}  // namespace weir::test
