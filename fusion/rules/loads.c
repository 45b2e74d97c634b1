// The rule `one-load`: two loads of an array that read the same wherever both are wanted become
// one.
//
//   v0 = load a0 at x0            wanted where x1 = 0         v0 = load a0 at x0 + 2*x1
//   v1 = load a0 at x0 + 2*x1     wanted where x0 = 0   ->
//
// A form of the address may be changed by any form that is 0 where the load is wanted. So the forms
// f and g of two loads have one form in their place if f ^ g = a ^ b, where a is 0 where the first
// is wanted, and b where the second is: f ^ a = g ^ b. A row that a load lacks is the form 0, or 1
// where its weight is in the offset; so is one that both lack, of a bit of one of the offsets.
#include "core/number.h"
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
  int64_t offset[2];
} matching;

static matched_row *row_of_weight(matching *m, int64_t weight) {
  uint32_t at = 0;
  while (at < m->count && m->rows[at].weight != weight)
    at++;
  if (at == m->count)
    m->rows[m->count++] = (matched_row){.weight = weight};
  return &m->rows[at];
}

// False: two are of one weight.
static bool add_rows(matching *m, const net_map *map, int side) {
  m->offset[side] = map->offset;
  for (uint32_t i = 0; i < map->row_count; i++) {
    matched_row *row = row_of_weight(m, map->rows[i].weight);
    if (row->found[side])
      return false;
    row->form[side] = map->rows[i].form;
    row->found[side] = true;
  }
  return true;
}

// The weight goes from the offset into a row of the form 1, where it is a bit of the offset.
static void take_from_offset(matching *m, int side) {
  for (uint32_t i = 0; i < m->count; i++) {
    matched_row *row = &m->rows[i];
    if (!row->found[side] && is_power_of_two((uint64_t)row->weight) && m->offset[side] > 0 &&
        m->offset[side] & row->weight) {
      row->form[side].constant = true;
      m->offset[side] -= row->weight;
    }
  }
}

static bool match_rows(arena *a, const net_map *x, const net_map *y, matching *m) {
  *m = (matching){.rows = NEW_ARRAY(a, matched_row, x->row_count + y->row_count + 64)};
  if (x->loop_count != y->loop_count ||
      (x->loop_count && memcmp(x->strides, y->strides, x->loop_count * sizeof *x->strides)) ||
      !add_rows(m, x, 0) || !add_rows(m, y, 1))
    return false;
  // Rows for the bits in which the offsets differ.
  uint64_t differ = (uint64_t)m->offset[0] ^ (uint64_t)m->offset[1];
  for (; differ && m->offset[0] >= 0 && m->offset[1] >= 0; differ &= differ - 1)
    row_of_weight(m, (int64_t)f2_unit(f2_lsb(differ)));
  take_from_offset(m, 0);
  take_from_offset(m, 1);
  return m->offset[0] == m->offset[1];
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
  if (!net_load_equal(&as_other, other) || !match_rows(r->memory, &load->map, &other->map, &m))
    return false;
  net_map map = net_map_copy(r->memory, &load->map);
  map.rows = NEW_ARRAY(r->memory, net_row, m.count + 1);
  map.offset = m.offset[0];
  map.row_count = m.count;
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
