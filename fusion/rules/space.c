// The rule `dead`, of index spaces: a stage that is alive on a coset of a subspace only has that
// coset as its space.
//
//   stage 0 n=2                                   stage 0 n=1
//     v0 = load a0 at x0 + 2*x1             ->      v0 = load a0 at x0 + 2
//     store v0 in a1 at x0 live x1^1                store v0 in a1 at x0
//
// An index x of the coset is B z ^ c: the columns of B are a basis of the subspace.
#include "fusion/rules/rewriting.h"

typedef struct restriction {
  arena *memory;
  net_stage *stage;
  f2_space basis;  // B
  uint64_t c;
} restriction;

// Where the stage executes or stores something.
static f2_space live_of_stage(const net_stage *s) {
  f2_space live = live_empty(s->n);
  for (size_t i = 0; i < s->ops.count; i++)
    live = live_hull(live, live_of_op(s, &s->ops.items[i]));
  for (size_t i = 0; i < s->stores.count; i++)
    live = live_hull(live, live_set(s->n, s->stores.items[i].live_count, s->stores.items[i].live));
  return live;
}

// Its masks' orthogonal space, and a point.
static restriction restriction_to(arena *a, net_stage *s, f2_space live) {
  uint32_t count;
  net_form *forms = live_forms(a, live, &count);
  f2_matrix rows = f2_zero((int)count, s->n);
  uint64_t constants = 0, point = 0;
  f2_space masks = f2_space_zero(s->n);
  for (uint32_t i = 0; i < count; i++) {
    rows.row[i] = forms[i].mask;
    constants |= (uint64_t)forms[i].constant << i;
    f2_space_insert(&masks, forms[i].mask);
  }
  bool found = f2_solve(rows, constants, &point);
  assert(found);
  (void)found;
  f2_space basis = f2_space_orthogonal(masks);
  return (restriction){a, s, basis, f2_space_reduce(basis, point)};
}

static net_form restricted_form(const restriction *r, net_form f) {
  net_form to = {0, net_form_at(f, r->c)};
  for (int i = 0; i < r->basis.dimension; i++)
    to.mask |= (uint64_t)f2_dot(f.mask, r->basis.basis[i]) << i;
  return to;
}

static net_map restricted_map(const restriction *r, const net_map *m) {
  net_map to = net_map_copy(r->memory, m);
  to.row_count = 0;
  for (uint32_t i = 0; i < m->row_count; i++) {
    net_row row = {restricted_form(r, m->rows[i].form), m->rows[i].weight};
    if (row.form.mask)
      to.rows[to.row_count++] = row;
    else if (row.form.constant)
      to.offset = (int64_t)((uint64_t)to.offset + (uint64_t)row.weight);
  }
  return to;
}

// Those that are 0 on all of the coset are left out.
static net_form *restricted_forms(const restriction *r, const net_form *forms, uint32_t *count) {
  net_form *to = NEW_ARRAY(r->memory, net_form, *count + 1);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < *count; i++) {
    net_form f = restricted_form(r, forms[i]);
    if (f.mask || f.constant)
      to[kept++] = f;
  }
  *count = kept;
  return to;
}

// By node of the stage: the same on the coset.
static net_id *restricted_nodes(const restriction *r) {
  size_t count = r->stage->nodes.count;
  net_id *nodes = NEW_ARRAY(r->memory, net_id, count + 1);
  for (size_t i = 0; i < count; i++) {
    net_node node = net_node_renumbered(r->memory, &r->stage->nodes.items[i], nodes);
    if (node.kind == NET_INDEX)
      node.map = restricted_map(r, &node.map);
    nodes[i] = net_node_add_owned(r->memory, r->stage, &node);
  }
  return nodes;
}

static void restrict_op(const restriction *r, net_op *op, const net_id *nodes) {
  uint64_t *directions = NEW_ARRAY(r->memory, uint64_t, op->k + 1);
  net_form *coordinates = NEW_ARRAY(r->memory, net_form, op->k + 1);
  for (uint32_t i = 0; i < op->k; i++) {
    directions[i] = f2_space_coordinates(r->basis, op->directions[i]);
    coordinates[i] = restricted_form(r, op->coordinates[i]);
  }
  op->directions = directions;
  op->coordinates = coordinates;
  op->live = restricted_forms(r, op->live, &op->live_count);
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
      if (op->outputs[i].elements[j] != NET_NONE)
        op->outputs[i].elements[j] = nodes[op->outputs[i].elements[j]];
}

void stage_restrict(rewriter *rewriting) {
  net_stage *s = rewriting->stage;
  f2_space live = live_of_stage(s);
  if (live_is_empty(live) || live.dimension == 0)
    return;
  restriction r = restriction_to(rewriting->memory, s, live);
  net_id *nodes = restricted_nodes(&r);
  for (size_t i = 0; i < s->loads.count; i++)
    s->loads.items[i].map = restricted_map(&r, &s->loads.items[i].map);
  for (size_t i = 0; i < s->ops.count; i++)
    restrict_op(&r, &s->ops.items[i], nodes);
  for (size_t i = 0; i < s->stores.count; i++) {
    net_store *store = &s->stores.items[i];
    store->map = restricted_map(&r, &store->map);
    store->live = restricted_forms(&r, store->live, &store->live_count);
  }
  s->n = r.basis.dimension;
  rewriting->step = NET_NONE;
  rewriter_fired(rewriting, RULE_DEAD, 0, 0);
}
