#define WEIR_CASE semaphore_case
#define WEIR_SUITE semaphore_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/one_by_one.hpp>
