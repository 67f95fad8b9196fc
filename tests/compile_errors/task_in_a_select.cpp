// says: a task is no operation: use when_any(tasks...), or select over the get() of the future that spawn(executor,
// task) returns
#include <weir/event.hpp>
#include <weir/select.hpp>
#include <weir/task.hpp>

void wrong(weir::task<int> child, weir::event& b) { (void)weir::select(child, b.wait()); }
