#define WEIR_CASE shared_mutex_lock_case
#define WEIR_SUITE shared_mutex_lock_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/one_by_one.hpp>
