// Helpers of the tests that run programs through the public API, permc.h.
//
//   permc_context *c = load_text("main : [m]i32 -> [m]i32\nmain = map (+ 1)\n");
//   int32_t in[3] = {1, 2, 3}, expected[3] = {2, 3, 4};
//   permc_value *out = run_value(c, "main", value_1("i32", 3, in));
//   check_1(out, 0, "i32", 3, expected);                       // to the bit
//   permc_value_free(out);
//   permc_context_free(c);
//
// What goes wrong on the way is a failed check that shows the message of permc; the functions then
// give NULL, which all others accept.
#ifndef PERMC_TESTS_API_H
#define PERMC_TESTS_API_H

#include "runtime/permc.h"
#include "tests/test.h"

#include <stdlib.h>

// ---- programs --------------------------------------------------------------------------------

static inline permc_context *loaded(permc_context *c, bool good) {
  if (CHECK(c != NULL) && good)
    return c;
  CHECK_STR(c == NULL ? "no memory" : permc_message(c), "");
  permc_context_free(c);
  return NULL;
}

static inline permc_context *load_text(const char *program) {
  permc_context *c = permc_context_new();
  return loaded(c, c != NULL && permc_load_text(c, "test", program, strlen(program)));
}

// Paths are relative to the root of the source, where the tests run.
static inline permc_context *load_file(const char *path) {
  permc_context *c = permc_context_new();
  return loaded(c, c != NULL && permc_load(c, path));
}

// An expression of the library alone; its entry point is "-e".
static inline permc_context *load_expression(const char *expression) {
  permc_context *c = permc_context_new();
  return loaded(c, c != NULL && permc_define(c, expression));
}

// ---- values ----------------------------------------------------------------------------------

static inline permc_value *value_0(const char *type, const void *data) {
  return permc_value_new(type, 0, NULL, data);
}

static inline permc_value *value_1(const char *type, uint64_t length, const void *data) {
  return permc_value_new(type, 1, &length, data);
}

static inline permc_value *value_2(const char *type, uint64_t rows, uint64_t columns,
                                   const void *data) {
  return permc_value_new(type, 2, (uint64_t[]){rows, columns}, data);
}

static inline permc_value *value_pair(permc_value *first, permc_value *second) {
  return permc_value_tuple((permc_value *[]){first, second}, 2);
}

static inline size_t size_of_type(const char *type) {
  if (strcmp(type, "bool") == 0)
    return 1;
  size_t bits = (size_t)strtoul(type + strcspn(type, "123468"), NULL, 10);
  return bits / 8;
}

// ---- running ---------------------------------------------------------------------------------

typedef struct outcome {
  permc_value **values;
  size_t count;
} outcome;

// Runs and frees the arguments. Every other run uses permc_run_consume: both must do the same.
static inline outcome run_values(permc_context *c, const char *entry, permc_value **arguments,
                                 size_t count) {
  static unsigned runs;
  outcome out = {NULL, 0};
  bool ready = c != NULL;
  for (size_t i = 0; i < count; i++)
    ready = ready && CHECK(arguments[i] != NULL);
  bool good = false;
  if (ready && runs++ % 2 == 0)
    good = permc_run_consume(c, entry, NULL, arguments, count, &out.values, &out.count);
  else if (ready)
    good = permc_run(c, entry, "interp", arguments, count, &out.values, &out.count);
  if (ready && !good)
    CHECK_STR(permc_message(c), "");
  for (size_t i = 0; i < count; i++)
    permc_value_free(arguments[i]);
  return good ? out : (outcome){NULL, 0};
}

// One argument, one result.
static inline permc_value *run_value(permc_context *c, const char *entry, permc_value *argument) {
  outcome out = run_values(c, entry, &argument, 1);
  permc_value *value = out.count > 0 ? out.values[0] : NULL;
  if (c != NULL && value != NULL)
    CHECK_EQ_U64(out.count, 1);
  for (size_t i = 1; i < out.count; i++)
    permc_value_free(out.values[i]);
  free(out.values);
  return value;
}

// What the last call_values has said.
static permc_error call_error;

// A call of a compiled program, with results made for the first one (*results NULL). False: the
// results are freed.
static inline bool call_values(const permc_compiled *p, permc_value *const *arguments, size_t count,
                               permc_value ***results, size_t *result_count) {
  if (!*results)
    *results = permc_results_new(p, result_count);
  if (CHECK(*results != NULL) &&
      permc_call(p, arguments, count, *results, *result_count, NULL, &call_error) == PERMC_OK)
    return true;
  permc_values_free(*results, *result_count);
  *results = NULL;
  *result_count = 0;
  return false;
}

// The run must fail with a message that contains `part`.
static inline void check_run_fails(permc_context *c, const char *entry, permc_value *argument,
                                   const char *part) {
  permc_value **values = NULL;
  size_t count = 0;
  if (c != NULL && CHECK(!permc_run(c, entry, NULL, &argument, 1, &values, &count)))
    CHECK_CONTAINS(permc_message(c), part);
  permc_values_free(values, count);
  permc_value_free(argument);
}

// ---- checks ----------------------------------------------------------------------------------

static inline bool check_shape(const permc_value *v, size_t component, const char *type,
                               uint32_t rank, const uint64_t *dims) {
  if (v == NULL)
    return false;
  bool good = CHECK(component < permc_value_components(v)) &&
              CHECK_STR(permc_value_type(v, component), type) &&
              CHECK_EQ_U64(permc_value_rank(v, component), rank);
  for (uint32_t i = 0; good && i < rank; i++)
    good = CHECK_EQ_U64(permc_value_dims(v, component)[i], dims[i]);
  return good;
}

static inline uint64_t element_bits(const void *data, size_t size, uint64_t index) {
  uint64_t bits = 0;
  memcpy(&bits, (const char *)data + size * index, size < 8 ? size : 8);
  return bits;
}

// Shape and every bit.
static inline bool check_value(const permc_value *v, size_t component, const char *type,
                               uint32_t rank, const uint64_t *dims, const void *expected) {
  if (!check_shape(v, component, type, rank, dims))
    return false;
  size_t size = size_of_type(type);
  uint64_t count = 1;
  for (uint32_t i = 0; i < rank; i++)
    count *= dims[i];
  const char *found = permc_value_data(v, component);
  for (uint64_t i = 0; i < count; i++)
    if (memcmp(found + size * i, (const char *)expected + size * i, size) != 0) {
      CHECK_EQ_U64(i, UINT64_MAX);  // the first element that differs, and its bits
      return CHECK_EQ_U64(element_bits(found, size, i), element_bits(expected, size, i));
    }
  return true;
}

static inline bool check_0(const permc_value *v, size_t component, const char *type,
                           const void *expected) {
  return check_value(v, component, type, 0, NULL, expected);
}

static inline bool check_1(const permc_value *v, size_t component, const char *type,
                           uint64_t length, const void *expected) {
  return check_value(v, component, type, 1, &length, expected);
}

static inline bool check_2(const permc_value *v, size_t component, const char *type, uint64_t rows,
                           uint64_t columns, const void *expected) {
  return check_value(v, component, type, 2, (uint64_t[]){rows, columns}, expected);
}

// ---- numbers ---------------------------------------------------------------------------------

// splitmix64: the same numbers on every machine.
static uint64_t random_state = 1;

static inline uint64_t random_u64(void) {
  uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static inline uint64_t random_below(uint64_t bound) { return random_u64() % bound; }

// From -1 up to 1.
static inline double random_f64(void) { return (double)(random_u64() >> 11) * 0x1p-52 - 1; }

static inline float float_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint32_t bits_of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double double_of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint64_t bits_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

#endif
