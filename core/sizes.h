// Loops over bytes whose number is known when the program is compiled: a copy of so many is a load
// and a store, not a call.
//
//   #define COPY(U) for (size_t i = 0; i < n; i++) memcpy(to + i * (U), from + i * step, (U));
//   FOR_ELEMENT_SIZE(size, COPY)
#ifndef PERMC_CORE_SIZES_H
#define PERMC_CORE_SIZES_H

#define SIZE_CASE(U, BODY)                                                                         \
  case U: {                                                                                        \
    BODY(U)                                                                                        \
    break;                                                                                         \
  }

// BODY(size), for the size of an element: 1, 2, 4, 8 or 16.
#define FOR_ELEMENT_SIZE(size, BODY)                                                               \
  switch (size) {                                                                                  \
  default: {                                                                                       \
    BODY(16)                                                                                       \
    break;                                                                                         \
  }                                                                                                \
    SIZE_CASE(1, BODY) SIZE_CASE(2, BODY) SIZE_CASE(4, BODY) SIZE_CASE(8, BODY)                    \
  }

// The same for any size: those that are usual are known.
#define FOR_UNIT_SIZE(size, BODY)                                                                  \
  switch (size) {                                                                                  \
  default: {                                                                                       \
    BODY(size)                                                                                     \
    break;                                                                                         \
  }                                                                                                \
    SIZE_CASE(1, BODY)                                                                             \
    SIZE_CASE(2, BODY)                                                                             \
    SIZE_CASE(4, BODY)                                                                             \
    SIZE_CASE(8, BODY)                                                                             \
    SIZE_CASE(16, BODY)                                                                            \
    SIZE_CASE(32, BODY)                                                                            \
    SIZE_CASE(64, BODY)                                                                            \
  }

#endif
