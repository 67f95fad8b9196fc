#pragma once

#include <array>
#include <optional>

#include <weir/shared_mutex.hpp>

#include <sequential/model.hpp>

namespace weir::sequential {

class shared_mutex_model : public model<shared_mutex_model> {
 public:
  enum : int { lock, lock_shared, upgrade, try_lock, try_lock_shared, unlock, unlock_shared, downgrade };
  static constexpr std::array verbs{
      verb{"lock", true, 1},           verb{"lock_shared", true, 1},      verb{"upgrade", true, 1},
      verb{"try_lock", false, 1},      verb{"try_lock_shared", false, 1}, verb{"unlock", false, 1},
      verb{"unlock_shared", false, 1}, verb{"downgrade", false, 1}};

  std::optional<outcome> newcomer(const wish& asked) {
    if (asked.verb != upgrade) return model::newcomer(asked);
    if (closed_) return outcome{fate::closed};
    if (upgrade_waits() || readers_ == 0) return outcome{fate::refused};
    return enter(asked);
  }
  std::optional<outcome> enter(const wish& asked) {
    switch (asked.verb) {
      case lock:
        if (written_ || readers_ != 0) return std::nullopt;
        written_ = true;
        break;
      case lock_shared:
        if (written_) return std::nullopt;
        ++readers_;
        break;
      default:
        if (readers_ != 1) return std::nullopt;
        readers_ = 0;
        written_ = true;
    }
    return outcome{fate::granted};
  }

  /// An upgrade goes ahead of the line, and while it waits nobody enters.
  bool let_in() {
    const auto first = std::find_if(line_.begin(), line_.end(), [](const wish& each) { return each.verb == upgrade; });
    if (first == line_.end()) return model::let_in();
    const auto got = enter(*first);
    if (got) leave_line(first, *got);
    return got.has_value();
  }

  int own_call(const wish& asked) {
    switch (asked.verb) {
      case try_lock:
        return !closed_ && line_.empty() && enter({0, lock}) ? 1 : 0;
      case try_lock_shared:
        return !closed_ && line_.empty() && enter({0, lock_shared}) ? 1 : 0;
      case unlock_shared:
        if (readers_ == 0) return refused;
        --readers_;
        break;
      default:
        if (!written_) return refused;
        written_ = false;
        if (asked.verb == downgrade) ++readers_;
    }
    return 0;
  }

  auto operator<=>(const shared_mutex_model&) const = default;

 private:
  [[nodiscard]] bool upgrade_waits() const {
    return std::any_of(line_.begin(), line_.end(), [](const wish& each) { return each.verb == upgrade; });
  }
  bool written_ = false;
  int readers_ = 0;
};

struct shared_mutex_subject {
  static constexpr const char* name = "shared_mutex";
  using model = shared_mutex_model;

  ~shared_mutex_subject() {
    while (call({0, model::unlock}) != refused || call({0, model::unlock_shared}) != refused) continue;
  }

  template <class Use>
  auto wait(const wish& asked, Use use) {
    if (asked.verb == model::lock) return use(object.lock());
    if (asked.verb == model::lock_shared) return use(object.lock_shared());
    return use(object.upgrade());
  }
  int call(const wish& asked) {
    switch (asked.verb) {
      case model::try_lock:
        return object.try_lock() ? 1 : 0;
      case model::try_lock_shared:
        return object.try_lock_shared() ? 1 : 0;
      case model::unlock:
        return attempt([&] { object.unlock(); });
      case model::unlock_shared:
        return attempt([&] { object.unlock_shared(); });
      default:
        return attempt([&] { object.downgrade(); });
    }
  }

  shared_mutex object;
};

}  // namespace weir::sequential
