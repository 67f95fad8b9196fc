#pragma once

// Includes everything that runs tasks: task, the executors, timers and sleep.

#include <weir/run/run_loop.hpp>
#include <weir/run/sync_wait.hpp>
#include <weir/run/task.hpp>
#include <weir/run/this_task.hpp>
#include <weir/run/thread_pool.hpp>
#include <weir/run/timers.hpp>
#include <weir/run/when_all.hpp>
#include <weir/spawn.hpp>
#include <weir/wait/sleep.hpp>
