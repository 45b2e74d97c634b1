// Tables of roots of unity, where that is less work than to compute each. scalar_root depends on
// k / m only, not on k and m, so that a table serves all orders that divide its own.
//
//   orders of a stage of 2^10 points: 8, 64, 1024, 3000       one table, of 1024 roots
#include "runtime/portable/pass.h"

#include "runtime/system/pool.h"

enum { MOST_ROOTS = 1 << 20 };

const root_table *root_table_find(const root_tables *t, scalar_type type, uint64_t order) {
  for (size_t i = 0; i < t->count; i++)
    if (t->items[i].type == type && t->items[i].order % order == 0)
      return &t->items[i];
  return NULL;
}

// The largest order below `below` of which a table is worth while: a stage reads as many roots.
// 0: there is none.
static uint64_t find_next_order(const net *t, scalar_type type, uint64_t below) {
  uint64_t largest = 0;
  for (size_t i = 0; i < t->stages.count; i++) {
    const net_stage *s = &t->stages.items[i];
    uint64_t elements = net_stage_elements(s), most = elements < below - 1 ? elements : below - 1;
    for (size_t k = 0; k < s->nodes.count; k++) {
      const net_node *node = &s->nodes.items[k];
      if (node->kind == NET_ROOT && node->type == type && node->number <= most &&
          node->number > largest)
        largest = node->number;
    }
  }
  return largest;
}

bool root_tables_make(root_tables *t, arena *a, const net *n) {
  VEC(root_table) tables = {0};
  for (scalar_type type = SCALAR_C64; type <= SCALAR_C128; type++)
    for (uint64_t order = MOST_ROOTS + 1; (order = find_next_order(n, type, order)) > 0;) {
      *t = (root_tables){.count = tables.count, .items = tables.items};
      if (!root_table_find(t, type, order))
        vec_push(a, &tables, ((root_table){.type = type, .order = order}));
    }
  permc_root_table *rows = NEW_ARRAY(a, permc_root_table, tables.count + 1);
  for (size_t i = 0; i < tables.count; i++)
    rows[i] = (permc_root_table){.m = tables.items[i].order,
                                 .part_bytes = scalar_types[tables.items[i].type].size / 2};
  *t = (root_tables){.items = tables.items};
  t->memory = roots_make(rows, &t->count, pool_processors());
  for (size_t i = 0; t->memory && i < t->count; i++)
    tables.items[i].roots = t->memory[i];
  return t->memory != NULL;
}
