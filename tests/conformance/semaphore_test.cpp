#define WEIR_CASE semaphore_case
#define WEIR_SUITE semaphore_conformance
#include <conformance/suite.hpp>
