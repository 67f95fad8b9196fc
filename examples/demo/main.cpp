// A service to watch: every number on the screen is read from a synchronizer while it works, and holds nobody up. At
// the end the sums are checked.
//
//   demo [--seconds N] [--plain]          --plain, or a pipe: a line a second instead of a picture
//
// The picture fits into the terminal, also when its size changes. NO_COLOR draws it without colors.

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "screen.hpp"
#include "service.hpp"

namespace {

using demo::meter;
using demo::reading;
using demo::service;
using demo::snapshot;

constexpr std::size_t frames_a_second = 10;

// What a terminal understands. The picture has a screen of its own, which a change of size cannot leave in disorder.
constexpr const char *own_screen = "\x1b[?1049h\x1b[?25l", *first_screen = "\x1b[?25h\x1b[?1049l";

volatile sig_atomic_t interrupted = 0;

reading look(std::size_t in_use, std::size_t limit, std::size_t waiting, const meter& counted = {}) {
  return {in_use, limit, waiting, counted.waits, counted.timed_out};
}

snapshot look(const service& s) {
  return {.connections = look(service::connection_count - s.connections.available(), service::connection_count,
                              s.connections.waiting(), s.admission),
          .jobs = look(s.jobs.running(), s.jobs.limit(), s.jobs.waiting(), s.submission),
          .results = look(s.results.size(), s.results.capacity(), s.results.waiting_push(), s.handing_over),
          .config = look(s.config_lock.readers(), 0, s.config_lock.waiting(), s.reading),
          .closing = look(0, 0, s.closing.waiting(), s.pausing),
          .clients = look(s.clients.count(), service::client_count, s.clients.waiting()),
          .answered = s.answered};
}

/// This thread waits among the tasks, in the same queue.
demo::configuration current_config(service& s) {
  const auto reading = s.config_lock.scoped_lock_shared().wait();
  return s.config;
}

std::optional<std::size_t> positive(std::string_view number) {
  std::size_t value = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != number.data() + number.size() || value == 0) return {};
  return value;
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before there is a second thread
  return value != nullptr ? value : "";
}

struct options {
  std::size_t seconds = 20;
  bool plain = isatty(STDOUT_FILENO) == 0 || environment("TERM") == "dumb";
  bool colored = environment("NO_COLOR").empty();
  std::optional<std::size_t> columns = positive(environment("COLUMNS")), rows = positive(environment("LINES"));
  bool understood = true;

  options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view said = argv[i];
      if (said == "--plain") {
        plain = true;
      } else if (said == "--seconds" && ++i < argc) {
        const auto number = positive(argv[i]);
        understood = understood && number;
        seconds = number.value_or(seconds);
      } else {
        understood = false;
      }
    }
  }

  /// As it is now: a terminal may change its size. A pipe has no limit but COLUMNS.
  [[nodiscard]] demo::screen screen() const {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
      return {size.ws_col, size.ws_row, colored};
    }
    return {columns.value_or(plain ? 1000 : 80), rows.value_or(24), colored};
  }
};

void print(const demo::lines& all) {
  for (const std::string& line : all) std::printf("%s\n", line.c_str());
}

/// Each line at its place, over what was there.
void draw(const demo::lines& all, std::size_t rows) {
  for (std::size_t i = 0; i < rows; ++i) {
    std::printf("\x1b[%zu;1H\x1b[K%s", i + 1, i < all.size() ? all[i].c_str() : "");
  }
}

std::string line(const snapshot& now, const snapshot& before, double seconds) {
  return demo::text(
      "%3.0f s  connections %2zu + %3zu waiting  jobs %2zu + %2zu  results %2zu + %2zu  answered %4ld/s  timed out "
      "%4ld/s",
      seconds, now.connections.in_use, now.connections.waiting, now.jobs.in_use, now.jobs.waiting, now.results.in_use,
      now.results.waiting, now.answered - before.answered,
      now.connections.timed_out + now.jobs.timed_out - before.connections.timed_out - before.jobs.timed_out);
}

/// Until the time is over, or Ctrl-C; then until all of the service has stopped.
void watch(service& s, const weir::future<>& running, const options& chosen) {
  std::deque<snapshot> history{look(s)};
  demo::lines drawn;
  if (!chosen.plain) std::fputs(own_screen, stdout);
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t frame = 1; !running.ready(); ++frame) {
    std::this_thread::sleep_until(begin + frame * std::chrono::milliseconds(1000 / frames_a_second));
    if (frame > chosen.seconds * frames_a_second || interrupted != 0) s.closing.set();
    history.push_back(look(s));
    const snapshot& before = history[history.size() - 1 - std::min(frames_a_second, frame)];  // a second ago
    const double now = static_cast<double>(frame) / frames_a_second;
    const demo::screen screen = chosen.screen();
    if (!chosen.plain) {
      const demo::configuration config = current_config(s);
      drawn = demo::painter(screen).picture({.history = history,
                                             .before = before,
                                             .seconds = now,
                                             .of = static_cast<double>(chosen.seconds),
                                             .closing = s.closing.is_set(),
                                             .rush_hour = config.rush_hour,
                                             .slow_disk = config.disk_is_slow});
      draw(drawn, screen.rows);
    } else if (frame % frames_a_second == 0) {
      print(demo::wrapped(line(history.back(), before, now), screen.columns, 7));
    }
    std::fflush(stdout);
  }
  if (!chosen.plain) std::fputs(first_screen, stdout);
  print(drawn);
}

/// The sums at the end, in lines of at most `columns`.
class checked {
 public:
  explicit checked(std::size_t columns) : columns_(columns) {}

  void count(long n, const char* what) const { print(demo::wrapped(demo::text("%9ld %s", n, what), columns_, 10)); }

  void sum(const char* what, long left, long right) {
    const bool same = left == right;
    right_ = right_ && same;
    print(demo::wrapped(same ? demo::text("right  %s", what) : demo::text("WRONG  %s: %ld, not %ld", what, left, right),
                        columns_, 7));
  }

  [[nodiscard]] bool all_right() const { return right_; }

 private:
  std::size_t columns_;
  bool right_ = true;
};

bool check(const service& s, std::size_t columns) {
  checked sums(columns);
  print({""});
  sums.count(s.asked, "asked");
  sums.count(s.answered, "answered");
  sums.count(s.gave_up, "gave up in time");
  sums.count(s.refused, "refused when the service closed");
  print({""});
  sums.sum("every request was answered, gave up or was refused", s.answered + s.gave_up + s.refused, s.asked);
  sums.sum("every job that was started has ended, and none failed", static_cast<long>(s.jobs.completed()), s.answered);
  sums.sum("every result that was computed was written", s.written, s.computed);
  sums.sum("every connection is free again", static_cast<long>(s.connections.available()),
           static_cast<long>(service::connection_count));
  sums.sum("nobody saw a configuration that was being changed", s.torn, 0);
  return sums.all_right();
}

}  // namespace

int main(int argc, char** argv) {
  const options chosen(argc, argv);
  if (!chosen.understood) {
    std::fputs("usage: demo [--seconds N] [--plain]\n", stderr);
    return 2;
  }
  for (const int request : {SIGINT, SIGTERM}) signal(request, [](int) { interrupted = 1; });  // stops gracefully too

  weir::thread_pool threads(2);
  service s(threads);
  auto running = weir::spawn(threads, demo::run(s, threads));
  watch(s, running, chosen);
  running.get().wait();
  return check(s, chosen.screen().columns) ? 0 : 1;
}
