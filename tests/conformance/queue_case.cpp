#include <system_error>

#include <weir/queue.hpp>

#include <conformance/case.hpp>

namespace weir::test {

struct queue_push_case : case_of<queue<int>> {
  queue_push_case() : case_of(1u) { (void)object().try_push(0); }
  auto wait() { return object().push(1L); }  // made into an int in the operation
  void let_one() { (void)object().try_pop(); }
  void make_ready() { (void)object().try_pop(); }
  bool now_or_never() { return object().try_push(2); }
};

subject_factories queue_push_subjects() { return subjects_of<queue_push_case>("queue_push"); }

struct queue_pop_case : case_of<queue<int>> {
  auto wait() { return object().pop(); }
  void let_one() { (void)object().try_push(1); }
  void make_ready() { (void)object().try_push(1); }
  bool now_or_never() { return object().try_pop().has_value(); }
  static std::error_code closed_error() { return {}; }  // the success of having come to the end
};

subject_factories queue_pop_subjects() { return subjects_of<queue_pop_case>("queue_pop"); }

}  // namespace weir::test
