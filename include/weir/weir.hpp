#pragma once

// All of weir that needs no third-party library.

#include <weir/event.hpp>
#include <weir/future.hpp>
#include <weir/mutex.hpp>
#include <weir/queue.hpp>
#include <weir/select.hpp>
#include <weir/semaphore.hpp>
#include <weir/spawn.hpp>
#include <weir/task.hpp>
#include <weir/version.hpp>
