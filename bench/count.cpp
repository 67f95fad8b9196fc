// The fast-path pairs, so many times each, for callgrind to count: `weir_count list`, `weir_count W1 1000`.

#include <cstdio>
#include <cstdlib>
#include <string>

#include <weir/weir.hpp>

namespace {

weir::task<> semaphore_rounds(weir::semaphore& semaphore, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await semaphore.acquire();
    semaphore.release();
  }
}

void w1(int rounds) {
  weir::semaphore semaphore(10);
  weir::sync_wait(semaphore_rounds(semaphore, rounds));
}

void w1_own_max(int rounds) {
  weir::semaphore semaphore(10, 10);
  weir::sync_wait(semaphore_rounds(semaphore, rounds));
}

weir::task<> mutex_rounds(weir::mutex& mutex, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await mutex.lock();
    mutex.unlock();
  }
}

void w2(int rounds) {
  weir::mutex mutex;
  weir::sync_wait(mutex_rounds(mutex, rounds));
}

void queue_try(int rounds) {
  weir::queue<int> queue(64);
  for (int i = 0; i < rounds; ++i) {
    if (!queue.try_push(i) || !queue.try_pop()) std::abort();
  }
}

weir::task<> queue_rounds(weir::queue<int>& queue, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await queue.push(i);
    const auto item = co_await queue.pop();
    if (!item) std::abort();
  }
}

void queue_await(int rounds) {
  weir::queue<int> queue(64);
  weir::sync_wait(queue_rounds(queue, rounds));
}

struct pair {
  const char* name;
  void (*run)(int rounds);
};

constexpr pair pairs[] = {
    {"W1", w1}, {"W1/own_max", w1_own_max}, {"W2", w2}, {"queue/try", queue_try}, {"queue/await", queue_await}};

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  for (const pair& each : pairs) {
    if (word == "list") std::puts(each.name);
    if (word == each.name && argc > 2) each.run(std::atoi(argv[2]));
  }
}
