// Which loops pay, and the Net of the parts of a Trace. See loops.h.
#include "fusion/loops/looping.h"

#include "fusion/lower/lower.h"

typedef struct looping {
  arena *memory;
  const numbered *steps;
  const target *target;
  rule_log *log;
  const char *wrong;
} looping;

// ---- parts as Nets ------------------------------------------------------------------------------

static void set_origins(const part *p, net *n) {
  for (size_t i = 0; i < n->stages.count; i++) {
    net_stage *s = &n->stages.items[i];
    for (size_t k = 0; k < s->ops.count; k++)
      if (s->ops.items[k].origin != NET_NONE)
        s->ops.items[k].origin = p->origins.items[s->ops.items[k].origin];
    if (s->routine && s->routine->origin != NET_NONE)
      s->routine->origin = p->origins.items[s->routine->origin];
  }
  for (size_t i = 0; i < n->arrays.count; i++)
    if (n->arrays.items[i].reason != NET_REASON_NONE && n->arrays.items[i].step != NET_NONE)
      n->arrays.items[i].step = p->origins.items[n->arrays.items[i].step];
}

static bool lower_part(looping *l, part *p, rule_log *log) {
  l->wrong = trace_verify(l->memory, p->trace);
  if (l->wrong)
    return false;
  net *n = lower(l->memory, p->trace, log);
  rules_apply(l->memory, n, log);
  l->wrong = net_verify(l->memory, n);
  if (l->wrong)
    return false;
  set_origins(p, n);
  p->net = n;
  return true;
}

// ---- which loops pay ----------------------------------------------------------------------------

// Whether each round takes it itself: an element of an array from before the loop.
static bool is_taken_again(const numbered *n, const repeat *r, value_id id) {
  const trace_step *s = numbered_step(n, id);
  return s->op == TRACE_ELEMENT && s->batch == 1 &&
         (n->position[s->operands[0]] == NO_STEP || n->position[s->operands[0]] < r->first);
}

// The steps that others read than those of their round.
static bool *find_crossing(const looping *l, const repeat *r) {
  const numbered *n = l->steps;
  bool *crossing = NEW_ARRAY(l->memory, bool, n->trace->steps.count + 1);
  for (size_t i = 0; i < n->trace->results.count; i++)
    crossing[n->trace->results.items[i]] = true;
  for (uint32_t at = 0; at < n->count; at++) {
    const trace_step *s = numbered_step(n, n->at[at]);
    bool within = at >= r->first && at < r->first + r->period * r->rounds, own;
    uint32_t begin = within ? at - (at - r->first) % r->period : 0;
    for (uint32_t k = 0; k < s->operand_count; k++) {
      value_id read = step_in_any_shape(n, s->operands[k]);
      own = within && offset_in_round(n, begin, r->period, s->operands[k]) != NO_STEP;
      crossing[read] |= !own && !is_taken_again(n, r, read);
    }
  }
  return crossing;
}

enum { MOST_INPUTS = 64 };  // of rounds that are one

// So many rounds as one; NULL: something is wrong, or they read too many values.
static const plan *plan_rounds(looping *l, repeat r, uint32_t rounds) {
  repeat longer = {r.first, r.period * rounds, r.rounds / rounds};
  rule_log none = {.memory = l->memory};
  part p = make_part(l->steps, longer, find_crossing(l, &longer), false, 0, NULL);
  return p.inputs.count <= MOST_INPUTS && lower_part(l, &p, &none)
             ? plan_make(l->memory, p.net, l->target, NULL)
             : NULL;
}

static size_t count_passes(looping *l, repeat r, uint32_t rounds) {
  const plan *p = plan_rounds(l, r, rounds);
  return p ? p->passes.count : 0;
}

// Whether rounds written out, where what differs from round to round is no data, take less than three
// quarters of the time, and not so many passes that a C compiler takes long for them. A few rounds
// show it: of two, one may be in the other's pass that the next are not.
static bool is_better_written(looping *l, const repeat *r) {
  enum { FEW = 8, MOST_PASSES = 24 };
  uint32_t few = r->rounds < FEW ? r->rounds : FEW;
  const plan *one = plan_rounds(l, *r, 1);
  const plan *written = plan_rounds(l, (repeat){r->first, few * r->period, 1}, 1);
  return written && written->passes.count * r->rounds <= few * MOST_PASSES &&
         4 * plan_facts_of(written).seconds < 3 * few * plan_facts_of(one).seconds;
}

// The same rounds from another place on, where one is fewer passes than `one`, which is set to
// those.
static repeat rotate(looping *l, repeat r, size_t *one) {
  uint32_t count, *rotations = find_rotations(l->steps, r, &count);
  repeat best = r;
  for (uint32_t i = 0; i<count && * one> 1; i++) {
    repeat other = alike_rounds(l->steps, (repeat){r.first + rotations[i], r.period, r.rounds - 1});
    size_t passes = count_passes(l, other, 1);
    best = passes && passes < *one ? other : best;
    *one = passes && passes < *one ? passes : *one;
  }
  return best;
}

// So many rounds as one that neighbours of them have no pass in common, which a plan of one could
// not have. (Of many passes, one may be.) No rounds: the loop is better written out.
static repeat choose_rounds(looping *l, repeat r) {
  enum { SHARED = 8, LEAST = 4, MOST_JOINED = 4 };  // of so many passes one; so many rounds
  size_t one = count_passes(l, r, 1), two;
  r = one ? rotate(l, r, &one) : r;
  for (uint32_t joined = 1; one && r.rounds >= LEAST && joined <= MOST_JOINED; joined *= 2) {
    two = count_passes(l, r, 2);
    if (two > one && 2 * one * SHARED <= one + two * SHARED)
      return is_better_written(l, &r) ? (repeat){0} : r;
    if (two == one && joined > 1)
      break;
    one = two;
    r = alike_rounds(l->steps, (repeat){r.first, 2 * r.period, r.rounds / 2});
  }
  return (repeat){0};
}

// ---- the whole ----------------------------------------------------------------------------------

// The results of the program that no step makes for them alone.
static uint32_t *find_rest(const looping *l, bool *needed, uint32_t *count) {
  const trace *t = l->steps->trace;
  uint32_t *rest = NEW_ARRAY(l->memory, uint32_t, t->results.count + 1);
  for (uint32_t i = 0; i < t->results.count; i++) {
    value_id id = t->results.items[i];
    if (l->steps->position[id] == NO_STEP || needed[id])
      rest[(*count)++] = i;
    needed[id] = true;
  }
  return rest;
}

// Loops and what is between them, each as a Net, in their order.
static bool lower_parts(looping *l, const repeat *loops, uint32_t count, part *parts) {
  const numbered *n = l->steps;
  bool *needed = NEW_ARRAY(l->memory, bool, n->trace->steps.count + 1);
  uint32_t rest_count = 0, *rest = find_rest(l, needed, &rest_count), end = n->count;
  for (uint32_t i = count; i <= count; i--) {  // what a part makes, those behind it say
    uint32_t first = i ? loops[i - 1].first + loops[i - 1].rounds * loops[i - 1].period : 0;
    repeat between = {first, end - first, 1};
    parts[2 * i] = make_part(n, between, needed, i == 0, i == count ? rest_count : 0,
                             i == count ? rest : NULL);
    if (!i)
      break;
    parts[2 * i - 1] = make_part(n, loops[i - 1], needed, false, 0, NULL);
    end = loops[i - 1].first;
  }
  for (uint32_t i = 0; i <= 2 * count; i++)
    if (!lower_part(l, &parts[i], l->log))
      return false;
  return true;
}

// ---- one Net ------------------------------------------------------------------------------------

typedef struct linking {
  const looping *of;
  net *net;
  net_id *array_of;  // by step of the numbered Trace: 1 + its array
  uint32_t tables;
} linking;

static net_id add_table(linking *k, scalar_type type, uint64_t count, const void *elements) {
  net_id id = net_array_add(k->of->memory, k->net, type, count, NET_TABLE, k->tables++);
  k->net->arrays.items[id].table = elements;
  return id;
}

static uint32_t result_number(const trace *t, value_id id) {
  uint32_t i = 0;
  while (i < t->results.count && t->results.items[i] != id)
    i++;
  return i;
}

// The array of what a step makes, which several parts have.
static net_id array_of_step(linking *k, value_id id) {
  const numbered *n = k->of->steps;
  const trace_step *s = numbered_step(n, id);
  uint64_t count = trace_step_count(s);
  if (k->array_of[id])
    return k->array_of[id] - 1;
  uint32_t result =
      s->operand_count ? result_number(n->trace, id) : (uint32_t)n->trace->results.count;
  net_id array;
  if (s->op == TRACE_CONSTANT || s->op == TRACE_TABLE) {
    array = add_table(k, s->type, count, s->op == TRACE_TABLE ? s->table : s->constant.bytes);
  } else {
    bool returned = result < n->trace->results.count, given = s->op == TRACE_ARGUMENT;
    array = net_array_add(k->of->memory, k->net, s->type, count,
                          given      ? NET_ARGUMENT
                          : returned ? NET_RESULT
                                     : NET_TEMPORARY,
                          given      ? (uint32_t)s->number
                          : returned ? result
                                     : 0);
    k->net->arrays.items[array].reason = NET_REASON_ROUND;
    k->net->arrays.items[array].step = n->origins[id];
  }
  k->array_of[id] = array + 1;
  return array;
}

// The Net's array for one of a part, in a round; `before`: those of the round before, or NULL.
static net_id link_array(linking *k, const part *p, uint32_t round, const net_array *a,
                         net_id before) {
  arena *memory = k->of->memory;
  const part_value *v = a->role == NET_ARGUMENT ? &p->inputs.items[a->number]
                        : a->role == NET_RESULT && a->number < p->outputs.count
                            ? &p->outputs.items[a->number]
                            : NULL;
  if (v && v->of && v->numbers) {
    net_id whole = array_of_step(k, v->of[round]);
    net_id part_of = net_array_add(memory, k->net, a->type, a->count, NET_TEMPORARY, 0);
    k->net->arrays.items[part_of].part_of = whole + 1;
    k->net->arrays.items[part_of].part_at = v->numbers[round];
    return part_of;
  }
  if (v)
    return v->of ? array_of_step(k, v->of[round]) : add_table(k, a->type, 1, &v->numbers[round]);
  if (a->role == NET_TABLE)
    return round ? before : add_table(k, a->type, a->count, a->table);
  uint32_t number = a->role == NET_RESULT ? p->rest.items[a->number - p->outputs.count] : 0;
  net_id id = net_array_add(memory, k->net, a->type, a->count, a->role, number);
  k->net->arrays.items[id].reason = a->reason;
  k->net->arrays.items[id].step = a->step;
  return id;
}

// The stages of a part, for each of its rounds.
static void link_part(linking *k, const part *p) {
  arena *memory = k->of->memory;
  size_t count = p->net->arrays.count;
  net_id *arrays = NEW_ARRAY(memory, net_id, count + 1);
  for (uint32_t r = 0; r < p->at.rounds; r++) {
    for (size_t a = 0; a < count; a++)
      arrays[a] = link_array(k, p, r, &p->net->arrays.items[a], r ? arrays[a] : NET_NONE);
    for (size_t i = 0; i < p->net->stages.count; i++)
      vec_push(memory, &k->net->stages, net_stage_on(memory, &p->net->stages.items[i], arrays));
  }
}

net *loops_net(arena *a, const trace *t, const target *machine, bool parts, rule_log *log,
               const char **wrong) {
  numbered steps = number_steps(a, t);
  steps.parts = parts;
  looping l = {a, &steps, machine, log, NULL};
  uint32_t found, count = 0;
  repeat *loops = find_repeats(&steps, &found);
  for (uint32_t i = 0; i < found && !l.wrong; i++)
    if ((loops[count] = choose_rounds(&l, loops[i])).rounds)
      count++;
  linking k = {.of = &l, .net = NEW(a, net)};
  k.array_of = NEW_ARRAY(a, net_id, steps.trace->steps.count + 1);
  part *all = NEW_ARRAY(a, part, 2 * (size_t)count + 1);
  bool good = count && !l.wrong && lower_parts(&l, loops, count, all);
  if (good)
    *k.net = (net){.externs = all[0].net->externs};
  for (uint32_t i = 0; i <= 2 * count && good; i++)
    link_part(&k, &all[i]);
  *wrong = l.wrong;
  return good ? k.net : NULL;
}
