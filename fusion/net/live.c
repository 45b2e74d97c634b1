// Live sets, and the range and injectivity of maps on them. See net.h.
#include "core/number.h"
#include "fusion/net/net.h"

// ---- sets ------------------------------------------------------------------------------------

f2_space live_all(int n) {
  assert(n <= LIVE_MAX);
  return f2_space_zero(n + 1);
}

f2_space live_empty(int n) { return f2_space_full(n + 1); }

bool live_is_empty(f2_space s) { return f2_space_has(s, 1); }

uint64_t live_points(f2_space s) {
  return live_is_empty(s) ? 0 : UINT64_C(1) << (s.n - 1 - s.dimension);
}

// A set without points is one struct, too: all forms vanish on it.
static f2_space normalized(f2_space s) { return live_is_empty(s) ? f2_space_full(s.n) : s; }

f2_space live_set(int n, uint32_t count, const net_form *forms) {
  f2_space s = live_all(n);
  for (uint32_t i = 0; i < count; i++)
    f2_space_insert(&s, live_vector(forms[i]));
  return normalized(s);
}

f2_space live_where(f2_space s, net_form f) {
  f2_space_insert(&s, live_vector(f));
  return normalized(s);
}

f2_space live_intersection(f2_space s, f2_space t) { return normalized(f2_space_sum(s, t)); }

f2_space live_without(f2_space s, f2_space t) {
  f2_space both = live_intersection(s, t);
  if (both.dimension > s.dimension + 1 || live_is_empty(both))
    return s;
  for (int i = 0; i < t.dimension; i++) {
    net_form form = live_reduced(s, live_form(t.basis[i]));
    if (form.mask)
      return live_where(s, (net_form){form.mask, !form.constant});
  }
  return live_empty(s.n - 1);
}

bool live_within(f2_space s, f2_space t) { return f2_space_contains(s, t); }

f2_space live_hull(f2_space s, f2_space t) {
  if (s.dimension == 0 || t.dimension == 0)
    return f2_space_zero(s.n);
  return f2_space_intersection(s, t);
}

net_form live_reduced(f2_space s, net_form f) {
  return live_form(f2_space_reduce(s, live_vector(f)));
}

// The forms of s whose masks are orthogonal to the directions.
f2_space live_cosets(f2_space s, uint32_t k, const uint64_t *directions) {
  if (s.dimension == 0 || k == 0 || live_is_empty(s))
    return s;
  f2_space span = f2_space_zero(s.n);
  for (uint32_t i = 0; i < k; i++)
    f2_space_insert(&span, directions[i] << 1);
  return f2_space_intersection(s, f2_space_orthogonal(span));
}

f2_space live_element(f2_space s, uint32_t k, const net_form *coordinates, uint64_t j) {
  for (uint32_t i = 0; i < k; i++)
    f2_space_insert(&s, live_vector(coordinates[i]) ^ (j >> i & 1));
  return normalized(s);
}

f2_space live_directions(f2_space s) {
  f2_space masks = f2_space_zero(s.n - 1);
  for (int i = 0; i < s.dimension; i++)
    f2_space_insert(&masks, live_form(s.basis[i]).mask);
  return f2_space_orthogonal(masks);
}

net_form *live_forms(arena *a, f2_space s, uint32_t *count) {
  net_form *forms = NEW_ARRAY(a, net_form, s.dimension + 1);
  for (int i = 0; i < s.dimension; i++)
    forms[i] = live_form(s.basis[i]);
  *count = (uint32_t)s.dimension;
  return forms;
}

// ---- maps on them ----------------------------------------------------------------------------

// The map, where the index is in s. False if a number does not fit.
static bool reduce_map(arena *a, const net_map *m, f2_space s, net_map *out) {
  *out = net_map_copy(a, m);
  for (uint32_t r = 0; r < m->row_count; r++)
    out->rows[r].form = live_reduced(s, m->rows[r].form);
  return net_map_normalise(out);
}

static int rank_without(uint32_t count, const net_row *rows, uint32_t except) {
  f2_echelon e = {{0}, {0}};
  int sum = 0;
  for (uint32_t i = 0; i < count; i++)
    sum += i != except && f2_echelon_insert(&e, rows[i].form.mask, 0, NULL);
  return sum;
}

static bool widen_range(int64_t value, int64_t *low, int64_t *high) {
  return !__builtin_add_overflow(value < 0 ? *low : *high, value, value < 0 ? low : high);
}

enum { MOST_ENUMERATED = 12 };  // dimensions

// Rows that depend on others are tried in all their combinations, by Gray code.
static bool widen_dependent(uint32_t count, const net_row *rows, int64_t *low, int64_t *high) {
  f2_echelon e = {{0}, {0}};
  uint64_t basis[MOST_ENUMERATED];
  int dimension = 0;
  for (uint32_t i = 0; i < count; i++)
    if (f2_echelon_insert(&e, rows[i].form.mask, 0, NULL))
      basis[dimension++] = rows[i].form.mask;
  int64_t least = INT64_MAX, most = INT64_MIN;
  for (uint64_t x = 0; x < UINT64_C(1) << dimension; x++) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
      uint64_t of = 0;
      f2_coordinates(dimension, basis, rows[i].form.mask, &of);
      if (f2_dot(of, x) != rows[i].form.constant &&
          __builtin_add_overflow(sum, rows[i].weight, &sum))
        return false;
    }
    least = sum < least ? sum : least;
    most = sum > most ? sum : most;
  }
  return !__builtin_add_overflow(*low, least, low) && !__builtin_add_overflow(*high, most, high);
}

// A row that no relation contains takes both values whatever the others do.
static bool widen_rows(arena *a, const net_map *m, int64_t *low, int64_t *high) {
  int whole = rank_without(m->row_count, m->rows, m->row_count);
  bool independent = whole == (int)m->row_count;
  uint32_t count = 0;
  net_row *rows = NEW_ARRAY(a, net_row, m->row_count);
  for (uint32_t r = 0; r < m->row_count; r++)
    if (!independent && rank_without(m->row_count, m->rows, r) == whole)
      rows[count++] = m->rows[r];
    else if (!widen_range(m->rows[r].weight, low, high))
      return false;
  if (rank_without(count, rows, count) <= MOST_ENUMERATED)
    return widen_dependent(count, rows, low, high);
  for (uint32_t r = 0; r < count; r++)
    if (!widen_range(rows[r].weight, low, high))
      return false;
  return true;
}

bool live_map_range(arena *a, const net_map *m, const uint64_t *extents, f2_space s, int64_t *low,
                    int64_t *high) {
  net_map reduced;
  if (live_is_empty(s) || !reduce_map(a, m, s, &reduced))
    return false;
  *low = *high = reduced.offset;
  for (uint32_t l = 0; l < m->loop_count; l++) {
    int64_t last = 0;
    if (extents[l] == 0 || extents[l] - 1 > INT64_MAX ||
        __builtin_mul_overflow(m->strides[l], (int64_t)(extents[l] - 1), &last) ||
        !widen_range(last, low, high))
      return false;
  }
  return widen_rows(a, &reduced, low, high);
}

// ---- injectivity -----------------------------------------------------------------------------

// A digit 0 ... most of some weight.
typedef struct digit {
  uint64_t weight, most;
} digit;

// Whether each weight exceeds the largest sum of all smaller ones: then the sum tells the digits.
static bool digits_distinct(uint32_t count, digit *digits) {
  uint64_t sum = 0, part = 0;
  if (count > 1)
    qsort(digits, count, sizeof *digits, compare_u64);
  for (uint32_t i = 0; i < count; i++)
    if (digits[i].weight <= sum ||
        __builtin_mul_overflow(digits[i].weight, digits[i].most, &part) ||
        __builtin_add_overflow(sum, part, &sum))
      return false;
  return true;
}

enum { MOST_POINTS = 4096 };

// All points, if they are few.
static live_answer try_all_points(arena *a, const net_map *m, const uint64_t *extents, f2_space s) {
  uint64_t points = 1, loops = 1;
  for (uint32_t l = 0; l < m->loop_count; l++)
    if (__builtin_mul_overflow(loops, extents[l], &loops) || loops > MOST_POINTS)
      return LIVE_UNKNOWN;
  if (s.n - 1 > 12 || (points = loops << (s.n - 1)) > MOST_POINTS)
    return LIVE_UNKNOWN;
  uint64_t *values = NEW_ARRAY(a, uint64_t, points);
  uint64_t *o = NEW_ARRAY(a, uint64_t, m->loop_count), count = 0;
  for (uint64_t p = 0; p < points; p++) {
    uint64_t rest = p >> (s.n - 1), x = p & f2_mask(s.n - 1);
    for (uint32_t l = m->loop_count; l-- > 0; rest /= extents[l])
      o[l] = rest % extents[l];
    bool alive = true;
    for (int i = 0; i < s.dimension; i++)
      alive = alive && !net_form_at(live_form(s.basis[i]), x);
    if (alive)
      values[count++] = (uint64_t)net_map_at(m, o, x);
  }
  if (count > 1)
    qsort(values, count, sizeof *values, compare_u64);
  for (uint64_t i = 1; i < count; i++)
    if (values[i] == values[i - 1])
      return LIVE_NO;
  return LIVE_YES;
}

live_answer live_map_injective(arena *a, const net_map *m, const uint64_t *extents, f2_space s) {
  net_map reduced;
  uint32_t count = 0;
  digit *digits = NEW_ARRAY(a, digit, m->loop_count + m->row_count);
  if (live_is_empty(s))
    return LIVE_YES;
  for (uint32_t l = 0; l < m->loop_count; l++) {
    if (extents[l] == 0)
      return LIVE_YES;
    if (extents[l] > 1)
      digits[count++] = (digit){magnitude_of(m->strides[l]), extents[l] - 1};
    if (extents[l] > 1 && m->strides[l] == 0)
      return LIVE_NO;
  }
  if (!reduce_map(a, m, s, &reduced))
    return LIVE_UNKNOWN;
  // Two points where all rows agree have one value.
  if (rank_without(reduced.row_count, reduced.rows, reduced.row_count) < s.n - 1 - s.dimension)
    return LIVE_NO;
  for (uint32_t r = 0; r < reduced.row_count; r++)
    digits[count++] = (digit){magnitude_of(reduced.rows[r].weight), 1};
  if (digits_distinct(count, digits))
    return LIVE_YES;
  return try_all_points(a, m, extents, s);
}

f2_space live_of_op(const net_stage *s, const net_op *op) {
  return live_set(s->n, op->live_count, op->live);
}

f2_space live_of_output(const net_stage *s, const net_op *op, const net_output *output) {
  f2_space cosets = live_of_op(s, op), made = live_empty(s->n);
  bool whole = true;
  for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
    whole &= output->elements[j] != NET_NONE;
  for (uint64_t j = 0; j < UINT64_C(1) << op->k && !whole; j++)
    if (output->elements[j] != NET_NONE)
      made = live_hull(made, live_element(cosets, op->k, op->coordinates, j));
  return whole ? cosets : made;
}

f2_space live_of_value(const net_stage *s, net_id value) {
  for (size_t i = 0; i < s->ops.count; i++) {
    const net_op *op = &s->ops.items[i];
    for (uint32_t o = 0; o < op->output_count; o++)
      if (op->outputs[o].value == value)
        return live_of_output(s, op, &op->outputs[o]);
  }
  return live_all(s->n);
}
