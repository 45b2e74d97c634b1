#include "kernels/schedule/xor_sum.h"

// ---- maps ------------------------------------------------------------------------------------

static uint64_t rows_flipped_by(const xor_sum *m, const uint64_t *masks, uint64_t x) {
  uint64_t bits = 0;
  for (uint32_t r = 0; r < m->rows; r++)
    bits |= (uint64_t)f2_dot(masks[r], x) << r;
  return bits;
}

static xor_sum empty_map(const c_space *s) {
  return (xor_sum){.blocks = s->blocks, .threads = s->threads, .vectors = s->r + s->l};
}

static void add_part(xor_sum *m, uint64_t weight) {
  m->vector[m->vectors++] = f2_unit((int)m->rows);
  m->weight[m->rows++] = weight;
}

static void set_flipped_rows(xor_sum *m, const uint64_t *masks, const c_space *s) {
  for (uint32_t i = 0; i < s->blocks; i++)
    m->block[i] = rows_flipped_by(m, masks, s->block[i]);
  for (uint32_t i = 0; i < s->threads; i++)
    m->thread[i] = rows_flipped_by(m, masks, s->basis[s->r + s->l + i]);
  for (uint32_t i = 0; i < s->r + s->l; i++)
    m->vector[i] = rows_flipped_by(m, masks, s->basis[i]);
}

xor_sum xor_sum_of(arena *memory, const net_map *map, const c_space *s, uint32_t parts) {
  xor_sum m = empty_map(s);
  uint64_t masks[C_ROWS] = {0};
  assert(map->row_count + (parts > 1) <= C_ROWS);
  m.rows = map->row_count;
  m.offset = (uint64_t)map->offset * parts;
  for (uint32_t r = 0; r < map->row_count; r++) {
    masks[r] = map->rows[r].form.mask;
    m.weight[r] = (uint64_t)map->rows[r].weight * parts;
    m.constant |= (uint64_t)map->rows[r].form.constant << r;
  }
  int64_t *strides = NEW_ARRAY(memory, int64_t, map->loop_count);
  for (uint32_t i = 0; i < map->loop_count; i++)
    strides[i] = (int64_t)((uint64_t)map->strides[i] * parts);
  m.loops = map->loop_count;
  m.strides = strides;
  set_flipped_rows(&m, masks, s);
  if (parts > 1)
    add_part(&m, 1);
  return m;
}

xor_sum xor_sum_of_forms(uint32_t count, const net_form *forms, const c_space *s) {
  xor_sum m = empty_map(s);
  uint64_t masks[C_ROWS];
  assert(count <= C_ROWS);
  m.rows = count;
  for (uint32_t r = 0; r < count; r++) {
    masks[r] = forms[r].mask;
    m.weight[r] = f2_unit((int)r);
    m.constant |= (uint64_t)forms[r].constant << r;
  }
  set_flipped_rows(&m, masks, s);
  return m;
}

xor_sum xor_sum_of_scratch(const uint64_t *exchange, const c_space *s, uint32_t parts) {
  xor_sum m = empty_map(s);
  m.scratch = true;
  m.rows = s->r + s->l + s->threads;
  m.blocks = s->shift ? s->blocks : 0;
  for (uint32_t i = 0; i < m.blocks; i++)
    m.block[i] = c_coordinates(m.rows, exchange, s->shift[i]);
  for (uint32_t i = 0; i < m.rows; i++) {
    m.weight[i] = f2_unit((int)i);
    *(i < m.vectors ? &m.vector[i] : &m.thread[i - m.vectors]) =
        c_coordinates(m.rows, exchange, s->basis[i]);
  }
  if (parts > 1)
    add_part(&m, f2_unit((int)m.rows));
  return m;
}

void xor_sum_share_banks(xor_sum *m, uint32_t lanes, uint32_t shared) {
  if (lanes + shared > m->rows)
    return;
  for (uint32_t r = 0; r < lanes + shared; r++)
    m->weight[r] = f2_unit((int)(r < lanes ? r + shared : r - lanes));
}

void xor_sum_keep_live(xor_sum *m, uint32_t dimension, const uint64_t *exchange, uint32_t count,
                       const net_form *live) {
  uint64_t kept = 0;
  f2_space known = f2_space_zero((int)m->rows);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t form = 0;
    for (uint32_t r = 0; r < dimension; r++)
      form |= (uint64_t)f2_dot(live[i].mask, exchange[r]) << r;
    f2_space_insert(&known, form);
  }
  for (uint32_t r = 0; r < m->rows; r++)
    if (f2_space_insert(&known, f2_unit((int)r)))
      kept |= f2_unit((int)r);
  m->rows = (uint32_t)f2_weight(kept);
  for (uint32_t i = 0; i < m->blocks; i++)
    m->block[i] = f2_extract(kept, m->block[i]);
  for (uint32_t i = 0; i < m->threads; i++)
    m->thread[i] = f2_extract(kept, m->thread[i]);
  for (uint32_t i = 0; i < m->vectors; i++)
    m->vector[i] = f2_extract(kept, m->vector[i]);
}

void xor_sum_in_bytes(xor_sum *m, uint32_t bytes) {
  m->bytes = true;
  for (uint32_t r = 0; r < m->rows; r++)
    m->weight[r] *= bytes;
}

static uint64_t any_rows(uint32_t count, const uint64_t *words, uint64_t which) {
  uint64_t any = 0;
  for (uint32_t i = 0; i < count; i++)
    any |= f2_bit(which, (int)i) ? words[i] : 0;
  return any;
}

uint64_t xor_sum_rows_of_blocks(const xor_sum *m) {
  return any_rows(m->blocks, m->block, UINT64_MAX);
}
uint64_t xor_sum_rows_of_threads(const xor_sum *m) {
  return any_rows(m->threads, m->thread, UINT64_MAX);
}
uint64_t xor_sum_rows_of(const xor_sum *m, uint64_t which) {
  return any_rows(m->vectors, m->vector, which);
}

uint64_t xor_sum_rows_at(const xor_sum *m, uint64_t x) {
  return m->constant ^ f2_combine((int)m->vectors, m->vector, x);
}

uint64_t xor_sum_weight(const xor_sum *m, uint64_t rows) {
  uint64_t sum = 0;
  for (; rows != 0; rows &= rows - 1)
    sum += m->weight[f2_lsb(rows)];
  return sum;
}

// ---- words -----------------------------------------------------------------------------------

static int bit_of_weight(uint64_t weight) { return f2_lsb(weight); }
static uint64_t odd_of(uint64_t weight) { return weight >> bit_of_weight(weight); }

// The rows that are among `bits`, each at its place in the word.
static uint64_t packed(const xor_sum *m, uint64_t rows, uint64_t bits) {
  uint64_t word = 0;
  for (uint64_t rest = rows & bits; rest != 0; rest &= rest - 1)
    word |= f2_unit(bit_of_weight(m->weight[f2_lsb(rest)]));
  return word;
}

static uint64_t *packed_columns(arena *memory, const xor_sum *m, uint64_t rows) {
  uint64_t *columns = NEW_ARRAY(memory, uint64_t, m->blocks + m->threads + m->vectors);
  uint64_t *column = columns;
  for (uint32_t i = 0; i < m->blocks; i++)
    *column++ = packed(m, rows, m->block[i]);
  for (uint32_t i = 0; i < m->threads; i++)
    *column++ = packed(m, rows, m->thread[i]);
  for (uint32_t i = 0; i < m->vectors; i++)
    *column++ = packed(m, rows, m->vector[i]);
  return columns;
}

// Rows of one weight are in different words.
uint32_t xor_sum_words(arena *memory, const xor_sum *m, uint64_t rows, xor_word *words) {
  uint64_t rows_of[C_ROWS], bits[C_ROWS];
  uint32_t count = 0;
  for (; rows != 0; rows &= rows - 1) {
    uint64_t weight = m->weight[f2_lsb(rows)], bit = f2_unit(bit_of_weight(weight));
    uint32_t g = 0;
    while (g < count && (words[g].odd != odd_of(weight) || (bits[g] & bit) != 0))
      g++;
    if (g == count) {
      words[count++].odd = odd_of(weight);
      rows_of[g] = bits[g] = 0;
    }
    rows_of[g] |= f2_unit(f2_lsb(rows));
    bits[g] |= bit;
  }
  for (uint32_t g = 0; g < count; g++) {
    words[g].constant = packed(m, rows_of[g], m->constant);
    words[g].column = packed_columns(memory, m, rows_of[g]);
  }
  return count;
}
