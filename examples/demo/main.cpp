// A service to watch: every number on the screen is read from a synchronizer while it works, and holds nobody up. At
// the end the sums are checked.
//
//   demo [--seconds N] [--plain]          --plain, or a pipe: a line a second instead of a picture

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <string>
#include <string_view>
#include <thread>

#include "service.hpp"

namespace {

using demo::meter;
using demo::service;

constexpr std::size_t frames_a_second = 10;
constexpr std::size_t width = 80;

// What a terminal understands.
constexpr const char *bold = "\x1b[1m", *grey = "\x1b[38;5;245m", *dark = "\x1b[38;5;238m", *red = "\x1b[38;5;203m",
                     *green = "\x1b[38;5;114m", *yellow = "\x1b[38;5;221m", *blue = "\x1b[38;5;75m",
                     *cyan = "\x1b[38;5;80m", *plain_text = "\x1b[0m", *end_of_line = "\x1b[K\n",
                     *hide_cursor = "\x1b[?25l", *show_cursor = "\x1b[?25h";

volatile sig_atomic_t interrupted = 0;

/// A synchronizer at one moment. `in_use` of `limit`; 0: it has none.
struct reading {
  reading(std::size_t used, std::size_t most, std::size_t queued, const meter& counted = {})
      : in_use(used), limit(most), waiting(queued), waits(counted.waits), timed_out(counted.timed_out) {}

  std::size_t in_use, limit, waiting;
  long waits, timed_out;
};

/// All of the service at one moment.
struct snapshot {
  explicit snapshot(const service& s)
      : connections(service::connection_count - s.connections.available(), service::connection_count,
                    s.connections.waiting(), s.admission),
        jobs(s.jobs.running(), s.jobs.limit(), s.jobs.waiting(), s.submission),
        results(s.results.size(), s.results.capacity(), s.results.waiting_push(), s.handing_over),
        config(s.config_lock.readers(), 0, s.config_lock.waiting(), s.reading),
        closing(0, 0, s.closing.waiting(), s.pausing),
        clients(s.clients.count(), service::client_count, s.clients.waiting()),
        answered(s.answered) {}

  reading connections, jobs, results, config, closing, clients;
  long answered;
};

template <class... Values>
std::string text(const char* format, Values... values) {
  char line[200];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

std::string times(std::size_t n, const char* sign) {
  std::string repeated;
  while (n-- > 0) repeated += sign;
  return repeated;
}

std::string paint(const char* colour, const std::string& words) { return colour + words + plain_text; }

std::string bar(std::size_t value, std::size_t full, std::size_t length, const char* colour) {
  const std::size_t filled = std::min(length, (value * length + full - 1) / full);
  return paint(colour, times(filled, "━")) + paint(dark, times(length - filled, "━"));
}

std::string row(const char* name, const char* kind, const reading& now, const reading& before) {
  const bool full = now.limit != 0 && now.in_use >= now.limit;
  const long timed_out = now.timed_out - before.timed_out;
  return text("  %-12s", name) + paint(grey, text("%-13s", kind)) +
         (now.limit == 0 ? std::string(22, ' ')
                         : bar(now.in_use, now.limit, 13, full ? yellow : green) + text("%4zu", now.in_use) +
                               paint(grey, text("/%-4zu", now.limit))) +
         paint(now.waiting != 0 ? cyan : grey, text("%8zu", now.waiting)) + text("%9ld", now.waits - before.waits) +
         paint(timed_out != 0 ? red : grey, text("%13ld", timed_out)) + end_of_line;
}

/// How many wait for a connection: one column for each frame, the newest at the right.
std::string chart(const std::deque<snapshot>& history) {
  static constexpr const char* eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t height = 4, columns = width - 8, full = 320;
  std::string rows;
  for (std::size_t level = height; level-- > 0;) {
    rows += paint(grey, level == height - 1 ? text("  %4zu ", full) : level == 0 ? "     0 " : "       ");
    std::string marks;
    for (std::size_t i = history.size() - std::min(columns, history.size()); i < history.size(); ++i) {
      const std::size_t reached = history[i].connections.waiting * height * 8 / full;
      marks += eighths[std::min<std::size_t>(8, reached - std::min(reached, level * 8))];
    }
    rows += paint(cyan, marks) + end_of_line;
  }
  return rows;
}

/// This thread waits among the tasks, in the same queue.
demo::configuration current_config(service& s) {
  const auto reading = s.config_lock.scoped_lock_shared().wait();
  return s.config;
}

std::string picture(service& s, const std::deque<snapshot>& history, const snapshot& before, double seconds,
                    double of) {
  const snapshot& now = history.back();
  const demo::configuration config = current_config(s);
  const char* state = s.closing.is_set() ? "closing" : "open";
  return paint(bold, "  weir") + text("  %zu clients, 2 threads, %-8s", service::client_count, state) +
         text("%30.1f of %.0f s", seconds, of) + end_of_line + "  " +
         bar(static_cast<std::size_t>(1000 * seconds / of), 1000, width - 4, blue) + end_of_line + end_of_line +
         paint(grey, text("%33s%24s%9s%13s", "in use", "waiting", "waits/s", "time-outs/s")) + end_of_line +
         row("connections", "semaphore", now.connections, before.connections) +
         row("jobs", "pool", now.jobs, before.jobs) +  //
         row("results", "queue", now.results, before.results) +
         row("config", "shared_mutex", now.config, before.config) +
         row("closing", "event", now.closing, before.closing) +
         row("clients", "wait_group", now.clients, before.clients) + end_of_line + "  " +
         (config.rush_hour ? paint(yellow, "rush hour ") : "quiet hour") + "   " +
         (config.disk_is_slow ? paint(red, "slow disk") : "fast disk") + "   " +
         paint(bold, text("%5ld", now.answered - before.answered)) + " answered a second" + end_of_line + end_of_line +
         paint(grey, "  waiting for a connection, the last 7 seconds") + end_of_line + chart(history);
}

std::string line(const snapshot& now, const snapshot& before, double seconds) {
  return text(
      "%3.0f s  connections %2zu + %3zu waiting  jobs %2zu + %2zu  results %2zu + %2zu  answered %4ld/s  timed out "
      "%4ld/s\n",
      seconds, now.connections.in_use, now.connections.waiting, now.jobs.in_use, now.jobs.waiting, now.results.in_use,
      now.results.waiting, now.answered - before.answered,
      now.connections.timed_out + now.jobs.timed_out - before.connections.timed_out - before.jobs.timed_out);
}

/// Until the time is over, or Ctrl-C; then until all of the service has stopped.
void watch(service& s, const weir::future<>& running, std::size_t seconds, bool plain) {
  std::deque<snapshot> history{snapshot(s)};
  if (!plain) std::fputs(hide_cursor, stdout);
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t frame = 1; !running.ready(); ++frame) {
    std::this_thread::sleep_until(begin + frame * std::chrono::milliseconds(1000 / frames_a_second));
    if (frame > seconds * frames_a_second || interrupted != 0) s.closing.set();
    history.emplace_back(s);
    const snapshot& before = history[history.size() - 1 - std::min(frames_a_second, frame)];  // a second ago
    const double now = static_cast<double>(frame) / frames_a_second;
    if (plain && frame % frames_a_second == 0) std::fputs(line(history.back(), before, now).c_str(), stdout);
    if (!plain) {
      const auto drawn = picture(s, history, before, now, static_cast<double>(seconds));
      const auto lines = std::count(drawn.begin(), drawn.end(), '\n');
      std::fputs((frame > 1 ? text("\x1b[%ldA", lines) + drawn : drawn).c_str(), stdout);
    }
    std::fflush(stdout);
  }
  if (!plain) std::fputs(show_cursor, stdout);
}

bool sum(const char* what, long left, long right) {
  std::printf("  %-66s %s\n", what, left == right ? "right" : text("WRONG: %ld, not %ld", left, right).c_str());
  return left == right;
}

bool check(const service& s) {
  std::printf("\n%9ld asked\n%9ld answered\n%9ld gave up in time\n%9ld refused when the service closed\n\n",
              s.asked.load(), s.answered.load(), s.gave_up.load(), s.refused.load());
  const auto all = {
      sum("every request was answered, gave up or was refused", s.answered + s.gave_up + s.refused, s.asked),
      sum("every job that was started has ended, and none failed", static_cast<long>(s.jobs.completed()), s.answered),
      sum("every result that was computed was written", s.written, s.computed),
      sum("every connection is free again", static_cast<long>(s.connections.available()),
          static_cast<long>(service::connection_count)),
      sum("nobody saw a configuration that was being changed", s.torn, 0),
  };
  return std::count(all.begin(), all.end(), false) == 0;
}

struct options {
  std::size_t seconds = 20;
  bool plain = isatty(STDOUT_FILENO) == 0;
  bool understood = true;

  options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view said = argv[i];
      if (said == "--plain") {
        plain = true;
      } else if (said == "--seconds" && ++i < argc) {
        const std::string_view number = argv[i];
        const auto parsed = std::from_chars(number.data(), number.data() + number.size(), seconds);
        understood = understood && parsed.ec == std::errc() && parsed.ptr == number.end() && seconds > 0;
      } else {
        understood = false;
      }
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const options chosen(argc, argv);
  if (!chosen.understood) {
    std::fputs("usage: demo [--seconds N] [--plain]\n", stderr);
    return 2;
  }
  signal(SIGINT, [](int) { interrupted = 1; });  // Ctrl-C: the service stops gracefully too

  weir::thread_pool threads(2);
  service s(threads);
  auto running = weir::spawn(threads, demo::run(s, threads));
  watch(s, running, chosen.seconds, chosen.plain);
  running.get().wait();
  return check(s) ? 0 : 1;
}
