// The kernels of stable sorts by keys of few bits: one count, then one read and one write of
// memory. This text stands in generated files as it is here, behind kernels/text/tile.h and these
// (kernels/routines/partition/partition.c):
//
//   PARTITION_BITS         of a key, at most 5                 PARTITION_BLOCKS   at once on a multiprocessor
//   PARTITION_GROUP        tiles that a block counts
//   PARTITION_INPUTS       parameters: arrays that keys are made of
//   PARTITION_VALUES       what a thread keeps of them         PARTITION_LOAD(i, k)   loads it: element k
//   PARTITION_KEY(i)       the key made of it
//   PARTITION_PARAMETERS   parameters: arrays of payloads      PARTITION_MOVES   moves them
//   PARTITION_PLACES       defined: places are written
//
// A row is cut into tiles, and these into groups of PARTITION_GROUP, one for each block. Where the
// elements of a key go that are in a tile:
//
//   those of smaller keys, and those in groups before    counts of the groups, which each block sums
//   behind those in tiles before                         tiles of a group come from its end on: what is left
//   behind those in warps before                         counts of the warps, summed
//   behind those before in the warp                      votes of the warp
//
// STATE, an array: counts [row][key][group], how many elements the group has of the key.
#ifndef PERMC_KERNELS_ROUTINES_PARTITION_PARTITION_TEXT_H
#define PERMC_KERNELS_ROUTINES_PARTITION_PARTITION_TEXT_H

#define PARTITION_KEYS (1U << PARTITION_BITS)
#define PARTITION_GROUPS(length)                                                                   \
  ((TILES_OF(length) + PARTITION_GROUP - 1) / PARTITION_GROUP)  // of a row
// In scratch, in front of what is staged: by warp and key; by key, once and, wider, four times.
#define PARTITION_HEAD                                                                             \
  ((TILE_WARPS + 1) * PARTITION_KEYS * 4 + 4 * PARTITION_KEYS * sizeof(TILE_COUNT))
#define PARTITION_STAGED (scratch + (PARTITION_HEAD + 15) / 16 * 16)

#ifdef PERMC_HOST
#define PARTITION_READ(p) (*(p))
// How many elements of the warp before this one have the key; `all` have any. Counts this one.
static inline uint32_t partition_rank(uint32_t *own, uint32_t *of_warp, uint32_t key, uint32_t all,
                                      uint32_t t) {
  (void)own, (void)all, (void)t;
  return of_warp[key]++;
}
#define PARTITION_KEEP(own, of_warp, all)
#else
#define PARTITION_READ(p) __ldcg(p)
static inline uint32_t partition_rank(uint32_t *own, uint32_t *of_warp, uint32_t key, uint32_t all,
                                      uint32_t t) {
  const uint32_t lanes_before = (1U << t % 32) - 1;
  (void)of_warp, (void)all;
#if PARTITION_BITS == 1  // each lane keeps how many elements have key 1
  const uint32_t vote = __ballot_sync(~0U, key), ones = *own + __popc(vote & lanes_before);
  *own += __popc(vote);
  return key ? ones : all + t % 32 - ones;
#else                    // lane k keeps how many have key k
  uint32_t same = ~0U, mine = ~0U;
  PERMC_UNROLL for (uint32_t bit = 0; bit < PARTITION_BITS; bit++) {
    const uint32_t vote = __ballot_sync(~0U, key >> bit & 1);
    same &= key >> bit & 1 ? vote : ~vote;
    mine &= t >> bit & 1 ? vote : ~vote;
  }
  const uint32_t before = __shfl_sync(~0U, *own, key) + __popc(same & lanes_before);
  *own += __popc(mine);
  return before;
#endif
}
#define PARTITION_KEEP(own, of_warp, all)                                                          \
  if (t % 32 < PARTITION_KEYS)                                                                     \
    of_warp[t % 32] = PARTITION_BITS > 1 || t % 32 ? own : (all)-own;
#endif
#define PARTITION_OF_WARP(of_warps) ((of_warps) + t / 32 * PARTITION_KEYS)
// For the keys of a tile: those beyond the end are the last of all.
#define PARTITION_EACH_KEY(...)                                                                    \
  if (live == TILE_ELEMENTS) {                                                                     \
    TILE_EACH_ITEM const uint32_t key = PARTITION_KEY(i);                                          \
    __VA_ARGS__;                                                                                   \
    TILE_END                                                                                       \
  } else {                                                                                         \
    TILE_EACH_ITEM const uint32_t key = TILE_IS_LIVE(i) ? PARTITION_KEY(i) : PARTITION_KEYS - 1;   \
    __VA_ARGS__;                                                                                   \
    TILE_END                                                                                       \
  }

// clang-format off: what macros begin and end is indented below as blocks are
// ---- the first kernel: how often each key occurs in each group -------------------------------------

PERMC_KERNEL(count, TILE_THREADS, PARTITION_BLOCKS, TILE_WARPS *PARTITION_KEYS * 4,
             PARTITION_INPUTS, TILE_COUNT *const counts, const uint64_t rows, const uint64_t length)
TILE_BEGIN(void) rows;
const uint32_t groups = PARTITION_GROUPS(length), tiles = TILES_OF(length);
const uint64_t row = (uint32_t)item / groups;
const uint32_t group = (uint32_t)item % groups, first_tile = group * PARTITION_GROUP;
const uint32_t end = tiles - first_tile < PARTITION_GROUP ? tiles : first_tile + PARTITION_GROUP;
uint32_t *const of_warps = (uint32_t *)scratch;  // [warp][key]
PERMC_VALUES(uint32_t, own, 1, TILE_THREADS)
TILE_EACH_THREAD
PERMC_AT(own, 0) = 0;
if (t % 32 < PARTITION_KEYS)
  PARTITION_OF_WARP(of_warps)[t % 32] = 0;
TILE_END
for (uint32_t tile = first_tile; tile < end; tile++) {
  PERMC_AGAIN
  const uint64_t start = (uint64_t)tile * TILE_ELEMENTS;
  const uint32_t live = length - start < TILE_ELEMENTS ? (uint32_t)(length - start) : TILE_ELEMENTS;
  PARTITION_VALUES
  TILE_EACH_LIVE(TILE_IS_LIVE(i), PARTITION_LOAD(i, row * length + start + TILE_PLACE + 32 * i))
  PARTITION_EACH_KEY(
      (void)partition_rank(&PERMC_AT(own, 0), PARTITION_OF_WARP(of_warps), key, 0, t))
}
TILE_EACH_THREAD
PARTITION_KEEP(PERMC_AT(own, 0), PARTITION_OF_WARP(of_warps), (end - first_tile) * TILE_ITEMS * 32)
TILE_END
PERMC_BARRIER
TILE_EACH_THREAD
if (t < PARTITION_KEYS) {
  TILE_COUNT sum = 0;
  PERMC_UNROLL for (uint32_t w = 0; w < TILE_WARPS; w++) sum += of_warps[w * PARTITION_KEYS + t];
  if (t == PARTITION_KEYS - 1 && end == tiles)
    sum -= (TILE_COUNT)((uint64_t)tiles * TILE_ELEMENTS - length);  // what is beyond the end
  PERMC_STORE(TILE_COUNT, counts + (row * PARTITION_KEYS + t) * groups + group, sum);
}
TILE_END
PERMC_KERNEL_END

// ---- the second: all elements to their places ------------------------------------------------------

// Payload by payload, through scratch, which is free: so what goes to one place of memory is stored
// by neighbours. A thread's element i is VALUE; (words) of them are an element, of which this is
// number w. All are read before any is stored: compilers keep that order. What else is given is
// done meanwhile.
#define PARTITION_MOVE(word, words, w, value, to, ...)                                             \
  {                                                                                                \
    PERMC_VALUES(word, moved, TILE_ITEMS, TILE_THREADS)                                            \
    PERMC_VALUES(TILE_COUNT, target, TILE_ITEMS, TILE_THREADS)                                     \
    TILE_EACH_ITEM                                                                                 \
    const word own_value = value;                                                                  \
    PERMC_PUT(word, (word *)PARTITION_STAGED + (PERMC_AT(place, i) & 65535), own_value);           \
    TILE_END                                                                                       \
    __VA_ARGS__                                                                                    \
    PERMC_BARRIER                                                                                  \
    TILE_EACH_ITEM                                                                                 \
    const uint32_t staged_at = TILE_THREADS * i + t;                                               \
    uint32_t key = 0;                                                                              \
    PERMC_UNROLL for (uint32_t half = PARTITION_KEYS / 2; half; half /= 2) key +=                  \
        staged_at >= starts[key + half] ? half : 0;                                                \
    PERMC_AT(target, i) = bases[key] + staged_at;                                                  \
    PERMC_AT(moved, i) = PERMC_GET(word, (word *)PARTITION_STAGED + staged_at);                    \
    TILE_END                                                                                       \
    TILE_EACH_LIVE(TILE_THREADS *i + t < live,                                                     \
                   PERMC_STORE(word, (to) + (uint64_t)PERMC_AT(target, i) * (words) + (w),         \
                               PERMC_AT(moved, i)))                                                \
  }

// The next tile is loaded as soon as values are staged. All but the last tile of a row are full.
#define PARTITION_LOAD_NEXT                                                                        \
  if (tile > first_tile) {                                                                         \
    TILE_EACH_ITEM                                                                                 \
    PARTITION_LOAD(i, start + TILE_PLACE + 32 * i - TILE_ELEMENTS)                                 \
    TILE_END                                                                                       \
  }

// Tiles come from the end of a group on, as the first kernel has left that in the cache.
PERMC_KERNEL(partition, TILE_THREADS, PARTITION_BLOCKS, PARTITION_HEAD,
             PARTITION_INPUTS PARTITION_PARAMETERS, const TILE_COUNT *const counts,
             int64_t *const totals,
#ifdef PARTITION_PLACES
             int64_t *const places,
#endif
             const uint64_t rows, const uint64_t length)
TILE_BEGIN(void) rows;
const uint32_t groups = PARTITION_GROUPS(length), tiles = TILES_OF(length);
const uint64_t row = (uint32_t)item / groups;
const uint32_t group = (uint32_t)item % groups, first_tile = group * PARTITION_GROUP;
uint32_t tile = (tiles - first_tile < PARTITION_GROUP ? tiles : first_tile + PARTITION_GROUP) - 1;
uint64_t start = row * length + (uint64_t)tile * TILE_ELEMENTS;
uint32_t live = (row + 1) * length - start < TILE_ELEMENTS ? (uint32_t)((row + 1) * length - start)
                                                           : TILE_ELEMENTS;
uint32_t *const of_warps = (uint32_t *)scratch;                   // [warp][key]
uint32_t *const starts = of_warps + TILE_WARPS * PARTITION_KEYS;  // of keys in the sorted tile
// By key, the place in memory less that in the tile; where those end that are left of the group;
// and how many there are in the row, and in this group and those before.
TILE_COUNT *const bases = (TILE_COUNT *)(starts + PARTITION_KEYS);
TILE_COUNT *const ends = bases + PARTITION_KEYS, *const sums = ends + PARTITION_KEYS;
PARTITION_VALUES
PERMC_VALUES(uint32_t, place, TILE_ITEMS,
             TILE_THREADS)  // in the tile; the key is in the upper half
PERMC_VALUES(uint32_t, own, 1, TILE_THREADS)

TILE_EACH_LIVE(TILE_IS_LIVE(i), PARTITION_LOAD(i, start + TILE_PLACE + 32 * i))
for (uint32_t k = 0; k < 2 * PARTITION_KEYS; k += TILE_WARPS) {  // a warp for each sum
  TILE_EACH_THREAD
  const uint32_t sum = k + t / 32, some = sum < PARTITION_KEYS ? groups : group + 1;
  TILE_COUNT all = 0;
  if (sum < 2 * PARTITION_KEYS)
    for (uint32_t g = t % 32; g < some; g += 32)
      all += PARTITION_READ(counts + (row * PARTITION_KEYS + sum % PARTITION_KEYS) * groups + g);
  const TILE_COUNT before = tile_before(all, t);
  if (sum < 2 * PARTITION_KEYS && t % 32 == 31)
    sums[sum] = before + all;
  TILE_END
}
PERMC_BARRIER
TILE_EACH_THREAD
if (t < PARTITION_KEYS) {
  TILE_COUNT end = sums[PARTITION_KEYS + t];
  for (uint32_t k = 0; k < t; k++)
    end += sums[k];
  ends[t] = end;
  if (group == 0 && totals)
    totals[row * PARTITION_KEYS + t] = (int64_t)sums[t];
}
TILE_END
for (;;) {
  PERMC_AGAIN
  TILE_EACH_THREAD
  PERMC_AT(own, 0) = 0;
  if (t % 32 < PARTITION_KEYS)
    PARTITION_OF_WARP(of_warps)[t % 32] = 0;
  TILE_END
  PARTITION_EACH_KEY(
      PERMC_AT(place, i) =
          partition_rank(&PERMC_AT(own, 0), PARTITION_OF_WARP(of_warps), key, 32 * i, t) |
          key << 16)
  TILE_EACH_THREAD
  PARTITION_KEEP(PERMC_AT(own, 0), PARTITION_OF_WARP(of_warps), TILE_ITEMS * 32)
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
      const TILE_COUNT first = ends[t] - sum + (t == PARTITION_KEYS - 1 ? TILE_ELEMENTS - live : 0);
      starts[t] = next;
      ends[t] = first;
      bases[t] = first + (TILE_COUNT)(row * length) - next;
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
  TILE_EACH_ITEM
  const uint32_t key = PERMC_AT(place, i) >> 16;
  const TILE_COUNT target = bases[key] + (PERMC_AT(place, i) & 65535) - (TILE_COUNT)(row * length);
  if (TILE_IS_LIVE(i))
    PERMC_STORE(int64_t, places + start + TILE_PLACE + 32 * i, (int64_t)target);
  TILE_END
#endif
  if (tile == first_tile)
    break;
  tile--;
  start -= TILE_ELEMENTS;
  live = TILE_ELEMENTS;
}
PERMC_KERNEL_END

#endif
