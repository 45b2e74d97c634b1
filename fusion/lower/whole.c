// Functions on parts of an array, put together again, as functions on the whole array: a Trace
// before it is lowered.
//
//   concat (map f (take 3 xs)) (drop 3 xs)  =  [if i < 3 then f x else x | x is element i of xs]
//
// A PART is a value whose elements are first, first + 1, ... of another one, its WHOLE, in each of
// so many rows: at first those that slice takes of each instance. What a step does to each instance
// of a batch, it does to all instances of a larger one: a step on parts is a part of the same step
// on their wholes (what flip_bits makes of one of them, where they are different parts of their
// wholes). Parts that follow one another are a part of the choice between their wholes, by the
// index. Where such a choice is of all elements, it takes the place of the concatenation: no
// element moves, and lengths need not be powers of two. Halves stay as they are, as their elements
// lie side by side (lower/join.c), unless the same was done to both:
//
//   concat (map f (take 4 xs)) (map f (drop 4 xs))  =  map f xs
#include "fusion/lower/retrace.h"

#include "core/number.h"

enum { MOST_DEEP = 4 };  // scalar steps on elements that change places

typedef struct part {
  value_id whole;  // of the new trace; NO_STEP: the value is no part
  uint64_t rows;
  uint64_t first, total;  // of each row
  uint64_t work;          // scalar operations on a row of wholes, for all that it consists of
} part;

typedef struct rewriting {
  arena *memory;
  rule_log *log;
  retrace re;   // of plain values
  part *parts;  // by old step
  bool chosen;
} rewriting;

// A step of the same place in the source.
static trace_step step_like(const trace_step *s, trace_op op, scalar_type type, uint64_t batch) {
  return (trace_step){.op = op,
                      .type = type,
                      .shadow = s->shadow,
                      .where = s->where,
                      .caller = s->caller,
                      .batch = batch};
}

static value_id reshaped(rewriting *r, value_id id, uint64_t batch, uint32_t rank,
                         const uint64_t *dims) {
  const trace_step *s = &r->re.to->steps.items[id];
  if (s->batch == batch && s->rank == rank &&
      (!rank || !memcmp(s->dims, dims, rank * sizeof *dims)))
    return id;
  trace_step n = step_like(s, TRACE_RESHAPE, s->type, batch);
  n.rank = rank;
  n.dims = NEW_ARRAY(r->memory, uint64_t, rank + 1);
  if (rank)
    memcpy(n.dims, dims, rank * sizeof *dims);
  retrace_set_operands(&r->re, &n, 1, &id);
  return retrace_add_once(&r->re, n);
}

static const trace_step *old_operand(const rewriting *r, const trace_step *s, uint32_t i) {
  return &r->re.old->steps.items[s->operands[i]];
}

// ---- parts at other places --------------------------------------------------------------------

// Whether the elements from b on are as far as a ^ b from those from a on, so many of `total`.
static bool are_exchanged(uint64_t a, uint64_t b, uint64_t count, uint64_t total) {
  return a == b || (is_power_of_two(count) && a % count == 0 && b % count == 0 &&
                    total % f2_unit(f2_msb(a ^ b) + 1) == 0);
}

// Each row of so many has `blocks` times `size` elements, with block i where block i ^ distance
// was.
typedef struct exchange {
  uint64_t rows, blocks, size, distance;
} exchange;

static value_id exchanged_as_one(rewriting *r, value_id whole, const exchange *x) {
  int bits = f2_msb(x->distance) + 1;
  uint64_t dims[] = {f2_unit(bits), x->size};
  value_id id = reshaped(r, whole, x->rows * (x->blocks >> bits), 2, dims);
  const trace_step *s = &r->re.to->steps.items[id];
  trace_step n = step_like(s, TRACE_BMMC, s->type, s->batch);
  n.rank = 2;
  n.dims = s->dims;
  n.number = x->distance;
  n.rows = NEW_ARRAY(r->memory, uint64_t, bits);
  for (int i = 0; i < bits; i++)
    n.rows[i] = f2_unit(i);
  retrace_set_operands(&r->re, &n, 1, &id);
  return retrace_add_once(&r->re, n);
}

static bool is_scalar_step(const trace_step *s) {
  return s->op == TRACE_SCALAR || s->op == TRACE_SELECT || s->op == TRACE_CONVERT ||
         s->op == TRACE_ROOT;
}

// What is computed of each element is computed of the exchanged ones, up to so many steps deep.
static value_id exchanged(rewriting *r, value_id whole, const exchange *x, int depth) {
  trace_step n = r->re.to->steps.items[whole];
  if (x->distance == 0 || trace_step_count(&n) == 1)
    return whole;
  if (n.op == TRACE_RESHAPE && depth > 0) {
    value_id id = exchanged(r, *n.operands, x, depth);
    return reshaped(r, id, n.batch, n.rank, n.dims);
  }
  bool same = is_scalar_step(&n) && depth > 0;
  for (uint32_t i = 0; i < n.operand_count && same; i++) {
    const trace_step *o = &r->re.to->steps.items[n.operands[i]];
    same = o->batch == 1 || o->batch == n.batch;
  }
  if (!same)
    return exchanged_as_one(r, whole, x);
  value_id operands[3];
  for (uint32_t i = 0; i < n.operand_count; i++) {
    value_id id = exchanged(r, n.operands[i], x, depth - 1);
    operands[i] = reshaped(r, id, r->re.to->steps.items[n.operands[i]].batch, 0, NULL);
  }
  retrace_set_operands(&r->re, &n, n.operand_count, operands);
  return retrace_add_once(&r->re, n);
}

// What a step does in a row, it does to each of so many groups of instances apart.
typedef struct grouping {
  uint64_t rows;
  uint64_t groups, whole, first;  // of the step; of that on wholes; the first that is the step's
} grouping;

static bool is_part(const rewriting *r, value_id old) { return r->parts[old].whole != NO_STEP; }

// The operands that are parts have so many rows, and the step's instances are of as many.
static bool find_rows(const rewriting *r, const trace_step *s, uint64_t *rows) {
  *rows = 0;
  for (uint32_t i = 0; i < s->operand_count; i++)
    if (is_part(r, s->operands[i])) {
      uint64_t own = r->parts[s->operands[i]].rows;
      if ((*rows && own != *rows) || old_operand(r, s, i)->batch % own || s->batch % own)
        return false;
      *rows = own;
    }
  return *rows != 0;
}

static bool find_groups(const rewriting *r, const trace_step *s, grouping *g) {
  bool found = false;
  *g = (grouping){0};
  if (!find_rows(r, s, &g->rows))
    return false;
  g->groups = s->batch / g->rows;
  if (s->op == TRACE_CONCAT && g->groups == 1)
    return false;  // of parts of the row: part_of_concat
  for (uint32_t i = 0; i < s->operand_count; i++)
    if (is_part(r, s->operands[i]))
      g->groups = greatest_common_divisor(g->groups, old_operand(r, s, i)->batch / g->rows);
  for (uint32_t i = 0; i < s->operand_count; i++) {
    const part *p = &r->parts[s->operands[i]];
    if (p->whole == NO_STEP)
      continue;
    uint64_t each = trace_step_count(old_operand(r, s, i)) / g->rows / g->groups;
    if (each == 0 || p->first % each || p->total % each ||
        (found && (g->whole != p->total / each ||
                   !are_exchanged(g->first, p->first / each, g->groups, g->whole))))
      return false;
    g->whole = p->total / each;
    g->first = found ? g->first : p->first / each;
    found = true;
  }
  return found;
}

// Operand i for all groups. NO_STEP: it is another one for each, and no part.
static value_id whole_operand(rewriting *r, const trace_step *s, uint32_t i, const grouping *g) {
  const trace_step *o = old_operand(r, s, i);
  const part *p = &r->parts[s->operands[i]];
  uint64_t batch = o->batch / g->groups * g->whole;
  if (p->whole != NO_STEP) {
    uint64_t each = trace_step_count(o) / g->rows / g->groups;
    exchange x = {g->rows, g->whole, each, g->first ^ (p->first / each)};
    return reshaped(r, exchanged(r, p->whole, &x, MOST_DEEP), batch, o->rank, o->dims);
  }
  if (g->rows % o->batch == 0)  // of whole rows
    return r->re.now[s->operands[i]];
  uint64_t in_group = o->batch / g->rows / g->groups;
  if (o->op != TRACE_INSTANCE || !o->number || o->batch % (g->rows * g->groups) ||
      in_group * g->first % o->number ||
      (g->rows > 1 && (in_group * g->groups % o->number || in_group * g->whole % o->number)))
    return NO_STEP;
  trace_step index = *o;
  index.batch = batch;
  return retrace_add_once(&r->re, index);
}

static part part_of_step(rewriting *r, const trace_step *s) {
  part none = {.whole = NO_STEP}, all = {0};
  grouping g;
  if (s->op == TRACE_EXTERN || s->op == TRACE_WRONG || !find_groups(r, s, &g))
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
  uint64_t each = trace_step_count(s) / g.rows / g.groups;
  all.rows = g.rows;
  all.first = each * g.first;
  all.total = each * g.whole;
  all.work += is_scalar_step(s) ? all.total : 0;
  if (!trace_size_fits(&n))
    return none;
  all.whole = retrace_add_once(&r->re, n);
  return all;
}

static part part_of_slice(rewriting *r, const trace_step *s) {
  const trace_step *o = old_operand(r, s, 0);
  part p = r->parts[s->operands[0]];
  uint64_t count = trace_step_count(o) / o->batch;
  if (p.whole != NO_STEP && p.rows != o->batch) {
    part all = part_of_step(r, s);
    if (all.whole != NO_STEP)
      return all;
  }
  if (p.whole == NO_STEP || p.rows != o->batch)
    p = (part){r->re.now[s->operands[0]], o->batch, 0, count, 0};
  p.first += count / o->dims[0] * s->number;
  if (trace_step_count(s) == p.rows * p.total)
    p.whole = NO_STEP;
  return p;
}

// ---- parts that follow one another -----------------------------------------------------------

// Of each row the elements of a's whole before b begins, and those of b's whole from there on.
static value_id choice(rewriting *r, const trace_step *s, const part *a, const part *b) {
  uint64_t all = a->rows * a->total, unit = is_power_of_two(a->total) ? b->first & -b->first : 1;
  trace_step index = step_like(s, TRACE_INSTANCE, SCALAR_I64, all / unit);
  index.number = a->total / unit;
  trace_step limit = step_like(s, TRACE_CONSTANT, SCALAR_I64, 1);
  limit.constant = scalar_from_i64(SCALAR_I64, (int64_t)(b->first / unit));
  trace_step below = step_like(s, TRACE_SCALAR, SCALAR_BOOL, all / unit);
  below.scalar = OP_LT;
  value_id first = retrace_add_once(&r->re, index), second = retrace_add_once(&r->re, limit);
  retrace_set_operands(&r->re, &below, 2, (value_id[]){first, second});
  value_id condition = retrace_add_once(&r->re, below);
  first = reshaped(r, a->whole, all, 0, NULL);
  second = reshaped(r, b->whole, all, 0, NULL);
  trace_step select = step_like(s, TRACE_SELECT, s->type, all);
  retrace_set_operands(&r->re, &select, 3, (value_id[]){condition, first, second});
  return reshaped(r, retrace_add_once(&r->re, select), a->rows, 1, &a->total);  // an op of its own
}

// Whether to do it all is not much more than to do it for the part.
static bool is_cheap(const part *p, uint64_t count) {
  enum { FEW = 16, TIMES = 4 };  // operations on each element; times as many elements
  return p->total <= TIMES * count || p->work <= FEW * p->total;
}

// The same part, of so many elements, of another whole, in which it begins there.
static bool move_part(rewriting *r, part *p, uint64_t count, uint64_t first) {
  if (first + count > p->total || !are_exchanged(p->first, first, count, p->total))
    return false;
  exchange x = {p->rows, p->total / count, count, (p->first ^ first) / count};
  p->whole = exchanged(r, p->whole, &x, MOST_DEEP);
  p->first = first;
  return true;
}

static part part_of_concat(rewriting *r, const trace_step *s) {
  part none = {.whole = NO_STEP};
  part a = r->parts[s->operands[0]], b = r->parts[s->operands[1]];
  uint64_t before = trace_step_count(old_operand(r, s, 0)) / s->batch;
  uint64_t behind = trace_step_count(old_operand(r, s, 1)) / s->batch;
  if (a.whole == NO_STEP || b.whole == NO_STEP || a.rows != s->batch || b.rows != s->batch ||
      a.total != b.total)
    return none;
  if (!move_part(r, &b, behind, a.first + before))
    return none;
  part p = {a.whole, a.rows, a.first, a.total, a.work + b.work};
  if (a.whole == b.whole) {
    p.work = a.work;
    return p;
  }
  bool halves = before + behind == a.total && before == behind;
  if (halves || !is_cheap(&a, before) || !is_cheap(&b, behind))
    return none;
  p.whole = choice(r, s, &a, &b);
  return p;
}

// ---- the whole -------------------------------------------------------------------------------

static void rewrite_step(rewriting *r, const trace_step *s) {
  part *p = &r->parts[r->re.step];
  *p = (part){.whole = NO_STEP};
  if (trace_step_count(s) == 0)
    ;
  else if (s->op == TRACE_SLICE)
    *p = part_of_slice(r, s);
  else if (s->op == TRACE_RESHAPE)
    *p = r->parts[s->operands[0]];
  else if (s->op == TRACE_CONCAT)
    *p = part_of_concat(r, s);
  if (p->whole == NO_STEP && s->op != TRACE_SLICE && s->op != TRACE_RESHAPE && trace_step_count(s))
    *p = part_of_step(r, s);
  if (p->whole != NO_STEP && p->rows * p->total == trace_step_count(s)) {
    r->re.now[r->re.step] = reshaped(r, p->whole, s->batch, s->rank, s->dims);
    r->chosen = true;
    rule_fired(r->log, RULE_PARTS, retrace_origin(&r->re), 0, 0);
    p->whole = NO_STEP;
    return;
  }
  trace_step n = retrace_step(&r->re);
  bool alone = n.operand_count == 0 && n.op != TRACE_EXTERN && n.op != TRACE_TABLE;
  r->re.now[r->re.step] = alone ? retrace_add_once(&r->re, n) : retrace_add(&r->re, n);
}

const trace *trace_on_wholes(arena *a, const trace *t, rule_log *log, const uint32_t **origins) {
  bool slices = false, joins = false;
  for (size_t i = 0; i < t->steps.count; i++) {
    slices |= t->steps.items[i].op == TRACE_SLICE;
    joins |= t->steps.items[i].op == TRACE_CONCAT;
  }
  if (!slices || !joins)
    return t;
  rewriting r = {.memory = a, .log = log, .re = retrace_of(a, t, *origins)};
  r.parts = NEW_ARRAY(a, part, t->steps.count);
  for (; r.re.step < t->steps.count; r.re.step++)
    rewrite_step(&r, retrace_old(&r.re));
  return r.chosen ? retrace_end(&r.re, origins) : t;
}
