// What stands in front of generated CUDA text. The same text is a kernel for NVRTC, and C for the
// host, where a loop over the threads takes the place of the threads:
//
//   PERMC_KERNEL(0, 256, 4, 32768, void *const a0, void *const a1)      4 blocks at once
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
// turns, equal words none of their own). Each access in the text has a row in permc_accesses, with
// the sums over all warps and what is least. PERMC_COUNTERS stands behind the text, once.
// Element i goes to place i ^ d, for d that may be the thread's own.
#define PERMC_XOR_PERMUTE(type, n, name, d)                                                        \
  PERMC_UNROLL for (unsigned k = 1; k < n; k *= 2)                                                 \
      PERMC_UNROLL for (unsigned i = 0; i < n; i++) if ((i & k) == 0) {                            \
    const type low = name[i], high = name[i ^ k];                                                  \
    name[i] = (d)&k ? high : low;                                                                  \
    name[i ^ k] = (d)&k ? low : high;                                                              \
  }

// Of a and b that one which is not `one`: as bits, their sum less that one.
#ifdef __CUDA_ARCH__  // 1 that compilers do not know of, so that they take products
#define PERMC_OTHER(a, b, one) (((a)*blockDim.y - (one)) * blockDim.y + (b))
#else
#define PERMC_OTHER(a, b, one) ((a) + (b) - (one))
#endif

// 0, and not 0 as soon as one x was no finite f32: a product, as above, where tests have another
// pipe.
#ifdef __CUDA_ARCH__
#define PERMC_NOT_FINITE(so_far, x) __fmaf_rn(__uint_as_float(x), 0.0f, so_far)
#else
#define PERMC_NOT_FINITE(so_far, x) ((so_far) + (((x) >> 23 & 255) == 255))
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define PERMC_TABLE static __device__ const

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
  const void *foreign;
  const void *const *roots;
} permc_imports;

// Blocks start as those of the kernel before end, and wait for all that it does to memory. To let
// them in earlier (griddepcontrol.launch_dependents) is a twentieth faster up to 64 blocks, but a
// quarter slower where they fill the device: they gather on the few multiprocessors that have room.
#if __CUDA_ARCH__ >= 900
#define PERMC_AWAIT asm volatile("griddepcontrol.wait;" ::: "memory");
#else
#define PERMC_AWAIT
#endif
#define PERMC_KERNEL(number, threads, blocks, bytes, ...)                                          \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                                    \
      permc_pass_##number(uint64_t first, __VA_ARGS__) {                                           \
    extern __shared__ __align__(16) char scratch[];                                                \
    (void)scratch;                                                                                 \
    PERMC_AWAIT                                                                                    \
    const uint64_t item = first + blockIdx.x;
#define PERMC_KERNEL_END }
// A phase as a function. `odd_nan` is what it knows of keys, and gives back.
#define PERMC_PHASE(name)                                                                          \
  static __device__ __noinline__ bool name(uint64_t item, bool odd_nan,                            \
                                           const permc_imports *imports) {                         \
    extern __shared__ __align__(16) char scratch[];
#define PERMC_PHASE_END                                                                            \
  return odd_nan;                                                                                  \
  }
#define PERMC_CALL(name) odd_nan = name(item, odd_nan, imports);
#define PERMC_DATA const __grid_constant__
#define PERMC_UNROLL _Pragma("unroll")
#define PERMC_SKIP return
// The thread comes anew to each phase: else compilers compute all phases' addresses in the first,
// and keep them in registers.
#define PERMC_THREADS(count)                                                                       \
  {                                                                                                \
    uint32_t t = threadIdx.x;                                                                      \
    asm volatile("" : "+r"(t));
#define PERMC_END }
#define PERMC_BARRIER __syncthreads();
#define PERMC_BARRIER_OR(flag) flag = __syncthreads_or(flag);
#define PERMC_VALUES(type, name, count, threads) type name[count];
#define PERMC_AT(name, i) name[i]
// Past the first cache: measured, that is a few per cent faster than streaming hints.
#define PERMC_LOAD(type, p) __ldcg((const type *)(p))
#define PERMC_STORE(type, p, v) __stcg((type *)(p), v)
// With PERMC_APART each access stays as it is. Else compilers join those of neighbours in layouts
// that have any, such as `raw`: 4.5 turns at the banks where 18 were asked for.
#ifdef PERMC_APART
#define PERMC_GET(type, p) (*(const volatile type *)(p))
#define PERMC_PUT(type, p, v) (*(volatile type *)(p) = (v))
#else
#define PERMC_GET(type, p) (*(const type *)(p))
#define PERMC_PUT(type, p, v) (*(type *)(p) = (v))
#endif

// Neighbours as one access.
template <unsigned bytes> struct permc_wide;
template <> struct permc_wide<1> { typedef unsigned char type; };
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
    PERMC_XOR_PERMUTE(type, n, e, d)                                                               \
    permc_store_wide(e, p);                                                                        \
  }
#define PERMC_STORE_ALL(type, n, values, p) permc_store_wide(*(const type(*)[n])(values), p);

#else
#define PERMC_TABLE static const

#define PERMC_HOST 1
#define PERMC_DATA const
#define PERMC_UNROLL
#define PERMC_KERNEL(number, threads, blocks, bytes, ...)                                          \
  static void permc_kernel_##number(char *scratch, uint64_t item, __VA_ARGS__) {                   \
    (void)scratch;
#define PERMC_KERNEL_END }
#define PERMC_PHASE(name)                                                                          \
  static bool name(char *scratch, uint64_t item, bool odd_nan, const permc_imports *imports) {
#define PERMC_PHASE_END                                                                            \
  return odd_nan;                                                                                  \
  }
#ifdef PERMC_COUNT
#define PERMC_CALL(name) permc_calls++, odd_nan = name(scratch, item, odd_nan, imports);
#else
#define PERMC_CALL(name) odd_nan = name(scratch, item, odd_nan, imports);
#endif
#define PERMC_SKIP return
#define PERMC_THREADS(count) for (uint32_t t = 0; t < count; t++) {
#define PERMC_END }
#define PERMC_BARRIER
#define PERMC_BARRIER_OR(flag)
#define PERMC_VALUES(type, name, count, threads) type name[threads][count];
#define PERMC_AT(name, i) name[t][i]
enum { PERMC_LOADS, PERMC_STORES, PERMC_GETS, PERMC_PUTS };
// In a loop that the GPU unrolls, permc_turn is its number, less than PERMC_TURNS.
#ifndef PERMC_TURNS
#define PERMC_TURNS 32
#endif
enum { permc_turn = 0 };
#ifdef PERMC_COUNT
#define PERMC_TOUCH(kind, p, bytes)                                                                \
  permc_touch(__COUNTER__ *PERMC_TURNS + permc_turn, kind, p, bytes, item, t)
#else
#define PERMC_TOUCH(kind, p, bytes) ((void)0)
#endif
#define PERMC_LOAD(type, p) (PERMC_TOUCH(PERMC_LOADS, p, sizeof(type)), *(const type *)(p))
#define PERMC_STORE(type, p, v) (PERMC_TOUCH(PERMC_STORES, p, sizeof(type)), *(type *)(p) = (v))
#define PERMC_GET(type, p) (PERMC_TOUCH(PERMC_GETS, p, sizeof(type)), *(const type *)(p))
#define PERMC_PUT(type, p, v) (PERMC_TOUCH(PERMC_PUTS, p, sizeof(type)), *(type *)(p) = (v))
#define PERMC_LOAD_WIDE(type, n, name, p)                                                          \
  type name[n];                                                                                    \
  PERMC_TOUCH(PERMC_LOADS, p, sizeof name);                                                        \
  __builtin_memcpy(name, p, sizeof name);
#define PERMC_STORE_WIDE(type, n, p, d, ...)                                                       \
  {                                                                                                \
    type e[n] = {__VA_ARGS__};                                                                     \
    PERMC_XOR_PERMUTE(type, n, e, d)                                                               \
    PERMC_TOUCH(PERMC_STORES, p, sizeof e);                                                        \
    __builtin_memcpy(p, e, sizeof e);                                                              \
  }
#define PERMC_STORE_ALL(type, n, values, p)                                                        \
  {                                                                                                \
    PERMC_TOUCH(PERMC_STORES, p, (n) * sizeof(type));                                              \
    __builtin_memcpy(p, values, (n) * sizeof(type));                                               \
  }

#ifdef PERMC_COUNT
#include <stdint.h>
#include <stdlib.h>

// One access of the text: the warp whose lanes come in turn, and the sums over those before it.
// `full`: of warps of 32 lanes that all had this access; `lines` are of these alone, and so are
// `stages`: lines, once for each 128 bytes of neighbouring lanes, as a memory machine counts them.
typedef struct permc_access {
  uint64_t warps, full, lines, least_lines, stages, turns, least_turns;
  uint64_t item, warp, at[32];
  uint32_t kind, bytes, lanes, lane[32], call;
} permc_access;
static uint32_t permc_calls;  // of phases: one may be called twice for an item
#define PERMC_VISIBLE __attribute__((visibility("default")))
extern PERMC_VISIBLE permc_access permc_accesses[];
extern PERMC_VISIBLE const uint32_t permc_access_count;
#define PERMC_COUNTERS                                                                             \
  permc_access permc_accesses[(__COUNTER__ + 1) * PERMC_TURNS];                                    \
  const uint32_t permc_access_count = (__COUNTER__ - 1) * PERMC_TURNS;

// Whether x[first ... count - 1] has no element y.
static int permc_is_new(const uint64_t *x, uint32_t first, uint32_t count, uint64_t y) {
  for (uint32_t i = count; i > first; i--)
    if (x[i - 1] == y)
      return 0;
  return 1;
}

// The lines of lanes first ... end - 1.
static uint32_t permc_lines_of(const permc_access *a, uint32_t first, uint32_t end) {
  uint64_t line[64];
  uint32_t count = 0;
  for (uint32_t i = first; i < end; i++)
    for (uint32_t last = 0; last < 2; last++) {
      line[count] = (a->at[i] + (last ? a->bytes - 1 : 0)) / 128;
      count += (uint32_t)permc_is_new(line, 0, count, line[count]);
    }
  return count;
}

static void permc_count_lines(permc_access *a) {
  uint32_t group = a->bytes <= 4 ? 32 : 128 / a->bytes;
  for (uint32_t first = 0; first < 32; first += group)
    a->stages += permc_lines_of(a, first, first + group);
  a->full++;
  a->lines += permc_lines_of(a, 0, a->lanes);
  a->least_lines += (a->lanes * a->bytes + 127) / 128;
}

// A word that is in its bank's list already costs nothing. Lanes have their turns with their
// neighbours, also where others are idle.
static void permc_count_turns(permc_access *a) {
  uint32_t group = a->bytes <= 4 ? 32 : 128 / a->bytes, words = a->bytes <= 4 ? 1 : a->bytes / 4;
  for (uint32_t first = 0; first < 32; first += group) {
    uint32_t most = 0, count[32] = {0};
    uint64_t listed[32 * 32];
    for (uint32_t i = 0; i < a->lanes; i++)
      for (uint32_t k = 0; k < words && a->lane[i] / group == first / group; k++) {
        uint64_t word = a->at[i] / 4 + k;
        uint32_t bank = word % 32;
        if (permc_is_new(listed, 32 * bank, 32 * bank + count[bank], word))
          listed[32 * bank + count[bank]++] = word;
        if (count[bank] > most)
          most = count[bank];
      }
    a->turns += most;
    a->least_turns += most > 0;
  }
}

static void permc_count(permc_access *a) {
  a->warps += a->lanes > 0;
  if (a->lanes > 0 && a->kind >= PERMC_GETS)
    permc_count_turns(a);
  else if (a->lanes == 32)
    permc_count_lines(a);
  a->lanes = 0;
}

static void permc_touch(uint32_t number, uint32_t kind, const void *p, size_t bytes, uint64_t item,
                        uint32_t t) {
  permc_access *a = &permc_accesses[number];
  if (a->item != item || a->warp != t / 32 || a->call != permc_calls)
    permc_count(a);
  if (a->lanes == 32)  // a thread that has the same access twice: there are no loops in the text
    abort();
  if (kind >= PERMC_GETS && (uintptr_t)p % bytes != 0)  // a GPU ends with "misaligned address"
    abort();
  a->item = item;
  a->warp = t / 32;
  a->call = permc_calls;
  a->kind = kind;
  a->bytes = (uint32_t)bytes;
  a->lane[a->lanes] = t % 32;
  a->at[a->lanes++] = (uint64_t)(uintptr_t)p;
}

// Counts what has not been counted yet.
PERMC_VISIBLE void permc_count_rest(void) {
  for (uint32_t i = 0; i < permc_access_count; i++)
    permc_count(&permc_accesses[i]);
}
#endif

#endif
