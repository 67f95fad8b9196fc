#include <weir/auto_reset_event.hpp>
#include <weir/event.hpp>

#include <conformance/case.hpp>

namespace weir::test {

struct event_case : case_of<event> {
  auto wait() { return object().wait(); }
  void let_one() { object().notify_one(); }
  void make_ready() { object().set(); }
  bool now_or_never() { return object().is_set(); }
};

subject_factories event_subjects() { return subjects_of<event_case>("event"); }

struct event_set_case : case_of<event> {
  auto wait() { return object().wait(); }
  void make_ready() { object().set(); }
  bool now_or_never() { return object().is_set(); }
};

subject_factories event_set_subjects() { return subjects_of<event_set_case>("event_set"); }

struct auto_reset_event_case : case_of<auto_reset_event> {
  auto wait() { return object().wait(); }
  void let_one() { object().set(); }
  void make_ready() { object().set(); }
  bool now_or_never() { return asks_now(wait()); }
};

subject_factories auto_reset_event_subjects() { return subjects_of<auto_reset_event_case>("auto_reset_event"); }

}  // namespace weir::test
