// Permutations that are given as data. The door of this room, with schedule.h and recognise.h.
//
// In: the place of each element, as an array of integers of any size; what is made of it lies in
// memory of the caller. Out: whether it is a permutation; what it does, if that is simple; three
// steps without conflicts that do it, whatever it is.
//
//   uint16_t places[] = {2, 0, 1};                     element i goes to place i of the list
//   place_list p = {places, sizeof *places, 3};
//   place_at(&p, 0)                                    2
//   permutation_check(&p, seen, &position)             PERMUTATION_OK
//   recognise_movement(&p)                             {.kind = MOVES_BY_ROTATION, .by = 2}
//
//   recognise.h   rotations, affine maps, exchanges of dimensions, movement in rows and in columns
//                 (recognise.c); those that a few numbers describe (movement.c)
//   schedule.h    any permutation as steps in rows, in columns, in rows (schedule.c)
//   coloring.h    edge colouring of bipartite graphs, which finds these steps (private to this room)
//   mark.h        a set of small numbers (private, too)
#ifndef PERMC_CORE_PERMUTATION_PERMUTATION_H
#define PERMC_CORE_PERMUTATION_PERMUTATION_H

#include <stddef.h>
#include <stdint.h>

typedef struct place_list {
  const void *places;
  size_t size;  // of one, in bytes: 1, 2, 4 or 8
  uint64_t count;
} place_list;

static inline uint64_t place_at(const place_list *p, uint64_t i) {
  switch (p->size) {
  case 1:
    return ((const uint8_t *)p->places)[i];
  case 2:
    return ((const uint16_t *)p->places)[i];
  case 4:
    return ((const uint32_t *)p->places)[i];
  default:
    return ((const uint64_t *)p->places)[i];
  }
}

// What keeps places from being a permutation of 0 ... count - 1.
typedef enum permutation_fault {
  PERMUTATION_OK,
  PERMUTATION_OUTSIDE,  // the place at *position is `count` or more
  PERMUTATION_TWICE,    // the place at *position is one at an earlier position
} permutation_fault;
// `seen`: at least count / 32 + 1 numbers.
permutation_fault permutation_check(const place_list *p, uint32_t *seen, uint64_t *position);

#endif
