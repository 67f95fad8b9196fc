#define WEIR_CASE mutex_case
#define WEIR_SUITE mutex_conformance
#include <conformance/cancel_all.hpp>
#include <conformance/one_by_one.hpp>
