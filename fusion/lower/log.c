// Which law spared a movement (fusion/rules/rules.h). Lowering applies them all in one way, by
// composing frames; here they get their names.
#include "fusion/lower/lowering.h"

// Whether bmmc s undoes bmmc o.
static bool undoes(const trace_step *s, const trace_step *o) {
  int k = f2_msb(s->dims[0]);
  if (s->dims[0] != o->dims[0] || s->batch != o->batch)
    return false;
  f2_affine a = {f2_from_rows(k, k, s->rows), s->number};
  f2_affine b = {f2_from_rows(k, k, o->rows), o->number};
  return f2_affine_equal(f2_affine_compose(a, b), f2_affine_identity(k));
}

static rule_id law_between(const trace_step *s, const trace_step *o) {
  bool splits = s->op == TRACE_SPLIT || s->op == TRACE_PAIR;
  bool joined = o->op == TRACE_STITCH || o->op == TRACE_UNPAIR;
  if (s->op == TRACE_BMMC && o->op == TRACE_BMMC)
    return undoes(s, o) ? RULE_BMMC_INVERSE : RULE_BMMC_BMMC;
  if ((splits && o->op == TRACE_BMMC) || (s->op == TRACE_BMMC && joined))
    return RULE_PARM_BMMC;
  if (s->op == TRACE_BMMC && o->op == TRACE_SPLIT)
    return RULE_PARM_OF_BMMC;
  if (splits && (joined || o->op == TRACE_SPLIT))
    return RULE_PARM_PARM;
  if (s->op == TRACE_RESHAPE && o->op == TRACE_BMMC && s->rank < o->rank)
    return RULE_MAP_BMMC;
  return RULE_COUNT;
}

void log_movement(lowering *l, const trace_step *s) {
  if (!l->log || !s->operand_count)
    return;
  const trace_step *o = operand_step(l, s, 0);
  while (o->op == TRACE_RESHAPE || o->op == TRACE_BROADCAST)
    o = operand_step(l, o, 0);
  rule_id law = law_between(s, o);
  uint64_t bytes = trace_step_count(s) * scalar_types[s->type].size;
  if (law != RULE_COUNT)
    rule_fired(l->log, law, l->step, 2 * bytes, 0);
}
