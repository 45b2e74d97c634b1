// Which places and keys the steps of the Trace need to be right.
#include "lang/elaborate/elaborator.h"

bool places_of_step(const elaborator *e, const trace_step *s, checked_places *l) {
  bool gathers = s->op == TRACE_GATHER, scatters = s->op == TRACE_SCATTER,
       groups = s->op == TRACE_GROUP;
  if (s->op == TRACE_RESHAPE && s->bound) {
    *l = (checked_places){s->operands[0], s->bound, false,
                          s->scalar == OP_LT ? CHECK_KEYS : CHECK_PLACES};
    return true;
  }
  bool keyed = (s->op == TRACE_PLACES || s->op == TRACE_COUNT) && s->number;
  if (s->op == TRACE_PLACES && s->operand_count == 2) {
    *l = (checked_places){s->operands[1], s->dims[0] + 1, false, CHECK_OFFSETS};
    return true;
  }
  if (!gathers && !scatters && !groups && !keyed)
    return false;
  uint64_t length = keyed ? s->number : gathers ? step_at(e, s->operands[1])->dims[0] : s->dims[0];
  *l = (checked_places){s->operands[0], length, scatters,
                        keyed || groups ? CHECK_KEYS : CHECK_PLACES};
  return true;
}

trace_step wrong_step(const checked_places *l) {
  return (trace_step){
      .op = TRACE_WRONG, .scalar = l->distinct ? OP_NE : OP_LT, .number = l->length};
}

bool find_place_check(const elaborator *e, const trace_step *s, trace_step *check) {
  checked_places l;
  if (s->shadow || !places_of_step(e, s, &l) || step_at(e, l.places)->trusted)
    return false;
  *check = wrong_step(&l);
  check->operand_count = 1;
  check->operands = s->operands + (l.places != s->operands[0]);
  check->type = SCALAR_I64;
  check->batch = check->rank = 1;
  check->dims = NEW_ARRAY(e->memory, uint64_t, 1);
  check->dims[0] = 2;
  return true;
}
