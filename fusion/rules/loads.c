// The rule `one-load`: two loads of an array that read the same wherever both are wanted become
// one.
//
//   v0 = load a0 at x0            wanted where x1 = 0         v0 = load a0 at x0 + 2*x1
//   v1 = load a0 at x0 + 2*x1     wanted where x0 = 0   ->
//
// A form of the address may be changed by any form that is 0 where the load is wanted. So the forms
// f and g of two loads have one form in their place if f ^ g = a ^ b, where a is 0 where the first
// is wanted, and b where the second is: f ^ a = g ^ b. A row that a load lacks is the form 0.
//
// And the rule `one-store`: what is stored twice, for a gather and for a stage that loads it, is
// stored once. Who loads it in another order loads what lies there in the first one.
//
//   store v0 in a1 at x0 + 2*x1           store v0 in a1 at x0 + 2*x1
//   store v0 in a3 at x1 + 2*x0     ->
//   v1 = load a3 at x0 + 2*x1             v1 = load a1 at x1 + 2*x0
#include "fusion/rules/rewriting.h"

enum { LATEST = 8 };  // loads of an array that are looked at

// The rows of both maps, by weight: of each the form in a and that in b.
typedef struct matched_row {
  int64_t weight;
  net_form form[2];
  bool found[2];
} matched_row;

typedef struct matching {
  uint32_t count;
  matched_row *rows;
  int64_t offset;
} matching;

// The map as one without an offset, with a row for each bit of the address: canonical maps may have
// fewer. False: the address is not affine over F_2.
//
//      6*x0 + 8*x1 + 2     x0^1 weighs 2, x0 weighs 4, x1 weighs 8
static bool find_bit_rows(const net_map *map, int n, net_map *by_bit, net_row *rows) {
  f2_affine address;
  if (!net_map_bits(map, n, F2_MAX, &address))
    return false;
  *by_bit = (net_map){0, map->loop_count, 0, map->strides, rows};
  for (int i = 0; i < F2_MAX; i++)
    if (address.a.row[i] || f2_bit(address.c, i))
      rows[by_bit->row_count++] =
          (net_row){{address.a.row[i], f2_bit(address.c, i)}, (int64_t)f2_unit(i)};
  return true;
}

// False: two are of one weight.
static bool add_rows(matching *m, const net_map *map, int side) {
  for (uint32_t i = 0; i < map->row_count; i++) {
    uint32_t at = 0;
    while (at < m->count && m->rows[at].weight != map->rows[i].weight)
      at++;
    if (at == m->count)
      m->rows[m->count++] = (matched_row){.weight = map->rows[i].weight};
    if (m->rows[at].found[side])
      return false;
    m->rows[at].form[side] = map->rows[i].form;
    m->rows[at].found[side] = true;
  }
  return true;
}

static bool match_rows(const rewriter *r, const net_map *x, const net_map *y, matching *m) {
  net_map bits[2];
  net_row rows[2][F2_MAX];
  int n = r->stage->n;
  if (find_bit_rows(x, n, &bits[0], rows[0]) && find_bit_rows(y, n, &bits[1], rows[1])) {
    x = &bits[0];
    y = &bits[1];
  }
  *m = (matching){.rows = NEW_ARRAY(r->memory, matched_row, x->row_count + y->row_count + 1),
                  .offset = x->offset};
  return x->loop_count == y->loop_count && x->offset == y->offset &&
         (!x->loop_count || !memcmp(x->strides, y->strides, x->loop_count * sizeof *x->strides)) &&
         add_rows(m, x, 0) && add_rows(m, y, 1);
}

// f with a form added that is 0 on S, so that it is g where T is: false if there is none. The
// spaces are S and T.
static bool common_form(f2_space s, f2_space t, net_form f, net_form g, net_form *both) {
  f2_echelon e = {{0}, {0}};
  uint64_t tag = 0;
  for (int i = 0; i < s.dimension; i++)
    f2_echelon_insert(&e, s.basis[i], s.basis[i], NULL);
  for (int i = 0; i < t.dimension; i++)
    f2_echelon_insert(&e, t.basis[i], 0, NULL);
  if (f2_echelon_reduce(&e, live_vector(f) ^ live_vector(g), &tag))
    return false;
  *both = live_form(live_vector(f) ^ tag);
  return true;
}

static bool is_in_array(const rewriter *r, const net_load *load, const net_map *map) {
  int64_t low, high;
  uint64_t count = r->net->arrays.items[load->array].count;
  return live_map_range(r->memory, map, r->stage->extents, live_all(r->stage->n), &low, &high) &&
         low >= 0 && (load->padding_start != UINT64_MAX || (uint64_t)high < count);
}

static bool join_loads(rewriter *r, net_load *load, f2_space wanted, net_load *other,
                       f2_space other_wanted) {
  matching m;
  net_load as_other = *load;
  as_other.map = other->map;
  if (!net_load_equal(&as_other, other) || !match_rows(r, &load->map, &other->map, &m))
    return false;
  net_map map = net_map_new(r->memory, load->map.loop_count, m.count);
  map.offset = m.offset;
  map.strides = load->map.strides;
  for (uint32_t i = 0; i < m.count; i++) {
    map.rows[i].weight = m.rows[i].weight;
    if (!common_form(wanted, other_wanted, m.rows[i].form[0], m.rows[i].form[1], &map.rows[i].form))
      return false;
  }
  net_map_normalise(&map);
  if (!is_in_array(r, load, &map))
    return false;
  load->map = other->map = map;
  rewriter_fired(r, RULE_ONE_LOAD, rewriter_bytes(r, load->value, 0), 0);
  return true;
}

void stage_join_loads(rewriter *r, f2_space *wanted) {
  net_stage *s = r->stage;
  for (size_t i = 1; i < s->loads.count; i++)
    for (size_t k = i, looked = 0; k-- > 0 && looked < LATEST;) {
      net_load *load = &s->loads.items[k], *last = &s->loads.items[i];
      if (load->array != last->array)
        continue;
      looked++;
      if (!net_load_equal(load, last) &&
          join_loads(r, load, wanted[load->value], last, wanted[last->value])) {
        f2_space both = live_hull(wanted[load->value], wanted[last->value]);
        wanted[load->value] = wanted[last->value] = both;
        break;
      }
    }
}

// ---- stores ------------------------------------------------------------------------------------

static bool can_be_joined(const net_array *a) { return a->role == NET_TEMPORARY && !a->part_of; }

// Whether both have the same elements, if the same is stored to both.
static bool arrays_are_alike(const net *t, net_id x, net_id y, const uint32_t *writes) {
  const net_array *a = &t->arrays.items[x], *b = &t->arrays.items[y];
  return x != y && can_be_joined(a) && can_be_joined(b) && a->type == b->type &&
         a->count == b->count && writes[x] == 1 && writes[y] == 1;
}

// The bits of addresses of one store as sums of those of another one, wherever it stores: sources[i]
// has bit k if address bit k is added to bit i, and bit ONE if 1 is.
enum { ONE = 63 };

static bool find_sources(const net_stage *s, const net_store *from, const net_store *to,
                         uint64_t *sources) {
  f2_affine of, at;
  f2_space live = live_set(s->n, from->live_count, from->live);
  f2_echelon e = {{0}, {0}};
  if (s->loop_count || !net_map_bits(&from->map, s->n, ONE, &of) ||
      !net_map_bits(&to->map, s->n, ONE, &at))
    return false;
  for (int i = 0; i < live.dimension; i++)
    f2_echelon_insert(&e, live.basis[i], 0, NULL);
  f2_echelon_insert(&e, live_vector((net_form){0, true}), f2_unit(ONE), NULL);
  for (int i = 0; i < ONE; i++)
    f2_echelon_insert(&e, live_vector((net_form){of.a.row[i], f2_bit(of.c, i)}), f2_unit(i), NULL);
  for (int i = 0; i < ONE; i++) {
    sources[i] = 0;
    if (f2_echelon_reduce(&e, live_vector((net_form){at.a.row[i], f2_bit(at.c, i)}), &sources[i]))
      return false;
  }
  return true;
}

// The map of a load after that; false: it is not affine over F_2.
static bool move_map(arena *a, const net_map *map, int n, const uint64_t *sources, net_map *out) {
  f2_affine of;
  for (uint32_t i = 0; i < map->loop_count; i++)
    if (map->strides[i])
      return false;
  if (!net_map_bits(map, n, ONE, &of))
    return false;
  *out = net_map_new(a, map->loop_count, ONE);
  for (int i = 0; i < ONE; i++) {
    net_form form = {0, f2_bit(sources[i], ONE)};
    for (int k = 0; k < ONE; k++)
      if (f2_bit(sources[i], k))
        form = (net_form){form.mask ^ of.a.row[k], form.constant ^ f2_bit(of.c, k)};
    out->rows[i] = (net_row){form, (int64_t)f2_unit(i)};
  }
  return net_map_normalise(out);
}

// Whether all that read the array `from` can load `to` instead; `now`: they do.
static bool move_loads(rewriter *rewriters, net *t, net_id from, net_id to, const uint64_t *sources,
                       bool now) {
  for (size_t i = 0; i < t->stages.count; i++) {
    net_stage *s = &t->stages.items[i];
    for (net_access at = {0}; net_access_next(s, &at);) {
      net_load *load = at.by == NET_BY_LOAD ? &s->loads.items[at.number] : NULL;
      net_map map;
      if (at.array != from || at.writes)
        continue;
      if (!load || load->padding_start != UINT64_MAX ||
          !move_map(rewriters->memory, &load->map, s->n, sources, &map))
        return false;
      if (now) {
        load->array = to;
        load->map = map;
        rewriters[i].changed = true;
      }
    }
  }
  return true;
}

// Whether the stage's store `from` is not needed beside its store `to`, as all can load that array.
static bool store_is_moved(rewriter *rewriters, net *t, const net_stage *s, const net_store *from,
                           const net_store *to, const uint32_t *writes) {
  uint64_t sources[F2_MAX + 1];
  const net_array *a = &t->arrays.items[from->array], *b = &t->arrays.items[to->array];
  bool alike = from->value == to->value && from->array != to->array && can_be_joined(a) &&
               can_be_joined(b) && writes[from->array] == 1 && writes[to->array] == 1 &&
               from->padding_start == UINT64_MAX && to->padding_start == UINT64_MAX &&
               (b->count & (b->count - 1)) == 0 &&
               net_forms_equal(from->live_count, from->live, to->live_count, to->live);
  return alike && find_sources(s, from, to, sources) &&
         move_loads(rewriters, t, from->array, to->array, sources, false) &&
         move_loads(rewriters, t, from->array, to->array, sources, true);
}

static void move_stores(rewriter *r, rewriter *rewriters, net *t, const uint32_t *writes) {
  net_stage *s = r->stage;
  for (size_t j = 0; j < s->stores.count; j++) {
    size_t k = 0;
    while (k < s->stores.count &&
           !store_is_moved(rewriters, t, s, &s->stores.items[j], &s->stores.items[k], writes))
      k++;
    if (k == s->stores.count)
      continue;
    r->step = t->arrays.items[s->stores.items[j].array].step;
    rewriter_fired(r, RULE_ONE_STORE, rewriter_bytes(r, s->stores.items[j].value, 0), 0);
    memmove(&s->stores.items[j], &s->stores.items[j + 1],
            (--s->stores.count - j) * sizeof *s->stores.items);
    j--;
  }
}

// Takes stores away whose arrays are joined with those of others.
static void join_stores(rewriter *r, const uint32_t *writes, net_id *joined) {
  net_stage *s = r->stage;
  size_t kept = 0;
  for (size_t j = 0, k; j < s->stores.count; j++) {
    const net_store store = s->stores.items[j], *others = s->stores.items;
    for (k = 0; k < kept && !(net_store_equal(&others[k], &store) &&
                              arrays_are_alike(r->net, others[k].array, store.array, writes));
         k++)
      ;
    if (k == kept) {
      s->stores.items[kept++] = store;
      continue;
    }
    r->step = r->net->arrays.items[store.array].step;
    joined[store.array] = others[k].array;
    rewriter_fired(r, RULE_ONE_STORE, rewriter_bytes(r, store.value, 0), 0);
  }
  s->stores.count = kept;
}

static bool reads_joined(const net_stage *s, const net_id *joined) {
  for (net_access at = {0}; net_access_next(s, &at);)
    if (joined[at.array] != at.array)
      return true;
  return false;
}

void net_join_stores(rewriter *rewriters, net *t) {
  arena *a = rewriters->memory;
  net_id *joined = NEW_ARRAY(a, net_id, t->arrays.count + 1);
  uint32_t *writes = NEW_ARRAY(a, uint32_t, t->arrays.count + 1);
  for (size_t i = 0; i < t->arrays.count; i++)
    joined[i] = (net_id)i;
  for (size_t i = 0; i < t->stages.count; i++)
    for (net_access at = {0}; net_access_next(&t->stages.items[i], &at);)
      writes[at.array] += at.writes;
  for (size_t i = 0; i < t->stages.count; i++)
    join_stores(&rewriters[i], writes, joined);
  for (size_t i = 0; i < t->stages.count; i++)
    if (reads_joined(&t->stages.items[i], joined)) {
      t->stages.items[i] =
          net_stage_changed(a, &t->stages.items[i], (net_change){.arrays = joined});
      rewriters[i].changed = true;
    }
  for (size_t i = 0; i < t->stages.count; i++)
    move_stores(&rewriters[i], rewriters, t, writes);
}
