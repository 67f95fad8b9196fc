// W10: a million trivial tasks through a limit of 64.

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

}  // namespace

void add_pool(rows& all) {
  for (int threads : {1, 2, 4}) all.push_back({"W10", threads, w10});
}

}  // namespace bench
