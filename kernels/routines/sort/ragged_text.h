// The first kernel of a stable sort of rows of any lengths: tiles. This text stands in generated
// files as it is here, behind kernels/text/cuda_host.h, kernels/routines/sort/ragged_head.h and
// these (kernels/routines/sort/ragged.c):
//
//   MERGE_THREADS, MERGE_ITEMS   of a block, of a thread     MERGE_BLOCKS   at once on a multiprocessor
//   RAGGED_SHORT                   keys of a row that a thread sorts by itself, or 0
//   RAGGED_LONGEST                 keys of a row that is not listed
//
// SHORT ROWS. If all rows of a tile are short, each thread has whole rows in its registers.
//
// RUNS. Else a thread has MERGE_ITEMS neighbouring keys, a run. It sorts them by exchanges of
// neighbours, where these are of one row. A row that lies in several runs is merged: runs 0 and 1
// of it, 2 and 3, and so on, then pairs of these. Each thread makes those keys of a merged pair
// that lie in its run, and finds by bisection where they begin. A run has keys of at most two rows
// that are not its own: of the one that its first key is of, and of the one that its last key is
// of. What lies between them stays.

#define RAGGED_WORDS ((MERGE_ROOM + 63) / 64)
// Behind keys and numbers: where rows begin, a bit for each key; those words of them that are not
// 0; what threads tell each other.
#define RAGGED_HEADS(scratch) ((uint64_t *)MERGE_BEHIND(scratch))
#define RAGGED_SHARED(scratch)                                                                     \
  ((uint64_t *)(RAGGED_HEADS(scratch) + RAGGED_WORDS + (RAGGED_WORDS + 63) / 64 + 1))

// Where the row of key p begins, and where the next one does.
static inline uint32_t ragged_begin(const uint64_t *heads, uint32_t p) {
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

static inline uint32_t ragged_end(const uint64_t *heads, uint32_t p) {
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
  return MERGE_ROOM;
}

// A merge that a thread takes part in: keys a ... middle - 1 with keys middle ... end - 1.
#define RAGGED_PAIR(w, from, to, a, middle, end)                                                   \
  {                                                                                                \
    const uint32_t run = (from) / MERGE_ITEMS, pair = run + ((t - run) & ~(2 * (w)-1));            \
    const uint32_t half = (pair + (w)) * MERGE_ITEMS, all = half + (w)*MERGE_ITEMS;                \
    a = pair == run ? (from) : pair * MERGE_ITEMS;                                                 \
    middle = half < (to) ? half : (to);                                                            \
    end = all < (to) ? all : (to);                                                                 \
  }

// Batcher's odd-even merge sort of n keys of a thread (Sorting networks and their applications,
// 1968). Without the comparators between keys of different rows it sorts all rows, as rows are in
// order already. Equal keys are compared by their numbers.
#define RAGGED_BETWEEN(i, j) ((UINT64_C(2) << (j)) - (UINT64_C(2) << (i)))
#if MERGE_NUMBER_BYTES
#define RAGGED_ABOVE(x, y, number, i, j)                                                           \
  (MERGE_ORDER(y) < MERGE_ORDER(x) ||                                                              \
   (MERGE_ORDER(y) == MERGE_ORDER(x) && (number)[j] < (number)[i]))
#define RAGGED_SWAP_NUMBERS(number, i, j)                                                          \
  const uint32_t e = (number)[i], f = (number)[j];                                                 \
  (number)[i] = above ? f : e;                                                                     \
  (number)[j] = above ? e : f;
#else
#define RAGGED_ABOVE(x, y, number, i, j) (MERGE_ORDER(y) < MERGE_ORDER(x))
#define RAGGED_SWAP_NUMBERS(number, i, j)
#endif
#define RAGGED_NETWORK(n, key, number, same)                                                       \
  PERMC_UNROLL for (uint32_t p = 1; p < (n); p *= 2)                                               \
      PERMC_UNROLL for (uint32_t k = 32; k > 0; k /= 2)                                            \
          PERMC_UNROLL for (uint32_t i = 0; i < (n);                                               \
                            i++) if (k <= p && i >= k % p && (i - k % p) / k % 2 == 0 &&           \
                                     i / (2 * p) == (i + k) / (2 * p) && i + k < (n)) {            \
    const uint32_t j = i + k < (n) ? i + k : 0;                                                    \
    const SORT_KEY x = (key)[i], y = (key)[j];                                                     \
    const bool above = (same) && RAGGED_ABOVE(x, y, number, i, j);                                 \
    (key)[i] = above ? y : x;                                                                      \
    (key)[j] = above ? x : y;                                                                      \
    RAGGED_SWAP_NUMBERS(number, i, j)                                                              \
  }

#if RAGGED_SHORT
#define RAGGED_SHORTER (RAGGED_SHORT > 32 ? 32 : RAGGED_SHORT / 2)
#ifdef PERMC_HOST
#define RAGGED_ANY(of_warp) (of_warp)
#else
#define RAGGED_ANY(of_warp) __any_sync(~0U, of_warp)
#endif

// A thread's row of `count` keys, at most n, from place p in scratch on. What is beyond it in
// registers stays there.
#define RAGGED_SORT_ROW(n)                                                                         \
  {                                                                                                \
    SORT_KEY key[n];                                                                               \
    uint32_t number[n];                                                                            \
    PERMC_UNROLL for (uint32_t i = 0; i < (n); i++) {                                              \
      key[i] = i < count ? staged[p + i] : RAGGED_LAST;                                            \
      number[i] = i < count ? p + i : UINT32_MAX;                                                  \
    }                                                                                              \
    RAGGED_NETWORK(n, key, number, true)                                                           \
    PERMC_UNROLL for (uint32_t i = 0; i < (n); i++) if (i < count) {                               \
      staged[p + i] = key[i];                                                                      \
      if (MERGE_NUMBER_BYTES)                                                                      \
        numbers[p + i] = (uint16_t)number[i];                                                      \
    }                                                                                              \
  }

// Sorts rows low[0] ... low[1] - 1, which begin in this window.
static inline void ragged_sort_short(char *scratch, const int64_t *own, uint64_t window,
                                     const uint64_t *low) {
  SORT_KEY *const staged = MERGE_STAGED(scratch);
  uint16_t *const numbers = MERGE_NUMBERS(scratch);
  (void)numbers;
  for (uint64_t first = low[0]; first < low[1]; first += MERGE_THREADS) {
    PERMC_THREADS(MERGE_THREADS)
    const uint64_t row = first + t;
    const int64_t begin = row < low[1] ? own[row] - (int64_t)window : 0;
    const int64_t end = row < low[1] ? own[row + 1] - (int64_t)window : 0;
    const bool is_row = begin >= 0 && begin < end && end <= MERGE_ROOM;
    const uint32_t p = is_row ? (uint32_t)begin : 0, count = is_row ? (uint32_t)(end - begin) : 0;
    if (RAGGED_ANY(count > RAGGED_SHORTER))
      RAGGED_SORT_ROW(RAGGED_SHORT)
    else if (RAGGED_ANY(count > RAGGED_SHORTER / 2))
      RAGGED_SORT_ROW(RAGGED_SHORTER)
    else if (RAGGED_ANY(count > 1 || (count > 0 && MERGE_NUMBER_BYTES)))
      RAGGED_SORT_ROW(RAGGED_SHORTER / 2)
    PERMC_END
  }
  PERMC_BARRIER
}
#endif

// Sorts the rows in scratch, of keys least ... live - 1; none is longer than `longest`.
static inline void ragged_sort(char *scratch, uint32_t least, uint32_t live, uint32_t longest) {
  SORT_KEY *const staged = MERGE_STAGED(scratch);
  const uint64_t *const heads = RAGGED_HEADS(scratch);
  uint16_t *const numbers = MERGE_NUMBERS(scratch);
  (void)numbers;
  PERMC_VALUES(SORT_KEY, key, MERGE_ITEMS, MERGE_THREADS)
  PERMC_VALUES(uint32_t, number, MERGE_ITEMS, MERGE_THREADS)
  PERMC_VALUES(uint32_t, bound, 4, MERGE_THREADS)  // of its first row, and of its last
  PERMC_VALUES(uint32_t, busy, 1, MERGE_THREADS)
  PERMC_THREADS(MERGE_THREADS)
  const uint32_t p = t * MERGE_ITEMS;
  if (p < live && p + MERGE_ITEMS > least) {
    PERMC_UNROLL for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
      PERMC_AT(key, i) = staged[p + i];
#if MERGE_NUMBER_BYTES
      PERMC_AT(number, i) = p + i;
#endif
    }
    uint64_t starts = heads[p / 64] >> (p % 64);
    if (p % 64 != 0)
      starts |= heads[p / 64 + 1] << (64 - p % 64);
    starts &= RAGGED_BETWEEN(0, MERGE_ITEMS - 1);
    if (starts == 0) {
      RAGGED_NETWORK(MERGE_ITEMS, &PERMC_AT(key, 0), &PERMC_AT(number, 0), true)
    } else {
      RAGGED_NETWORK(MERGE_ITEMS, &PERMC_AT(key, 0), &PERMC_AT(number, 0),
                     (starts & RAGGED_BETWEEN(i, j)) == 0)
    }
    PERMC_UNROLL for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
      staged[p + i] = PERMC_AT(key, i);
#if MERGE_NUMBER_BYTES
      numbers[p + i] = (uint16_t)PERMC_AT(number, i);
#endif
    }
    PERMC_AT(bound, 0) = ragged_begin(heads, p);
    PERMC_AT(bound, 1) = ragged_end(heads, p);
    PERMC_AT(bound, 2) = ragged_begin(heads, p + MERGE_ITEMS - 1);
    PERMC_AT(bound, 3) = ragged_end(heads, p + MERGE_ITEMS - 1);
  }
  PERMC_END
  PERMC_BARRIER
  const uint32_t runs = (longest + MERGE_ITEMS - 2) / MERGE_ITEMS + 1;  // of a row, at most
  for (uint32_t w = 1; w < runs; w *= 2) {
    PERMC_THREADS(MERGE_THREADS)
    const uint32_t p = t * MERGE_ITEMS;
    uint32_t a = 0, middle = 0, end = 0, next = 0, last = 0, last_middle = 0, last_end = 0;
    PERMC_AT(busy, 0) = p < live && p + MERGE_ITEMS > least;
    if (PERMC_AT(busy, 0)) {
      next = PERMC_AT(bound, 1);
      last = PERMC_AT(bound, 2);
      RAGGED_PAIR(w, PERMC_AT(bound, 0), next, a, middle, end)
      RAGGED_PAIR(w, last, PERMC_AT(bound, 3), last, last_middle, last_end)
      PERMC_AT(busy, 0) = middle < end || last_middle < last_end;
    }
    if (PERMC_AT(busy, 0)) {
      const uint32_t of_a =
          merge_split(staged + a, middle - a, staged + middle, end - middle, p - a);
      uint32_t b = middle + (p - a - of_a);
      a += of_a;
      SORT_KEY x = staged[a], y = staged[b];
      PERMC_UNROLL for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
        if (p + i == next) {
          const bool own = next < last;  // the rows from here to the last are whole
          a = next;
          b = middle = own ? last : last_middle;
          end = own ? last : last_end;
          next = own ? last : MERGE_ROOM;
          x = staged[a];
          y = staged[b];
        }
        MERGE_MERGED(i)
      }
    }
    PERMC_END
    PERMC_BARRIER
    MERGE_KEEP_MERGED
  }
}

// Which row is the first to begin in a window or behind it: a thread for each offset.
PERMC_KERNEL(starts, 256, 8, 0, const int64_t *const offsets, uint64_t *const state,
             const uint64_t rows, const uint64_t length, const uint64_t room, const uint64_t all)
PERMC_THREADS(256)
const uint64_t k = item * 256 + t, windows = (length + RAGGED_WINDOW - 1) / RAGGED_WINDOW;
const uint64_t instance = k / (rows + 1), row = k % (rows + 1);
if (k < all) {
  uint64_t *const first = RAGGED_FIRST(state, room) + instance * windows;
  const uint64_t from = row ? ragged_window(offsets[k - 1], length) + 1 : 0;
  const uint64_t end = row < rows ? ragged_window(offsets[k], length) + 1 : windows;
  for (uint64_t w = from; w < end && w < windows; w++)
    first[w] = row;
}
PERMC_END
PERMC_KERNEL_END

PERMC_KERNEL(tiles, MERGE_THREADS, MERGE_BLOCKS, 0, const SORT_KEY *const keys,
             SORT_KEY *const sorted,
#if MERGE_ALONG_BYTES
             const SORT_PAYLOAD *const along, SORT_PAYLOAD *const moved,
#endif
             const int64_t *const offsets, uint64_t *const state, const uint64_t rows,
             const uint64_t length, const uint64_t room)
const uint64_t windows = (length + RAGGED_WINDOW - 1) / RAGGED_WINDOW,
               base = item / windows * length;
const uint64_t window = item % windows * RAGGED_WINDOW, at = base + window;
const int64_t *const own = offsets + item / windows * (rows + 1);
const uint64_t *const first_rows = RAGGED_FIRST(state, room) + item;
// Rows low[0], ..., low[1] - 1 begin in this window.
const uint64_t low[2] = {first_rows[0], item % windows == windows - 1 ? rows : first_rows[1]};
if (low[0] == 0 || low[1] == rows) {  // there may be keys of no row
  const int64_t start = own[0], finish = own[rows];
  PERMC_THREADS(MERGE_THREADS)
  for (uint64_t i = window + t; i < window + RAGGED_WINDOW && i < length; i += MERGE_THREADS)
    if ((int64_t)i < start || (int64_t)i >= finish) {
      RAGGED_SET(sorted + base + i, keys[base + i]);
#if MERGE_ALONG_BYTES
      RAGGED_SET(moved + base + i, along ? along[base + i] : (SORT_PAYLOAD)i);
#endif
    }
  PERMC_END
}
if (low[0] >= low[1])
  PERMC_SKIP;
const int64_t left = (int64_t)(length - window < MERGE_ROOM ? length - window : MERGE_ROOM);
PERMC_VALUES(SORT_KEY, key, MERGE_ITEMS,
             MERGE_THREADS)  // asked for before it is known what rows need
MERGE_EACH_KEY
PERMC_AT(key, i) = 0;
if (RAGGED_LONGEST && p < left)
  PERMC_AT(key, i) = PERMC_LOAD(SORT_KEY, keys + (at + p));
MERGE_END
const int64_t lowest = own[low[0]] - (int64_t)window, highest = own[low[1]] - (int64_t)window;
const uint32_t least = lowest > 0 && lowest < MERGE_ROOM ? (uint32_t)lowest : 0;
uint32_t live = highest < 0 ? 0 : (uint32_t)(highest < left ? highest : left);
uint32_t longest = RAGGED_SHORT;
bool longer = RAGGED_SHORT == 0;  // than a thread sorts
#if RAGGED_SHORT
PERMC_THREADS(MERGE_THREADS)
for (uint64_t row = low[0] + t; row < low[1]; row += MERGE_THREADS)
  longer |= own[row + 1] - own[row] > RAGGED_SHORT;
PERMC_END
PERMC_BARRIER_OR(longer)
#endif
if (longer) {
  uint64_t *const heads = RAGGED_HEADS(scratch);
  // Keys before the end of a row; of a row.
  volatile uint32_t *const most = (volatile uint32_t *)RAGGED_SHARED(scratch);
  PERMC_THREADS(MERGE_THREADS)
  for (uint32_t i = t; i < RAGGED_WORDS + (RAGGED_WORDS + 63) / 64 + 1; i += MERGE_THREADS)
    heads[i] = 0;
  if (t < 2)
    most[t] = 0;
  PERMC_END
  PERMC_BARRIER
  PERMC_THREADS(MERGE_THREADS)
  for (uint64_t row = low[0] + t; row < low[1]; row += MERGE_THREADS) {
    const int64_t begin = own[row], end = own[row + 1];
    const int64_t first = begin - (int64_t)window, last = end - (int64_t)window;
    if (first < 0 || begin >= end || end > (int64_t)length)
      continue;
    if (last > MERGE_ROOM || last - first > RAGGED_LONGEST) {
      ragged_list(state, room, base + (uint64_t)begin, base + (uint64_t)end);
      continue;
    }
    for (uint32_t k = 0; k < 2; k++) {
      const uint32_t head = (uint32_t)(k ? last : first);
      if (head < MERGE_ROOM)
        (void)RAGGED_OR((uint32_t *)heads + head / 32, 1U << head % 32);
    }
    if ((uint32_t)last > most[0])
      (void)RAGGED_MOST((uint32_t *)most, (uint32_t)last);
    if ((uint32_t)(last - first) > most[1])
      (void)RAGGED_MOST((uint32_t *)most + 1, (uint32_t)(last - first));
  }
  PERMC_END
  PERMC_BARRIER
  PERMC_THREADS(MERGE_THREADS)
  for (uint32_t i = t; i < RAGGED_WORDS; i += MERGE_THREADS)
    if (heads[i])
      (void)RAGGED_OR((uint32_t *)(heads + RAGGED_WORDS) + i / 32, 1U << i % 32);
  PERMC_END
  live = most[0];
  longest = most[1];
  PERMC_BARRIER
}
if (least >= live)
  PERMC_SKIP;
SORT_KEY *const staged = MERGE_STAGED(scratch);
MERGE_EACH_KEY
if (p >= least && p < live)
  staged[p] = PERMC_AT(key, i);
MERGE_END
PERMC_BARRIER
#if RAGGED_SHORT
if (!longer)
  ragged_sort_short(scratch, own, window, low);
else
#endif
    if (longest > 1 || MERGE_NUMBER_BYTES)
  ragged_sort(scratch, least, live, longest);
MERGE_EACH_KEY
if (p >= least && p < live)
  PERMC_STORE(SORT_KEY, sorted + (at + p), staged[p]);
MERGE_END
#if MERGE_ALONG_BYTES
PERMC_BARRIER
SORT_PAYLOAD *const staged_along = (SORT_PAYLOAD *)scratch;
const uint16_t *const numbers = MERGE_NUMBERS(scratch);
if (along) {
  MERGE_FILL(SORT_PAYLOAD, staged_along, least, live, along + (at + p))
}
MERGE_EACH_KEY
if (p >= least && p < live)
  PERMC_STORE(SORT_PAYLOAD, moved + (at + p),
              along ? staged_along[numbers[p]] : (SORT_PAYLOAD)(window + numbers[p]));
MERGE_END
#endif
PERMC_KERNEL_END
