#include "kernels/transfer/address.h"

#include <stdio.h>

// On a GPU it is a word of 32 bits, which shifts would leave.
const char *c_thread(const c_writer *w) {
  return w->warps && !strcmp(w->index, "uint64_t") ? "(uint64_t)t" : "t";
}

static const char *linear_rows(c_writer *w, const c_map *m, uint64_t rows, bool of_threads) {
  uint64_t value[F2_MAX];
  uint32_t count = of_threads ? m->threads : m->blocks;
  for (uint32_t i = 0; i < count; i++)
    value[i] = c_map_packed(m, rows, of_threads ? m->thread[i] : m->block[i]);
  const char *thread = m->scratch ? "t" : c_thread(w);
  return c_linear(w, of_threads ? thread : "b", count, value, of_threads);
}

static bool is_zero(const char *expression) { return strcmp(expression, "0") == 0; }

static const char *flipped(c_writer *w, const char *expression, uint64_t by) {
  return by ? c_format(w, "%s ^ %s", expression, c_number(w, by)) : expression;
}

// `sum` plus odd * expression.
static const char *add_term(c_writer *w, const char *sum, uint64_t odd, const char *expression) {
  if (is_zero(expression))
    return sum;
  const char *term = odd == 1 ? c_format(w, "(%s)", expression)
                              : c_format(w, "%s * (%s)", c_number(w, odd), expression);
  return is_zero(sum) ? term : c_format(w, "%s + %s", sum, term);
}

// The sum over rows that only blocks, or only threads, touch. What they are at index 0 goes in by
// XOR, too.
static const char *sum_rows(c_writer *w, const c_map *m, uint64_t rows, bool of_threads) {
  const char *sum = "0";
  c_group groups[C_ROWS];
  uint32_t count = c_map_groups(m, rows, groups);
  for (uint32_t g = 0; g < count; g++)
    sum = add_term(w, sum, groups[g].odd,
                   flipped(w, linear_rows(w, m, groups[g].rows, of_threads),
                           c_map_packed(m, groups[g].rows, m->constant)));
  return sum;
}

// ---- in the code -----------------------------------------------------------------------------

static const char *item_sum(c_writer *w, const c_map *m, uint64_t rows) {
  const char *sum = "0";
  for (uint32_t i = 0; i < m->loops; i++)
    if (m->strides[i] != 0)
      sum = c_format(w, "%s%s%lld * o%u", is_zero(sum) ? "" : sum, is_zero(sum) ? "" : " + ",
                     (long long)m->strides[i], i);
  return add_term(w, sum, 1, sum_rows(w, m, rows, false));
}

// GPUs have no 64-bit integers of their own.
static const char *sum_type(const c_writer *w, const c_map *m) {
  return w->warps && m->scratch ? "uint32_t" : "int64_t";
}

// A variable for item `joined` thread, both expressions: in the item if threads have no part in it.
// Its name, or "0".
static void declare_sum(c_writer *w, char name[16], const char *letter, const char *type,
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
  declare_sum(w, g->name, "g", w->index, linear_rows(w, m, g->rows, false), " ^ ",
              linear_rows(w, m, g->rows, true));
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

  const char *item = item_sum(w, m, blocks & ~threads & ~vectors);
  const char *thread = sum_rows(w, m, threads & ~blocks & ~vectors, true);
  c_group both[C_ROWS];
  uint32_t count = c_map_groups(m, blocks & threads & ~vectors, both);
  for (uint32_t g = 0; g < count; g++) {
    declare_group(w, m, &both[g]);
    thread = add_term(w, thread, both[g].odd,
                      flipped(w, both[g].name, c_map_packed(m, both[g].rows, m->constant)));
  }
  declare_sum(w, b.sum, "u", sum_type(w, m), item, " + ", thread);
  return b;
}

// Rows that w decides alone, and the constant ones.
static uint64_t constant_part(const c_bound *b, uint64_t x) {
  return b->map->offset + c_map_sum(b->map, c_map_bits(b->map, x) & ~(b->mixed | b->uniform));
}

bool c_bound_constant(const c_bound *b, uint64_t x, int64_t *out) {
  *out = (int64_t)constant_part(b, x);
  return b->group_count == 0;
}

const char *c_bound_rest(c_writer *w, const c_bound *b, uint64_t x) {
  const char *sum = "0";
  uint64_t bits = c_map_bits(b->map, x), constant = constant_part(b, x);
  if (b->group_count == 0)
    return c_format(w, "%lld", (long long)constant);
  for (uint32_t g = 0; g < b->group_count; g++) {
    uint64_t flipped = c_map_packed(b->map, b->group[g].rows, bits);
    const char *group =
        flipped ? c_format(w, "%s ^ %s", b->group[g].name, c_number(w, flipped)) : b->group[g].name;
    sum = add_term(w, sum, b->group[g].odd, group);
  }
  // The constant by itself, so that it can be part of the instruction.
  if (b->map->bytes)
    return c_format(w, "%s + %s", sum, c_number(w, constant));
  return c_format(w, "(%s)(%s + %s)", sum_type(w, b->map), sum, c_number(w, constant));
}

const char *c_bind_bits(c_writer *w, const c_map *m, uint64_t rows) {
  char name[16];
  declare_sum(w, name, "d", w->index, linear_rows(w, m, rows, false), " ^ ",
              linear_rows(w, m, rows, true));
  return is_zero(name) ? NULL : c_format(w, "%s", name);
}
