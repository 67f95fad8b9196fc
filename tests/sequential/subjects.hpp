#pragma once

// All of them, each with its model.

#include <sequential/events.hpp>
#include <sequential/permits.hpp>
#include <sequential/queue.hpp>
#include <sequential/shared_mutex.hpp>

namespace weir::sequential {

/// One object each.
template <template <class...> class List>
using each_subject =
    List<semaphore_subject, mutex_subject, recursive_mutex_subject, shared_mutex_subject, event_subject,
         auto_reset_event_subject, latch_subject, wait_group_subject, barrier_subject, queue_subject<policy::wait>,
         queue_subject<policy::drop_oldest>, queue_subject<policy::drop_newest>>;

}  // namespace weir::sequential
