// Coming from libcoro: a ring buffer between two producers and a consumer, with an orderly end.

#include <utility>

#include <weir/weir.hpp>

namespace {

// [libcoro]
weir::task<> produce(weir::queue<int>& ring, weir::latch& producers, int from) {
  for (int i = 0; i < 50; ++i) co_await ring.push(from + i);  // ring_buffer::produce
  producers.count_down();
}

weir::task<> end(weir::queue<int>& ring, weir::latch& producers) {
  co_await producers.wait();
  ring.close();  // shutdown_drain(), but without polling until it is empty
}

weir::task<int> consume(weir::queue<int>& ring) {
  int sum = 0;
  while (auto item = co_await ring.pop()) sum += *item;  // ring_buffer::consume; nullopt: closed and drained
  co_return sum;
}
// [libcoro]

}  // namespace

int main() {
  weir::queue<int> ring(16);  // ring_buffer<int, 16>
  weir::latch producers(2);
  auto all =
      weir::when_all(consume(ring), produce(ring, producers, 0), produce(ring, producers, 50), end(ring, producers));
  auto [sum, a, b, c] = weir::sync_wait(std::move(all));
  return sum == 4950 && ring.empty() ? 0 : 1;
}
