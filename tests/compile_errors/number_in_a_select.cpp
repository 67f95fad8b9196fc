// says: a branch of a select is an operation
#include <weir/event.hpp>
#include <weir/select.hpp>

void wrong(weir::event& b) { (void)weir::select(42, b.wait()); }
