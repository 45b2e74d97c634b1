// A Trace that is made of another one. See retrace.h.
#include "fusion/lower/retrace.h"

retrace retrace_of(arena *a, const trace *old, const uint32_t *first) {
  retrace r = {.memory = a, .old = old, .to = NEW(a, trace), .first = first};
  *r.to = *old;
  memset(&r.to->steps, 0, sizeof r.to->steps);
  memset(&r.to->results, 0, sizeof r.to->results);
  r.now = NEW_ARRAY(a, value_id, old->steps.count + 1);
  return r;
}

void retrace_set_operands(retrace *r, trace_step *s, uint32_t count, const value_id *operands) {
  s->operand_count = count;
  s->operands = NEW_ARRAY(r->memory, value_id, count + 1);
  memcpy(s->operands, operands, count * sizeof *operands);
}

trace_step retrace_step(retrace *r) {
  trace_step s = *retrace_old(r);
  s.operands = NEW_ARRAY(r->memory, value_id, s.operand_count + 1);
  for (uint32_t i = 0; i < s.operand_count; i++)
    s.operands[i] = r->now[retrace_old(r)->operands[i]];
  return s;
}

value_id retrace_add(retrace *r, trace_step s) {
  vec_push(r->memory, &r->to->steps, s);
  vec_push(r->memory, &r->origins, retrace_origin(r));
  return (value_id)(r->to->steps.count - 1);
}

value_id retrace_add_once(retrace *r, trace_step s) {
  uint64_t h = hash_bytes(s.operands, s.operand_count * sizeof *s.operands);
  h = hash_word(hash_word(h, trace_hash_step(&s)), s.number);
  value_id id;
  for (size_t tried = 0; (id = hash_next(&r->once, h, &tried)) != HASH_NONE;) {
    const trace_step *other = &r->to->steps.items[id];
    if (trace_steps_are_alike(other, &s) && other->number == s.number &&
        other->shadow == s.shadow &&
        (!s.operand_count ||
         !memcmp(other->operands, s.operands, s.operand_count * sizeof *s.operands)))
      return id;
  }
  id = retrace_add(r, s);
  hash_add(r->memory, &r->once, h, id);
  return id;
}

const trace *retrace_end(retrace *r, const uint32_t **origins) {
  for (size_t i = 0; i < r->old->results.count; i++)
    vec_push(r->memory, &r->to->results, r->now[r->old->results.items[i]]);
  *origins = r->origins.items;
  return r->to;
}
