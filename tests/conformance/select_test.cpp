#define WEIR_CASE select_case
#define WEIR_SUITE select_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/one_by_one.hpp>
