// The table of rules, the log of what fired, and the order of rewriting. See rules.h.
#include "fusion/rules/rewriting.h"

#include <inttypes.h>

const rule_row rules[RULE_COUNT] = {
#define ROW(id, name, law, condition, source) [RULE_##id] = {name, law, condition, source},
    RULES(ROW)
#undef ROW
};

// ---- the log ---------------------------------------------------------------------------------

void rule_fired(rule_log *log, rule_id rule, uint32_t step, uint64_t bytes, uint64_t operations) {
  if (log)
    vec_push(log->memory, &log->firings, ((rule_firing){rule, step, bytes, operations}));
}

enum { STEPS_SHOWN = 8 };

static void print_steps(text *out, const rule_log *log, rule_id rule) {
  uint32_t last = NET_NONE;
  int shown = 0;
  for (size_t i = 0; i < log->firings.count; i++) {
    const rule_firing *f = &log->firings.items[i];
    if (f->rule != rule || f->step == NET_NONE || f->step == last)
      continue;
    last = f->step;
    if (shown++ == STEPS_SHOWN) {
      text_string(out, " ...");
      return;
    }
    text_printf(out, "%s %%%" PRIu32, shown == 1 ? ", at" : "", f->step);
  }
}

static void print_rule(text *out, const rule_log *log, rule_id rule) {
  uint64_t count = 0, bytes = 0, operations = 0;
  for (size_t i = 0; i < log->firings.count; i++)
    if (log->firings.items[i].rule == rule) {
      count++;
      bytes += log->firings.items[i].bytes;
      operations += log->firings.items[i].operations;
    }
  if (count == 0)
    return;
  text_printf(out, "%-20s  %" PRIu64 " %s", rules[rule].name, count, count == 1 ? "time" : "times");
  print_steps(out, log, rule);
  if (bytes)
    text_printf(out, "; %" PRIu64 " bytes saved", bytes);
  if (operations)
    text_printf(out, "; %" PRIu64 " operations saved", operations);
  text_printf(out, "\n%-20s  %s\n", "", rules[rule].law);
}

void rules_print(text *out, const rule_log *log) {
  for (rule_id rule = 0; rule < RULE_COUNT; rule++)
    print_rule(out, log, rule);
}

// ---- one stage under rewriting ---------------------------------------------------------------

void rewriter_fired(rewriter *r, rule_id rule, uint64_t bytes, uint64_t operations) {
  r->changed = true;
  rule_fired(r->log, rule, r->step, bytes, operations);
}

f2_space rewriter_live(const rewriter *r, const net_op *op) {
  return live_set(r->stage->n, op->live_count, op->live);
}

void rewriter_at(rewriter *r, const net_op *op) {
  f2_space live = rewriter_live(r, op);
  r->step = op->origin;
  r->times = live_is_empty(live) ? 0 : r->loops << (r->stage->n - (int)op->k - live.dimension);
}

static rewriter rewriter_of(arena *a, net *t, net_stage *s, rule_log *log) {
  rewriter r = {.memory = a, .net = t, .stage = s, .log = log, .changed = true, .loops = 1};
  for (uint32_t l = 0; l < s->loop_count; l++)
    r.loops *= s->extents[l];
  return r;
}

// ---- the order of rewriting ------------------------------------------------------------------

// Merging rewrites a stage from its start, dropping what is dead from the end of the last: what
// either does may let the other do more, as a narrower live set equals another.
enum { MOST_ROUNDS = 8 };

static void drop_dead(rewriter *rewriters, net *t) {
  bool *wanted = NEW_ARRAY(rewriters->memory, bool, t->arrays.count);
  for (size_t i = 0; i < t->arrays.count; i++)
    wanted[i] = t->arrays.items[i].role == NET_RESULT;
  for (size_t i = t->stages.count; i-- > 0;) {
    stage_drop_dead(&rewriters[i], wanted);
    const net_stage *s = &t->stages.items[i];
    for (size_t k = 0; k < s->loads.count; k++)
      wanted[s->loads.items[k].array] = true;
  }
}

void rules_apply(arena *a, net *t, rule_log *log) {
  if (t->stages.count == 0)
    return;
  rewriter *rewriters = NEW_ARRAY(a, rewriter, t->stages.count);
  for (size_t i = 0; i < t->stages.count; i++)
    rewriters[i] = rewriter_of(a, t, &t->stages.items[i], log);
  bool again = true;
  for (int round = 0; round < MOST_ROUNDS && again; round++) {
    for (size_t i = 0; i < t->stages.count; i++)
      if (rewriters[i].changed) {
        rewriters[i].changed = false;
        stage_merge(&rewriters[i]);
      }
    drop_dead(rewriters, t);
    again = false;
    for (size_t i = 0; i < t->stages.count; i++)
      again = again || rewriters[i].changed;
  }
  net_compact(a, t);
}

bool net_ops_commute(arena *a, const net_stage *s, size_t i, size_t j) {
  net_id *reads = NEW_ARRAY(a, net_id, s->values.count);
  for (int turn = 0; turn < 2; turn++) {
    const net_op *one = &s->ops.items[turn ? i : j], *other = &s->ops.items[turn ? j : i];
    uint32_t count = net_op_reads(s, one, reads);
    for (uint32_t k = 0; k < count; k++)
      for (uint32_t o = 0; o < other->output_count; o++)
        if (other->outputs[o].value == reads[k])
          return false;
  }
  return true;
}
