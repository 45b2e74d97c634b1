// Open Traces: of each choice one function. See trace.h.
#include "lang/trace.h"

#include "core/number.h"

typedef struct taking {
  arena *memory;
  const trace *from;
  const uint32_t *taken;
  value_id first;  // of the steps that are taken; values from before are arguments
  bool *needed;
  bool *used;  // by choice
  value_id *renamed;
  trace out;
  uint64_t arguments;
} taking;

static taking start_taking(arena *a, const trace *open, const uint32_t *taken) {
  taking t = {.memory = a, .from = open, .taken = taken};
  t.needed = NEW_ARRAY(a, bool, open->steps.count + 1);
  t.used = NEW_ARRAY(a, bool, open->choices.count + 1);
  t.renamed = NEW_ARRAY(a, value_id, open->steps.count + 1);
  return t;
}

// The step whose value this one is, once choices are made.
static value_id taken_step(const taking *t, value_id id) {
  const trace_step *s = &t->from->steps.items[id];
  for (; s->op == TRACE_CHOICE; s = &t->from->steps.items[id])
    id = s->operands[t->taken[s->number]];
  return id;
}

static void need(taking *t, value_id id) {
  t->needed[taken_step(t, id)] = true;
  for (const trace_step *s = &t->from->steps.items[id]; s->op == TRACE_CHOICE;
       s = &t->from->steps.items[s->operands[t->taken[s->number]]])
    t->used[s->number] = true;
}

// A value from before, other than one that takes no reading.
static bool is_given(const taking *t, value_id id) {
  const trace_step *s = &t->from->steps.items[id];
  return id < t->first && (s->operand_count > 0 || s->op == TRACE_ARGUMENT);
}

static void find_needed(taking *t) {
  for (value_id id = (value_id)t->from->steps.count; id-- > 0;) {
    const trace_step *s = &t->from->steps.items[id];
    for (uint32_t i = 0; t->needed[id] && !is_given(t, id) && i < s->operand_count; i++)
      need(t, s->operands[i]);
  }
}

static value_id push(taking *t, trace_step s) {
  vec_push(t->memory, &t->out.steps, s);
  return (value_id)t->out.steps.count - 1;
}

// The same elements in arrays of another shape and number.
static value_id reshape(taking *t, value_id id, uint64_t batch, uint32_t rank,
                        const uint64_t *dims) {
  trace_step s = t->out.steps.items[id];
  value_id *operand = NEW(t->memory, value_id);
  uint64_t *own = NEW_ARRAY(t->memory, uint64_t, rank + 1);
  *operand = id;
  for (uint32_t i = 0; i < rank; i++)
    own[i] = dims[i];
  return push(t, (trace_step){.op = TRACE_RESHAPE,
                              .type = s.type,
                              .batch = batch,
                              .rank = rank,
                              .dims = own,
                              .operand_count = 1,
                              .operands = operand,
                              .where = s.where,
                              .caller = s.caller});
}

// An argument that holds the arrays of a batch as rows.
static value_id push_argument(taking *t, const trace_step *s) {
  trace_step argument = *s;
  argument.op = TRACE_ARGUMENT;
  argument.number = t->arguments++;
  argument.operand_count = 0;
  argument.operands = NULL;
  if (s->batch == 1)
    return push(t, argument);
  uint64_t *dims = NEW_ARRAY(t->memory, uint64_t, s->rank + 1);
  dims[0] = s->batch;
  for (uint32_t i = 0; i < s->rank; i++)
    dims[i + 1] = s->dims[i];
  argument.rank++;
  argument.dims = dims;
  argument.batch = 1;
  return reshape(t, push(t, argument), s->batch, s->rank, s->dims);
}

static void push_needed(taking *t) {
  for (value_id id = 0; id < t->from->steps.count; id++) {
    trace_step s = t->from->steps.items[id];
    if (!t->needed[id])
      continue;
    if (is_given(t, id)) {
      t->renamed[id] = push_argument(t, &s);
      continue;
    }
    value_id *operands = NEW_ARRAY(t->memory, value_id, s.operand_count);
    for (uint32_t i = 0; i < s.operand_count; i++)
      operands[i] = t->renamed[taken_step(t, s.operands[i])];
    s.operands = operands;
    t->renamed[id] = push(t, s);
  }
}

static bool guards(const taking *t, const trace_check *c) {
  return c->guarded == NO_STEP || t->needed[taken_step(t, c->guarded)];
}

trace trace_take(arena *a, const trace *open, const uint32_t *taken) {
  taking t = start_taking(a, open, taken);
  t.out = *open;
  t.out.steps.items = NULL;
  t.out.steps.count = t.out.steps.capacity = 0;
  t.out.results.items = NULL;
  t.out.results.count = t.out.results.capacity = 0;
  t.out.checks.items = NULL;
  t.out.checks.count = t.out.checks.capacity = 0;
  t.out.choices.count = 0;
  for (size_t i = 0; i < open->results.count; i++)
    need(&t, open->results.items[i]);
  find_needed(&t);
  for (size_t i = 0; i < open->checks.count; i++)
    if (guards(&t, &open->checks.items[i]))
      vec_push(a, &t.out.checks, open->checks.items[i]);
  for (size_t i = 0; i < t.out.checks.count; i++)
    need(&t, t.out.checks.items[i].shadow);
  find_needed(&t);
  push_needed(&t);
  for (size_t i = 0; i < open->results.count; i++)
    vec_push(a, &t.out.results, t.renamed[taken_step(&t, open->results.items[i])]);
  for (size_t i = 0; i < t.out.checks.count; i++) {
    trace_check *c = &t.out.checks.items[i];
    c->shadow = t.renamed[taken_step(&t, c->shadow)];
    if (c->guarded != NO_STEP)
      c->guarded = t.renamed[taken_step(&t, c->guarded)];
  }
  return t.out;
}

const bool *trace_used_choices(arena *a, const trace *open, const uint32_t *taken) {
  taking t = start_taking(a, open, taken);
  for (size_t i = 0; i < open->results.count; i++)
    need(&t, open->results.items[i]);
  find_needed(&t);
  return t.used;
}

trace trace_of_function(arena *a, const trace *open, uint32_t choice, uint32_t number,
                        const uint32_t *taken) {
  taking t = start_taking(a, open, taken);
  VEC(value_id) results = {0};
  t.first = open->choices.items[choice].first;
  t.out.externs.items = open->externs.items;
  t.out.externs.count = open->externs.count;
  for (value_id id = t.first; id < open->steps.count; id++) {
    const trace_step *s = &open->steps.items[id];
    if (s->op == TRACE_CHOICE && s->number == choice && !s->shadow)
      vec_push(a, &results, taken_step(&t, s->operands[number]));
  }
  for (size_t i = 0; i < results.count; i++)
    t.needed[results.items[i]] = true;
  find_needed(&t);
  push_needed(&t);
  for (size_t i = 0; i < results.count; i++) {
    value_id id = t.renamed[results.items[i]];
    uint64_t count = trace_step_count(&t.out.steps.items[id]);
    vec_push(a, &t.out.results, reshape(&t, id, 1, 1, &count));
  }
  return t.out;
}
