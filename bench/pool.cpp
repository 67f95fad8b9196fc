// W10: a million trivial tasks through a limit of 64. And what a pool of threads costs that has nothing to do.

#include <chrono>
#include <thread>

#include "rows.hpp"
#include "tasks.hpp"

namespace bench {
namespace {

timing through_pool(place& where, int count) {
  return where.with_executor([&](auto& executor) {
    weir::pool pool(executor, 64);
    return where.run(1, [&](int) { return submit_all(pool, count); });
  });
}

void w10(const run& row) {
  constexpr int count = 1'000'000;
  place where(row.threads());
  through_pool(where, count / 20);
  row.tell_each(through_pool(where, count), count);
}

/// Its threads have worked, and the timer service has a limit to wait for.
void idle(const run& row) {
  weir::semaphore gate(0);
  place where(row.threads());
  where.run(row.threads(), [](int) { return trivial(); });
  weir::ticket waits = gate.acquire().within(std::chrono::minutes(1)).start([](weir::result<>) {});
  row.tell_total(timed([] { std::this_thread::sleep_for(std::chrono::seconds(5)); }));
  expect(waits.cancel(), "nobody has come");
}

}  // namespace

void add_pool(rows& all) {
  all.push_back({"idle", 2, idle});
  for (int threads : {1, 2, 4}) all.push_back({"W10", threads, w10});
}

}  // namespace bench
