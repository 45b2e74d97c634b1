// The rule `dead`, of index spaces: a stage that is alive on a coset of a subspace only has that
// coset as its space.
//
//   stage 0 n=2                                   stage 0 n=1
//     v0 = load a0 at x0 + 2*x1             ->      v0 = load a0 at x0 + 2
//     store v0 in a1 at x0 live x1^1                store v0 in a1 at x0
//
// An index x of the coset is B z ^ c: the columns of B are a basis of the subspace.
#include "fusion/rules/rewriting.h"

// Where the stage executes or stores something.
static f2_space live_of_stage(const net_stage *s) {
  f2_space live = live_empty(s->n);
  for (size_t i = 0; i < s->ops.count; i++)
    live = live_hull(live, live_of_op(s, &s->ops.items[i]));
  for (size_t i = 0; i < s->stores.count; i++)
    live = live_hull(live, live_set(s->n, s->stores.items[i].live_count, s->stores.items[i].live));
  return live;
}

// Of a set of index bits z, the indices of the live set: old x of new z.
static f2_affine coset_of(arena *a, int n, f2_space live, f2_matrix *coordinates) {
  uint32_t count;
  net_form *forms = live_forms(a, live, &count);
  f2_matrix rows = f2_zero((int)count, n);
  uint64_t constants = 0, point = 0, leading[F2_MAX];
  f2_space masks = f2_space_zero(n);
  for (uint32_t i = 0; i < count; i++) {
    rows.row[i] = forms[i].mask;
    constants |= (uint64_t)forms[i].constant << i;
    f2_space_insert(&masks, forms[i].mask);
  }
  ensure(f2_solve(rows, constants, &point));
  f2_space basis = f2_space_orthogonal(masks);
  for (int i = 0; i < basis.dimension; i++)
    leading[i] = f2_unit(f2_msb(basis.basis[i]));
  *coordinates = f2_from_rows(basis.dimension, n, leading);
  return (f2_affine){f2_from_columns(n, basis.dimension, basis.basis),
                     f2_space_reduce(basis, point)};
}

void stage_restrict(rewriter *r) {
  net_stage *s = r->stage;
  f2_space live = live_of_stage(s);
  if (live_is_empty(live) || live.dimension == 0)
    return;
  f2_matrix coordinates;
  f2_affine coset = coset_of(r->memory, s->n, live, &coordinates);
  net_stage old = *s;
  net_change change = net_change_of_index(&coset, &coordinates);
  *s = net_stage_like(&old);
  s->n = coset.a.columns;
  net_stage_append(r->memory, s, &old, change);
  r->step = NET_NONE;
  rewriter_fired(r, RULE_DEAD, 0, 0);
}
