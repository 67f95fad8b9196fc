// says: of a queue its pop(), of a future its get()
#include <weir/future.hpp>
#include <weir/task.hpp>

weir::task<> wrong(weir::future<> made) { co_await made; }
