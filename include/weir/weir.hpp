#pragma once

// Includes all of weir that needs no third-party library.

#include <weir/auto_reset_event.hpp>
#include <weir/barrier.hpp>
#include <weir/condition.hpp>
#include <weir/event.hpp>
#include <weir/for_each.hpp>
#include <weir/future.hpp>
#include <weir/guarded.hpp>
#include <weir/latch.hpp>
#include <weir/map.hpp>
#include <weir/mutex.hpp>
#include <weir/oneshot.hpp>
#include <weir/pool.hpp>
#include <weir/queue.hpp>
#include <weir/recursive_mutex.hpp>
#include <weir/select.hpp>
#include <weir/semaphore.hpp>
#include <weir/shared_mutex.hpp>
#include <weir/spawn.hpp>
#include <weir/task.hpp>
#include <weir/version.hpp>
#include <weir/wait_group.hpp>
