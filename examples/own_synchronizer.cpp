// A synchronizer of one's own, with every way of waiting and every limit: a countdown that is waited for.

#include <chrono>
#include <cstddef>

#include <weir/weir.hpp>

namespace {

// [own_synchronizer]
namespace core = weir::core;

// [waking]
class countdown : public core::synchronizer {  // brings the queue, and waiting(), cancel_all(), close()
 public:
  explicit countdown(std::size_t from) noexcept : synchronizer(word{from} << own_shift) {}
  ~countdown() { shut(); }  // closes; before anything of it is gone

  void count_down() noexcept {
    core::completion done;  // declared before the lock: those who waited are told after it
    locked lock(*this);
    lock.state -= word{1} << own_shift;
    if (lock.state >> own_shift == 0) complete_all(lock, core::outcome::granted, done);
  }
  // [waking]

  struct wait_op {
    using value_type = void;
    using node = core::waiter;  // derive from it to store more with each wait

    // [starting]
    core::answer try_now(node& asking) noexcept { return judge(of->load(), asking); }
    core::answer start(node& starting, core::completion&) noexcept {
      locked lock(*of);
      const auto now = judge(lock.state, starting);
      return now == core::answer::not_ready ? of->enqueue(lock, starting) : now;
    }
    // [starting]
    // [leaving]
    bool withdraw(node& queued, core::completion&) noexcept {
      locked lock(*of);
      return of->unlink(lock, queued);
    }
    void give_back(node&) noexcept {}  // a wait takes nothing
    void take(node&) noexcept {}
    // [leaving]

    // [judge]
    static core::answer judge(word state, node& waiter) noexcept {
      if ((state & closed_bit) != 0) return waiter.decide(core::outcome::closed);
      return state >> own_shift == 0 ? waiter.decide(core::outcome::granted) : core::answer::not_ready;
    }
    // [judge]
    countdown* of;
  };

  // [wait]
  auto wait() noexcept { return weir::operation<wait_op>(wait_op{this}); }
  // [wait]
};
// [own_synchronizer]

// [test]
weir::task<bool> waits_for_two(countdown& ready, weir::event& stop) {
  auto first = co_await weir::select(stop.wait(), ready.wait());  // a place in select, for nothing
  co_return first.index() == 1;
}

bool every_way_of_waiting() {
  countdown ready(2);
  weir::event stop;
  weir::run_loop loop;
  int told = 0;
  auto by_callback = ready.wait().start([&told](weir::result<> got) { told += got ? 1 : 100; });
  auto given_up = ready.wait().start([&told](weir::result<> got) { told += got ? 100 : 1; });
  auto by_coroutine = weir::spawn(loop, waits_for_two(ready, stop));
  loop.finish();
  loop.run();  // it has queued

  bool right = ready.waiting() == 3 && given_up.cancel() && ready.waiting() == 2;  // out of the middle
  ready.count_down();
  right = right && ready.waiting() == 2;
  ready.count_down();  // lets both through
  loop.run();
  return right && told == 2 && ready.waiting() == 0 && stop.waiting() == 0 && by_coroutine.get().wait();
}

bool closing_tells_those_who_wait() {
  weir::result<> told;
  {
    countdown never(1);
    auto ticket = never.wait().start([&told](weir::result<> got) { told = got; });
  }  // the destructor closes
  return told.error() == weir::errc::closed;
}
// [test]

}  // namespace

int main() {
  countdown ready(1);
  const auto early = ready.wait().within(std::chrono::milliseconds(5)).wait();
  ready.count_down();
  const bool right = early.error() == weir::errc::timed_out && ready.wait().as_result().wait();
  return right && every_way_of_waiting() && closing_tells_those_who_wait() ? 0 : 1;
}
