// The kernels of stable sorts by keys of few bits: one count, then one read and one write of memory. This
// text stands in generated files as it is here, behind kernels/routines/tile_text.h and these
// (kernels/routines/partition.c):
//
//   PARTITION_BITS         of a key, at most 5                 PARTITION_BLOCKS   at once on a multiprocessor
//   PARTITION_GROUP        tiles that a block counts
//   PARTITION_INPUTS       parameters: arrays that keys are made of
//   PARTITION_VALUES       what a thread keeps of them         PARTITION_LOAD(i, k)   loads it: element k
//   PARTITION_KEY(i)       the key made of it
//   PARTITION_PARAMETERS   parameters: arrays of payloads      PARTITION_MOVES   moves them
//   PARTITION_PLACES       defined: places are written
//
// A row is cut into tiles, and these into groups of PARTITION_GROUP. Where the elements of a key go that
// are in a tile:
//
//   where those of its group begin       starts: the last block that counts a group of the row sums them,
//                                        the groups' counts of key 0 first, then those of key 1, ...
//   behind those in tiles before         counts of the tiles of the group
//   behind those in warps before         counts of the warps, summed
//   behind those before in the warp      votes of the warp
//
// STATE, an array:
//
//   starts    [row][key][group]   how many elements the group has of the key; then where they begin in the row
//   counts    [row][tile][key]    of 32 bits
//   done      [row]               how many groups have been counted; 0 before the first run, and after each
#ifndef PERMC_KERNELS_ROUTINES_PARTITION_TEXT_H
#define PERMC_KERNELS_ROUTINES_PARTITION_TEXT_H

#define PARTITION_KEYS (1U << PARTITION_BITS)
#define PARTITION_GROUPS(length)                                                                   \
  ((TILES_OF(length) + PARTITION_GROUP - 1) / PARTITION_GROUP)  // of a row
#define PARTITION_COUNTS(state)                                                                    \
  ((uint32_t *)((state) + rows * PARTITION_KEYS * PARTITION_GROUPS(length)))
#define PARTITION_DONE(state) (PARTITION_COUNTS(state) + rows * PARTITION_KEYS * TILES_OF(length))
// In scratch, in front of what is staged: by warp and key, and twice by key.
#define PARTITION_HEAD ((TILE_WARPS + 2) * PARTITION_KEYS * 4 + PARTITION_KEYS * sizeof(TILE_COUNT))
#define PARTITION_STAGED (scratch + (PARTITION_HEAD + 15) / 16 * 16)
#define PARTITION_EACH 16  // starts that a thread sums at once
#define PARTITION_SUM_BYTES                                                                        \
  (PARTITION_GROUP * TILE_WARPS * PARTITION_KEYS * 4 + (TILE_WARPS + 1) * sizeof(TILE_COUNT))

#ifdef PERMC_HOST
#define PARTITION_READ(p) (*(p))
// How many elements of the warp before this one have the key. Counts this one.
static inline uint32_t partition_rank(uint32_t *own, uint32_t *of_warp, uint32_t key, uint32_t t) {
  (void)own;
  (void)t;
  return of_warp[key]++;
}
#define PARTITION_KEEP(own, of_warp)
#else
#define PARTITION_READ(p) __ldcg(p)
// Lane k keeps how many elements of the warp have key k.
static inline uint32_t partition_rank(uint32_t *own, uint32_t *of_warp, uint32_t key, uint32_t t) {
  uint32_t same = ~0U, mine = ~0U;
  (void)of_warp;
  PERMC_UNROLL for (uint32_t bit = 0; bit < PARTITION_BITS; bit++) {
    const uint32_t vote = __ballot_sync(~0U, key >> bit & 1);
    same &= key >> bit & 1 ? vote : ~vote;
    mine &= t >> bit & 1 ? vote : ~vote;
  }
  const uint32_t before = __shfl_sync(~0U, *own, key) + __popc(same & ((1U << t % 32) - 1));
  *own += __popc(mine);
  return before;
}
#define PARTITION_KEEP(own, of_warp)                                                               \
  if (t % 32 < PARTITION_KEYS)                                                                     \
    of_warp[t % 32] = own;
#endif
#define PARTITION_OF_WARP(of_warps) ((of_warps) + t / 32 * PARTITION_KEYS)
// Of an element in the tile: those beyond the end are the last of all.
#define PARTITION_KEY_AT(i) (TILE_IS_LIVE(i) ? PARTITION_KEY(i) : PARTITION_KEYS - 1)

// clang-format off: what macros begin and end is indented below as blocks are
// ---- the first kernel: how often each key occurs in each tile -------------------------------------

// A block counts a group of tiles.
PERMC_KERNEL(count, TILE_THREADS, PARTITION_BLOCKS, PARTITION_SUM_BYTES, PARTITION_INPUTS,
             TILE_COUNT *const state, int64_t *const totals, const uint64_t rows,
             const uint64_t length)
TILE_BEGIN
const uint32_t groups = PARTITION_GROUPS(length), tiles = TILES_OF(length);
const uint64_t row = (uint32_t)item / groups, all = (uint64_t)groups * PARTITION_KEYS;
const uint32_t group = (uint32_t)item % groups, first_tile = group * PARTITION_GROUP;
const uint32_t some = tiles - first_tile < PARTITION_GROUP ? tiles - first_tile : PARTITION_GROUP;
uint32_t *const of_warps = (uint32_t *)scratch;  // [tile][warp][key]
TILE_COUNT *const sums = (TILE_COUNT *)(of_warps + PARTITION_GROUP * TILE_WARPS * PARTITION_KEYS);
TILE_COUNT *const last = sums + TILE_WARPS;  // whether this is the row's last block
TILE_COUNT *const starts = state + row * all;
uint32_t *const counts = PARTITION_COUNTS(state) + (row * tiles + first_tile) * PARTITION_KEYS;
PERMC_VALUES(uint32_t, own, 1, TILE_THREADS)
TILE_EACH_THREAD
for (uint32_t i = t; i < PARTITION_GROUP * TILE_WARPS * PARTITION_KEYS; i += TILE_THREADS)
  of_warps[i] = 0;
TILE_END
PERMC_BARRIER
for (uint32_t tile = 0; tile < some; tile++) {
  TILE_AGAIN
  const uint64_t start = (uint64_t)(first_tile + tile) * TILE_ELEMENTS;
  const uint32_t live = length - start < TILE_ELEMENTS ? (uint32_t)(length - start) : TILE_ELEMENTS;
  uint32_t *const of_tile = of_warps + tile * TILE_WARPS * PARTITION_KEYS;
  PARTITION_VALUES
  TILE_EACH_ITEM
  if (TILE_IS_LIVE(i)) {
    PARTITION_LOAD(i, row * length + start + TILE_PLACE + 32 * i)
  }
  TILE_END
  TILE_EACH_THREAD
  PERMC_AT(own, 0) = 0;
  TILE_END
  TILE_EACH_ITEM(void)
  partition_rank(&PERMC_AT(own, 0), PARTITION_OF_WARP(of_tile), PARTITION_KEY_AT(i), t);
  TILE_END
  TILE_EACH_THREAD
  PARTITION_KEEP(PERMC_AT(own, 0), PARTITION_OF_WARP(of_tile))
  TILE_END
}
PERMC_BARRIER
TILE_EACH_THREAD
if (t < PARTITION_KEYS) {
  TILE_COUNT sum = 0;
  for (uint32_t tile = 0; tile < some; tile++) {
    uint32_t of_tile = 0;
    PERMC_UNROLL for (uint32_t w = 0; w < TILE_WARPS; w++) of_tile +=
        of_warps[(tile * TILE_WARPS + w) * PARTITION_KEYS + t];
    if (t == PARTITION_KEYS - 1 && first_tile + tile == tiles - 1)
      of_tile -= (uint32_t)((uint64_t)tiles * TILE_ELEMENTS - length);  // what is beyond the end
    PERMC_STORE(uint32_t, counts + tile * PARTITION_KEYS + t, of_tile);
    sum += of_tile;
  }
  PERMC_STORE(TILE_COUNT, starts + (uint64_t)t * groups + group, sum);
  TILE_FENCE
}
TILE_END
PERMC_BARRIER
TILE_EACH_THREAD
if (t == 0)
  *last = TILE_ADD(PARTITION_DONE(state) + row, 1) == groups - 1;
TILE_END
PERMC_BARRIER
if (!*last)
  PERMC_SKIP;

// The last block of the row: counts become starts.
TILE_COUNT before = 0;
for (uint64_t from = 0; from < all; from += TILE_THREADS * PARTITION_EACH) {
  TILE_AGAIN
  PERMC_VALUES(TILE_COUNT, count, PARTITION_EACH, TILE_THREADS)
  PERMC_VALUES(TILE_COUNT, lower, 1, TILE_THREADS)
  TILE_EACH_THREAD
  const uint64_t at = from + t * PARTITION_EACH;
  TILE_COUNT sum = 0;
  TILE_FENCE
  PERMC_UNROLL for (uint32_t i = 0; i < PARTITION_EACH; i++) PERMC_AT(count, i) =
      at + i < all ? PARTITION_READ(starts + at + i) : 0;
  PERMC_UNROLL for (uint32_t i = 0; i < PARTITION_EACH; i++) sum += PERMC_AT(count, i);
  PERMC_AT(lower, 0) = tile_before(sum, t);
  if (t % 32 == 31)
    sums[t / 32] = PERMC_AT(lower, 0) + sum;
  TILE_END
  PERMC_BARRIER
  TILE_EACH_THREAD
  const uint64_t at = from + t * PARTITION_EACH;
  TILE_COUNT next = before + PERMC_AT(lower, 0);
  for (uint32_t w = 0; w < t / 32; w++)
    next += sums[w];
  PERMC_UNROLL for (uint32_t i = 0; i < PARTITION_EACH; i++) {
    if (at + i < all)
      starts[at + i] = next;
    next += PERMC_AT(count, i);
  }
  TILE_END
  for (uint32_t w = 0; w < TILE_WARPS; w++)
    before += sums[w];
  PERMC_BARRIER
}
TILE_EACH_THREAD
if (t == 0)
  PARTITION_DONE(state)[row] = 0;
if (t < PARTITION_KEYS && totals)
  totals[row * PARTITION_KEYS + t] =
      (int64_t)((t + 1 < PARTITION_KEYS ? starts[(uint64_t)(t + 1) * groups] : (TILE_COUNT)length) -
                starts[(uint64_t)t * groups]);
TILE_END
PERMC_KERNEL_END

// ---- the second: all elements to their places ------------------------------------------------------

// Payload by payload, through scratch: so what goes to one place of memory is stored by neighbours. A
// thread's element i is VALUE; (words) of them are an element, of which this is number w. All are read
// before any is stored: compilers keep that order.
#define PARTITION_MOVE(word, words, w, value, to)                                                  \
  {                                                                                                \
    PERMC_VALUES(word, moved, TILE_ITEMS, TILE_THREADS)                                            \
    PERMC_VALUES(TILE_COUNT, target, TILE_ITEMS, TILE_THREADS)                                     \
    PERMC_BARRIER                                                                                  \
    TILE_EACH_ITEM                                                                                 \
    word own_value = 0;                                                                            \
    if (TILE_IS_LIVE(i))                                                                           \
      own_value = value;                                                                           \
    PERMC_PUT(word, (word *)PARTITION_STAGED + (PERMC_AT(place, i) & 65535), own_value);           \
    TILE_END                                                                                       \
    PERMC_BARRIER                                                                                  \
    TILE_EACH_ITEM                                                                                 \
    const uint32_t staged_at = TILE_THREADS * i + t;                                               \
    uint32_t key = 0;                                                                              \
    PERMC_UNROLL for (uint32_t half = PARTITION_KEYS / 2; half; half /= 2) key +=                  \
        staged_at >= starts[key + half] ? half : 0;                                                \
    PERMC_AT(target, i) = bases[key] + staged_at;                                                  \
    PERMC_AT(moved, i) = PERMC_GET(word, (word *)PARTITION_STAGED + staged_at);                    \
    TILE_END                                                                                       \
    TILE_EACH_ITEM                                                                                 \
    if (TILE_THREADS * i + t < live)                                                               \
      PERMC_STORE(word, (to) + (uint64_t)PERMC_AT(target, i) * (words) + (w), PERMC_AT(moved, i)); \
    TILE_END                                                                                       \
  }

// Tiles come from the end of a row on, as the first kernel has left that in the cache.
PERMC_KERNEL(partition, TILE_THREADS, PARTITION_BLOCKS, PARTITION_HEAD,
             PARTITION_INPUTS PARTITION_PARAMETERS, const TILE_COUNT *const state,
#ifdef PARTITION_PLACES
             int64_t *const places,
#endif
             const uint64_t rows, const uint64_t length)
TILE_BEGIN
const uint32_t tiles = TILES_OF(length), tile = tiles - 1 - (uint32_t)item % tiles;
const uint64_t row = (uint32_t)item / tiles, start = row * length + (uint64_t)tile * TILE_ELEMENTS;
const uint64_t left = (row + 1) * length - start;
const uint32_t live = left < TILE_ELEMENTS ? (uint32_t)left : TILE_ELEMENTS;
uint32_t *const of_warps = (uint32_t *)scratch;                   // [warp][key]
uint32_t *const starts = of_warps + TILE_WARPS * PARTITION_KEYS;  // of keys in the sorted tile
// By key, the place in memory less that in the tile.
TILE_COUNT *const bases = (TILE_COUNT *)(starts + 2 * PARTITION_KEYS);
PARTITION_VALUES
PERMC_VALUES(uint32_t, place, TILE_ITEMS,
             TILE_THREADS)  // in the tile; the key is in the upper half
PERMC_VALUES(uint32_t, own, 1, TILE_THREADS)

TILE_EACH_ITEM
if (TILE_IS_LIVE(i)) {
  PARTITION_LOAD(i, start + TILE_PLACE + 32 * i)
}
TILE_END
TILE_EACH_THREAD
PERMC_AT(own, 0) = 0;
if (t % 32 < PARTITION_KEYS)
  PARTITION_OF_WARP(of_warps)[t % 32] = 0;
if (t < PARTITION_KEYS) {
  const uint32_t groups = PARTITION_GROUPS(length), group = tile / PARTITION_GROUP;
  const uint32_t *const counts = PARTITION_COUNTS(state) + row * tiles * PARTITION_KEYS + t;
  TILE_COUNT first = PARTITION_READ(state + (row * PARTITION_KEYS + t) * groups + group);
  for (uint32_t before = group * PARTITION_GROUP; before < tile; before++)
    first += PARTITION_READ(counts + before * PARTITION_KEYS);
  bases[t] = first;
}
TILE_END
TILE_EACH_ITEM
const uint32_t key = PARTITION_KEY_AT(i);
PERMC_AT(place,
         i) = partition_rank(&PERMC_AT(own, 0), PARTITION_OF_WARP(of_warps), key, t) | key << 16;
TILE_END
TILE_EACH_THREAD
PARTITION_KEEP(PERMC_AT(own, 0), PARTITION_OF_WARP(of_warps))
TILE_END
PERMC_BARRIER

// Counts of warps become places in the sorted tile.
TILE_EACH_THREAD
if (t < 32) {
  uint32_t sum = 0;
  PERMC_UNROLL for (uint32_t w = 0; w < TILE_WARPS; w++) sum +=
      t < PARTITION_KEYS ? of_warps[w * PARTITION_KEYS + t] : 0;
  uint32_t next = (uint32_t)tile_before(sum, t);
  if (t < PARTITION_KEYS) {
    starts[t] = next;
    bases[t] += (TILE_COUNT)(row * length) - next;
    PERMC_UNROLL for (uint32_t w = 0; w < TILE_WARPS; w++) {
      const uint32_t old = of_warps[w * PARTITION_KEYS + t];
      of_warps[w * PARTITION_KEYS + t] = next;
      next += old;
    }
  }
}
TILE_END
PERMC_BARRIER
TILE_EACH_ITEM
PERMC_AT(place, i) += PARTITION_OF_WARP(of_warps)[PERMC_AT(place, i) >> 16];
TILE_END
PARTITION_MOVES
#ifdef PARTITION_PLACES
PERMC_BARRIER
TILE_EACH_ITEM
const uint32_t key = PERMC_AT(place, i) >> 16;
const TILE_COUNT target = bases[key] + (PERMC_AT(place, i) & 65535) - (TILE_COUNT)(row * length);
if (TILE_IS_LIVE(i))
  PERMC_STORE(int64_t, places + start + TILE_PLACE + 32 * i, (int64_t)target);
TILE_END
#endif
PERMC_KERNEL_END

#endif
