#pragma once

// What must exist once per process although several shared libraries contain weir, each perhaps compiled with
// -fvisibility=hidden. docs/platforms.md lists it; tests/shared compares the list with the symbols of two libraries.

#if defined(__GNUC__) && !defined(_WIN32)

/// On a function whose static variable, or on a variable that, must be the same one in every library. A template's
/// instance is only as visible as its arguments: so also on types that platform::local<T>() is instantiated for.
#define WEIR_SHARED [[gnu::visibility("default")]]

/// On a variable, or on a function whose static variable, each library must have for itself.
#define WEIR_PER_LIBRARY [[gnu::visibility("hidden")]]

#else

#define WEIR_SHARED
#define WEIR_PER_LIBRARY

#endif
