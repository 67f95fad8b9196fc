#define WEIR_CASE guarded_case
#define WEIR_SUITE guarded_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/one_by_one.hpp>
