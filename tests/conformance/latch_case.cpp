#include <weir/barrier.hpp>
#include <weir/latch.hpp>
#include <weir/wait_group.hpp>

#include <conformance/case.hpp>

namespace weir::test {

struct latch_case : case_of<latch> {
  latch_case() : case_of(1u) {}
  auto wait() { return object().wait(); }
  void make_ready() { object().count_down(); }
  bool now_or_never() { return object().try_wait(); }
};

subject_factories latch_subjects() { return subjects_of<latch_case>("latch"); }

struct wait_group_case : case_of<wait_group> {
  wait_group_case() { object().add(); }
  auto wait() { return object().wait(); }
  void make_ready() { object().done(); }
  bool now_or_never() { return asks_now(wait()); }
};

subject_factories wait_group_subjects() { return subjects_of<wait_group_case>("wait_group"); }

struct barrier_case : case_of<barrier> {
  barrier_case() : case_of(2u) {}
  barrier::token first = object().arrive();
  auto wait() { return object().wait(first); }
  void make_ready() { (void)object().arrive(); }
  bool now_or_never() { return asks_now(wait()); }
};

subject_factories barrier_subjects() { return subjects_of<barrier_case>("barrier"); }

}  // namespace weir::test
