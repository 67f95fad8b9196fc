#define WEIR_CASE queue_push_case
#define WEIR_SUITE queue_push_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/one_by_one.hpp>
