#include <conformance/subjects.hpp>

#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

namespace weir::test {

namespace {

subject_factories joined(std::initializer_list<subject_factories> lists) {
  subject_factories all;
  for (const auto& each : lists) all.insert(all.end(), each.begin(), each.end());
  return all;
}

template <class Predicate>
subject_factories those(Predicate wanted) {
  auto chosen = all_subjects();
  std::erase_if(chosen, [wanted](const subject_factory& each) { return !wanted(each); });
  return chosen;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const subject_factory& printed) { return out << printed.name; }

subject_factories over_ways(const char* name, bool one_by_one, bool cancels_all, std::initializer_list<by_way> ways) {
  subject_factories all;
  for (const by_way& each : ways) {
    all.push_back({std::string(name) + "_by_" + each.name, one_by_one, cancels_all, each.make});
  }
  return all;
}

subject_factories all_subjects() {
  return joined({semaphore_subjects(), mutex_subjects(), recursive_mutex_subjects(), shared_mutex_lock_subjects(),
                 guarded_subjects(), event_subjects(), auto_reset_event_subjects(), queue_push_subjects(),
                 queue_pop_subjects(), pool_submit_subjects(), select_subjects(), event_set_subjects(),
                 latch_subjects(), wait_group_subjects(), barrier_subjects(), shared_mutex_lock_shared_subjects(),
                 future_get_subjects()});
}

subject_factories one_by_one_subjects() {
  return those([](const subject_factory& each) { return each.one_by_one; });
}

subject_factories together_subjects() {
  return those([](const subject_factory& each) { return !each.one_by_one; });
}

subject_factories cancelling_subjects() {
  return those([](const subject_factory& each) { return each.cancels_all; });
}

}  // namespace weir::test
