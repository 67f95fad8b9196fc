#pragma once

// barrier: N participants meet, phase after phase: none continues before all have arrived.
//
// Who may call: every member may be called from any thread at any time. The destructor may run concurrently with
// tickets, timers and stop requests, but not with a member call or the start of a wait: destroy it only after every
// participant has been notified.
// Order: at the end of a phase the waiters are notified in FIFO order.
// Cancellation: a wait that gave up has lost nothing but its place. An arrival counts when it is made
// (arrive_and_wait(): when it is started) and stays counted if the wait then gives up or loses a select. A closed
// barrier counts no more arrivals and does not start its completion function again.
// Completions: the last participant to arrive runs the completion function, without the lock, before any waiter is
// notified; then the phase ends. Each waiter resumes on its executor, its own thread, or the flat loop of the last
// participant's thread, after that call has done all its work.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include <weir/core/completion.hpp>
#include <weir/core/operation.hpp>
#include <weir/core/result.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

/// state: locked, queued, closed (core/synchronizer.hpp) and
///   bits 3…   the number of the phase; 2^61 phases never pass, so it does not wrap
/// size_, left_, dropped_, under the lock:
///   left_ > 0                 the phase is open, left_ of size_ have not arrived
///   left_ == 0, size_ > 0     the last to arrive runs the completion function (only if there is one)
///   left_ == 0, size_ == 0    all have dropped out
///
/// I1  Every undecided waiter in the queue waits for the end of the phase that the state names.
/// I2  left_ + dropped_ is at most size_.
///
/// Why no wake-up is lost: a waiter queues under the lock, after it has seen there that its phase has not ended.
/// Exactly one arrival brings left_ to 0. It ends the phase under the lock (the same critical section, or the next one
/// after its completion function) and completes the whole queue.
class barrier : public core::synchronizer {
 public:
  /// Creates a barrier for n participants. A completion function that throws terminates the program. Throws
  /// std::invalid_argument if n is 0.
  explicit barrier(std::size_t n, std::function<void()> on_completion = {})
      : synchronizer(0), on_completion_(std::move(on_completion)), size_(checked_start(n)), left_(n) {}

  /// Closes the barrier: every waiter gets errc::closed.
  ~barrier() { shut(); }

  /// One arrival, to be passed to wait(). Move-only; empty after it was moved from.
  class token {
   public:
    token(token&& from) noexcept : barrier_(std::exchange(from.barrier_, nullptr)), phase_(from.phase_) {}
    token& operator=(token&& from) noexcept {
      barrier_ = std::exchange(from.barrier_, nullptr);
      phase_ = from.phase_;
      return *this;
    }

   private:
    friend class barrier;
    token(const barrier& at, std::uint64_t phase) noexcept : barrier_(&at), phase_(phase) {}

    const barrier* barrier_;
    std::uint64_t phase_;
  };

  /// Arrives and does not wait. The last arrival ends the phase. Throws std::logic_error, and changes nothing, if all
  /// participants of this phase have arrived already.
  token arrive() { return token(*this, arrive("arrive", stays)); }

  /// Arrives, and is not expected in later phases. Throws as arrive() does.
  void arrive_and_drop() { arrive("arrive_and_drop", drops); }

  /// Waits until the phase of that arrival has ended. After a limit ended the wait, the same token can be waited with
  /// again. Fails with errc::closed. Throws std::invalid_argument if the token was moved from or belongs to another
  /// barrier.
  auto wait(const token& arrived) {
    if (arrived.barrier_ != this) {
      throw std::invalid_argument(arrived.barrier_ == nullptr
                                      ? "weir::barrier::wait(token): the token was moved from, it is of no arrival"
                                      : "weir::barrier::wait(token): the token is of another barrier");
    }
    return operation<wait_op>(wait_op(*this), arrived.phase_);
  }

  /// Arrives when it is started, then waits until the phase has ended. Fails with errc::closed; fails with
  /// std::logic_error, and changes nothing, if all participants of the phase have arrived already.
  auto arrive_and_wait() noexcept { return operation<wait_op>(wait_op(*this)); }

  /// The Asio spelling: arrive_and_wait()(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class CompletionToken>
  decltype(auto) async_wait(const token& arrived, CompletionToken&& completes) {
    return wait(arrived)(std::forward<CompletionToken>(completes));
  }
  template <class CompletionToken>
  decltype(auto) async_arrive_and_wait(CompletionToken&& completes) {
    return arrive_and_wait()(std::forward<CompletionToken>(completes));
  }

  /// Checks the invariants, which hold between any two calls. For tests.
  [[nodiscard]] bool check_invariants() noexcept {
    locked lock(*this);
    bool only_of_this_phase = true;
    for_each_undecided(lock, [&](core::waiter& queued) {
      only_of_this_phase = only_of_this_phase && static_cast<node&>(queued).phase == phase_in(lock.state);
    });
    return only_of_this_phase                               // I1
           && left_ <= size_ && dropped_ <= size_ - left_;  // I2
  }

 private:
  enum class arrival : std::uint8_t { counted, last, ended, too_many, closed };
  enum leaving : bool { stays = false, drops = true };

  static constexpr word next_phase = word{1} << own_shift;
  static constexpr word phase_in(word state) noexcept { return state >> own_shift; }

  struct node : core::waiter {
    node() noexcept = default;  // arrives when it is started
    explicit node(word waited) noexcept : phase(waited), arrived(true) {}
    word phase = 0;
    std::size_t refused = 0;  // the size of the phase, reported if this arrival is one too many
    bool arrived = false;
    bool too_many = false;
  };

  static std::size_t checked_start(std::size_t n) {
    if (n == 0) throw std::invalid_argument("weir::barrier(0): at least 1 has to arrive");
    return n;
  }

  static std::string refusal(const char* call, std::size_t size) {
    return "weir::barrier::" + std::string(call) + "(): all " + std::to_string(size) +
           " of this phase have arrived already";
  }

  static core::outcome judge(word state, word phase) noexcept {
    if ((state & closed_bit) != 0) return core::outcome::closed;
    return phase_in(state) != phase ? core::outcome::granted : core::outcome::pending;
  }

  word arrive(const char* call, leaving later) {
    word phase = 0;
    std::size_t size = 0;
    arrival made{};
    {
      core::completion done;
      made = count(later, phase, size, done);
      if (made == arrival::last) complete_phase(done);
    }
    if (made == arrival::too_many) throw std::logic_error(refusal(call, size));
    return phase;
  }

  /// Counts one arrival, and stores the phase and its size. After `last` the caller has to call complete_phase; without
  /// a completion function the phase ends here (`ended`).
  arrival count(leaving later, word& phase, std::size_t& size, core::completion& done) noexcept {
    locked lock(*this);
    phase = phase_in(lock.state);
    size = size_;
    if (lock.closed()) return arrival::closed;
    if (left_ == 0) return arrival::too_many;
    if (later == drops) ++dropped_;  // I2
    if (--left_ != 0) return arrival::counted;
    if (on_completion_) return arrival::last;
    end_phase(lock, done);
    return arrival::ended;
  }

  /// Called by the last participant to arrive; returns the outcome of its own wait.
  core::outcome complete_phase(core::completion& done) noexcept {
    on_completion_();
    locked lock(*this);
    end_phase(lock, done);
    return lock.closed() ? core::outcome::closed : core::outcome::granted;
  }

  void end_phase(locked& lock, core::completion& done) noexcept {
    size_ -= dropped_;
    left_ = size_;
    dropped_ = 0;
    lock.state += next_phase;
    complete_all(lock, core::outcome::granted, done);  // I1
  }

  class wait_op {
   public:
    using value_type = void;
    using node = barrier::node;

    explicit wait_op(barrier& waited) noexcept : barrier_(&waited) {}

    /// Arrives here, so that a wait with a limit of zero counts too.
    core::answer try_now(node& asking) noexcept {
      core::completion done;
      return arrive(asking, done);
    }

    core::answer start(node& starting, core::completion& done) noexcept {
      const core::answer arrived = arrive(starting, done);
      if (arrived != core::answer::not_ready) return arrived;
      locked lock(*barrier_);
      const core::outcome verdict = judge(lock.state, starting.phase);
      return verdict == core::outcome::pending ? barrier_->enqueue(lock, starting) : starting.decide(verdict);
    }

    bool withdraw(node& queued, core::completion&) noexcept {
      locked lock(*barrier_);
      return barrier_->unlink(lock, queued);  // leaving frees nothing for the waiters behind
    }

    void give_back(node&) noexcept {}  // the arrival stays counted

    result<> take(node& told) {
      if (!told.too_many) return {};
      return result<>::failure(std::make_exception_ptr(std::logic_error(refusal("arrive_and_wait", told.refused))));
    }

   private:
    /// Arrives at most once. The waiters that the last arrival grants may destroy the barrier once `done` notifies
    /// them.
    core::answer arrive(node& arriving, core::completion& done) noexcept {
      if (std::exchange(arriving.arrived, true)) {
        const core::outcome verdict = judge(barrier_->load(), arriving.phase);
        return verdict == core::outcome::pending ? core::answer::not_ready : arriving.decide(verdict);
      }
      switch (barrier_->count(stays, arriving.phase, arriving.refused, done)) {
        case arrival::counted:
          return core::answer::not_ready;
        case arrival::last:
          return arriving.decide(barrier_->complete_phase(done));
        case arrival::ended:
          return arriving.decide(core::outcome::granted);
        case arrival::too_many:
          arriving.too_many = true;
          return arriving.decide(core::outcome::granted);
        case arrival::closed:
          break;
      }
      return arriving.decide(core::outcome::closed);
    }

    barrier* barrier_;
  };

  const std::function<void()> on_completion_;
  std::size_t size_;  // participants of this phase
  std::size_t left_;
  std::size_t dropped_ = 0;  // participants that have arrived and are not expected in later phases
};

}  // namespace weir
