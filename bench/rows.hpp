#pragma once

// The rows of weir_bench, a file each.

#include "harness.hpp"

namespace bench {

void add_floor(rows& all);           // what the machine asks for the least that would do
void add_asio_floor(rows& all);      // and what Asio does
void add_mutual(rows& all);          // W1–W4, W6: semaphore and mutex
void add_queue(rows& all);           // W5
void add_many(rows& all);            // W7–W9: very many waiters
void add_pool(rows& all);            // W10, idle threads
void add_asio_task(rows& all);       // W4, W7–W10 with weir::task on an io_context
void add_asio_awaitable(rows& all);  // and with asio::awaitable
void add_asio_semaphore(rows& all);  // W10 with asio::awaitable and no pool

}  // namespace bench
