#pragma once

// Marks what must exist once per process although several shared libraries contain weir, each perhaps compiled with
// -fvisibility=hidden. docs/platforms.md lists it; tests/shared compares the list with the symbols of two libraries.

#if defined(__GNUC__) && !defined(_WIN32)

/// Marks a variable, or a function with a static variable, that must be the same one in every library. An instance of a
/// template is only as visible as its arguments: so it also marks the types for which platform::local<T>() exists.
#define WEIR_SHARED [[gnu::visibility("default")]]

/// Marks a variable, or a function with a static variable, of which each library must have its own.
#define WEIR_PER_LIBRARY [[gnu::visibility("hidden")]]

#else

#define WEIR_SHARED
#define WEIR_PER_LIBRARY

#endif
