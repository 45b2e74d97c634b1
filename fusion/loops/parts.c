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

// In the shape of that step.
static value_id add_reshape(making *m, const trace_step *like, uint32_t origin, value_id of) {
  trace_step s = {.op = TRACE_RESHAPE, .type = like->type, .rank = like->rank, .dims = like->dims};
  s.batch = like->batch;
  s.where = like->where;
  s.caller = like->caller;
  return add_on(m, s, origin, 1, &of);
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
  return add_reshape(m, s, origin, argument);
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

static value_id find_operand(making *m, uint32_t offset, uint32_t k);

// What differs from round to round by numbers: i64s, or where a part of an array begins.
static value_id add_numbered(making *m, const trace_step *like, uint32_t origin, part_value v) {
  trace_step own = *like;
  own.op = TRACE_ARGUMENT;
  own.operand_count = 0;
  own.shadow = own.fixed = own.trusted = false;
  own.number = m->part->inputs.count;
  vec_push(m->n->memory, &m->part->inputs, v);
  return add_step(m, own, origin);
}

// Elements of which the numbers differ from round to round, of something from elsewhere or made in
// the round: rows of it.
typedef struct chosen {
  const trace_step *element;
  uint32_t offset, origin;  // offset: of a step in the round that reads it; NO_STEP: none does
  value_id from;            // in the first round
  uint64_t *numbers;        // by round: of the row
  uint64_t length;          // rows of each instance
} chosen;

// offset: of the steps in their rounds. An element of an element of an array is one of all of those.
static chosen find_rows(const making *m, const value_id *steps, uint32_t offset) {
  const numbered *n = m->n;
  const repeat *at = &m->part->at;
  const trace_step *s = numbered_step(n, steps[0]), *of = numbered_step(n, s->operands[0]);
  chosen c = {s, offset, n->origins[steps[0]], s->operands[0], NULL, of->dims[0]};
  uint32_t up;
  c.numbers = NEW_ARRAY(n->memory, uint64_t, at->rounds);
  for (uint32_t r = 0; r < at->rounds; r++)
    c.numbers[r] = numbered_step(n, steps[r])->number;
  while (s->batch == 1 && c.offset != NO_STEP && of->op == TRACE_ELEMENT && of->batch == 1 &&
         (up = offset_in_round(n, at->first, at->period, c.from)) != NO_STEP) {
    for (uint32_t r = 0; r < at->rounds; r++)
      c.numbers[r] += c.length * numbered_step(n, n->at[at->first + r * at->period + up])->number;
    c.from = of->operands[0];
    of = numbered_step(n, c.from);
    c.length *= of->dims[0];
    c.offset = up;
  }
  return c;
}

// The places of row 0 of each instance, among the rows of all.
static value_id add_places(making *m, const chosen *c) {
  static uint64_t one = 1;
  trace_step s = {.op = TRACE_INSTANCE, .type = SCALAR_I64, .batch = c->element->batch};
  s.number = s.batch;
  value_id factors[2] = {add_on(m, s, c->origin, 0, factors)};
  s = (trace_step){.op = TRACE_CONSTANT, .type = SCALAR_I64, .batch = 1};
  s.constant = scalar_from_i64(SCALAR_I64, (int64_t)c->length);
  factors[1] = add_on(m, s, c->origin, 0, factors);
  s = (trace_step){.op = TRACE_SCALAR, .type = SCALAR_I64, .scalar = OP_MUL};
  s.batch = c->element->batch;
  value_id place = add_on(m, s, c->origin, 2, factors);
  s = (trace_step){.op = TRACE_PACK, .type = SCALAR_I64, .batch = s.batch, .rank = 1, .dims = &one};
  return add_on(m, s, c->origin, 1, &place);
}

// Row 0 of each instance at the places, or of all.
static value_id add_rows(making *m, const chosen *c, value_id places, value_id rows) {
  trace_step gather = rows_of_instances(m->n->memory, c->element, TRACE_GATHER);
  trace_step element = *c->element;
  gather.batch = element.batch;
  gather.dims[0] = 1;
  element.number = 0;
  if (places != NO_STEP)
    rows = add_on(m, gather, c->origin, 2, (value_id[]){places, rows});
  return add_on(m, element, c->origin, 1, &rows);
}

// By round: the array that operand k of the step is, of which there may be parts; NULL: it is none,
// or made in the round.
static value_id *find_arrays(const making *m, uint32_t offset, uint32_t k) {
  const numbered *n = m->n;
  const repeat *at = &m->part->at;
  value_id *of = steps_at(m, offset);
  for (uint32_t r = 0; r < at->rounds; r++) {
    of[r] = step_in_any_shape(n, numbered_step(n, of[r])->operands[k]);
    if (offset_in_round(n, at->first + r * at->period, at->period, of[r]) != NO_STEP)
      return NULL;
  }
  const trace_step *s = numbered_step(n, of[0]);
  bool there = !all_equal(of, at->rounds) || s->op == TRACE_ARGUMENT;
  return m->parts && there && s->type != SCALAR_BOOL ? of : NULL;
}

// Rows like the elements of the step, of a part of an array that begins at an element: by round.
static value_id add_part(making *m, const trace_step *s, uint32_t origin, uint64_t rows,
                         value_id *of, uint64_t *numbers) {
  trace_step own = rows_of_instances(m->n->memory, s, TRACE_ARGUMENT);
  own.dims[0] = rows;
  for (uint32_t r = 0; r < m->part->at.rounds; r++)
    m->needed[of[r]] = true;
  return add_numbered(m, &own, origin, (part_value){of, numbers});
}

// Elements of which the numbers differ from round to round: a part of an array, which begins where
// the first of them is; or a gather.
static value_id add_element(making *m, const value_id *steps, uint32_t offset) {
  chosen c = find_rows(m, steps, offset);
  const trace_step *s = c.element;
  value_id from = c.from, *of = NULL;
  if (c.offset != NO_STEP)
    of = find_arrays(m, c.offset, 0);
  else if (m->parts && numbered_step(m->n, from)->op == TRACE_ARGUMENT && s->type != SCALAR_BOOL)
    of = same_in_all_rounds(m, from);
  if (of) {
    for (uint32_t r = 0; r < m->part->at.rounds; r++)
      c.numbers[r] *= trace_step_count(s) / s->batch;
    value_id places = s->batch == 1 ? NO_STEP : add_places(m, &c);
    from = add_part(m, s, c.origin, (s->batch - 1) * c.length + 1, of, c.numbers);
    return add_rows(m, &c, places, from);
  }
  static uint64_t one = 1;
  trace_step place = {.op = TRACE_ARGUMENT, .type = SCALAR_I64, .batch = 1};
  value_id number = add_numbered(m, &place, c.origin, (part_value){NULL, c.numbers});
  place = (trace_step){.op = TRACE_PACK, .type = SCALAR_I64, .batch = 1, .rank = 1, .dims = &one};
  number = add_on(m, place, c.origin, 1, &number);
  from = c.offset == NO_STEP ? find_step(m, from, 0) : find_operand(m, c.offset, 0);
  trace_step rows = rows_of_instances(m->n->memory, s, TRACE_RESHAPE);
  rows.dims[0] = c.length;
  if (c.from != s->operands[0])
    from = add_reshape(m, &rows, c.origin, from);
  return add_rows(m, &c, number, from);
}

// ---- gathers ------------------------------------------------------------------------------------

// By round: the number that is added to all places of the gather, and *places, the step that makes
// the rest of them, in the first round. NULL: there is none, or not all are places without it.
static uint64_t *find_shift(const making *m, uint32_t offset, value_id *places, uint64_t *rows) {
  const numbered *n = m->n;
  const repeat *at = &m->part->at;
  uint64_t *shift = NEW_ARRAY(n->memory, uint64_t, at->rounds), most = 0;
  *rows = 0;
  value_id *rest = NEW_ARRAY(n->memory, value_id, at->rounds);
  for (uint32_t r = 0; r < at->rounds; r++) {
    uint32_t begin = at->first + r * at->period;
    const trace_step *s = numbered_step(n, n->at[begin + offset]);
    const trace_step *place = numbered_step(n, s->operands[0]);
    *rows = numbered_step(n, s->operands[1])->dims[0];
    while (place->op == TRACE_RESHAPE || (place->op == TRACE_PACK && place->operand_count == 1))
      place = numbered_step(n, place->operands[0]);
    const trace_step *by = place->op == TRACE_SCALAR && place->scalar == OP_ADD
                               ? numbered_step(n, place->operands[1])
                               : place;
    if (by->op != TRACE_CONSTANT || by->type != SCALAR_I64 || by->constant.i64 < 0 ||
        trace_step_count(numbered_step(n, place->operands[0])) !=
            trace_step_count(numbered_step(n, s->operands[0])))
      return NULL;
    rest[r] = place->operands[0];
    shift[r] = by->constant.u64;
    most = shift[r] > most ? shift[r] : most;
  }
  *rows = most < *rows ? *rows - most : 0;
  bool differs = false, own = offset_in_round(n, at->first, at->period, rest[0]) != NO_STEP;
  for (uint32_t r = 0; r < at->rounds; r++) {
    differs |= shift[r] != shift[0];
    if (!trace_is_below(n->ranges[rest[r]], *rows))
      return NULL;
  }
  *places = rest[0];
  return differs && (own || all_equal(rest, at->rounds)) ? shift : NULL;
}

// xs[2 * i + k], with k a number that differs from round to round: of the part of xs from k on. NO_STEP:
// it is another gather.
static value_id add_gather(making *m, uint32_t offset) {
  const numbered *n = m->n;
  value_id id = n->at[m->part->at.first + offset], places;
  trace_step s = *numbered_step(n, id);
  if (s.op != TRACE_GATHER || numbered_step(n, s.operands[1])->batch != 1)
    return NO_STEP;
  uint64_t rows = 0, inner = trace_step_count(&s) / (s.batch * s.dims[0]);
  uint64_t *shift = find_shift(m, offset, &places, &rows);
  value_id *of = shift ? find_arrays(m, offset, 1) : NULL;
  if (!of)
    return NO_STEP;
  for (uint32_t r = 0; r < m->part->at.rounds; r++)
    shift[r] *= inner;
  trace_step row = s;
  row.rank--;
  row.dims++;
  row.batch = 1;
  uint32_t origin = n->origins[id];
  value_id both[] = {
      add_reshape(m, numbered_step(n, s.operands[0]), origin, find_step(m, places, 0)),
      add_part(m, &row, origin, rows, of, shift)};
  return add_on(m, s, origin, 2, both);
}

// An input that differs from round to round.
static value_id find_input(making *m, part_value v) {
  uint32_t rounds = m->part->at.rounds, id;
  uint64_t h = hash_bytes(v.of, rounds * sizeof *v.of);
  for (size_t tried = 0; (id = hash_next(&m->inputs, h, &tried)) != HASH_NONE;)
    if (!memcmp(m->found.items[id].of, v.of, rounds * sizeof *v.of))
      return m->found.items[id].step;
  found_input found = {v.of, NO_STEP};
  found.step = are_elements(m, v.of) ? add_element(m, v.of, NO_STEP) : add_argument(m, v.of[0], v);
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
    v.of[r] = step_in_any_shape(n, numbered_step(n, v.of[r])->operands[k]);
  value_id found = all_equal(v.of, at->rounds) ? find_step(m, v.of[0], 0) : find_input(m, v);
  const trace_step *shape = numbered_step(n, own);
  return trace_have_one_shape(numbered_step(n, v.of[0]), shape)
             ? found
             : add_reshape(m, shape, n->origins[own], found);
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
  if ((made = add_gather(m, offset)) != NO_STEP) {
    m->now[id] = made + 1;
    return;
  }
  if (has_one_number(m->n, &m->part->at, offset)) {
    value_id *operands = NEW_ARRAY(m->n->memory, value_id, s.operand_count);
    for (uint32_t k = 0; k < s.operand_count; k++)
      operands[k] = find_operand(m, offset, k);
    made = add_on(m, s, m->n->origins[id], s.operand_count, operands);
  } else {
    made = add_element(m, steps_at(m, offset), offset);
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
