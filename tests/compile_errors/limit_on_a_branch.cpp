// says: limits and resume_on belong on the select, not on a branch: select(a, b).within(1s)
#include <chrono>

#include <weir/event.hpp>
#include <weir/select.hpp>

void wrong(weir::event& a, weir::event& b) {
  using namespace std::chrono_literals;
  (void)weir::select(a.wait().within(1s), b.wait());
}
