// What the kernels of a stable sort of rows of any lengths share. This text stands in generated files as it
// is here, behind kernels/text/cuda_host.h and these (kernels/routines/ragged.c):
//
//   RAGGED_KEY        an unsigned type of a key's bytes
//   RAGGED_ORDER(k)   the number whose order is that of keys
//   SORT_PAYLOAD      a type of what goes with a key, and RAGGED_ALONG_BYTES; these are 0 if nothing does
//   RAGGED_NUMBER_BYTES   2, or 0: keys have no numbers
//   RAGGED_PART      keys of a part of a row, at most
//   RAGGED_WINDOW     keys among which the rows of a tile begin
//
// Row i of an instance is keys offsets[i], ..., offsets[i + 1] - 1 of its `length`. Tile k sorts the rows that
// begin among keys k RAGGED_WINDOW, ... of an instance, as far as they end within its scratch. All other
// rows are cut into parts, of which there is a list:
//
//   tiles    a block for each tile       sorts rows, lists the others; keys of no row are copied
//   parts   blocks that take tickets    sorts parts; then merges those of a row: pairs of them, of four, ...
//
// A ticket is a part at a level, all of a level before those of the next, so that who waits for a level waits
// for blocks that have begun.
//
// STATE, numbers of 64 bits, all 0 before the first run, and after each:
//
//   parts, of rows of several parts; tickets, done, blocks that are through; levels
//   entries: [part] begin, end of its row, its number in it; then those of rows of several parts
#ifndef PERMC_KERNELS_ROUTINES_RAGGED_HEAD_H
#define PERMC_KERNELS_ROUTINES_RAGGED_HEAD_H

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
#define RAGGED_ADD(p, n) ((*(p) += (n)) - (n))
#define RAGGED_OR(p, bits) (*(p) |= (bits))
#define RAGGED_MOST(p, n) (*(p) = *(p) < (n) ? (n) : *(p))
#define RAGGED_LEAST(p, n) (*(p) = *(p) > (n) ? (n) : *(p))
#define RAGGED_FENCE
#define RAGGED_GET(p) (*(p))
#define RAGGED_SET(p, v) (*(p) = (v))
#else
#define RAGGED_ADD(p, n) atomicAdd(p, n)
#define RAGGED_OR(p, bits) atomicOr(p, bits)
#define RAGGED_MOST(p, n) atomicMax(p, n)
#define RAGGED_LEAST(p, n) atomicMin(p, n)
#define RAGGED_FENCE __threadfence();
#define RAGGED_GET(p) __ldcg(p)
#define RAGGED_SET(p, v) __stcg(p, v)
#endif

// For all keys of a block in the order of memory: p is a key's place.
#ifdef PERMC_COUNT
#define RAGGED_AGAIN permc_calls++;
#else
#define RAGGED_AGAIN
#endif
#ifdef PERMC_HOST
#define RAGGED_EACH_KEY                                                                            \
  for (uint32_t i = 0; i < RAGGED_ITEMS; i++) {                                                    \
    RAGGED_AGAIN                                                                                   \
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

// Of the first `count` of a[0 ... m - 1] and b[0 ... n - 1], which are in order, merged: how many are of a.
static inline uint64_t ragged_cut(const RAGGED_KEY *a, uint64_t m, const RAGGED_KEY *b, uint64_t n,
                                  uint64_t count) {
  uint64_t low = count > n ? count - n : 0, high = count < m ? count : m;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    const RAGGED_KEY x = RAGGED_GET(a + middle), y = RAGGED_GET(b + (count - 1 - middle));
    if (RAGGED_ORDER(y) < RAGGED_ORDER(x))
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
    const uint64_t first = RAGGED_ADD(state + (list ? RAGGED_SEVERAL : RAGGED_PARTS), count);
    uint64_t *entry = state + RAGGED_ENTRIES + (list ? 3 * room : 0) + 3 * first;
    for (uint64_t k = 0; k < count && first + k < room; k++, entry += 3) {
      entry[0] = begin;
      entry[1] = end;
      entry[2] = k;
    }
  }
  (void)RAGGED_MOST(state + RAGGED_LEVELS, levels);
}

#endif
