// Where a plan's arrays are in a machine's memory, and how much that takes. See machine_plan.h.
#include "kernels/machine_plan.h"

enum { WORD = 4, ALIGNED = 256 };  // bytes

machine_arrays machine_arrays_of(arena *a, const plan *p) {
  machine_arrays m = {.place = NEW_ARRAY(a, uint64_t, p->arrays.count)};
  for (size_t i = 0; i < p->arrays.count; i++) {
    uint64_t bytes = p->arrays.items[i].count * scalar_types[p->arrays.items[i].type].size;
    m.place[i] = m.count;
    m.count += (bytes + ALIGNED - 1) / ALIGNED * (ALIGNED / WORD);
  }
  m.words = NEW_ARRAY(a, machine_word, m.count);
  return m;
}

uint64_t machine_plan_bytes(const plan *of) {
  enum { COPIES = 3 };  // registers, and scratch of two regions
  uint64_t all = 0, most = 0;
  for (size_t i = 0; i < of->arrays.count; i++) {
    const net_array *one = &of->arrays.items[i];
    uint64_t bytes;
    if (__builtin_mul_overflow(one->count, scalar_types[one->type].size, &bytes) ||
        __builtin_add_overflow(all, bytes, &all))
      return UINT64_MAX;
  }
  for (size_t i = 0; i < of->passes.count; i++) {
    const plan_pass *pass = &of->passes.items[i];
    const net_stage *stage = &of->net->stages.items[pass->stage];
    uint64_t bytes = UINT64_C(1) << stage->n, each = 1;
    for (uint32_t k = 0; k < pass->slot_count; k++)
      each += pass->slot_bytes[k];
    bool good = !__builtin_mul_overflow(bytes, COPIES * each, &bytes);
    for (uint32_t k = 0; k < stage->loop_count && good; k++)
      good = !__builtin_mul_overflow(bytes, stage->extents[k], &bytes);
    if (!good)
      return UINT64_MAX;
    most = bytes > most ? bytes : most;
  }
  return __builtin_add_overflow(all, most, &all) ? UINT64_MAX : all;
}
