#define WEIR_CASE event_set_case
#define WEIR_SUITE event_set_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/together.hpp>
