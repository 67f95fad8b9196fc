#include <weir/weir.hpp>

weir::task<int> answer(weir::semaphore& sem) {
  auto held = co_await sem.scoped_acquire();
  co_return 42;
}

int main() {
  weir::semaphore sem(1);
  return weir::sync_wait(answer(sem)) == 42 ? 0 : 1;
}
