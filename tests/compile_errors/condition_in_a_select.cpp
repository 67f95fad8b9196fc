// says: condition::wait is no branch of a select: it waits twice
#include <weir/condition.hpp>
#include <weir/event.hpp>
#include <weir/select.hpp>

void wrong(weir::condition& changed, weir::mutex::guard& held, weir::event& b) {
  (void)weir::select(changed.wait(held), b.wait());
}
