// Functions on parts of an array, put together again, as functions on the whole array: a Trace before
// it is lowered.
//
//   concat (map f (take 3 xs)) (drop 3 xs)  =  [if i < 3 then f x else x | x is element i of xs]
//
// A PART is a value whose elements are first, first + 1, ... of another one, its WHOLE: at first those
// that slice takes. What a step does to each instance of a batch, it does to all instances of a
// larger one: a step on parts is a part of the same step on their wholes. Parts that follow one another are
// a part of the choice between their wholes, by the index. Where such a choice is of all elements, it
// takes the place of the concatenation: no element moves, and lengths need not be powers of two.
// Halves stay as they are: their elements lie side by side (lower/join.c).
#include "fusion/lower/lowering.h"

typedef struct part {
  value_id whole;  // of the new trace; NO_STEP: the value is no part
  uint64_t first, total;
  uint64_t work;  // scalar operations on wholes, for all that it consists of
} part;

typedef struct rewriting {
  arena *memory;
  rule_log *log;
  const trace *old;
  trace *to;
  VEC(uint32_t) origins;  // by new step
  uint32_t step;          // of the old trace
  value_id *plain;        // by old step
  part *parts;
  bool chosen;
} rewriting;

static value_id add_step(rewriting *r, trace_step s) {
  vec_push(r->memory, &r->to->steps, s);
  vec_push(r->memory, &r->origins, r->step);
  return (value_id)(r->to->steps.count - 1);
}

// A step of the same place in the source.
static trace_step step_like(const trace_step *s, trace_op op, scalar_type type, uint64_t batch) {
  return (trace_step){.op = op,
                      .type = type,
                      .shadow = s->shadow,
                      .where = s->where,
                      .caller = s->caller,
                      .batch = batch};
}

static void set_operands(rewriting *r, trace_step *s, uint32_t count, const value_id *operands) {
  s->operand_count = count;
  s->operands = NEW_ARRAY(r->memory, value_id, count + 1);
  memcpy(s->operands, operands, count * sizeof *operands);
}

static value_id reshaped(rewriting *r, value_id id, uint64_t batch, uint32_t rank,
                         const uint64_t *dims) {
  const trace_step *s = &r->to->steps.items[id];
  if (s->batch == batch && s->rank == rank &&
      (!rank || !memcmp(s->dims, dims, rank * sizeof *dims)))
    return id;
  trace_step n = step_like(s, TRACE_RESHAPE, s->type, batch);
  n.rank = rank;
  n.dims = NEW_ARRAY(r->memory, uint64_t, rank + 1);
  if (rank)
    memcpy(n.dims, dims, rank * sizeof *dims);
  set_operands(r, &n, 1, &id);
  return add_step(r, n);
}

static const trace_step *old_operand(const rewriting *r, const trace_step *s, uint32_t i) {
  return &r->old->steps.items[s->operands[i]];
}

// ---- steps on parts --------------------------------------------------------------------------

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// What a step does, it does to each of so many groups of instances apart.
typedef struct grouping {
  uint64_t groups, whole, first;  // of the step; of that on wholes; the first that is the step's
} grouping;

static bool find_groups(const rewriting *r, const trace_step *s, grouping *g) {
  bool found = false;
  *g = (grouping){.groups = s->batch};
  for (uint32_t i = 0; i < s->operand_count; i++)
    if (r->parts[s->operands[i]].whole != NO_STEP)
      g->groups = common_divisor(g->groups, old_operand(r, s, i)->batch);
  for (uint32_t i = 0; i < s->operand_count; i++) {
    const trace_step *o = old_operand(r, s, i);
    const part *p = &r->parts[s->operands[i]];
    uint64_t each = trace_step_count(o) / g->groups;
    if (p->whole == NO_STEP)
      continue;
    if (each == 0 || p->first % each || p->total % each ||
        (found && (g->whole != p->total / each || g->first != p->first / each)))
      return false;
    g->whole = p->total / each;
    g->first = p->first / each;
    found = true;
  }
  return found;
}

// Operand i for all groups. NO_STEP: it is another one for each, and no part.
static value_id whole_operand(rewriting *r, const trace_step *s, uint32_t i, const grouping *g) {
  const trace_step *o = old_operand(r, s, i);
  const part *p = &r->parts[s->operands[i]];
  uint64_t batch = o->batch / g->groups * g->whole;
  if (p->whole != NO_STEP)
    return reshaped(r, p->whole, batch, o->rank, o->dims);
  if (o->batch == 1)
    return r->plain[s->operands[i]];
  if (o->op != TRACE_INSTANCE || !o->number || o->batch % g->groups ||
      o->batch / g->groups * g->first % o->number)
    return NO_STEP;
  trace_step index = *o;
  index.batch = batch;
  return add_step(r, index);
}

static part part_of_step(rewriting *r, const trace_step *s) {
  part none = {.whole = NO_STEP}, all = {0};
  grouping g;
  if (s->op == TRACE_EXTERN || !find_groups(r, s, &g))
    return none;
  trace_step n = *s;
  n.batch = s->batch / g.groups * g.whole;
  n.operands = NEW_ARRAY(r->memory, value_id, n.operand_count + 1);
  for (uint32_t i = 0; i < n.operand_count; i++) {
    n.operands[i] = whole_operand(r, s, i, &g);
    if (n.operands[i] == NO_STEP)
      return none;
    all.work += r->parts[s->operands[i]].work;
  }
  uint64_t each = trace_step_count(s) / g.groups;
  all.first = each * g.first;
  all.total = each * g.whole;
  bool works = s->op == TRACE_SCALAR || s->op == TRACE_SELECT || s->op == TRACE_CONVERT ||
               s->op == TRACE_ROOT;
  all.work += works ? all.total : 0;
  if (!trace_size_fits(&n))
    return none;
  all.whole = add_step(r, n);
  return all;
}

static part part_of_slice(const rewriting *r, const trace_step *s) {
  const trace_step *o = old_operand(r, s, 0);
  part p = r->parts[s->operands[0]];
  uint64_t count = trace_step_count(o);
  if (p.whole == NO_STEP)
    p = (part){r->plain[s->operands[0]], 0, count, 0};
  p.first += count / o->dims[0] * s->number;
  if (trace_step_count(s) == p.total)
    p.whole = NO_STEP;
  return p;
}

// ---- parts that follow one another -----------------------------------------------------------

// Of the elements of a's whole those before `end`, of b's the others.
static value_id choice(rewriting *r, const trace_step *s, value_id a, value_id b, uint64_t total,
                       uint64_t end) {
  uint64_t unit = total & (total - 1) ? 1 : end & -end;
  trace_step index = step_like(s, TRACE_INSTANCE, SCALAR_I64, total / unit);
  index.number = total / unit;
  trace_step limit = step_like(s, TRACE_CONSTANT, SCALAR_I64, 1);
  limit.constant = scalar_from_i64(SCALAR_I64, (int64_t)(end / unit));
  trace_step below = step_like(s, TRACE_SCALAR, SCALAR_BOOL, total / unit);
  below.scalar = OP_LT;
  value_id first = add_step(r, index), second = add_step(r, limit);
  set_operands(r, &below, 2, (value_id[]){first, second});
  value_id condition = add_step(r, below);
  a = reshaped(r, a, total, 0, NULL);
  b = reshaped(r, b, total, 0, NULL);
  trace_step select = step_like(s, TRACE_SELECT, s->type, total);
  set_operands(r, &select, 3, (value_id[]){condition, a, b});
  return add_step(r, select);
}

// Whether to do it all is not much more than to do it for the part.
static bool is_cheap(const part *p, uint64_t count) {
  enum { FEW = 16, TIMES = 4 };  // operations on each element; times as many elements
  return p->total <= TIMES * count || p->work <= FEW * p->total;
}

static part part_of_concat(rewriting *r, const trace_step *s) {
  part none = {.whole = NO_STEP};
  part a = r->parts[s->operands[0]], b = r->parts[s->operands[1]];
  uint64_t before = trace_step_count(old_operand(r, s, 0));
  uint64_t behind = trace_step_count(old_operand(r, s, 1));
  if (a.whole == NO_STEP || b.whole == NO_STEP || a.total != b.total ||
      a.first + before != b.first || !is_cheap(&a, before) || !is_cheap(&b, behind))
    return none;
  bool whole = before + behind == a.total;
  if (whole && before == behind)
    return none;
  part p = {a.whole, a.first, a.total, a.work + b.work};
  if (a.whole != b.whole)
    p.whole = choice(r, s, a.whole, b.whole, a.total, b.first);
  return p;
}

// ---- the whole -------------------------------------------------------------------------------

static void rewrite_step(rewriting *r, const trace_step *s) {
  part *p = &r->parts[r->step];
  *p = (part){.whole = NO_STEP};
  bool one = s->batch == 1;
  if (trace_step_count(s) == 0)
    ;
  else if (s->op == TRACE_SLICE && old_operand(r, s, 0)->batch == 1)
    *p = part_of_slice(r, s);
  else if (s->op == TRACE_RESHAPE)
    *p = r->parts[s->operands[0]];
  else if (s->op == TRACE_CONCAT && one)
    *p = part_of_concat(r, s);
  else
    *p = part_of_step(r, s);
  if (p->whole != NO_STEP && p->total == trace_step_count(s)) {
    r->plain[r->step] = reshaped(r, p->whole, s->batch, s->rank, s->dims);
    r->chosen = true;
    rule_fired(r->log, RULE_PARTS, r->step, 0, 0);
    p->whole = NO_STEP;
    return;
  }
  trace_step n = *s;
  n.operands = NEW_ARRAY(r->memory, value_id, n.operand_count + 1);
  for (uint32_t i = 0; i < n.operand_count; i++)
    n.operands[i] = r->plain[s->operands[i]];
  r->plain[r->step] = add_step(r, n);
}

const trace *trace_on_wholes(arena *a, const trace *t, rule_log *log, const uint32_t **origins) {
  bool slices = false, joins = false;
  for (size_t i = 0; i < t->steps.count; i++) {
    slices |= t->steps.items[i].op == TRACE_SLICE;
    joins |= t->steps.items[i].op == TRACE_CONCAT;
  }
  *origins = NULL;
  if (!slices || !joins)
    return t;
  rewriting r = {.memory = a, .log = log, .old = t, .to = NEW(a, trace)};
  r.plain = NEW_ARRAY(a, value_id, t->steps.count);
  r.parts = NEW_ARRAY(a, part, t->steps.count);
  for (; r.step < t->steps.count; r.step++)
    rewrite_step(&r, &t->steps.items[r.step]);
  if (!r.chosen)
    return t;
  r.to->externs = t->externs;
  for (size_t i = 0; i < t->results.count; i++)
    vec_push(a, &r.to->results, r.plain[t->results.items[i]]);
  *origins = r.origins.items;
  return r.to;
}
