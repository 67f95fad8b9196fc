#define WEIR_CASE wait_group_case
#define WEIR_SUITE wait_group_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/together.hpp>
