#define WEIR_CASE latch_case
#define WEIR_SUITE latch_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/together.hpp>
