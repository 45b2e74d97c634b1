// Counts keys. See count.h.
#include "runtime/routines/count.h"

#include <string.h>

// Keys of one row, as they are counted by two tables in turn: equal keys in sequence do not wait
// for each other. Of two kinds only (compact), in registers.
#define COUNT_KEYS(T)                                                                              \
  static void count_##T(const void *keys, uint64_t n, uint64_t limit, int64_t *a, int64_t *b) {    \
    const T *k = keys;                                                                             \
    if (limit == 2) {                                                                              \
      int64_t zeros = 0, ones = 0;                                                                 \
      for (uint64_t i = 0; i < n; i++) {                                                           \
        zeros += k[i] == 0;                                                                        \
        ones += k[i] == 1;                                                                         \
      }                                                                                            \
      a[0] += zeros;                                                                               \
      a[1] += ones;                                                                                \
      return;                                                                                      \
    }                                                                                              \
    for (uint64_t i = 0; i + 1 < n; i += 2) {                                                      \
      uint64_t x = (uint64_t)k[i], y = (uint64_t)k[i + 1];                                         \
      if (x < limit)                                                                               \
        a[x]++;                                                                                    \
      if (y < limit)                                                                               \
        b[y]++;                                                                                    \
    }                                                                                              \
    if (n % 2 && (uint64_t)k[n - 1] < limit)                                                       \
      a[(uint64_t)k[n - 1]]++;                                                                     \
  }
COUNT_KEYS(int8_t)
COUNT_KEYS(int16_t)
COUNT_KEYS(int32_t)
COUNT_KEYS(int64_t)
COUNT_KEYS(uint8_t)
COUNT_KEYS(uint16_t)
COUNT_KEYS(uint32_t)
COUNT_KEYS(uint64_t)

typedef void count_function(const void *keys, uint64_t n, uint64_t limit, int64_t *a, int64_t *b);
static count_function *const count_functions[2][4] = {
    {count_uint8_t, count_uint16_t, count_uint32_t, count_uint64_t},
    {count_int8_t, count_int16_t, count_int32_t, count_int64_t}};

bool routine_count(const count_task *t) {
  enum {
    SLICE = 1 << 22,  // keys between looks at the flag
    FEW = 1 << 8      // counts of a second table on the stack, which may be small
  };
  count_function *count = count_functions[t->is_signed][__builtin_ctz((unsigned)t->size)];
  int64_t *counts = t->counts, few[FEW] = {0}, *second = few;
  worker_memory own = {0};
  crew c = crew_begin(&t->crew, &own);
  if (t->limit > FEW)
    second =
        t->limit <= COUNT_SECOND ? reserve(c.memory, BLOCK_WORDS, t->limit * sizeof *second) : NULL;
  if (second)
    memset(second, 0, t->limit * sizeof *second);
  bool good = true;
  memset(counts, 0, t->rows * t->limit * sizeof *counts);
  for (uint64_t row = 0; row < t->rows && good; row++, counts += t->limit) {
    const char *first = (const char *)t->keys + row * t->length * t->size;
    for (uint64_t i = 0; i < t->length && good; i += SLICE) {
      uint64_t n = t->length - i < SLICE ? t->length - i : SLICE;
      good = !crew_is_interrupted(&c);
      count(first + i * t->size, n, t->limit, counts, second ? second : counts);
    }
    for (uint64_t k = 0; k < t->limit && second; k++) {
      counts[k] += second[k];
      second[k] = 0;
    }
  }
  crew_end(&t->crew, &c);
  return good;
}
