// The kernels that follow a sort (sort.h) where the order of its keys has gone along with them.
// This text stands in generated files as it is here, behind kernels/text/cuda_host.h and
// SORT_PAYLOAD, the type of an order's numbers.
#ifndef PERMC_KERNELS_ROUTINES_SORT_GATHER_TEXT_H
#define PERMC_KERNELS_ROUTINES_SORT_GATHER_TEXT_H

// Elements of some words each: to[i] = from[order[i]], in each row; without `from` the order
// itself.
#define SORT_GATHER(bytes, word)                                                                   \
  PERMC_KERNEL(gather_##bytes, 256, 8, 0, const word *const from, word *const to,                  \
               const SORT_PAYLOAD *const order, const uint64_t rows, const uint64_t length,        \
               const uint64_t words)                                                               \
  PERMC_THREADS(256)                                                                               \
  const uint64_t k = item * 256 + t, i = words == 1 ? k : k / words;                               \
  if (i < rows * length) {                                                                         \
    const uint64_t number = PERMC_LOAD(SORT_PAYLOAD, order + i);                                   \
    const uint64_t first = rows == 1 ? 0 : i / length * length;                                    \
    PERMC_STORE(word, to + k,                                                                      \
                from ? from[(first + number) * words + (k - i * words)] : (word)number);           \
  }                                                                                                \
  PERMC_END                                                                                        \
  PERMC_KERNEL_END
SORT_GATHER(1, uint8_t)
SORT_GATHER(2, uint16_t)
SORT_GATHER(4, uint32_t)
SORT_GATHER(8, uint64_t)

// The place of each key: the inverse of the order.
PERMC_KERNEL(places, 256, 8, 0, int64_t *const places, const SORT_PAYLOAD *const order,
             const uint64_t rows, const uint64_t length)
PERMC_THREADS(256)
const uint64_t i = item * 256 + t;
if (i < rows * length) {
  const uint64_t first = rows == 1 ? 0 : i / length * length;
  places[first + PERMC_LOAD(SORT_PAYLOAD, order + i)] = (int64_t)(i - first);
}
PERMC_END
PERMC_KERNEL_END

#endif
