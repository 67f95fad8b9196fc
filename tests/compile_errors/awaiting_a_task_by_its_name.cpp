// says: a task is awaited once, and is used up then: co_await std::move(child)
#include <weir/task.hpp>

weir::task<> wrong(weir::task<> child) { co_await child; }
