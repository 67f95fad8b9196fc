#pragma once

// What several have called at the same time, and what has come of it: a history. It is linearizable if every call can
// be given a point of time between its begin and its end, and every wait several, such that a sequential model does the
// same. The points of a wait: it arrives (where that counts by itself), it stands in line; then, if it fails by itself,
// it gives up, and those behind it are let through. Those that one call lets through are so one after the other, and
// until then each of them may still give up. Nothing else changes by a wait that fails: a permit that a time-out has
// lost cannot be explained away.
//
// The search is that of Wing and Gong, with a memory of what has been tried (Lowe): it goes through the begins and ends
// in their order and puts points only where an end asks for them, which loses nothing, since every point can be put off
// until then.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <sequential/model.hpp>

namespace weir::sequential {

/// A call that was made, or the cancel of a wait by its ticket (then `cancels` is its number).
struct record {
  wish asked;
  int cancels = -1;
  int returned = 0;  // of a call
  outcome came;      // of a wait
  auto operator<=>(const record&) const = default;
};

/// `stands`: the wait was started and returned to its caller, so its request has been made.
enum class moment : std::uint8_t { begins, stands, ends };

struct history {
  std::vector<record> records;                          // a wait's id is its place here
  std::vector<std::pair<moment, std::uint8_t>> events;  // in the order of time
  auto operator<=>(const history&) const = default;
};

template <class Model>
class linearization {
 public:
  static bool exists(const history& of) {
    linearization search(of);
    return search.from(0, {Model(), std::vector<progress>(of.records.size())});
  }

 private:
  /// `gone` has left the line, and those behind it are still to be served; `serving` is over when the model's is.
  enum class progress : std::uint8_t { none, arrived, requested, gone, serving, ended };
  struct state {
    Model model;
    std::vector<progress> made;
    auto operator<=>(const state&) const = default;
  };

  explicit linearization(const history& of) : history_(of) {}

  bool from(std::size_t at, state now) {
    for (; at < history_.events.size(); ++at) {
      const auto [what, index] = history_.events[at];
      if (what == moment::stands && now.made[index] < progress::requested) break;
      if (what == moment::ends && !ended(now, index)) break;
    }
    if (at == history_.events.size()) return true;
    if (!tried_.emplace(at, now).second) return false;
    if (now.model.serving()) {
      state next = now;
      next.model.serve_one();
      if (fits(next) && from(at, std::move(next))) return true;
    }
    for (std::size_t i = 0; i < at; ++i) {
      const auto [what, index] = history_.events[i];
      if (what != moment::begins) continue;
      state next = now;
      if (put_point(next, index) && fits(next) && from(at, std::move(next))) return true;
    }
    return false;
  }

  /// Whether all of its points are put.
  bool ended(const state& now, std::size_t index) const {
    const record& of = history_.records[index];
    if (!waits(of) || of.came.how == fate::timed_out) return now.made[index] == progress::ended;
    return now.made[index] == progress::requested && now.model.of(of.asked.id) == of.came;
  }

  /// The next point of one that has begun. False: not here, or not with what has come of it.
  bool put_point(state& now, std::size_t index) const {
    const record& of = history_.records[index];
    progress& made = now.made[index];
    if (made == progress::none && of.cancels >= 0) return cancel(now, of, made);
    if (made == progress::requested) {
      made = progress::gone;
      return of.came.how == fate::timed_out && now.model.give_up(of.asked.id, fate::timed_out);
    }
    if (now.model.serving()) return false;
    switch (made) {
      case progress::none:
        if (waits(of)) {
          made = now.model.announce(of.asked) ? progress::requested : progress::arrived;
          return true;
        }
        made = progress::serving;
        return now.model.call(of.asked) == of.returned || counts(of);
      case progress::arrived:
        made = progress::requested;
        now.model.stand(of.asked);
        return true;
      case progress::gone:
        made = progress::serving;
        now.model.begin_serving();
        return true;
      default:
        return false;
    }
  }

  bool cancel(state& now, const record& of, progress& made) const {
    if (now.made[static_cast<std::size_t>(of.cancels)] < progress::requested) return false;
    const bool withdrawn = now.model.give_up(of.cancels, fate::cancelled);
    made = withdrawn ? progress::gone : progress::ended;
    return withdrawn == (of.returned != 0);
  }

  /// Whether what the model has come to is what came.
  bool fits(state& now) const {
    for (std::size_t i = 0; i < history_.records.size(); ++i) {
      if (now.made[i] == progress::serving && !now.model.serving()) now.made[i] = progress::ended;
      const record& of = history_.records[i];
      if (now.made[i] < progress::requested || !waits(of)) continue;
      const outcome& stands = now.model.of(of.asked.id);
      if (stands.how != fate::waits && stands != of.came) return false;
    }
    return true;
  }

  static bool counts(const record& of) {
    return of.asked.verb == cancel_all ||
           (of.asked.verb >= 0 && Model::verbs[static_cast<std::size_t>(of.asked.verb)].counts);
  }
  static bool waits(const record& of) { return of.cancels < 0 && is_wait<Model>(of.asked); }

  const history& history_;
  std::set<std::pair<std::size_t, state>> tried_;
};

template <class Model>
std::string describe(const history& of) {
  static constexpr const char* fates[] = {"waits", "granted", "closed", "refused", "timed out", "cancelled"};
  static constexpr const char* moments[] = {"begins", "stands", "ends"};
  std::string text;
  for (const auto& [what, index] : of.events) {
    const record& each = of.records[index];
    text += "  " + std::to_string(index) + ' ' + moments[static_cast<std::size_t>(what)] + ": ";
    text += each.cancels >= 0 ? "cancel of " + std::to_string(each.cancels)
                              : std::string(name_of<Model>(each.asked)) + '(' + std::to_string(each.asked.number) + ')';
    if (what == moment::ends) {
      text += " -> " + std::string(each.came.how != fate::waits ? fates[static_cast<std::size_t>(each.came.how)] : "") +
              ' ' + std::to_string(each.came.how != fate::waits ? each.came.value : each.returned);
    }
    text += '\n';
  }
  return text;
}

}  // namespace weir::sequential
