// Domains, and the scalar code that chooses by them. See net.h.
#include "fusion/net/net.h"

net_domain net_domain_on(f2_space on) { return (net_domain){on, live_empty(on.n - 1)}; }

net_domain net_domain_hull(net_domain a, net_domain b) {
  if (live_is_empty(a.on) || live_is_empty(b.on))
    return live_is_empty(a.on) ? b : a;
  return (net_domain){live_hull(a.on, b.on), live_intersection(a.except, b.except)};
}

bool net_domains_meet(const net_domain *a, const net_domain *b) {
  f2_space both = live_intersection(a->on, b->on);
  return !live_within(both, a->except) && !live_within(both, b->except);
}

bool net_condition_set(const net_stage *s, net_id condition, f2_space *set) {
  const net_node *below = &s->nodes.items[condition];
  if (below->kind != NET_SCALAR || below->scalar != OP_LT)
    return false;
  const net_node *index = &s->nodes.items[below->operands[0]];
  const net_node *limit = &s->nodes.items[below->operands[1]];
  bool good = index->kind == NET_INDEX && limit->kind == NET_CONSTANT && limit->constant.i64 == 1 &&
              index->map.offset == 0;
  for (uint32_t l = 0; good && l < index->map.loop_count; l++)
    good = index->map.strides[l] == 0;
  *set = live_all(s->n);
  int64_t most = 0;  // of the sum
  for (uint32_t i = 0; good && i < index->map.row_count; i++) {
    *set = live_where(*set, index->map.rows[i].form);
    good = !__builtin_add_overflow(most, index->map.rows[i].weight, &most);
  }
  return good;
}

net_domain net_domain_where(const net_stage *s, const net_domain *domain, net_id condition,
                            bool holds) {
  f2_space set;
  if (!net_condition_set(s, condition, &set))
    return *domain;
  if (holds)
    return (net_domain){live_intersection(domain->on, set), domain->except};
  f2_space rest = live_without(domain->on, set);
  bool whole = f2_space_equal(rest, domain->on) && live_is_empty(domain->except);
  return (net_domain){rest, whole ? set : domain->except};
}

static int span_of(net_form f) { return f2_msb(f.mask) - f2_lsb(f.mask); }

// The same set by forms of which each has bits that are as near to one another as can be: then few
// of them have bits of the block, the thread and the register at a time.
//
//      x0^x3, x1^x3, x2^x3^1  ->  x0^x1, x1^x2, x2^x3^1
//
// Of two that begin or end with the same bit, the longer one becomes their sum.
static void shorten_forms(net_map *map) {
  bool again = true;
  while (again) {
    again = false;
    for (uint32_t i = 0; i < map->row_count; i++)
      for (uint32_t k = 0; k < map->row_count; k++) {
        net_form *f = &map->rows[i].form, g = map->rows[k].form;
        if (i == k || !f->mask || !g.mask || span_of(*f) < span_of(g) ||
            (f2_lsb(f->mask) != f2_lsb(g.mask) && f2_msb(f->mask) != f2_msb(g.mask)))
          continue;
        *f = net_form_sum(*f, g);
        again = true;
      }
  }
}

// For element e of the op's cosets, of indices in `known`: one node in the set, else the other.
static net_id add_choice(arena *a, net_stage *s, const net_op *op, uint64_t e, f2_space set,
                         f2_space known, net_id inside, net_id outside) {
  net_node index = {.kind = NET_INDEX, .type = SCALAR_I64}, one = {.kind = NET_CONSTANT};
  net_node below = {.kind = NET_SCALAR, .type = SCALAR_BOOL, .scalar = OP_LT, .operand_count = 2};
  net_node select = {.kind = NET_SELECT, .operand_count = 3};
  net_map map = net_map_new(a, s->loop_count, (uint32_t)set.dimension);
  for (int i = 0; i < set.dimension; i++) {
    map.rows[i] = (net_row){live_reduced(known, live_form(set.basis[i])), 1};
    known = live_where(known, map.rows[i].form);
  }
  shorten_forms(&map);
  net_map_normalise(&map);
  index.map = net_map_at_element(a, &map, op->k, op->directions, op->coordinates, e);
  if (inside == outside || index.map.offset > 0 || index.map.row_count == 0)
    return index.map.offset > 0 ? outside : inside;
  one.type = SCALAR_I64;
  one.constant = scalar_from_i64(SCALAR_I64, 1);
  below.operands = (net_id[]){net_node_add(a, s, &index), net_node_add(a, s, &one)};
  select.type = s->nodes.items[inside].type;
  select.operands = (net_id[]){net_node_add(a, s, &below), inside, outside};
  return net_node_add(a, s, &select);
}

net_id net_domain_choose(arena *a, net_stage *s, const net_op *op, uint64_t e,
                         const net_domain *domain, f2_space known, net_id inside, net_id outside) {
  net_id node = add_choice(a, s, op, e, domain->on, known, inside, outside);
  if (live_is_empty(domain->except))
    return node;
  return add_choice(a, s, op, e, domain->except, live_intersection(known, domain->on), outside,
                    node);
}
