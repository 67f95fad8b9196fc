// says: await a task or an operation. Of a semaphore that is its acquire(), of a mutex its lock()
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

weir::task<> wrong(weir::semaphore& sem) { co_await sem; }
