// Whether places are places: below a limit, and distinct where they must be. A door of this room.
//
//   {.limit = 4, .distinct = true} of 2 0 2 1        found = 0, 2: place 2 occurs twice, first as element 0
//   {.limit = 4} of 2 0 4 1                          found = 2, 4
//   {.limit = 4, .distinct = true} of 2 0 3 1        found = INT64_MAX, 0
//
// A bit for each place: where one of those that the elements of a row set is set already, or an
// element is not below the limit, the first that is wrong is looked for.
#ifndef PERMC_RUNTIME_ROUTINES_PLACES_H
#define PERMC_RUNTIME_ROUTINES_PLACES_H

#include "runtime/routines/crew.h"

enum { PLACE_BITS = 64 };  // of a word

typedef struct place_check {
  size_t size;  // of a place, an integer
  bool is_signed;
  bool distinct;  // within each row
  uint64_t rows, length, limit;
  const void *places;
  crew crew;  // it takes one thread
} place_check;

// The first that is wrong, by its number among all elements, and what it is. False: out of memory,
// or interrupted.
ROUTINE_SCOPE bool routine_find_wrong(const place_check *c, int64_t found[2]);

#endif
