// What the kernels of a stable sort of rows of any lengths share. This text stands in generated
// files as it is here, behind kernels/text/tile.h and these (kernels/routines/sort/ragged.c):
//
//   SORT_KEY          an unsigned type of a key's bytes
//   MERGE_ORDER(k)   the number whose order is that of keys; RAGGED_LAST   a key that comes behind all
//   SORT_PAYLOAD      a type of what goes with a key, and MERGE_ALONG_BYTES; these are 0 if nothing does
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
#define RAGGED_SET(p, v) (*(p) = (v))
#else
#define RAGGED_OR(p, bits) atomicOr(p, bits)
#define RAGGED_MOST(p, n) atomicMax(p, n)
#define RAGGED_LEAST(p, n) atomicMin(p, n)
#define RAGGED_SET(p, v) __stcg(p, v)
#endif

#define RAGGED_FIRST(state, room) ((state) + RAGGED_ENTRIES + 6 * (room))
// The window of a key, also where offsets are none, which a check finds.
static inline uint64_t ragged_window(int64_t offset, uint64_t length) {
  const uint64_t place = offset < 0 ? 0 : (uint64_t)offset;
  return (place < length ? place : length) / RAGGED_WINDOW;
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

#endif
