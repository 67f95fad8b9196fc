#pragma once

// condition, with its mutex: sequences of their own, because a waiter is a coroutine that holds a guard, and waits
// twice. A waiter that has ended is logged, with what it has come to and whether it holds the mutex; then it unlocks.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <weir/condition.hpp>
#include <weir/mutex.hpp>
#include <weir/run/timers.hpp>
#include <weir/wait/operation.hpp>

#include <sequential/model.hpp>
#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

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

class condition_sequence {
 public:
  static constexpr const char* name = "condition";

  /// As of every sequence.
  static std::optional<std::string> run(std::span<const std::uint8_t> steps) {
    condition_sequence it;
    for (std::size_t at = 0; at + 1 < steps.size(); at += 2) {
      it.step(steps[at], steps[at + 1]);
      if (!it.agrees()) {
        return it.told_ + "  <- here they differ\nthe model:\n" + it.model_.log() + "the condition:\n" + it.log_;
      }
    }
    return std::nullopt;
  }

 private:
  struct waiter {
    bool used = false;
    bool ended = false;
    manner how;
    std::stop_source stop{std::nostopstate};
    test::foreign coroutine;
  };
  struct plain {
    bool used = false;
    bool ended = false;
    ticket held;
  };

  void step(std::uint8_t what, std::uint8_t how) {
    const std::size_t id = how % most_waits;
    switch (what % 16) {
      case 0:
      case 1:
      case 2:
        return wait(how);
      case 3:
        return try_lock();
      case 4:
      case 5:
        return unlock();
      case 6:
        return lock();
      case 7:
        return set(static_cast<look>(how % 3));
      case 8:
        say("notify_one", 0);
        model_.notify_one();
        return changed_->notify_one();
      case 9:
        say("notify_all", 0);
        model_.notify_all();
        return changed_->notify_all();
      case 10:
        return time_passes();
      case 11:
        return stop(id);
      case 12:
        return destroy(id);
      case 13:
        say("run", 0);
        model_.run_executor();
        executor_.run_all();
        return;
      case 14:
        return cancel_lock(id);
      default:
        return seldom(how);
    }
  }

  /// Little happens after a close.
  void seldom(std::uint8_t how) {
    if (how < 128) {
      say("cancel_all", 0);
      expected_ = static_cast<int>(model_.cancel_all());
      got_ = static_cast<int>(changed_->cancel_all());
    } else if (how < 144) {
      say("close", 0);
      model_.close();
      changed_->close();
    } else if (how < 160) {
      say("close the mutex", 0);
      model_.close_mutex();
      mutex_.close();
    } else if (how < 168) {
      say("destroy the condition", 0);
      model_.close();
      changed_.reset();
      changed_.emplace();
      changed_->close();  // so that it and the model are closed alike
    }
  }

  void try_lock() {
    say("try_lock", 0);
    expected_ = model_.try_lock() ? 1 : 0;
    got_ = mutex_.try_lock() ? 1 : 0;
  }

  void unlock() {
    if (!model_.outside_holds()) return;
    say("unlock", 0);
    model_.unlock();
    mutex_.unlock();
  }

  void lock() {
    for (std::size_t id = 0; id < plain_.size(); ++id) {
      if (plain_[id].used) continue;
      say("lock", static_cast<int>(id));
      plain_[id].used = true;
      model_.lock(id);
      plain_[id].held = mutex_.lock().start([this, id](const result<>& outcome) {
        plain_[id].ended = true;
        log_ += locked(id, outcome.has_value());
      });
      return;
    }
  }

  void cancel_lock(std::size_t id) {
    if (id >= plain_.size() || !plain_[id].used) return;
    say("cancel lock", static_cast<int>(id));
    expected_ = model_.cancel_lock(id) ? 1 : 0;
    got_ = plain_[id].held.cancel() ? 1 : 0;
  }

  void set(look what) {
    say("predicate", static_cast<int>(what));
    model_.set(what);
    holds_ = what;
  }

  void wait(std::uint8_t how) {
    std::size_t id = 0;
    while (id < waits_.size() && waits_[id].used) ++id;
    if (id == waits_.size() || (!model_.outside_holds() && !mutex_.try_lock())) return;
    if (!model_.outside_holds()) model_.try_lock();
    manner chosen{static_cast<manner::limit>(how % 5), (how & 0x40) != 0, (how & 0x80) != 0};
    static constexpr const char* limits[] = {"wait", "wait within 0", "wait within 1 s", "wait with a stop",
                                             "wait, stopped"};
    say(limits[chosen.within], static_cast<int>(id));
    if (chosen.predicate) told_ += "    with a predicate\n";
    if (chosen.posted) told_ += "    resumed on the executor\n";
    model_.wait(id, chosen);
    waiter& starts = waits_[id];
    starts.used = true;
    starts.ended = false;
    starts.how = chosen;
    starts.stop = std::stop_source();
    if (chosen.within == manner::stopped) starts.stop.request_stop();
    mutex::guard held(mutex_, std::adopt_lock);
    starts.coroutine = test::foreign();
    starts.coroutine = chosen.predicate ? start(id, std::move(held), [this] { return looks_true(); })
                                        : start(id, std::move(held), nullptr);
  }

  bool looks_true() {
    ++looks_;
    if (!mutex_.locked()) log_ += "the predicate was called without the mutex\n";
    if (holds_ == look::throws) throw std::runtime_error("predicate");
    return holds_ == look::yes;
  }

  template <class Predicate>
  test::foreign start(std::size_t id, mutex::guard held, Predicate holds) {
    const std::stop_token stop = waits_[id].stop.get_token();
    switch (waits_[id].how.within) {
      case manner::none:
        return start_limited(id, std::move(held), holds, [](auto op) { return std::move(op).as_result(); });
      case manner::zero:
        return start_limited(id, std::move(held), holds, [](auto op) { return std::move(op).within(zero_time); });
      case manner::time:
        return start_limited(id, std::move(held), holds, [](auto op) { return std::move(op).within(one_second); });
      default:
        return start_limited(id, std::move(held), holds, [stop](auto op) { return std::move(op).stop_on(stop); });
    }
  }

  template <class Predicate, class Limit>
  test::foreign start_limited(std::size_t id, mutex::guard held, Predicate holds, Limit limit) {
    if (!waits_[id].how.posted) return coroutine(*this, id, std::move(held), holds, limit);
    auto there = [limit, this](auto op) { return limit(std::move(op)).resume_on(executor_); };
    return coroutine(*this, id, std::move(held), holds, there);
  }

  template <class Predicate, class Limit>
  static test::foreign coroutine(condition_sequence& self, std::size_t id, mutex::guard held, Predicate holds,
                                 Limit limit) {
    last how = last::granted;
    try {
      auto waiting = limit(self.described(held, holds));
      const auto outcome = co_await std::move(waiting);
      if (!outcome) how = last_of(outcome.error());
    } catch (const std::runtime_error&) {
      how = last::threw;
    }
    self.log_ += ended(id, how, held.owns_lock());
    self.waits_[id].ended = true;
    if (held) held.unlock();
  }

  auto described(mutex::guard& held, std::nullptr_t) { return changed_->wait(held); }
  template <class Predicate>
  auto described(mutex::guard& held, Predicate holds) {
    return changed_->wait(held, holds);
  }

  static last last_of(std::error_code error) {
    if (error == errc::timed_out) return last::timed_out;
    return error == errc::cancelled ? last::cancelled : last::closed;
  }

  void time_passes() {
    say("time", 2);
    model_.time_passes();
    clock_.advance(std::chrono::seconds(2));
  }

  void stop(std::size_t id) {
    if (!waits_[id].used || waits_[id].how.within != manner::stop) return;
    say("stop", static_cast<int>(id));
    model_.stop(id);
    waits_[id].stop.request_stop();
  }

  void destroy(std::size_t id) {
    if (!waits_[id].used) return;
    say("destroy", static_cast<int>(id));
    model_.destroy(id);
    waits_[id].used = false;
    waits_[id].coroutine.destroy();
  }

  bool agrees() {
    for (waiter& each : waits_) {
      if (each.used && each.ended) each.used = false;
    }
    for (plain& each : plain_) {
      if (each.used && each.ended) each = {};
    }
    return expected_ == got_ && log_ == model_.log() && looks_ == model_.looks() &&
           changed_->waiting() == model_.waiting() && mutex_.waiting() == model_.locks_waiting() &&
           mutex_.locked() == model_.held() && mutex_.check_invariants();
  }

  void say(const char* what, int number) { told_ += std::string("  ") + what + '(' + std::to_string(number) + ")\n"; }

  static constexpr std::chrono::seconds zero_time{0};
  static constexpr std::chrono::seconds one_second{1};

  manual_timers clock_{core::time_point(std::chrono::hours(1))};
  use_timers by_hand_{clock_};
  test::manual_executor executor_;

  std::string log_;
  std::array<plain, 4> plain_;

  struct unlocked_at_its_end : mutex {
    ~unlocked_at_its_end() {
      close();
      if (locked()) unlock();
    }
  } mutex_;  // destroyed before them: they are told that it is closed
  std::optional<condition> changed_{std::in_place};
  std::array<waiter, most_waits> waits_;  // destroyed first: withdrawn, wherever each stands

  look holds_ = look::no;
  int looks_ = 0;
  condition_model model_;
  int expected_ = 0;
  int got_ = 0;
  std::string told_;
};

}  // namespace weir::sequential
