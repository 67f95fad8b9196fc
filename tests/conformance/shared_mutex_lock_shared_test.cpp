#define WEIR_CASE shared_mutex_lock_shared_case
#define WEIR_SUITE shared_mutex_lock_shared_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/together.hpp>
