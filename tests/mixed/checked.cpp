#undef NDEBUG
#include <mixed/actions.hpp>

mixed::actions& mixed::checked() {
  static here one;
  return one;
}
