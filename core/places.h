// Lists of places as arrays of integers have them: element i goes to place i of the list.
//
//   uint16_t places[] = {2, 0, 1};
//   place_list p = {places, sizeof *places, 3};
//   place_at(&p, 0)                                  2
#ifndef PERMC_CORE_PLACES_H
#define PERMC_CORE_PLACES_H

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

#endif
