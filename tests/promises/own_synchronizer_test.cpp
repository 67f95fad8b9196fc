// What a synchronizer of somebody else's may do.

#include <chrono>
#include <optional>
#include <system_error>
#include <tuple>

#include <gtest/gtest.h>

#include <weir/core/operation.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/run/timers.hpp>
#include <weir/wait/operation.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

/// Ends the waits for it as their own limits would.
class lease : public core::synchronizer {
 public:
  lease() noexcept : synchronizer(0) {}
  ~lease() { shut(); }

  void expire() noexcept {
    core::completion done;
    locked lock(*this);
    complete_all(lock, core::outcome::timed_out, done);
  }

  class wait_op {
   public:
    using value_type = void;
    using node = core::waiter;

    explicit wait_op(lease& waited) noexcept : lease_(&waited) {}
    core::answer try_now(node&) noexcept { return core::answer::not_ready; }
    core::answer start(node& starting, core::completion&) noexcept {
      locked lock(*lease_);
      return lease_->enqueue(lock, starting);
    }
    bool withdraw(node& queued, core::completion&) noexcept {
      locked lock(*lease_);
      return lease_->unlink(lock, queued);
    }
    void give_back(node&) noexcept {}
    void take(node&) noexcept {}

   private:
    lease* lease_;
  };
  auto wait() noexcept { return operation<wait_op>(wait_op(*this)); }
};

TEST(own_synchronizer, one_that_says_timed_out_itself_leaves_no_timer_behind) {
  manual_timers clock;
  use_timers used(clock);
  lease held;
  std::error_code told;
  std::ignore = held.wait().within(1s).start([&](const result<>& ended) { told = ended.error(); });
  held.expire();
  EXPECT_EQ(told, errc::timed_out);
  EXPECT_EQ(clock.fire_expired(), std::nullopt) << "nothing is armed";
}

}  // namespace
}  // namespace weir
