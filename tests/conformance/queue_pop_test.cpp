#define WEIR_CASE queue_pop_case
#define WEIR_SUITE queue_pop_conformance
#include <conformance/suite.hpp>
