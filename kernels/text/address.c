#include "kernels/text/address.h"

#include <stdio.h>

// ---- maps ------------------------------------------------------------------------------------

// Rows of one mask become one row, and a negative weight w of a row f is w + (-w) (f ^ 1): so that
// weights are positive and rows few.
static void add_row(c_map *m, uint64_t *masks, net_row row, uint64_t scale) {
  uint64_t weight = (uint64_t)row.weight * scale;
  if (row.form.constant) {  // w (f ^ 1) = w - w f
    m->offset += weight;
    weight = 0 - weight;
  }
  if (row.form.mask == 0)
    return;
  uint32_t r = 0;
  while (r < m->rows && masks[r] != row.form.mask)
    r++;
  if (r == m->rows) {
    assert(r < C_ROWS);
    masks[m->rows++] = row.form.mask;
  }
  m->weight[r] += weight;
}

static void make_positive(c_map *m, uint64_t *masks) {
  uint32_t kept = 0;
  for (uint32_t r = 0; r < m->rows; r++) {
    uint64_t weight = m->weight[r];
    bool negative = weight >> 63;
    if (weight == 0)
      continue;
    m->offset += negative ? weight : 0;
    m->constant |= (uint64_t)negative << kept;
    masks[kept] = masks[r];
    m->weight[kept++] = negative ? 0 - weight : weight;
  }
  m->rows = kept;
}

static uint64_t image(const c_map *m, const uint64_t *masks, uint64_t x) {
  uint64_t bits = 0;
  for (uint32_t r = 0; r < m->rows; r++)
    bits |= (uint64_t)f2_dot(masks[r], x) << r;
  return bits;
}

bool c_map_fits(const net_map *map) {
  uint32_t masks = 1;  // and perhaps the part's
  for (uint32_t r = 0; r < map->row_count; r++) {
    uint32_t before = 0;
    while (before < r && map->rows[before].form.mask != map->rows[r].form.mask)
      before++;
    masks += before == r;
  }
  return masks <= C_ROWS;
}

static c_map map_in(const c_space *s) {
  return (c_map){.blocks = s->blocks, .threads = s->threads, .vectors = s->r + s->l};
}

static void add_part(c_map *m, uint64_t weight) {
  m->vector[m->vectors++] = f2_unit((int)m->rows);
  m->weight[m->rows++] = weight;
}

static void set_images(c_map *m, const uint64_t *masks, const c_space *s) {
  for (uint32_t i = 0; i < s->blocks; i++)
    m->block[i] = image(m, masks, s->block[i]);
  for (uint32_t i = 0; i < s->threads; i++)
    m->thread[i] = image(m, masks, s->basis[s->r + s->l + i]);
  for (uint32_t i = 0; i < s->r + s->l; i++)
    m->vector[i] = image(m, masks, s->basis[i]);
}

c_map c_map_of(c_writer *w, const net_map *map, const c_space *s, uint32_t parts) {
  c_map m = map_in(s);
  uint64_t masks[C_ROWS] = {0};
  m.offset = (uint64_t)map->offset * parts;
  for (uint32_t r = 0; r < map->row_count; r++)
    add_row(&m, masks, map->rows[r], parts);
  make_positive(&m, masks);
  int64_t *strides = NEW_ARRAY(w->memory, int64_t, map->loop_count);
  for (uint32_t i = 0; i < map->loop_count; i++)
    strides[i] = (int64_t)((uint64_t)map->strides[i] * parts);
  m.loops = map->loop_count;
  m.strides = strides;
  set_images(&m, masks, s);
  if (parts > 1)
    add_part(&m, 1);
  return m;
}

c_map c_map_of_forms(uint32_t count, const net_form *forms, const c_space *s) {
  c_map m = map_in(s);
  uint64_t masks[C_ROWS];
  assert(count <= C_ROWS);
  m.rows = count;
  for (uint32_t r = 0; r < count; r++) {
    masks[r] = forms[r].mask;
    m.weight[r] = 1;
    m.constant |= (uint64_t)forms[r].constant << r;
  }
  set_images(&m, masks, s);
  return m;
}

c_map c_map_of_scratch(const uint64_t *exchange, const c_space *s, uint32_t parts) {
  c_map m = map_in(s);
  m.scratch = true;
  m.rows = s->r + s->l + s->threads;
  m.blocks = s->shift ? s->blocks : 0;
  for (uint32_t i = 0; i < m.blocks; i++) {
    bool found = f2_coordinates((int)m.rows, exchange, s->shift[i], &m.block[i]);
    assert(found);
    (void)found;
  }
  for (uint32_t r = 0; r < m.rows; r++)
    m.weight[r] = f2_unit((int)r);
  for (uint32_t i = 0; i < m.rows; i++) {
    uint64_t *out = i < m.vectors ? &m.vector[i] : &m.thread[i - m.vectors];
    bool found = f2_coordinates((int)m.rows, exchange, s->basis[i], out);
    assert(found);
    (void)found;
  }
  if (parts > 1)
    add_part(&m, f2_unit((int)m.rows));
  return m;
}

void c_map_share_banks(c_map *m, uint32_t lanes, uint32_t shared) {
  if (lanes + shared > m->rows)
    return;
  for (uint32_t r = 0; r < lanes + shared; r++)
    m->weight[r] = f2_unit((int)(r < lanes ? r + shared : r - lanes));
}

void c_map_in_bytes(c_map *m, uint32_t bytes) {
  m->bytes = true;
  for (uint32_t r = 0; r < m->rows; r++)
    m->weight[r] *= bytes;
}

static uint64_t any_of(uint32_t count, const uint64_t *words, uint64_t which) {
  uint64_t any = 0;
  for (uint32_t i = 0; i < count; i++)
    any |= f2_bit(which, (int)i) ? words[i] : 0;
  return any;
}

uint64_t c_map_rows_of_blocks(const c_map *m) { return any_of(m->blocks, m->block, UINT64_MAX); }
uint64_t c_map_rows_of_threads(const c_map *m) { return any_of(m->threads, m->thread, UINT64_MAX); }
uint64_t c_map_rows_of(const c_map *m, uint64_t which) {
  return any_of(m->vectors, m->vector, which);
}

uint64_t c_map_bits(const c_map *m, uint64_t x) {
  uint64_t bits = m->constant;
  for (; x != 0; x &= x - 1)
    bits ^= m->vector[f2_lsb(x)];
  return bits;
}

uint64_t c_map_sum(const c_map *m, uint64_t rows) {
  uint64_t sum = 0;
  for (; rows != 0; rows &= rows - 1)
    sum += m->weight[f2_lsb(rows)];
  return sum;
}

// ---- groups ----------------------------------------------------------------------------------

static int place_of(uint64_t weight) { return f2_lsb(weight); }
static uint64_t odd_of(uint64_t weight) { return weight >> place_of(weight); }

static bool belongs(const c_map *m, const c_group *g, uint64_t weight) {
  for (uint64_t rest = g->rows; rest != 0; rest &= rest - 1)
    if (m->weight[f2_lsb(rest)] == weight)
      return false;
  return g->odd == odd_of(weight);
}

uint32_t c_map_groups(const c_map *m, uint64_t rows, c_group *groups) {
  uint32_t count = 0;
  for (; rows != 0; rows &= rows - 1) {
    uint64_t weight = m->weight[f2_lsb(rows)];
    uint32_t g = 0;
    while (g < count && !belongs(m, &groups[g], weight))
      g++;
    if (g == count)
      groups[count++] = (c_group){.odd = odd_of(weight)};
    groups[g].rows |= f2_unit(f2_lsb(rows));
  }
  return count;
}

uint64_t c_map_packed(const c_map *m, uint64_t rows, uint64_t bits) {
  uint64_t word = 0;
  for (uint64_t rest = rows & bits; rest != 0; rest &= rest - 1)
    word |= f2_unit(place_of(m->weight[f2_lsb(rest)]));
  return word;
}

// On a GPU it is a word of 32 bits, which shifts would leave.
const char *c_thread(const c_writer *w) {
  return w->warps && !strcmp(w->index, "uint64_t") ? "(uint64_t)t" : "t";
}

static const char *linear_of(c_writer *w, const c_map *m, uint64_t rows, bool of_threads) {
  uint64_t value[F2_MAX];
  uint32_t count = of_threads ? m->threads : m->blocks;
  for (uint32_t i = 0; i < count; i++)
    value[i] = c_map_packed(m, rows, of_threads ? m->thread[i] : m->block[i]);
  const char *thread = m->scratch ? "t" : c_thread(w);
  return c_linear(w, of_threads ? thread : "b", count, value, of_threads);
}

static bool is_zero(const char *expression) { return strcmp(expression, "0") == 0; }

static const char *turned(c_writer *w, const char *expression, uint64_t by) {
  return by ? c_format(w, "%s ^ %s", expression, c_number(w, by)) : expression;
}

// `sum` plus odd * expression.
static const char *plus(c_writer *w, const char *sum, uint64_t odd, const char *expression) {
  if (is_zero(expression))
    return sum;
  const char *term = odd == 1 ? c_format(w, "(%s)", expression)
                              : c_format(w, "%s * (%s)", c_number(w, odd), expression);
  return is_zero(sum) ? term : c_format(w, "%s + %s", sum, term);
}

// The sum over rows that only blocks, or only threads, touch. What they are at index 0 goes in by
// XOR, too.
static const char *sum_of(c_writer *w, const c_map *m, uint64_t rows, bool of_threads) {
  const char *sum = "0";
  c_group groups[C_ROWS];
  uint32_t count = c_map_groups(m, rows, groups);
  for (uint32_t g = 0; g < count; g++)
    sum = plus(w, sum, groups[g].odd,
               turned(w, linear_of(w, m, groups[g].rows, of_threads),
                      c_map_packed(m, groups[g].rows, m->constant)));
  return sum;
}

// ---- in the code -----------------------------------------------------------------------------

static const char *fixed_part(c_writer *w, const c_map *m, uint64_t rows) {
  const char *sum = "0";
  for (uint32_t i = 0; i < m->loops; i++)
    if (m->strides[i] != 0)
      sum = c_format(w, "%s%s%lld * o%u", is_zero(sum) ? "" : sum, is_zero(sum) ? "" : " + ",
                     (long long)m->strides[i], i);
  return plus(w, sum, 1, sum_of(w, m, rows, false));
}

// GPUs have no 64-bit integers of their own.
static const char *sum_type(const c_writer *w, const c_map *m) {
  return w->warps && m->scratch ? "uint32_t" : "int64_t";
}

// A variable for item `joined` thread, both expressions: in the item if threads have no part in it.
// Its name, or "0".
static void declare(c_writer *w, char name[16], const char *letter, const char *type,
                    const char *item, const char *joined, const char *thread) {
  const char *before = "";
  snprintf(name, 16, "0");
  if (!is_zero(item)) {
    snprintf(name, 16, "%s%u", letter, w->next++);
    c_item(w, "const %s %s = %s;", type, name, item);
    before = c_format(w, "%s%s", name, joined);
  }
  if (!is_zero(thread)) {
    snprintf(name, 16, "%s%u", letter, w->next++);
    c_line(w, "const %s %s = %s%s;", type, name, before, thread);
  }
}

static void declare_group(c_writer *w, const c_map *m, c_group *g) {
  declare(w, g->name, "g", w->index, linear_of(w, m, g->rows, false), " ^ ",
          linear_of(w, m, g->rows, true));
}

c_bound c_bind(c_writer *w, const c_map *m, uint64_t without) {
  c_bound b = {.map = m};
  uint64_t blocks = c_map_rows_of_blocks(m) & ~without,
           threads = c_map_rows_of_threads(m) & ~without, vectors = c_map_rows_of(m, UINT64_MAX);
  b.mixed = (blocks | threads) & vectors;
  b.uniform = (blocks | threads) & ~vectors;
  b.group_count = c_map_groups(m, b.mixed, b.group);
  for (uint32_t g = 0; g < b.group_count; g++)
    declare_group(w, m, &b.group[g]);

  const char *item = fixed_part(w, m, blocks & ~threads & ~vectors);
  const char *thread = sum_of(w, m, threads & ~blocks & ~vectors, true);
  c_group both[C_ROWS];
  uint32_t count = c_map_groups(m, blocks & threads & ~vectors, both);
  for (uint32_t g = 0; g < count; g++) {
    declare_group(w, m, &both[g]);
    thread = plus(w, thread, both[g].odd,
                  turned(w, both[g].name, c_map_packed(m, both[g].rows, m->constant)));
  }
  declare(w, b.sum, "u", sum_type(w, m), item, " + ", thread);
  return b;
}

// Rows that w decides alone, and the constant ones.
static uint64_t constant_at(const c_bound *b, uint64_t x) {
  return b->map->offset + c_map_sum(b->map, c_map_bits(b->map, x) & ~(b->mixed | b->uniform));
}

bool c_bound_constant(const c_bound *b, uint64_t x, int64_t *out) {
  *out = (int64_t)constant_at(b, x);
  return b->group_count == 0;
}

const char *c_bound_rest(c_writer *w, const c_bound *b, uint64_t x) {
  const char *sum = "0";
  uint64_t bits = c_map_bits(b->map, x), constant = constant_at(b, x);
  if (b->group_count == 0)
    return c_format(w, "%lld", (long long)constant);
  for (uint32_t g = 0; g < b->group_count; g++) {
    uint64_t turned = c_map_packed(b->map, b->group[g].rows, bits);
    const char *group =
        turned ? c_format(w, "%s ^ %s", b->group[g].name, c_number(w, turned)) : b->group[g].name;
    sum = plus(w, sum, b->group[g].odd, group);
  }
  // The constant by itself, so that it can be part of the instruction.
  if (b->map->bytes)
    return c_format(w, "%s + %s", sum, c_number(w, constant));
  return c_format(w, "(%s)(%s + %s)", sum_type(w, b->map), sum, c_number(w, constant));
}

const char *c_bind_bits(c_writer *w, const c_map *m, uint32_t count, const uint32_t *rows) {
  uint64_t block[F2_MAX] = {0}, thread[F2_MAX] = {0};
  for (uint32_t k = 0; k < count; k++) {
    for (uint32_t i = 0; i < m->blocks; i++)
      block[i] |= (uint64_t)f2_bit(m->block[i], (int)rows[k]) << k;
    for (uint32_t i = 0; i < m->threads; i++)
      thread[i] |= (uint64_t)f2_bit(m->thread[i], (int)rows[k]) << k;
  }
  char name[16];
  declare(w, name, "d", w->index, c_linear(w, "b", m->blocks, block, false), " ^ ",
          c_linear(w, c_thread(w), m->threads, thread, true));
  return is_zero(name) ? NULL : c_format(w, "%s", name);
}
