// Numbers that are known before the program runs, written in one of several ways.
#include "tests/generator/generator.h"

#include "core/f2.h"
#include <inttypes.h>

// ---- sizes -----------------------------------------------------------------------------------

// The number by a name of the signature: n, (n - 1), 2^n, ... NULL: it has no such form.
static const char *by_size(generator *g, const named_size *n, int64_t value) {
  int64_t power = n->value < 40 ? INT64_C(1) << n->value : -1;
  if (value == n->value)
    return n->name;
  if (value == n->value - 1)
    return write_code(g, "(%s - 1)", n->name);
  if (value == power)
    return write_code(g, "(2^%s)", n->name);
  if (value == power - 1)
    return write_code(g, "(2^%s - 1)", n->name);
  if (value > 0 && value == power / 2)
    return write_code(g, "(2^(%s - 1))", n->name);
  return NULL;
}

static const char *by_length(generator *g, const variable *v, int64_t value) {
  if (v->shape->kind != SHAPE_ARRAY)
    return NULL;
  int64_t length = (int64_t)v->shape->length;
  if (value == length)
    return write_code(g, "(length %s)", v->name);
  if (value == length - 1)
    return write_code(g, "(length %s - 1)", v->name);
  if (value > 0 && value == length / 2)
    return write_code(g, "(length %s / 2)", v->name);
  if (value >= 0 && value == length_bits(v->shape->length))
    return write_code(g, "(log2 (length %s))", v->name);
  return NULL;
}

const char *static_text(generator *g, const scope *s, int64_t n) {
  const char *forms[SCOPE_VARIABLES + SCOPE_SIZES];
  uint32_t count = 0;
  for (size_t i = 0; i < s->size_count; i++)
    if ((forms[count] = by_size(g, &s->sizes[i], n)) != NULL)
      count++;
  for (size_t i = 0; i < s->variable_count; i++)
    if ((forms[count] = by_length(g, &s->variables[i], n)) != NULL)
      count++;
  if (count && draw_chance(g, 40))
    return forms[draw_below(g, count)];
  return write_code(g, n < 0 ? "(%" PRId64 ")" : "%" PRId64, n);
}

const char *index_text(generator *g, const scope *s, uint64_t length) {
  uint64_t i = draw_below(g, length > 64 ? 64 : (uint32_t)length);
  if (draw_chance(g, 20))
    i = length - 1 - i;
  if (draw_fault(g, "fault: index", 6))
    i = length;
  return static_text(g, s, (int64_t)i);
}

// ---- masks and matrices ----------------------------------------------------------------------

const char *mask_text(generator *g, const scope *s, int bits) {
  uint64_t all = (UINT64_C(1) << bits) - 1, m;
  if (draw_fault(g, "fault: mask", 40))
    return static_text(g, s, draw_below(g, 2) ? 0 : (int64_t)all + 1);
  switch (draw_below(g, 4)) {
  case 0:
    m = UINT64_C(1) << draw_below(g, (uint32_t)bits);
    break;
  case 1:
    m = all;
    break;
  case 2:
    m = all > 3 ? 3 : all;
    break;
  default:
    m = 1 + draw_below(g, (uint32_t)all);
    break;
  }
  mark_used(g, m & (m - 1) ? "mask of several bits" : "mask of one bit");
  return static_text(g, s, (int64_t)m);
}

static void shuffle_rows(generator *g, f2_matrix *a) {
  for (int i = a->rows - 1; i > 0; i--) {
    int k = i - (int)draw_below(g, (uint32_t)i + 1);
    uint64_t row = a->row[i];
    a->row[i] = a->row[k];
    a->row[k] = row;
  }
}

// Adds rows to others: `upper` and `lower` of the matrix, each with an even chance.
static void mix_rows(generator *g, f2_matrix *a, bool lower) {
  for (int i = 0; i < a->rows; i++)
    for (int k = lower ? 0 : i + 1; k < (lower ? i : a->rows); k++)
      if (draw_below(g, 2))
        a->row[i] ^= a->row[k];
}

static f2_matrix draw_matrix(generator *g, int bits) {
  f2_matrix a = f2_identity(bits);
  uint32_t kind = draw_below(g, 4);
  static const char *const names[] = {"bmmc: bit permutation", "bmmc: one row added",
                                      "bmmc: triangular", "bmmc: dense"};
  mark_used(g, names[kind]);
  if (kind != 2)
    shuffle_rows(g, &a);
  if (kind == 1 && bits > 1) {
    int i = (int)draw_below(g, (uint32_t)bits), k = (int)draw_below(g, (uint32_t)bits - 1);
    a.row[i] ^= a.row[k < i ? k : k + 1];
  }
  if (kind >= 2)
    mix_rows(g, &a, draw_below(g, 2));
  if (kind == 3) {
    mix_rows(g, &a, true);
    shuffle_rows(g, &a);
  }
  return a;
}

const char *matrix_text(generator *g, int bits) {
  f2_matrix a = draw_matrix(g, bits);
  if (bits > 0 && draw_fault(g, "fault: matrix", 80))
    a.row[0] = bits > 1 ? a.row[1] : 0;
  const char *list = "";
  for (int i = 0; i < bits; i++)
    list = write_code(g, "%s%s%" PRIu64, list, i ? ", " : "", a.row[i]);
  return write_code(g, "[%s]", list);
}

// ---- literals --------------------------------------------------------------------------------

static const char *integer_literal(generator *g, scalar_type t, const char *suffix) {
  int bits = (int)scalar_types[t].size * 8;
  bool is_signed = scalar_types[t].kind == KIND_SIGNED;
  uint64_t all = UINT64_MAX >> (64 - bits), largest = is_signed ? all >> 1 : all;
  uint64_t near[] = {1, 2, 3, 7, 10, largest, largest - 1, (uint64_t)bits, (uint64_t)bits - 1};
  uint64_t n;
  switch (draw_below(g, 3)) {
  case 0:
    n = draw_below(g, 8);
    break;
  case 1:
    n = near[draw_below(g, sizeof near / sizeof *near)];
    break;
  default:
    n = (uint64_t)draw_below(g, INT32_MAX - 2) * draw_below(g, INT32_MAX - 2) * 5 & largest;
  }
  bool negative = is_signed && draw_chance(g, 30);
  if (negative && n == largest && draw_chance(g, 50))
    n++;
  if (draw_fault(g, "fault: literal", 10))
    return write_code(g, "(%" PRIu64 "%s + 1)", largest, scalar_types[t].name);
  return write_code(g, negative ? "(-%" PRIu64 "%s)" : "%" PRIu64 "%s", n, suffix);
}

static const char *real_literal(generator *g, scalar_type t, const char *suffix) {
  static const char *const common[] = {"1.0", "2.0", "0.5", "3.25", "0.1", "10.0", "7.75", "1e-3"};
  static const char *const rare[] = {"0.0", "1.0e9", "1.0e38", "1.0e-38", "255.5"};
  static const char *const rare_half[] = {"0.0", "65519.9", "60000.0", "1.0e-6", "255.5"};
  const char *const *rare_ones = t == SCALAR_F16 ? rare_half : rare;
  const char *digits = draw_chance(g, 20) ? rare_ones[draw_below(g, 5)] : common[draw_below(g, 8)];
  return write_code(g, draw_chance(g, 30) ? "(-%s%s)" : "%s%s", digits, suffix);
}

const char *literal_text(generator *g, scalar_type t, bool typed) {
  const char *suffix = typed && draw_chance(g, 60) ? "" : scalar_types[t].name;
  if (typed && draw_chance(g, 10)) {
    mark_used(g, "minval, maxval");
    return draw_below(g, 2) ? "minval" : "maxval";
  }
  switch (scalar_types[t].kind) {
  case KIND_BOOL:
    return draw_below(g, 2) ? "true" : "false";
  case KIND_FLOAT:
    if (!draw_chance(g, 90))
      return write_code(g, "%u%s", draw_below(g, 20), *suffix ? suffix : "");
    return real_literal(g, t, suffix);
  case KIND_COMPLEX:
    if (draw_chance(g, 50))
      return write_code(g, "(complex %s %s)",
                        real_literal(g, t, scalar_types[scalar_real_of(t)].name),
                        real_literal(g, t, ""));
    return real_literal(g, t, scalar_types[t].name);
  default:
    return integer_literal(g, t, suffix);
  }
}
