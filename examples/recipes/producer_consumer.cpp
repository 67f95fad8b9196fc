// Two producers, three consumers, and a queue with room for four between them: the producers go no faster than the
// consumers, nothing is lost, and everybody ends.
//
// Prints:
//   1000 produced, 1000 consumed, sum 500500
//   never more than 4 between them: yes

#include <cstdio>
#include <tuple>
#include <vector>

#include <weir/weir.hpp>

namespace {

struct totals {
  int count = 0;
  int sum = 0;
  bool within_room = true;
};

// [producer_consumer]
weir::task<int> produce(weir::queue<int>& jobs, int from, int to) {
  int made = 0;
  for (int job = from; job <= to; ++job, ++made) co_await jobs.push(job);  // waits while the queue is full
  co_return made;
}

weir::task<int> produce_all(weir::queue<int>& jobs) {
  auto [low, high] = co_await weir::when_all(produce(jobs, 1, 500), produce(jobs, 501, 1000));
  jobs.close();  // all producers have ended; the remaining items can still be popped
  co_return low + high;
}

weir::task<totals> consume(weir::queue<int>& jobs) {
  totals mine;
  while (auto job = co_await jobs.pop()) {  // nullopt: closed and drained
    mine.within_room = mine.within_room && jobs.size() <= jobs.capacity();
    mine.sum += *job;
    ++mine.count;
  }
  co_return mine;
}
// [producer_consumer]

}  // namespace

int main() {
  weir::thread_pool threads(2);
  weir::queue<int> jobs(4);
  std::vector<weir::future<totals>> consumers;
  for (int i = 0; i < 3; ++i) consumers.push_back(weir::spawn(threads, consume(jobs)));
  auto producers = weir::spawn(threads, produce_all(jobs));

  const int produced = producers.get().wait();
  totals all;
  for (auto& each : consumers) {
    const auto one = each.get().wait();
    all.count += one.count;
    all.sum += one.sum;
    all.within_room = all.within_room && one.within_room;
  }
  std::printf("%d produced, %d consumed, sum %d\n", produced, all.count, all.sum);
  std::printf("never more than 4 between them: %s\n", all.within_room ? "yes" : "no");
  return produced == 1000 && all.count == 1000 && all.sum == 500500 && all.within_room && jobs.empty() ? 0 : 1;
}
