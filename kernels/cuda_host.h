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
#define PERMC_SKIP return
#define PERMC_THREADS(count)                                                                       \
  {                                                                                                \
    const uint32_t t = threadIdx.x;                                                                \
    (void)t;
#define PERMC_END }
#define PERMC_BARRIER __syncthreads();
#define PERMC_VALUES(type, name, count, threads) type name[count];
#define PERMC_AT(name, i) name[i]
#define PERMC_LOAD(type, p) __ldcs((const type *)(p))
#define PERMC_STORE(type, p, v) __stcs((type *)(p), v)
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
  const word w = __ldcs((const word *)p);
  memcpy(e, &w, sizeof w);
}
template <typename T, unsigned n> void permc_store_wide(const T (&e)[n], void *p) {
  typename permc_wide<n * sizeof(T)>::type w;
  memcpy(&w, e, sizeof w);
  __stcs((typename permc_wide<n * sizeof(T)>::type *)p, w);
}
#define PERMC_LOAD_WIDE(type, n, name, p)                                                          \
  type name[n];                                                                                    \
  permc_load_wide(name, p);
#define PERMC_STORE_WIDE(type, n, p, ...)                                                          \
  {                                                                                                \
    const type e[n] = {__VA_ARGS__};                                                               \
    permc_store_wide(e, p);                                                                        \
  }

#else

#define PERMC_HOST 1
#define PERMC_KERNEL(number, threads, bytes, ...)                                                  \
  static void permc_kernel_##number(char *scratch, uint64_t item, __VA_ARGS__) {                   \
    (void)scratch;
#define PERMC_KERNEL_END }
#define PERMC_SKIP return
#define PERMC_THREADS(count) for (uint32_t t = 0; t < count; t++) {
#define PERMC_END }
#define PERMC_BARRIER
#define PERMC_VALUES(type, name, count, threads) type name[threads][count];
#define PERMC_AT(name, i) name[t][i]
#define PERMC_LOAD(type, p) (*(const type *)(p))
#define PERMC_STORE(type, p, v) (*(type *)(p) = (v))
#define PERMC_GET(type, p) (*(const type *)(p))
#define PERMC_PUT(type, p, v) (*(type *)(p) = (v))
#define PERMC_LOAD_WIDE(type, n, name, p)                                                          \
  type name[n];                                                                                    \
  __builtin_memcpy(name, p, sizeof name);
#define PERMC_STORE_WIDE(type, n, p, ...)                                                          \
  {                                                                                                \
    const type e[n] = {__VA_ARGS__};                                                               \
    __builtin_memcpy(p, e, sizeof e);                                                              \
  }

#endif
