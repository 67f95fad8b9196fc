#define WEIR_CASE recursive_mutex_case
#define WEIR_SUITE recursive_mutex_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/one_by_one.hpp>
