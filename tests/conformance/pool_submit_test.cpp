#define WEIR_CASE pool_submit_case
#define WEIR_SUITE pool_submit_conformance
#include <conformance/one_by_one.hpp>
