// Helpers of the tests of the language: results as text, and programs with what they shall print.
//
//   expect("main : int -> int\nmain x = x + 1\n", "41", "i64 42");
//   expect_error("main : int -> int\nmain x = x / y\n", "1", "y");
#ifndef PERMC_TESTS_LANGUAGE_H
#define PERMC_TESTS_LANGUAGE_H

#include "tests/unit/api.h"

#include <math.h>
#include <stdarg.h>

// ---- results as text -------------------------------------------------------------------------

enum { TEXT_SIZE = 1 << 16 };
static char shown[TEXT_SIZE];
static size_t shown_length;

__attribute__((format(printf, 1, 2))) static inline void put(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int more = vsnprintf(shown + shown_length, TEXT_SIZE - shown_length, format, arguments);
  va_end(arguments);
  if (more > 0 && shown_length + (size_t)more < TEXT_SIZE)
    shown_length += (size_t)more;
}

// As short as reads back; -0 for the negative zero.
static inline void put_real(double x, bool narrow) {
  char digits[40];
  for (int precision = 1; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, x);
    if (isnan(x) || (narrow ? strtof(digits, NULL) == (float)x : strtod(digits, NULL) == x))
      break;
  }
  put("%s", isnan(x) ? "nan" : digits);
}

static inline void put_scalar(const char *type, const char *data) {
  size_t size = size_of_type(type);
  uint64_t bits = element_bits(data, size, 0);
  if (strcmp(type, "bool") == 0)
    put("%s", bits ? "true" : "false");
  else if (*type == 'u')
    put("%" PRIu64, bits);
  else if (*type == 'i')
    put("%" PRId64, (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size));
  else if (strcmp(type, "f32") == 0)
    put_real((double)float_of_bits((uint32_t)bits), true);
  else if (strcmp(type, "f64") == 0)
    put_real(double_of_bits(bits), false);
  else {
    bool narrow = strcmp(type, "c64") == 0;
    for (int part = 0; part < 2; part++) {
      bits = element_bits(data, size / 2, (uint64_t)part);
      put(part ? "," : "");
      put_real(narrow ? (double)float_of_bits((uint32_t)bits) : double_of_bits(bits), narrow);
    }
    put("i");
  }
}

static inline const char *put_array(const char *type, uint32_t rank, const uint64_t *dims,
                                    const char *data) {
  if (rank == 0) {
    put_scalar(type, data);
    return data + size_of_type(type);
  }
  put("[");
  for (uint64_t i = 0; i < *dims; i++) {
    put(i > 0 ? " " : "");
    data = put_array(type, rank - 1, dims + 1, data);
  }
  put("]");
  return data;
}

// "i64 [1 2]; f32 0.5": results, and their components, one after the other. Arrays without elements
// show their shape: "i64 [0][4]".
static inline const char *show(outcome out) {
  shown_length = 0;
  shown[0] = 0;
  for (size_t i = 0; i < out.count; i++)
    for (size_t k = 0; k < permc_value_components(out.values[i]); k++) {
      const permc_value *v = out.values[i];
      uint32_t rank = permc_value_rank(v, k);
      const uint64_t *dims = permc_value_dims(v, k);
      uint64_t count = 1;
      for (uint32_t d = 0; d < rank; d++)
        count *= dims[d];
      put("%s%s ", i + k > 0 ? "; " : "", permc_value_type(v, k));
      for (uint32_t d = 0; d < rank && count == 0; d++)
        put("[%d]", (int)dims[d]);
      if (count > 0)
        put_array(permc_value_type(v, k), rank, dims, permc_value_data(v, k));
    }
  return shown;
}

// ---- fixed programs --------------------------------------------------------------------------

static inline bool run_text(permc_context *c, const char *arguments, outcome *out) {
  permc_value **in = NULL;
  size_t count = 0;
  bool good = permc_read_bytes(c, "main", "arguments", arguments, strlen(arguments), &in, &count) &&
              permc_run(c, "main", NULL, in, count, &out->values, &out->count);
  permc_values_free(in, count);
  return good;
}

// Runs main on arguments in the text format.
static inline void expect(const char *program, const char *arguments, const char *expected) {
  permc_context *c = load_text(program);
  outcome out = {NULL, 0};
  if (c != NULL)
    permc_allow_extern(c, true);
  bool good = c != NULL && run_text(c, arguments, &out);
  const char *found = good ? show(out) : c != NULL ? permc_message(c) : "";
  if (!CHECK_STR(found, expected))
    printf("%s-- on %s\n", program, arguments);
  permc_values_free(out.values, out.count);
  permc_context_free(c);
}

static inline void expect_error(const char *program, const char *arguments, const char *part) {
  permc_context *c = permc_context_new();
  outcome out = {NULL, 0};
  bool good = permc_load_text(c, "test", program, strlen(program)) && run_text(c, arguments, &out);
  if (!CHECK_CONTAINS(good ? show(out) : permc_message(c), part) || !CHECK(!good))
    printf("%s-- on %s\n", program, arguments);
  permc_values_free(out.values, out.count);
  permc_context_free(c);
}

#endif
