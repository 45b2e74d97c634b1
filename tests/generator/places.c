// Movement that depends on data: places, keys, rows of unequal length, functions that are equal.
#include "tests/generator/generator.h"

// ---- places ----------------------------------------------------------------------------------

// A type that places of so many elements may have, as a conversion.
static const char *place_type(generator *g, uint64_t length) {
  static const char *const names[] = {"int", "i32", "u64", "u16", "u8"};
  return names[draw_below(g, length <= 256 ? 5 : length <= 1 << 16 ? 4 : 3)];
}

// Places that are computed of their own numbers by operations on bits: affine maps of these, if the
// length is a power of two.
static const char *bit_places(generator *g, const char *i, uint64_t length) {
  uint32_t a = draw_below(g, 3), mask = draw_below(g, (uint32_t)length);
  switch (draw_below(g, 4)) {
  case 0:
    return write_code(g, "%s xor %u", i, mask);
  case 1:
    return write_code(g, "(%s xor (%s >> %u)) xor %u", i, i, 1 + a, mask);
  case 2:
    return write_code(g, "%u - 1 - (%s xor %u)", (uint32_t)length, i, mask);
  default:
    return write_code(g, "(%s & %u) * %u + %s / %u", i, (2U << a) - 1,
                      (uint32_t)(length >> (1 + a)), i, 2U << a);
  }
}

static term step_bit_places(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)s, (void)k, (void)row;
  uint64_t length = xs.shape->length;
  const char *name = fresh_name(g, "a"), *i = fresh_name(g, "j");
  bool scatters = draw_chance(g, 40);
  if (length_bits(length) < 4)
    return (term){0};
  return make_atom(write_code(g, "(let %s = %s in %s (map (\\%s -> %s) (iota (length %s))) %s%s%s)",
                              name, xs.text, scatters ? "scatter" : "gather", i,
                              bit_places(g, i, length), name, name, scatters ? " " : "",
                              scatters ? name : ""),
                   xs.shape);
}

// Each with the element d after it or before it, in halves of blocks that a condition tells.
static term step_partner(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)s, (void)k, (void)row;
  uint64_t length = xs.shape->length;
  const char *name = fresh_name(g, "a"), *i = fresh_name(g, "j");
  if (length % 2)
    return (term){0};
  uint32_t d = 1U << draw_below(g, (uint32_t)__builtin_ctzll(length));
  const char *const conditions[] = {write_code(g, "%s & %u == 0", i, d),
                                    write_code(g, "%s %% %u < %u", i, 2 * d, d),
                                    write_code(g, "not (%s / %u %% 2 == 1)", i, d)};
  return make_atom(write_code(g,
                              "(let %s = %s in [if %s then %s[%s + %u] else %s[%s - %u] | "
                              "%s <- 0 .. length %s - 1])",
                              name, xs.text, conditions[draw_below(g, 3)], name, i, d, name, i, d,
                              i, name),
                   xs.shape);
}

// Each with one at a place that is a sum of indices, or one of a few.
static term step_neighbour(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)s, (void)k, (void)row;
  uint32_t length = (uint32_t)xs.shape->length, by = draw_below(g, length < 9 ? length : 9);
  const char *name = fresh_name(g, "a"), *i = fresh_name(g, "j");
  const char *const places[] = {
      write_code(g, "max 0 (%s - %u)", i, by),
      write_code(g, "min %u (max 0 (%s + %u))", length - 1, i, by),
      write_code(g, "(%s + %u) %% %u", i, by, length),
      write_code(g, "(%s * %u) %% %u", i, 1 + by, length),
      write_code(g, "%u - %s", length - 1, i),
      write_code(g, "if %s >= %u then %s - %u else %s", i, by, i, by, i),
      write_code(g, "if %s + %u < %u || %s < 0 then %s + %u else %u", i, by, length, i, i, by, by)};
  return make_atom(write_code(g, "(let %s = %s in [%s[%s] | %s <- 0 .. length %s - 1])", name,
                              xs.text, name, places[draw_below(g, sizeof places / sizeof *places)],
                              i, name),
                   xs.shape);
}

// Elements by indices that are data; of rows one element of each, or all.
static term indexed(generator *g, term xs, uint64_t length, term places, bool of_rows) {
  const shape *e = xs.shape->parts[0];
  const char *name = fresh_name(g, "a"), *i = fresh_name(g, "j"), *column = "";
  if (of_rows)
    column = write_code(g, "[(3 * int %s + 1) %% %u]", i, (uint32_t)e->length);
  if (!of_rows && draw_chance(g, 40))  // inside only where the branch is taken
    return make_atom(write_code(g,
                                "(let %s = %s in map (\\%s -> if int %s %% length %s > 0 then "
                                "%s[int %s %% length %s - 1] else %s[0]) %s)",
                                name, xs.text, i, i, name, name, i, name, name,
                                atom_text(g, places)),
                     array_shape(g, length, e));
  return make_atom(write_code(g, "(let %s = %s in map (\\%s -> %s[int %s %% length %s]%s) %s)",
                              name, xs.text, i, name, i, name, column, atom_text(g, places)),
                   array_shape(g, length, of_rows ? e->parts[0] : e));
}

static term step_gather_places(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)row;
  uint64_t length = k == KEEP_NOTHING ? draw_below(g, 40) : xs.shape->length;
  const shape *e = xs.shape->parts[0];
  if (!pay_for(g, s, 8 * length * shape_size(e)))
    return (term){0};
  const char *name = fresh_name(g, "a"), *i = fresh_name(g, "j");
  term places = value_term(g, s, array_shape(g, length, integer_shape(g)), 0);
  if (draw_chance(g, 50))
    return indexed(g, xs, length, places,
                   k == KEEP_NOTHING && e->kind == SHAPE_ARRAY && e->length && draw_chance(g, 60));
  return make_atom(
      write_code(g, "(let %s = %s in gather (map (\\%s -> %s (%s %% length %s)) %s) %s)", name,
                 xs.text, i, place_type(g, xs.shape->length), i, name, atom_text(g, places), name),
      array_shape(g, length, e));
}

// Distinct places: numbers, times what has no factor of the length, and turned round by some more.
static term step_scatter(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  uint64_t length = xs.shape->length;
  bool all = draw_chance(g, 40);
  uint64_t count = all ? length : draw_below(g, (uint32_t)length + 1);
  const shape *e = xs.shape->parts[0];
  const char *name = fresh_name(g, "a"), *i = fresh_name(g, "j"), *turn = fresh_name(g, "r");
  term by = scalar_term(g, s, SCALAR_I64, DYNAMIC);
  const char *places =
      write_code(g, "(map (\\%s -> %s ((%s * %u + %s) %% length %s)) (iota %s))", i,
                 place_type(g, length), i, length_bits(length) >= 0 ? 1 + 2 * draw_below(g, 8) : 1,
                 turn, name, static_text(g, s, (int64_t)count));
  const char *start = write_code(g, "let %s = %s in let %s = %s %% length %s in", name, xs.text,
                                 turn, atom_text(g, by), name);
  if (all && draw_chance(g, 60)) {
    mark_used(g, "permute");
    return make_atom(write_code(g, "(%s permute %s %s)", start, places, name), xs.shape);
  }
  term vs = value_term(g, s, array_shape(g, count, e), 0);
  return make_atom(write_code(g, "(%s scatter %s %s %s)", start, places, atom_text(g, vs), name),
                   array_shape(g, length, at_least(g, e, shape_origin(vs.shape))));
}

// Elements in the order of integers, of all bits or of few; or in their own.
static term step_sorted(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  static const char *const orders[] = {"sorted_places", "sorted_places_desc", "bucket_places 3"};
  uint32_t order = draw_below(g, 3);
  const char *name = fresh_name(g, "a"), *i = fresh_name(g, "j");
  bool own = order < 2 && features_of(xs.shape) & ORDERED && draw_chance(g, 40);
  if (own)
    return make_atom(write_code(g, "(let %s = %s in permute (%s %s) %s)", name, xs.text,
                                orders[order], name, name),
                     xs.shape);
  term keys = value_term(g, s, array_shape(g, xs.shape->length, integer_shape(g)), 0);
  return make_atom(write_code(g, "(permute (%s (map (\\%s -> %s %% 8) %s)) %s)", orders[order], i,
                              i, atom_text(g, keys), atom_text(g, xs)),
                   xs.shape);
}

static term step_compact(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  request r = {.parameters = {xs.shape->parts[0]}, .parameter_count = 1};
  r.wanted = scalar_shape(g, SCALAR_BOOL, ORIGIN_MOVED);
  r.factor = xs.shape->length;
  term f = function_term(g, s, &r);
  return make_atom(write_code(g, "(fst (compact %s %s))", f.text, atom_text(g, xs)), xs.shape);
}

static term step_distinct(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)s, (void)k;
  return make_atom(write_code(g, "(fst (%s %s))", row->name, atom_text(g, xs)), xs.shape);
}

// ---- keys of few bits --------------------------------------------------------------------------

enum { KEY_BITS = 12 };

// "(\\x -> k & 7)": a key of few bits of each element.
static const char *key_text(generator *g, const scope *s, const shape *xs, uint32_t bits) {
  request r = {.parameters = {xs->parts[0]}, .parameter_count = 1, .factor = xs->length};
  r.wanted = integer_shape(g);
  term key = function_term(g, s, &r);
  const char *few = write_code(g, "(\\k -> k & %u)", (1U << bits) - 1);
  return write_code(g, "(%s . %s)", few, key.text);
}

static term step_bucket(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  uint32_t bits = draw_below(g, KEY_BITS);
  if (!pay_for(g, s, UINT64_C(4) << bits))
    return (term){0};
  const char *key = key_text(g, s, xs.shape, bits);
  return make_atom(write_code(g, "(fst (%s %u %s %s))", row->name, bits, key, atom_text(g, xs)),
                   xs.shape);
}

static term step_counts(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  uint32_t bits = draw_below(g, KEY_BITS);
  if (!pay_for(g, s, UINT64_C(4) << bits))
    return (term){0};
  bool offsets = draw_chance(g, 30);
  const char *key = key_text(g, s, xs.shape, bits), *name = offsets ? "snd (bucket" : row->name;
  const char *code =
      write_code(g, "(%s %u %s %s%s)", name, bits, key, atom_text(g, xs), offsets ? ")" : "");
  return make_atom(code, array_shape(g, (UINT64_C(1) << bits) + offsets, integer_shape(g)));
}

// ---- rows of unequal length --------------------------------------------------------------------

// Offsets of rows: "(let r = e % 4 in [r, 3 + r, 3 + r, 9 + r])". Rows have at most `most`
// elements, and maybe the first elements and the last ones are in no row.
static const char *offsets_text(generator *g, const scope *s, uint64_t length, uint64_t most,
                                uint64_t rows) {
  uint64_t at = 0, slack = draw_below(g, 4);
  slack = slack < length ? slack : 0;
  const char *turn = fresh_name(g, "r"), *list = turn;
  term by = scalar_term(g, s, SCALAR_I64, DYNAMIC);
  for (uint64_t i = 0; i < rows; i++) {
    uint64_t left = length - slack - at, row = draw_below(g, (uint32_t)most + 1);
    at += row < left ? row : left;
    list = write_code(g, "%s, %u + %s", list, (unsigned)at, turn);
  }
  return write_code(g, "(let %s = %s %% %u in [%s])", turn, atom_text(g, by), (unsigned)slack + 1,
                    list);
}

enum { ROWS_AT_MOST = 12 };

static term step_sort_ragged(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  const char *offsets = offsets_text(g, s, xs.shape->length, xs.shape->length,
                                     draw_below(g, ROWS_AT_MOST)),
             *key = "";
  if (strcmp(row->name, "sort_ragged_on") == 0)
    key = write_code(g, "%s ", sort_key(g, s, xs.shape, xs.shape->length).text);
  return call_term(g, write_code(g, "%s %s%s", row->name, key, offsets), xs, xs.shape);
}

static term step_map_ragged(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  const shape *e = xs.shape->parts[0];
  uint32_t bits = draw_below(g, 5), rows = 12;
  if (!pay_for(g, s, (UINT64_C(20) * rows << bits) * shape_size(e)))
    return (term){0};
  const char *offsets =
      offsets_text(g, s, xs.shape->length, UINT64_C(1) << bits, draw_below(g, ROWS_AT_MOST));
  term fill = value_term(g, s, e, 0);
  e = at_least(g, e, shape_origin(fill.shape));
  const shape *line = array_shape(g, UINT64_C(1) << bits, e);
  request r = {.parameters = {line}, .parameter_count = 1, .wanted = line, .factor = rows};
  term f = function_term(g, s, &r);
  const char *code = write_code(g, "%s %s %s %s %s", row->name, static_text(g, s, bits),
                                atom_text(g, fill), f.text, offsets);
  return call_term(g, code, xs,
                   array_shape(g, xs.shape->length, at_least(g, e, shape_origin(f.shape))));
}

// What rows, or the elements of equal keys, come to.
static term step_reduce_rows(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  const shape *e = xs.shape->parts[0];
  uint32_t bits = draw_below(g, 4), rows = draw_below(g, ROWS_AT_MOST);
  bool keys = strcmp(row->name, "reduce_keys") == 0,
       apart = strcmp(row->name, "reduce_ranges") == 0;
  static const char *const folds[] = {"(+) 0", "(*) 1", "min maxval", "max minval"};
  uint32_t fold = draw_below(g, 8);
  bool folds_scalars = e->kind == SHAPE_SCALAR && fold < 4 && CLASS_REAL & CLASS_OF(e->type);
  term zero = value_term(g, s, e, 0);
  e = at_least(g, e, folds_scalars ? ORIGIN_COMPUTED : shape_origin(zero.shape));
  term f = operator_on(g, s, e, 12 * xs.shape->length + (apart ? 24 : 2) * rows);
  const shape *after = at_least(g, e, shape_origin(f.shape));
  const char *start =
      folds_scalars ? folds[fold] : write_code(g, "%s %s", f.text, atom_text(g, zero));
  if (keys) {
    const char *key = key_text(g, s, xs.shape, bits);
    return call_term(g, write_code(g, "%s %u %s %s", row->name, bits, start, key), xs,
                     array_shape(g, UINT64_C(1) << bits, after));
  }
  const char *offsets = offsets_text(g, s, xs.shape->length, xs.shape->length, rows);
  const char *o = fresh_name(g, "o");
  const shape *result = array_shape(g, rows, after);
  if (!apart)
    return call_term(g, write_code(g, "%s %s %s", row->name, start, offsets), xs, result);
  return make_atom(write_code(g, "(let %s = %s in %s %s (take %u %s) (drop 1 %s) %s)", o, offsets,
                              row->name, start, rows, o, o, atom_text(g, xs)),
                   result);
}

static term step_top_ragged(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  const shape *e = xs.shape->parts[0];
  uint32_t rows = draw_below(g, ROWS_AT_MOST), top = draw_below(g, 4);
  term fill = value_term(g, s, e, 0);
  e = at_least(g, e, shape_origin(fill.shape));
  const char *offsets = offsets_text(g, s, xs.shape->length, xs.shape->length, rows);
  return call_term(g, write_code(g, "%s %u %s %s", row->name, top, atom_text(g, fill), offsets), xs,
                   array_shape(g, rows, array_shape(g, top, e)));
}

// Whether the elements are in order does not matter.
static term step_search(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  uint64_t count = draw_below(g, 20);
  term ys = value_term(g, s, array_shape(g, count, xs.shape->parts[0]), 0);
  return make_term(write_code(g, "%s %s %s", row->name, atom_text(g, xs), atom_text(g, ys)),
                   array_shape(g, count, integer_shape(g)));
}

// ---- whole arrays of any length ------------------------------------------------------------------

static term step_radix_sort_on(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  term key = sort_key(g, s, xs.shape, xs.shape->length);
  return call_term(g, write_code(g, "%s %s", row->name, key.text), xs, xs.shape);
}

static term step_rotate(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  int by = (int)draw_below(g, 41) - 20;
  return call_term(g, write_code(g, "%s %s", row->name, static_text(g, s, by)), xs, xs.shape);
}

// Neighbours at a distance, and an element beyond the ends; or the least or greatest of both.
static term step_shifted(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  const shape *element = xs.shape->parts[0];
  int by = (int)draw_below(g, draw_chance(g, 20) ? 40 : 7) - 3;
  term fill = value_term(g, s, element, 0);
  const shape *result =
      array_shape(g, xs.shape->length, at_least(g, element, shape_origin(fill.shape)));
  const char *shift = write_code(g, "shifted %s %s", static_text(g, s, by), atom_text(g, fill));
  if (strcmp(row->name, "shifted") == 0)
    return call_term(g, shift, xs, result);
  const char *ys = fresh_name(g, "ys");
  return call_term(g,
                   write_code(g, "(\\%s -> zip_with %s %s (%s %s))", ys, row->name, ys, shift, ys),
                   xs, result);
}

static term step_windows(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  uint64_t length = xs.shape->length, most = length < 5 ? length : 5;
  uint64_t width = most ? 1 + draw_below(g, (uint32_t)most) : 0;
  if (!width || shape_rank(xs.shape) > 3 || !pay_for(g, s, width * shape_size(xs.shape)))
    return (term){0};
  return call_term(g, write_code(g, "%s %s", row->name, static_text(g, s, (int64_t)width)), xs,
                   array_shape(g, length - width + 1, array_shape(g, width, xs.shape->parts[0])));
}

// Rows of any length that divides.
static term step_rows_of(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  static const uint32_t widths[] = {1, 2, 3, 4, 5, 6, 7, 9, 12, 15, 17, 33};
  uint64_t length = xs.shape->length, width = widths[draw_below(g, 12)];
  if (length % width || shape_rank(xs.shape) > 3)
    width = length ? length : 1;
  if (shape_rank(xs.shape) > 3)
    return (term){0};
  return call_term(g, write_code(g, "%s %s", row->name, static_text(g, s, (int64_t)width)), xs,
                   array_shape(g, length / width, array_shape(g, width, xs.shape->parts[0])));
}

// ---- rounds --------------------------------------------------------------------------------------

// Movement after which a round needs all of the array of the one before it.
static const char *whole_move(generator *g, const scope *s) {
  const char *ys = fresh_name(g, "ys");
  term by = scalar_term(g, s, SCALAR_I64, DYNAMIC);
  switch (draw_below(g, 5)) {
  case 0:
    return write_code(g, "rotate %u", 1 + draw_below(g, 5));
  case 1:
    return "scan (\\x y -> y)";
  default:
    return write_code(g,
                      "(\\%s -> gather (map (\\i -> (i + %s) %% length %s) (iota (length %s))) %s)",
                      ys, atom_text(g, by), ys, ys, ys);
  }
}

// Rounds that are alike but for a number, or for an element of an array.
static term step_rounds(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  enum { LEAST = 8, MORE = 24 };
  uint32_t count = LEAST + draw_below(g, MORE);
  bool fold = strcmp(row->name, "fold") == 0;
  const shape *e = xs.shape->parts[0], *given = scalar_shape(g, SCALAR_I64, ORIGIN_MOVED);
  const char *number = "i", *move = whole_move(g, s), *list = "";
  if (fold) {
    term ws = value_term(g, s, array_shape(g, count, e), DYNAMIC);
    given = ws.shape->parts[0];
    list = write_code(g, " %s", atom_text(g, ws));
    number = "w";
  }
  request r = {.parameters = {given, e}, .parameter_count = 2, .wanted = e, .repeated = true};
  r.factor = count * xs.shape->length;
  term f = function_term(g, s, &r), op = operator_on(g, s, e, r.factor);
  origin o = shape_origin(e) > shape_origin(given) ? shape_origin(e) : shape_origin(given);
  o = shape_origin(op.shape) > o ? shape_origin(op.shape) : o;
  if (g->repeated && o < ORIGIN_PARAMETER)
    o = ORIGIN_PARAMETER;
  const char *rounds = fold ? write_code(g, "fold (\\zs w -> ")
                            : write_code(g, "iteri %s (\\i zs -> ", static_text(g, s, count));
  return make_term(write_code(g, "%szip_with %s zs (map (%s %s) (%s zs))) %s%s", rounds, op.text,
                              f.text, number, move, atom_text(g, xs), list),
                   array_shape(g, xs.shape->length, at_least(g, resolve_origin(g, f.shape, o), o)));
}

// ---- the table -----------------------------------------------------------------------------------

// clang-format off
const step place_steps[] = {
    {"gather is", 12, FILLED, KEEP_SHAPE, 4, 0, step_gather_places},
    {"gather xor", 5, FILLED, KEEP_SHAPE, 2, 0, step_bit_places},
    {"[xs[i + d]]", 5, FILLED, KEEP_SHAPE, 2, 0, step_partner},
    {"[xs[max 0 i]]", 8, FILLED, KEEP_SHAPE, 2, 0, step_neighbour},
    {"scatter", 12, FILLED | EXACT, KEEP_SHAPE, 6, 0, step_scatter},
    {"compact", 6, SCALARS | EXACT, KEEP_SHAPE, 30, 0, step_compact},
    {"distinct", 3, ORDERED | EXACT, KEEP_SHAPE, 30, 0, step_distinct},
    {"sorted", 10, EXACT, KEEP_SHAPE, 8, 0, step_sorted},
    {"bucket", 8, EXACT, KEEP_SHAPE, 12, 0, step_bucket},
    {"histogram", 6, EXACT, KEEP_NOTHING, 6, 0, step_counts},
    {"map_ragged", 8, FILLED | EXACT, KEEP_SHAPE, 30, 0, step_map_ragged},
    {"sort_ragged", 6, FILLED | ORDERED | EXACT, KEEP_SHAPE, 10, 1, step_sort_ragged},
    {"sort_ragged_on", 6, FILLED | SCALARS | EXACT, KEEP_SHAPE, 10, 1, step_sort_ragged},
    {"reduce_keys", 6, SCALARS | EXACT, KEEP_NOTHING, 30, 0, step_reduce_rows},
    {"reduce_ragged", 6, SCALARS | EXACT, KEEP_NOTHING, 20, 0, step_reduce_rows},
    {"reduce_ranges", 4, SCALARS | EXACT, KEEP_NOTHING, 30, 0, step_reduce_rows},
    {"top_k_ragged", 3, FILLED | ORDERED | EXACT, KEEP_NOTHING, 10, 1, step_top_ragged},
    {"search_sorted", 4, ORDERED | EXACT, KEEP_NOTHING, 20, 0, step_search},
    {"search_sorted_right", 3, ORDERED | EXACT, KEEP_NOTHING, 20, 0, step_search},
    {"radix_sort", 4, ORDERED | EXACT, KEEP_SHAPE, 8, 0, step_named},
    {"radix_sort_on", 4, SCALARS | EXACT, KEEP_SHAPE, 8, 0, step_radix_sort_on},
    {"rotate", 5, 0, KEEP_SHAPE, 2, 0, step_rotate},
    {"shifted", 5, 0, KEEP_SHAPE, 2, 0, step_shifted},
    {"min", 5, ORDERED | SINGLE | EXACT, KEEP_SHAPE, 4, 0, step_shifted},
    {"max", 5, ORDERED | SINGLE | EXACT, KEEP_SHAPE, 4, 0, step_shifted},
    {"windows", 4, 0, KEEP_NOTHING, 5, 0, step_windows},
    {"reverse", 3, 0, KEEP_SHAPE, 2, 0, step_named},
    {"shuffle_random 7", 4, 0, KEEP_SHAPE, 60, 0, step_named},
    {"iteri", 4, FILLED | SCALARS | EXACT, KEEP_SHAPE, 80, 0, step_rounds},
    {"fold", 6, FILLED | SCALARS | EXACT, KEEP_SHAPE, 80, 0, step_rounds},
    {"rows_of", 8, 0, KEEP_NOTHING, 1, 0, step_rows_of},
};
// clang-format on
const size_t place_step_count = sizeof place_steps / sizeof *place_steps;
