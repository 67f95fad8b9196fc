// W5: ints through a queue of 64.

#include <cstddef>
#include <vector>

#include "rows.hpp"
#include "tasks.hpp"

namespace bench {
namespace {

constexpr int items = 2'000'000;

/// The last to end closes the queue.
weir::task<> produce(weir::queue<int>& queue, weir::latch& producing, int count) {
  for (int i = 0; i < count; ++i) co_await queue.push(i);
  producing.count_down();
  if (producing.try_wait()) queue.close();
}

weir::task<> consume(weir::queue<int>& queue, long& consumed) {
  long count = 0;
  while (co_await queue.pop()) ++count;
  consumed = count;
}

/// As many consumers as producers; the even ones produce.
timing through_queue(place& where, int pairs, int count) {
  weir::queue<int> queue(64);
  weir::latch producing(static_cast<std::size_t>(pairs));
  std::vector<long> consumed(static_cast<std::size_t>(pairs));
  const timing took = where.run(2 * pairs, [&](int i) {
    return i % 2 == 0 ? produce(queue, producing, count / pairs)
                      : consume(queue, consumed[static_cast<std::size_t>(i / 2)]);
  });
  long all = 0;
  for (long each : consumed) all += each;
  expect(all == count, "every item arrives once");
  return took;
}

void w5(const run& row, int pairs) {
  place where(row.threads());
  through_queue(where, pairs, items / 20);
  row.tell_each(through_queue(where, pairs, items), items);
}

}  // namespace

void add_queue(rows& all) {
  for (int threads : {1, 2}) {
    all.push_back({"W5/1x1", threads, [](const run& row) { w5(row, 1); }});
  }
  for (int threads : {1, 2, 4}) {
    all.push_back({"W5/4x4", threads, [](const run& row) { w5(row, 4); }});
  }
}

}  // namespace bench
