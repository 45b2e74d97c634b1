// Gaussian elimination over F_2, one vector at a time. See f2.h.
#include "core/f2.h"

#include <stddef.h>

uint64_t f2_echelon_reduce(const f2_echelon *e, uint64_t x, uint64_t *tag) {
  while (x != 0) {
    int leading = f2_msb(x);
    if (e->vector[leading] == 0)
      break;
    x ^= e->vector[leading];
    *tag ^= e->tag[leading];
  }
  return x;
}

bool f2_echelon_insert(f2_echelon *e, uint64_t x, uint64_t tag, uint64_t *relation) {
  x = f2_echelon_reduce(e, x, &tag);
  if (x == 0) {
    if (relation != NULL)
      *relation = tag;
    return false;
  }
  e->vector[f2_msb(x)] = x;
  e->tag[f2_msb(x)] = tag;
  return true;
}

bool f2_coordinates(int count, const uint64_t *basis, uint64_t x, uint64_t *out) {
  f2_echelon e = {0};
  uint64_t sum = 0;
  assert(count >= 0 && count <= 64);
  for (int i = 0; i < count; i++)
    f2_echelon_insert(&e, basis[i], f2_unit(i), NULL);
  if (f2_echelon_reduce(&e, x, &sum) != 0)
    return false;
  *out = sum;
  return true;
}
