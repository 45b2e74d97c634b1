// Arrays, and the choice of the format that they are read from and written to. Each value's format
// is found by its first byte, so that one stream may mix them:
//
//   0x93 N U M P Y  NumPy        b, then a byte below 32  Futhark binary        else  text
#include "runtime/system/pool.h"
#include "runtime/values/formats.h"

#include <errno.h>
#include <math.h>
#include <sys/mman.h>

// ---- arrays -----------------------------------------------------------------------------------

bool value_size(uint64_t size, uint32_t rank, const uint64_t *dims, uint64_t *bytes) {
  bool empty = false;
  uint64_t product = size;
  for (uint32_t i = 0; i < rank; i++) {
    if (dims[i] == 0)
      empty = true;
    else if (__builtin_mul_overflow(product, dims[i], &product) || product > PTRDIFF_MAX)
      return false;
  }
  *bytes = empty ? 0 : product;
  return true;
}

uint64_t array_count(const array *a) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < a->rank; i++)
    count *= a->dims[i];
  return count;
}

uint64_t array_bytes(const array *a) { return array_count(a) * scalar_types[a->type].size; }

enum { LINE = 64, HUGE_PAGE = 1 << 21 };

uint64_t array_room(uint64_t bytes) {
  if (bytes < HUGE_PAGE)
    return bytes / LINE * LINE + LINE;
  uint64_t step = UINT64_C(1) << (60 - __builtin_clzll(bytes));
  return bytes > UINT64_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

void *array_memory(uint64_t bytes) {
  if (bytes > SIZE_MAX / 2)
    return NULL;
  size_t room = (size_t)array_room(bytes);
  if (room < HUGE_PAGE)
    return aligned_alloc(LINE, room);
  void *data;
  if (posix_memalign(&data, HUGE_PAGE, room) != 0)
    return NULL;
  madvise(data, room / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
  return data;
}

bool array_create(array *a, scalar_type type, uint32_t rank, const uint64_t *dims) {
  *a = (array){.type = type};
  uint64_t bytes;
  if (rank > VALUE_MAX_RANK || !value_size(scalar_types[type].size, rank, dims, &bytes))
    return false;
  a->data = array_memory(bytes);
  if (!a->data)
    return false;
  a->rank = rank;
  for (uint32_t i = 0; i < rank; i++)
    a->dims[i] = dims[i];
  return true;
}

void array_destroy(array *a) {
  free(a->data);
  a->data = NULL;
}

// ---- reading ----------------------------------------------------------------------------------

static value_status next_pending(value_source *s, value_expectation expected, array *out,
                                 value_error *error) {
  array *field = &s->pending[s->pending_next];
  char mismatch[MISMATCH_SIZE];
  if (!value_is_expected(expected, field->type, field->rank))
    return source_fail(s, error, 0, "field %zu: %s", s->pending_next + 1,
                       value_mismatch(mismatch, expected, field->type, field->rank));
  *out = *field;
  if (++s->pending_next == s->pending_count)
    source_drop_pending(s);
  return VALUE_OK;
}

static bool source_begins(value_source *s, const char *bytes, size_t count) {
  return source_fill(s, count) && memcmp(s->at, bytes, count) == 0;
}

static value_status read_by_format(value_source *s, value_expectation expected, array *out,
                                   value_error *error) {
  if (source_offset(s) == 0 && source_begins(s, "\xef\xbb\xbf", 3)) {  // a byte order mark
    s->at += 3;
    s->line_start += 3;
  }
  if (!s->only_npy)
    text_skip_space(s);
  int first = source_peek(s);
  if (first < 0)
    return s->failure ? source_fail(s, error, 0, "cannot read") : VALUE_END;
  if (first == 0x93) {
    value_status status = npy_read(s, expected, out, error);
    return status == VALUE_OK && s->pending ? next_pending(s, expected, out, error) : status;
  }
  if (s->only_npy)
    return source_fail(s, error, source_offset(s),
                       "bytes follow the data that the header promises");
  if (source_begins(s, "PK\3\4", 4))
    return source_fail(s, error, 0,
                       "an .npz or zip archive; save each array with numpy.save instead");
  if (first == 'b' && (!source_fill(s, 2) || s->at[1] < 32))
    return binary_read(s, expected, out, error);
  return text_read(s, expected, out, error);
}

value_status value_read(value_source *s, value_expectation expected, array *out,
                        value_error *error) {
  c_locale c;
  value_fail(error, "%s", "");
  *out = (array){0};
  if (s->pending)
    return next_pending(s, expected, out, error);
  if (!c_locale_enter(&c)) {
    value_fail(error, "out of memory");
    return VALUE_ERROR;
  }
  value_status status = read_by_format(s, expected, out, error);
  c_locale_leave(&c);
  if (status != VALUE_OK)
    *out = (array){0};
  return status;
}

// ---- writing ----------------------------------------------------------------------------------

value_format value_format_of(const char *path) {
  static const struct {
    const char *ending;
    value_format format;
  } endings[] = {{".npy", FORMAT_NPY}, {".bin", FORMAT_BINARY}, {".dat", FORMAT_BINARY}};
  size_t length = strlen(path);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (length >= 4 && strcmp(path + length - 4, endings[i].ending) == 0)
      return endings[i].format;
  return FORMAT_TEXT;
}

static bool write_by_format(FILE *to, value_format format, const array *components, size_t count,
                            value_error *error) {
  switch (format) {
  case FORMAT_TEXT:
    return text_write(to, components, count);
  case FORMAT_BINARY:
    return binary_write(to, components, count);
  case FORMAT_NPY:
    return npy_write(to, components, count, error);
  }
  return false;
}

bool value_write(FILE *to, value_format format, const array *components, size_t count,
                 value_error *error) {
  c_locale c;
  value_fail(error, "%s", "");
  if (!c_locale_enter(&c)) {
    value_fail(error, "out of memory");
    return false;
  }
  errno = 0;
  bool good = write_by_format(to, format, components, count, error);
  if (!good && error && !error->message[0])
    value_fail(error, "cannot write: %s", strerror(errno ? errno : EIO));
  c_locale_leave(&c);
  return good;
}

// ---- random data ------------------------------------------------------------------------------

#define SPLIT_MIX_STEP UINT64_C(0x9e3779b97f4a7c15)

static uint64_t split_mix(uint64_t *state) {
  uint64_t z = *state += SPLIT_MIX_STEP;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

// Uniform in [0, 1): all multiples of 2^-11 (2^-24, 2^-53) are equally likely.
static uint16_t random_f16(uint64_t *state) {
  return scalar_f16_nearest((double)(split_mix(state) >> 53) * 0x1p-11);
}
static float random_f32(uint64_t *state) { return (float)(split_mix(state) >> 40) * 0x1p-24f; }
static double random_f64(uint64_t *state) { return (double)(split_mix(state) >> 11) * 0x1p-53; }

// What a thread fills: the state at element i is that many steps from the first.
typedef struct random_fill {
  void *data;
  scalar_type type;
  uint64_t state;
} random_fill;

static bool fill_stretch(void *with, unsigned worker, uint64_t first, uint64_t last) {
  (void)worker;
  const random_fill *f = with;
  uint64_t state = f->state + first * SPLIT_MIX_STEP;
  for (uint64_t i = first; i < last; i++)
    switch (f->type) {
    case SCALAR_BOOL:
      ((uint8_t *)f->data)[i] = (uint8_t)(split_mix(&state) >> 63);
      break;
    case SCALAR_I8:
    case SCALAR_U8:
      ((uint8_t *)f->data)[i] = (uint8_t)(split_mix(&state) >> 56);
      break;
    case SCALAR_I16:
    case SCALAR_U16:
      ((uint16_t *)f->data)[i] = (uint16_t)(split_mix(&state) >> 48);
      break;
    case SCALAR_I32:
    case SCALAR_U32:
      ((uint32_t *)f->data)[i] = (uint32_t)(split_mix(&state) >> 32);
      break;
    case SCALAR_I64:
    case SCALAR_U64:
      ((uint64_t *)f->data)[i] = split_mix(&state);
      break;
    case SCALAR_F16:
      ((uint16_t *)f->data)[i] = random_f16(&state);
      break;
    case SCALAR_F32:
    case SCALAR_C64:
      ((float *)f->data)[i] = random_f32(&state);
      break;
    case SCALAR_F64:
    case SCALAR_C128:
      ((double *)f->data)[i] = random_f64(&state);
      break;
    case SCALAR_COUNT:
      break;
    }
  return true;
}

bool array_random(array *a, scalar_type type, uint32_t rank, const uint64_t *dims,
                  uint64_t *state) {
  if (!array_create(a, type, rank, dims))
    return false;
  uint64_t count = array_count(a) * (scalar_types[type].kind == KIND_COMPLEX ? 2 : 1);
  enum { STRETCH = 1 << 20 };
  random_fill f = {a->data, type, *state};
  *state += count * SPLIT_MIX_STEP;
  return pool_run(pool_processors(), count, STRETCH, fill_stretch, &f, NULL);
}

// ---- equality ---------------------------------------------------------------------------------

static bool float_equal(double a, double b, double tolerance) {
  if (a == b || (isnan(a) && isnan(b)))
    return true;
  if (!(tolerance > 0) || !isfinite(a) || !isfinite(b))
    return false;
  return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

// With a tolerance, finite complex numbers are compared by distance and magnitude: a part that is
// nearly 0 beside a large one has no accurate digits of its own.
static bool complex_equal(const double a[2], const double b[2], double tolerance) {
  if (!(tolerance > 0) || !isfinite(a[0]) || !isfinite(a[1]) || !isfinite(b[0]) || !isfinite(b[1]))
    return float_equal(a[0], b[0], tolerance) && float_equal(a[1], b[1], tolerance);
  double larger = fmax(hypot(a[0], a[1]), hypot(b[0], b[1]));
  return hypot(a[0] - b[0], a[1] - b[1]) <= tolerance * larger;
}

static bool element_equal(const array *a, const array *b, uint64_t i, double tolerance) {
  const uint16_t *a16 = a->data, *b16 = b->data;
  const float *a32 = a->data, *b32 = b->data;
  const double *a64 = a->data, *b64 = b->data;
  switch (a->type) {
  case SCALAR_F16:
    return float_equal(scalar_f16_value(a16[i]), scalar_f16_value(b16[i]), tolerance);
  case SCALAR_F32:
    return float_equal((double)a32[i], (double)b32[i], tolerance);
  case SCALAR_F64:
    return float_equal(a64[i], b64[i], tolerance);
  case SCALAR_C64: {
    double x[2] = {(double)a32[2 * i], (double)a32[2 * i + 1]};
    double y[2] = {(double)b32[2 * i], (double)b32[2 * i + 1]};
    return complex_equal(x, y, tolerance);
  }
  case SCALAR_C128:
    return complex_equal(a64 + 2 * i, b64 + 2 * i, tolerance);
  default: {
    size_t size = scalar_types[a->type].size;
    return memcmp((const char *)a->data + i * size, (const char *)b->data + i * size, size) == 0;
  }
  }
}

static bool same_shape(const array *a, const array *b) {
  if (a->type != b->type || a->rank != b->rank)
    return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i])
      return false;
  return true;
}

bool array_equal(const array *a, const array *b, double tolerance, int64_t *index) {
  int64_t ignored;
  index = index ? index : &ignored;
  *index = -1;
  if (!same_shape(a, b))
    return false;
  uint64_t count = array_count(a);
  bool integers = scalar_types[a->type].kind < KIND_FLOAT;
  if (integers && memcmp(a->data, b->data, (size_t)array_bytes(a)) == 0)
    return true;
  for (uint64_t i = 0; i < count; i++)
    if (!element_equal(a, b, i, tolerance)) {
      *index = (int64_t)i;
      return false;
    }
  return true;
}
