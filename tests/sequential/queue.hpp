#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <weir/queue.hpp>

#include <sequential/model.hpp>

namespace weir::sequential {

enum class policy { wait, drop_oldest, drop_newest };

/// All that wait are of one kind: to push while it is full, or to pop while it is empty.
template <policy WhenFull>
class queue_model : public model<queue_model<WhenFull>> {
  using base = model<queue_model>;
  using base::closed_, base::line_;

 public:
  enum : int { push, pop, pop_many, try_push, try_pop, stop };
  static constexpr std::array verbs{
      verb{"push", true, 2},      verb{"pop", true, 1},      verb{"pop_many", true, 3, false},
      verb{"try_push", false, 2}, verb{"try_pop", false, 1}, verb{"stop", false, 1}};
  static constexpr std::size_t capacity = 2;

  std::optional<outcome> newcomer(const wish& asked) {
    if (asked.verb == push) {
      if (closed_) return outcome{fate::closed};
      return granted_if(put(asked));
    }
    if (items_.empty()) return closed_ ? std::optional(outcome{fate::granted, nothing}) : std::nullopt;
    return outcome{fate::granted, take(asked.verb == pop_many ? asked.number : 1)};
  }
  static bool let_in() { return false; }  // one that gives up makes no place and brings no item

  int own_call(const wish& asked) {
    switch (asked.verb) {
      case try_push:
        return !closed_ && put(asked) ? 1 : 0;
      case try_pop:
        return items_.empty() ? nothing : take(1);
      default:
        shut();
        return static_cast<int>(std::exchange(items_, {}).size());
    }
  }

  void shut() {
    closed_ = true;
    if (line_.empty()) return;
    this->owe_all(line_.front().verb == push ? outcome{fate::closed} : outcome{fate::granted, nothing});
  }

  auto operator<=>(const queue_model&) const = default;

 private:
  /// Directly to the first that waits for one. False: there is no place.
  bool put(const wish& asked) {
    if (!line_.empty() && line_.front().verb != push) {
      this->leave_line(line_.begin(), {fate::granted, asked.item()});
      return true;
    }
    if (items_.size() == capacity) {
      if constexpr (WhenFull == policy::wait) return false;
      if constexpr (WhenFull == policy::drop_newest) return true;
      items_.erase(items_.begin());
    }
    items_.push_back(asked.item());
    return true;
  }

  /// Those that wait to push move up.
  int take(int most) {
    std::vector<int> taken;
    while (!items_.empty() && static_cast<int>(taken.size()) < most) {
      taken.push_back(items_.front());
      items_.erase(items_.begin());
      if (line_.empty()) continue;
      items_.push_back(line_.front().item());
      this->leave_line(line_.begin(), {fate::granted});
    }
    return most == 1 ? taken.front() : number_of(taken);
  }

  std::vector<int> items_;
};

template <policy WhenFull>
struct queue_subject {
  static constexpr const char* name = WhenFull == policy::wait          ? "queue"
                                      : WhenFull == policy::drop_oldest ? "queue_drop_oldest"
                                                                        : "queue_drop_newest";
  using model = queue_model<WhenFull>;
  using full = typename queue<int>::when_full;
  static constexpr full how = WhenFull == policy::wait          ? full::wait
                              : WhenFull == policy::drop_oldest ? full::drop_oldest
                                                                : full::drop_newest;

  template <class Use>
  auto wait(const wish& asked, Use use) {
    if (asked.verb == model::push) return use(object.push(asked.item()));
    if (asked.verb == model::pop) return use(object.pop());
    return use(object.pop_many(static_cast<std::size_t>(asked.number)));
  }
  int call(const wish& asked) {
    switch (asked.verb) {
      case model::try_push:
        return object.try_push(asked.item()) ? 1 : 0;
      case model::try_pop:
        return object.try_pop().value_or(nothing);
      default:
        return static_cast<int>(object.stop());
    }
  }

  queue<int> object{model::capacity, how};
};

}  // namespace weir::sequential
