#define WEIR_CASE auto_reset_event_case
#define WEIR_SUITE auto_reset_event_conformance
#include <conformance/suite.hpp>
