// Words, numbers, forms, maps and constants of a text, read. See reader.h.
#include "tests/readers/reader.h"

#include <ctype.h>
#include <inttypes.h>

// Numbers in a text that are larger are mistakes, not to be answered with memory.
enum { MOST_NUMBERED = 1 << 20 };

// ---- words and numbers ----------------------------------------------------------------------

void read_fail(reader *r, const char *format, ...) {
  text message = {0};
  va_list arguments;
  va_start(arguments, format);
  text_vprintf(&message, format, arguments);
  va_end(arguments);
  r->wrong = arena_printf(r->memory, "line %zu: %s", r->line, arena_text(r->memory, &message));
  longjmp(r->stop, 1);
}

void read_skip(reader *r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
    r->at++;
  if (*r->at == '#')
    r->at += strcspn(r->at, "\n");
}

bool read_at_end(reader *r) {
  read_skip(r);
  return *r->at == '\n' || *r->at == 0;
}

bool read_literal(reader *r, const char *token) {
  read_skip(r);
  size_t length = strlen(token);
  if (strncmp(r->at, token, length) != 0)
    return false;
  r->at += length;
  return true;
}

// A word as a whole: up to a blank or the end.
size_t read_word_length(const char *at) { return strcspn(at, " \t\r\n#"); }

bool read_word(reader *r, const char *expected) {
  read_skip(r);
  size_t length = strlen(expected);
  if (read_word_length(r->at) != length || strncmp(r->at, expected, length) != 0)
    return false;
  r->at += length;
  return true;
}

void read_expect(reader *r, const char *token) {
  if (!read_literal(r, token))
    read_fail(r, "expected `%s`, found `%.*s`", token, (int)strcspn(r->at, "\n"), r->at);
}

uint64_t read_number(reader *r) {
  uint64_t value = 0;
  read_skip(r);
  int base = 10;
  if (r->at[0] == '0' && (r->at[1] == 'x' || r->at[1] == 'b')) {
    base = r->at[1] == 'x' ? 16 : 2;
    r->at += 2;
  }
  const char *start = r->at;
  for (;; r->at++) {
    char c = *r->at;
    int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
    if (digit >= base)
      break;
    if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
        __builtin_add_overflow(value, (uint64_t)digit, &value))
      read_fail(r, "a number is too large");
  }
  if (r->at == start)
    read_fail(r, "expected a number, found `%.*s`", (int)strcspn(r->at, "\n"), r->at);
  return value;
}

uint32_t read_small_number(reader *r) {
  uint64_t value = read_number(r);
  if (value >= MOST_NUMBERED)
    read_fail(r, "the number %" PRIu64 " is too large", value);
  return (uint32_t)value;
}

scalar_type read_type(reader *r) {
  read_skip(r);
  size_t length = strcspn(r->at, " \t\r\n#:");
  scalar_type type = scalar_named(r->at, length);
  if (type == SCALAR_COUNT)
    read_fail(r, "there is no element type `%.*s`", (int)length, r->at);
  r->at += length;
  return type;
}

// ---- forms and maps -------------------------------------------------------------------------

static int read_index_bit(reader *r) {
  uint64_t bit = read_number(r);
  if (bit >= F2_MAX)
    read_fail(r, "there is no index bit x%" PRIu64, bit);
  return (int)bit;
}

static net_form read_form(reader *r) {
  net_form f = {0, false};
  do {
    if (read_literal(r, "x"))
      f.mask ^= f2_unit(read_index_bit(r));
    else if (read_literal(r, "1"))
      f.constant ^= true;
    else
      read_expect(r, "0");
  } while (read_literal(r, "^"));
  return f;
}

typedef VEC(net_form) forms;

static bool form_follows(reader *r) {
  read_skip(r);
  return (r->at[0] == 'x' && isdigit((unsigned char)r->at[1])) || r->at[0] == '0' ||
         r->at[0] == '1';
}

uint32_t read_forms(reader *r, net_form **out) {
  forms list = {0};
  while (form_follows(r))
    vec_push(r->memory, &list, read_form(r));
  *out = list.items;
  return (uint32_t)list.count;
}

typedef struct map_reader {
  net_map map;
  VEC(net_row) rows;
} map_reader;

static int64_t signed_weight(reader *r, bool negative, uint64_t magnitude) {
  if (magnitude > (uint64_t)INT64_MAX + negative)
    read_fail(r, "the weight %" PRIu64 " is too large", magnitude);
  return negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
}

static void add_checked(reader *r, int64_t *sum, int64_t value) {
  if (__builtin_add_overflow(*sum, value, sum))
    read_fail(r, "a number of the map is too large");
}

// [number *] (oN | xN | (form)) | number
static void read_map_term(reader *r, map_reader *m, bool negative) {
  uint64_t magnitude = 1;
  read_skip(r);
  if (isdigit((unsigned char)*r->at)) {
    magnitude = read_number(r);
    if (!read_literal(r, "*")) {
      add_checked(r, &m->map.offset, signed_weight(r, negative, magnitude));
      return;
    }
  }
  int64_t weight = signed_weight(r, negative, magnitude);
  if (read_literal(r, "o")) {
    uint64_t loop = read_number(r);
    if (loop >= m->map.loop_count)
      read_fail(r, "there is no loop o%" PRIu64, loop);
    add_checked(r, &m->map.strides[loop], weight);
  } else if (read_literal(r, "(")) {
    vec_push(r->memory, &m->rows, ((net_row){read_form(r), weight}));
    read_expect(r, ")");
  } else {
    read_expect(r, "x");
    net_form bit = {f2_unit(read_index_bit(r)), false};
    vec_push(r->memory, &m->rows, ((net_row){bit, weight}));
  }
}

net_map read_map(reader *r) {
  map_reader m = {.map.loop_count = r->loop_count};
  m.map.strides = NEW_ARRAY(r->memory, int64_t, m.map.loop_count);
  bool negative = read_literal(r, "-");
  for (bool more = true; more;) {
    read_map_term(r, &m, negative);
    bool plus = read_literal(r, "+");
    negative = !plus && read_literal(r, "-");
    more = plus || negative;
  }
  m.map.rows = m.rows.items;
  m.map.row_count = (uint32_t)m.rows.count;
  if (!net_map_normalise(&m.map))
    read_fail(r, "a number of the map is too large");
  return m.map;
}

// ---- constants ------------------------------------------------------------------------------

static double read_floating(reader *r, bool narrow) {
  c_environment locale;
  char *end = NULL;
  if (!c_environment_enter(&locale))
    read_fail(r, "memory is out");
  double value = narrow ? (double)strtof(r->at, &end) : strtod(r->at, &end);
  c_environment_leave(&locale);
  if (end == r->at)
    read_fail(r, "expected a number, found `%.*s`", (int)strcspn(r->at, "\n"), r->at);
  r->at = end;
  return value;
}

double read_real(reader *r) {
  read_skip(r);
  return read_floating(r, false);
}

// 0x before digits: its bits, as they are written for a NaN.
static void read_small_float(reader *r, scalar_type type, uint16_t *out) {
  if (r->at[0] == '0' && r->at[1] == 'x')
    *out = (uint16_t)read_number(r);
  else
    *out = scalar_of_double(type, read_floating(r, false)).u16;
}

static void read_f32(reader *r, float *out) {
  if (r->at[0] == '0' && r->at[1] == 'x') {
    uint32_t bits = (uint32_t)read_number(r);
    memcpy(out, &bits, sizeof bits);
  } else {
    *out = (float)read_floating(r, true);
  }
}

static void read_f64(reader *r, double *out) {
  if (r->at[0] == '0' && r->at[1] == 'x') {
    uint64_t bits = read_number(r);
    memcpy(out, &bits, sizeof bits);
  } else {
    *out = read_floating(r, false);
  }
}

static void read_integer(reader *r, scalar_type type, scalar_bits *out) {
  bool negative = read_literal(r, "-");
  uint64_t magnitude = read_number(r);
  if (!scalar_holds(type, negative, magnitude))
    read_fail(r, "%s%" PRIu64 " is no %s", negative ? "-" : "", magnitude, scalar_types[type].name);
  *out = scalar_from_i64(type, (int64_t)(negative ? 0 - magnitude : magnitude));
}

scalar_bits read_constant(reader *r, scalar_type type) {
  scalar_bits bits = {{0}};
  read_expect(r, ":");
  switch (type) {
  case SCALAR_BOOL:
    bits.b = read_literal(r, "true");
    if (!bits.b)
      read_expect(r, "false");
    break;
  case SCALAR_F16:
  case SCALAR_BF16:
    read_small_float(r, type, &bits.u16);
    break;
  case SCALAR_F32:
    read_f32(r, &bits.f32);
    break;
  case SCALAR_F64:
    read_f64(r, &bits.f64);
    break;
  case SCALAR_C64:
    read_f32(r, &bits.c64[0]);
    read_expect(r, ",");
    read_f32(r, &bits.c64[1]);
    break;
  case SCALAR_C128:
    read_f64(r, &bits.c128[0]);
    read_expect(r, ",");
    read_f64(r, &bits.c128[1]);
    break;
  default:
    read_integer(r, type, &bits);
  }
  return bits;
}

// ---- arrays ---------------------------------------------------------------------------------

net_array read_array(reader *r, size_t number) {
  read_expect(r, "a");
  if (read_number(r) != number)
    read_fail(r, "expected array a%zu", number);
  net_array a = {.type = read_type(r), .role = NET_TEMPORARY};
  a.count = read_number(r);
  for (a.role = 0; a.role < NET_TEMPORARY && !read_word(r, net_role_names[a.role]);)
    a.role++;
  if (a.role == NET_TEMPORARY) {
    read_expect(r, net_role_names[a.role]);
    if (read_word(r, "of")) {
      read_expect(r, "a");
      a.part_of = read_small_number(r) + 1;
      read_expect(r, "from");
      a.part_at = read_number(r);
    }
  } else
    a.number = read_small_number(r);
  if (a.role != NET_TABLE)
    return a;
  enum { MOST_ELEMENTS = 1 << 20 };
  if (a.count > MOST_ELEMENTS)
    read_fail(r, "a table of %" PRIu64 " elements is too long", a.count);
  size_t size = scalar_types[a.type].size;
  char *elements = arena_alloc(r->memory, a.count * size);
  for (uint64_t i = 0; i < a.count; i++) {
    read_expect(r, scalar_types[a.type].name);
    scalar_bits element = read_constant(r, a.type);
    memcpy(elements + i * size, &element, size);
  }
  a.table = elements;
  return a;
}
