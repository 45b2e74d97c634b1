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
