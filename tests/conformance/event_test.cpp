#define WEIR_CASE event_case
#define WEIR_SUITE event_conformance
#include <conformance/suite.hpp>
