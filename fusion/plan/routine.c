// The pass of a stage that is a routine. See planning.h.
#include "fusion/plan/planning.h"

void plan_routine(arena *a, plan *p, uint32_t number, const strategy_row *asked) {
  bool permutes = p->net->stages.items[number].routine->kind == NET_PERMUTE;
  plan_pass pass = {.stage = number, .padding_start = UINT64_MAX};
  plan_find_accesses(a, &p->net->stages.items[number], &pass);
  pass.slot_of = NEW(a, uint32_t);
  pass.tile = f2_space_zero(0);
  pass.seconds = pass_seconds(p, &pass);
  p->strategy[number] =
      permutes && asked && plan_strategy_permutes(&asked->shown) ? asked->shown.name : "routine";
  vec_push(a, &p->passes, pass);
}
