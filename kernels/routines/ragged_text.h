// A kernel of a stable sort of rows of any lengths. This text stands in generated files twice, for tiles
// and for parts, behind kernels/text/cuda_host.h, kernels/routines/ragged_head.h and these
// (kernels/routines/ragged.c):
//
//   RAGGED_NAME(x)     x with the kernel's name            RAGGED_THREADS, RAGGED_ITEMS   of a block, of a thread
//   RAGGED_BLOCKS      at once on a multiprocessor
//
// RUNS. A thread has RAGGED_ITEMS neighbouring keys, a run. It sorts them by exchanges of neighbours, where
// these are of one row. A row that lies in several runs is merged: runs 0 and 1 of it, 2 and 3, and so on,
// then pairs of these. Each thread makes those keys of a merged pair that lie in its run, and finds by
// bisection where they begin. A run has keys of at most two rows that are not its own: of the one that its first key
// is of, and of the one that its last key is of. What lies between them stays.

#define RAGGED_ROOM (RAGGED_THREADS * RAGGED_ITEMS)
#define RAGGED_WORDS ((RAGGED_ROOM + 63) / 64)
// Of scratch: keys, or payloads, one more than there are; the numbers of keys; where rows begin.
#define RAGGED_WIDE                                                                                \
  (sizeof(RAGGED_KEY) > RAGGED_ALONG_BYTES ? sizeof(RAGGED_KEY) : RAGGED_ALONG_BYTES)
#define RAGGED_STAGED(scratch) ((RAGGED_KEY *)(scratch))
#define RAGGED_NUMBERS(scratch) ((uint16_t *)((scratch) + (RAGGED_ROOM + 2) * RAGGED_WIDE))
#define RAGGED_HEADS(scratch)                                                                      \
  ((uint64_t *)((scratch) +                                                                        \
                ((RAGGED_ROOM + 2) * RAGGED_WIDE + RAGGED_NUMBER_BYTES * (RAGGED_ROOM + 2) + 15) / \
                    16 * 16))
// Words of heads; those of them that are not 0; what threads tell each other.
#define RAGGED_SHARED(scratch)                                                                     \
  ((uint64_t *)(RAGGED_HEADS(scratch) + RAGGED_WORDS + (RAGGED_WORDS + 63) / 64 + 1))

#ifdef RAGGED_tiles
// Where the row of key p begins, and where the next one does.
static inline uint32_t RAGGED_NAME(begin)(const uint64_t *heads, uint32_t p) {
  const uint64_t *some = heads + RAGGED_WORDS;
  const uint64_t own = heads[p / 64] << (63 - p % 64);
  if (own)
    return p - (uint32_t)__builtin_clzll(own);
  for (int32_t k = (int32_t)(p / 64) - 1; k >= 0; k = k / 64 * 64 - 1) {
    const uint64_t word = some[k / 64] << (63 - k % 64);
    if (word) {
      const uint32_t at = (uint32_t)k - (uint32_t)__builtin_clzll(word);
      return at * 64 + 63 - (uint32_t)__builtin_clzll(heads[at]);
    }
  }
  return 0;
}

static inline uint32_t RAGGED_NAME(end)(const uint64_t *heads, uint32_t p) {
  const uint64_t *some = heads + RAGGED_WORDS;
  const uint64_t own = heads[p / 64] >> (p % 64) >> 1;
  if (own)
    return p + 1 + (uint32_t)__builtin_ctzll(own);
  for (uint32_t k = p / 64 + 1; k < RAGGED_WORDS; k = k / 64 * 64 + 64) {
    const uint64_t word = some[k / 64] >> (k % 64);
    if (word) {
      const uint32_t at = k + (uint32_t)__builtin_ctzll(word);
      return at * 64 + (uint32_t)__builtin_ctzll(heads[at]);
    }
  }
  return RAGGED_ROOM;
}
#endif

// Of the first `count` keys of sorted a and sorted b together, merged, how many are of a.
static inline uint32_t RAGGED_NAME(split)(const RAGGED_KEY *a, uint32_t m, const RAGGED_KEY *b,
                                          uint32_t n, uint32_t count) {
  uint32_t low = count > n ? count - n : 0, high = count < m ? count : m;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (RAGGED_ORDER(b[count - 1 - middle]) < RAGGED_ORDER(a[middle]))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// A merge that a thread takes part in: keys a ... middle - 1 with keys middle ... end - 1.
#define RAGGED_PAIR(w, from, to, a, middle, end)                                                   \
  {                                                                                                \
    const uint32_t run = (from) / RAGGED_ITEMS, pair = run + ((t - run) & ~(2 * (w)-1));           \
    const uint32_t half = (pair + (w)) * RAGGED_ITEMS, all = half + (w)*RAGGED_ITEMS;              \
    a = pair == run ? (from) : pair * RAGGED_ITEMS;                                                \
    middle = half < (to) ? half : (to);                                                            \
    end = all < (to) ? all : (to);                                                                 \
  }

// Batcher's odd-even merge sort of a thread's keys (Sorting networks and their applications, 1968), without the
// comparators between keys of different rows: it sorts all rows, as rows are in order already. Equal keys are
// compared by their numbers.
#define RAGGED_BETWEEN(i, j) ((UINT64_C(2) << (j)) - (UINT64_C(2) << (i)))
#if RAGGED_NUMBER_BYTES
#define RAGGED_ABOVE(x, y, i, j)                                                                   \
  (RAGGED_ORDER(y) < RAGGED_ORDER(x) ||                                                            \
   (RAGGED_ORDER(y) == RAGGED_ORDER(x) && PERMC_AT(number, j) < PERMC_AT(number, i)))
#define RAGGED_SWAP_NUMBERS(i, j)                                                                  \
  const uint32_t e = PERMC_AT(number, i), f = PERMC_AT(number, j);                                 \
  PERMC_AT(number, i) = above ? f : e;                                                             \
  PERMC_AT(number, j) = above ? e : f;
#else
#define RAGGED_ABOVE(x, y, i, j) (RAGGED_ORDER(y) < RAGGED_ORDER(x))
#define RAGGED_SWAP_NUMBERS(i, j)
#endif
#define RAGGED_NETWORK(same)                                                                       \
  PERMC_UNROLL for (uint32_t p = 1; p < RAGGED_ITEMS; p *= 2)                                      \
      PERMC_UNROLL for (uint32_t k = 32; k > 0; k /= 2)                                            \
          PERMC_UNROLL for (uint32_t i = 0; i < RAGGED_ITEMS;                                      \
                            i++) if (k <= p && i >= k % p && (i - k % p) / k % 2 == 0 &&           \
                                     i / (2 * p) == (i + k) / (2 * p) && i + k < RAGGED_ITEMS) {   \
    const uint32_t j = i + k < RAGGED_ITEMS ? i + k : 0;                                           \
    const RAGGED_KEY x = PERMC_AT(key, i), y = PERMC_AT(key, j);                                   \
    const bool above = (same) && RAGGED_ABOVE(x, y, i, j);                                         \
    PERMC_AT(key, i) = above ? y : x;                                                              \
    PERMC_AT(key, j) = above ? x : y;                                                              \
    RAGGED_SWAP_NUMBERS(i, j)                                                                      \
  }

// Sorts the rows in scratch, of keys least ... live - 1; none is longer than `longest`. If split is not 0, keys
// below it are a sorted row, and those from it on: they are merged.
static inline void RAGGED_NAME(sort)(char *scratch, uint32_t least, uint32_t live, uint32_t longest,
                                     uint32_t split) {
  RAGGED_KEY *const staged = RAGGED_STAGED(scratch);
#ifdef RAGGED_tiles
  const uint64_t *const heads = RAGGED_HEADS(scratch);
#endif
  uint16_t *const numbers = RAGGED_NUMBERS(scratch);
  (void)numbers;
  PERMC_VALUES(RAGGED_KEY, key, RAGGED_ITEMS, RAGGED_THREADS)
#if RAGGED_NUMBER_BYTES
  PERMC_VALUES(uint32_t, number, RAGGED_ITEMS, RAGGED_THREADS)
#endif
#ifdef RAGGED_tiles
  PERMC_VALUES(uint32_t, bound, 4, RAGGED_THREADS)  // of its first row, and of its last
#endif
  PERMC_VALUES(uint32_t, busy, 1, RAGGED_THREADS)
  PERMC_THREADS(RAGGED_THREADS)
  const uint32_t p = t * RAGGED_ITEMS;
  if (p < live && p + RAGGED_ITEMS > least && !split) {
    PERMC_UNROLL for (uint32_t i = 0; i < RAGGED_ITEMS; i++) {
      PERMC_AT(key, i) = staged[p + i];
#if RAGGED_NUMBER_BYTES
      PERMC_AT(number, i) = p + i;
#endif
    }
#ifdef RAGGED_tiles
    uint64_t starts = heads[p / 64] >> (p % 64);
    if (p % 64 != 0)
      starts |= heads[p / 64 + 1] << (64 - p % 64);
    starts &= RAGGED_BETWEEN(0, RAGGED_ITEMS - 1);
    if (starts == 0) {
      RAGGED_NETWORK(true)
    } else {
      RAGGED_NETWORK((starts & RAGGED_BETWEEN(i, j)) == 0)
    }
#else
    const uint32_t own = live - p;
    if (own >= RAGGED_ITEMS) {
      RAGGED_NETWORK(true)
    } else {
      RAGGED_NETWORK(j < own)
    }
#endif
    PERMC_UNROLL for (uint32_t i = 0; i < RAGGED_ITEMS; i++) {
      staged[p + i] = PERMC_AT(key, i);
#if RAGGED_NUMBER_BYTES
      numbers[p + i] = (uint16_t)PERMC_AT(number, i);
#endif
    }
#ifdef RAGGED_tiles
    PERMC_AT(bound, 0) = RAGGED_NAME(begin)(heads, p);
    PERMC_AT(bound, 1) = RAGGED_NAME(end)(heads, p);
    PERMC_AT(bound, 2) = RAGGED_NAME(begin)(heads, p + RAGGED_ITEMS - 1);
    PERMC_AT(bound, 3) = RAGGED_NAME(end)(heads, p + RAGGED_ITEMS - 1);
#endif
  }
#if RAGGED_NUMBER_BYTES
  if (split)
    PERMC_UNROLL for (uint32_t i = 0; i < RAGGED_ITEMS; i++) numbers[p + i] = (uint16_t)(p + i);
#endif
  PERMC_END
  PERMC_BARRIER
  const uint32_t runs =
      split ? 2 : (longest + RAGGED_ITEMS - 2) / RAGGED_ITEMS + 1;  // of a row, at most
  for (uint32_t w = 1; w < runs; w *= 2) {
    PERMC_THREADS(RAGGED_THREADS)
    const uint32_t p = t * RAGGED_ITEMS;
    uint32_t a = 0, middle = split, end = live;
    PERMC_AT(busy, 0) = p < live && p + RAGGED_ITEMS > least;
#ifdef RAGGED_tiles
    uint32_t next = 0, last = 0, last_middle = 0, last_end = 0;
    if (PERMC_AT(busy, 0)) {
      next = PERMC_AT(bound, 1);
      last = PERMC_AT(bound, 2);
      RAGGED_PAIR(w, PERMC_AT(bound, 0), next, a, middle, end)
      RAGGED_PAIR(w, last, PERMC_AT(bound, 3), last, last_middle, last_end)
      PERMC_AT(busy, 0) = middle < end || last_middle < last_end;
    }
#else
    if (PERMC_AT(busy, 0) && !split) {
      RAGGED_PAIR(w, 0, live, a, middle, end)
      PERMC_AT(busy, 0) = middle < end;
    }
#endif
    if (PERMC_AT(busy, 0)) {
      const uint32_t of_a =
          RAGGED_NAME(split)(staged + a, middle - a, staged + middle, end - middle, p - a);
      uint32_t b = middle + (p - a - of_a);
      a += of_a;
      RAGGED_KEY x = staged[a], y = staged[b];
      PERMC_UNROLL for (uint32_t i = 0; i < RAGGED_ITEMS; i++) {
#ifdef RAGGED_tiles
        if (p + i == next) {
          const bool own = next < last;  // the rows from here to the last are whole
          a = next;
          b = middle = own ? last : last_middle;
          end = own ? last : last_end;
          next = own ? last : RAGGED_ROOM;
          x = staged[a];
          y = staged[b];
        }
#endif
        const bool first = b >= end || (a < middle && !(RAGGED_ORDER(y) < RAGGED_ORDER(x)));
        const uint32_t from = first ? a : b;
        PERMC_AT(key, i) = first ? x : y;
#if RAGGED_NUMBER_BYTES
        PERMC_AT(number, i) = numbers[from];
#endif
        a += first;
        b += !first;
        const RAGGED_KEY z = staged[from + 1];
        x = first ? z : x;
        y = first ? y : z;
      }
    }
    PERMC_END
    PERMC_BARRIER
    PERMC_THREADS(RAGGED_THREADS)
    const uint32_t p = t * RAGGED_ITEMS;
    if (PERMC_AT(busy, 0))
      PERMC_UNROLL for (uint32_t i = 0; i < RAGGED_ITEMS; i++) {
        staged[p + i] = PERMC_AT(key, i);
#if RAGGED_NUMBER_BYTES
        numbers[p + i] = (uint16_t)PERMC_AT(number, i);
#endif
      }
    PERMC_END
    PERMC_BARRIER
  }
}

// Loads of memory, keys least ... live - 1.
#define RAGGED_FILL(type, to, least, live, from)                                                   \
  {                                                                                                \
    PERMC_VALUES(type, loaded, RAGGED_ITEMS, RAGGED_THREADS)                                       \
    RAGGED_EACH_KEY                                                                                \
    if (p >= least && p < live)                                                                    \
      PERMC_AT(loaded, i) = PERMC_LOAD(type, from);                                                \
    RAGGED_END                                                                                     \
    RAGGED_EACH_KEY                                                                                \
    if (p >= least && p < live)                                                                    \
      to[p] = PERMC_AT(loaded, i);                                                                 \
    RAGGED_END                                                                                     \
    PERMC_BARRIER                                                                                  \
  }

#ifdef RAGGED_tiles
PERMC_KERNEL(tiles, RAGGED_THREADS, RAGGED_BLOCKS, 0, const RAGGED_KEY *const keys,
             RAGGED_KEY *const sorted,
#if RAGGED_ALONG_BYTES
             const SORT_PAYLOAD *const along, SORT_PAYLOAD *const moved,
#endif
             const int64_t *const offsets, uint64_t *const state, const uint64_t rows,
             const uint64_t length, const uint64_t room)
const uint64_t windows = (length + RAGGED_WINDOW - 1) / RAGGED_WINDOW,
               base = item / windows * length;
const uint64_t window = item % windows * RAGGED_WINDOW;
const int64_t *const own = offsets + item / windows * (rows + 1);
uint64_t *const heads = RAGGED_HEADS(scratch), *const shared = RAGGED_SHARED(scratch);
volatile uint32_t *const most =
    (volatile uint32_t *)(shared + 4);  // keys before the end of a row; of a row
PERMC_THREADS(RAGGED_THREADS)
for (uint32_t i = t; i < RAGGED_WORDS + (RAGGED_WORDS + 63) / 64 + 1; i += RAGGED_THREADS)
  heads[i] = 0;
if (t < 4)
  shared[t] = 0;
if (t < 2)
  most[t] = 0;
PERMC_END
PERMC_BARRIER
// The first offset from which on they are in this window, and that of the next: below[0] and below[1] of them
// are less, each time of a part of them as many as half of the threads tell apart.
uint64_t low[2] = {0, 0}, step = rows + 1;
while (step) {
  step = (step + RAGGED_THREADS / 2 - 1) / (RAGGED_THREADS / 2);
  PERMC_THREADS(RAGGED_THREADS)
  const uint32_t side = t % 2;
  const uint64_t at = low[side] + (t / 2 + 1) * step - 1;
  if (at < rows + 1 && own[at] < (int64_t)(window + side * RAGGED_WINDOW))
    (void)RAGGED_ADD(shared + side, 1);
  PERMC_END
  PERMC_BARRIER
  low[0] += shared[0] * step;
  low[1] += shared[1] * step;
  PERMC_BARRIER
  PERMC_THREADS(RAGGED_THREADS)
  if (t < 2)
    shared[t] = 0;
  PERMC_END
  PERMC_BARRIER
  step = step > 1 ? step : 0;
}
PERMC_THREADS(RAGGED_THREADS)
for (uint64_t row = low[0] + t; row < low[1] && row < rows; row += RAGGED_THREADS) {
  const int64_t begin = own[row], end = own[row + 1];
  const int64_t first = begin - (int64_t)window, last = end - (int64_t)window;
  if (first < 0 || begin >= end || end > (int64_t)length)
    continue;
  if (last > RAGGED_ROOM) {
    ragged_list(state, room, base + (uint64_t)begin, base + (uint64_t)end);
    continue;
  }
  for (uint32_t k = 0; k < 2; k++) {
    const uint32_t head = (uint32_t)(k ? last : first);
    if (head < RAGGED_ROOM)
      (void)RAGGED_OR((uint32_t *)heads + head / 32, 1U << head % 32);
  }
  if ((uint32_t)last > most[0])
    (void)RAGGED_MOST((uint32_t *)most, (uint32_t)last);
  if ((uint32_t)(last - first) > most[1])
    (void)RAGGED_MOST((uint32_t *)most + 1, (uint32_t)(last - first));
}
PERMC_END
PERMC_BARRIER
PERMC_THREADS(RAGGED_THREADS)
for (uint32_t i = t; i < RAGGED_WORDS; i += RAGGED_THREADS)
  if (heads[i])
    (void)RAGGED_OR((uint32_t *)(heads + RAGGED_WORDS) + i / 32, 1U << i % 32);
// Keys of no row.
const int64_t start = own[0], finish = own[rows];
for (uint64_t i = window + t; i < window + RAGGED_WINDOW && i < length; i += RAGGED_THREADS)
  if ((int64_t)i < start || (int64_t)i >= finish) {
    RAGGED_SET(sorted + base + i, keys[base + i]);
#if RAGGED_ALONG_BYTES
    RAGGED_SET(moved + base + i, along ? along[base + i] : (SORT_PAYLOAD)i);
#endif
  }
PERMC_END
PERMC_BARRIER
const uint32_t live = most[0], longest = most[1];
const int64_t lowest = low[0] < rows ? own[low[0]] - (int64_t)window : 0;
const uint32_t least = lowest > 0 && lowest < RAGGED_ROOM ? (uint32_t)lowest : 0;
if (live == 0)
  PERMC_SKIP;
const uint64_t at = base + window;
RAGGED_KEY *const staged = RAGGED_STAGED(scratch);
RAGGED_FILL(RAGGED_KEY, staged, least, live, keys + (at + p))
if (longest > 1 || RAGGED_NUMBER_BYTES)
  RAGGED_NAME(sort)(scratch, least, live, longest, 0);
RAGGED_EACH_KEY
if (p >= least && p < live)
  PERMC_STORE(RAGGED_KEY, sorted + (at + p), staged[p]);
RAGGED_END
#if RAGGED_ALONG_BYTES
PERMC_BARRIER
SORT_PAYLOAD *const staged_along = (SORT_PAYLOAD *)scratch;
const uint16_t *const numbers = RAGGED_NUMBERS(scratch);
if (along) {
  RAGGED_FILL(SORT_PAYLOAD, staged_along, least, live, along + (at + p))
}
RAGGED_EACH_KEY
if (p >= least && p < live)
  PERMC_STORE(SORT_PAYLOAD, moved + (at + p),
              along ? staged_along[numbers[p]] : (SORT_PAYLOAD)(window + numbers[p]));
RAGGED_END
#endif
PERMC_KERNEL_END
#endif
#ifdef RAGGED_parts
PERMC_KERNEL(parts, RAGGED_THREADS, RAGGED_BLOCKS, 0, const RAGGED_KEY *const keys,
             RAGGED_KEY *const sorted, RAGGED_KEY *const spare,
#if RAGGED_ALONG_BYTES
             const SORT_PAYLOAD *const along, SORT_PAYLOAD *const moved,
             SORT_PAYLOAD *const spare_moved,
#endif
             uint64_t *const state, const uint64_t row_length, const uint64_t room,
             const uint64_t blocks)
(void)row_length;
(void)item;
uint64_t *const shared = RAGGED_SHARED(scratch);
RAGGED_KEY *const staged = RAGGED_STAGED(scratch);
const uint64_t listed = ragged_look(state + RAGGED_PARTS), all = listed < room ? listed : room;
const uint64_t listed_several = ragged_look(state + RAGGED_SEVERAL);
const uint64_t several = listed_several < room ? listed_several : room;
const uint64_t tickets = all + several * ragged_look(state + RAGGED_LEVELS);
for (;;) {
  PERMC_BARRIER
  PERMC_THREADS(RAGGED_THREADS)
  if (t == 0)
    shared[0] = RAGGED_ADD(state + RAGGED_TICKET, 1);
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
  PERMC_THREADS(RAGGED_THREADS)
  if (t == 0)
    while (level > 0 && ragged_look(state + RAGGED_DONE) < all + several * (level - 1)) {
    }
  PERMC_END
  PERMC_BARRIER
  if (level <= levels) {
    const bool to_spare = (levels - level) % 2;
    const RAGGED_KEY *const from = level == 0 ? keys : to_spare ? sorted : spare;
    RAGGED_KEY *const to = to_spare ? spare : sorted;
    // The part is of sorted a and sorted b merged; at level 0 it is of a.
    const uint64_t place = entry[2] * RAGGED_PART, left = length - place;
    const uint32_t live = left < RAGGED_PART ? (uint32_t)left : RAGGED_PART;
    const uint64_t run = (uint64_t)RAGGED_PART << level >> 1,
                   a = (entry[2] >> level << level) * RAGGED_PART;
    const uint64_t b = level == 0 || length - a < run ? length : a + run;
    const uint64_t end = length - b < run ? length : b + run;
    PERMC_THREADS(RAGGED_THREADS)
    if (t < 2)
      shared[t] = level == 0 ? t * live
                             : ragged_cut(from + (begin + a), b - a, from + (begin + b), end - b,
                                          place - a + t * live);
    PERMC_END
    PERMC_BARRIER
    // Where rows overlap, which a check finds, nothing need be in order.
    const uint64_t some = shared[1] < shared[0] ? 0 : shared[1] - shared[0];
    const uint32_t of_a = some < live ? (uint32_t)some : live;
    const uint64_t first_a = begin + a + shared[0],
                   first_b = begin + b + (place - a - shared[0]) - of_a;
    RAGGED_FILL(RAGGED_KEY, staged, 0, live,
                from + ragged_within((p < of_a ? first_a : first_b) + p, begin, stop))
    RAGGED_NAME(sort)(scratch, 0, live, live, level == 0 ? 0 : of_a ? of_a : live);
    RAGGED_EACH_KEY
    if (p < live)
      PERMC_STORE(RAGGED_KEY, to + (begin + place + p), staged[p]);
    RAGGED_END
#if RAGGED_ALONG_BYTES
    PERMC_BARRIER
    SORT_PAYLOAD *const staged_along = (SORT_PAYLOAD *)scratch, *const to_along =
                                                                    to_spare ? spare_moved : moved;
    const SORT_PAYLOAD *const from_along = level == 0 ? along : to_spare ? moved : spare_moved;
    const uint16_t *const numbers = RAGGED_NUMBERS(scratch);
    const uint64_t in_row = (begin + place) % row_length;
    if (from_along) {
      RAGGED_FILL(SORT_PAYLOAD, staged_along, 0, live,
                  from_along + ragged_within((p < of_a ? first_a : first_b) + p, begin, stop))
    }
    RAGGED_EACH_KEY
    if (p < live)
      PERMC_STORE(SORT_PAYLOAD, to_along + (begin + place + p),
                  from_along ? staged_along[numbers[p]] : (SORT_PAYLOAD)(in_row + numbers[p]));
    RAGGED_END
#endif
    PERMC_BARRIER
  }
  PERMC_THREADS(RAGGED_THREADS)
  if (t == 0) {
    RAGGED_FENCE(void) RAGGED_ADD(state + RAGGED_DONE, 1);
  }
  PERMC_END
}
// The last block of all leaves the state as it was before the first.
PERMC_THREADS(RAGGED_THREADS)
if (t == 0 && RAGGED_ADD(state + RAGGED_THROUGH, 1) == blocks - 1)
  for (uint32_t i = 0; i < RAGGED_ENTRIES; i++)
    state[i] = 0;
PERMC_END
PERMC_KERNEL_END
#endif
