// The rule `dead`, of index spaces: a stage that is alive on a coset of a subspace only has that
// coset as its space.
//
//   stage 0 n=2                                   stage 0 n=1
//     v0 = load a0 at x0 + 2*x1             ->      v0 = load a0 at x0 + 2
//     store v0 in a1 at x0 live x1^1                store v0 in a1 at x0
//
// An index x of the coset is B z ^ c: the columns of B are a basis of the subspace.
#include "fusion/rules/rewriting.h"

// The indices x of the live set by as many bits z as it has dimensions. No form has the leading bit
// of another one, so bits that lead are functions of the rest.
static f2_affine coset_of(f2_space live, f2_matrix *coordinates) {
  f2_space basis = live_directions(live);
  uint64_t point = 0, leading[F2_MAX];
  for (int i = 0; i < live.dimension; i++)
    point |= live.basis[i] & 1 ? f2_unit(f2_msb(live_form(live.basis[i]).mask)) : 0;
  for (int i = 0; i < basis.dimension; i++)
    leading[i] = f2_unit(f2_msb(basis.basis[i]));
  *coordinates = f2_from_rows(basis.dimension, basis.n, leading);
  return (f2_affine){f2_from_columns(basis.n, basis.dimension, basis.basis),
                     f2_space_reduce(basis, point)};
}

void stage_restrict(rewriter *r) {
  net_stage *s = r->stage;
  f2_space live = live_empty(s->n);  // where it executes or stores something
  for (size_t i = 0; i < s->ops.count; i++)
    live = live_hull(live, live_of_op(s, &s->ops.items[i]));
  for (size_t i = 0; i < s->stores.count; i++)
    live = live_hull(live, live_set(s->n, s->stores.items[i].live_count, s->stores.items[i].live));
  if (live_is_empty(live) || live.dimension == 0)
    return;
  f2_matrix coordinates;
  f2_affine coset = coset_of(live, &coordinates);
  net_stage old = *s;
  *s = net_stage_like(&old);
  s->n = coset.a.columns;
  net_stage_append(r->memory, s, &old,
                   (net_change){.old_of_new = &coset, .new_of_old = &coordinates});
  r->step = NET_NONE;
  rewriter_fired(r, RULE_DEAD, 0, 0);
}
