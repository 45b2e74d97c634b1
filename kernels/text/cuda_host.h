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
// PERMC_COUNT, if it is defined, is a file that is told of each access on the host: its number in the
// text, kind, address, bytes, block and thread (tests/unit/touches.h counts what the warps ask for).
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
#define PERMC_AGAIN
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
// Item + so many for each multiprocessor, of `size` bytes each, to the second cache.
#if __CUDA_ARCH__ >= 900
#define PERMC_NEXT_TILE(array, size, blocks)                                                       \
  if (threadIdx.x == 0) {                                                                          \
    uint32_t processors;                                                                           \
    asm("mov.u32 %0, %%nsmid;" : "=r"(processors));                                                \
    const uint64_t next = blockIdx.x + (uint64_t)processors * (blocks);                            \
    if (next < gridDim.x)                                                                          \
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(                             \
                       ((uint64_t)(array) + (first + next) * (size)) & ~UINT64_C(15)),             \
                   "r"((uint32_t)(size)));                                                         \
  }
#else
#define PERMC_NEXT_TILE(array, size, blocks)
#endif
#define PERMC_ROOTS(number, bytes) ((const char *)imports - (bytes))
#define PERMC_ROOT(type, p) __ldg((const type *)(p))
#define PERMC_BARRIER __syncthreads();
#define PERMC_BARRIER_OR(flag) flag = __syncthreads_or(flag);
#define PERMC_VALUES(type, name, count, threads) type name[count];
#define PERMC_AT(name, i) name[i]
// Past the first cache: measured, that is a few per cent faster than streaming hints.
#define PERMC_LOAD(type, p) __ldcg((const type *)(p))
#define PERMC_LOAD_NEAR(type, p) __ldg((const type *)(p))
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
template <typename T, unsigned n> void permc_load_wide(T (&e)[n], const void *p, bool near) {
  typedef typename permc_wide<n * sizeof(T)>::type word;
  const word w = near ? __ldg((const word *)p) : __ldcg((const word *)p);
  memcpy(e, &w, sizeof w);
}
template <typename T, unsigned n> void permc_store_wide(const T (&e)[n], void *p) {
  typename permc_wide<n * sizeof(T)>::type w;
  memcpy(&w, e, sizeof w);
  __stcg((typename permc_wide<n * sizeof(T)>::type *)p, w);
}
#define PERMC_LOAD_WIDE(type, n, name, p)                                                          \
  type name[n];                                                                                    \
  permc_load_wide(name, p, false);
#define PERMC_LOAD_WIDE_NEAR(type, n, name, p)                                                     \
  type name[n];                                                                                    \
  permc_load_wide(name, p, true);
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
#define PERMC_CALL(name) PERMC_AGAIN odd_nan = name(scratch, item, odd_nan, imports);
#define PERMC_SKIP return
#define PERMC_THREADS(count) for (uint32_t t = 0; t < count; t++) {
#define PERMC_END }
#define PERMC_NEXT_TILE(array, size, blocks)
#define PERMC_ROOTS(number, bytes) imports->roots[number]
#define PERMC_ROOT(type, p) (*(const type *)(p))
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
#include PERMC_COUNT
#define PERMC_TOUCH(kind, p, bytes)                                                                \
  permc_touch(__COUNTER__ *PERMC_TURNS + permc_turn, kind, p, bytes, item, t)
#define PERMC_AGAIN permc_calls++;  // what follows is asked for again by a block of this number
#else
#define PERMC_TOUCH(kind, p, bytes) ((void)0)
#define PERMC_AGAIN
#endif
#define PERMC_LOAD(type, p) (PERMC_TOUCH(PERMC_LOADS, p, sizeof(type)), *(const type *)(p))
#define PERMC_LOAD_NEAR PERMC_LOAD
#define PERMC_STORE(type, p, v) (PERMC_TOUCH(PERMC_STORES, p, sizeof(type)), *(type *)(p) = (v))
#define PERMC_GET(type, p) (PERMC_TOUCH(PERMC_GETS, p, sizeof(type)), *(const type *)(p))
#define PERMC_PUT(type, p, v) (PERMC_TOUCH(PERMC_PUTS, p, sizeof(type)), *(type *)(p) = (v))
#define PERMC_LOAD_WIDE(type, n, name, p)                                                          \
  type name[n];                                                                                    \
  PERMC_TOUCH(PERMC_LOADS, p, sizeof name);                                                        \
  __builtin_memcpy(name, p, sizeof name);
#define PERMC_LOAD_WIDE_NEAR PERMC_LOAD_WIDE
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

#endif
