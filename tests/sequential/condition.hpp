#pragma once

// condition, with its mutex: sequences of their own, because a waiter is a coroutine that holds a guard, and waits
// twice. A waiter that has ended is logged, with what it has come to and whether it holds the mutex; then it unlocks.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include <weir/condition.hpp>
#include <weir/mutex.hpp>
#include <weir/run/timers.hpp>
#include <weir/wait/operation.hpp>

#include <sequential/condition_model.hpp>
#include <sequential/model.hpp>
#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir::sequential {

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
