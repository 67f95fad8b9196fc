// says: a permit that is discarded is released at once: auto permit = co_await s.scoped_acquire()
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

weir::task<> wrong(weir::semaphore& sem) { co_await sem.scoped_acquire(); }
