#define WEIR_CASE barrier_case
#define WEIR_SUITE barrier_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/together.hpp>
