// Copies of arrays that a stage reads across their lines, again and again. See planning.h.
//
//   stage 0 n=24                                      stage 0 n=15
//     v0 = load a1 at x0 + ... + 32*x5                  load a1, store in a3 at 512*x0 + ... + x6 + ...
//              + 64*x6 + ... + 16384*x14         ->   stage 1 n=24
//     v1 = load a0 at x0 + ... + 32*x5 + 64*x15 + ...   v0 = load a3 at 512*x0 + ... + x6 + ...
//     store v7 in a2 at x6 + ... + 131072*x23           v1, store: as before
//
// Rows of a1 are columns of a3: a product of two matrices whose rows are multiplied. The lanes of its
// vectors are then elements of the result, none of which is moved to another lane.
#include "core/number.h"
#include "fusion/plan/planning.h"

enum { USES_LEAST = 32, ELEMENTS_LEAST = 1 << 16 };

// The stride in the map of what has the lowest bits of the store's address: a loop, or bits that have
// one stride. 0: there is none.
static int64_t lane_stride(const net_stage *s, const net_map *store, const net_map *load) {
  for (uint32_t i = 0; i < s->loop_count; i++)
    if (store->strides[i] == 1)
      return load->strides[i];
  int64_t stride = 0, weight = 1;
  for (uint32_t i = 0; i < store->row_count && store->rows[i].weight == weight; i++, weight *= 2) {
    const net_row *row = net_map_row(load, store->rows[i].form.mask);
    if (!row || store->rows[i].form.constant || row->form.constant ||
        (i && row->weight != stride * weight))
      return i < 3 ? 0 : stride;
    stride = i ? stride : row->weight;
  }
  return stride;
}

// Addresses stride * high + low as high + low * highs.
typedef struct columns {
  uint64_t stride, highs, lows;
} columns;

static void grow(columns *c, uint64_t weight, uint64_t turns) {
  if (weight % c->stride)
    c->lows += weight * turns;
  else
    c->highs += weight / c->stride * turns;
}

static int64_t turned(const columns *c, int64_t weight) {
  return weight % (int64_t)c->stride ? weight * (int64_t)c->highs : weight / (int64_t)c->stride;
}

// What the load reads, if a copy is worth it.
static bool find_columns(const net_stage *s, const net_load *load, uint64_t count, columns *c) {
  const net_map *m = &load->map;
  int64_t stride = s->stores.count ? lane_stride(s, &s->stores.items[0].map, m) : 0;
  bool good = stride > 1 && m->offset >= 0;
  if (!good)
    return false;
  *c = (columns){.stride = (uint64_t)stride,
                 .highs = (uint64_t)(m->offset / stride) + 1,
                 .lows = (uint64_t)(m->offset % stride) + 1};
  for (uint32_t i = 0; i < m->loop_count; i++) {
    good = good && m->strides[i] >= 0 && (uint64_t)m->strides[i] <= count;
    if (good)
      grow(c, (uint64_t)m->strides[i], s->extents[i] - 1);
  }
  for (uint32_t i = 0; i < m->row_count; i++) {
    good = good && !m->rows[i].form.constant && (uint64_t)m->rows[i].weight <= 2 * count;
    if (good)
      grow(c, (uint64_t)m->rows[i].weight, 1);
  }
  return good && c->lows > 1 && c->highs <= 2 * count / c->lows &&
         net_stage_elements(s) / USES_LEAST >= c->highs * c->lows;
}

// A dimension of so many turns: bits, or a loop. `copy` has room for it.
static void add_dimension(net_stage *copy, net_map *from, net_map *to, uint64_t turns,
                          uint64_t stride, uint64_t place) {
  if (!is_power_of_two(turns)) {
    uint32_t loop = copy->loop_count++;
    copy->extents[loop] = turns;
    from->strides[loop] = (int64_t)stride;
    to->strides[loop] = (int64_t)place;
    from->loop_count = to->loop_count = copy->loop_count;
    return;
  }
  for (uint64_t i = 1; i < turns; i *= 2, copy->n++) {
    const net_form bit = {f2_unit(copy->n), false};
    from->rows[from->row_count++] = (net_row){bit, (int64_t)(stride * i)};
    to->rows[to->row_count++] = (net_row){bit, (int64_t)(place * i)};
  }
}

static void add_copy(const rewriting *r, net *to, const columns *c, net_load *load) {
  enum { LOOPS = 2, ROWS = 64 };
  arena *a = r->memory;
  scalar_type type = r->stage->values.items[load->value];
  net_stage copy = {.extents = NEW_ARRAY(a, uint64_t, LOOPS)};
  net_map from = net_map_new(a, LOOPS, ROWS), place = net_map_new(a, LOOPS, ROWS);
  from.row_count = place.row_count = from.loop_count = place.loop_count = 0;
  add_dimension(&copy, &from, &place, c->lows, 1, c->highs);
  add_dimension(&copy, &from, &place, c->highs, c->stride, 1);
  net_map_normalise(&from);
  net_map_normalise(&place);
  net_id array = net_array_add(a, to, type, c->highs * c->lows, NET_TEMPORARY, 0);
  to->arrays.items[array].reason = NET_REASON_SPREAD;
  to->arrays.items[array].step = NET_NONE;
  net_load old = *load;
  old.map = from;
  net_move_add(a, &copy, type, old,
               (net_store){.array = array, .map = place, .padding_start = UINT64_MAX});
  vec_push(a, &to->stages, copy);
  net_map map = net_map_copy(a, &load->map);
  map.offset = load->map.offset % (int64_t)c->stride * (int64_t)c->highs +
               load->map.offset / (int64_t)c->stride;
  for (uint32_t i = 0; i < map.loop_count; i++)
    map.strides[i] = turned(c, map.strides[i]);
  for (uint32_t i = 0; i < map.row_count; i++)
    map.rows[i].weight = turned(c, map.rows[i].weight);
  net_map_normalise(&map);
  *load = (net_load){.value = load->value, .array = array, .map = map, .padding_start = UINT64_MAX};
}

bool plan_rewrite_columns(const rewriting *r, net *to) {
  const net_stage *s = r->stage;
  net_stage made = *s;
  bool changed = false;
  columns c;
  if (!r->target->lane_bytes || !s->ops.count || s->paces || net_stage_elements(s) < ELEMENTS_LEAST)
    return false;
  memset(&made.loads, 0, sizeof made.loads);
  for (size_t i = 0; i < s->loads.count; i++) {
    net_load load = s->loads.items[i];
    if (find_columns(s, &load, r->net->arrays.items[load.array].count, &c)) {
      add_copy(r, to, &c, &load);
      changed = true;
    }
    vec_push(r->memory, &made.loads, load);
  }
  if (changed)
    vec_push(r->memory, &to->stages, made);
  return changed;
}
