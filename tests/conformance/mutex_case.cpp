#include <utility>

#include <weir/guarded.hpp>
#include <weir/mutex.hpp>
#include <weir/recursive_mutex.hpp>

#include <conformance/case.hpp>

namespace weir::test {

using mutex_case = lock_case<mutex>;
subject_factories mutex_subjects() { return subjects_of<mutex_case>("mutex"); }

using recursive_mutex_case = lock_case<recursive_mutex>;
subject_factories recursive_mutex_subjects() { return subjects_of<recursive_mutex_case>("recursive_mutex"); }

struct guarded_case : case_of<guarded<int>> {
  guarded<int>::reference held = object().try_lock();
  auto wait() { return object().lock(); }
  void keep(guarded<int>::reference won) { held = std::move(won); }
  void let_one() { const auto unlocked = std::move(held); }  // the next keeps its own before this one has returned
  void make_ready() { let_one(); }
  bool now_or_never() {
    auto won = object().try_lock();
    if (!won) return false;
    held = std::move(won);
    return true;
  }
  void destroy() {
    if (!made) return;
    object().close();
    let_one();
    made.reset();
  }
};

subject_factories guarded_subjects() { return subjects_of<guarded_case>("guarded"); }

}  // namespace weir::test
