// What the kernels of a stable sort of rows of any lengths share. This text stands in generated
// files as it is here, behind kernels/text/tile.h and these (kernels/routines/sort/ragged.c):
//
//   SORT_KEY          an unsigned type of a key's bytes
//   RAGGED_ORDER(k)   the number whose order is that of keys; RAGGED_LAST   a key that comes behind all
//   SORT_PAYLOAD      a type of what goes with a key, and RAGGED_ALONG_BYTES; these are 0 if nothing does
//   RAGGED_PART      keys of a part of a row, at most
//   RAGGED_WINDOW     keys among which the rows of a tile begin
//
// Row i of an instance is keys offsets[i], ..., offsets[i + 1] - 1 of its `length`. Tile k sorts
// the rows that begin among keys k RAGGED_WINDOW, ... of an instance, as far as they end within its
// scratch. All other rows are cut into parts, of which there is a list:
//
//   starts   a thread for each offset    finds the first row of each window
//   tiles    a block for each tile       sorts rows, lists the others; keys of no row are copied
//   parts    blocks that take tickets    sorts parts; then merges those of a row: pairs of them, of four, ...
//
// A ticket is a part at a level, all of a level before those of the next, so that who waits for a
// level waits for blocks that have begun.
//
// STATE, numbers of 64 bits; the first ones are 0 before the first run, and after each:
//
//   parts, of rows of several parts; tickets, done, blocks that are through; levels
//   entries: [part] begin, end of its row, its number in it; then those of rows of several parts
//   first rows: [window]
#ifndef PERMC_KERNELS_ROUTINES_SORT_RAGGED_HEAD_H
#define PERMC_KERNELS_ROUTINES_SORT_RAGGED_HEAD_H

enum {
  RAGGED_PARTS,
  RAGGED_SEVERAL,
  RAGGED_TICKET,
  RAGGED_DONE,
  RAGGED_THROUGH,
  RAGGED_LEVELS,
  RAGGED_ENTRIES
};

#ifdef PERMC_HOST
#define RAGGED_OR(p, bits) (*(p) |= (bits))
#define RAGGED_MOST(p, n) (*(p) = *(p) < (n) ? (n) : *(p))
#define RAGGED_LEAST(p, n) (*(p) = *(p) > (n) ? (n) : *(p))
#define RAGGED_GET(p) (*(p))
#define RAGGED_SET(p, v) (*(p) = (v))
#else
#define RAGGED_OR(p, bits) atomicOr(p, bits)
#define RAGGED_MOST(p, n) atomicMax(p, n)
#define RAGGED_LEAST(p, n) atomicMin(p, n)
#define RAGGED_GET(p) __ldcg(p)
#define RAGGED_SET(p, v) __stcg(p, v)
#endif

// Of a block, whose kernel defines RAGGED_THREADS, RAGGED_ITEMS and RAGGED_NUMBER_BYTES: 2, or 0 if
// keys have no numbers. Scratch begins with keys, or payloads, one more than there are, and the
// numbers of keys.
#define RAGGED_ROOM (RAGGED_THREADS * RAGGED_ITEMS)
#define RAGGED_WIDE (sizeof(SORT_KEY) > RAGGED_ALONG_BYTES ? sizeof(SORT_KEY) : RAGGED_ALONG_BYTES)
#define RAGGED_STAGED(scratch) ((SORT_KEY *)(scratch))
#define RAGGED_NUMBERS(scratch) ((uint16_t *)((scratch) + (RAGGED_ROOM + 2) * RAGGED_WIDE))
#define RAGGED_BEHIND(scratch)                                                                     \
  ((scratch) +                                                                                     \
   ((RAGGED_ROOM + 2) * RAGGED_WIDE + RAGGED_NUMBER_BYTES * (RAGGED_ROOM + 2) + 15) / 16 * 16)

#define RAGGED_FIRST(state, room) ((state) + RAGGED_ENTRIES + 6 * (room))
// The window of a key, also where offsets are none, which a check finds.
static inline uint64_t ragged_window(int64_t offset, uint64_t length) {
  const uint64_t place = offset < 0 ? 0 : (uint64_t)offset;
  return (place < length ? place : length) / RAGGED_WINDOW;
}

// For all keys of a block in the order of memory: p is a key's place.
#ifdef PERMC_HOST
#define RAGGED_EACH_KEY                                                                            \
  for (uint32_t i = 0; i < RAGGED_ITEMS; i++) {                                                    \
    PERMC_AGAIN                                                                                    \
    for (uint32_t t = 0; t < RAGGED_THREADS; t++) {                                                \
      const uint32_t p = i * RAGGED_THREADS + t;
#else
#define RAGGED_EACH_KEY                                                                            \
  {                                                                                                \
    const uint32_t t = threadIdx.x;                                                                \
    PERMC_UNROLL for (uint32_t i = 0; i < RAGGED_ITEMS; i++) {                                     \
      const uint32_t p = i * RAGGED_THREADS + t;
#endif
#define RAGGED_END                                                                                 \
  }                                                                                                \
  }

// Of the first `count` of a[0 ... m - 1] and b[0 ... n - 1], which are in order, merged: how many
// are of a.
static inline uint64_t ragged_cut(const SORT_KEY *a, uint64_t m, const SORT_KEY *b, uint64_t n,
                                  uint64_t count) {
  uint64_t low = count > n ? count - n : 0, high = count < m ? count : m;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    const SORT_KEY x = RAGGED_GET(a + middle), y = RAGGED_GET(b + (count - 1 - middle));
    if (RAGGED_ORDER(y) < RAGGED_ORDER(x))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// Of the first `count` keys of sorted a and sorted b together, merged, how many are of a.
static inline uint32_t ragged_split(const SORT_KEY *a, uint32_t m, const SORT_KEY *b, uint32_t n,
                                    uint32_t count) {
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

static inline uint64_t ragged_within(uint64_t place, uint64_t begin, uint64_t end) {
  return place < end ? place : begin;
}

static inline uint64_t ragged_look(const uint64_t *p) { return *(const volatile uint64_t *)p; }

// Lists a row's parts: in the first list, and if they are several also in the second.
static inline void ragged_list(uint64_t *state, uint64_t room, uint64_t begin, uint64_t end) {
  const uint64_t count = (end - begin + RAGGED_PART - 1) / RAGGED_PART;
  uint64_t levels = 0;
  while (UINT64_C(1) << levels < count)
    levels++;
  for (uint32_t list = 0; list < 1 + (count > 1); list++) {
    const uint64_t first = TILE_ADD(state + (list ? RAGGED_SEVERAL : RAGGED_PARTS), count);
    uint64_t *entry = state + RAGGED_ENTRIES + (list ? 3 * room : 0) + 3 * first;
    for (uint64_t k = 0; k < count && first + k < room; k++, entry += 3) {
      entry[0] = begin;
      entry[1] = end;
      entry[2] = k;
    }
  }
  (void)RAGGED_MOST(state + RAGGED_LEVELS, levels);
}

// The next key i of two merged ones: x is of a, the next of those before `middle`, y of b, the next
// before `end`.
#define RAGGED_MERGED(i)                                                                           \
  const bool first = b >= end || (a < middle && !(RAGGED_ORDER(y) < RAGGED_ORDER(x)));             \
  const uint32_t from = first ? a : b;                                                             \
  PERMC_AT(key, i) = first ? x : y;                                                                \
  PERMC_AT(number, i) = RAGGED_NUMBER_BYTES ? numbers[from] : 0;                                   \
  a += first;                                                                                      \
  b += !first;                                                                                     \
  const SORT_KEY z = staged[from + 1];                                                             \
  x = first ? z : x;                                                                               \
  y = first ? y : z;

// Merged keys go to scratch.
#define RAGGED_KEEP_MERGED                                                                         \
  PERMC_THREADS(RAGGED_THREADS)                                                                    \
  const uint32_t p = t * RAGGED_ITEMS;                                                             \
  if (PERMC_AT(busy, 0))                                                                           \
    PERMC_UNROLL for (uint32_t i = 0; i < RAGGED_ITEMS; i++) {                                     \
      staged[p + i] = PERMC_AT(key, i);                                                            \
      if (RAGGED_NUMBER_BYTES)                                                                     \
        numbers[p + i] = (uint16_t)PERMC_AT(number, i);                                            \
    }                                                                                              \
  PERMC_END                                                                                        \
  PERMC_BARRIER

// Loads of memory, keys least ... live - 1.
#define RAGGED_FILL(type, to, least, live, from)                                                   \
  {                                                                                                \
    PERMC_VALUES(type, loaded, RAGGED_ITEMS, RAGGED_THREADS)                                       \
    RAGGED_EACH_KEY                                                                                \
    PERMC_AT(loaded, i) = 0;                                                                       \
    if (p >= least && p < live)                                                                    \
      PERMC_AT(loaded, i) = PERMC_LOAD(type, from);                                                \
    RAGGED_END                                                                                     \
    RAGGED_EACH_KEY                                                                                \
    if (p >= least && p < live)                                                                    \
      to[p] = PERMC_AT(loaded, i);                                                                 \
    RAGGED_END                                                                                     \
    PERMC_BARRIER                                                                                  \
  }

#endif
