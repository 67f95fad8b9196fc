// What weir costs, beside what the machine asks for the least that would do. The names W1 … are the workloads that the
// figures of others are known for. Compare ratios to the floor of the same run, never bare numbers of different runs.

#include "rows.hpp"

int main(int argc, char** argv) {
  bench::rows all;
  bench::add_floor(all);
  bench::add_asio_floor(all);
  bench::add_mutual(all);
  bench::add_queue(all);
  bench::add_many(all);
  bench::add_pool(all);
  bench::add_asio_task(all);
  bench::add_asio_awaitable(all);
  bench::add_asio_semaphore(all);
  return bench::serve(argc, argv, all);
}
