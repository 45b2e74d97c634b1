// The class of an access, with its parameters: Hash paper, section 3.1. See banks.h.
#include "kernels/banks/banks.h"

#include <assert.h>

const char *const pattern_class_names[] = {"linear", "stride", "block", "random"};

uint64_t pattern_address(const bank_pattern *p, uint32_t t) {
  assert(p->class != PATTERN_RANDOM);
  return p->offset + (uint64_t)p->stride * (t % p->width) + (uint64_t)p->rows * (t / p->width);
}

static bool pattern_gives(const bank_pattern *p, uint32_t count, const uint64_t *address) {
  for (uint32_t t = 0; t < count; t++)
    if (pattern_address(p, t) != address[t])
      return false;
  return true;
}

bank_pattern pattern_of(uint32_t count, const uint64_t *address) {
  assert(count >= 1);
  bank_pattern p = {PATTERN_STRIDE, address[0], 1, 0, count};
  if (count > 1)
    p.stride = (int64_t)(address[1] - address[0]);
  if (p.stride == 1)
    p.class = PATTERN_LINEAR;
  if (pattern_gives(&p, count, address))
    return p;
  // A row ends where the first address is off the stride: there is one, for it is no stride.
  p.class = PATTERN_BLOCK;
  p.width = 2;
  while (address[p.width] == address[0] + (uint64_t)p.stride * p.width)
    p.width++;
  p.rows = (int64_t)(address[p.width] - address[0]);
  if (count >= 4 && pattern_gives(&p, count, address))
    return p;
  return (bank_pattern){PATTERN_RANDOM, address[0], 0, 0, count};
}
