#include <cstddef>
#include <stop_token>

#include <weir/auto_reset_event.hpp>
#include <weir/core/executor.hpp>
#include <weir/pool.hpp>
#include <weir/task.hpp>

#include <conformance/case.hpp>

namespace weir::test {

/// A pool closes by being asked to stop, and does not withdraw all.
class closable_pool : public pool {
 public:
  template <executor E>
  closable_pool(E& where, std::size_t limit, std::stop_source stops) : pool(where, limit, stops), stops_(stops) {}
  void close() noexcept { request_stop(); }
  [[nodiscard]] bool closed() const noexcept { return stops_.stop_requested(); }

 private:
  std::stop_source stops_;
};

struct pool_slot {
  inline_executor here;
  auto_reset_event end;
  task<> ends_by_hand() { (void)co_await end.wait().as_result(); }
};

/// Of one slot, in which a task runs.
struct pool_submit_case : pool_slot, case_of<closable_pool> {  // in this order: a task may outlive its pool
  pool_submit_case() : case_of(here, 1u, std::stop_source()) { now_or_never(); }
  auto wait() { return object().submit(ends_by_hand()); }
  void let_one() { end.set(); }
  void make_ready() { end.set(); }
  bool now_or_never() { return object().try_submit(ends_by_hand()).has_value(); }
};

subject_factories pool_submit_subjects() { return subjects_of<pool_submit_case>("pool_submit"); }

}  // namespace weir::test
