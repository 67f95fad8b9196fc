// says: selects do not nest: list all branches in one
#include <weir/event.hpp>
#include <weir/select.hpp>

void wrong(weir::event& a, weir::event& b) { (void)weir::select(weir::select(a.wait(), b.wait()), b.wait()); }
