#define WEIR_CASE select_case
#define WEIR_SUITE select_conformance
#include <conformance/suite.hpp>
