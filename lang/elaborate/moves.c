// Moves: steps that change the place of elements, on every step of a value; and map.
#include "lang/elaborate/elaborator.h"

value_id move_step(elaborator *e, value_id id, void *with) {
  const move *m = with;
  const trace_step *from = &e->out->steps.items[id];
  trace_step s = {.op = m->op, .type = from->type, .number = m->number, .operand_count = 1};
  s.batch = m->set_batch ? m->batch : from->batch;
  s.rank = from->rank - m->drop + m->lead_count;
  if (s.rank > 16)
    fail(e, "arrays have at most 16 dimensions");
  s.dims = NEW_ARRAY(e->memory, uint64_t, s.rank);
  for (uint32_t i = 0; i < m->lead_count; i++)
    s.dims[i] = m->lead[i];
  for (uint32_t i = m->drop; i < from->rank; i++)
    s.dims[i - m->drop + m->lead_count] = from->dims[i];
  s.operands = NEW(e->memory, value_id);
  s.operands[0] = id;
  if (m->rows) {
    size_t n = (size_t)__builtin_ctzll(s.dims[0]);
    s.rows = NEW_ARRAY(e->memory, uint64_t, n);
    memcpy(s.rows, m->rows, n * sizeof *s.rows);
  }
  return emit(e, s);
}

value *move_element(elaborator *e, value *array, move m) {
  return map_steps(e, as_array(e, array)->u.array.element, move_step, &m);
}

move keep_length(trace_op op, uint64_t number, uint64_t length) {
  return (move){.op = op, .number = number, .drop = 1, .lead = {length}, .lead_count = 1};
}

value *map_elements(elaborator *e, value *xs, element_function *f, void *with) {
  uint64_t length = xs->u.array.length, outer = e->batch, inner = times_batch(e, length);
  move in = {.op = TRACE_RESHAPE, .set_batch = true, .batch = inner, .drop = 1};
  move out = {
      .op = TRACE_RESHAPE, .set_batch = true, .batch = outer, .lead = {length}, .lead_count = 1};
  value *element = move_element(e, lift(e, xs), in);
  e->batch = inner;
  value *result = lift(e, as_data(e, f(e, element, with)));
  e->batch = outer;
  return make_array(e, length, map_steps(e, result, move_step, &out));
}
