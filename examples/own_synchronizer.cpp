// A synchronizer of one's own, with every way of waiting and every limit: a countdown that is waited for.

#include <chrono>
#include <cstddef>

#include <weir/weir.hpp>

namespace {

// [own_synchronizer]
namespace core = weir::core;

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

  struct wait_op {
    using value_type = void;
    using node = core::waiter;  // derive from it to store more with each wait

    core::answer try_now(node& asking) noexcept { return judge(of->load(), asking); }
    core::answer start(node& starting, core::completion&) noexcept {
      locked lock(*of);
      const auto now = judge(lock.state, starting);
      return now == core::answer::not_ready ? of->enqueue(lock, starting) : now;
    }
    bool withdraw(node& queued, core::completion&) noexcept {
      locked lock(*of);
      return of->unlink(lock, queued);
    }
    void give_back(node&) noexcept {}  // a wait takes nothing
    void take(node&) noexcept {}

    static core::answer judge(word state, node& waiter) noexcept {
      if ((state & closed_bit) != 0) return waiter.decide(core::outcome::closed);
      return state >> own_shift == 0 ? waiter.decide(core::outcome::granted) : core::answer::not_ready;
    }
    countdown* of;
  };

  auto wait() noexcept { return weir::operation<wait_op>(wait_op{this}); }
};
// [own_synchronizer]

}  // namespace

int main() {
  countdown ready(1);
  const auto early = ready.wait().within(std::chrono::milliseconds(5)).wait();
  ready.count_down();
  return early.error() == weir::errc::timed_out && ready.wait().as_result().wait() ? 0 : 1;
}
