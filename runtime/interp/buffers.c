// Liveness, sharing and peak memory of a Trace. See interp/buffers.h.
#include "runtime/interp/buffers.h"

#include <stdlib.h>

bool trace_step_elementwise(trace_op op) {
  return op == TRACE_SCALAR || op == TRACE_SELECT || op == TRACE_CONVERT || op == TRACE_ROOT ||
         op == TRACE_EXTERN;
}

// Two steps may name the same argument; the first one's buffer holds both.
static value_id first_argument(const trace *t, value_id id) {
  for (value_id i = 0; i < id; i++)
    if (t->steps.items[i].op == TRACE_ARGUMENT &&
        t->steps.items[i].number == t->steps.items[id].number)
      return i;
  return id;
}

// Backwards from the results. A needed argument needs the step that takes it over.
static void find_needed(interp_buffers *p, const trace *t) {
  for (size_t i = 0; i < t->results.count; i++)
    p->values[t->results.items[i]].needed = true;
  for (size_t i = t->steps.count; i-- > 0;) {
    const trace_step *s = &t->steps.items[i];
    if (!p->values[i].needed)
      continue;
    for (uint32_t k = 0; k < s->operand_count; k++)
      p->values[s->operands[k]].needed = true;
    if (s->op == TRACE_ARGUMENT)
      p->values[first_argument(t, (value_id)i)].needed = true;
  }
}

static void find_buffers(interp_buffers *p, const trace *t) {
  for (size_t i = 0; i < t->steps.count; i++) {
    const trace_step *s = &t->steps.items[i];
    interp_value *v = &p->values[i];
    v->bytes = trace_step_count(s) * scalar_types[s->type].size;
    v->buffer = (value_id)i;
    if (!v->needed)
      continue;
    if (s->op == TRACE_ARGUMENT)
      v->buffer = first_argument(t, (value_id)i);
    else if (trace_step_keeps_order(t, s))
      v->buffer = p->values[s->operands[0]].buffer;
  }
}

static void find_last_uses(interp_buffers *p, const trace *t) {
  for (size_t i = 0; i < t->steps.count; i++) {
    const trace_step *s = &t->steps.items[i];
    for (uint32_t k = 0; p->values[i].needed && k < s->operand_count; k++)
      p->values[p->values[s->operands[k]].buffer].last_use = i;
  }
  for (size_t i = 0; i < t->results.count; i++)
    p->values[p->values[t->results.items[i]].buffer].last_use = t->steps.count;
}

// An elementwise step may write over an operand that dies with it: same number of elements, same
// width. What was planned to live in the step's own buffer moves along.
static void find_in_place(interp_buffers *p, const trace *t) {
  for (size_t i = 0; i < t->steps.count; i++) {
    const trace_step *s = &t->steps.items[i];
    interp_value *v = &p->values[i];
    if (!v->needed)
      continue;
    v->buffer = p->values[v->buffer].buffer;
    if (v->buffer != i || !trace_step_elementwise(s->op))
      continue;
    for (uint32_t k = 0; k < s->operand_count && !v->in_place; k++) {
      const trace_step *o = &t->steps.items[s->operands[k]];
      interp_value *over = &p->values[p->values[s->operands[k]].buffer];
      if (o->batch != s->batch || over->bytes != v->bytes || over->last_use != i)
        continue;
      over->last_use = v->last_use;
      v->buffer = p->values[s->operands[k]].buffer;
      v->in_place = true;
    }
  }
}

// Replays the life of the buffers. `freed` marks those that are gone.
static void find_peak(interp_buffers *p, const trace *t, bool *freed) {
  uint64_t live = 0;
  bool overflow = false;
  for (size_t i = 0; i < t->steps.count; i++)
    if (t->steps.items[i].op == TRACE_ARGUMENT && p->values[i].needed && p->values[i].buffer == i)
      overflow |= __builtin_add_overflow(live, p->values[i].bytes, &live);
  p->peak = live;
  for (size_t i = 0; i < t->steps.count; i++) {
    const trace_step *s = &t->steps.items[i];
    if (!p->values[i].needed)
      continue;
    if (p->values[i].buffer == i && s->op != TRACE_ARGUMENT)
      overflow |= __builtin_add_overflow(live, p->values[i].bytes, &live);
    p->peak = live > p->peak ? live : p->peak;
    for (uint32_t k = 0; k < s->operand_count; k++) {
      value_id buffer = p->values[s->operands[k]].buffer;
      if (p->values[buffer].last_use == i && !freed[buffer]) {
        freed[buffer] = true;
        live -= p->values[buffer].bytes;
      }
    }
  }
  for (size_t i = 0; i < t->results.count; i++) {  // a buffer that is two results is copied
    value_id buffer = p->values[t->results.items[i]].buffer;
    if (freed[buffer])
      overflow |= __builtin_add_overflow(live, p->values[buffer].bytes, &live);
    freed[buffer] = true;
  }
  p->peak = overflow ? UINT64_MAX : live > p->peak ? live : p->peak;
}

bool interp_buffers_find(interp_buffers *p, const trace *t) {
  size_t count = t->steps.count + 1;
  bool *freed = calloc(count, sizeof *freed);
  *p = (interp_buffers){.values = calloc(count, sizeof *p->values)};
  bool ok = freed != NULL && p->values != NULL;
  if (ok) {
    find_needed(p, t);
    find_buffers(p, t);
    find_last_uses(p, t);
    find_in_place(p, t);
    find_peak(p, t, freed);
  } else {
    interp_buffers_free(p);
  }
  free(freed);
  return ok;
}

void interp_buffers_free(interp_buffers *p) {
  free(p->values);
  *p = (interp_buffers){0};
}
