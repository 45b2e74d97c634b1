// The loop over the steps of a Trace, the scalar steps, and the buffers. See interp.h.
#include "runtime/interp/interp.h"

#include "runtime/foreign/foreign.h"
#include "runtime/interp/buffers.h"
#include "runtime/interp/order.h"
#include "runtime/system/memory.h"
#include <inttypes.h>
#include <stdio.h>

enum {
  CHUNK = 2048,        // elements of a scalar step computed at a time: some KiB, in the first cache
  FOREIGN_CHUNK = 16,  // calls of a foreign function between two looks at the flag
  STEP_COST = 64,      // a step counts as that many elements besides its own
  WIDEST = sizeof(scalar_bits),
  SPARES = 16,
  SPARE_BYTES = 1 << 16,  // smaller buffers are not worth keeping
};

// A dead buffer, kept for the next value of its size: fresh memory costs a page fault every 4 KiB.
typedef struct spare {
  void *data;
  uint64_t bytes;
} spare;

typedef struct interp {
  const trace *trace;
  interp_buffers buffers;
  interp_watch watch;
  error *failure;
  void **data;             // per step, for steps that have a buffer: its memory while it lives
  const void **in;         // the operands of the step in hand
  foreign **foreign;       // per c_function, NULL until it is called
  unsigned char *scratch;  // per operand, and one for the result: CHUNK elements
  spare spares[SPARES];
  size_t next_spare;
  uint64_t live, spared;  // bytes in buffers, bytes in spares: together at most buffers.peak
} interp;

static const trace_step *step_at(const interp *r, value_id id) {
  return &r->trace->steps.items[id];
}

static const scalar_row *row_of(scalar_type type) { return &scalar_types[type]; }

// ---- buffers ------------------------------------------------------------------------------------

static void free_spare(interp *r, spare *s) {
  free(s->data);
  r->spared -= s->bytes;
  *s = (spare){0};
}

static void *new_buffer(interp *r, uint64_t bytes) {
  r->live += bytes;
  for (size_t i = 0; i < SPARES; i++)
    if (r->spares[i].data && r->spares[i].bytes == bytes) {
      void *data = r->spares[i].data;
      r->spares[i] = (spare){0};
      r->spared -= bytes;
      return data;
    }
  for (size_t i = 0; i < SPARES && r->live + r->spared > r->buffers.peak; i++)
    if (r->spares[i].data)
      free_spare(r, &r->spares[i]);
  return malloc(bytes ? bytes : 1);
}

static void free_buffer(interp *r, void *data, uint64_t bytes) {
  r->live -= bytes;
  if (bytes < SPARE_BYTES) {
    free(data);
    return;
  }
  spare *oldest = &r->spares[r->next_spare++ % SPARES];
  free_spare(r, oldest);
  *oldest = (spare){data, bytes};
  r->spared += bytes;
}

static void *data_of(const interp *r, value_id id) { return r->data[r->buffers.values[id].buffer]; }

// Frees the buffers that step `id` is the last to read.
static void release_operands(interp *r, value_id id) {
  const trace_step *s = step_at(r, id);
  for (uint32_t k = 0; k < s->operand_count; k++) {
    value_id buffer = r->buffers.values[s->operands[k]].buffer;
    if (r->buffers.values[buffer].last_use == id && r->data[buffer]) {
      free_buffer(r, r->data[buffer], r->buffers.values[buffer].bytes);
      r->data[buffer] = NULL;
    }
  }
}

// ---- scalar steps -------------------------------------------------------------------------------

// Elements start ... start + n - 1 of operand k, as the step's instances see them: where they are,
// or repeated in scratch memory if the operand's batch is smaller.
static const void *operand_chunk(interp *r, const trace_step *s, uint32_t k, uint64_t start,
                                 size_t n) {
  const trace_step *o = step_at(r, s->operands[k]);
  size_t size = row_of(o->type)->size;
  const unsigned char *in = data_of(r, s->operands[k]);
  if (o->batch == s->batch)
    return in + start * size;
  unsigned char *out = r->scratch + (size_t)k * CHUNK * WIDEST;
  if (o->batch == 1 && start > 0)
    return out;  // full since the first chunk
  interp_repeat(out, in, size, start, n, s->batch / o->batch);
  return out;
}

static bool compute_chunk(interp *r, const trace_step *s, size_t n, void *out) {
  const void **in = r->in;
  size_t size = row_of(s->type)->size;
  switch (s->op) {
  case TRACE_SCALAR:
    scalar_apply(s->scalar, step_at(r, s->operands[0])->type, n, in[0],
                 s->operand_count > 1 ? in[1] : NULL, out);
    return true;
  case TRACE_SELECT:
    scalar_select(size, n, in[0], in[1], in[2], out);
    return true;
  case TRACE_CONVERT:
    scalar_convert(step_at(r, s->operands[0])->type, s->type, n, in[0], out);
    return true;
  case TRACE_ROOT:
    for (size_t i = 0; i < n; i++) {
      scalar_bits root = scalar_root(s->type, ((const int64_t *)in[0])[i], (int64_t)s->number);
      memcpy((unsigned char *)out + i * size, root.bytes, size);
    }
    return true;
  default:
    break;
  }
  for (size_t i = 0; i < n; i += FOREIGN_CHUNK) {
    size_t calls = n - i < FOREIGN_CHUNK ? n - i : FOREIGN_CHUNK;
    foreign_call(r->foreign[s->number], calls, in, (unsigned char *)out + i * size);
    for (uint32_t k = 0; k < s->operand_count; k++)
      in[k] = (const unsigned char *)in[k] + calls * row_of(step_at(r, s->operands[k])->type)->size;
    r->watch.left = 0;  // nobody knows how long a call takes
    if (!interp_watch_spend(&r->watch, calls))
      return false;
  }
  return true;
}

static bool run_elementwise(interp *r, value_id id) {
  const trace_step *s = step_at(r, id);
  size_t size = row_of(s->type)->size;
  unsigned char *out = data_of(r, id);
  unsigned char *aside = r->scratch + (size_t)s->operand_count * CHUNK * WIDEST;
  bool in_place = r->buffers.values[id].in_place;
  for (uint64_t start = 0; start < s->batch; start += CHUNK) {
    size_t n = s->batch - start < CHUNK ? s->batch - start : CHUNK;
    for (uint32_t k = 0; k < s->operand_count; k++)
      r->in[k] = operand_chunk(r, s, k, start, n);
    if (!compute_chunk(r, s, n, in_place ? aside : out + start * size))
      return false;
    if (in_place)
      memcpy(out + start * size, aside, n * size);
    if (!interp_watch_spend(&r->watch, n))
      return false;
  }
  return true;
}

// ---- steps without operands ---------------------------------------------------------------------

// 0, 1, ..., modulus - 1, 0, 1, ...; a modulus of 0 is none.
static bool run_count(interp *r, int64_t *out, uint64_t count, uint64_t modulus) {
  uint64_t value = 0;
  for (uint64_t start = 0; start < count; start += CHUNK) {
    uint64_t end = count - start < CHUNK ? count : start + CHUNK;
    for (uint64_t i = start; i < end; i++) {
      out[i] = (int64_t)value;
      value = value + 1 == modulus ? 0 : value + 1;
    }
    if (!interp_watch_spend(&r->watch, CHUNK))
      return false;
  }
  return true;
}

// ---- the run ------------------------------------------------------------------------------------

static bool run_step(interp *r, value_id id) {
  const trace_step *s = step_at(r, id);
  void *out = data_of(r, id);
  switch (s->op) {
  case TRACE_ARGUMENT:
    return true;
  case TRACE_CONSTANT:
    memcpy(out, &s->constant, row_of(s->type)->size);
    return true;
  case TRACE_TABLE:
    memcpy(out, s->table, r->buffers.values[id].bytes);
    return true;
  case TRACE_INSTANCE:
    return run_count(r, out, s->batch, s->number);
  case TRACE_IOTA:
    return run_count(r, out, s->dims[0], 0);
  default:
    break;
  }
  if (trace_step_elementwise(s->op))
    return run_elementwise(r, id);
  for (uint32_t k = 0; k < s->operand_count; k++)
    r->in[k] = data_of(r, s->operands[k]);
  if (s->op == TRACE_PLACES || s->op == TRACE_COUNT || s->op == TRACE_WRONG)
    return interp_order(&r->watch, r->trace, s, r->in, out);
  return interp_move(&r->watch, r->trace, s, r->in, out);
}

static bool run_steps(interp *r) {
  for (value_id id = 0; id < r->trace->steps.count; id++) {
    const interp_value *v = &r->buffers.values[id];
    if (!v->needed)
      continue;
    if (v->buffer == id && r->data[id] == NULL) {
      r->data[id] = new_buffer(r, v->bytes);
      if (r->data[id] == NULL)
        return error_set(r->failure, step_at(r, id)->where, "out of memory");
    }
    bool computed = v->buffer == id || v->in_place;
    if (!interp_watch_spend(&r->watch, STEP_COST) || (computed && !run_step(r, id)))
      return error_set(r->failure, SPAN_NONE, r->watch.no_memory ? "out of memory" : "interrupted");
    release_operands(r, id);
  }
  return true;
}

// ---- before and after ---------------------------------------------------------------------------

static bool check_ranks(interp *r) {
  for (size_t i = 0; i < r->trace->results.count; i++) {
    const trace_step *s = step_at(r, r->trace->results.items[i]);
    if (s->rank > VALUE_MAX_RANK)
      return error_set(r->failure, s->where,
                       "result %zu has %u dimensions; at most %d are possible", i + 1,
                       (unsigned)s->rank, VALUE_MAX_RANK);
  }
  return true;
}

static bool allocate_tables(interp *r) {
  const trace *t = r->trace;
  size_t operands = 1, scalars = 0;
  for (size_t i = 0; i < t->steps.count; i++) {
    size_t count = t->steps.items[i].operand_count;
    operands = count > operands ? count : operands;
    if (trace_step_elementwise(t->steps.items[i].op))
      scalars = count > scalars ? count : scalars;
  }
  r->data = calloc(t->steps.count + 1, sizeof *r->data);
  r->in = calloc(operands, sizeof *r->in);
  r->foreign = calloc(t->externs.count + 1, sizeof *r->foreign);
  r->scratch = malloc((scalars + 1) * CHUNK * WIDEST);
  bool ok = r->data && r->in && r->foreign && r->scratch && interp_buffers_find(&r->buffers, t);
  return ok || error_set(r->failure, SPAN_NONE, "out of memory");
}

static bool check_memory(interp *r, const array *arguments, size_t count) {
  char why[MEMORY_WHY];
  uint64_t held = 0;
  for (size_t i = 0; i < count; i++)
    held += array_bytes(&arguments[i]);
  return memory_suffices((double)r->buffers.peak, held, why) ||
         error_set(r->failure, SPAN_NONE, "this needs %s", why);
}

static bool open_foreign(interp *r, bool allowed) {
  for (value_id id = 0; id < r->trace->steps.count; id++) {
    const trace_step *s = step_at(r, id);
    if (s->op != TRACE_EXTERN || !r->buffers.values[id].needed || r->foreign[s->number])
      continue;
    r->foreign[s->number] = foreign_open(&r->trace->externs.items[s->number], allowed, r->failure);
    if (r->foreign[s->number] == NULL) {
      r->failure->where = s->where;
      return false;
    }
  }
  return true;
}

// Whether the array is what the ARGUMENT step describes.
static bool is_argument_of(const array *a, const trace_step *s) {
  return a->type == s->type && a->rank == s->rank &&
         (s->rank == 0 || memcmp(a->dims, s->dims, s->rank * sizeof *s->dims) == 0) &&
         (a->data != NULL || trace_step_count(s) == 0);
}

static bool take_over_arguments(interp *r, array *arguments, size_t count) {
  for (value_id id = 0; id < r->trace->steps.count; id++) {
    const trace_step *s = step_at(r, id);
    const interp_value *v = &r->buffers.values[id];
    if (s->op != TRACE_ARGUMENT || (v->needed && v->buffer != id))
      continue;
    if (s->number >= count || !is_argument_of(&arguments[s->number], s))
      return error_set(r->failure, SPAN_NONE,
                       "argument %" PRIu64 " is missing, or has another type or shape than the "
                       "program was compiled for",
                       s->number + 1);
    if (!v->needed)
      continue;
    r->data[id] = arguments[s->number].data;
    r->live += v->bytes;
    if (s->type == SCALAR_BOOL)  // what is not 0 is true
      scalar_convert(SCALAR_U8, s->type, v->bytes, r->data[id], r->data[id]);
    arguments[s->number].data = NULL;
  }
  return true;
}

// The buffers become the results; one that is several results is copied.
static bool hand_over_results(interp *r, array *results) {
  const trace *t = r->trace;
  const interp_value *values = r->buffers.values;
  for (size_t i = 0; i < t->results.count; i++) {
    const trace_step *s = step_at(r, t->results.items[i]);
    value_id buffer = values[t->results.items[i]].buffer;
    results[i] = (array){.type = s->type, .rank = s->rank, .data = r->data[buffer]};
    for (uint32_t k = 0; k < s->rank; k++)
      results[i].dims[k] = s->dims[k];
    r->data[buffer] = NULL;
    if (results[i].data)
      continue;
    size_t first = 0;
    while (values[t->results.items[first]].buffer != buffer)
      first++;
    results[i].data = new_buffer(r, values[buffer].bytes);
    if (results[i].data == NULL)
      return error_set(r->failure, s->where, "out of memory");
    memcpy(results[i].data, results[first].data, values[buffer].bytes);
  }
  return true;
}

static void free_interp(interp *r) {
  for (size_t i = 0; r->data && i < r->trace->steps.count; i++)
    free(r->data[i]);
  for (size_t i = 0; r->foreign && i < r->trace->externs.count; i++)
    foreign_close(r->foreign[i]);
  for (size_t i = 0; i < SPARES; i++)
    free(r->spares[i].data);
  free(r->data);
  free(r->in);
  free(r->foreign);
  free(r->scratch);
  interp_buffers_free(&r->buffers);
}

bool interp_run(const trace *t, array *arguments, size_t argument_count, array *results,
                bool allow_foreign, const atomic_bool *interrupted, error *failure) {
  interp r = {.trace = t, .watch = {.interrupted = interrupted}, .failure = failure};
  *failure = (error){0};
  for (size_t i = 0; i < t->results.count; i++)
    results[i] = (array){0};
  bool ok = check_ranks(&r) && allocate_tables(&r) && check_memory(&r, arguments, argument_count) &&
            open_foreign(&r, allow_foreign) && take_over_arguments(&r, arguments, argument_count);
  arrays_destroy(arguments, argument_count);  // those that nothing needs
  ok = ok && run_steps(&r) && hand_over_results(&r, results);
  if (!ok)
    arrays_destroy(results, t->results.count);
  free_interp(&r);
  return ok;
}
