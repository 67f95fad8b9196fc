#pragma once

// semaphore, mutex, recursive_mutex, and select over two semaphores.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include <weir/mutex.hpp>
#include <weir/recursive_mutex.hpp>
#include <weir/semaphore.hpp>
#include <weir/wait/select.hpp>

#include <sequential/model.hpp>

namespace weir::sequential {

class semaphore_model : public model<semaphore_model> {
 public:
  enum : int { acquire, try_acquire, release, reduce };
  static constexpr std::array verbs{verb{"acquire", true, 3}, verb{"try_acquire", false, 3}, verb{"release", false, 2},
                                    verb{"reduce", false, 2}};
  static constexpr int start = 1;
  static constexpr int most = 3;

  std::optional<outcome> enter(const wish& asked) {
    if (asked.number > available_) return std::nullopt;
    available_ -= asked.number;
    return outcome{fate::granted};
  }

  int own_call(const wish& asked) {
    const int n = asked.number;
    switch (asked.verb) {
      case try_acquire:
        return !closed_ && line_.empty() && enter(asked) ? 1 : 0;
      case release: {
        const int paid = std::min(n, debt_);
        if (n - paid > most - available_) return refused;
        debt_ -= paid;
        available_ += n - paid;
        return 0;
      }
      default: {
        const int now = std::min(n, available_);
        if (n - now > most - debt_) return refused;
        available_ -= now;
        debt_ += n - now;
        return 0;
      }
    }
  }

  auto operator<=>(const semaphore_model&) const = default;

 private:
  int available_ = start;
  int debt_ = 0;
};

struct semaphore_subject {
  static constexpr const char* name = "semaphore";
  using model = semaphore_model;

  template <class Use>
  auto wait(const wish& asked, Use use) {
    return use(object.acquire(count(asked)));
  }
  int call(const wish& asked) {
    switch (asked.verb) {
      case model::try_acquire:
        return object.try_acquire(count(asked)) ? 1 : 0;
      case model::release:
        return attempt([&] { object.release(count(asked)); });
      default:
        return attempt([&] { object.reduce(count(asked)); });
    }
  }
  static std::size_t count(const wish& asked) { return static_cast<std::size_t>(asked.number); }

  semaphore object{model::start, model::most};
};

class mutex_model : public model<mutex_model> {
 public:
  enum : int { lock, try_lock, unlock };
  static constexpr std::array verbs{verb{"lock", true, 1}, verb{"try_lock", false, 1},
                                    verb{"unlock", false, 1, true, true}};

  std::optional<outcome> newcomer(const wish& asked) {
    if (!closed_ && locked_ && asked.who != wish::nobody && asked.who == owner_) return outcome{fate::refused};
    return model::newcomer(asked);
  }
  std::optional<outcome> enter(const wish& asked) {
    if (locked_) return std::nullopt;
    locked_ = true;
    owner_ = asked.who;
    return outcome{fate::granted};
  }
  int own_call(const wish& asked) {
    if (asked.verb == try_lock) return !closed_ && line_.empty() && enter({}) ? 1 : 0;
    if (!locked_) return refused;
    locked_ = false;
    return 0;
  }

  auto operator<=>(const mutex_model&) const = default;

 private:
  bool locked_ = false;
  int owner_ = wish::nobody;
};

struct mutex_subject {
  static constexpr const char* name = "mutex";
  using model = mutex_model;

  ~mutex_subject() {
    while (object.locked()) object.unlock();  // to one that waits, as long as one does
  }

  template <class Use>
  auto wait(const wish&, Use use) {
    return use(object.lock());
  }
  int call(const wish& asked) {
    if (asked.verb == model::try_lock) return object.try_lock() ? 1 : 0;
    return attempt([&] { object.unlock(); });
  }

  mutex object;
};

class recursive_mutex_model : public model<recursive_mutex_model> {
 public:
  enum : int { lock, try_lock, unlock };
  static constexpr int names = 2;
  static constexpr std::array verbs{verb{"lock", true, names}, verb{"try_lock", false, names},
                                    verb{"unlock", false, 1}};

  std::optional<outcome> newcomer(const wish& asked) {
    if (!closed_ && depth_ != 0 && owner_ == asked.number) return enter(asked);
    return model::newcomer(asked);
  }
  std::optional<outcome> enter(const wish& asked) {
    if (depth_ != 0 && owner_ != asked.number) return std::nullopt;
    ++depth_;
    owner_ = asked.number;
    return outcome{fate::granted};
  }
  int own_call(const wish& asked) {
    if (asked.verb == try_lock) {
      const auto got = closed_ || (!line_.empty() && owner_ != asked.number) ? std::nullopt : enter(asked);
      return got ? 1 : 0;
    }
    if (depth_ == 0) return refused;
    --depth_;
    return 0;
  }

  auto operator<=>(const recursive_mutex_model&) const = default;

 private:
  int depth_ = 0;
  int owner_ = 0;
};

struct recursive_mutex_subject {
  static constexpr const char* name = "recursive_mutex";
  using model = recursive_mutex_model;

  ~recursive_mutex_subject() {
    while (object.locked()) object.unlock();
  }

  template <class Use>
  auto wait(const wish& asked, Use use) {
    return use(object.lock(owner(asked)));
  }
  int call(const wish& asked) {
    if (asked.verb == model::try_lock) return object.try_lock(owner(asked)) ? 1 : 0;
    return attempt([&] { object.unlock(); });
  }
  [[nodiscard]] owner_id owner(const wish& asked) const { return names[static_cast<std::size_t>(asked.number) - 1]; }

  std::array<owner_id, model::names> names{owner_id::make(), owner_id::make()};
  recursive_mutex object;
};

/// Two semaphores; a select stands in both lines until one of them lets it in.
class select_model : public model<select_model> {
 public:
  enum : int { acquire_first, acquire_second, select, release_first, release_second };
  static constexpr std::array verbs{verb{"acquire_first", true, 2}, verb{"acquire_second", true, 2},
                                    verb{"select", true, 2}, verb{"release_first", false, 2},
                                    verb{"release_second", false, 2}};

  std::optional<outcome> newcomer(const wish& asked) {
    for (const int side : {0, 1}) {
      if (stands_at(asked, side) && first_in_line(side) == nullptr && available_[side] >= asked.number) {
        available_[side] -= asked.number;
        return outcome{fate::granted, asked.verb == select ? side : 0};
      }
    }
    return std::nullopt;
  }

  /// One line to its end, then the other: who has left one has left both, and lets those behind it there go on.
  bool let_in() { return let_in(side_) || let_in(side_ = 1 - side_); }
  void served() { side_ = 0; }

  int own_call(const wish& asked) {
    side_ = asked.verb == release_first ? 0 : 1;
    available_[side_] += asked.number;
    return 0;
  }

  auto operator<=>(const select_model&) const = default;

 private:
  bool let_in(int side) {
    const wish* first = first_in_line(side);
    if (first == nullptr || first->number > available_[side]) return false;
    available_[side] -= first->number;
    leave_line(line_.begin() + (first - line_.data()), {fate::granted, first->verb == select ? side : 0});
    return true;
  }
  static bool stands_at(const wish& asked, int side) { return asked.verb == select || asked.verb == side; }
  [[nodiscard]] const wish* first_in_line(int side) const {
    const auto first =
        std::find_if(line_.begin(), line_.end(), [&](const wish& each) { return stands_at(each, side); });
    return first == line_.end() ? nullptr : &*first;
  }

  int available_[2] = {};
  int side_ = 0;  // that is served
};

struct select_subject {
  static constexpr const char* name = "select";
  using model = select_model;

  template <class Use>
  auto wait(const wish& asked, Use use) {
    const auto n = static_cast<std::size_t>(asked.number);
    if (asked.verb == model::select) return use(weir::select(object.first.acquire(n), object.second.acquire(n)));
    return use((asked.verb == model::acquire_first ? object.first : object.second).acquire(n));
  }
  int call(const wish& asked) {
    (asked.verb == model::release_first ? object.first : object.second).release(static_cast<std::size_t>(asked.number));
    return 0;
  }

  struct pair {
    semaphore first{0};
    semaphore second{0};
  } object;
};

}  // namespace weir::sequential
