// All steps, and the scalar ones, a chunk of instances at a time. See execute.h.
#include "lang/execute/execute.h"

#include <stdlib.h>

enum {
  CHUNK = 2048,        // elements of a scalar step computed at a time: some KiB, in the first cache
  FOREIGN_CHUNK = 16,  // calls of a foreign function between two looks at the flag
  WIDEST = sizeof(scalar_bits),
};

// A scalar step. in, out: a chunk of its operands, and of its result.
typedef struct chunked {
  step_watch *watch;
  const trace *trace;
  const trace_step *step;
  foreign_calls *call;
  void *with;
} chunked;

static const trace_step *operand_of(const chunked *c, uint32_t k) {
  return &c->trace->steps.items[c->step->operands[k]];
}

static size_t size_of(const trace_step *s) { return scalar_types[s->type].size; }

// Elements start ... start + n - 1 of operand k, as the step's instances see them: where they are,
// or repeated in `room` if the operand's batch is smaller. NULL: interrupted.
static const void *operand_chunk(const chunked *c, uint32_t k, const unsigned char *in,
                                 uint64_t start, size_t n, unsigned char *room) {
  const trace_step *o = operand_of(c, k);
  if (o->batch == c->step->batch)
    return in + start * size_of(o);
  if (o->batch == 1 && start > 0)
    return room;  // full since the first chunk
  return execute_repeat(c->watch, room, in, size_of(o), start, n, c->step->batch / o->batch) ? room
                                                                                             : NULL;
}

static bool call_foreign(const chunked *c, size_t n, const void **in, unsigned char *out) {
  const trace_step *s = c->step;
  for (size_t i = 0; i < n; i += FOREIGN_CHUNK) {
    size_t calls = n - i < FOREIGN_CHUNK ? n - i : FOREIGN_CHUNK;
    c->call(c->with, s, calls, in, out + i * size_of(s));
    for (uint32_t k = 0; k < s->operand_count; k++)
      in[k] = (const unsigned char *)in[k] + calls * size_of(operand_of(c, k));
    c->watch->left = 0;  // nobody knows how long a call takes
    if (!step_watch_spend(c->watch, calls))
      return false;
  }
  return true;
}

static bool compute_chunk(const chunked *c, size_t n, const void **in, void *out) {
  const trace_step *s = c->step;
  switch (s->op) {
  case TRACE_SCALAR:
    scalar_apply(s->scalar, operand_of(c, 0)->type, n, in[0], s->operand_count > 1 ? in[1] : NULL,
                 out);
    return true;
  case TRACE_SELECT:
    scalar_select(size_of(s), n, in[0], in[1], in[2], out);
    return true;
  case TRACE_CONVERT:
    scalar_convert(operand_of(c, 0)->type, s->type, n, in[0], out);
    return true;
  case TRACE_ROOT:
    for (size_t i = 0; i < n; i++) {
      scalar_bits root = scalar_root(s->type, ((const int64_t *)in[0])[i], (int64_t)s->number);
      memcpy((unsigned char *)out + i * size_of(s), root.bytes, size_of(s));
    }
    return true;
  default:
    return call_foreign(c, n, in, out);
  }
}

static bool run_elementwise(const chunked *c, const void *const *in, unsigned char *out) {
  const trace_step *s = c->step;
  size_t chunk = s->batch < CHUNK ? s->batch : CHUNK;
  FREED unsigned char *room = malloc(s->operand_count * chunk * WIDEST + 1);
  FREED const void **now = malloc(s->operand_count * sizeof *now + 1);
  bool good = room && now;
  c->watch->no_memory = !good;
  for (uint64_t start = 0; start < s->batch && good; start += chunk) {
    size_t n = s->batch - start < chunk ? s->batch - start : chunk;
    for (uint32_t k = 0; k < s->operand_count && good; k++) {
      now[k] = operand_chunk(c, k, in[k], start, n, room + k * chunk * WIDEST);
      good = now[k] != NULL;
    }
    good =
        good && compute_chunk(c, n, now, out + start * size_of(s)) && step_watch_spend(c->watch, n);
  }
  return good;
}

// 0, 1, ..., modulus - 1, 0, 1, ...; a modulus of 0 is none.
static bool run_count(step_watch *w, int64_t *out, uint64_t count, uint64_t modulus) {
  uint64_t value = 0;
  for (uint64_t start = 0; start < count; start += CHUNK) {
    uint64_t end = count - start < CHUNK ? count : start + CHUNK;
    for (uint64_t i = start; i < end; i++) {
      out[i] = (int64_t)value;
      value = value + 1 == modulus ? 0 : value + 1;
    }
    if (!step_watch_spend(w, CHUNK))
      return false;
  }
  return true;
}

// Of an operand of one element an instance, that of instance i.
static size_t instance_of(const trace *t, const trace_step *s, uint32_t k, uint64_t i) {
  return i / (s->batch / t->steps.items[s->operands[k]].batch);
}

static bool execute_group(step_watch *w, const trace *t, const trace_step *s, const void *const *in,
                          void *out) {
  const trace_step *keys = &t->steps.items[s->operands[0]];
  uint64_t count = keys->dims[0], size = scalar_types[keys->type].size, key;
  unsigned char *row = out;
  for (uint64_t i = 0; i < s->batch; i++, row += s->dims[0] * size_of(s)) {
    const char *k = (const char *)in[0] + instance_of(t, s, 0, i) * count * size;
    const char *x = (const char *)in[1] + instance_of(t, s, 1, i) * count * size_of(s);
    uint64_t bytes = s->dims[0] * size_of(s);
    memcpy(row, (const char *)in[2] + instance_of(t, s, 2, i) * bytes, bytes);
    for (uint64_t j = 0; j < count; j++) {
      scalar_convert(keys->type, SCALAR_U64, 1, k + j * size, &key);  // negative: too large
      if (key < s->dims[0])
        scalar_fold(s->scalar, s->type, row + key * size_of(s), x + j * size_of(s));
    }
    if (!step_watch_spend(w, 1 + count))
      return false;
  }
  return true;
}

static bool execute_fold(step_watch *w, const trace *t, const trace_step *s, const void *const *in,
                         void *out) {
  uint64_t count = t->steps.items[s->operands[3]].dims[0];
  unsigned char *so_far = out;
  for (uint64_t i = 0; i < s->batch; i++, so_far += size_of(s)) {
    int64_t begin = ((const int64_t *)in[0])[instance_of(t, s, 0, i)];
    int64_t end = ((const int64_t *)in[1])[instance_of(t, s, 1, i)];
    const char *xs = (const char *)in[3] + instance_of(t, s, 3, i) * count * size_of(s);
    memcpy(so_far, (const char *)in[2] + instance_of(t, s, 2, i) * size_of(s), size_of(s));
    begin = begin < 0 ? 0 : begin;
    end = end > (int64_t)count ? (int64_t)count : end;
    for (int64_t k = begin; k < end; k++)
      scalar_fold(s->scalar, s->type, so_far, xs + (size_t)k * size_of(s));
    if (!step_watch_spend(w, begin < end ? 1 + (uint64_t)(end - begin) : 1))
      return false;
  }
  return true;
}

bool execute_step(step_watch *w, const trace *t, const trace_step *s, const void *const *in,
                  void *out, foreign_calls *call, void *with) {
  switch (s->op) {
  case TRACE_CONSTANT:
    memcpy(out, &s->constant, size_of(s));
    return true;
  case TRACE_TABLE:
    memcpy(out, s->table, trace_step_count(s) * size_of(s));
    return true;
  case TRACE_INSTANCE:
    return run_count(w, out, s->batch, s->number);
  case TRACE_IOTA:
    return run_count(w, out, s->dims[0], 0);
  case TRACE_SCALAR:
  case TRACE_SELECT:
  case TRACE_CONVERT:
  case TRACE_ROOT:
  case TRACE_EXTERN:
    return run_elementwise(&(chunked){w, t, s, call, with}, in, out);
  case TRACE_GROUP:
    return execute_group(w, t, s, in, out);
  case TRACE_FOLD:
    return execute_fold(w, t, s, in, out);
  case TRACE_PLACES:
  case TRACE_COUNT:
  case TRACE_WRONG:
    return execute_order(w, t, s, in, out);
  default:
    return execute_move(w, t, s, in, out);
  }
}
