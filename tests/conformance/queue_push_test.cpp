#define WEIR_CASE queue_push_case
#define WEIR_SUITE queue_push_conformance
#include <conformance/suite.hpp>
