// A plugin with no time limit in it.

#include <weir/core/context.hpp>

extern "C" [[gnu::visibility("default")]] bool makes_an_owner();

bool makes_an_owner() { return static_cast<bool>(weir::owner_id::make()); }
