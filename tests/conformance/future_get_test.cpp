#define WEIR_CASE future_get_case
#define WEIR_SUITE future_get_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/together.hpp>
