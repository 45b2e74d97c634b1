// The table of rules, and the log of what fired. See rules.h.
#include "fusion/rules/rewriting.h"

#include <inttypes.h>

const rule_row rules[RULE_COUNT] = {
#define ROW(id, name, law, condition, source) [RULE_##id] = {name, law, condition, source},
    RULES(ROW)
#undef ROW
};

// ---- the log ---------------------------------------------------------------------------------

void rule_fired(rule_log *log, rule_id rule, uint32_t step, uint64_t bytes, uint64_t operations) {
  if (!log)
    return;
  rule_firings *f = &log->of[rule];
  f->times++;
  f->bytes += bytes;
  f->operations += operations;
  if (step != NET_NONE && !(f->steps.count && f->steps.items[f->steps.count - 1] == step))
    vec_push(log->memory, &f->steps, step);
}

static void print_rule(text *out, const rule_row *rule, const rule_firings *f) {
  enum { STEPS_SHOWN = 8 };
  if (f->times == 0)
    return;
  text_printf(out, "%-20s  %" PRIu64 " %s", rule->name, f->times, f->times == 1 ? "time" : "times");
  for (size_t i = 0; i < f->steps.count && i < STEPS_SHOWN; i++)
    text_printf(out, "%s %%%" PRIu32, i ? "" : ", at", f->steps.items[i]);
  if (f->steps.count > STEPS_SHOWN)
    text_string(out, " ...");
  if (f->bytes)
    text_printf(out, "; %" PRIu64 " bytes saved", f->bytes);
  if (f->operations)
    text_printf(out, "; %" PRIu64 " operations saved", f->operations);
  text_printf(out, "\n%-20s  %s\n", "", rule->law);
}

void rules_print(text *out, const rule_log *log) {
  for (rule_id rule = 0; rule < RULE_COUNT; rule++)
    print_rule(out, &rules[rule], &log->of[rule]);
  if (log->stopped)
    text_printf(out, "stopped after %d rounds, more rules might apply\n", RULES_ROUNDS);
}

// ---- what a stage under rewriting logs -------------------------------------------------------

void rewriter_fired(rewriter *r, rule_id rule, uint64_t bytes, uint64_t operations) {
  r->changed = true;
  rule_fired(r->log, rule, r->step, bytes, operations);
}

void rewriter_at(rewriter *r, const net_op *op) {
  r->step = op->origin;
  r->times = r->loops * (live_points(live_of_op(r->stage, op)) >> op->k);
}

uint64_t rewriter_bytes(const rewriter *r, net_id value, int dead_dimensions) {
  uint64_t bytes = scalar_types[r->stage->values.items[value]].size;
  return r->loops * bytes << (r->stage->n - dead_dimensions);
}
