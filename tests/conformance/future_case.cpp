#include <system_error>

#include <weir/event.hpp>
#include <weir/future.hpp>

#include <conformance/case.hpp>

namespace weir::test {

/// Several get() of one future: all are told, and one has the value. Who waits only the state knows that it shares with
/// its promise.
struct future_get_case {
  using state = core::future_state<int>;
  core::shared<state> promised{new state};
  future<int> given{promised};

  event& object() { return promised->ready(); }
  auto wait() { return given.get(); }
  void make_ready() {
    promised->store(1);
    promised->tell();
  }
  bool now_or_never() { return asks_now(wait()); }
  void destroy() {
    if (!promised) return;
    promised->abandon();
    promised = {};
    given = {};
  }
  static std::error_code closed_error() { return errc::closed; }
  static bool is_success(std::error_code error) { return !error || error == errc::failed; }
};

subject_factories future_get_subjects() { return subjects_of<future_get_case>("future_get"); }

}  // namespace weir::test
