// Work that two parts of a program share: places of keys, and counts of keys, that are computed of equal
// keys are computed once, however often, and wherever, the program writes them.
//
//   %4  keys of %0, in histogram      count %4
//   %9  the same, in bucket           places %9        becomes places %4, and %9 is needed by nobody
//
// Places of gather and scatter, too: equal ones are checked once; and what a scatter makes, which is
// in memory. Other equal steps stay apart: whether an element is kept or computed again where it is
// needed is what fusion decides.
#include "lang/elaborate/elaborator.h"

typedef struct step_numbers {
  const trace *trace;
  value_id *same;  // of each step: the first that is equal to it
  hash_table table;
} step_numbers;

static uint64_t hash_step(const step_numbers *n, const trace_step *s) {
  uint64_t hash = hash_word(trace_hash_step(s), s->number);
  for (uint32_t i = 0; i < s->operand_count; i++)
    hash = hash_word(hash, n->same[s->operands[i]]);
  return hash;
}

static bool is_same_step(const step_numbers *n, const trace_step *a, const trace_step *b) {
  bool same = trace_steps_are_alike(a, b) && a->number == b->number && a->shadow == b->shadow &&
              a->op != TRACE_EXTERN;
  for (uint32_t i = 0; same && i < a->operand_count; i++)
    same = n->same[a->operands[i]] == n->same[b->operands[i]];
  return same;
}

static void number_steps(elaborator *e, step_numbers *n) {
  const trace *t = n->trace;
  for (value_id id = 0; id < t->steps.count; id++) {
    const trace_step *s = &t->steps.items[id];
    uint64_t hash = hash_step(n, s);
    value_id other = HASH_NONE;
    for (size_t tried = 0; (other = hash_next(&n->table, hash, &tried)) != HASH_NONE;)
      if (is_same_step(n, &t->steps.items[other], s))
        break;
    n->same[id] = other == HASH_NONE ? id : other;
    if (other == HASH_NONE)
      hash_add(e->memory, &n->table, hash, id);
  }
}

static bool is_of_keys(const trace_step *s) {
  return s->op == TRACE_PLACES || s->op == TRACE_COUNT || s->op == TRACE_WRONG;
}

static bool has_places(const trace_step *s) {
  return is_of_keys(s) || s->op == TRACE_GATHER || s->op == TRACE_SCATTER;
}

static bool is_made_once(const trace_step *s) { return is_of_keys(s) || s->op == TRACE_SCATTER; }

void share_work(elaborator *e) {
  trace *t = e->out;
  size_t many = 0;
  for (size_t id = 0; id < t->steps.count && many < 2; id++)
    many += has_places(&t->steps.items[id]);
  if (many < 2)
    return;
  step_numbers n = {.trace = t, .same = NEW_ARRAY(e->memory, value_id, t->steps.count)};
  number_steps(e, &n);
  for (size_t id = 0; id < t->steps.count; id++) {
    trace_step *s = &t->steps.items[id];
    for (uint32_t i = 0; i < s->operand_count; i++)
      if (is_of_keys(s) || (has_places(s) && !i) || is_made_once(step_at(e, s->operands[i])))
        s->operands[i] = n.same[s->operands[i]];
  }
  for (size_t i = 0; i < t->results.count; i++)
    if (is_made_once(step_at(e, t->results.items[i])))
      t->results.items[i] = n.same[t->results.items[i]];
}
