// The order of rewriting. See rules.h.
#include "fusion/rules/rewriting.h"

// Merging rewrites a stage from its start, dropping what is dead from the end of the last: what
// either does may let the other do more, as a narrower live set equals another.
// Ops that choose among values by the index wait until loads of parts have become one, and what
// reads them, too.
enum { ROUNDS_APART = 2 };

static rewriter rewriter_of(arena *a, net *t, net_stage *s, rule_log *log) {
  rewriter r = {.memory = a, .net = t, .stage = s, .log = log, .changed = true, .loops = 1};
  for (uint32_t l = 0; l < s->loop_count; l++)
    r.loops *= s->extents[l];
  return r;
}

static void drop_dead(rewriter *rewriters, net *t) {
  bool *wanted = NEW_ARRAY(rewriters->memory, bool, t->arrays.count);
  for (size_t i = 0; i < t->arrays.count; i++)
    wanted[i] = t->arrays.items[i].role == NET_RESULT;
  for (size_t i = t->stages.count; i-- > 0;) {
    stage_drop_dead(&rewriters[i], wanted);
    stage_restrict(&rewriters[i]);
    const net_stage *s = &t->stages.items[i];
    for (size_t k = 0; k < s->loads.count; k++)
      wanted[s->loads.items[k].array] = true;
    stage_want_gathered(&rewriters[i], wanted);
  }
}

void rules_apply(arena *a, net *t, rule_log *log) {
  if (t->stages.count == 0)
    return;
  rewriter *rewriters = NEW_ARRAY(a, rewriter, t->stages.count);
  for (size_t i = 0; i < t->stages.count; i++)
    rewriters[i] = rewriter_of(a, t, &t->stages.items[i], log);
  bool again = true;
  for (int round = 0; round < RULES_ROUNDS && again; round++) {
    for (size_t i = 0; i < t->stages.count; i++)
      if (rewriters[i].changed) {
        rewriters[i].changed = false;
        rewriters[i].joins_apart = round < ROUNDS_APART;
        stage_merge(&rewriters[i]);
        stage_move_frames(&rewriters[i]);
        stage_narrow(&rewriters[i]);
        stage_coalesce_joins(&rewriters[i]);
      }
    drop_dead(rewriters, t);
    again = false;
    for (size_t i = 0; i < t->stages.count; i++)
      again = again || rewriters[i].changed;
  }
  if (again && log)
    log->stopped = true;
  net_compact(a, t);
}
