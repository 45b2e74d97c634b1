// How sorted runs of keys are merged. This text stands in generated files as it is here, behind
// kernels/text/tile.h and these (kernels/routines/sort/):
//
//   SORT_KEY         an unsigned type of a key's bytes
//   MERGE_ORDER(k)   the number whose order is that of keys
//   SORT_PAYLOAD     a type of what goes with a key, and MERGE_ALONG_BYTES; these are 0 if nothing does
//
// Two runs are cut where the first `count` of both end, a tile of the merged run is what lies
// between two cuts, and a thread of its block has MERGE_ITEMS neighbours of it ("merge path": Green,
// McColl and Bader, GPU Merge Path, 2012, section 3). Equal keys keep their order: those of the
// first run come first.
#ifndef PERMC_KERNELS_ROUTINES_SORT_MERGE_HEAD_H
#define PERMC_KERNELS_ROUTINES_SORT_MERGE_HEAD_H

#ifdef PERMC_HOST
#define MERGE_GET(p) (*(p))
#else
#define MERGE_GET(p) __ldcg(p)
#endif

// Of a block, whose kernel defines MERGE_THREADS, MERGE_ITEMS and MERGE_NUMBER_BYTES: 2, or 0 if
// keys have no numbers. Scratch begins with keys, or payloads, one more than there are, and the
// numbers of keys.
#define MERGE_ROOM (MERGE_THREADS * MERGE_ITEMS)
#define MERGE_WIDE (sizeof(SORT_KEY) > MERGE_ALONG_BYTES ? sizeof(SORT_KEY) : MERGE_ALONG_BYTES)
#define MERGE_STAGED(scratch) ((SORT_KEY *)(scratch))
#define MERGE_NUMBERS(scratch) ((uint16_t *)((scratch) + (MERGE_ROOM + 2) * MERGE_WIDE))
#define MERGE_BEHIND(scratch)                                                                      \
  ((scratch) +                                                                                     \
   ((MERGE_ROOM + 2) * MERGE_WIDE + MERGE_NUMBER_BYTES * (MERGE_ROOM + 2) + 15) / 16 * 16)

// For all keys of a block in the order of memory: p is a key's place.
#ifdef PERMC_HOST
#define MERGE_EACH_KEY                                                                             \
  for (uint32_t i = 0; i < MERGE_ITEMS; i++) {                                                     \
    PERMC_AGAIN                                                                                    \
    for (uint32_t t = 0; t < MERGE_THREADS; t++) {                                                 \
      const uint32_t p = i * MERGE_THREADS + t;
#else
#define MERGE_EACH_KEY                                                                             \
  {                                                                                                \
    const uint32_t t = threadIdx.x;                                                                \
    PERMC_UNROLL for (uint32_t i = 0; i < MERGE_ITEMS; i++) {                                      \
      const uint32_t p = i * MERGE_THREADS + t;
#endif
#define MERGE_END                                                                                  \
  }                                                                                                \
  }

// Of the first `count` of sorted a and sorted b merged, how many are of a: from `low` to `high`.
// Keys at `asks` places, 7 at most, are asked for at once: they may be another device's.
static inline uint64_t merge_cut_within(const SORT_KEY *a, const SORT_KEY *b, uint64_t count,
                                        uint64_t low, uint64_t high, uint32_t asks) {
  while (low < high) {
    const uint64_t first = low, all = high - low;
    SORT_KEY x[7], y[7];
    PERMC_UNROLL for (uint32_t k = 0; k < 7; k++) if (k < asks) {
      const uint64_t place = first + all * (k + 1) / (asks + 1);
      x[k] = MERGE_GET(a + place);
      y[k] = MERGE_GET(b + (count - 1 - place));
    }
    PERMC_UNROLL for (uint32_t k = 0; k < 7; k++) if (k < asks) {
      const uint64_t place = first + all * (k + 1) / (asks + 1);
      if (MERGE_ORDER(y[k]) < MERGE_ORDER(x[k]))
        high = high < place ? high : place;
      else
        low = place + 1;
    }
  }
  return low;
}

// ... of a[0 ... m - 1] and b[0 ... n - 1].
static inline uint64_t merge_cut(const SORT_KEY *a, uint64_t m, const SORT_KEY *b, uint64_t n,
                                 uint64_t count, uint32_t asks) {
  return merge_cut_within(a, b, count, count > n ? count - n : 0, count < m ? count : m, asks);
}

// Of the first `count` keys of sorted a and sorted b together, merged, how many are of a.
static inline uint32_t merge_split(const SORT_KEY *a, uint32_t m, const SORT_KEY *b, uint32_t n,
                                   uint32_t count) {
  uint32_t low = count > n ? count - n : 0, high = count < m ? count : m;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (MERGE_ORDER(b[count - 1 - middle]) < MERGE_ORDER(a[middle]))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// The next key i of two merged ones: x is of a, the next of those before `middle`, y of b, the next
// before `end`.
#define MERGE_MERGED(i)                                                                            \
  const bool first = b >= end || (a < middle && !(MERGE_ORDER(y) < MERGE_ORDER(x)));               \
  const uint32_t from = first ? a : b;                                                             \
  PERMC_AT(key, i) = first ? x : y;                                                                \
  PERMC_AT(number, i) = MERGE_NUMBER_BYTES ? numbers[from] : 0;                                    \
  a += first;                                                                                      \
  b += !first;                                                                                     \
  const SORT_KEY z = staged[from + 1];                                                             \
  x = first ? z : x;                                                                               \
  y = first ? y : z;

// Merged keys go to scratch.
#define MERGE_KEEP_MERGED                                                                          \
  PERMC_THREADS(MERGE_THREADS)                                                                     \
  const uint32_t p = t * MERGE_ITEMS;                                                              \
  if (PERMC_AT(busy, 0))                                                                           \
    PERMC_UNROLL for (uint32_t i = 0; i < MERGE_ITEMS; i++) {                                      \
      staged[p + i] = PERMC_AT(key, i);                                                            \
      if (MERGE_NUMBER_BYTES)                                                                      \
        numbers[p + i] = (uint16_t)PERMC_AT(number, i);                                            \
    }                                                                                              \
  PERMC_END                                                                                        \
  PERMC_BARRIER

// Loads of memory, keys least ... live - 1.
#define MERGE_FILL(type, to, least, live, from)                                                    \
  {                                                                                                \
    PERMC_VALUES(type, loaded, MERGE_ITEMS, MERGE_THREADS)                                         \
    MERGE_EACH_KEY                                                                                 \
    PERMC_AT(loaded, i) = 0;                                                                       \
    if (p >= least && p < live)                                                                    \
      PERMC_AT(loaded, i) = PERMC_LOAD(type, from);                                                \
    MERGE_END                                                                                      \
    MERGE_EACH_KEY                                                                                 \
    if (p >= least && p < live)                                                                    \
      to[p] = PERMC_AT(loaded, i);                                                                 \
    MERGE_END                                                                                      \
    PERMC_BARRIER                                                                                  \
  }

#endif
