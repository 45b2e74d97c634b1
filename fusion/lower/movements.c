// Gathers and scatters by places that are known, as steps that move elements: a Trace before it is
// lowered.
//
// Of places that are an argument, elaboration may have found out what they do (trace_places). Places
// that are computed of their own numbers may be affine forms of these, as those of
// gather (map (\i -> i xor 5) (iota n)) are. A gather or scatter of as many elements as there are
// places then needs no places:
//
//   scatter p xs ys, and p                          becomes
//   rotates n elements by 2                         concat (drop (n - 2) xs) (take (n - 2) xs)
//   is the affine map A i ^ c of the index bits     bmmc A c xs
//   exchanges the dimensions of [3][4]              the transpose of xs as [3][4]
//
// gather p xs takes back what scatter p does.
#include "fusion/lower/retrace.h"

// A step in the place of the old one: its dimensions, but for the first ones.
static value_id add_like(retrace *r, trace_op op, uint64_t batch, uint32_t dim_count,
                         const uint64_t *dims, uint64_t number, uint32_t count,
                         const value_id *operands) {
  const trace_step *old = retrace_old(r);
  trace_step s = *old;
  s.op = op;
  s.batch = batch;
  s.number = number;
  s.rank = old->rank - 1 + dim_count;
  s.dims = NEW_ARRAY(r->memory, uint64_t, s.rank + 1);
  for (uint32_t i = 0; i < s.rank; i++)
    s.dims[i] = i < dim_count ? dims[i] : old->dims[i - dim_count + 1];
  retrace_set_operands(r, &s, count, operands);
  return retrace_add(r, s);
}

static value_id rotated(retrace *r, const movement *m, value_id xs) {
  uint64_t n = retrace_old(r)->dims[0], batch = retrace_old(r)->batch, first = n - m->by;
  if (m->by == 0)
    return xs;
  value_id parts[] = {
      add_like(r, TRACE_SLICE, batch, 1, &m->by, first, 1, &xs),
      add_like(r, TRACE_SLICE, batch, 1, &first, 0, 1, &xs),
  };
  return add_like(r, TRACE_CONCAT, batch, 1, &n, 0, 2, parts);
}

static value_id mapped(retrace *r, const movement *m, value_id xs) {
  const trace_step *old = retrace_old(r);
  int n = m->map.a.rows;
  uint64_t batch = r->to->steps.items[xs].batch;
  value_id id = add_like(r, TRACE_BMMC, batch, 1, (uint64_t[]){f2_unit(n)}, m->map.c, 1, &xs);
  trace_step *s = &r->to->steps.items[id];
  s->rows = NEW_ARRAY(r->memory, uint64_t, n + 1);
  memcpy(s->rows, m->map.a.row, (size_t)n * sizeof *s->rows);
  return batch == old->batch ? id : add_like(r, TRACE_RESHAPE, old->batch, 1, old->dims, 0, 1, &id);
}

// [d0][d1][d2][d3] as so many instances of [d1][d2][d3].
static value_id exchanged(retrace *r, const movement *m, value_id xs) {
  const uint64_t *d = m->dims;
  uint64_t batch = retrace_old(r)->batch;
  xs = add_like(r, TRACE_RESHAPE, batch * d[0], 3, (uint64_t[]){d[1], d[2], d[3]}, 0, 1, &xs);
  xs = add_like(r, TRACE_TRANSPOSE, batch * d[0], 3, (uint64_t[]){d[2], d[1], d[3]}, 0, 1, &xs);
  return add_like(r, TRACE_RESHAPE, batch, 1, retrace_old(r)->dims, 0, 1, &xs);
}

// What the elements of a step do, if it moves as many as there are places that are known. False: it
// does not.
static bool find_movement(const trace *t, const trace_step *s, movement *m) {
  if ((s->op != TRACE_GATHER && s->op != TRACE_SCATTER) || trace_step_count(s) == 0)
    return false;
  const trace_step *p = &t->steps.items[s->operands[0]], *xs = &t->steps.items[s->operands[1]];
  bool one = p->batch == 1 && xs->batch == s->batch && p->dims[0] == s->dims[0];
  bool apart = s->op == TRACE_GATHER && p->batch == s->batch && p->dims[0] == 1;  // xs[i xor 4]
  if ((!one && !apart) || p->batch * p->dims[0] != (apart ? xs->batch : 1) * xs->dims[0])
    return false;
  if (one && trace_places_are_known(p))
    *m = p->places->moves;
  else if (trace_find_permutation(t, s->operands[0], xs->dims[0], &m->map))
    m->kind = MOVES_BY_AFFINE_MAP;
  else
    return false;
  if (s->op == TRACE_GATHER)
    *m = movement_inverse(m, p->dims[0]);
  return true;
}

const trace *trace_without_known_places(arena *a, const trace *t, rule_log *log,
                                        const uint32_t **origins) {
  movement m;
  size_t first = 0;
  while (first < t->steps.count && !find_movement(t, &t->steps.items[first], &m))
    first++;
  if (first == t->steps.count)
    return t;
  retrace r = retrace_of(a, t, *origins);
  for (; r.step < t->steps.count; r.step++)
    if (find_movement(t, retrace_old(&r), &m)) {
      value_id xs = r.now[retrace_old(&r)->operands[1]];
      r.now[r.step] = m.kind == MOVES_BY_ROTATION     ? rotated(&r, &m, xs)
                      : m.kind == MOVES_BY_AFFINE_MAP ? mapped(&r, &m, xs)
                                                      : exchanged(&r, &m, xs);
      rule_fired(log, RULE_KNOWN_PLACES, retrace_origin(&r), 0, 0);
    } else {
      r.now[r.step] = retrace_add(&r, retrace_step(&r));
    }
  return retrace_end(&r, origins);
}
