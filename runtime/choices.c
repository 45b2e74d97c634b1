// Functions that are promised to be equal: planned, compared, one taken. See choices.h.
#include "runtime/choices.h"

#include "fusion/lower/lower.h"
#include "fusion/rules/rules.h"
#include "fusion/shares/cost.h"

#include <math.h>

enum {
  MOST_PLANNED = 1 << 17,
  SCANNED_AS_ONE = 1 << 8
};  // steps of all functions that are planned

typedef struct comparison {
  arena *memory;
  const trace *open;
  const choice_setting *setting;
  choice_list *made;
  uint64_t steps;  // planned so far
} comparison;

choice_list choices_first(arena *memory, const trace *open) {
  choice_list c = {.count = (uint32_t)open->choices.count};
  c.taken = NEW_ARRAY(memory, uint32_t, c.count);
  c.reason = NEW_ARRAY(memory, choice_reason, c.count);
  c.seconds = NEW_ARRAY(memory, double *, c.count);
  return c;
}

bool choices_same(const choice_list *a, const choice_list *b) {
  return a->count == b->count &&
         (!a->count || !memcmp(a->taken, b->taken, a->count * sizeof *a->taken));
}

// ---- predicting --------------------------------------------------------------------------------

// What the costs of a plan's passes, which count ops, do not: of ops of several nodes for each
// element all but one. For one share of the stage.
static double stage_node_seconds(arena *scratch, const plan *p, const net_stage *s) {
  double sum = 0, elements = (double)net_stage_elements(s) / (double)net_share_count(s);
  net_id *nodes = NEW_ARRAY(scratch, net_id, s->nodes.count + 1);
  for (size_t k = 0; k < s->ops.count; k++) {
    const net_op *op = &s->ops.items[k];
    uint32_t count = net_op_nodes(s, op, nodes), computed = 0;
    for (uint32_t j = 0; j < count; j++)
      computed += s->nodes.items[nodes[j]].kind != NET_ELEMENT;
    double each = ldexp((double)computed, -(int)op->k) - 1;
    sum += each > 0 ? ldexp(elements * each, -(int)op->live_count) : 0;
  }
  return sum / p->target->ops_per_second;
}

static double node_seconds(arena *scratch, const plan *p) {
  double sum = 0;
  for (size_t i = 0; i < p->net->stages.count; i++)
    sum += stage_node_seconds(scratch, p, &p->net->stages.items[i]);
  return sum;
}

// Sorts of one array have kernels on a GPU. The host executes other routines for it, between copies
// of their arrays.
static bool has_host_routine(const plan *p) {
  for (size_t i = 0; i < p->net->stages.count; i++) {
    const net_routine *r = p->net->stages.items[i].routine;
    if (r && r->kind != NET_TRANSPOSE &&
        (r->rows > 1 || (r->kind != NET_SORT && r->kind != NET_PLACES)))
      return true;
  }
  return false;
}

static double plan_seconds(arena *scratch, const comparison *c, const plan *p) {
  const choice_setting *s = c->setting;
  double sum = node_seconds(scratch, p);
  if (!s->target->lane_bytes && s->backend != &hmm_backend && has_host_routine(p))
    return INFINITY;
  for (size_t i = 0; i < p->passes.count; i++)
    sum += p->passes.items[i].seconds;
  if (s->backend != &auto_backend && s->backend != &portable_backend)
    return sum;
  cost_model m = {0};
  model_add_plan(&m, scratch, p, s->threads, false);
  double compiled = m.compile + m.compiled;
  return s->backend == &auto_backend && compiled < m.portable ? compiled : m.portable;
}

// On ranks. (Compiling is done once, by each, and not counted: choose_executor takes what compiles
// where that is worth it.)
static double ranked_seconds(arena *scratch, const comparison *c, const net *n) {
  const choice_setting *setting = c->setting;
  uint32_t split;
  const shares *s = shares_of_ranks(scratch, n, shares_bits(setting->ranks));
  s = shares_by_levels(scratch, s, setting->target, &split);
  plan *p = plan_make(scratch, s->net, setting->target, setting->context->strategy);
  if (setting->backend == &portable_backend) {
    cost_model m = {0};
    model_add_plan(&m, scratch, p, setting->threads, false);
    for (size_t i = 0; i < p->passes.count; i++)
      p->passes.items[i].seconds = m.passes[i].portable;
  }
  for (size_t i = 0; i < p->net->stages.count; i++)
    for (size_t k = 0; k < p->passes.count; k++)
      if (p->passes.items[k].stage == i) {
        p->passes.items[k].seconds += stage_node_seconds(scratch, p, &p->net->stages.items[i]);
        break;
      }
  return shares_costs(scratch, s, p, setting->target)[s->net->stages.count].seconds;
}

static double function_seconds(comparison *c, arena *scratch, uint32_t choice, uint32_t number) {
  rule_log log = {.memory = scratch};
  trace t = trace_of_function(scratch, c->open, choice, number, c->made->taken);
  c->steps += t.steps.count + c->open->steps.count / SCANNED_AS_ONE;
  if (c->steps > MOST_PLANNED)
    return -1;
  net *n = lower(scratch, &t, &log);
  rules_apply(scratch, n, &log);
  if (c->setting->ranks)
    return ranked_seconds(scratch, c, n);
  const plan *p = plan_make(scratch, n, c->setting->target, c->setting->context->strategy);
  return plan_seconds(scratch, c, p);
}

// In an arena of its own. Negative: that would be more than is planned.
static double predict(comparison *c, uint32_t choice, uint32_t number) {
  jmp_buf failure;
  arena scratch = {.failure = &failure, .limit = c->memory->limit};
  if (setjmp(failure)) {
    bool at_limit = scratch.at_limit;
    arena_free(&scratch);
    if (!at_limit)
      arena_fail(c->memory);
    return -1;
  }
  double seconds = function_seconds(c, &scratch, choice, number);
  arena_free(&scratch);
  return seconds;
}

// False: they are too many to be planned.
static bool compare_functions(comparison *c, uint32_t choice) {
  uint32_t count = c->open->choices.items[choice].count, best = 0;
  double *seconds = NEW_ARRAY(c->memory, double, count);
  for (uint32_t i = 0; i < count; i++) {
    seconds[i] = predict(c, choice, i);
    if (seconds[i] < 0)
      return false;
    best = seconds[i] < seconds[best] ? i : best;
  }
  c->made->taken[choice] = best;
  c->made->reason[choice] = CHOICE_PREDICTED;
  c->made->seconds[choice] = seconds;
  return true;
}

// ---- the choices -------------------------------------------------------------------------------

// Of each choice a copy that has been decided, at the same batch; or itself.
static uint32_t find_equal(const trace *open, uint32_t choice, uint32_t *latest, uint32_t *next) {
  const trace_choice *own = &open->choices.items[choice];
  for (uint32_t i = latest[own->like]; i--; i = next[i])
    if (open->choices.items[i].batch == own->batch)
      return i;
  next[choice] = latest[own->like];
  latest[own->like] = choice + 1;
  return choice;
}

// Those inside of another come first.
static void compare_all(comparison *c) {
  choice_list *made = c->made;
  uint32_t *latest = NEW_ARRAY(c->memory, uint32_t, made->count);
  uint32_t *next = NEW_ARRAY(c->memory, uint32_t, made->count);
  for (uint32_t i = made->count; i-- > 0;) {
    uint32_t equal = find_equal(c->open, i, latest, next);
    if (equal != i) {
      made->taken[i] = made->taken[equal];
      made->reason[i] = made->reason[equal];
      made->seconds[i] = made->seconds[equal];
    } else if (!compare_functions(c, i)) {
      return;
    }
  }
}

static void take_measured(choice_list *made, const trace *open, const choice_setting *s) {
  tuned_choices measured;
  tuned_find_choices(open, made->taken, s->target, s->gpu, s->context->trial, &measured);
  for (uint32_t k = 0; k < measured.count; k++)
    for (uint32_t i = 0; i < made->count; i++)
      if (open->choices.items[i].like == measured.items[k].choice) {
        made->taken[i] = measured.items[k].function;
        made->reason[i] = CHOICE_MEASURED;
      }
}

choice_list choices_cheapest(arena *memory, const trace *open, const choice_setting *s) {
  choice_list made = choices_first(memory, open);
  comparison c = {memory, open, s, &made, 0};
  compare_all(&c);
  if (s->may_be_tuned)
    take_measured(&made, open, s);
  return made;
}
