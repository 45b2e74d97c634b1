// Subsets of a tile and maps on them, as bases and tables. See pass.h.
#include "runtime/portable/pass.h"

uint64_t tile_position_mask(const tile *t, uint64_t mask) {
  uint64_t positions = 0;
  for (int i = 0; i < t->d; i++)
    positions |= (uint64_t)f2_dot(mask, t->basis[i]) << i;
  return positions;
}

uint64_t tile_position(const tile *t, uint64_t vector) {
  uint64_t position = 0;
  bool is_in_tile = f2_coordinates(t->d, t->basis, vector, &position);
  assert(is_in_tile);
  (void)is_in_tile;
  return position;
}

uint64_t tile_index(const tile *t, const tile_item *item, uint64_t position) {
  return item->base ^ f2_combine(t->d, t->basis, position);
}

// ---- sets ---------------------------------------------------------------------------------------

// Adds one form. Invariants: basis spans the positions where all independent forms are 0, in order
// of their leading bits; solutions[i] changes independent form i and no other.
static void add_form(tile_set *s, uint64_t mask, net_form form) {
  int pivot = 0;
  while (pivot < s->dimension && !f2_dot(mask, s->basis[pivot]))
    pivot++;
  if (pivot == s->dimension) {
    uint64_t relation = 0;
    for (uint32_t i = 0; i < s->independent_count; i++)
      relation |= (uint64_t)f2_dot(mask, s->solutions[i]) << i;
    s->relations[s->dependent_count] = relation;
    s->dependent[s->dependent_count++] = form;
    return;
  }
  uint64_t vector = s->basis[pivot];
  s->dimension--;
  for (int i = pivot; i < s->dimension; i++)
    s->basis[i] = s->basis[i + 1] ^ (f2_dot(mask, s->basis[i + 1]) ? vector : 0);
  s->basis[s->dimension] = 0;
  for (uint32_t i = 0; i < s->independent_count; i++)
    s->solutions[i] ^= f2_dot(mask, s->solutions[i]) ? vector : 0;
  s->solutions[s->independent_count] = vector;
  s->independent[s->independent_count++] = form;
}

void tile_set_find_run(const tile *t, tile_set *s) {
  s->run = 0;
  while (s->run < s->dimension && s->basis[s->run] == f2_unit(s->run))
    s->run++;
  uint64_t others = ~f2_mask(s->run);
  for (int i = s->run; i < s->dimension; i++)
    s->basis[i] &= others;
  for (uint32_t i = 0; i < s->independent_count; i++)
    s->solutions[i] &= others;
  if (s->run == t->d)
    s->run += t->batch_bits;
}

void tile_set_prepare(arena *a, const tile *t, uint32_t count, const net_form *forms,
                      tile_set *out) {
  *out = (tile_set){.dimension = t->d};
  out->independent = NEW_ARRAY(a, net_form, count);
  out->dependent = NEW_ARRAY(a, net_form, count);
  out->solutions = NEW_ARRAY(a, uint64_t, count);
  out->relations = NEW_ARRAY(a, uint64_t, count);
  for (int i = 0; i < t->d; i++)
    out->basis[i] = f2_unit(i);
  for (uint32_t i = 0; i < count; i++)
    add_form(out, tile_position_mask(t, forms[i].mask), forms[i]);
  tile_set_find_run(t, out);
}

void tile_set_order(tile_set *s, int count, const uint64_t *vectors) {
  f2_echelon taken = {{0}, {0}};
  uint64_t basis[F2_MAX];
  int dimension = 0;
  for (int i = 0; i < count + s->dimension; i++) {
    uint64_t vector = i < count ? vectors[i] : s->basis[i - count];
    if (f2_echelon_insert(&taken, vector, 0, NULL))
      basis[dimension++] = vector;
  }
  assert(dimension == s->dimension);
  for (int i = 0; i < dimension; i++)
    s->basis[i] = basis[i];
  s->run = 0;
}

void tile_set_tabulate(arena *a, const tile *t, tile_set *s, int chunk_bits) {
  int most = s->dimension + t->batch_bits;
  s->chunk_bits = chunk_bits < most ? chunk_bits : most;
  uint32_t *low = NEW_ARRAY(a, uint32_t, (size_t)1 << s->chunk_bits);
  for (int i = 0; i < s->chunk_bits; i++) {
    uint64_t vector = i < s->dimension ? s->basis[i] : f2_unit(t->d + i - s->dimension);
    for (uint32_t k = 0; k < UINT32_C(1) << i; k++)
      low[(UINT32_C(1) << i) + k] = low[k] ^ (uint32_t)vector;
  }
  s->low = low;
}

bool tile_set_start(const tile_set *s, uint64_t base, uint64_t *origin) {
  uint64_t constants = 0;
  *origin = 0;
  for (uint32_t i = 0; i < s->independent_count; i++)
    if (net_form_at(s->independent[i], base)) {
      constants |= f2_unit((int)i);
      *origin ^= s->solutions[i];
    }
  for (uint32_t i = 0; i < s->dependent_count; i++)
    if (net_form_at(s->dependent[i], base) != f2_dot(s->relations[i], constants))
      return false;
  return true;
}

uint64_t tile_set_high(const tile *t, const tile_set *s, uint64_t number) {
  uint64_t batch = number >> s->dimension;
  return f2_combine(s->dimension, s->basis, number) ^ batch << t->d;
}

// ---- maps ---------------------------------------------------------------------------------------

// A xor_sum has few enough rows; a map of more is a sum of several.
tile_map tile_map_of(arena *a, const tile *t, const net_map *m) {
  tile_map out = {.map = m, .words = NEW_ARRAY(a, tile_word, m->row_count)};
  uint64_t units[F2_MAX];
  c_space index = {.blocks = (uint32_t)t->stage->n, .block = units};
  for (int i = 0; i < t->stage->n; i++)
    units[i] = f2_unit(i);
  out.offset = (uint64_t)m->offset;
  for (uint32_t first = 0; first < m->row_count; first += C_ROWS) {
    uint32_t rest = m->row_count - first;
    net_map part = {.row_count = rest < C_ROWS ? rest : C_ROWS, .rows = m->rows + first};
    xor_sum sum = xor_sum_of(a, &part, &index, 1);
    xor_word words[C_ROWS];
    uint32_t count = xor_sum_words(a, &sum, f2_mask((int)sum.rows), words);
    out.offset += sum.offset;
    for (uint32_t i = 0; i < count; i++)
      out.words[out.word_count++] = (tile_word){.index = words[i]};
  }
  return out;
}

// What changes in a word when the position changes by `vector`.
static uint64_t word_change(const tile *t, const tile_word *w, uint64_t vector) {
  return f2_combine(t->stage->n, w->index.column, f2_combine(t->d, t->basis, vector));
}

static void tabulate_word(arena *a, const tile *t, const tile_set *s, int bits, tile_word *w) {
  for (int i = 0; i < s->dimension; i++)
    w->columns[i] = word_change(t, w, s->basis[i]);
  w->low = NEW_ARRAY(a, uint64_t, (size_t)1 << bits);
  for (int i = 0; i < bits; i++)
    for (size_t k = 0; k < (size_t)1 << i; k++)
      w->low[((size_t)1 << i) + k] = w->low[k] ^ w->columns[i];
}

// Whether the lowest u bits of numbers count through 2^u values by 1.
static bool counts_up(const tile_map *m, int u) {
  bool found = u == 0;
  for (uint32_t g = 0; g < m->word_count; g++) {
    const tile_word *w = &m->words[g];
    bool this_one = !found && w->index.odd == 1;
    for (int i = 0; this_one && i < m->dimension; i++)
      this_one = i < u ? w->columns[i] == f2_unit(i) : (w->columns[i] & f2_mask(u)) == 0;
    for (int i = 0; !this_one && i < u; i++)
      if (w->columns[i] != 0)
        return false;
    found |= this_one;
  }
  return found;
}

void tile_map_tabulate(arena *a, const tile *t, const tile_set *s, tile_map *m) {
  m->dimension = s->dimension;
  m->chunk_bits = s->chunk_bits < s->dimension ? s->chunk_bits : s->dimension;
  for (uint32_t g = 0; g < m->word_count; g++)
    tabulate_word(a, t, s, m->chunk_bits, &m->words[g]);
  m->run = m->chunk_bits;
  while (!counts_up(m, m->run))
    m->run--;
}

int tile_map_lines(const tile *t, const tile_map *m, const tile_set *s, int most, uint64_t *out) {
  uint64_t columns[F2_MAX], which;
  int count = 0;
  if (m->word_count != 1 || m->words[0].index.odd != 1)
    return 0;
  for (int i = 0; i < s->dimension; i++)
    columns[i] = word_change(t, &m->words[0], s->basis[i]);
  for (; count < most && f2_coordinates(s->dimension, columns, f2_unit(count), &which); count++)
    out[count] = f2_combine(s->dimension, s->basis, which);
  return count;
}

void tile_set_align(const tile *t, const tile_map *m, tile_set *s, int count) {
  for (int i = count; i < s->dimension; i++)
    s->basis[i] ^= f2_combine(count, s->basis, word_change(t, &m->words[0], s->basis[i]));
}

void tile_map_start(const tile *t, const tile_map *m, uint64_t x, uint64_t *constants) {
  for (uint32_t g = 0; g < m->word_count; g++)
    constants[g] =
        m->words[g].index.constant ^ f2_combine(t->stage->n, m->words[g].index.column, x);
}

uint64_t tile_loop_step(const tile *t, const net_map *m) {
  uint32_t loops = m->loop_count;
  uint64_t stride = loops ? (uint64_t)m->strides[loops - 1] : 0;
  return t->stage->paces && loops ? stride * t->stage->paces[loops - 1].step : stride;
}

int64_t tile_loop_offset(const tile *t, const net_map *m, uint64_t loop, uint64_t *left) {
  uint64_t sum = 0;
  *left = 1;
  for (uint32_t l = m->loop_count; l-- > 0;) {
    uint64_t extent = t->stage->extents[l];
    uint64_t turn = loop % extent;
    sum += (uint64_t)m->strides[l] * net_loop_index(t->stage, l, turn);
    if (l == m->loop_count - 1)  // the last turn of a pace is not always a step from the one before
      *left = t->stage->paces && turn + 1 < extent ? extent - 1 - turn : extent - turn;
    loop /= extent;
  }
  return (int64_t)sum;
}

// The values of one iteration.
static void add_values(const tile_map *m, const uint64_t *constants, uint64_t number,
                       int stride_bits, size_t count, uint64_t offset, uint64_t *out) {
  uint64_t above = number & ~f2_mask(m->chunk_bits), within = number & f2_mask(m->chunk_bits);
  for (size_t i = 0; m->word_count != 1 && i < count; i++)
    out[i] = offset;
  for (uint32_t k = 0; k < m->word_count; k++) {
    const tile_word *g = &m->words[k];
    const uint64_t *low = g->low + within;
    uint64_t constant = constants[k] ^ f2_combine(m->dimension, g->columns, above),
             odd = g->index.odd;
    if (m->word_count > 1)
      for (size_t i = 0; i < count; i++)
        out[i] += odd * (low[i << stride_bits] ^ constant);
    else if (odd != 1)
      for (size_t i = 0; i < count; i++)
        out[i] = offset + odd * (low[i << stride_bits] ^ constant);
    else if (stride_bits > 0)
      for (size_t i = 0; i < count; i++)
        out[i] = offset + (low[i << stride_bits] ^ constant);
    else
      for (size_t i = 0; i < count; i++)
        out[i] = offset + (low[i] ^ constant);
  }
}

// Iterations number, number + 1, ... of a set of one position, which has `value`.
static void add_iterations(const tile *t, const tile_map *m, uint64_t loop, uint64_t value,
                           size_t count, uint64_t *out) {
  uint64_t step = tile_loop_step(t, m->map);
  for (size_t i = 0; i < count;) {
    uint64_t left = 1;
    uint64_t at = value + (uint64_t)tile_loop_offset(t, m->map, loop + i, &left);
    for (size_t end = count - i < left ? count : i + left; i < end; i++, at += step)
      out[i] = at;
  }
}

void tile_map_values(const tile *t, const tile_map *m, const tile_item *item,
                     const uint64_t *constants, uint64_t number, int stride_bits, size_t count,
                     int64_t *out) {
  uint64_t *values = (uint64_t *)out, offset = m->offset, left = 0, at = 0;
  uint64_t loop = item->loop + (number >> m->dimension), within = number & f2_mask(m->dimension);
  uint64_t step = tile_loop_step(t, m->map);
  if (m->dimension == 0) {
    add_values(m, constants, 0, 0, 1, offset, &at);
    add_iterations(t, m, loop, at, count, values);
    return;
  }
  size_t each = (size_t)((f2_unit(m->dimension) - within) >> stride_bits);
  for (size_t i = 0; i < count; i += each, loop++, at += step, left--) {
    if (left == 0)
      at = offset + (uint64_t)tile_loop_offset(t, m->map, loop, &left);
    size_t some = count - i < each ? count - i : each;
    add_values(m, constants, within, stride_bits, some, at, values + i);
  }
}
