// A part of a Trace, as a Trace of its own. See loops.h.
#include "fusion/loops/looping.h"

#include "core/hash.h"

enum {
  MOST_INLINED = 32
};  // steps, one of the other, that are executed by each part that reads them

typedef struct found_input {
  const value_id *of;  // by round
  value_id step;       // of the part
} found_input;

typedef struct making {
  const numbered *n;
  part *part;
  bool *needed;
  bool parts;              // whether an input may be a part of an array
  value_id *now;           // by step of the numbered Trace: 1 + that of the part; 0: none yet
  hash_table inputs;       // those that differ from round to round
  VEC(found_input) found;  // ... by number there
} making;

static value_id add_step(making *m, trace_step s, uint32_t origin) {
  vec_push(m->n->memory, &m->part->trace->steps, s);
  vec_push(m->n->memory, &m->part->origins, origin);
  return (value_id)(m->part->trace->steps.count - 1);
}

static value_id add_on(making *m, trace_step s, uint32_t origin, uint32_t count,
                       const value_id *operands) {
  s.operand_count = count;
  s.operands = NEW_ARRAY(m->n->memory, value_id, count + 1);
  memcpy(s.operands, operands, count * sizeof *operands);
  return add_step(m, s, origin);
}

// A step like another one, of one instance: its instances are rows.
static trace_step rows_of_instances(arena *a, const trace_step *like, trace_op op) {
  trace_step s = {.op = op, .type = like->type, .rank = like->rank + 1, .batch = 1};
  s.where = like->where;
  s.caller = like->caller;
  s.dims = NEW_ARRAY(a, uint64_t, s.rank);
  s.dims[0] = like->batch;
  for (uint32_t k = 0; k < like->rank; k++)
    s.dims[k + 1] = like->dims[k];
  return s;
}

static bool all_equal(const value_id *ids, uint32_t count) {
  uint32_t i = 1;
  while (i < count && ids[i] == ids[0])
    i++;
  return i >= count;
}

// ---- inputs -------------------------------------------------------------------------------------

// An argument of the part, for values like that of `id`.
static value_id add_argument(making *m, value_id id, part_value v) {
  const trace_step *s = numbered_step(m->n, id);
  uint32_t origin = m->n->origins[id];
  trace_step own = *s;
  if (s->op != TRACE_ARGUMENT || !all_equal(v.of, m->part->at.rounds)) {
    own = s->batch == 1 ? *s : rows_of_instances(m->n->memory, s, TRACE_ARGUMENT);
    own.op = TRACE_ARGUMENT;
    own.operand_count = 0;
    own.shadow = own.fixed = own.trusted = false;
    own.places = NULL;
  }
  own.number = m->part->inputs.count;
  vec_push(m->n->memory, &m->part->inputs, v);
  for (uint32_t r = 0; r < m->part->at.rounds; r++)
    m->needed[v.of[r]] = true;
  value_id argument = add_step(m, own, origin);
  if (s->batch == 1)
    return argument;
  trace_step in = {.op = TRACE_RESHAPE, .type = s->type, .batch = s->batch};
  in.rank = s->rank;
  in.dims = s->dims;
  in.where = s->where;
  in.caller = s->caller;
  return add_on(m, in, origin, 1, &argument);
}

// By round: that step.
static value_id *same_in_all_rounds(const making *m, value_id id) {
  value_id *of = NEW_ARRAY(m->n->memory, value_id, m->part->at.rounds);
  for (uint32_t r = 0; r < m->part->at.rounds; r++)
    of[r] = id;
  return of;
}

// Whether a step elsewhere is executed again: it moves what the part reads, or is made of nothing.
static bool is_inlined(const numbered *n, value_id id, uint32_t depth) {
  return n->work[id] <= MOST_INLINED || (depth < MOST_INLINED && step_moves(numbered_step(n, id)));
}

// The part's step for one that is the same in all rounds. Recurses as often as steps are inlined.
static value_id find_step(making *m, value_id id, uint32_t depth) {
  const numbered *n = m->n;
  if (m->now[id])
    return m->now[id] - 1;
  value_id found;
  trace_step s = *numbered_step(n, id);
  if (is_inlined(n, id, depth)) {
    value_id *operands = NEW_ARRAY(n->memory, value_id, s.operand_count + 1);
    for (uint32_t i = 0; i < s.operand_count; i++)
      operands[i] = find_step(m, s.operands[i], depth + 1);
    found = add_on(m, s, n->origins[id], s.operand_count, operands);
  } else {
    found = add_argument(m, id, (part_value){same_in_all_rounds(m, id), NULL});
  }
  m->now[id] = found + 1;
  return found;
}

// ---- steps --------------------------------------------------------------------------------------

// By round: the step at that offset.
static value_id *steps_at(const making *m, uint32_t offset) {
  const repeat *at = &m->part->at;
  value_id *of = NEW_ARRAY(m->n->memory, value_id, at->rounds);
  for (uint32_t r = 0; r < at->rounds; r++)
    of[r] = m->n->at[at->first + r * at->period + offset];
  return of;
}

// Whether elements of what the step reads are there, as a part of it, without a pass.
static bool is_part(const making *m, const trace_step *s) {
  const trace_step *of = numbered_step(m->n, s->operands[0]);
  return m->parts && of->op == TRACE_ARGUMENT && of->type != SCALAR_BOOL;
}

// What differs from round to round by the number of a step: an i64, or an element of `array`.
static value_id add_numbered(making *m, trace_step like, const value_id *steps, value_id array) {
  const numbered *n = m->n;
  uint32_t rounds = m->part->at.rounds;
  part_value v = {array == NO_STEP ? NULL : same_in_all_rounds(m, array),
                  NEW_ARRAY(n->memory, uint64_t, rounds)};
  for (uint32_t r = 0; r < rounds; r++)
    v.numbers[r] = numbered_step(n, steps[r])->number;
  like.op = TRACE_ARGUMENT;
  like.operand_count = 0;
  like.shadow = like.fixed = like.trusted = false;
  like.number = m->part->inputs.count;
  vec_push(n->memory, &m->part->inputs, v);
  return add_step(m, like, n->origins[steps[0]]);
}

// An element, of which number differs from round to round, of an array that does not.
static value_id add_element(making *m, const value_id *steps) {
  static uint64_t one = 1;
  const trace_step *s = numbered_step(m->n, steps[0]);
  uint32_t origin = m->n->origins[steps[0]];
  if (is_part(m, s))
    return add_numbered(m, *s, steps, s->operands[0]);
  trace_step place = {.op = TRACE_ARGUMENT, .type = SCALAR_I64, .batch = 1};
  place.where = s->where;
  place.caller = s->caller;
  value_id argument = add_numbered(m, place, steps, NO_STEP);
  place.op = TRACE_PACK;
  place.rank = 1;
  place.dims = &one;
  value_id both[] = {add_on(m, place, origin, 1, &argument), find_step(m, s->operands[0], 0)};
  trace_step row = rows_of_instances(m->n->memory, s, TRACE_GATHER);
  value_id gathered = add_on(m, row, origin, 2, both);
  trace_step element = *s;
  element.number = 0;
  return add_on(m, element, origin, 1, &gathered);
}

// Whether in each round it is an element of one array from elsewhere.
static bool are_elements(const making *m, const value_id *steps) {
  const trace_step *first = numbered_step(m->n, steps[0]);
  uint32_t r = 0;
  for (; r < m->part->at.rounds; r++) {
    const trace_step *s = numbered_step(m->n, steps[r]);
    if (s->op != TRACE_ELEMENT || s->batch != 1 || s->operands[0] != first->operands[0])
      break;
  }
  return r == m->part->at.rounds;
}

// An input that differs from round to round.
static value_id find_input(making *m, part_value v) {
  uint32_t rounds = m->part->at.rounds, id;
  uint64_t h = hash_bytes(v.of, rounds * sizeof *v.of);
  for (size_t tried = 0; (id = hash_next(&m->inputs, h, &tried)) != HASH_NONE;)
    if (!memcmp(m->found.items[id].of, v.of, rounds * sizeof *v.of))
      return m->found.items[id].step;
  found_input found = {v.of, NO_STEP};
  found.step = are_elements(m, v.of) ? add_element(m, v.of) : add_argument(m, v.of[0], v);
  hash_add(m->n->memory, &m->inputs, h, (uint32_t)m->found.count);
  vec_push(m->n->memory, &m->found, found);
  return found.step;
}

static value_id find_operand(making *m, uint32_t offset, uint32_t k) {
  const numbered *n = m->n;
  const repeat *at = &m->part->at;
  value_id own = numbered_step(n, n->at[at->first + offset])->operands[k];
  if (offset_in_round(n, at->first, at->period, own) != NO_STEP)
    return m->now[own] - 1;
  part_value v = {steps_at(m, offset), NULL};
  for (uint32_t r = 0; r < at->rounds; r++)
    v.of[r] = numbered_step(n, v.of[r])->operands[k];
  return all_equal(v.of, at->rounds) ? find_step(m, own, 0) : find_input(m, v);
}

static bool has_one_number(const numbered *n, const repeat *at, uint32_t offset) {
  for (uint32_t r = 1; r < at->rounds; r++)
    if (numbered_step(n, n->at[at->first + r * at->period + offset])->number !=
        numbered_step(n, n->at[at->first + offset])->number)
      return false;
  return true;
}

static void add_own_step(making *m, uint32_t offset) {
  value_id id = m->n->at[m->part->at.first + offset], made;
  trace_step s = *numbered_step(m->n, id);
  if (has_one_number(m->n, &m->part->at, offset)) {
    value_id *operands = NEW_ARRAY(m->n->memory, value_id, s.operand_count);
    for (uint32_t k = 0; k < s.operand_count; k++)
      operands[k] = find_operand(m, offset, k);
    made = add_on(m, s, m->n->origins[id], s.operand_count, operands);
  } else {
    made = add_element(m, steps_at(m, offset));
  }
  m->now[id] = made + 1;
}

// ---- results ------------------------------------------------------------------------------------

static void add_result(making *m, value_id id) {
  value_id own = m->now[id] - 1;
  const trace_step *s = numbered_step(m->n, id);
  if (s->batch != 1) {
    trace_step out = rows_of_instances(m->n->memory, s, TRACE_RESHAPE);
    own = add_on(m, out, m->n->origins[id], 1, &own);
  }
  vec_push(m->n->memory, &m->part->trace->results, own);
}

static void add_output(making *m, value_id id, bool own) {
  uint32_t offset = m->n->position[id] - m->part->at.first;
  part_value v = {own ? steps_at(m, offset) : same_in_all_rounds(m, id), NULL};
  vec_push(m->n->memory, &m->part->outputs, v);
  add_result(m, id);
}

static bool is_needed(const making *m, uint32_t offset) {
  const repeat *at = &m->part->at;
  bool needed = false;
  for (uint32_t r = 0; r < at->rounds && !needed; r++)
    needed = m->needed[m->n->at[at->first + r * at->period + offset]];
  return needed;
}

// By offset: whether it is a check that no step of the round reads.
static bool *find_checks(const making *m) {
  const numbered *n = m->n;
  const repeat *at = &m->part->at;
  bool *checks = NEW_ARRAY(n->memory, bool, at->period + 1);
  for (uint32_t o = 0; o < at->period; o++) {
    const trace_step *s = numbered_step(n, n->at[at->first + o]);
    checks[o] = s->op == TRACE_WRONG;
    for (uint32_t k = 0; k < s->operand_count; k++) {
      uint32_t read = offset_in_round(n, at->first, at->period, s->operands[k]);
      if (read != NO_STEP)
        checks[read] = false;
    }
  }
  return checks;
}

// Steps of a round that are `checks`, or the others, and those of them that are needed as outputs.
static void add_own_steps(making *m, const bool *checks, bool are_checks) {
  const repeat *at = &m->part->at;
  for (uint32_t o = 0; o < at->period; o++)
    if (checks[o] == are_checks)
      add_own_step(m, o);
  for (uint32_t o = 0; o < at->period; o++)
    if (checks[o] == are_checks && is_needed(m, o))
      add_output(m, m->n->at[at->first + o], true);
}

part make_part(const numbered *n, repeat at, bool *needed, bool leaves, uint32_t rest_count,
               const uint32_t *rest) {
  part p = {.at = at, .trace = NEW(n->memory, trace)};
  making m = {.n = n, .part = &p, .needed = needed, .parts = n->parts};
  *p.trace = *n->trace;
  memset(&p.trace->steps, 0, sizeof p.trace->steps);
  memset(&p.trace->results, 0, sizeof p.trace->results);
  memset(&p.trace->checks, 0, sizeof p.trace->checks);
  m.now = NEW_ARRAY(n->memory, value_id, n->trace->steps.count + 1);
  const bool *checks = find_checks(&m);
  add_own_steps(&m, checks, false);
  add_own_steps(&m, checks, true);  // last, as in each Trace: what they look at has to be complete
  for (uint32_t i = 0; i < rest_count; i++)
    find_step(&m, n->trace->results.items[rest[i]], 0);
  for (value_id i = 0; leaves && i < n->trace->steps.count; i++)
    if (needed[i] && n->position[i] == NO_STEP && is_inlined(n, i, 0) &&
        numbered_step(n, i)->op != TRACE_CONSTANT && numbered_step(n, i)->op != TRACE_TABLE) {
      find_step(&m, i, 0);
      add_output(&m, i, false);
    }
  for (uint32_t i = 0; i < rest_count; i++) {
    add_result(&m, n->trace->results.items[rest[i]]);
    vec_push(n->memory, &p.rest, rest[i]);
  }
  return p;
}
