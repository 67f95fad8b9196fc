#define WEIR_CASE event_case
#define WEIR_SUITE event_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/one_by_one.hpp>
