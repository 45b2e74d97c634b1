// What the fuzz targets of the value formats share. An input is a source of values. What was read
// is written and read again, and must be the same. To be fast, one execution does not do all there
// is to do with an input: its hash picks the expectation, the format to write, and whether it is
// also read as a pipe.
#ifndef PERMC_TESTS_FUZZ_VALUE_H
#define PERMC_TESTS_FUZZ_VALUE_H

#include "core/hash.h"
#include "runtime/values/formats.h"

#include <math.h>

static inline void fuzz_require(bool good) {
  if (!good)
    abort();
}

// ---- a stream into memory that is opened once -------------------------------------------------

enum { FUZZ_WRITTEN = 1 << 22 };
static unsigned char fuzz_written[FUZZ_WRITTEN];
static size_t fuzz_count;

static ssize_t fuzz_append(void *cookie, const char *bytes, size_t count) {
  (void)cookie;
  fuzz_require(fuzz_count + count <= FUZZ_WRITTEN);
  memcpy(fuzz_written + fuzz_count, bytes, count);
  fuzz_count += count;
  return (ssize_t)count;
}

static inline void fuzz_write(value_format format, const permc_value *v) {
  static FILE *to;
  error e;
  if (!to)
    to = fopencookie(NULL, "w", (cookie_io_functions_t){.write = fuzz_append});
  fuzz_count = 0;
  fuzz_require(value_write(to, format, v, &e) && fflush(to) == 0);
}

// ---- comparison -------------------------------------------------------------------------------

// Equal bits; where text was between them any NaN equals any other.
static inline bool fuzz_same(const array *a, const array *b, bool through_text) {
  if (a->type != b->type || a->rank != b->rank || memcmp(a->dims, b->dims, a->rank * 8) != 0)
    return false;
  size_t size = scalar_types[a->type].size;
  uint64_t count = array_count(a);
  if (memcmp(a->data, b->data, count * size) == 0)
    return true;
  if (!through_text || scalar_types[a->type].kind < KIND_FLOAT)
    return false;
  scalar_type real = scalar_real_of(a->type);
  size_t part_size = scalar_types[real].size;
  for (uint64_t i = 0; i < count * size / part_size; i++) {
    double x, y;
    scalar_convert(real, SCALAR_F64, 1, (const char *)a->data + i * part_size, &x);
    scalar_convert(real, SCALAR_F64, 1, (const char *)b->data + i * part_size, &y);
    bool same = (isnan(x) && isnan(y)) || (x == y && signbit(x) == signbit(y));
    if (!same)
      return false;
  }
  return true;
}

static inline void fuzz_read_back(value_format format, const permc_value *v) {
  error e;
  fuzz_write(format, v);
  value_source *s = value_source_bytes("written", fuzz_written, fuzz_count, &e);
  fuzz_require(s != NULL);
  for (size_t c = 0; c < v->count; c++) {
    array b;
    const array *written = &v->components[c];
    fuzz_require(value_read(s, (value_expectation){written->type, (int)written->rank}, &b, &e) ==
                 VALUE_OK);
    fuzz_require(fuzz_same(written, &b, format == FORMAT_TEXT));
    array_destroy(&b);
  }
  array none;
  fuzz_require(value_read(s, (value_expectation){SCALAR_COUNT, -1}, &none, &e) == VALUE_END);
  value_source_close(s);
}

// ---- reading ----------------------------------------------------------------------------------

enum { FUZZ_VALUES = 64 };  // of one input; more are not kept

typedef struct fuzz_values {
  array values[FUZZ_VALUES];
  size_t count;
  value_status status;
} fuzz_values;

static inline void fuzz_free(fuzz_values *v) {
  while (v->count > 0)
    array_destroy(&v->values[--v->count]);
}

// A name that ends in .csv makes it a table. As a pipe: nothing is known of its size.
static inline void fuzz_read(fuzz_values *v, const char *name, const uint8_t *data, size_t size,
                             value_expectation expected, bool as_pipe) {
  error e;
  value_source *s = value_source_bytes(name, data, size, &e);
  fuzz_require(s != NULL);
  s->size_known = !as_pipe;
  v->count = 0;
  do {
    v->status = value_read(s, expected, &v->values[v->count], &e);
    fuzz_require((v->status == VALUE_ERROR) == (e.message[0] != 0));
    fuzz_require(v->status != VALUE_ERROR || !strchr(e.message, '\n'));
    v->count += v->status == VALUE_OK;
  } while (v->status == VALUE_OK && v->count < FUZZ_VALUES);
  value_source_close(s);
}

static inline value_expectation fuzz_expectation(uint64_t hash) {
  static const value_expectation some[] = {
      {SCALAR_I32, 1},  {SCALAR_F32, 1},   {SCALAR_COUNT, 1}, {SCALAR_F64, -1}, {SCALAR_U8, 0},
      {SCALAR_C64, 2},  {SCALAR_BOOL, -1}, {SCALAR_I64, 0},   {SCALAR_F64, 1},  {SCALAR_U64, 1},
      {SCALAR_C128, 1}, {SCALAR_I8, -1},   {SCALAR_U16, 2},   {SCALAR_F16, 1},  {SCALAR_BF16, 1}};
  const size_t count = sizeof some / sizeof *some;
  return hash % 2 ? (value_expectation){SCALAR_COUNT, -1} : some[hash / 2 % count];
}

// A pipe may only know of an error later, but gives the same values.
static inline void fuzz_check_pipe(const fuzz_values *v, const char *name, const uint8_t *data,
                                   size_t size, value_expectation expected) {
  static fuzz_values piped;
  fuzz_read(&piped, name, data, size, expected, true);
  fuzz_require(v->status == VALUE_ERROR ? piped.count >= v->count : piped.count == v->count);
  for (size_t i = 0; i < v->count; i++)
    fuzz_require(fuzz_same(&v->values[i], &piped.values[i], false));
  fuzz_free(&piped);
}

static inline bool fuzz_same_dims(const fuzz_values *v) {
  const array *first = &v->values[0];
  for (size_t i = 1; i < v->count; i++)
    if (v->values[i].rank != first->rank ||
        memcmp(v->values[i].dims, first->dims, first->rank * 8) != 0)
      return false;
  return true;
}

// The whole of a target.
static inline void fuzz_source(const char *name, const uint8_t *data, size_t size) {
  static const value_format formats[] = {FORMAT_TEXT, FORMAT_TEXT, FORMAT_BINARY, FORMAT_NPY};
  static fuzz_values v;
  uint64_t hash = hash_bytes(data, size);
  value_expectation expected = fuzz_expectation(hash >> 8);
  value_format format = formats[(hash >> 4) % 4];
  fuzz_read(&v, name, data, size, expected, false);
  if (hash % 4 == 0)
    fuzz_check_pipe(&v, name, data, size, expected);
  if (v.count > 0 && (format != FORMAT_NPY || fuzz_same_dims(&v)))
    fuzz_read_back(format, &(permc_value){.components = v.values, .count = v.count});
  fuzz_free(&v);
}

#endif
