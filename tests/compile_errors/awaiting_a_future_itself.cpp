// says: this cannot be awaited. Of a future, await its get()
#include <weir/future.hpp>
#include <weir/task.hpp>

weir::task<> wrong(weir::future<> made) { co_await made; }
