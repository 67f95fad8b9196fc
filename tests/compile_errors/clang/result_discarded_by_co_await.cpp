// says: a result tells whether the wait has failed
#include <chrono>

#include <weir/queue.hpp>
#include <weir/task.hpp>

weir::task<> wrong(weir::queue<int>& numbers) { co_await numbers.push(1).within(std::chrono::seconds(1)); }
