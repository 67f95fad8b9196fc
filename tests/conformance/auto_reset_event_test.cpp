#define WEIR_CASE auto_reset_event_case
#define WEIR_SUITE auto_reset_event_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/one_by_one.hpp>
