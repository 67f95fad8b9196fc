// What things weigh, and what allocates. Given docs/cost.md, it holds that page to its numbers: a line `| `name` | n |
// ...` must say what is measured here, and nothing that is measured may be left out.

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

#include <support/allocations.hpp>
#include <support/frame.hpp>

namespace {

using namespace std::chrono_literals;
using weir::test::allocations;
using weir::test::frame_of;
using weir::test::measured;
using weir::test::stop_here;

struct row {
  std::string_view name;
  std::size_t number;
};

struct objects {
  weir::semaphore sem{0};
  weir::mutex m;
  weir::recursive_mutex r;
  weir::shared_mutex s;
  weir::condition c;
  weir::event e;
  weir::auto_reset_event a;
  weir::latch l{1};
  weir::wait_group w;
  weir::barrier b{1};
  weir::queue<int> q;
  weir::future<int> f;
  weir::run_loop loop;
  weir::mutex::guard guard;
  std::stop_token token;
  int item = 0;
};

template <class Make>
constexpr std::size_t size_of = sizeof(std::invoke_result_t<Make, objects&>);

#define WEIR_OPERATION(name, expression)                                            \
  row {                                                                             \
    name, size_of<decltype([]([[maybe_unused]] objects& o) { return expression; })> \
  }

std::vector<row> sizes() {
  return {
      {"semaphore", sizeof(weir::semaphore)},
      {"mutex", sizeof(weir::mutex)},
      {"recursive_mutex", sizeof(weir::recursive_mutex)},
      {"shared_mutex", sizeof(weir::shared_mutex)},
      {"condition", sizeof(weir::condition)},
      {"event", sizeof(weir::event)},
      {"auto_reset_event", sizeof(weir::auto_reset_event)},
      {"latch", sizeof(weir::latch)},
      {"wait_group", sizeof(weir::wait_group)},
      {"barrier", sizeof(weir::barrier)},
      {"queue<int>", sizeof(weir::queue<int>)},
      {"guarded<int>", sizeof(weir::guarded<int>)},
      {"pool", sizeof(weir::pool)},
      {"permit", sizeof(weir::permit)},
      {"mutex::guard", sizeof(weir::mutex::guard)},
      {"future<int>", sizeof(weir::future<int>)},
      {"promise<int>", sizeof(weir::promise<int>)},
      {"ticket", sizeof(weir::ticket)},
      {"task<int>", sizeof(weir::task<int>)},
      {"result<int>", sizeof(weir::result<int>)},

      WEIR_OPERATION("sem.acquire()", o.sem.acquire()),
      WEIR_OPERATION("sem.acquire().as_result()", o.sem.acquire().as_result()),
      WEIR_OPERATION("sem.acquire().resume_on(ex)", o.sem.acquire().resume_on(o.loop)),
      WEIR_OPERATION("sem.acquire().within(d)", o.sem.acquire().within(1s)),
      WEIR_OPERATION("sem.acquire().stop_on(t)", o.sem.acquire().stop_on(o.token)),
      WEIR_OPERATION("sem.acquire().within(d).stop_on(t)", o.sem.acquire().within(1s).stop_on(o.token)),
      WEIR_OPERATION("m.lock()", o.m.lock()),
      WEIR_OPERATION("r.lock()", o.r.lock()),
      WEIR_OPERATION("s.lock_shared()", o.s.lock_shared()),
      WEIR_OPERATION("c.wait(guard)", o.c.wait(o.guard)),
      WEIR_OPERATION("e.wait()", o.e.wait()),
      WEIR_OPERATION("a.wait()", o.a.wait()),
      WEIR_OPERATION("l.wait()", o.l.wait()),
      WEIR_OPERATION("w.wait()", o.w.wait()),
      WEIR_OPERATION("b.arrive_and_wait()", o.b.arrive_and_wait()),
      WEIR_OPERATION("q.push(item)", o.q.push(o.item)),
      WEIR_OPERATION("q.pop()", o.q.pop()),
      WEIR_OPERATION("f.get()", o.f.get()),
      WEIR_OPERATION("sleep_for(d)", weir::sleep_for(1s)),
      WEIR_OPERATION("select(sem.acquire(), e.wait())", weir::select(o.sem.acquire(), o.e.wait())),
      WEIR_OPERATION("select(sem.acquire(), e.wait(), q.pop())", weir::select(o.sem.acquire(), o.e.wait(), o.q.pop())),
  };
}

weir::task<int> nothing_to_do() { co_return 1; }

weir::task<std::size_t> waits(objects& o, std::stop_token stop) {
  const std::size_t before = allocations();
  co_await o.sem.acquire();
  auto limited = co_await o.sem.acquire().within(1h).stop_on(stop);
  auto late = co_await o.e.wait().within(1us);
  auto first = co_await weir::select(o.sem.acquire(), o.e.wait()).within(1h);
  co_await weir::sleep_for(1us);
  co_await weir::yield();
  if (!limited || late || !first) std::terminate();
  co_return allocations() - before;
}

weir::task<std::size_t> releases(objects& o) {
  const std::size_t before = allocations();
  for (int i = 0; i < 3; ++i) {
    while (o.sem.waiting() == 0) co_await weir::yield();
    o.sem.release();
  }
  co_return allocations() - before;
}

/// What somebody may look at no compiler leaves out.
void look_at(const void* kept) { asm volatile("" : : "r"(kept) : "memory"); }

template <class Call>
std::size_t counts(Call call) {
  const std::size_t before = allocations();
  const auto kept = call();
  look_at(&kept);
  return allocations() - before;
}

std::vector<row> counted() {
  weir::timers();  // the thread that measures limits, once for the program
  objects o;
  std::stop_source stop;
  auto [waited, released] = weir::sync_wait(weir::when_all(waits(o, stop.get_token()), releases(o)));

  o.sem.release();
  const std::size_t before = allocations();
  o.sem.acquire().wait();
  const bool late = !o.sem.acquire().within(1us).wait();
  const std::size_t blocked = late ? allocations() - before : 99;

  const std::size_t started = counts([&] { return o.e.wait().start([](weir::result<>) {}); });
  const std::size_t started_limited =
      counts([&] { return o.e.wait().within(1h).stop_on(stop.get_token()).start([](weir::result<>) {}); });
  o.e.set();

  weir::queue<int> bounded(64);
  for (int i = 0; i < 64; ++i) bounded.try_push(i);
  const std::size_t through = counts([&] {
    for (int i = 0; i < 1000; ++i) bounded.try_push(*bounded.try_pop());
    return 0;
  });

  weir::run_loop loop;
  auto body = nothing_to_do();
  auto another = nothing_to_do();
  const std::size_t pools = counts([&] { return weir::pool(loop, 1); });
  weir::pool one(loop, 1);
  std::vector<weir::future<int>> ends;
  ends.reserve(2);
  const std::size_t spawned = counts([&] { return ends.emplace_back(weir::spawn(loop, std::move(body))).valid(); });
  const std::size_t submitted = counts([&] { return ends.emplace_back(*one.try_submit(std::move(another))).valid(); });
  loop.finish();
  loop.run();

  return {
      {"co_await op", waited},
      {"op.wait()", blocked},
      {"sem.release()", released},
      {"op.start(callback)", started},
      {"op.within(d).stop_on(t).start(callback)", started_limited},
      {"q.push(item), q.pop() once it has grown", through},
      {"make_oneshot<T>()", counts([] { return weir::make_oneshot<int>(); })},
      {"promise<T>()", counts([] { return weir::promise<int>(); })},
      {"spawn(ex, task)", spawned},
      {"pool(ex, limit)", pools},
      {"p.submit(task)", submitted},
  };
}

[[gnu::noinline]] measured waits_for_nothing(objects&) { co_await stop_here(); }
[[gnu::noinline]] measured waits_for_an_event(objects& o) {
  co_await stop_here();
  co_await o.e.wait();
}
[[gnu::noinline]] measured waits_for_a_permit(objects& o) {
  co_await stop_here();
  co_await o.sem.acquire();
}
[[gnu::noinline]] measured waits_for_a_while(objects& o) {
  co_await stop_here();
  auto in_time = co_await o.sem.acquire().within(1h);
  if (!in_time) std::terminate();
}

/// Every line of the page that has a number, against what was measured; and nothing is left out.
bool holds(const char* page, const std::vector<row>& rows) {
  std::ifstream file(page);
  std::vector<bool> found(rows.size());
  bool right = file.is_open();
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    const auto end = line.find("` | ", 3);
    if (end == std::string::npos || line.find_first_of("0123456789", end) != end + 4) continue;
    const std::string name = line.substr(3, end - 3);
    const auto said = std::strtoul(line.c_str() + end + 4, nullptr, 10);
    bool known = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].name != name) continue;
      known = true;
      found[i] = true;
      if (rows[i].number != said) std::printf("%s: it says %lu, and it is %zu\n", name.c_str(), said, rows[i].number);
      right = right && rows[i].number == said;
    }
    if (!known) std::printf("%s: not measured\n", name.c_str());
    right = right && known;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!found[i]) std::printf("%.*s: not on the page\n", static_cast<int>(rows[i].name.size()), rows[i].name.data());
    right = right && found[i];
  }
  return right;
}

void print(const char* title, const std::vector<row>& rows) {
  std::printf("\n%s\n", title);
  for (const row& each : rows)
    std::printf("  %-44.*s %4zu\n", static_cast<int>(each.name.size()), each.name.data(), each.number);
}

}  // namespace

int main(int argc, char** argv) {
  auto all = sizes();
  print("bytes", all);
  const auto counts_of_calls = counted();
  print("allocations", counts_of_calls);

  objects o;
  o.e.set();
  o.sem.release(2);
  const std::size_t bare = frame_of(waits_for_nothing, o);
  print("what a wait adds to a coroutine's frame, with this compiler",
        {{"co_await e.wait()", frame_of(waits_for_an_event, o) - bare},
         {"co_await sem.acquire()", frame_of(waits_for_a_permit, o) - bare},
         {"co_await sem.acquire().within(d)", frame_of(waits_for_a_while, o) - bare}});

  all.insert(all.end(), counts_of_calls.begin(), counts_of_calls.end());
  return argc < 2 || holds(argv[1], all) ? 0 : 1;
}
