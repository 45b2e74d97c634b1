// The HMM paper's permutations, and how far they scatter what a warp writes. See
// hmm/algorithm.h.
#include "core/random.h"
#include "kernels/hmm/algorithm.h"

#include <inttypes.h>

static uint64_t identical(uint64_t i, uint32_t bits) {
  (void)bits;
  return i;
}
static uint64_t shuffle(uint64_t i, uint32_t bits) {  // one to the left, the highest to the right
  return bits == 0 ? i : (i << 1 | i >> (bits - 1)) & ((UINT64_C(1) << bits) - 1);
}
static uint64_t bit_reversal(uint64_t i, uint32_t bits) {
  uint64_t reversed = 0;
  for (uint32_t k = 0; k < bits; k++)
    reversed |= (i >> k & 1) << (bits - 1 - k);
  return reversed;
}
static uint64_t transpose(uint64_t i, uint32_t bits) {
  uint64_t side = UINT64_C(1) << bits / 2;
  return i % side * side + i / side;
}

static const hmm_permutation permutations[] = {
    {"identical", identical, false},       {"shuffle", shuffle, false},    {"random", NULL, false},
    {"bit-reversal", bit_reversal, false}, {"transpose", transpose, true},
};
enum { PERMUTATIONS = sizeof permutations / sizeof *permutations };

const hmm_permutation *hmm_permutation_at(size_t index) {
  return index < PERMUTATIONS ? &permutations[index] : NULL;
}

const hmm_permutation *hmm_permutation_named(const char *name) {
  for (size_t i = 0; i < PERMUTATIONS; i++)
    if (!strcmp(permutations[i].name, name))
      return &permutations[i];
  return NULL;
}

uint64_t *hmm_permutation_list(arena *a, const hmm_permutation *p, uint32_t bits, uint64_t seed) {
  uint64_t n = UINT64_C(1) << bits, *list = NEW_ARRAY(a, uint64_t, n);
  for (uint64_t i = 0; i < n; i++)
    list[i] = p->at ? p->at(i, bits) : i;
  for (uint64_t i = n - 1; i > 0 && !p->at; i--) {
    uint64_t k = draw_below(&seed, (uint32_t)i + 1), swap = list[i];
    list[i] = list[k];
    list[k] = swap;
  }
  return list;
}

uint64_t hmm_distribution(arena *a, const uint64_t *list, uint64_t n, uint32_t width, bool banks) {
  uint64_t sum = 0;
  bank_counter *c = bank_counter_new(a, width, width);
  for (uint64_t first = 0; first < n; first += width) {
    bank_request r = bank_request_of(width, list + first);
    sum += banks ? bank_request_congestion(c, &r) : bank_request_groups(c, &r);
  }
  return sum;
}

const char *hmm_permutation_problem(arena *a, const uint64_t *list, uint64_t count) {
  bool *seen = NEW_ARRAY(a, bool, count);
  for (uint64_t i = 0; i < count; i++) {
    if (list[i] >= count)
      return arena_printf(a, "number %" PRIu64 " is %" PRIu64 ", and there are %" PRIu64 " of them",
                          i, list[i], count);
    if (seen[list[i]])
      return arena_printf(a, "number %" PRIu64 " is %" PRIu64 " again", i, list[i]);
    seen[list[i]] = true;
  }
  return NULL;
}
