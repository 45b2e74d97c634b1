// Stages that read one array alike, as one stage: the array is loaded once, and each pass for one
// of them is a pass for the other as well. See plan.h.
//
//   stage 0: v0 = load a0, v1 = load a2, ops      stage 0: v0 = load a0, v1 = load a2, v2 = load a1,
//   stage 1: v0 = load a1, v1 = load a2, ops  ->           the ops of both in turn
//
// Its tiles have fewer elements, since they hold the values of both. Cost decides, where the ops
// have equal directions in turn, as those on the components of tuples have.
#include "fusion/plan/planning.h"

typedef struct joining {
  arena *memory;
  const net *old;
  const target *target;
  net_cost *cost;
  uint32_t *written;  // by array: the latest stage that writes to it, as 1 + its number; or 0
  uint32_t *writers;  // by array: how many stages write to it
  net_stage *stages;
  bool *gone;       // into an earlier stage
  double *seconds;  // predicted, of each alone; negative: not yet
  VEC(net_stage) tried;
  VEC(double) costs;  // ... of those
} joining;

static bool have_one_space(const net_stage *a, const net_stage *b) {
  return a->ops.count && b->ops.count && a->n == b->n && a->loop_count == b->loop_count &&
         (!a->loop_count || !memcmp(a->extents, b->extents, a->loop_count * sizeof *a->extents));
}

// ... whatever their padding is.
static bool read_alike(const net_stage *a, const net_stage *b) {
  for (size_t i = 0; i < a->loads.count; i++)
    for (size_t k = 0; k < b->loads.count; k++) {
      const net_load *x = &a->loads.items[i], *y = &b->loads.items[k];
      if (x->map.row_count && x->array == y->array && net_map_equal(&x->map, &y->map))
        return true;
    }
  return false;
}

static bool have_one_span(int n, const net_op *a, const net_op *b) {
  return a->k == b->k &&
         f2_space_equal(f2_span(n, (int)a->k, a->directions), f2_span(n, (int)b->k, b->directions));
}

// The next op from number i on that has directions, and other ones than `before`; or the end.
static size_t next_column(const net_stage *s, size_t i, const net_op *before) {
  while (i < s->ops.count &&
         (s->ops.items[i].k == 0 || (before && have_one_span(s->n, before, &s->ops.items[i]))))
    i++;
  return i;
}

// Whether their ops have the same directions in turn.
static bool are_columns_alike(const net_stage *a, const net_stage *b) {
  size_t i = next_column(a, 0, NULL), k = next_column(b, 0, NULL);
  while (i < a->ops.count && k < b->ops.count &&
         have_one_span(a->n, &a->ops.items[i], &b->ops.items[k])) {
    i = next_column(a, i + 1, &a->ops.items[i]);
    k = next_column(b, k + 1, &b->ops.items[k]);
  }
  return i == a->ops.count && k == b->ops.count;
}

// Whether nothing that stage `number` reads is written by stage `at` or later, nor what it scatters
// into by another stage.
static bool may_come_earlier(const joining *j, uint32_t number, uint32_t at) {
  const net_stage *s = &j->stages[number];
  for (net_access of = {0}; net_access_next(s, &of);)
    if (of.writes ? of.by == NET_BY_NODE && j->writers[of.array] > 1
                  : j->written[NET_WHOLE_OF(j->old->arrays.items, of.array)] > at)
      return false;
  return true;
}

// The ops from number `first` on among those before them, so that both come to their ends together.
static void take_turns(arena *a, net_stage *s, size_t first) {
  size_t rest = s->ops.count - first, i = 0, k = 0;
  net_op *ops = NEW_ARRAY(a, net_op, s->ops.count);
  while (i < first || k < rest)
    if (i < first && (k == rest || i * rest <= k * first)) {
      ops[i + k] = s->ops.items[i];
      i++;
    } else {
      ops[i + k] = s->ops.items[first + k];
      k++;
    }
  memcpy(s->ops.items, ops, s->ops.count * sizeof *ops);
}

static net_stage both_stages(arena *a, const net_stage *one, const net_stage *other) {
  net_stage s = {.loop_count = one->loop_count, .extents = one->extents, .n = one->n};
  net_nodes_reserve(a, &s, one->nodes.count + other->nodes.count);
  net_stage_merge(a, &s, one, f2_affine_identity(s.n));
  size_t first = s.ops.count;
  net_stage_merge(a, &s, other, f2_affine_identity(s.n));
  take_turns(a, &s, first);
  return s;
}

static double seconds_of_stage(joining *j, const net_stage *s) {
  net alone = {.arrays = j->old->arrays, .externs = j->old->externs};
  net_pairs pairs = {0};
  for (size_t i = 0; i < j->tried.count; i++)
    if (net_stages_are_alike(j->memory, j->old, &j->tried.items[i], s, &pairs))
      return j->costs.items[i];
  vec_push(j->memory, &alone.stages, *s);
  vec_push(j->memory, &j->tried, *s);
  vec_push(j->memory, &j->costs, j->cost(j->memory, &alone, j->target));
  return j->costs.items[j->costs.count - 1];
}

static double seconds_alone(joining *j, uint32_t number) {
  if (j->seconds[number] < 0)
    j->seconds[number] = seconds_of_stage(j, &j->stages[number]);
  return j->seconds[number];
}

// Whether the stage has become part of an earlier one.
static bool join_earlier(joining *j, uint32_t number) {
  enum { LATEST = 4 };  // stages that are looked at
  const net_stage *s = &j->stages[number];
  for (uint32_t i = number, looked = 0; i-- > 0 && looked < LATEST;) {
    if (j->gone[i])
      continue;
    looked++;
    if (!have_one_space(&j->stages[i], s) || !read_alike(&j->stages[i], s) ||
        !are_columns_alike(&j->stages[i], s) || !may_come_earlier(j, number, i))
      continue;
    net_stage both = both_stages(j->memory, &j->stages[i], s);
    double seconds = seconds_of_stage(j, &both);
    if (seconds >= seconds_alone(j, i) + seconds_alone(j, number))
      continue;
    j->stages[i] = both;
    j->seconds[i] = seconds;
    return true;
  }
  return false;
}

const net *plan_together(arena *a, const net *t, const target *to, net_cost *cost) {
  size_t count = t->stages.count;
  joining j = {.memory = a, .old = t, .target = to, .cost = cost};
  j.written = NEW_ARRAY(a, uint32_t, t->arrays.count + 1);
  j.writers = NEW_ARRAY(a, uint32_t, t->arrays.count + 1);
  j.stages = NEW_ARRAY(a, net_stage, count + 1);
  j.gone = NEW_ARRAY(a, bool, count + 1);
  j.seconds = NEW_ARRAY(a, double, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    j.stages[i] = t->stages.items[i];
    j.seconds[i] = -1;
    for (net_access of = {0}; net_access_next(&j.stages[i], &of);)
      if (of.writes) {
        j.writers[of.array] += j.written[of.array] != i + 1;
        j.written[of.array] = i + 1;
      }
  }
  bool any = false;
  for (uint32_t i = 1; i < count; i++)
    any |= j.gone[i] = join_earlier(&j, i);
  if (!any)
    return t;
  net *joined = NEW(a, net);
  *joined = (net){.arrays = t->arrays, .externs = t->externs};
  for (size_t i = 0; i < count; i++)
    if (!j.gone[i])
      vec_push(a, &joined->stages, j.stages[i]);
  return joined;
}
