#include <weir/event.hpp>
#include <weir/select.hpp>
#include <weir/semaphore.hpp>

#include <conformance/case.hpp>

namespace weir::test {

struct semaphore_case : case_of<semaphore> {
  semaphore_case() : case_of(0u) {}
  auto wait() { return object().acquire(); }
  void let_one() { object().release(); }
  void make_ready() { object().release(); }
  bool now_or_never() { return object().try_acquire(); }
};

subject_factories semaphore_subjects() { return subjects_of<semaphore_case>("semaphore"); }

struct select_case : case_of<semaphore> {
  select_case() : case_of(0u) {}
  event never;
  auto wait() { return select(never.wait(), object().acquire()); }
  void let_one() { object().release(); }
  void make_ready() { object().release(); }
  bool now_or_never() { return object().try_acquire(); }
};

subject_factories select_subjects() { return subjects_of<select_case>("select"); }

}  // namespace weir::test
