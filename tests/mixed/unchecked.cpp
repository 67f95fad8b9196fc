#if !defined(NDEBUG)
#define NDEBUG
#endif
#include <mixed/actions.hpp>

mixed::actions& mixed::unchecked() {
  static here one;
  return one;
}
