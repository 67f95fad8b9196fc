#pragma once

// A sequence of bytes, read as calls of one thread to one synchronizer: after each of them the synchronizer must stand
// as its model does. Waits are callbacks with a ticket and any limit; time passes, stops are requested and tickets
// cancelled where the sequence says so.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <weir/run/timers.hpp>
#include <weir/wait/operation.hpp>

#include <sequential/model.hpp>

namespace weir::sequential {

template <class Subject>
class sequence {
  using model_type = typename Subject::model;
  enum class limit : std::uint8_t { none, zero, time, stop };

 public:
  /// What was wrong after which steps; nothing if all was right.
  static std::optional<std::string> run(std::span<const std::uint8_t> steps) {
    sequence it;
    for (std::size_t at = 0; at + 1 < steps.size(); at += 2) {
      it.step(steps[at], steps[at + 1]);
      if (!it.agrees()) return it.told_ + "  <- here they differ\n";
    }
    return std::nullopt;
  }

 private:
  struct wait {
    bool used = false;
    limit within = limit::none;
    outcome came;
    ticket held;
    std::stop_source stop{std::nostopstate};
  };

  void step(std::uint8_t what, std::uint8_t how) {
    constexpr unsigned own = std::size(model_type::verbs);
    const unsigned choice = what % (own + (is_one<Subject> ? 5u : 3u));
    const auto id = static_cast<std::size_t>(how % most_waits);
    if (choice < own) return speak(static_cast<int>(choice), how);
    switch (choice - own) {
      case 0:
        return time_passes();
      case 1:
        return cancel(id);
      case 2:
        return stop(id);
      case 3:
        return compare({0, cancel_all});
      default:
        if (how < 32) compare({0, close});  // not too often: little happens after it
    }
  }

  void speak(int choice, std::uint8_t how) {
    const verb& chosen = model_type::verbs[static_cast<std::size_t>(choice)];
    const wish asked{most_waits, choice, 1 + (how & 15) % chosen.most};
    chosen.waits ? request(asked, static_cast<limit>((how >> 4) % 4), (how & 0x80) != 0) : compare(asked);
  }

  void compare(const wish& asked) {
    say(name_of<model_type>(asked), asked.number);
    expected_ = model_.call(asked);
    model_.serve();
    got_ = sequential::call(subject_, asked);
  }

  void request(wish asked, limit within, bool stopped) {
    std::size_t free = 0;
    while (free < waits_.size() && waits_[free].used) ++free;
    if (free == waits_.size()) return;
    asked.id = static_cast<int>(free);
    wait& starts = waits_[free];
    starts = {true, within, {}, {}, within == limit::stop ? std::stop_source() : std::stop_source(std::nostopstate)};
    say(name_of<model_type>(asked), asked.number);
    static constexpr const char* limits[] = {"wait", "wait within 0", "wait within 1 s", "wait with a stop"};
    say(limits[static_cast<std::size_t>(within)], asked.id);
    if (within == limit::stop && stopped) {
      starts.stop.request_stop();
      model_.give_up_at_once(asked);
    } else {
      model_.request(asked);
      if (within == limit::zero) withdraw(asked.id, fate::timed_out);
      if (within == limit::time) armed_.push_back(asked.id);
    }
    starts.held = subject_.wait(asked, [&](auto operation) { return start(std::move(operation), starts); });
  }

  template <class Operation>
  ticket start(Operation operation, wait& starts) {
    auto tell = [&starts](const auto& came) { starts.came = outcome_of(came); };
    switch (starts.within) {
      case limit::none:
        return std::move(operation).start(tell);
      case limit::zero:
        return std::move(operation).within(std::chrono::seconds(0)).start(tell);
      case limit::time:
        return std::move(operation).within(std::chrono::seconds(1)).start(tell);
      default:
        return std::move(operation).stop_on(starts.stop.get_token()).start(tell);
    }
  }

  bool withdraw(int id, fate how) {
    const bool was_in_line = model_.give_up(id, how);
    model_.serve();
    return was_in_line;
  }

  void cancel(std::size_t id) {
    if (!waits_[id].used) return;
    say("cancel", static_cast<int>(id));
    expected_ = withdraw(static_cast<int>(id), fate::cancelled) ? 1 : 0;
    got_ = waits_[id].held.cancel() ? 1 : 0;
  }

  void stop(std::size_t id) {
    if (!waits_[id].used || waits_[id].within != limit::stop) return;
    say("stop", static_cast<int>(id));
    withdraw(static_cast<int>(id), fate::cancelled);
    waits_[id].stop.request_stop();
  }

  void time_passes() {
    say("time", 2);
    for (const int id : std::exchange(armed_, {})) withdraw(id, fate::timed_out);
    clock_.advance(std::chrono::seconds(2));
  }

  bool agrees() {
    bool same = expected_ == got_;
    for (std::size_t id = 0; id < waits_.size(); ++id) {
      wait& each = waits_[id];
      if (!each.used) continue;
      same = same && each.came == model_.of(static_cast<int>(id));
      if (each.came.how == fate::waits) continue;
      each.used = false;
      std::erase(armed_, static_cast<int>(id));
    }
    if constexpr (is_one<Subject>) {
      same = same && subject_.object.waiting() == model_.waiting() && subject_.object.check_invariants();
    }
    return same;
  }

  void say(const char* what, int number) { told_ += std::string("  ") + what + '(' + std::to_string(number) + ")\n"; }

  manual_timers clock_{core::time_point(std::chrono::hours(1))};
  use_timers by_hand_{clock_};
  std::array<wait, most_waits> waits_;
  Subject subject_;  // destroyed before them: they are told that it is closed
  model_type model_;
  std::vector<int> armed_;  // in the order of their limits
  int expected_ = 0;
  int got_ = 0;
  std::string told_;
};

}  // namespace weir::sequential
