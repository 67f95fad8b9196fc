// says: condition::wait is for co_await and wait(): its waiter holds a guard
#include <tuple>

#include <weir/condition.hpp>

void wrong(weir::condition& changed, weir::mutex::guard& held) {
  std::ignore = changed.wait(held).start([](weir::result<>) {});
}
