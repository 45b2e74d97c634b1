// The second kernel of a stable sort of rows of any lengths: parts of listed rows. This text stands
// in generated files as it is here, behind kernels/text/tile.h, kernels/routines/sort/digit_text.h,
// kernels/routines/sort/ragged_head.h and these (kernels/routines/sort/ragged.c):
//
//   MERGE_THREADS, MERGE_ITEMS   of a block, of a thread     MERGE_BLOCKS   at once on a multiprocessor
//
// A part is sorted by digits of 8 bits, the lowest first, in scratch. A key goes behind those of
// smaller digits, those of its digit in warps before, and those before in its warp: counters of the
// warps, which are summed. A warp has neighbouring keys, 32 for each of the items that it takes to
// have them all.

#define RAGGED_WARPS (MERGE_THREADS / 32)
// Behind keys and numbers: by warp and digit; sums over 32 digits; what threads tell each other.
#define RAGGED_COUNTERS(scratch) ((uint16_t *)MERGE_BEHIND(scratch))
#define RAGGED_SUMS(scratch) ((uint32_t *)(RAGGED_COUNTERS(scratch) + RAGGED_WARPS * 256))
#define RAGGED_SHARED(scratch) ((uint64_t *)(RAGGED_SUMS(scratch) + 8))

// For all keys of a part, warp by warp.
#ifdef PERMC_HOST
#define RAGGED_EACH_ITEM                                                                           \
  for (uint32_t i = 0; i < items; i++) {                                                           \
    for (uint32_t t = 0; t < MERGE_THREADS; t++) {                                                 \
      const uint32_t p = t / 32 * 32 * items + t % 32 + 32 * i;
#else
#define RAGGED_EACH_ITEM                                                                           \
  {                                                                                                \
    const uint32_t t = threadIdx.x;                                                                \
    PERMC_UNROLL for (uint32_t i = 0; i < MERGE_ITEMS; i++) if (i < items) {                       \
      const uint32_t p = t / 32 * 32 * items + t % 32 + 32 * i;
#endif
// Two of 16 bits in a register.
#define RAGGED_KEEP_PLACE(i, n)                                                                    \
  (PERMC_AT(places, (i) / 2) = (i) % 2 ? PERMC_AT(places, (i) / 2) + ((n) << 16) : (n))
#define RAGGED_PLACE(i) (PERMC_AT(places, (i) / 2) >> 16 * ((i) % 2) & 65535)
#define RAGGED_DIGIT(i) sort_digit(MERGE_ORDER(PERMC_AT(key, i)), d)

// Sorts the keys in scratch; those beyond `live`, until the last items end, come behind all.
static inline void ragged_digits(char *scratch, uint32_t live) {
  SORT_KEY *const staged = MERGE_STAGED(scratch);
  uint16_t *const numbers = MERGE_NUMBERS(scratch), *const counters = RAGGED_COUNTERS(scratch);
  uint32_t *const sums = RAGGED_SUMS(scratch);
  const uint32_t items = (live + MERGE_THREADS - 1) / MERGE_THREADS;
  (void)numbers;
  PERMC_THREADS(MERGE_THREADS)
  const uint32_t p = live + t;
  if (p < items * MERGE_THREADS)
    staged[p] = RAGGED_LAST;
  PERMC_END
  for (uint32_t d = 0; d < sizeof(SORT_KEY); d++) {
    PERMC_VALUES(SORT_KEY, key, MERGE_ITEMS, MERGE_THREADS)
    PERMC_VALUES(uint32_t, places, (MERGE_ITEMS + 1) / 2, MERGE_THREADS)
    PERMC_VALUES(uint32_t, lowest, 1, MERGE_THREADS)
    PERMC_THREADS(MERGE_THREADS)
    for (uint32_t i = t; i < RAGGED_WARPS * 256 / 2; i += MERGE_THREADS)
      ((uint32_t *)counters)[i] = 0;
    PERMC_END
    PERMC_BARRIER
    RAGGED_EACH_ITEM
    PERMC_AT(key, i) = staged[p];
    MERGE_END
    RAGGED_EACH_ITEM(void) p;
    const uint32_t digit = RAGGED_DIGIT(i);
    const uint32_t before = sort_rank(counters + t / 32 * 256 + digit, digit, t);
    RAGGED_KEEP_PLACE(i, before);
    MERGE_END
    PERMC_BARRIER
    PERMC_THREADS(MERGE_THREADS)
    if (t < 256) {
      uint32_t sum = 0;
      PERMC_UNROLL for (uint32_t w = 0; w < RAGGED_WARPS; w++) sum += counters[256 * w + t];
      PERMC_AT(lowest, 0) = tile_before(sum, t);
      if (t % 32 == 31)
        sums[t / 32] = PERMC_AT(lowest, 0) + sum;
    }
    PERMC_END
    PERMC_BARRIER
    PERMC_THREADS(MERGE_THREADS)
    if (t < 256) {
      uint32_t first = PERMC_AT(lowest, 0);
      for (uint32_t k = 0; k < t / 32; k++)
        first += sums[k];
      PERMC_UNROLL for (uint32_t w = 0; w < RAGGED_WARPS; w++) {
        const uint32_t old = counters[256 * w + t];
        counters[256 * w + t] = (uint16_t)first;
        first += old;
      }
    }
    PERMC_END
    PERMC_BARRIER
    RAGGED_EACH_ITEM(void) p;
    const uint32_t place = RAGGED_PLACE(i) + counters[t / 32 * 256 + RAGGED_DIGIT(i)];
    staged[place] = PERMC_AT(key, i);
#if MERGE_NUMBER_BYTES
    PERMC_AT(places, i / 2) += (place - RAGGED_PLACE(i)) << 16 * (i % 2);
#endif
    MERGE_END
#if MERGE_NUMBER_BYTES
    PERMC_VALUES(uint16_t, number, MERGE_ITEMS, MERGE_THREADS)
    RAGGED_EACH_ITEM
    PERMC_AT(number, i) = d ? numbers[p] : (uint16_t)p;
    MERGE_END
    PERMC_BARRIER
    RAGGED_EACH_ITEM(void) p;
    numbers[RAGGED_PLACE(i)] = PERMC_AT(number, i);
    MERGE_END
#endif
    PERMC_BARRIER
  }
}

PERMC_KERNEL(parts, MERGE_THREADS, MERGE_BLOCKS, 0, const SORT_KEY *const keys,
             SORT_KEY *const sorted, SORT_KEY *const spare,
#if MERGE_ALONG_BYTES
             const SORT_PAYLOAD *const along, SORT_PAYLOAD *const moved,
             SORT_PAYLOAD *const spare_moved,
#endif
             uint64_t *const state, const uint64_t row_length, const uint64_t room,
             const uint64_t blocks)
(void)row_length;
(void)item;
uint64_t *const shared = RAGGED_SHARED(scratch);
SORT_KEY *const staged = MERGE_STAGED(scratch);
const uint64_t listed = ragged_look(state + RAGGED_PARTS), all = listed < room ? listed : room;
const uint64_t listed_several = ragged_look(state + RAGGED_SEVERAL);
const uint64_t several = listed_several < room ? listed_several : room;
const uint64_t tickets = all + several * ragged_look(state + RAGGED_LEVELS);
for (;;) {
  PERMC_BARRIER
  PERMC_THREADS(MERGE_THREADS)
  if (t == 0)
    shared[0] = TILE_ADD(state + RAGGED_TICKET, 1);
  PERMC_END
  PERMC_BARRIER
  const uint64_t ticket = shared[0];
  if (ticket >= tickets)
    break;
  const uint64_t level = ticket < all ? 0 : 1 + (ticket - all) / several;
  const uint64_t *const entry =
      state + RAGGED_ENTRIES + 3 * (level ? room + (ticket - all) % several : ticket);
  const uint64_t begin = entry[0], stop = entry[1], length = stop - begin;
  uint64_t levels = 0;
  while ((uint64_t)RAGGED_PART << levels < length)
    levels++;
  // Also where there is nothing to do: who is done has waited.
  PERMC_THREADS(MERGE_THREADS)
  if (t == 0)
    while (level > 0 && ragged_look(state + RAGGED_DONE) < all + several * (level - 1)) {
    }
  PERMC_END
  PERMC_BARRIER
  if (level <= levels) {
    const bool to_spare = (levels - level) % 2;
    const SORT_KEY *const from = level == 0 ? keys : to_spare ? sorted : spare;
    SORT_KEY *const to = to_spare ? spare : sorted;
    // The part is of sorted a and sorted b merged; at level 0 it is of a.
    const uint64_t place = entry[2] * RAGGED_PART, left = length - place;
    const uint32_t live = left < RAGGED_PART ? (uint32_t)left : RAGGED_PART;
    const uint64_t run = (uint64_t)RAGGED_PART << level >> 1,
                   a = (entry[2] >> level << level) * RAGGED_PART;
    const uint64_t b = level == 0 || length - a < run ? length : a + run;
    const uint64_t end = length - b < run ? length : b + run;
    PERMC_THREADS(MERGE_THREADS)
    if (t < 2)
      shared[t] = level == 0 ? t * live
                             : merge_cut(from + (begin + a), b - a, from + (begin + b), end - b,
                                         place - a + t * live, 1);
    PERMC_END
    PERMC_BARRIER
    // Where rows overlap, which a check finds, nothing need be in order.
    const uint64_t some = shared[1] < shared[0] ? 0 : shared[1] - shared[0];
    const uint32_t of_a = some < live ? (uint32_t)some : live;
    const uint64_t first_a = begin + a + shared[0],
                   first_b = begin + b + (place - a - shared[0]) - of_a;
    if (level > 0) {
      MERGE_FILL(SORT_KEY, staged, 0, live,
                 from + ragged_within((p < of_a ? first_a : first_b) + p, begin, stop))
      merge_runs(scratch, of_a, live);
    } else {
      MERGE_FILL(SORT_KEY, staged, 0, live, from + (begin + place) + p)
      if (live > 1 || MERGE_NUMBER_BYTES)
        ragged_digits(scratch, live);
    }
    MERGE_EACH_KEY
    if (p < live)
      PERMC_STORE(SORT_KEY, to + (begin + place + p), staged[p]);
    MERGE_END
#if MERGE_ALONG_BYTES
    PERMC_BARRIER
    SORT_PAYLOAD *const staged_along = (SORT_PAYLOAD *)scratch, *const to_along =
                                                                    to_spare ? spare_moved : moved;
    const SORT_PAYLOAD *const from_along = level == 0 ? along : to_spare ? moved : spare_moved;
    const uint16_t *const numbers = MERGE_NUMBERS(scratch);
    const uint64_t in_row = (begin + place) % row_length;
    if (from_along) {
      MERGE_FILL(SORT_PAYLOAD, staged_along, 0, live,
                 from_along + ragged_within((p < of_a ? first_a : first_b) + p, begin, stop))
    }
    MERGE_EACH_KEY
    if (p < live)
      PERMC_STORE(SORT_PAYLOAD, to_along + (begin + place + p),
                  from_along ? staged_along[numbers[p]] : (SORT_PAYLOAD)(in_row + numbers[p]));
    MERGE_END
#endif
    PERMC_BARRIER
  }
  PERMC_THREADS(MERGE_THREADS)
  if (t == 0) {
    TILE_FENCE(void) TILE_ADD(state + RAGGED_DONE, 1);
  }
  PERMC_END
}
// The last block of all leaves the state as it was before the first.
PERMC_THREADS(MERGE_THREADS)
if (t == 0 && TILE_ADD(state + RAGGED_THROUGH, 1) == blocks - 1)
  for (uint32_t i = 0; i < RAGGED_ENTRIES; i++)
    state[i] = 0;
PERMC_END
PERMC_KERNEL_END
