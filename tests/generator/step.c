// What can be done to an array: the table of combinators. (library.c has the library's functions.)
//
// In: a term that is an array, and what is to stay of it: nothing, its length or its whole shape.
// Out: a term with one combinator more, or the same term.
#include "core/hash.h"
#include "tests/generator/generator.h"

unsigned features_of(const shape *s) {
  const shape *e = s->parts[0];
  int n = length_bits(s->length);
  scalar_class classes = shape_classes(e);
  unsigned f = 0;
  f |= n >= 0 ? POWER : 0;
  f |= n >= 1 ? HALVES : 0;
  f |= n >= 2 ? QUARTERS : 0;
  f |= s->length ? FILLED : 0;
  f |= s->length <= 16 ? SHORT : 0;
  f |= e->kind == SHAPE_ARRAY ? ROWS : 0;
  f |= e->kind == SHAPE_ARRAY && n >= 0 && length_bits(e->length) >= 0 ? SQUARE : 0;
  f |= all_scalars(e) ? SCALARS : 0;
  f |= e->kind == SHAPE_TUPLE && e->count == 2 ? PAIRS : 0;
  f |= e->kind == SHAPE_SCALAR ? SINGLE : 0;
  f |= all_scalars(e) && !(classes & CLASS_COMPLEX) ? ORDERED : 0;
  f |= e->kind == SHAPE_SCALAR && (classes & CLASS_NUM) ? NUMBERS : 0;
  f |= e->kind == SHAPE_SCALAR && (classes & CLASS_FLOAT) ? FLOATS : 0;
  f |= e->kind == SHAPE_SCALAR && (classes & CLASS_PART) ? PARTS : 0;
  f |= e->kind == SHAPE_SCALAR && (classes & CLASS_COMPLEX) ? COMPLEXES : 0;
  f |= e->kind == SHAPE_SCALAR && (classes & CLASS_BOOL) ? BOOLS : 0;
  f |= shape_origin(e) < ORIGIN_ROUGH ? EXACT : 0;
  return f;
}

const shape *integer_shape(generator *g) { return scalar_shape(g, SCALAR_I64, ORIGIN_MOVED); }

// ---- map and its kin -------------------------------------------------------------------------

static term step_map(generator *g, const scope *s, term xs, keep k, const step *row) {
  const shape *e = xs.shape->parts[0];
  request r = {.factor = xs.shape->length};
  bool numbered = strcmp(row->name, "mapi") == 0;
  if (numbered)
    r.parameters[r.parameter_count++] = integer_shape(g);
  r.parameters[r.parameter_count++] = e;
  if (k == KEEP_SHAPE)
    r.wanted = e;
  else if (e->kind != SHAPE_ARRAY || draw_chance(g, 15))
    r.wanted = draw_shape(g, s, e);
  term f = function_term(g, s, &r);
  return call_term(g, write_code(g, "%s %s", row->name, f.text), xs,
                   array_shape(g, xs.shape->length, f.shape));
}

// Another array of the same length.
static term companion(generator *g, const scope *s, term xs, const shape *element) {
  return value_term(g, s, array_shape(g, xs.shape->length, element), ROUGH);
}

static term step_zip(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  term ys = companion(g, s, xs, draw_shape(g, s, xs.shape->parts[0]));
  const char *second = atom_text(g, ys);
  if (draw_fault(g, "fault: lengths", 60))
    second = write_code(g, "(concat %s %s)", second, second);
  return make_term(
      write_code(g, "zip %s %s", atom_text(g, xs), second),
      array_shape(g, xs.shape->length, pair_shape(g, xs.shape->parts[0], ys.shape->parts[0])));
}

static term step_zip_with(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)row;
  const shape *e = xs.shape->parts[0], *other = draw_chance(g, 60) ? draw_shape(g, s, e) : e;
  term ys = companion(g, s, xs, other);
  request r = {.factor = xs.shape->length, .parameter_count = 2};
  r.parameters[0] = e;
  r.parameters[1] = ys.shape->parts[0];
  r.wanted = k == KEEP_SHAPE ? e : draw_shape(g, s, e);
  term f = function_term(g, s, &r);
  return make_term(write_code(g, "zip_with %s %s %s", f.text, atom_text(g, xs), atom_text(g, ys)),
                   array_shape(g, xs.shape->length, f.shape));
}

// A pair of arrays, something with both.
static term step_unzip(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)row;
  const shape *e = xs.shape->parts[0];
  const char *names[2];
  scope inner = *s;
  term parts[2];
  for (int i = 0; i < 2; i++) {
    names[i] = fresh_name(g, "v");
    parts[i] = make_atom(names[i], array_shape(g, xs.shape->length, e->parts[i]));
    add_variable(g, &inner, names[i], parts[i].shape);
  }
  term a = apply_steps(g, &inner, parts[0], draw_below(g, 2), k),
       b = apply_steps(g, &inner, parts[1], draw_below(g, 2), k);
  bool swapped = k == KEEP_LENGTH && draw_chance(g, 50);
  if (a.shape->length != b.shape->length)
    b = parts[1], a = parts[0];
  term x = swapped ? b : a, y = swapped ? a : b;
  return make_atom(
      write_code(g, "(let (%s, %s) = unzip %s in zip %s %s)", names[0], names[1], atom_text(g, xs),
                 atom_text(g, x), atom_text(g, y)),
      array_shape(g, x.shape->length, pair_shape(g, x.shape->parts[0], y.shape->parts[0])));
}

static term step_comprehension(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)row;
  scope inner = *s;
  const char *p = pattern_text(g, &inner, xs.shape->parts[0]);
  const shape *e = xs.shape->parts[0];
  if (k != KEEP_SHAPE)
    e = draw_shape(g, s, e);
  term x = value_term(g, &inner, e, ROUGH);
  const char *extra = draw_chance(g, 15) ? ", true" : "";
  return make_atom(write_code(g, "[%s | %s <- %s%s]", x.text, p, atom_text(g, xs), extra),
                   array_shape(g, xs.shape->length, x.shape));
}

// Elements at places that a formula gives, of numbers that are counted or data. (Long lists are
// elaborated at once: lang/elaborate/counted.c.)
static term step_gather(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)row;
  static const uint64_t lengths[] = {1, 2, 3, 4, 5, 8, 33, 48};
  uint64_t length = k == KEEP_NOTHING ? lengths[draw_below(g, 8)] : xs.shape->length;
  const char *name = fresh_name(g, "a"), *i = fresh_name(g, "j"), *number = i, *places = "";
  if (draw_chance(g, 30)) {
    term data = value_term(g, s, array_shape(g, length, integer_shape(g)), DYNAMIC | TYPED);
    const char *of = fresh_name(g, "b");
    places = write_code(g, "let %s = %s in ", of, data.text);
    number = write_code(g, "%s[%s]", of, i);
  }
  return make_atom(write_code(g,
                              "(%slet %s = %s in [%s[(%s * %u + %u) %% length %s] | %s <- 0..%s])",
                              places, name, xs.text, name, number, 1 + draw_below(g, 7),
                              draw_below(g, 16), name, i, static_text(g, s, (int64_t)length - 1)),
                   array_shape(g, length, xs.shape->parts[0]));
}

// ---- halves and pairs ------------------------------------------------------------------------

static const char *halving(generator *g, const scope *s, const step *row, int bits) {
  static const char *const names[] = {"two", "ilv", "que", "vee"};
  if (strcmp(row->name, "two") != 0)
    return write_code(g, "%s %s", row->name, mask_text(g, s, bits));
  return names[draw_below(g, bits < 2 ? 2 : 4)];
}

static term step_parm(generator *g, const scope *s, term xs, keep k, const step *row) {
  uint64_t length = xs.shape->length;
  request r = {.factor = 2, .keep = k == KEEP_NOTHING ? KEEP_LENGTH : k};
  if (strcmp(row->name, "parmi") == 0)
    r.parameters[r.parameter_count++] = integer_shape(g);
  r.parameters[r.parameter_count++] = array_shape(g, length / 2, xs.shape->parts[0]);
  const char *how = halving(g, s, row, length_bits(length));
  if (draw_chance(g, 25))
    r.wanted = r.keep == KEEP_SHAPE
                   ? r.parameters[r.parameter_count - 1]
                   : array_shape(g, length / 2, draw_shape(g, s, xs.shape->parts[0]));
  term f = function_term(g, s, &r);
  return call_term(g, write_code(g, "%s %s", how, f.text), xs,
                   array_shape(g, length, f.shape->parts[0]));
}

// \[x, y] -> if c then [x, y] else [y, x]
static term comparator(generator *g, const scope *s, const shape *e, uint64_t factor) {
  mark_used(g, "comparator");
  scope inner = inner_scope(s, factor);
  const char *x = fresh_name(g, "x"), *y = fresh_name(g, "y");
  add_variable(g, &inner, x, e);
  add_variable(g, &inner, y, e);
  bool ordered = !(shape_classes(e) & CLASS_COMPLEX) && shape_origin(e) < ORIGIN_ROUGH;
  static const char *const orders[] = {"<=", "<", ">", ">="};
  const char *c = NULL;
  if (ordered && !draw_chance(g, 30))
    c = write_code(g, "%s %s %s", x, orders[draw_below(g, 4)], y);
  else
    c = scalar_term(g, &inner, SCALAR_BOOL, DYNAMIC).text;
  return make_atom(
      write_code(g, "(\\[%s, %s] -> if %s then [%s, %s] else [%s, %s])", x, y, c, x, y, y, x),
      array_shape(g, 2, e));
}

static term pair_function(generator *g, const scope *s, const shape *e, keep k, uint64_t factor) {
  const shape *pair = array_shape(g, 2, e);
  bool exact = shape_origin(e) < ORIGIN_ROUGH, ordered = !(shape_classes(e) & CLASS_COMPLEX);
  uint32_t form = draw_below(g, 10);
  if (form < 3 && all_scalars(e))
    return comparator(g, s, e, factor);
  if (form == 3 && all_scalars(e) && exact && ordered)
    return make_atom("compare_exchange", pair);
  if (form == 4 && all_scalars(e) && exact && ordered)
    return make_atom("(compare_exchange_by (>=))", pair);
  request r = {.parameters = {pair}, .parameter_count = 1, .factor = factor};
  r.keep = k == KEEP_NOTHING ? KEEP_LENGTH : k;
  if (form < 9 || k == KEEP_SHAPE)
    r.wanted =
        k == KEEP_SHAPE || draw_chance(g, 60) ? pair : array_shape(g, 2, draw_shape(g, s, e));
  return function_term(g, s, &r);
}

static term step_column(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)row;
  uint64_t length = xs.shape->length;
  const char *m = mask_text(g, s, length_bits(length));
  term f = pair_function(g, s, xs.shape->parts[0], k, length / 2);
  return call_term(g, write_code(g, "column %s %s", m, f.text), xs,
                   array_shape(g, length, f.shape->parts[0]));
}

// ---- permutations ----------------------------------------------------------------------------

term step_named(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)s, (void)k;
  return call_term(g, row->name, xs, xs.shape);
}

static term step_bmmc(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  int n = length_bits(xs.shape->length);
  const char *a = matrix_text(g, n);
  uint32_t c = draw_below(g, 2) ? draw_below(g, (uint32_t)xs.shape->length) : 0;
  return call_term(g, write_code(g, "bmmc %s %s", a, static_text(g, s, c)), xs, xs.shape);
}

// flip_bits, rotate_bits, digitrev, bit_permute: reorderings with a number.
static term step_reorder(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  int n = length_bits(xs.shape->length);
  const char *with;
  if (strcmp(row->name, "flip_bits") == 0) {
    with = static_text(g, s, draw_below(g, (uint32_t)xs.shape->length));
  } else if (strcmp(row->name, "rotate_bits") == 0) {
    with = static_text(g, s, (int)draw_below(g, 7) - 3);
  } else if (strcmp(row->name, "digitrev") == 0) {
    int digit = 1 + (int)draw_below(g, 4);
    with = static_text(g, s, n % digit ? 1 : digit);
  } else {
    uint32_t first = draw_below(g, (uint32_t)n + 1);
    with = write_code(g, "[(i + %u) %% %d | i <- 0..%d]", first, n ? n : 1, n - 1);
  }
  return call_term(g, write_code(g, "%s %s", row->name, with), xs, xs.shape);
}

// ---- lengths ---------------------------------------------------------------------------------

static term step_part(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  uint64_t length = xs.shape->length;
  uint64_t count =
      length <= 64 ? draw_below(g, (uint32_t)length + 1) : length >> (1 + draw_below(g, 3));
  if (length && draw_chance(g, 10))
    count = length - 1;
  bool take = strcmp(row->name, "take") == 0;
  return call_term(g, write_code(g, "%s %s", row->name, static_text(g, s, (int64_t)count)), xs,
                   array_shape(g, take ? count : length - count, xs.shape->parts[0]));
}

static term step_concat(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  static const uint64_t lengths[] = {1, 2, 3, 4, 8};
  uint64_t more = draw_chance(g, 50) ? xs.shape->length : lengths[draw_below(g, 5)];
  if (!pay_for(g, s, more * shape_size(xs.shape->parts[0])))
    return (term){0};
  term ys = value_term(g, s, array_shape(g, more, xs.shape->parts[0]), 0);
  bool front = draw_below(g, 2);
  return make_term(
      write_code(g, "concat %s %s", atom_text(g, front ? ys : xs), atom_text(g, front ? xs : ys)),
      array_shape(g, more + xs.shape->length,
                  at_least(g, xs.shape->parts[0], shape_origin(ys.shape))));
}

static term step_replicate(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  static const uint32_t counts[] = {2, 3, 4, 1, 5};
  uint32_t count = counts[draw_below(g, 5)];
  if (shape_rank(xs.shape) > 3 || !pay_for(g, s, count * shape_size(xs.shape)))
    return (term){0};
  return call_term(g, write_code(g, "replicate %u", count), xs, array_shape(g, count, xs.shape));
}

static uint64_t next_power(uint64_t length) {
  uint64_t power = 1;
  while (power < length)
    power *= 2;
  return power;
}

// What fills up, an atom; its origin is added to *e.
static const char *fill_text(generator *g, const scope *s, const shape **e, unsigned features) {
  if (features & ORDERED && !draw_chance(g, 40)) {
    mark_used(g, "minval, maxval");
    return draw_below(g, 3) ? "maxval" : "minval";
  }
  term x = value_term(g, s, *e, 0);
  *e = at_least(g, *e, shape_origin(x.shape));
  return atom_text(g, x);
}

static term step_extended(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)row;
  uint64_t length = next_power(xs.shape->length);
  if (k != KEEP_NOTHING && length != xs.shape->length)
    return (term){0};
  const shape *e = xs.shape->parts[0];
  const char *x = fill_text(g, s, &e, features_of(xs.shape));
  return call_term(g, write_code(g, "extended %s", x), xs, array_shape(g, length, e));
}

// padded x (map f), and with any function what padded is without its check. (take), so that
// generator_test does not take the word for one of the program.
static term step_padded(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)row;
  const shape *e = xs.shape->parts[0];
  if (!xs.shape->length)  // f is not called, and the lengths of the rows it would give are unknown
    k = KEEP_SHAPE;
  bool elementwise = xs.shape->length & 1;
  const char *x = fill_text(g, s, &e, features_of(xs.shape));
  request r = {.parameter_count = 1, .factor = 1, .keep = k == KEEP_SHAPE ? k : KEEP_LENGTH};
  r.parameters[0] = elementwise ? e : array_shape(g, next_power(xs.shape->length), e);
  if (elementwise) {
    r.factor = next_power(xs.shape->length);
    r.wanted = k == KEEP_SHAPE ? e : NULL;
  }
  term f = function_term(g, s, &r);
  if (elementwise)
    return call_term(g, write_code(g, "padded %s (map %s)", x, f.text), xs,
                     array_shape(g, xs.shape->length, f.shape));
  return call_term(g,
                   write_code(g, "(\\zs -> (take) (length zs) (%s (extended %s zs)))", f.text, x),
                   xs, array_shape(g, xs.shape->length, f.shape->parts[0]));
}

// ---- rows ------------------------------------------------------------------------------------

// How many index bits rows of the array may have.
static int row_bits(generator *g, uint64_t length) {
  int most = length ? __builtin_ctzll(length) : 3;
  return (int)draw_below(g, (uint32_t)(most < 6 ? most : 6) + 1);
}

static term step_split(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  if (shape_rank(xs.shape) > 3)
    return (term){0};
  int bits = row_bits(g, xs.shape->length);
  uint64_t rows = xs.shape->length >> bits;
  return call_term(g, write_code(g, "split %s", static_text(g, s, bits)), xs,
                   array_shape(g, rows, array_shape(g, UINT64_C(1) << bits, xs.shape->parts[0])));
}

static term step_join(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)s, (void)k, (void)row;
  const shape *inner = xs.shape->parts[0];
  return call_term(g, "join", xs,
                   array_shape(g, xs.shape->length * inner->length, inner->parts[0]));
}

static term step_transpose(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)s, (void)row;
  const shape *inner = xs.shape->parts[0];
  if (k != KEEP_NOTHING && inner->length != xs.shape->length)
    return (term){0};
  return call_term(
      g, "transpose", xs,
      array_shape(g, inner->length, array_shape(g, xs.shape->length, inner->parts[0])));
}

// join (map f (split k xs)), or of the columns instead of the rows.
static term step_blocks(generator *g, const scope *s, term xs, keep k, const step *row) {
  int bits = row_bits(g, xs.shape->length);
  uint64_t width = UINT64_C(1) << bits, rows = xs.shape->length >> bits;
  bool columns = strcmp(row->name, "columns") == 0;
  if (columns && length_bits(xs.shape->length) < 0)
    return (term){0};
  uint64_t length = columns ? rows : width, factor = columns ? width : rows;
  const shape *e = xs.shape->parts[0];
  request r = {.parameters = {array_shape(g, length, e)}, .parameter_count = 1, .factor = factor};
  r.keep = k == KEEP_NOTHING && columns ? KEEP_LENGTH : k;
  if (k == KEEP_NOTHING && !columns)
    r.wanted = array_shape(g, UINT64_C(1) << draw_below(g, 3), draw_shape(g, s, e));
  term f = function_term(g, s, &r);
  const char *rows_text = write_code(g, "split %s %s", static_text(g, s, bits), atom_text(g, xs));
  const char *code =
      columns ? write_code(g, "join (transpose (map %s (transpose (%s))))", f.text, rows_text)
              : write_code(g, "join (map %s (%s))", f.text, rows_text);
  return make_term(code, array_shape(g, f.shape->length * factor, f.shape->parts[0]));
}

// map (\[x, y] -> e) (split 1 xs)
static term step_pairs_to_one(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  const shape *e = xs.shape->parts[0];
  uint64_t half = xs.shape->length / 2;
  request r = {.parameters = {array_shape(g, 2, e)}, .parameter_count = 1, .factor = half};
  r.wanted = draw_chance(g, 50) ? e : draw_shape(g, s, e);
  term f = function_term(g, s, &r);
  return make_term(write_code(g, "map %s (split 1 %s)", f.text, atom_text(g, xs)),
                   array_shape(g, half, f.shape));
}

// map over the columns of a matrix.
static term step_down(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)row;
  const shape *inner = xs.shape->parts[0];
  request r = {.parameter_count = 1, .factor = inner->length};
  r.parameters[0] = array_shape(g, xs.shape->length, inner->parts[0]);
  r.keep = k == KEEP_NOTHING ? KEEP_LENGTH : k;
  term f = function_term(g, s, &r);
  return make_term(
      write_code(g, "transpose (map %s (transpose %s))", f.text, atom_text(g, xs)),
      array_shape(g, xs.shape->length, array_shape(g, inner->length, f.shape->parts[0])));
}

// ---- control ---------------------------------------------------------------------------------

static term step_iter(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  static const uint32_t counts[] = {1, 2, 3, 2, 3, 2, 0};
  uint32_t count = counts[draw_below(g, 7)];
  request r = {.parameters = {xs.shape}, .parameter_count = 1, .wanted = xs.shape};
  r.factor = count;
  r.repeated = true;
  term f = function_term(g, s, &r);
  origin o = shape_origin(xs.shape);
  if (g->repeated && o < ORIGIN_PARAMETER)
    o = ORIGIN_PARAMETER;
  const shape *after = resolve_origin(g, f.shape, o);
  return call_term(g, write_code(g, "iter %s %s", static_text(g, s, count), f.text), xs,
                   count ? after : xs.shape);
}

// let a = xs in ..., where a is used more than once.
static term step_share(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)row;
  scope inner = *s;
  const char *name = fresh_name(g, "a");
  add_variable(g, &inner, name, xs.shape);
  term shared = make_atom(name, xs.shape);
  term x = apply_steps(g, &inner, shared, 1 + draw_below(g, 2), k);
  term y = apply_steps(g, &inner, shared, draw_below(g, 2), KEEP_LENGTH);
  if (k != KEEP_SHAPE && x.shape->length == y.shape->length)
    x = make_term(
        write_code(g, "zip %s %s", atom_text(g, x), atom_text(g, y)),
        array_shape(g, x.shape->length, pair_shape(g, x.shape->parts[0], y.shape->parts[0])));
  return make_atom(write_code(g, "(let %s = %s in %s)", name, xs.text, x.text), x.shape);
}

// The array given to a function that takes it apart.
static term step_apply(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)row;
  static const uint64_t lengths[] = {2, 4, 1, 8};
  request r = {.parameters = {xs.shape}, .parameter_count = 1, .factor = 1};
  uint64_t length = k == KEEP_NOTHING ? lengths[draw_below(g, 4)] : xs.shape->length;
  const shape *e = xs.shape->parts[0];
  r.wanted = k == KEEP_SHAPE ? xs.shape : array_shape(g, length, draw_shape(g, s, e));
  term f = function_term(g, s, &r);
  return call_term(g, f.text, xs, f.shape);
}

// One of two, by a size; the other is never looked at.
static term step_by_size(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  scope inner = *s;
  const char *name = fresh_name(g, "a");
  add_variable(g, &inner, name, xs.shape);
  term x = apply_steps(g, &inner, make_atom(name, xs.shape), 2, KEEP_SHAPE);
  uint64_t least = UINT64_C(1) << draw_below(g, 6);
  bool first = xs.shape->length > least;
  return make_atom(write_code(g, "(let %s = %s in if length %s > %u then %s else %s)", name,
                              xs.text, name, (unsigned)least, first ? x.text : name,
                              first ? name : x.text),
                   x.shape);
}

// ---- the table -------------------------------------------------------------------------------

// clang-format off
static const step array_steps[] = {
    {"map", 50, 0, KEEP_SHAPE, 1, 0, step_map},
    {"mapi", 16, 0, KEEP_SHAPE, 1, 0, step_map},
    {"parm", 44, HALVES, KEEP_SHAPE, 2, 0, step_parm},
    {"parmi", 28, HALVES, KEEP_SHAPE, 2, 0, step_parm},
    {"two", 16, HALVES, KEEP_SHAPE, 2, 0, step_parm},
    {"column", 44, HALVES, KEEP_SHAPE, 2, 0, step_column},
    {"bmmc", 30, POWER, KEEP_SHAPE, 1, 0, step_bmmc},
    {"reverse", 8, POWER, KEEP_SHAPE, 1, 0, step_named},
    {"bitrev", 8, POWER, KEEP_SHAPE, 1, 0, step_named},
    {"shuffle", 5, POWER, KEEP_SHAPE, 1, 0, step_named},
    {"unshuffle", 5, POWER, KEEP_SHAPE, 1, 0, step_named},
    {"gray", 5, POWER, KEEP_SHAPE, 1, 0, step_named},
    {"ungray", 5, POWER, KEEP_SHAPE, 1, 0, step_named},
    {"flip_bits", 5, POWER, KEEP_SHAPE, 1, 0, step_reorder},
    {"rotate_bits", 5, HALVES, KEEP_SHAPE, 1, 0, step_reorder},
    {"digitrev", 4, HALVES, KEEP_SHAPE, 1, 0, step_reorder},
    {"bit_permute", 4, HALVES, KEEP_SHAPE, 1, 0, step_reorder},
    {"zip", 12, 0, KEEP_LENGTH, 1, 0, step_zip},
    {"zip_with", 22, 0, KEEP_SHAPE, 2, 0, step_zip_with},
    {"unzip", 14, PAIRS, KEEP_SHAPE, 1, 0, step_unzip},
    {"take", 8, 0, KEEP_NOTHING, 1, 0, step_part},
    {"drop", 8, 0, KEEP_NOTHING, 1, 0, step_part},
    {"concat", 10, EXACT, KEEP_NOTHING, 1, 0, step_concat},
    {"replicate", 6, 0, KEEP_NOTHING, 1, 0, step_replicate},
    {"extended", 7, EXACT, KEEP_LENGTH, 2, 0, step_extended},
    {"padded", 14, EXACT, KEEP_SHAPE, 2, 0, step_padded},
    {"split", 14, 0, KEEP_NOTHING, 1, 0, step_split},
    {"join", 60, ROWS, KEEP_NOTHING, 1, 0, step_join},
    {"transpose", 60, SQUARE, KEEP_SHAPE, 1, 0, step_transpose},
    {"blocks", 16, FILLED, KEEP_SHAPE, 1, 0, step_blocks},
    {"columns", 8, POWER, KEEP_SHAPE, 3, 0, step_blocks},
    {"down", 50, SQUARE, KEEP_SHAPE, 3, 0, step_down},
    {"pairs to one", 10, HALVES, KEEP_NOTHING, 1, 0, step_pairs_to_one},
    {"comprehension", 8, SHORT | FILLED, KEEP_SHAPE, 2, 0, step_comprehension},
    {"gather", 5, SHORT | FILLED, KEEP_LENGTH, 2, 0, step_gather},
    {"iter", 8, EXACT, KEEP_SHAPE, 2, 0, step_iter},
    {"let of an array", 12, 0, KEEP_SHAPE, 2, 0, step_share},
    {"function of an array", 10, SHORT, KEEP_SHAPE, 1, 0, step_apply},
    {"by size", 5, 0, KEEP_SHAPE, 2, 0, step_by_size},
    {"recursion", 22, POWER | EXACT, KEEP_SHAPE, 3, 1, step_recursive},
};
// clang-format on
enum { ARRAY_STEPS = sizeof array_steps / sizeof *array_steps };

static const step *step_number(size_t i) {
  size_t own = ARRAY_STEPS, library = own + library_step_count;
  return i < own       ? &array_steps[i]
         : i < library ? &library_steps[i - own]
                       : &place_steps[i - library];
}

// Some programs do without some of the steps, so that others meet more often (Groce and others,
// Swarm testing, 2012).
static bool left_out(const generator *g, size_t i) {
  uint64_t key = (uint64_t)g->swarm * 64 + i;
  return g->swarm && hash_bytes(&key, sizeof key) % 3 == 0;
}

static uint64_t step_cost(const step *row, const shape *s) {
  uint64_t levels = 1, n = s->length ? 64 - (uint64_t)__builtin_clzll(s->length) : 1;
  for (int i = 0; i < row->levels; i++)
    levels *= n;
  return row->cost * levels * shape_size(s);
}

static term draw_step(generator *g, const scope *s, term xs, keep k) {
  enum { MOST = 128 };
  uint32_t weights[MOST];
  unsigned features = features_of(xs.shape);
  size_t count = ARRAY_STEPS + library_step_count + (g->options->places ? place_step_count : 0);
  for (size_t i = 0; i < count; i++) {
    const step *row = step_number(i);
    bool good = (features & row->needs) == row->needs && row->keeps >= k && !left_out(g, i);
    weights[i] = good ? row->weight : 0;
    if (features & ROWS && row->make == step_map)  // what is inside of rows is worth the most
      weights[i] *= 3;
  }
  const step *row = step_number(draw_weighted(g, weights, count));
  g->budget--;
  bool good = (features & row->needs) == row->needs && row->keeps >= k;
  if (!good || !pay_for(g, s, step_cost(row, xs.shape)))
    return xs;
  term made = row->make(g, s, xs, k, row);
  if (made.text)
    mark_used(g, row->name);
  return made.text ? made : xs;
}

term apply_step(generator *g, const scope *s, term xs, keep k) {
  open_span(g);
  term made = draw_step(g, s, xs, k);
  close_span(g);
  return made;
}

term apply_steps(generator *g, const scope *s, term xs, unsigned count, keep k) {
  for (unsigned i = 0; i < count && g->budget > 0 && xs.shape->kind == SHAPE_ARRAY; i++)
    xs = apply_step(g, s, xs, k);
  return xs;
}
