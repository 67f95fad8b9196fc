// Objects in states that are known, for gdb to look at: commands.gdb stops it in stop_here().

#include <thread>
#include <tuple>

#include <weir/weir.hpp>

namespace {

[[gnu::noinline]] void stop_here() { asm volatile(""); }

void yield_until(const auto& condition) {
  while (!condition()) std::this_thread::yield();
}

weir::task<> takes_four(weir::semaphore& sem) { co_await sem.acquire(4); }

/// One of each kind stands in line: a callback, a coroutine, a thread.
class line {
 public:
  explicit line(weir::semaphore& sem)
      : callback_(sem.acquire(3).start([](weir::result<>) {})),
        coroutine_(weir::spawn(loop_, takes_four(sem))),
        thread_([&sem] {
          yield_until([&] { return sem.waiting() == 2; });
          std::ignore = sem.acquire(5).as_result().wait();
        }) {
    loop_.finish();
    loop_.run();
    yield_until([&] { return sem.waiting() == 3; });
  }
  ~line() {
    thread_.join();
    loop_.run();
  }

 private:
  weir::run_loop loop_;
  weir::ticket callback_;
  weir::future<> coroutine_;
  std::thread thread_;
};

void states() {
  weir::semaphore sem(2, 9);
  line in_line(sem);
  weir::semaphore in_debt(1);
  in_debt.reduce(3);

  weir::mutex free_mutex;
  weir::mutex mutex;
  mutex.lock().wait();
  std::ignore = mutex.lock().start([](weir::result<>) {});
  weir::recursive_mutex recursive_mutex;
  recursive_mutex.lock().wait();
  recursive_mutex.lock().wait();
  weir::shared_mutex shared_mutex;
  shared_mutex.lock_shared().wait();
  shared_mutex.lock_shared().wait();
  std::ignore = shared_mutex.upgrade().start([](weir::result<>) {});

  weir::event event(true);
  weir::auto_reset_event auto_reset_event;
  auto_reset_event.close();
  weir::latch latch(3);
  weir::wait_group wait_group;
  wait_group.add(2);
  weir::barrier barrier(2);
  std::ignore = barrier.arrive();

  weir::queue<int> full(2);
  full.push(1).wait();
  full.push(2).wait();
  std::ignore = full.push(3).start([](weir::result<>) {});
  weir::queue<int> empty;
  std::ignore = empty.pop().start([](auto) {});

  const weir::result<int> value = 42;
  const weir::result<> timed_out = weir::errc::timed_out;

  stop_here();

  sem.close();
  mutex.close();
  mutex.unlock();
  recursive_mutex.unlock();
  recursive_mutex.unlock();
  shared_mutex.close();
  shared_mutex.unlock_shared();
  shared_mutex.unlock_shared();
  std::ignore = value;
  std::ignore = timed_out;
}

}  // namespace

int main() { states(); }
