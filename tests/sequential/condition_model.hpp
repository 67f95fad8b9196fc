#pragma once

// What a condition and its mutex do, one call after the other. A waiter that has ended is logged, with its outcome and
// whether it holds the mutex.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <sequential/model.hpp>

namespace weir::sequential {

/// What the predicate of all waiters that have one does.
enum class look : std::uint8_t { no, yes, throws };

/// How a waiter waits.
struct manner {
  enum limit : std::uint8_t { none, zero, time, stop, stopped } within = none;
  bool predicate = false;
  bool posted = false;  // it resumes on the executor, else in the flat loop
};

enum class last : std::uint8_t { granted, closed, timed_out, cancelled, threw };

/// What has ended, in order: a waiter with or without the mutex, a plain lock.
inline std::string ended(std::size_t id, last how, bool holds) {
  static constexpr const char* names[] = {"granted", "closed", "timed out", "cancelled", "threw"};
  return "waiter " + std::to_string(id) + ' ' + names[static_cast<std::size_t>(how)] + (holds ? ", holds" : "") + '\n';
}
inline std::string locked(std::size_t id, bool granted) {
  return "lock " + std::to_string(id) + (granted ? " granted\n" : " failed\n");
}

/// A condition and its mutex, which is held by a waiter or by the outside, which also waits for it by plain locks.
class condition_model {
 public:
  [[nodiscard]] std::size_t waiting() const { return line_.size(); }
  [[nodiscard]] std::size_t locks_waiting() const { return mutex_line_.size(); }
  [[nodiscard]] bool held() const { return held_; }
  [[nodiscard]] bool outside_holds() const { return outside_holds_; }
  [[nodiscard]] const std::string& log() const { return log_; }
  [[nodiscard]] int looks() const { return looks_; }

  bool try_lock() {
    if (held_ || mutex_closed_) return false;
    held_ = outside_holds_ = true;
    return true;
  }
  void unlock() {
    outside_holds_ = false;
    release();
    run_flat();
  }
  void lock(std::size_t id) {
    if (mutex_closed_) {
      log_ += locked(id, false);
    } else if (held_) {
      mutex_line_.push_back({false, id});
    } else {
      held_ = outside_holds_ = true;
      log_ += locked(id, true);
    }
  }
  bool cancel_lock(std::size_t id) {
    if (std::erase(mutex_line_, in_line{false, id}) == 0) return false;
    log_ += locked(id, false);
    return true;
  }

  void set(look what) { holds_ = what; }

  /// By one that the outside hands its lock.
  void wait(std::size_t id, manner how) {
    outside_holds_ = false;
    waits_[id] = {how, now_ + 1, how.within == manner::stopped};
    one& starts = waits_[id];
    if (starts.stopped) {
      come_to(id, last::cancelled);
    } else if (closed_) {
      come_to(id, last::closed);
    } else if (how.predicate && looks_true(starts)) {
      come_to(id, last::granted);
    } else if (how.within == manner::zero) {
      come_to(id, last::timed_out);
    } else {
      queue(id);
    }
    run_flat();
  }

  void notify_one() {
    notify_first();
    run_flat();
  }
  void notify_all() { all(last::granted); }
  std::size_t cancel_all() { return all(last::cancelled); }
  void close() {
    closed_ = true;
    all(last::closed);
  }

  void close_mutex() {
    mutex_closed_ = true;
    for (const auto& [waits, id] : std::exchange(mutex_line_, {})) {
      if (waits) {
        told(id);
      } else {
        flat_.push_back({{false, id}, false});
      }
    }
    run_flat();
  }

  void time_passes() {
    now_ += 2;
    std::vector<std::size_t> expired;
    for (const std::size_t id : std::exchange(armed_, {})) {
      if (std::erase(line_, id) != 0) expired.push_back(id);
    }
    decide(expired, last::timed_out);
    run_flat();
  }
  void stop(std::size_t id) {
    waits_[id].stopped = true;
    if (std::erase(line_, id) != 0) decide({id}, last::cancelled);
    run_flat();
  }

  void run_executor() {
    while (!posted_.empty()) {
      const std::size_t id = posted_.front();
      posted_.pop_front();
      run(id);
      run_flat();
    }
  }

  /// Whatever was on its way to it goes to the next.
  void destroy(std::size_t id) {
    const one gone = waits_[id];
    if (std::erase(line_, id) != 0) return;
    std::erase(mutex_line_, in_line{true, id});
    if (std::erase(posted_, id) != 0 && gone.has_lock) release();
    run_flat();
    if (gone.alone) notify_one();
  }

 private:
  struct one {
    manner how;
    int deadline = 0;
    bool stopped = false;
    bool alone = false;  // notified, and nobody else was
    bool has_lock = true;
    bool let_go = false;  // of the lock that it began with
    last verdict = last::granted;
    bool throws = false;
  };
  struct in_line {
    bool waits;  // else it is a plain lock
    std::size_t id;
    bool operator==(const in_line&) const = default;
  };
  struct completed {
    in_line which;
    bool granted = false;  // of a plain lock
  };

  bool looks_true(one& looking) {
    ++looks_;
    looking.throws = holds_ == look::throws;
    return holds_ != look::no;
  }

  void queue(std::size_t id) {
    one& waits = waits_[id];
    waits.alone = false;
    waits.let_go = true;
    waits.has_lock = false;
    line_.push_back(id);
    std::erase(armed_, id);
    if (waits.how.within == manner::time) armed_.push_back(id);
    release();
  }

  void notify_first() {
    if (line_.empty()) return;
    const std::size_t first = line_.front();
    decide({first}, last::granted);
    waits_[first].alone = true;
  }

  std::size_t all(last verdict) {
    const auto decided = std::exchange(line_, {});
    decide(decided, verdict);
    run_flat();
    return decided.size();
  }

  /// Each begins to lock again, in this order, before anybody's code runs.
  void decide(const std::vector<std::size_t>& ids, last verdict) {
    for (const std::size_t id : ids) {
      std::erase(line_, id);
      waits_[id].verdict = verdict;
      if (mutex_closed_) {
        told(id);
      } else if (held_) {
        mutex_line_.push_back({true, id});
      } else {
        held_ = true;
        waits_[id].has_lock = true;
        told(id);
      }
    }
  }

  /// Decided before it was queued: it still has its lock.
  void come_to(std::size_t id, last verdict) {
    waits_[id].verdict = verdict;
    if (waits_[id].how.posted) {
      posted_.push_back(id);
    } else {
      end(id);
    }
  }

  void told(std::size_t id) {
    if (waits_[id].how.posted) {
      posted_.push_back(id);
    } else {
      flat_.push_back({{true, id}});
    }
  }

  /// Its holder lets go: to the first that waits for it.
  void release() {
    held_ = false;
    if (mutex_line_.empty()) return;
    const auto [waits, id] = mutex_line_.front();
    mutex_line_.pop_front();
    held_ = true;
    if (waits) {
      waits_[id].has_lock = true;
      told(id);
    } else {
      outside_holds_ = true;
      flat_.push_back({{false, id}, true});
    }
  }

  void run_flat() {
    while (!flat_.empty()) {
      const auto [next, granted] = flat_.front();
      flat_.pop_front();
      if (next.waits) {
        run(next.id);
      } else {
        log_ += locked(next.id, granted);
      }
    }
  }

  void run(std::size_t id) {
    one& runs = waits_[id];
    if (!runs.let_go) return end(id);
    if (!runs.has_lock) {
      runs.verdict = last::closed;
      if (std::exchange(runs.alone, false)) {  // its notification goes to the next
        notify_first();
        if (runs.how.posted) run_flat();  // else it runs in the flat loop itself
      }
      return end(id);
    }
    runs.let_go = false;
    if (!runs.how.predicate || runs.verdict == last::closed) return end(id);
    if (looks_true(runs)) {
      runs.verdict = last::granted;
      return end(id);
    }
    if (runs.verdict != last::granted) return end(id);
    if (runs.stopped) {
      runs.verdict = last::cancelled;
      return end(id);
    }
    if (runs.how.within == manner::time && runs.deadline <= now_) {
      runs.verdict = last::timed_out;
      return end(id);
    }
    if (closed_) {
      runs.verdict = last::closed;
      return end(id);
    }
    queue(id);
  }

  void end(std::size_t id) {
    const one& ends = waits_[id];
    const bool threw = ends.throws && ends.verdict == last::granted && ends.has_lock;
    log_ += ended(id, threw ? last::threw : ends.verdict, ends.has_lock);
    if (ends.has_lock) release();
  }

  std::array<one, most_waits> waits_{};
  std::vector<std::size_t> line_;
  std::vector<std::size_t> armed_;  // in the order of their arming
  std::deque<in_line> mutex_line_;
  std::deque<completed> flat_;
  std::deque<std::size_t> posted_;
  bool held_ = false;
  bool outside_holds_ = false;
  bool closed_ = false;
  bool mutex_closed_ = false;
  look holds_ = look::no;
  int now_ = 0;
  int looks_ = 0;
  std::string log_;
};

}  // namespace weir::sequential
