// A small service to watch: 300 clients share 20 connections for a while, then the service stops. Every number on the
// screen is read from a synchronizer while it works; at the end the sums are checked.
//
//   demo [--seconds N] [--plain]          --plain, or a pipe: a line a second instead of a picture

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t client_count = 300, connection_count = 20, frames_a_second = 10;

/// Changed in two steps with a wait in between: without the mutex somebody would see the versions differ.
struct configuration {
  int version = 0;
  bool rush_hour = true;
  int version_written = 0;
};

struct service {
  weir::semaphore connections{connection_count};
  weir::mutex config_mutex;
  configuration config;
  weir::event stop;
  std::atomic<long> asked{0}, served{0}, timed_out{0}, refused{0};
  std::atomic<long> config_read{0}, config_torn{0};
};

weir::task<bool> is_rush_hour(service& s) {
  auto lock = co_await s.config_mutex.scoped_lock();
  ++s.config_read;
  if (s.config.version != s.config.version_written) ++s.config_torn;
  co_return s.config.rush_hour;
}

weir::task<> request(service& s, milliseconds patience, milliseconds work) {
  ++s.asked;
  auto connection = co_await s.connections.scoped_acquire().within(patience);
  if (connection) {
    co_await weir::sleep_for(work);
    ++s.served;
  } else if (connection.error() == weir::errc::timed_out) {
    ++s.timed_out;
  } else {
    ++s.refused;
  }
}

weir::task<> client(service& s, unsigned seed) {
  std::minstd_rand random(seed);
  auto between = [&random](int low, int high) {
    return milliseconds(std::uniform_int_distribution(low, high)(random));
  };
  for (;;) {
    const bool rush = co_await is_rush_hour(s);
    const auto pause = rush ? between(1, 80) : between(100, 800);
    const auto stopped = co_await s.stop.wait().within(pause);  // a pause that ends at once when the service stops
    if (stopped) co_return;
    co_await request(s, between(20, 120), between(4, 12));
  }
}

/// Changes the configuration now and then, and keeps everybody from it while it is written to disk.
weir::task<> administrator(service& s) {
  for (;;) {
    const auto stopped = co_await s.stop.wait().within(2s);
    if (stopped) co_return;
    auto lock = co_await s.config_mutex.scoped_lock();
    ++s.config.version;
    s.config.rush_hour = !s.config.rush_hour;
    co_await weir::sleep_for(100ms);
    ++s.config.version_written;
  }
}

/// A look at the running synchronizers: it holds nobody up.
struct reading {
  explicit reading(const service& s)
      : in_use(connection_count - s.connections.available()),
        waiting(s.connections.waiting()),
        config_waiting(s.config_mutex.waiting()),
        stop_waiting(s.stop.waiting()),
        config_read(s.config_read),
        served(s.served),
        timed_out(s.timed_out) {}

  std::size_t in_use, waiting, config_waiting, stop_waiting;
  long config_read, served, timed_out;
};

template <class... Values>
std::string text(const char* format, Values... values) {
  char line[160];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

std::string row(const char* name, std::size_t value, std::size_t full, const std::string& remark) {
  constexpr std::size_t width = 20;
  const std::size_t filled = std::min(width, (value * width + full - 1) / full);
  return text("  %-34s", name) + "\x1b[36m" + std::string(filled, '#') + "\x1b[0m" + std::string(width - filled, '.') +
         text("%5zu ", value) + remark + "\x1b[K\n";
}

/// How many wait for a connection: one column for each reading, the newest at the right.
std::string chart(const std::deque<reading>& history) {
  constexpr std::size_t height = 5, width = 70, full = 200;
  std::string rows;
  for (std::size_t level = height; level > 0; --level) {
    rows += level == height ? text("  %zu |", full) : level == 1 ? "    0 |" : "      |";
    for (std::size_t i = history.size() - std::min(width, history.size()); i < history.size(); ++i) {
      rows += history[i].waiting * height > full * (level - 1) ? '#' : ' ';
    }
    rows += "\x1b[K\n";
  }
  return rows;
}

std::string picture(const std::deque<reading>& history, const reading& before, double seconds) {
  const reading& now = history.back();
  return text("weir: %zu clients, %zu connections, 2 threads %27.1f s\x1b[K\n\x1b[K\n", client_count, connection_count,
              seconds) +
         row("connections  semaphore  in use", now.in_use, connection_count,
             text("%5ld/s served", now.served - before.served)) +
         row("                        waiting", now.waiting, client_count,
             text("%5ld/s timed out", now.timed_out - before.timed_out)) +
         row("config       mutex      waiting", now.config_waiting, client_count,
             text("%5ld/s read", now.config_read - before.config_read)) +
         row("stop         event      waiting", now.stop_waiting, client_count, "") +
         "\x1b[K\n  waiting for a connection, the last 7 seconds\x1b[K\n" + chart(history);
}

std::string line(const reading& now, const reading& before, double seconds) {
  return text("%3.0f s  in use %2zu  waiting %3zu  served %4ld/s  timed out %4ld/s  config %4ld/s\n", seconds,
              now.in_use, now.waiting, now.served - before.served, now.timed_out - before.timed_out,
              now.config_read - before.config_read);
}

void watch(const service& s, std::size_t seconds, bool plain) {
  std::deque<reading> history{reading(s)};
  for (std::size_t frame = 1; frame <= seconds * frames_a_second; ++frame) {
    std::this_thread::sleep_for(1000ms / frames_a_second);
    history.emplace_back(s);
    const reading& before = history[history.size() - 1 - std::min(frames_a_second, frame)];  // a second ago
    const double now = static_cast<double>(frame) / frames_a_second;
    if (plain && frame % frames_a_second == 0) std::fputs(line(history.back(), before, now).c_str(), stdout);
    if (!plain) std::fputs(((frame > 1 ? "\x1b[13A" : "") + picture(history, before, now)).c_str(), stdout);
    std::fflush(stdout);
  }
}

bool check(const service& s) {
  std::printf("\n%8ld asked\n%8ld served\n%8ld timed out\n%8ld refused when the service stopped\n", s.asked.load(),
              s.served.load(), s.timed_out.load(), s.refused.load());
  std::printf("%8zu of %zu connections free, %ld torn configurations seen\n", s.connections.available(),
              connection_count, s.config_torn.load());
  const bool right = s.served + s.timed_out + s.refused == s.asked && s.connections.available() == connection_count &&
                     s.config_torn == 0;
  std::puts(right ? "Every request is accounted for and no connection is lost." : "WRONG: the sums do not agree.");
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> options(argv + 1, argv + argc);
  const auto seconds = std::find(options.begin(), options.end(), "--seconds");
  const bool plain = std::count(options.begin(), options.end(), "--plain") != 0 || isatty(STDOUT_FILENO) == 0;

  service s;
  weir::thread_pool threads(2);
  std::vector<weir::future<>> running;
  for (unsigned i = 0; i < client_count; ++i) running.push_back(weir::spawn(threads, client(s, i + 1)));
  running.push_back(weir::spawn(threads, administrator(s)));
  watch(s, options.end() - seconds > 1 ? std::stoul(std::string(seconds[1])) : 10, plain);

  s.stop.set();           // no new requests
  s.connections.close();  // whoever waits is refused; whoever is connected is served to the end
  for (auto& each : running) each.get().wait();
  return check(s) ? 0 : 1;
}
