// Where the elements of an op lie in a stage: the frame (F, f), the directions D, and the forms
// that read z and j off an index. See place.c for what they are for, lowering.h for their fields.
#include "fusion/lower/lowering.h"

void placement_set_axes(placement *f, const axes *s) {
  f->axes = *s;
  f->p = 0;
  uint32_t loops = 0;
  for (uint32_t i = s->count; i-- > 0;)
    if (s->extents[i] == 2) {
      f->axis_bit[i] = (uint8_t)f->p;
      f->bit_axis[f->p++] = i;
    }
  for (uint32_t i = 0; i < s->count; i++)
    if (s->extents[i] != 2)
      f->loop_axis[loops++] = i;
}

// Whether vectors of so many bits are independent; those with no bit in common are.
static bool are_independent(int bits, int count, const uint64_t *vectors) {
  uint64_t seen = 0;
  for (int i = 0; i < count; i++) {
    if (!vectors[i] || seen & vectors[i])
      return f2_span(bits, count, vectors).dimension == count;
    seen |= vectors[i];
  }
  return true;
}

bool placement_columns(const placement *f, const net_map *m, uint64_t *columns) {
  if (m->row_count > F2_MAX)
    return false;
  memset(columns, 0, sizeof *columns * (size_t)f->p);
  for (uint32_t r = 0; r < m->row_count; r++)
    for (uint64_t mask = m->rows[r].form.mask; mask; mask &= mask - 1)
      columns[f->axis_bit[f2_lsb(mask)]] |= f2_unit((int)r);
  return are_independent((int)m->row_count, f->p, columns);
}

typedef struct numbered {
  uint64_t number;
  uint32_t operand;
} numbered;

static int compare_numbered(const void *a, const void *b) {
  const numbered *x = a, *y = b;
  if (x->number != y->number)
    return x->number < y->number ? -1 : 1;
  return (x->operand > y->operand) - (x->operand < y->operand);
}

// Whether values are an affine map of numbers, values[i] = values[0] ^ A (numbers[i] ^ numbers[0]);
// what it does to differences of numbers.
static bool fit_affine(f2_echelon *differences, uint32_t count, const uint64_t *numbers,
                       const uint64_t *values) {
  bool fits = true;
  *differences = (f2_echelon){0};
  for (uint32_t i = 1; i < count; i++) {
    uint64_t relation = 0;
    f2_echelon_insert(differences, numbers[i] ^ *numbers, values[i] ^ *values, &relation);
    fits &= !relation;
  }
  return fits;
}

// Directions by the bits of the pattern's numbers, off the image and off each other, as far as the
// operands have such. False: the operands' places are not those of their numbers.
static bool find_numbered_directions(placement *f, uint32_t count, const uint64_t *origins,
                                     const uint64_t *numbers, f2_space image) {
  enum { MOST_BITS = 6 };
  f2_echelon differences;
  bool fits = fit_affine(&differences, count, numbers, origins);
  for (f->k = 0; f->k < MOST_BITS && differences.vector[f->k]; f->k++) {
    f->directions[f->k] = fitted_delta(&differences, f->k, f->directions);
    if (!f2_space_insert(&image, f->directions[f->k]))
      break;
  }
  for (uint32_t i = 0; i < count; i++)
    fits &= !(numbers[i] >> f->k);
  return fits;
}

bool placement_find_directions(placement *f, uint32_t count, const uint64_t *origins,
                               const uint64_t *numbers, int rows) {
  enum { MOST_DEAD = 6 };  // log2: elements of a coset for each operand
  f2_space image = f2_span(rows, f->p, f->columns), differences = f2_space_zero(rows);
  f->numbered = find_numbered_directions(f, count, origins, numbers, image);
  f->origin = *origins ^ f2_combine(f->k, f->directions, *numbers);
  f->base_number = 0;
  for (int b = 0; b < f->k; b++)
    f->numbers[b] = f2_unit(b);
  if (f->numbered)
    return true;
  numbered *sorted = NEW_ARRAY(f->l->memory, numbered, count);
  for (uint32_t i = 0; i < count; i++)
    sorted[i] = (numbered){numbers[i], i};
  qsort(sorted, count, sizeof *sorted, compare_numbered);
  f->k = 0;
  f->origin = origins[sorted->operand];
  f->base_number = sorted->number;
  for (uint32_t i = 1; i < count; i++) {
    uint64_t x = origins[sorted[i].operand] ^ f->origin;
    if (f2_space_has(differences, x))
      continue;
    if (!f2_space_insert(&image, x))
      return false;
    f2_space_insert(&differences, x);
    f->numbers[f->k] = sorted[i].number;
    f->directions[f->k++] = x;
  }
  return f2_unit(f->k) >> MOST_DEAD <= count;
}

bool placement_same_numbers(const placement *f, const placement *g) {
  bool same = f->base_number == g->base_number && f->numbered == g->numbered;
  for (int i = 0; i < g->k && i < f->k; i++)
    same = same && f->numbers[i] == g->numbers[i] &&
           f->numbers[i] != (i ? f->numbers[i - 1] : f->base_number);
  return same;
}

bool placement_find_partners(placement *f, uint32_t count, const uint64_t *origins,
                             const uint64_t *numbers, int rows) {
  enum { MOST_PARTNERS = 4 };  // log2: of elements for each of which the expression is written
  f2_space image = f2_span(rows, f->p, f->columns), all = f2_space_zero(rows);
  find_numbered_directions(f, count, origins, numbers, image);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t x = origins[i] ^ f2_combine(f->k, f->directions, numbers[i]);
    if (numbers[i] >> f->k && f->k)
      return false;
    f->origin = i ? f->origin : x;
    if (!f2_space_has(image, x ^ f->origin) || all.dimension > MOST_PARTNERS)
      return false;
    f2_space_insert(&all, x ^ f->origin);
  }
  if (!all.dimension || all.dimension + f->k > MOST_PARTNERS)
    return false;
  f->numbered = true;
  f->partner_count = all.dimension;
  memcpy(f->partners, all.basis, (size_t)all.dimension * sizeof *f->partners);
  return true;
}

f2_space placement_spread(const placement *f, const storage *held) {
  f2_space spread = f2_space_zero(f->n);
  f2_matrix to_index = storage_frame(f->l, held).a;
  for (int i = 0; i < held->spread_count; i++)
    f2_space_insert(&spread, f2_apply(to_index, held->spread[i]));
  return spread;
}

bool placement_take_apart(const placement *f, uint32_t count, uint64_t *origins,
                          const f2_space *spreads) {
  f2_space used = f2_span(f->n, f->p, f->columns), differences = f2_space_zero(f->n);
  for (uint32_t i = 1; i < count; i++) {
    bool found = false;
    for (int k = -1; k < spreads[i].dimension && !found; k++) {
      uint64_t place = k < 0 ? origins[i] : origins[i] ^ spreads[i].basis[k];
      uint64_t x = place ^ origins[0];
      found = f2_space_has(differences, x);
      if (!found && f2_space_insert(&used, x))
        found = f2_space_insert(&differences, x);
      origins[i] = found ? place : origins[i];
    }
    if (!found)
      return false;
  }
  return true;
}

void placement_add_directions(placement *f, int k, f2_space first) {
  net_stage *s = stage_of(f->l, f->stage);
  f2_space used = f2_span(f->n, f->p, f->columns);
  for (int i = 0; i < f->k; i++)
    f2_space_insert(&used, f->directions[i]);
  for (int i = 0; i < first.dimension && f->k < k; i++)
    if (f2_space_insert(&used, first.basis[i]))
      f->directions[f->k++] = first.basis[i];
  for (size_t i = s->ops.count; i-- > 0 && used.dimension < f->n;)
    for (uint32_t d = 0; d < s->ops.items[i].k && f->k < k; d++)
      if (f2_space_insert(&used, s->ops.items[i].directions[d]))
        f->directions[f->k++] = s->ops.items[i].directions[d];
  for (int i = 0; i < f->n && f->k < k; i++)
    if (f2_space_insert(&used, f2_unit(i)))
      f->directions[f->k++] = f2_unit(i);
  while (f->k < k)
    f->directions[f->k++] = f2_unit(stage_widen(f->l, f->stage));
  f->n = stage_of(f->l, f->stage)->n;
  placement_find_forms(f);
}

uint64_t placement_element(const placement *f, uint64_t origin) {
  uint64_t j = 0, both[F2_MAX];
  memcpy(both, f->partners, (size_t)f->partner_count * sizeof *both);
  memcpy(both + f->partner_count, f->directions, (size_t)f->k * sizeof *both);
  ensure(f2_coordinates(f->partner_count + f->k, both, origin ^ f->origin, &j));
  return j;
}

f2_matrix placement_basis(const placement *f, int k) {
  return completed_basis(f->n, f->p, f->columns, k, f->directions);
}

// The rows of the inverse of a basis are forms of the coordinates in it.
static void find_coordinates(const placement *f, f2_matrix basis, int count, net_form *forms) {
  f2_matrix inverse;
  ensure(f2_inverse(basis, &inverse));
  for (int i = 0; i < count; i++)
    forms[i] = (net_form){inverse.row[i], f2_dot(inverse.row[i], f->origin)};
}

void placement_find_forms(placement *f) {
  int q = f->partner_count;
  find_coordinates(f, placement_basis(f, f->k), f->n, f->forms);
  if (q)
    find_coordinates(f, completed_basis(f->n, q, f->partners, f->k, f->directions), q,
                     f->partner_forms);
}

net_map placement_map(const placement *f, const net_map *m, const uint64_t *deltas) {
  arena *a = f->l->memory;
  uint32_t loops = stage_of(f->l, f->stage)->loop_count;
  net_map r = net_map_new(a, loops, m->row_count);
  r.offset = m->offset;
  for (uint32_t k = 0; k < loops; k++)
    r.strides[k] = map_stride(m, f->loop_axis[k]);
  for (uint32_t i = 0; i < m->row_count; i++) {
    r.rows[i] = (net_row){{0, m->rows[i].form.constant}, m->rows[i].weight};
    for (uint64_t mask = m->rows[i].form.mask; mask; mask &= mask - 1)
      r.rows[i].form = net_form_sum(r.rows[i].form, f->forms[f->axis_bit[f2_lsb(mask)]]);
    for (int k = 0; deltas && k < f->k; k++)
      if (f2_bit(deltas[k], (int)i))
        r.rows[i].form = net_form_sum(r.rows[i].form, f->forms[f->p + k]);
  }
  net_map_normalise(&r);
  return r;
}

net_form *placement_live(const placement *f, int first, uint32_t *count) {
  net_form *forms = NEW_ARRAY(f->l->memory, net_form, f->n + 1);
  *count = (uint32_t)(f->n - first);
  memcpy(forms, f->forms + first, *count * sizeof *forms);
  return forms;
}
