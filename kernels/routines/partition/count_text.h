// The kernels that count keys. This text stands in generated files as it is here, behind
// kernels/text/cuda_host.h and these (kernels/routines/partition/count.c):
//
//   COUNT_KEY       the type of keys
//   COUNT_LIMIT     keys from here on are passed over
//   COUNT_THREADS   of a block
//   COUNT_SCRATCH   bytes for a block's own counts; 0: it counts in memory
#ifndef PERMC_KERNELS_ROUTINES_PARTITION_COUNT_TEXT_H
#define PERMC_KERNELS_ROUTINES_PARTITION_COUNT_TEXT_H

#ifdef PERMC_HOST
#define COUNT_ADD(p, n) (*(p) += (n))
#else
#define COUNT_ADD(p, n) atomicAdd(p, n)
#endif

// clang-format off: what macros begin and end is indented below as blocks are
PERMC_KERNEL(clear, 256, 8, 0, uint64_t *const counts, const uint64_t all)
PERMC_THREADS(256)
if (item * 256 + t < all)
  counts[item * 256 + t] = 0;
PERMC_END
PERMC_KERNEL_END

// A block counts `chunk` keys of a row.
PERMC_KERNEL(count, COUNT_THREADS, 2, COUNT_SCRATCH, const COUNT_KEY *const keys,
             uint64_t *const counts, const uint64_t length, const uint64_t chunk)
const uint64_t chunks = (length + chunk - 1) / chunk, row = item / chunks;
const uint64_t from = item % chunks * chunk;
const uint64_t end = length - from < chunk ? length : from + chunk;
uint64_t *const of_row = counts + row * COUNT_LIMIT;
#if !COUNT_SCRATCH
uint64_t *const own = of_row;
#else
uint32_t *const own = (uint32_t *)scratch;
PERMC_THREADS(COUNT_THREADS)
for (uint32_t k = t; k < COUNT_LIMIT; k += COUNT_THREADS)
  own[k] = 0;
PERMC_END
PERMC_BARRIER
#endif
PERMC_THREADS(COUNT_THREADS)
for (uint64_t i = from + t; i < end; i += COUNT_THREADS) {
  const uint64_t key = (uint64_t)keys[row * length + i];
  if (key < COUNT_LIMIT)
    (void)COUNT_ADD(own + key, 1);
}
PERMC_END
#if COUNT_SCRATCH
PERMC_BARRIER
PERMC_THREADS(COUNT_THREADS)
for (uint32_t k = t; k < COUNT_LIMIT; k += COUNT_THREADS)
  if (own[k])
    (void)COUNT_ADD(of_row + k, own[k]);
PERMC_END
#endif
PERMC_KERNEL_END

#endif
