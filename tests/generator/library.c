// Functions of the library: sorters, scans, transforms, and what makes one value of an array.
#include "tests/generator/generator.h"

static origin outer_origin(const generator *g, const shape *argument) {
  origin o = shape_origin(argument);
  return g->repeated && o < ORIGIN_PARAMETER ? ORIGIN_PARAMETER : o;
}

// ---- sorting ---------------------------------------------------------------------------------

// An order as a function: le x y.
static term order(generator *g, const scope *s, const shape *e, uint64_t factor) {
  if (!(shape_classes(e) & CLASS_COMPLEX) && !draw_chance(g, 50)) {
    static const char *const names[] = {"total_le", "(<=)", "(>=)", "(flip total_le)", "(<)"};
    return make_atom(names[draw_below(g, 5)], NULL);
  }
  request r = {.parameters = {e, e}, .parameter_count = 2, .factor = factor};
  r.wanted = scalar_shape(g, SCALAR_BOOL, ORIGIN_MOVED);
  return function_term(g, s, &r);
}

static uint64_t comparators(uint64_t length) {
  uint64_t n = 1;
  while (length >> n > 1)
    n++;
  return length / 2 * n * (n + 1) / 2;
}

static term step_sort_by(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  term le = order(g, s, xs.shape->parts[0], comparators(xs.shape->length));
  return call_term(g, write_code(g, "%s %s", row->name, le.text), xs, xs.shape);
}

term sort_key(generator *g, const scope *s, const shape *xs, uint64_t factor) {
  request r = {.parameters = {xs->parts[0]}, .parameter_count = 1, .factor = factor};
  r.wanted = scalar_shape(g, type_at_hand(g, s, CLASS_ANY), ORIGIN_MOVED);
  g->exact++;
  term key = function_term(g, s, &r);
  g->exact--;
  return key;
}

static term step_sort_on(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  term key = sort_key(g, s, xs.shape, 2 * comparators(xs.shape->length));
  return call_term(g, write_code(g, "%s %s", row->name, key.text), xs, xs.shape);
}

// Sorted by a network, or by places: which of equal NaN comes first differs.
static const shape *sorted_shape(generator *g, const shape *s) {
  return shape_classes(s) & CLASS_FLOAT ? at_least(g, s, ORIGIN_COMPUTED) : s;
}

static term step_sort(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)s, (void)k;
  return call_term(g, row->name, xs, sorted_shape(g, xs.shape));
}

static term step_places(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)s, (void)k;
  return call_term(g, row->name, xs,
                   array_shape(g, xs.shape->length, scalar_shape(g, SCALAR_I64, ORIGIN_MOVED)));
}

static term step_top(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  uint32_t length = (uint32_t)xs.shape->length;
  uint64_t top = draw_below(g, length < 40 ? length + 1 : 40);
  const char *count = static_text(g, s, (int64_t)top);
  return call_term(g, write_code(g, "%s %s", row->name, count), xs,
                   array_shape(g, top, sorted_shape(g, xs.shape->parts[0])));
}

static term step_top_by(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  uint32_t top = draw_below(g, (uint32_t)length_bits(xs.shape->length) + 1);
  const char *count = static_text(g, s, INT64_C(1) << top);
  term le = order(g, s, xs.shape->parts[0], 2 * xs.shape->length);
  return call_term(g, write_code(g, "%s %s %s", row->name, le.text, count), xs,
                   array_shape(g, UINT64_C(1) << top, xs.shape->parts[0]));
}

static term step_merge_sorted(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  static const uint64_t lengths[] = {1, 2, 3, 5, 0};
  uint64_t more = draw_chance(g, 50) ? xs.shape->length : lengths[draw_below(g, 5)];
  if (!pay_for(g, s, 20 * more * shape_size(xs.shape->parts[0])))
    return (term){0};
  term ys = value_term(g, s, array_shape(g, more, xs.shape->parts[0]), 0);
  return make_term(write_code(g, "merge_sorted %s %s", atom_text(g, xs), atom_text(g, ys)),
                   array_shape(g, more + xs.shape->length,
                               at_least(g, xs.shape->parts[0], shape_origin(ys.shape))));
}

// ---- scans and transforms --------------------------------------------------------------------

// A function of two elements that gives one, applied to its own results.
term operator_on(generator *g, const scope *s, const shape *e, uint64_t factor) {
  static const char *const names[] = {"(+)", "(*)", "max", "min", "(-)"};
  if (e->kind == SHAPE_SCALAR && (CLASS_OF(e->type) & CLASS_REAL) && !draw_chance(g, 50)) {
    uint32_t which = draw_below(g, 5);
    bool moves = which == 2 || which == 3;
    return make_atom(names[which], with_origin(g, e, moves ? e->origin : ORIGIN_COMPUTED));
  }
  request r = {.parameters = {e, e}, .parameter_count = 2, .wanted = e, .factor = factor};
  r.repeated = true;
  term f = function_term(g, s, &r);
  f.shape = resolve_origin(g, f.shape, outer_origin(g, e));
  return f;
}

static term step_scan(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  const shape *e = xs.shape->parts[0];
  uint64_t n = (uint64_t)length_bits(xs.shape->length);
  term f = operator_on(g, s, e, xs.shape->length / 2 * n);
  const shape *after = at_least(g, e, shape_origin(f.shape));
  return call_term(g, write_code(g, "scan %s", f.text), xs,
                   array_shape(g, xs.shape->length, after));
}

static term step_transform(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)s, (void)k;
  return call_term(g, row->name, xs, with_origin(g, xs.shape, ORIGIN_COMPUTED));
}

static term step_real_transform(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)s, (void)k;
  bool power = strcmp(row->name, "power_spectrum") == 0;
  scalar_type real = xs.shape->parts[0]->type, t = power ? real : scalar_complex_of(real);
  uint64_t length = power ? xs.shape->length / 2 + 1 : xs.shape->length;
  return call_term(g, row->name, xs, array_shape(g, length, scalar_shape(g, t, ORIGIN_COMPUTED)));
}

static term step_convolve(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k;
  term ys = value_term(g, s, xs.shape, 0);
  return make_term(write_code(g, "%s %s %s", row->name, atom_text(g, xs), atom_text(g, ys)),
                   with_origin(g, xs.shape, ORIGIN_COMPUTED));
}

static term step_plane(generator *g, const scope *s, term xs, keep k, const step *row) {
  if (!(features_of(xs.shape->parts[0]) & COMPLEXES))
    return (term){0};
  return step_transform(g, s, xs, k, row);
}

// ---- the table -------------------------------------------------------------------------------

// clang-format off
const step library_steps[] = {
    {"sort", 12, ORDERED | EXACT, KEEP_SHAPE, 4, 2, step_sort},
    {"sort_desc", 4, ORDERED | EXACT, KEEP_SHAPE, 4, 2, step_sort},
    {"sort_by", 8, POWER | SCALARS | EXACT, KEEP_SHAPE, 4, 2, step_sort_by},
    {"sort_on", 6, SCALARS | EXACT, KEEP_SHAPE, 6, 2, step_sort_on},
    {"sort_stable_on", 4, SCALARS | EXACT, KEEP_SHAPE, 8, 2, step_sort_on},
    {"argsort", 4, ORDERED | EXACT, KEEP_LENGTH, 6, 2, step_places},
    {"ranks", 3, ORDERED | EXACT, KEEP_LENGTH, 12, 2, step_places},
    {"merge", 5, POWER | ORDERED | EXACT, KEEP_SHAPE, 4, 1, step_named},
    {"merge_by", 4, POWER | SCALARS | EXACT, KEEP_SHAPE, 4, 1, step_sort_by},
    {"vcolumn", 6, POWER | ORDERED | EXACT, KEEP_SHAPE, 4, 0, step_named},
    {"balanced_sort", 3, POWER | ORDERED | EXACT, KEEP_SHAPE, 6, 2, step_named},
    {"balanced_merge", 4, POWER | ORDERED | EXACT, KEEP_SHAPE, 4, 1, step_named},
    {"periodic_sort", 3, POWER | ORDERED | EXACT, KEEP_SHAPE, 6, 2, step_named},
    {"bitonic_sort", 3, POWER | ORDERED | EXACT, KEEP_SHAPE, 6, 2, step_named},
    {"bitonic_merge", 4, POWER | ORDERED | EXACT, KEEP_SHAPE, 4, 1, step_named},
    {"odd_even_sort", 3, POWER | ORDERED | EXACT, KEEP_SHAPE, 10, 2, step_named},
    {"odd_even_merge", 3, POWER | ORDERED | EXACT, KEEP_SHAPE, 8, 1, step_named},
    {"top_k", 4, ORDERED | EXACT, KEEP_NOTHING, 4, 2, step_top},
    {"bottom_k", 4, ORDERED | EXACT, KEEP_NOTHING, 4, 2, step_top},
    {"top_k_by", 3, POWER | SCALARS | EXACT, KEEP_NOTHING, 4, 2, step_top_by},
    {"merge_sorted", 5, ORDERED | EXACT, KEEP_NOTHING, 12, 1, step_merge_sorted},
    {"padded maxval sort", 9, ORDERED | EXACT, KEEP_SHAPE, 8, 2, step_sort},
    {"scan", 10, POWER | SCALARS | EXACT, KEEP_SHAPE, 3, 1, step_scan},
    {"fwht", 7, POWER | NUMBERS | EXACT, KEEP_SHAPE, 3, 1, step_transform},
    {"ifwht", 4, POWER | FLOATS | EXACT, KEEP_SHAPE, 3, 1, step_transform},
    {"walsh", 4, POWER | NUMBERS | EXACT, KEEP_SHAPE, 3, 1, step_transform},
    {"iwalsh", 3, POWER | FLOATS | EXACT, KEEP_SHAPE, 3, 1, step_transform},
    {"fft", 24, POWER | COMPLEXES | EXACT, KEEP_SHAPE, 6, 1, step_transform},
    {"ifft", 8, POWER | COMPLEXES | EXACT, KEEP_SHAPE, 6, 1, step_transform},
    {"fft_real", 5, POWER | PARTS | EXACT, KEEP_LENGTH, 6, 1, step_real_transform},
    {"power_spectrum", 4, POWER | PARTS | EXACT, KEEP_NOTHING, 6, 1, step_real_transform},
    {"convolve", 5, POWER | COMPLEXES | EXACT, KEEP_SHAPE, 20, 1, step_convolve},
    {"correlate", 4, POWER | COMPLEXES | EXACT, KEEP_SHAPE, 20, 1, step_convolve},
    {"convolve_real", 4, POWER | PARTS | EXACT, KEEP_SHAPE, 20, 1, step_convolve},
    {"fft2", 60, SQUARE | EXACT, KEEP_SHAPE, 6, 1, step_plane},
    {"ifft2", 30, SQUARE | EXACT, KEEP_SHAPE, 6, 1, step_plane},
};
// clang-format on
const size_t library_step_count = sizeof library_steps / sizeof *library_steps;

// ---- one value of an array -------------------------------------------------------------------

typedef enum reduction_kind {
  OF_SAME,  // an array of what is wanted
  OF_BOOLS,
  OF_ORDERED,
  OF_ANY
} reduction_kind;

typedef struct reduction_row {
  const char *name;
  uint32_t weight;
  reduction_kind kind;
  scalar_class wanted;
  unsigned needs;  // of the array
  bool computes;
} reduction_row;

// clang-format off
static const reduction_row reductions[] = {
    {"head", 4, OF_SAME, CLASS_ANY, FILLED, false},
    {"last", 3, OF_SAME, CLASS_ANY, FILLED, false},
    {"sum", 6, OF_SAME, CLASS_NUM, 0, true},
    {"product", 3, OF_SAME, CLASS_NUM, 0, true},
    {"minimum", 4, OF_SAME, CLASS_ANY, 0, false},
    {"maximum", 4, OF_SAME, CLASS_ANY, 0, false},
    {"reduce", 7, OF_SAME, CLASS_ANY, POWER, false},
    {"all", 4, OF_BOOLS, CLASS_BOOL, 0, false},
    {"any", 4, OF_BOOLS, CLASS_BOOL, 0, false},
    {"is_sorted", 3, OF_ORDERED, CLASS_BOOL, 0, false},
    {"is_sorted_by", 2, OF_ANY, CLASS_BOOL, 0, false},
    {"count", 5, OF_ANY, CLASS_OF(SCALAR_I64), 0, false},
};
// clang-format on
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };

typedef struct array_wish {
  const reduction_row *row;
  const shape *wanted;
} array_wish;

static bool can_reduce(const shape *s, const void *with) {
  const array_wish *w = with;
  if (s->kind != SHAPE_ARRAY || shape_origin(s) == ORIGIN_ROUGH)
    return false;
  unsigned features = features_of(s);
  if ((features & w->row->needs) != w->row->needs || !(features & SCALARS))
    return false;
  switch (w->row->kind) {
  case OF_SAME:
    return shapes_agree(s->parts[0], w->wanted);
  case OF_BOOLS:
    return features & BOOLS;
  case OF_ORDERED:
    return features & ORDERED;
  default:
    return true;
  }
}

// The function, an atom but for its arguments.
static const char *reducer(generator *g, const scope *s, const reduction_row *row, const shape *xs,
                           origin *o) {
  const shape *e = xs->parts[0];
  if (strcmp(row->name, "reduce") == 0) {
    term f = operator_on(g, s, e, xs->length);
    *o = shape_origin(f.shape) > *o ? shape_origin(f.shape) : *o;
    return write_code(g, "reduce %s", f.text);
  }
  if (strcmp(row->name, "is_sorted_by") == 0)
    return write_code(g, "is_sorted_by %s", order(g, s, e, xs->length).text);
  if (strcmp(row->name, "count") == 0) {
    request r = {.parameters = {e}, .parameter_count = 1, .factor = xs->length};
    r.wanted = scalar_shape(g, SCALAR_BOOL, ORIGIN_MOVED);
    return write_code(g, "count %s", function_term(g, s, &r).text);
  }
  if (row->computes)
    *o = ORIGIN_COMPUTED;
  return row->name;
}

term reduction_term(generator *g, const scope *s, const shape *wanted) {
  uint32_t weights[REDUCTIONS];
  for (int i = 0; i < REDUCTIONS; i++)
    weights[i] = reductions[i].wanted & CLASS_OF(wanted->type) ? reductions[i].weight : 0;
  const reduction_row *row = &reductions[draw_weighted(g, weights, REDUCTIONS)];
  term xs = any_place_with(g, s, can_reduce, &(array_wish){row, wanted});
  if (!xs.text || !pay_for(g, s, 3 * shape_size(xs.shape)))
    return (term){0};
  mark_used(g, row->name);
  if (draw_chance(g, 40))
    xs = apply_steps(g, s, xs, 1, KEEP_SHAPE);
  origin o = shape_origin(xs.shape);
  const char *name = reducer(g, s, row, xs.shape, &o);
  return call_term(g, name, xs, scalar_shape(g, wanted->type, o));
}
