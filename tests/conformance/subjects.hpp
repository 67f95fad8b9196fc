#pragma once

// All that the behaviours are run for: every synchronizer, over every way of waiting.

#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include <conformance/subject.hpp>

namespace weir::test {

struct subject_factory {
  std::string name;  // as in semaphore_by_task
  bool one_by_one;
  bool cancels_all;
  std::unique_ptr<subject> (*make)();
};

std::ostream& operator<<(std::ostream& out, const subject_factory& printed);

using subject_factories = std::vector<subject_factory>;

struct by_way {
  const char* name;
  std::unique_ptr<subject> (*make)();
};

subject_factories over_ways(const char* name, bool one_by_one, bool cancels_all, std::initializer_list<by_way> ways);

// One by one, each in the file of its case.
subject_factories semaphore_subjects();
subject_factories mutex_subjects();
subject_factories recursive_mutex_subjects();
subject_factories shared_mutex_lock_subjects();
subject_factories guarded_subjects();
subject_factories event_subjects();
subject_factories auto_reset_event_subjects();
subject_factories queue_push_subjects();
subject_factories queue_pop_subjects();
subject_factories pool_submit_subjects();
subject_factories select_subjects();

// Together.
subject_factories event_set_subjects();
subject_factories latch_subjects();
subject_factories wait_group_subjects();
subject_factories barrier_subjects();
subject_factories shared_mutex_lock_shared_subjects();
subject_factories future_get_subjects();

subject_factories all_subjects();
subject_factories one_by_one_subjects();
subject_factories together_subjects();
subject_factories cancelling_subjects();

}  // namespace weir::test
