#pragma once

// What the demo draws: a service at one moment, as lines that fit into a terminal of any size. Colors only repeat what
// signs and numbers show.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace demo {

/// A synchronizer at one moment: `in_use` of `limit`; 0: it has none.
struct reading {
  std::size_t in_use = 0, limit = 0, waiting = 0;
  long waits = 0, timed_out = 0;
};

/// All of the service at one moment.
struct snapshot {
  reading connections, jobs, results, config, closing, clients;
  long answered = 0;
};

/// What a picture shows.
struct view {
  const std::deque<snapshot>& history;  // ten a second, the newest at the end
  const snapshot& before;               // a second ago
  double seconds, of;
  bool closing, rush_hour, slow_disk;
};

struct screen {
  std::size_t columns, rows;
  bool colored;
};

using lines = std::vector<std::string>;

constexpr const char *bold = "\x1b[1m", *grey = "\x1b[38;5;245m", *red = "\x1b[38;5;203m", *green = "\x1b[38;5;114m",
                     *yellow = "\x1b[38;5;221m", *blue = "\x1b[38;5;75m", *cyan = "\x1b[38;5;80m";

template <class... Values>
std::string text(const char* format, Values... values) {
  char line[200];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

inline std::string times(std::size_t n, const char* sign) {
  std::string repeated;
  while (n-- > 0) repeated += sign;
  return repeated;
}

/// Lines of at most `columns`, broken between words where possible. All but the first are indented.
inline lines wrapped(std::string_view words, std::size_t columns, std::size_t indent = 0) {
  lines all;
  std::string begin;
  while (begin.size() + words.size() > columns) {
    const std::size_t room = columns - begin.size();
    const std::size_t space = words.find_last_of(' ', room);
    const bool breaks = space != words.npos && words.find_first_not_of(' ') < space;
    const std::string_view line = words.substr(0, breaks ? space : room);
    all.push_back(begin + std::string(line.substr(0, line.find_last_not_of(' ') + 1)));
    words.remove_prefix(line.size());
    words.remove_prefix(std::min(words.size(), words.find_first_not_of(' ')));
    begin.assign(std::min(indent, columns / 2), ' ');
  }
  if (!words.empty()) all.push_back(begin + std::string(words));
  return all;
}

/// At most `columns` signs of a line, and all of its colors.
inline std::string cut(const std::string& line, std::size_t columns) {
  std::string kept;
  std::size_t shown = 0;
  bool escape = false;
  for (const char byte : line) {
    const bool continues = (static_cast<unsigned char>(byte) & 0xC0U) == 0x80;  // UTF-8: still the same sign
    escape = escape || byte == '\x1b';
    if (!escape && !continues) ++shown;
    if (escape || shown <= columns) kept += byte;
    if (byte == 'm') escape = false;
  }
  return kept;
}

/// Draws for one screen.
class painter {
 public:
  explicit painter(const screen& on)
      : on_(on), margin_(on.columns < 72 ? 0 : 2), width_(std::max<std::size_t>(20, on.columns) - 2 * margin_) {}

  /// No line is longer than the screen is wide, and there are no more than it has rows: a narrow one has fewer columns
  /// of numbers, a low one has no chart, then no empty lines, then only what fits.
  [[nodiscard]] lines picture(const view& of) const {
    lines all = heading(of);
    append(all, lines{""}, table(of.history.back(), of.before), lines{""}, state(of));
    lines above_chart{""};
    append(above_chart, caption());
    const std::size_t taken = all.size() + above_chart.size();
    if (taken + 2 <= on_.rows) {
      append(all, above_chart, chart(of.history, std::min<std::size_t>(6, on_.rows - taken)));
    } else if (all.size() > on_.rows) {
      std::erase(all, "");
      all.resize(std::min(all.size(), on_.rows));
    }
    for (std::string& line : all) line = cut(std::string(margin_, ' ') + line, on_.columns);
    return all;
  }

 private:
  /// Which columns of the table there is room for. A name and what is in use always fit.
  struct columns {
    explicit columns(std::size_t width) : room(width - 19) {
      waiting = fits(8);
      bar = fits(7) ? 6 : 0;
      timed_out = fits(12);
      waits = fits(8);
      kind = fits(13);
      if (bar != 0) bar += std::min<std::size_t>(room, 34);
    }

    /// The first that does not fit ends it: a wider screen shows what a narrower one does, and more.
    bool fits(std::size_t width) {
      more = more && room >= width;
      if (more) room -= width;
      return more;
    }

    std::size_t room, bar = 0;
    bool more = true, waiting = false, timed_out = false, waits = false, kind = false;
  };

  static constexpr std::size_t axis = 5;

  template <class... More>
  static void append(lines& all, const More&... more) {
    (all.insert(all.end(), more.begin(), more.end()), ...);
  }

  [[nodiscard]] std::string paint(const char* color, const std::string& words) const {
    return on_.colored ? color + words + "\x1b[0m" : words;
  }

  [[nodiscard]] std::string bar(std::size_t value, std::size_t full, std::size_t length, const char* color,
                                const char* filled_sign, const char* empty_sign) const {
    const std::size_t filled = std::min(length, (value * length + full - 1) / full);
    return paint(color, times(filled, filled_sign)) + paint(grey, times(length - filled, empty_sign));
  }

  [[nodiscard]] lines heading(const view& of) const {
    const std::string about =
        text("weir  %zu clients, 2 threads, %s", of.history.back().clients.limit, of.closing ? "closing" : "open");
    const std::string time = text("%.1f of %.0f s", of.seconds, of.of);
    lines all = wrapped(about, width_);
    if (about.size() + 2 + time.size() <= width_) {
      all.front() += std::string(width_ - about.size() - time.size(), ' ') + time;
    } else {
      all.push_back(time);
    }
    all.front() = paint(bold, all.front().substr(0, 4)) + all.front().substr(4);
    all.push_back(bar(static_cast<std::size_t>(1000 * of.seconds / of.of), 1000, width_, blue, "━", "·"));
    return all;
  }

  [[nodiscard]] std::string row(const columns& shown, const char* name, const char* kind, const reading& now,
                                const reading& before) const {
    const long timed_out = now.timed_out - before.timed_out;
    std::string line = text("%-11s", name);
    if (shown.kind) line += paint(grey, text(" %-12s", kind));
    if (now.limit == 0) {
      line += std::string((shown.bar != 0 ? shown.bar + 1 : 0) + 8, ' ');
    } else {
      const char* color = now.in_use >= now.limit ? yellow : green;
      if (shown.bar != 0) line += " " + bar(now.in_use, now.limit, shown.bar, color, "■", "·");
      line += text("%4zu", now.in_use) + paint(grey, text("/%-3zu", now.limit));
    }
    if (shown.waiting) line += paint(now.waiting != 0 ? cyan : grey, text("%8zu", now.waiting));
    if (shown.waits) line += text("%8ld", now.waits - before.waits);
    if (shown.timed_out) line += paint(timed_out != 0 ? red : grey, text("%12ld", timed_out));
    return line;
  }

  [[nodiscard]] lines table(const snapshot& now, const snapshot& before) const {
    const columns shown(width_);
    const std::size_t in_use = (shown.bar != 0 ? shown.bar + 1 : 0) + 8;
    const std::string titles =
        std::string(shown.kind ? 24 : 11, ' ') +  //
        text("%-*s", static_cast<int>(in_use), " in use") + (shown.waiting ? text("%8s", "waiting") : "") +
        (shown.waits ? text("%8s", "waits/s") : "") + (shown.timed_out ? text("%12s", "time-outs/s") : "");
    return {paint(grey, titles),
            row(shown, "connections", "semaphore", now.connections, before.connections),
            row(shown, "jobs", "pool", now.jobs, before.jobs),
            row(shown, "results", "queue", now.results, before.results),
            row(shown, "config", "shared_mutex", now.config, before.config),
            row(shown, "closing", "event", now.closing, before.closing),
            row(shown, "clients", "wait_group", now.clients, before.clients)};
  }

  [[nodiscard]] lines state(const view& of) const {
    const std::string hour = of.rush_hour ? paint(yellow, "rush hour ") : "quiet hour";
    const std::string disk = of.slow_disk ? paint(red, "slow disk") : "fast disk";
    const long answered = of.history.back().answered - of.before.answered;
    const std::string answers = paint(bold, text("%5ld", answered)) + " answered/s";
    if (width_ < 45) return {hour, disk, answers};
    return {hour + "   " + disk + "   " + answers};
  }

  [[nodiscard]] lines caption() const {
    const double shown = static_cast<double>(width_ - axis) / 10;
    lines all = wrapped(text("waiting for a connection, the last %.1f s", shown), width_);
    for (std::string& line : all) line = paint(grey, line);
    return all;
  }

  /// How many wait for a connection: one column for each moment, the newest at the right.
  [[nodiscard]] lines chart(const std::deque<snapshot>& history, std::size_t height) const {
    static constexpr std::array eighths{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::size_t full = 320;
    lines all;
    for (std::size_t level = height; level-- > 0;) {
      const std::string label = level == height - 1 ? text("%4zu ", full) : level == 0 ? "   0 " : "     ";
      std::string marks;
      for (std::size_t i = history.size() - std::min(width_ - axis, history.size()); i < history.size(); ++i) {
        const std::size_t reached = history[i].connections.waiting * height * 8 / full;
        marks += eighths[std::min<std::size_t>(8, reached - std::min(reached, level * 8))];
      }
      all.push_back(paint(grey, label) + paint(cyan, marks));
    }
    return all;
  }

  screen on_;
  std::size_t margin_, width_;
};

}  // namespace demo
