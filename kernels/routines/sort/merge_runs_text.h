// Sorted runs in scratch, merged by a block. This text stands in generated files as it is here,
// behind kernels/routines/sort/merge_head.h and the shape of a kernel's block (there).

// Merges the keys in scratch below `split` with those from it on.
static inline void merge_runs(char *scratch, uint32_t split, uint32_t live) {
  SORT_KEY *const staged = MERGE_STAGED(scratch);
  uint16_t *const numbers = MERGE_NUMBERS(scratch);
  (void)numbers;
  PERMC_VALUES(SORT_KEY, key, MERGE_ITEMS, MERGE_THREADS)
  PERMC_VALUES(uint32_t, busy, 1, MERGE_THREADS)
  PERMC_VALUES(uint32_t, number, MERGE_ITEMS, MERGE_THREADS)
#if MERGE_NUMBER_BYTES
  MERGE_EACH_KEY
  numbers[p] = (uint16_t)p;
  MERGE_END
  PERMC_BARRIER
#endif
  PERMC_THREADS(MERGE_THREADS)
  const uint32_t p = t * MERGE_ITEMS, middle = split, end = live;
  PERMC_AT(busy, 0) = p < live;
  if (PERMC_AT(busy, 0)) {
    uint32_t a = merge_split(staged, middle, staged + middle, end - middle, p);
    uint32_t b = middle + (p - a);
    SORT_KEY x = staged[a], y = staged[b];
    PERMC_UNROLL for (uint32_t i = 0; i < MERGE_ITEMS; i++) { MERGE_MERGED(i) }
  }
  PERMC_END
  PERMC_BARRIER
  MERGE_KEEP_MERGED
}
