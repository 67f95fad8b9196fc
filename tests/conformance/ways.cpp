#include <conformance/ways.hpp>

#include <weir/spawn.hpp>

namespace weir::test {

coroutine_way::coroutine_way() = default;
coroutine_way::~coroutine_way() = default;

void coroutine_way::keep(foreign started) noexcept { waits_.push_back(std::move(started)); }

task_way::task_way() = default;
task_way::~task_way() { executor_.run_all(); }

void task_way::run(task<> waiting) noexcept {
  spawned_.push_back(spawn(executor_, std::move(waiting)));
  executor_.run_all();
}

void task_way::let_happen(subject&, std::size_t) { executor_.run_all(); }

callback_way::callback_way() = default;
callback_way::~callback_way() = default;

void callback_way::keep(ticket started) noexcept { tickets_.push_back(std::move(started)); }

posted_callback_way::posted_callback_way() = default;
posted_callback_way::~posted_callback_way() = default;

void posted_callback_way::run(ticket started) noexcept {
  tickets_.push_back(std::move(started));
  executor_.run_all();
}

void posted_callback_way::let_happen(subject&, std::size_t) { executor_.run_all(); }

thread_way::thread_way() = default;
thread_way::~thread_way() = default;

void thread_way::run(subject& test, const asked& wait, void (*waiting)(subject&, const asked&)) noexcept {
  const std::size_t queued = test.waiting();
  const std::size_t ended = test.ended();
  threads_.emplace_back([waiting, &test, &wait] { waiting(test, wait); });
  while (test.waiting() == queued && test.ended() == ended) std::this_thread::yield();
}

void thread_way::let_happen(subject& test, std::size_t n) {
  while (test.ended() < n) std::this_thread::yield();
}

}  // namespace weir::test
