// The order of rewriting. See rules.h.
#include "fusion/rules/rewriting.h"

// Merging rewrites a stage from its start, dropping what is dead from the end of the last: what
// either does may let the other do more, as a narrower live set equals another.
static rewriter rewriter_of(arena *a, net *t, net_stage *s, rule_log *log) {
  rewriter r = {.memory = a,
                .net = t,
                .stage = s,
                .log = log,
                .changed = true,
                .joins_apart = true,
                .loops = 1};
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
    stage_want_reads(&rewriters[i], wanted);
  }
}

// Joins wait until no other rule applies: a value takes the place of another one if no op reads that
// one later, and fewer ops do when those on parts of the stage, and on halves of pairs, have merged.
// Where no join goes any more, ops merge with those that are left.
static void rewrite_stage(rewriter *r) {
  r->changed = r->held_apart = false;
  stage_rewrite_ops(r);
  stage_turn_halves(r);
  stage_move_frames(r);
  stage_narrow(r);
  if (!r->changed)
    stage_coalesce_joins(r);
  if (!r->changed && r->held_apart) {
    r->joins_apart = false;
    r->changed = true;
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
      if (rewriters[i].changed)
        rewrite_stage(&rewriters[i]);
    drop_dead(rewriters, t);
    net_join_stores(rewriters, t);
    net_thin_arrays(rewriters, t);
    again = false;
    for (size_t i = 0; i < t->stages.count; i++)
      again = again || rewriters[i].changed;
  }
  if (again && log)
    log->stopped = true;
  net_compact(a, t);
}
