// The rule `thin`, of arrays between stages: where only every 2^d-th element is read, the others
// are not in memory.
//
//   stage 0 n=2 loops 8                                    stage 0 n=2 loops 8
//     store v4 in a1 at 4*o0 + x0 + 2*x1 live x0             store v4 in a1 at o0 live x0 x1
//   stage 1 n=3                                    ->      stage 1 n=3
//     v0 = load a1 at 4*x0 + 8*x1 + 16*x2                    v0 = load a1 at x0 + 2*x1 + 4*x2
//
// Sums of rows lie so, a row apart, until this rule: a stage that reads many of them, as a product
// with a matrix does, would read a line of memory for each.
#include "fusion/rules/rewriting.h"

static int zeros_below(int64_t number) { return number ? f2_lsb((uint64_t)number) : F2_MAX; }

static int least(int a, int b) { return a < b ? a : b; }

static bool is_power(int64_t weight) { return weight > 0 && !(weight & (weight - 1)); }

// All addresses of the map are multiples of 2^(that). Of a store (`digits`), where the rows that weigh
// less are 0, and nowhere else: such rows are digits of the address.
static int zeros_of_addresses(const net_map *m, bool digits) {
  int zeros = zeros_below(m->offset);
  uint64_t found = 0;
  for (uint32_t i = 0; i < m->loop_count; i++)
    zeros = least(zeros, zeros_below(m->strides[i]));
  for (uint32_t i = 0; i < m->row_count; i++) {
    int64_t weight = m->rows[i].weight;
    if (digits && is_power(weight) && !(found & (uint64_t)weight))
      found |= (uint64_t)weight;
    else
      zeros = least(zeros, zeros_below(weight));
  }
  return zeros;
}

static net_map divided(arena *a, const net_map *m, int zeros) {
  net_map to = net_map_new(a, m->loop_count, m->row_count);
  to.offset = m->offset >> zeros;
  for (uint32_t i = 0; i < m->loop_count; i++)
    to.strides[i] = m->strides[i] >> zeros;
  to.row_count = 0;
  for (uint32_t i = 0; i < m->row_count; i++)
    if (zeros_below(m->rows[i].weight) >= zeros)
      to.rows[to.row_count++] = (net_row){m->rows[i].form, m->rows[i].weight >> zeros};
  net_map_normalise(&to);
  return to;
}

// How many multiples of 2^zeros are below the number, which may be UINT64_MAX for no end.
static uint64_t multiples_below(uint64_t number, int zeros) {
  return number == UINT64_MAX ? number : number / f2_unit(zeros) + (number % f2_unit(zeros) != 0);
}

// Live where it was and its address is such a multiple.
static void thin_store(rewriter *r, net_store *store, int zeros) {
  uint32_t count = store->live_count;
  net_form *live = NEW_ARRAY(r->memory, net_form, count + store->map.row_count + 1);
  for (uint32_t i = 0; i < count; i++)
    live[i] = store->live[i];
  for (uint32_t i = 0; i < store->map.row_count; i++)
    if (zeros_below(store->map.rows[i].weight) < zeros)
      live[count++] = store->map.rows[i].form;
  store->live = live_forms(r->memory, live_set(r->stage->n, count, live), &store->live_count);
  store->map = divided(r->memory, &store->map, zeros);
  store->padding_start = multiples_below(store->padding_start, zeros);
}

static void thin_stage(rewriter *r, const int *zeros) {
  net_stage *s = r->stage;
  for (size_t i = 0; i < s->loads.count; i++) {
    net_load *load = &s->loads.items[i];
    if (!zeros[load->array])
      continue;
    load->map = divided(r->memory, &load->map, zeros[load->array]);
    load->padding_start = multiples_below(load->padding_start, zeros[load->array]);
    r->changed = true;
  }
  for (size_t i = 0; i < s->stores.count; i++) {
    net_store *store = &s->stores.items[i];
    if (!zeros[store->array])
      continue;
    thin_store(r, store, zeros[store->array]);
    r->step = r->net->arrays.items[store->array].step;
    rewriter_fired(r, RULE_THIN, 0, 0);
  }
}

// By array: d, or 0.
static int *find_zeros(arena *a, const net *t) {
  int *zeros = NEW_ARRAY(a, int, t->arrays.count + 1);
  bool *loaded = NEW_ARRAY(a, bool, t->arrays.count + 1);
  for (size_t i = 0; i < t->arrays.count; i++)
    zeros[i] = t->arrays.items[i].role == NET_TEMPORARY && !t->arrays.items[i].part_of ? F2_MAX : 0;
  for (size_t i = 0; i < t->stages.count; i++) {
    const net_stage *s = &t->stages.items[i];
    for (net_access at = {0}; net_access_next(s, &at);) {
      int some = at.by == NET_BY_LOAD    ? zeros_of_addresses(&s->loads.items[at.number].map, false)
                 : at.by == NET_BY_STORE ? zeros_of_addresses(&s->stores.items[at.number].map, true)
                                         : 0;
      zeros[at.array] = least(zeros[at.array], some);
      loaded[at.array] |= at.by == NET_BY_LOAD;
    }
  }
  for (size_t i = 0; i < t->arrays.count; i++)
    if (!loaded[i] || t->arrays.items[i].count == 1)
      zeros[i] = 0;
  return zeros;
}

void net_thin_arrays(rewriter *rewriters, net *t) {
  const int *zeros = find_zeros(rewriters->memory, t);
  for (size_t i = 0; i < t->stages.count; i++)
    thin_stage(&rewriters[i], zeros);
  for (size_t i = 0; i < t->arrays.count; i++)
    t->arrays.items[i].count = multiples_below(t->arrays.items[i].count, zeros[i]);
}
