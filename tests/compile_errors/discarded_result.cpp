// says: a result tells whether the wait has failed
#include <chrono>

#include <weir/queue.hpp>

void wrong(weir::queue<int>& numbers) { numbers.push(1).within(std::chrono::seconds(1)).wait(); }
