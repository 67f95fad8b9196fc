// says: a permit that is discarded is released at once: auto permit = co_await s.scoped_acquire()
#include <weir/semaphore.hpp>

void wrong(weir::semaphore& sem) { sem.scoped_acquire().wait(); }
