// What stands in front of generated CUDA text. The same text is a kernel for NVRTC, and C for the
// host, where a loop over the threads takes the place of the threads:
//
//   PERMC_KERNEL(0, 256, 32768, void *const a0, void *const a1)
//     const uint64_t b = item & 127;            one item: a block of the grid
//     PERMC_THREADS(256)                        t is the thread
//       const u32x1 v1 = PERMC_LOAD(u32x1, p0 + (t ^ 7));
//       PERMC_PUT(scratch, u32x1, p1 + t, v1);
//     PERMC_END
//     PERMC_BARRIER
//     PERMC_THREADS(256) ... PERMC_END
//   PERMC_KERNEL_END
//
// What a thread keeps over a barrier is declared with PERMC_VALUES and is at PERMC_AT.
//
// With PERMC_COUNT defined, the host counts what the warps ask for: lines of 128 bytes of memory,
// and turns at the banks of scratch (32 banks of 4 bytes; words of 8 and 16 bytes take 2 and 4
// turns, equal words none of their own). permc_counted has the sums, and what is least.
// Element i goes to place i ^ d, for d that may be the thread's own.
#define PERMC_TURN(type, n, name, d)                                                               \
  PERMC_UNROLL for (unsigned k = 1; k < n; k *= 2)                                                 \
      PERMC_UNROLL for (unsigned i = 0; i < n; i++) if ((i & k) == 0) {                            \
    const type low = name[i], high = name[i ^ k];                                                  \
    name[i] = (d)&k ? high : low;                                                                  \
    name[i ^ k] = (d)&k ? low : high;                                                              \
  }

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef decltype(sizeof 0) size_t;
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807LL
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807LL - 1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#define INT8_C(x) x
#define UINT8_C(x) x
#define INT16_C(x) x
#define UINT16_C(x) x
#define INT32_C(x) x
#define UINT32_C(x) x##U
#define INT64_C(x) x##LL
#define UINT64_C(x) x##ULL
#define restrict __restrict__
#define __builtin_popcountll(x) __popcll(x)
#define __builtin_parityll(x) (__popcll(x) & 1)
#define __builtin_clzll(x) __clzll(x)
#define __builtin_ctzll(x) (__ffsll(x) - 1)

typedef struct permc_imports {
  void (*const *foreign)(void);
  const void *const *roots;
} permc_imports;

#define PERMC_KERNEL(number, threads, bytes, ...)                                                  \
  extern "C" __global__ void __launch_bounds__(threads)                                            \
      permc_pass_##number(uint64_t first, __VA_ARGS__) {                                           \
    extern __shared__ __align__(16) char scratch[];                                                \
    (void)scratch;                                                                                 \
    const uint64_t item = first + blockIdx.x;
#define PERMC_KERNEL_END }
#define PERMC_UNROLL _Pragma("unroll")
#define PERMC_SKIP return
#define PERMC_THREADS(count)                                                                       \
  {                                                                                                \
    const uint32_t t = threadIdx.x;                                                                \
    (void)t;
#define PERMC_END }
#define PERMC_BARRIER __syncthreads();
#define PERMC_BARRIER_TELLING(flag) flag = __syncthreads_or(flag);
#define PERMC_VALUES(type, name, count, threads) type name[count];
#define PERMC_AT(name, i) name[i]
// Past the first cache: measured, that is a few per cent faster than streaming hints.
#define PERMC_LOAD(type, p) __ldcg((const type *)(p))
#define PERMC_STORE(type, p, v) __stcg((type *)(p), v)
#define PERMC_GET(type, p) (*(const type *)(p))
#define PERMC_PUT(type, p, v) (*(type *)(p) = (v))

// Neighbours as one access.
template <unsigned bytes> struct permc_wide;
template <> struct permc_wide<2> { typedef unsigned short type; };
template <> struct permc_wide<4> { typedef unsigned type; };
template <> struct permc_wide<8> { typedef uint2 type; };
template <> struct permc_wide<16> { typedef uint4 type; };
template <typename T, unsigned n> void permc_load_wide(T (&e)[n], const void *p) {
  typedef typename permc_wide<n * sizeof(T)>::type word;
  const word w = __ldcg((const word *)p);
  memcpy(e, &w, sizeof w);
}
template <typename T, unsigned n> void permc_store_wide(const T (&e)[n], void *p) {
  typename permc_wide<n * sizeof(T)>::type w;
  memcpy(&w, e, sizeof w);
  __stcg((typename permc_wide<n * sizeof(T)>::type *)p, w);
}
#define PERMC_LOAD_WIDE(type, n, name, p)                                                          \
  type name[n];                                                                                    \
  permc_load_wide(name, p);
#define PERMC_STORE_WIDE(type, n, p, d, ...)                                                       \
  {                                                                                                \
    type e[n] = {__VA_ARGS__};                                                                     \
    PERMC_TURN(type, n, e, d)                                                                      \
    permc_store_wide(e, p);                                                                        \
  }

#else

#define PERMC_HOST 1
#define PERMC_UNROLL
#define PERMC_KERNEL(number, threads, bytes, ...)                                                  \
  static void permc_kernel_##number(char *scratch, uint64_t item, __VA_ARGS__) {                   \
    (void)scratch;
#define PERMC_KERNEL_END }
#define PERMC_SKIP return
#define PERMC_THREADS(count) for (uint32_t t = 0; t < count; t++) {
#define PERMC_END }
#define PERMC_BARRIER
#define PERMC_BARRIER_TELLING(flag)
#define PERMC_VALUES(type, name, count, threads) type name[threads][count];
#define PERMC_AT(name, i) name[t][i]
#ifdef PERMC_COUNT
#define PERMC_TOUCH(scratch, p, bytes) permc_touch(__COUNTER__, scratch, p, bytes, item, t)
#else
#define PERMC_TOUCH(scratch, p, bytes) ((void)0)
#endif
#define PERMC_LOAD(type, p) (PERMC_TOUCH(0, p, sizeof(type)), *(const type *)(p))
#define PERMC_STORE(type, p, v) (PERMC_TOUCH(0, p, sizeof(type)), *(type *)(p) = (v))
#define PERMC_GET(type, p) (PERMC_TOUCH(1, p, sizeof(type)), *(const type *)(p))
#define PERMC_PUT(type, p, v) (PERMC_TOUCH(1, p, sizeof(type)), *(type *)(p) = (v))
#define PERMC_LOAD_WIDE(type, n, name, p)                                                          \
  type name[n];                                                                                    \
  PERMC_TOUCH(0, p, sizeof name);                                                                  \
  __builtin_memcpy(name, p, sizeof name);
#define PERMC_STORE_WIDE(type, n, p, d, ...)                                                       \
  {                                                                                                \
    type e[n] = {__VA_ARGS__};                                                                     \
    PERMC_TURN(type, n, e, d)                                                                      \
    PERMC_TOUCH(0, p, sizeof e);                                                                   \
    __builtin_memcpy(p, e, sizeof e);                                                              \
  }

#ifdef PERMC_COUNT
#include <stdint.h>
#include <stdlib.h>

// One access of the text by one warp, while its lanes come in turn.
typedef struct permc_access {
  uint64_t item, warp, at[32];
  uint32_t lanes, bytes;
  int scratch;
} permc_access;
enum { PERMC_ACCESSES = 1 << 16 };
static permc_access permc_accesses[PERMC_ACCESSES];

typedef struct permc_counts {
  uint64_t lines, least_lines, turns, least_turns, accesses;
} permc_counts;
__attribute__((visibility("default"))) permc_counts permc_counted;

static int permc_order(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

// Sorts, drops what is there twice, and returns how many are left.
static uint32_t permc_distinct(uint64_t *x, uint32_t count) {
  uint32_t kept = 0;
  qsort(x, count, sizeof *x, permc_order);
  for (uint32_t i = 0; i < count; i++)
    if (kept == 0 || x[kept - 1] != x[i])
      x[kept++] = x[i];
  return kept;
}

static void permc_count_lines(const permc_access *a) {
  uint64_t line[64];
  for (uint32_t i = 0; i < a->lanes; i++) {
    line[2 * i] = a->at[i] / 128;
    line[2 * i + 1] = (a->at[i] + a->bytes - 1) / 128;
  }
  permc_counted.lines += permc_distinct(line, 2 * a->lanes);
  permc_counted.least_lines += (a->lanes * a->bytes + 127) / 128;
}

static void permc_count_turns(const permc_access *a) {
  uint32_t group = a->bytes <= 4 ? 32 : 128 / a->bytes;
  for (uint32_t first = 0; first < a->lanes; first += group) {
    uint32_t count = a->lanes - first < group ? a->lanes - first : group, most = 0;
    uint32_t words = a->bytes <= 4 ? 1 : a->bytes / 4, bank[32] = {0};
    uint64_t word[128];
    for (uint32_t i = 0; i < count * words; i++)
      word[i] = a->at[first + i / words] / 4 + i % words;
    uint32_t distinct = permc_distinct(word, count * words);
    for (uint32_t i = 0; i < distinct; i++)
      if (++bank[word[i] % 32] > most)
        most = bank[word[i] % 32];
    permc_counted.turns += most;
    permc_counted.least_turns++;
  }
}

static void permc_count(permc_access *a) {
  permc_counted.accesses += a->lanes > 0;
  if (a->lanes > 0 && a->scratch)
    permc_count_turns(a);
  else if (a->lanes > 0)
    permc_count_lines(a);
  a->lanes = 0;
}

static void permc_touch(uint32_t number, int scratch, const void *p, size_t bytes, uint64_t item,
                        uint32_t t) {
  permc_access *a = &permc_accesses[number % PERMC_ACCESSES];
  if (a->item != item || a->warp != t / 32)
    permc_count(a);
  a->item = item;
  a->warp = t / 32;
  a->scratch = scratch;
  a->bytes = (uint32_t)bytes;
  a->at[a->lanes++] = (uint64_t)(uintptr_t)p;
}

// Counts what has not been counted yet.
__attribute__((visibility("default"))) void permc_count_rest(void) {
  for (uint32_t i = 0; i < PERMC_ACCESSES; i++)
    permc_count(&permc_accesses[i]);
}
#endif

#endif
