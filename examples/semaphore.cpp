// A semaphore of three permits among eight tasks; then one wait for several permits at once.

#include <algorithm>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

namespace {

struct seen {
  int now = 0;
  int most = 0;
};

// [semaphore]
weir::task<> visit(weir::semaphore& seats, seen& inside) {
  auto seat = co_await seats.scoped_acquire();  // waits for a free seat, in FIFO order
  inside.most = std::max(inside.most, ++inside.now);
  co_await weir::yield();
  --inside.now;
}  // the permit is released here, and granted to the first waiter

weir::task<> clean(weir::semaphore& seats) {
  co_await seats.acquire(3);  // all three permits: no visitor is inside
  seats.release(3);           // acquire() needs an explicit release(), by any task
}
// [semaphore]

}  // namespace

int main() {
  weir::semaphore seats(3);
  seen inside;
  std::vector<weir::task<>> day;
  for (int i = 0; i < 8; ++i) day.push_back(visit(seats, inside));
  day.push_back(clean(seats));
  weir::sync_wait(weir::when_all(std::move(day)));
  bool right = inside.most == 3 && inside.now == 0 && seats.available() == 3;

  // Without waiting: a permit, or an empty one.
  auto two = seats.try_scoped_acquire(2);
  auto two_more = seats.try_scoped_acquire(2);
  right = right && two && !two_more && seats.available() == 1;
  return right ? 0 : 1;
}
