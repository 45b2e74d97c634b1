#include "core/permutation/permutation.h"
#include "core/permutation/mark.h"

permutation_fault permutation_check(const place_list *p, uint32_t *seen, uint64_t *position) {
  mark_none(seen, p->count);
  for (uint64_t i = 0; i < p->count; i++) {
    *position = i;
    if (place_at(p, i) >= p->count)
      return PERMUTATION_OUTSIDE;
    if (!mark(seen, place_at(p, i)))
      return PERMUTATION_TWICE;
  }
  return PERMUTATION_OK;
}
