// says: this cannot be awaited: await a task or an operation
#include <weir/task.hpp>

weir::task<> wrong() { co_await 42; }
