#define WEIR_CASE mutex_case
#define WEIR_SUITE mutex_conformance
#include <conformance/suite.hpp>
