// What kernels share whose blocks work on tiles of an array. This text stands in generated files as
// it is here, behind kernels/text/cuda_host.h and these:
//
//   TILE_THREADS, TILE_ITEMS   elements of a tile        TILE_COUNT   a type for numbers of elements
//
// The elements of a tile are in the order of memory: a warp has TILE_ITEMS times 32 neighbours, one
// for each lane.
#ifndef PERMC_KERNELS_TEXT_TILE_H
#define PERMC_KERNELS_TEXT_TILE_H

#define TILE_WARPS (TILE_THREADS / 32)
#define TILE_ELEMENTS (TILE_THREADS * TILE_ITEMS)
#define TILES_OF(length) ((uint32_t)(((length) + TILE_ELEMENTS - 1) / TILE_ELEMENTS))
// Of a thread's first element, in its tile; the others follow 32 apart.
#define TILE_PLACE (t / 32 * 32 * TILE_ITEMS + t % 32)
#define TILE_IS_LIVE(i) ((int32_t)(32 * (i)) < (int32_t)(live - TILE_PLACE))

// For all threads; for all elements of all threads.
#ifdef PERMC_HOST
#define TILE_FENCE
#define TILE_BEGIN PERMC_AGAIN
#define TILE_EACH_THREAD for (uint32_t t = 0; t < TILE_THREADS; t++) {
#define TILE_EACH_ITEM                                                                             \
  for (uint32_t i = 0; i < TILE_ITEMS; i++)                                                        \
    for (uint32_t t = 0; t < TILE_THREADS; t++) {                                                  \
      const uint32_t permc_turn = i;                                                               \
      (void)permc_turn;
#else
#define TILE_FENCE __threadfence();  // others see what the thread has written
#define TILE_BEGIN const uint32_t t = threadIdx.x;
#define TILE_EACH_THREAD {
#define TILE_EACH_ITEM PERMC_UNROLL for (uint32_t i = 0; i < TILE_ITEMS; i++) {
#endif
#define TILE_END }
// For elements of a tile that is not cut off by the row's end without a question.
#define TILE_EACH_LIVE(is_live, ...)                                                               \
  if (live == TILE_ELEMENTS) {                                                                     \
    TILE_EACH_ITEM __VA_ARGS__;                                                                    \
    TILE_END                                                                                       \
  } else {                                                                                         \
    TILE_EACH_ITEM if (is_live) { __VA_ARGS__; }                                                   \
    TILE_END                                                                                       \
  }

#ifdef PERMC_HOST
// Adds, and gives what was there before.
#define TILE_ADD(p, n) ((*(p) += (n)) - (n))

// The sum over the lanes before this one.
static inline TILE_COUNT tile_before(TILE_COUNT count, uint32_t t) {
  static TILE_COUNT sum;
  sum = t % 32 ? sum : 0;
  sum += count;
  return sum - count;
}
#else
#define TILE_ADD(p, n) atomicAdd(p, n)

static inline TILE_COUNT tile_before(TILE_COUNT count, uint32_t t) {
  TILE_COUNT sum = count;
  PERMC_UNROLL for (uint32_t s = 1; s < 32; s *= 2) {
    const TILE_COUNT other = __shfl_up_sync(~0U, sum, s);
    sum += t % 32 >= s ? other : 0;
  }
  return sum - count;
}
#endif

#endif
