// Tables of roots of unity. scalar_root depends on k / m only, not on k and m, so that a table
// serves all orders that divide its own; and it is symmetric, so that one octant is computed.
#include "runtime/portable/pass.h"

enum { MOST_ROOTS = 1 << 20 };

const root_table *root_table_find(const root_table *tables, scalar_type type, uint64_t order) {
  for (const root_table *r = tables; r; r = r->next)
    if (r->type == type && r->order % order == 0)
      return r;
  return NULL;
}

static void negate(unsigned char *part, size_t size) { part[size - 1] ^= 0x80; }  // little-endian

// Root k from the first octant, folded as in scalar_root (core/scalar/math.c).
static void unfold(const root_table *r, uint64_t k, unsigned char *out) {
  size_t size = scalar_types[r->type].size, part = size / 2;
  uint64_t m = r->order;
  bool below = k > m / 2;
  k = below ? m - k : k;
  bool left = k > m / 4;
  k = left ? m / 2 - k : k;
  bool steep = k > m / 8;
  k = steep ? m / 4 - k : k;
  memcpy(out + (steep ? part : 0), r->roots + k * size, part);
  memcpy(out + (steep ? 0 : part), r->roots + k * size + part, part);
  if (left)
    negate(out, part);
  if (below)
    negate(out + part, part);
}

static void fill(root_table *r) {
  size_t size = scalar_types[r->type].size;
  uint64_t computed = r->order % 8 == 0 ? r->order / 8 + 1 : r->order;
  for (uint64_t k = 0; k < r->order; k++) {
    unsigned char *out = r->roots + k * size;
    if (k >= computed) {
      unfold(r, k, out);
      continue;
    }
    scalar_bits root = scalar_root(r->type, (int64_t)k, (int64_t)r->order);
    memcpy(out, root.bytes, size);
  }
}

static root_table *add_table(arena *a, root_table *tables, scalar_type type, uint64_t order) {
  root_table *r = NEW(a, root_table);
  *r = (root_table){type, order, NULL, tables};
  r->roots = arena_alloc(a, scalar_types[type].size * order);
  fill(r);
  return r;
}

// How often a stage may ask, as far as it matters.
static uint64_t points_of(const net_stage *s) {
  uint64_t count = s->n < 40 ? f2_unit(s->n) : MOST_ROOTS;
  for (uint32_t l = 0; l < s->loop_count && count < MOST_ROOTS; l++)
    count *= s->extents[l] < MOST_ROOTS ? s->extents[l] : MOST_ROOTS;
  return count;
}

// The largest order below `below` that any stage wants a table for; 0 if there is none.
static uint64_t next_order(const net *t, scalar_type type, uint64_t below) {
  uint64_t found = 0;
  for (size_t i = 0; i < t->stages.count; i++) {
    const net_stage *s = &t->stages.items[i];
    uint64_t most = points_of(s) < below - 1 ? points_of(s) : below - 1;
    for (size_t k = 0; k < s->nodes.count; k++) {
      const net_node *node = &s->nodes.items[k];
      if (node->kind == NET_ROOT && node->type == type && node->number <= most &&
          node->number > found)
        found = node->number;
    }
  }
  return found;
}

root_table *root_tables_new(arena *a, const net *t) {
  root_table *tables = NULL;
  for (scalar_type type = SCALAR_C64; type <= SCALAR_C128; type++)
    for (uint64_t order = MOST_ROOTS + 1; (order = next_order(t, type, order)) > 0;)
      if (!root_table_find(tables, type, order))
        tables = add_table(a, tables, type, order);
  return tables;
}
