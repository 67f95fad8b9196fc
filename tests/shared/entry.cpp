// The one symbol by which the program finds a library.

namespace weir::test {
struct library;
const library* calls();
}  // namespace weir::test

extern "C" [[gnu::visibility("default")]] const weir::test::library* LIBRARY_ENTRY();

const weir::test::library* LIBRARY_ENTRY() { return weir::test::calls(); }
