#pragma once

// event, auto_reset_event, latch, wait_group, barrier.

#include <array>
#include <cstddef>
#include <optional>

#include <weir/auto_reset_event.hpp>
#include <weir/barrier.hpp>
#include <weir/event.hpp>
#include <weir/latch.hpp>
#include <weir/wait_group.hpp>

#include <sequential/model.hpp>

namespace weir::sequential {

/// A real object whose only operation is wait().
template <class Object>
struct waited_for {
  template <class Use>
  auto wait(const wish&, Use use) {
    return use(object.wait());
  }

  Object object;
};

class event_model : public model<event_model> {
 public:
  enum : int { wait, set, reset, is_set, notify_all, notify_one };
  static constexpr std::array verbs{verb{"wait", true, 1},
                                    verb{"set", false, 1},
                                    verb{"reset", false, 1},
                                    verb{"is_set", false, 1, false},
                                    verb{"notify_all", false, 1, true, false, true},
                                    verb{"notify_one", false, 1}};

  [[nodiscard]] std::optional<outcome> enter(const wish&) const { return granted_if(set_); }
  int own_call(const wish& asked) {
    switch (asked.verb) {
      case set:
        set_ = true;
        return 0;
      case reset:
        set_ = false;
        return 0;
      case is_set:
        return set_ ? 1 : 0;
      case notify_all:
        return owe_all({fate::granted});
      default:
        if (line_.empty()) return 0;
        leave_line(line_.begin(), {fate::granted});
        return 1;
    }
  }

  auto operator<=>(const event_model&) const = default;

 private:
  bool set_ = false;
};

struct event_subject : waited_for<event> {
  static constexpr const char* name = "event";
  using model = event_model;

  int call(const wish& asked) {
    switch (asked.verb) {
      case model::set:
        object.set();
        return 0;
      case model::reset:
        object.reset();
        return 0;
      case model::is_set:
        return object.is_set() ? 1 : 0;
      case model::notify_all:
        return static_cast<int>(object.notify_all());
      default:
        return static_cast<int>(object.notify_one());
    }
  }
};

class auto_reset_event_model : public model<auto_reset_event_model> {
 public:
  enum : int { wait, set, reset, is_set };
  static constexpr std::array verbs{verb{"wait", true, 1}, verb{"set", false, 1}, verb{"reset", false, 1},
                                    verb{"is_set", false, 1, false}};

  std::optional<outcome> enter(const wish&) { return granted_if(std::exchange(set_, false)); }
  int own_call(const wish& asked) {
    if (asked.verb == is_set) return set_ ? 1 : 0;
    set_ = asked.verb == set;
    return 0;
  }

  auto operator<=>(const auto_reset_event_model&) const = default;

 private:
  bool set_ = false;
};

struct auto_reset_event_subject : waited_for<auto_reset_event> {
  static constexpr const char* name = "auto_reset_event";
  using model = auto_reset_event_model;

  int call(const wish& asked) {
    if (asked.verb == model::is_set) return object.is_set() ? 1 : 0;
    asked.verb == model::set ? object.set() : object.reset();
    return 0;
  }
};

class latch_model : public model<latch_model> {
 public:
  enum : int { wait, arrive_and_wait, count_down, try_wait };
  static constexpr std::array verbs{verb{"wait", true, 1}, verb{"arrive_and_wait", true, 2},
                                    verb{"count_down", false, 2}, verb{"try_wait", false, 1}};
  static constexpr int start = 3;

  std::optional<outcome> arrive(const wish& asked) {
    if (asked.verb != arrive_and_wait) return std::nullopt;
    const bool counted = count(asked.number);
    if (closed_) return outcome{fate::closed};
    if (!counted) return outcome{fate::refused};
    return granted_if(left_ == 0);
  }
  [[nodiscard]] std::optional<outcome> enter(const wish&) const { return granted_if(left_ == 0); }
  int own_call(const wish& asked) {
    if (asked.verb == try_wait) return left_ == 0 && !closed_ ? 1 : 0;
    return count(asked.number) ? 0 : refused;
  }

  auto operator<=>(const latch_model&) const = default;

 private:
  bool count(int k) {
    if (k > left_) return false;
    left_ -= k;
    return true;
  }
  int left_ = start;
};

struct latch_subject {
  static constexpr const char* name = "latch";
  using model = latch_model;

  template <class Use>
  auto wait(const wish& asked, Use use) {
    if (asked.verb == model::wait) return use(object.wait());
    return use(object.arrive_and_wait(static_cast<std::size_t>(asked.number)));
  }
  int call(const wish& asked) {
    if (asked.verb == model::try_wait) return object.try_wait() ? 1 : 0;
    return attempt([&] { object.count_down(static_cast<std::size_t>(asked.number)); });
  }

  latch object{model::start};
};

class wait_group_model : public model<wait_group_model> {
 public:
  enum : int { wait, add, done };
  static constexpr std::array verbs{verb{"wait", true, 1}, verb{"add", false, 2}, verb{"done", false, 1}};

  [[nodiscard]] std::optional<outcome> enter(const wish&) const { return granted_if(count_ == 0); }
  int own_call(const wish& asked) {
    if (asked.verb == add) {
      count_ += asked.number;
      return 0;
    }
    if (count_ == 0) return refused;
    --count_;
    return 0;
  }

  auto operator<=>(const wait_group_model&) const = default;

 private:
  int count_ = 0;
};

struct wait_group_subject : waited_for<wait_group> {
  static constexpr const char* name = "wait_group";
  using model = wait_group_model;

  int call(const wish& asked) {
    if (asked.verb == model::add) {
      object.add(static_cast<std::size_t>(asked.number));
      return 0;
    }
    return attempt([&] { object.done(); });
  }
};

class barrier_model : public model<barrier_model> {
 public:
  enum : int { arrive_and_wait, arrive_only, arrive_and_drop };
  static constexpr std::array verbs{verb{"arrive_and_wait", true, 1}, verb{"arrive", false, 1},
                                    verb{"arrive_and_drop", false, 1}};
  static constexpr int start = 3;

  std::optional<outcome> arrive(const wish& asked) {
    if (closed_) return outcome{fate::closed};
    if (left_ == 0) return outcome{fate::refused};
    arrived_in_[static_cast<std::size_t>(asked.id)] = phase_;
    return granted_if(count());
  }
  std::optional<outcome> newcomer(const wish& asked) const {
    if (closed_) return outcome{fate::closed};
    const bool over = arrived_in_[static_cast<std::size_t>(asked.id)] != phase_;
    return granted_if(over);
  }
  static bool let_in() { return false; }
  int own_call(const wish& asked) {
    if (closed_) return 0;
    if (left_ == 0) return refused;
    if (asked.verb == arrive_and_drop) --size_;
    count();
    return 0;
  }

  auto operator<=>(const barrier_model&) const = default;

 private:
  /// Whether the phase has ended.
  bool count() {
    if (--left_ != 0) return false;
    left_ = size_;
    ++phase_;
    owe_all({fate::granted});
    return true;
  }
  int phase_ = 0;
  std::array<int, most_waits> arrived_in_{};
  int size_ = start;
  int left_ = start;
};

struct barrier_subject {
  static constexpr const char* name = "barrier";
  using model = barrier_model;

  template <class Use>
  auto wait(const wish&, Use use) {
    return use(object.arrive_and_wait());
  }
  int call(const wish& asked) {
    return attempt([&] {
      if (asked.verb == model::arrive_and_drop) {
        object.arrive_and_drop();
      } else {
        object.arrive();
      }
    });
  }

  barrier object{model::start};
};

}  // namespace weir::sequential
