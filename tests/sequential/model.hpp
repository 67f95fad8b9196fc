#pragma once

// What each synchronizer means, said as plainly as it can be: a sequential model, to compare the real one with. A wait
// is requested, and comes to something at once or through a later call; every other call has its result at once.
//
// A subject has, beside the model, the object itself:
//   model                            see below
//   auto wait(wish, use)             calls use(operation), and returns what that returns
//   int call(wish)                   what does not wait; refused if it throws
// with the verbs of the model. Both have the calls that all synchronizers share (common).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <weir/core/errc.hpp>
#include <weir/core/result.hpp>

namespace weir::sequential {

/// What is called, by name, with a number from 1 to `most`.
struct verb {
  const char* name;
  bool waits;
  int most;
  bool at_once = true;    // not: a reading; pop_many, which takes what else is there a little later
  bool by_owner = false;  // only by one who has it, and knows that
  bool counts = false;    // gives how many it has told
};

enum common : int { close = -2, cancel_all = -1 };  // verbs of all; those of its own are numbered from 0

inline constexpr int most_waits = 12;

/// One call. `id` is free for the caller to choose, and names the wait; `who` asks, if that is known.
struct wish {
  int id = 0;
  int verb = 0;
  int number = 0;
  int who = nobody;

  static constexpr int nobody = -1;
  [[nodiscard]] int item() const { return number * most_waits + id; }
  auto operator<=>(const wish&) const = default;
};

enum class fate : std::uint8_t { waits, granted, closed, refused, timed_out, cancelled };

/// Of a wait.
struct outcome {
  fate how = fate::waits;
  int value = 0;
  auto operator<=>(const outcome&) const = default;
};

/// What a wait gets that does not have to wait if `now`.
inline std::optional<outcome> granted_if(bool now) {
  return now ? std::optional(outcome{fate::granted}) : std::nullopt;
}

inline constexpr int refused = -100;  // the call has thrown
inline constexpr int nothing = -1;

/// A model has verbs, and says what a wait that is first in line gets (`enter`: nullopt if it has to wait, and then
/// nothing is changed), and what its own calls do. What a call lets in, or tells, is served one by one (serve):
/// meanwhile nobody else can call, but one that is in line can give up. States can be compared and ordered, for those
/// who search.
template <class Derived>
class model {
 public:
  [[nodiscard]] const outcome& of(int id) const { return fates_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::size_t waiting() const { return line_.size(); }

  void request(const wish& asked) {
    const bool decided = announce(asked);
    serve();
    if (!decided) stand(asked);
  }

  /// The first point of a request: it has arrived, as at a barrier, and counts whatever becomes of its wait. True: that
  /// was all.
  bool announce(const wish& asked) {
    decide(asked.id, {});
    const auto now = self().arrive(asked);
    if (now) decide(asked.id, *now);
    begin_serving();
    return now.has_value();
  }

  /// The second: it is let in, or stands in line.
  void stand(const wish& asked) {
    const auto now = self().newcomer(asked);
    if (now) {
      decide(asked.id, *now);
    } else {
      line_.push_back(asked);
    }
  }

  /// It was stopped before it began.
  void give_up_at_once(const wish& asked) { decide(asked.id, {fate::cancelled}); }

  /// Out of the line, for good. False: it was not in line any more. Those behind it are to be served.
  bool give_up(int id, fate how) {
    const auto is_it = [&](const wish& each) { return each.id == id; };
    if (std::erase_if(owed_, is_it) + std::erase_if(line_, is_it) == 0) return false;
    decide(id, {how});
    return true;
  }

  int call(const wish& asked) {
    int result = 0;
    if (asked.verb == cancel_all) {
      result = owe_all({fate::cancelled});
    } else if (asked.verb == close) {
      self().shut();
    } else {
      result = self().own_call(asked);
    }
    begin_serving();
    return result;
  }

  void begin_serving() {
    serving_ = !owed_.empty() || Derived(self()).let_in();
    if (!serving_) self().served();
  }
  [[nodiscard]] bool serving() const { return serving_; }
  void serve_one() {
    if (owed_.empty()) {
      self().let_in();
    } else {
      decide(owed_.front().id, owed_outcome_);
      owed_.erase(owed_.begin());
    }
    begin_serving();
  }
  void serve() {
    for (begin_serving(); serving_;) serve_one();
  }

  auto operator<=>(const model&) const = default;

 protected:
  static std::optional<outcome> arrive(const wish&) { return std::nullopt; }

  std::optional<outcome> newcomer(const wish& asked) {
    if (closed_) return outcome{fate::closed};
    return line_.empty() ? self().enter(asked) : std::nullopt;
  }

  /// The first in line, if there is enough for it.
  bool let_in() {
    if (line_.empty()) return false;
    const auto got = self().enter(line_.front());
    if (got) leave_line(line_.begin(), *got);
    return got.has_value();
  }

  static void served() {}

  void shut() {
    closed_ = true;
    owe_all({fate::closed});
  }

  /// All that are in line now. How many.
  int owe_all(outcome with) {
    owed_ = std::exchange(line_, {});
    owed_outcome_ = with;
    return static_cast<int>(owed_.size());
  }

  void leave_line(std::vector<wish>::iterator at, outcome with) {
    decide(at->id, with);
    line_.erase(at);
  }
  void decide(int id, outcome with) { fates_[static_cast<std::size_t>(id)] = with; }

  bool closed_ = false;
  std::vector<wish> line_;

 private:
  Derived& self() { return static_cast<Derived&>(*this); }

  bool serving_ = false;
  std::vector<wish> owed_;  // are to be told next
  outcome owed_outcome_;
  std::array<outcome, most_waits> fates_{};
};

// What the real one has come to, in the same words.

inline int number_of(weir::core::nothing) { return 0; }
inline int number_of(std::monostate) { return 0; }  // of a select
inline int number_of(int value) { return value; }
inline int number_of(const std::optional<int>& item) { return item.value_or(nothing); }
inline int number_of(const std::vector<int>& items) {
  int sum = 0;
  for (const int each : items) sum = sum * 31 + each;
  return items.empty() ? nothing : sum;
}
template <class... Branch>
int number_of(const std::variant<Branch...>& won) {
  return static_cast<int>(won.index());
}

template <class T>
outcome outcome_of(const result<T>& came) {
  if (came) {
    if constexpr (std::is_void_v<T>) {
      return {fate::granted};
    } else {
      return {fate::granted, number_of(*came)};
    }
  }
  if (came.error() == errc::timed_out) return {fate::timed_out};
  if (came.error() == errc::cancelled) return {fate::cancelled};
  return {came.error() == errc::closed ? fate::closed : fate::refused};
}

/// A call that gives nothing.
template <class Call>
int attempt(Call call) {
  try {
    call();
    return 0;
  } catch (const std::exception&) {
    return refused;
  }
}

/// One object, with the calls that all have: not several.
template <class Subject>
inline constexpr bool is_one = requires(Subject& subject) { subject.object.cancel_all(); };

template <class Subject>
int call(Subject& subject, const wish& asked) {
  if constexpr (is_one<Subject>) {
    if (asked.verb == cancel_all) return static_cast<int>(subject.object.cancel_all());
    if (asked.verb == close) return subject.object.close(), 0;
  }
  return subject.call(asked);
}

template <class Model>
bool is_wait(const wish& asked) {
  return asked.verb >= 0 && Model::verbs[static_cast<std::size_t>(asked.verb)].waits;
}

template <class Model>
bool is_by_owner(const wish& asked) {
  return asked.verb >= 0 && Model::verbs[static_cast<std::size_t>(asked.verb)].by_owner;
}

template <class Model>
const char* name_of(const wish& asked) {
  if (asked.verb == close) return "close";
  return asked.verb == cancel_all ? "cancel_all" : Model::verbs[static_cast<std::size_t>(asked.verb)].name;
}

}  // namespace weir::sequential
