#include <weir/shared_mutex.hpp>

#include <conformance/case.hpp>

namespace weir::test {

using shared_mutex_lock_case = lock_case<shared_mutex>;
subject_factories shared_mutex_lock_subjects() { return subjects_of<shared_mutex_lock_case>("shared_mutex_lock"); }

/// Readers behind a writer.
struct shared_mutex_lock_shared_case : case_of<shared_mutex> {
  shared_mutex_lock_shared_case() { (void)object().try_lock(); }
  auto wait() { return object().lock_shared(); }
  void make_ready() { object().unlock(); }
  bool now_or_never() { return object().try_lock_shared(); }
  void destroy() {
    if (!made) return;
    object().close();
    if (object().locked()) object().unlock();
    while (object().readers() != 0) object().unlock_shared();
    made.reset();
  }
};

subject_factories shared_mutex_lock_shared_subjects() {
  return subjects_of<shared_mutex_lock_shared_case>("shared_mutex_lock_shared");
}

}  // namespace weir::test
