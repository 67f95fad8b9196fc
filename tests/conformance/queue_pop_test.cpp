#define WEIR_CASE queue_pop_case
#define WEIR_SUITE queue_pop_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/one_by_one.hpp>
