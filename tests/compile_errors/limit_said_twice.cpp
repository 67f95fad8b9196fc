// says: each of within, until, stop_on and as_result may be said once
#include <chrono>

#include <weir/semaphore.hpp>

void wrong(weir::semaphore& sem) {
  using namespace std::chrono_literals;
  (void)sem.acquire().within(1s).within(2s);
}
