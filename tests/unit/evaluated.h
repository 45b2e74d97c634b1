// Arguments and results of an execution beside those of net_evaluate.
//
//   evaluation *e = net_evaluate(&memory, t, seed);
//   array *arguments = evaluated_arguments(&memory, t, e, &count);
//   ...                                                   // execute a plan of t on them
//   CHECK_EQ_U64(evaluated_wrong(t, e, results, true), 0);
//
// With nan_is_nan the bits of all NaN are one: compilers may exchange the operands of + and *. What
// is only moved has the bits that it had.
#ifndef PERMC_TESTS_UNIT_EVALUATED_H
#define PERMC_TESTS_UNIT_EVALUATED_H

#include "tests/unit/net_random.h"

#include "runtime/values/value.h"

// Those of an execution of the net, in the arena but for their data.
static inline array *evaluated_arguments(arena *memory, const net *t, const evaluation *e,
                                         size_t *count) {
  array *arguments = NEW_ARRAY(memory, array, t->arrays.count);
  *count = 0;
  for (size_t i = 0; i < t->arrays.count; i++) {
    const net_array *a = &t->arrays.items[i];
    if (a->role != NET_ARGUMENT)
      continue;
    array *to = &arguments[a->number];
    size_t size = scalar_types[a->type].size;
    if (!array_create(to, a->type, 1, &a->count))
      abort();
    for (uint64_t x = 0; x < a->count; x++)
      memcpy((char *)to->data + x * size, &e->arrays[i][x].bits, size);
    *count = a->number + 1 > *count ? a->number + 1 : *count;
  }
  return arguments;
}

static inline bool evaluated_same(scalar_type type, const unsigned char *a, const unsigned char *b,
                                  bool nan_is_nan) {
  size_t size = scalar_types[type].size, parts = scalar_types[type].kind == KIND_COMPLEX ? 2 : 1;
  scalar_type part = scalar_real_of(type);
  for (size_t i = 0; i < parts; i++) {
    bool nan[2] = {false, false};
    if (nan_is_nan && scalar_types[part].kind == KIND_FLOAT) {
      scalar_apply(OP_ISNAN, part, 1, a + i * size / parts, NULL, &nan[0]);
      scalar_apply(OP_ISNAN, part, 1, b + i * size / parts, NULL, &nan[1]);
    }
    if (!(nan[0] && nan[1]) &&
        memcmp(a + i * size / parts, b + i * size / parts, size / parts) != 0)
      return false;
  }
  return true;
}

static inline void evaluated_show(size_t id, uint64_t x, size_t size, const unsigned char *found,
                                  const unsigned char *expected) {
  printf("a%zu at %" PRIu64 ": ", id, x);
  for (size_t k = size; k-- > 0;)
    printf("%02x", found[k]);
  printf(", expected ");
  for (size_t k = size; k-- > 0;)
    printf("%02x", expected[k]);
  printf("\n");
}

// How many elements of results are not as they should be; the first is shown.
static inline uint64_t evaluated_wrong(const net *t, const evaluation *e, const array *results,
                                       bool nan_is_nan) {
  uint64_t wrong = 0;
  for (size_t i = 0; i < t->arrays.count; i++) {
    const net_array *a = &t->arrays.items[i];
    size_t size = scalar_types[a->type].size;
    for (uint64_t x = 0; a->role == NET_RESULT && x < a->count; x++) {
      const unsigned char *found = (const unsigned char *)results[a->number].data + x * size;
      const unsigned char *expected = e->arrays[i][x].bits.bytes;
      if (!e->arrays[i][x].defined || evaluated_same(a->type, found, expected, nan_is_nan))
        continue;
      if (wrong++ == 0)
        evaluated_show(i, x, size, found, expected);
    }
  }
  return wrong;
}

#endif
