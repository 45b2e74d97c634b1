// The loop over the steps of a Trace, the scalar steps, and the buffers. See interp.h.
#include "runtime/interp/interp.h"

#include "runtime/interp/foreign.h"
#include "runtime/interp/move.h"
#include "runtime/interp/plan.h"
#include "runtime/system/memory.h"
#include <inttypes.h>
#include <stdio.h>

enum {
  CHUNK = 2048,        // elements of a scalar step computed at a time: some KiB, in the first cache
  FOREIGN_CHUNK = 16,  // calls of a foreign function between two looks at the flag
  SMALL_RUN = 1 << 24,  // bytes that every machine has
  STEP_COST = 64,       // a step counts as that many elements besides its own
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
  interp_plan plan;
  interp_watch watch;
  interp_failure *failure;
  void **data;             // per step, for steps that have a buffer: its memory while it lives
  const void **in;         // the operands of the step in hand
  foreign **foreign;       // per trace_extern, NULL until it is called
  unsigned char *scratch;  // per operand, and one for the result: CHUNK elements
  spare spares[SPARES];
  size_t next_spare;
  uint64_t live, spared;  // bytes in buffers, bytes in spares: together at most plan.peak
} interp;

static bool fail(interp *r, const trace_step *s, const char *format, ...) PRINTF_LIKE(3, 4);

static bool fail(interp *r, const trace_step *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  *r->failure = (interp_failure){.has_span = s != NULL};
  if (s)
    r->failure->where = s->where;
  vsnprintf(r->failure->message, sizeof r->failure->message, format, arguments);
  va_end(arguments);
  return false;
}

static const trace_step *step_at(const interp *r, value_id id) {
  return &r->trace->steps.items[id];
}

static const scalar_row *row_of(scalar_type type) { return &scalar_types[type]; }

// ---- buffers ------------------------------------------------------------------------------------

static void drop_spare(interp *r, spare *s) {
  free(s->data);
  r->spared -= s->bytes;
  *s = (spare){0};
}

static void *buffer_new(interp *r, uint64_t bytes) {
  r->live += bytes;
  for (size_t i = 0; i < SPARES; i++)
    if (r->spares[i].data && r->spares[i].bytes == bytes) {
      void *data = r->spares[i].data;
      r->spares[i] = (spare){0};
      r->spared -= bytes;
      return data;
    }
  for (size_t i = 0; i < SPARES && r->live + r->spared > r->plan.peak; i++)
    if (r->spares[i].data)
      drop_spare(r, &r->spares[i]);
  return malloc(bytes ? bytes : 1);
}

static void buffer_free(interp *r, void *data, uint64_t bytes) {
  r->live -= bytes;
  if (bytes < SPARE_BYTES) {
    free(data);
    return;
  }
  spare *oldest = &r->spares[r->next_spare++ % SPARES];
  drop_spare(r, oldest);
  *oldest = (spare){data, bytes};
  r->spared += bytes;
}

static void *data_of(const interp *r, value_id id) { return r->data[r->plan.places[id].buffer]; }

// Frees the buffers that step `id` is the last to read.
static void release_operands(interp *r, value_id id) {
  const trace_step *s = step_at(r, id);
  for (uint32_t k = 0; k < s->operand_count; k++) {
    value_id buffer = r->plan.places[s->operands[k]].buffer;
    if (r->plan.places[buffer].last_use == id && r->data[buffer]) {
      buffer_free(r, r->data[buffer], r->plan.places[buffer].bytes);
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

static void fill_roots(const trace_step *s, size_t n, const int64_t *k, unsigned char *out) {
  size_t size = row_of(s->type)->size;
  for (size_t i = 0; i < n; i++) {
    scalar_bits root = scalar_root(s->type, k[i], (int64_t)s->number);
    memcpy(out + i * size, root.bytes, size);
  }
}

static bool compute_chunk(interp *r, const trace_step *s, size_t n, void *out) {
  const void **in = r->in;
  switch (s->op) {
  case TRACE_SCALAR:
    scalar_apply(s->scalar, step_at(r, s->operands[0])->type, n, in[0],
                 s->operand_count > 1 ? in[1] : NULL, out);
    return true;
  case TRACE_SELECT:
    scalar_select(row_of(s->type)->size, n, in[0], in[1], in[2], out);
    return true;
  case TRACE_CONVERT:
    scalar_convert(step_at(r, s->operands[0])->type, s->type, n, in[0], out);
    return true;
  case TRACE_ROOT:
    fill_roots(s, n, in[0], out);
    return true;
  default:
    break;
  }
  for (size_t i = 0; i < n; i += FOREIGN_CHUNK) {
    size_t calls = n - i < FOREIGN_CHUNK ? n - i : FOREIGN_CHUNK;
    foreign_call(r->foreign[s->number], calls, in,
                 (unsigned char *)out + i * row_of(s->type)->size);
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
  bool in_place = r->plan.places[id].in_place;
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
  return interp_move(&r->watch, r->trace, s, r->in, out);
}

static bool run_steps(interp *r) {
  for (value_id id = 0; id < r->trace->steps.count; id++) {
    const interp_place *place = &r->plan.places[id];
    if (!place->needed)
      continue;
    if (place->buffer == id && r->data[id] == NULL) {
      r->data[id] = buffer_new(r, place->bytes);
      if (r->data[id] == NULL)
        return fail(r, step_at(r, id), "out of memory");
    }
    bool computed = place->buffer == id || place->in_place;
    if (!interp_watch_spend(&r->watch, STEP_COST) || (computed && !run_step(r, id)))
      return fail(r, NULL, "interrupted");
    release_operands(r, id);
  }
  return true;
}

// ---- before and after ---------------------------------------------------------------------------

static bool check_ranks(interp *r) {
  for (size_t i = 0; i < r->trace->results.count; i++) {
    const trace_step *s = step_at(r, r->trace->results.items[i]);
    if (s->rank > VALUE_MAX_RANK)
      return fail(r, s, "result %zu has %" PRIu32 " dimensions; at most %d are possible", i + 1,
                  s->rank, VALUE_MAX_RANK);
  }
  return true;
}

static bool allocate(interp *r) {
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
  bool ok = r->data && r->in && r->foreign && r->scratch && interp_plan_make(&r->plan, t);
  return ok ? true : fail(r, NULL, "out of memory");
}

static bool check_memory(interp *r) {
  const char *owner = "";
  if (r->plan.peak < SMALL_RUN)
    return true;
  uint64_t limit = interp_memory_limit(&owner);
  if (r->plan.peak <= limit)
    return true;
  char need[32], have[32];
  interp_format_bytes(need, sizeof need, r->plan.peak);
  interp_format_bytes(have, sizeof have, limit);
  return fail(r, NULL, "this needs %s of memory; %s %s", need, owner, have);
}

static bool open_foreign(interp *r, bool allowed) {
  char message[400];
  for (value_id id = 0; id < r->trace->steps.count; id++) {
    const trace_step *s = step_at(r, id);
    if (s->op != TRACE_EXTERN || !r->plan.places[id].needed || r->foreign[s->number])
      continue;
    const trace_extern *e = &r->trace->externs.items[s->number];
    if (!allowed)
      return fail(r, s, "\"%s\" is a C function; programs may call those only with --allow-extern",
                  e->name);
    r->foreign[s->number] = foreign_open(e, message, sizeof message);
    if (r->foreign[s->number] == NULL)
      return fail(r, s, "%s", message);
  }
  return true;
}

static bool fits(const array *a, const trace_step *s) {
  bool same = a->type == s->type && a->rank == s->rank;
  for (uint32_t i = 0; same && i < s->rank; i++)
    same = a->dims[i] == s->dims[i];
  return same && (a->data != NULL || trace_step_count(s) == 0);
}

static bool take_arguments(interp *r, array *arguments, size_t count) {
  for (value_id id = 0; id < r->trace->steps.count; id++) {
    const trace_step *s = step_at(r, id);
    const interp_place *place = &r->plan.places[id];
    if (s->op != TRACE_ARGUMENT || (place->needed && place->buffer != id))
      continue;
    if (s->number >= count || !fits(&arguments[s->number], s))
      return fail(r, NULL, "argument %" PRIu64 " is missing, or not of the type and shape expected",
                  s->number + 1);
    if (!place->needed)
      continue;
    r->data[id] = arguments[s->number].data;
    r->live += place->bytes;
    arguments[s->number].data = NULL;
  }
  return true;
}

static void destroy_all(array *arrays, size_t count) {
  for (size_t i = 0; i < count; i++) {
    array_destroy(&arrays[i]);
    arrays[i] = (array){0};
  }
}

// The buffers become the results; one that is several results is copied.
static bool hand_over(interp *r, array *results) {
  const trace *t = r->trace;
  for (size_t i = 0; i < t->results.count; i++) {
    const trace_step *s = step_at(r, t->results.items[i]);
    const interp_place *places = r->plan.places;
    value_id buffer = places[t->results.items[i]].buffer;
    results[i] = (array){.type = s->type, .rank = s->rank, .data = r->data[buffer]};
    for (uint32_t k = 0; k < s->rank; k++)
      results[i].dims[k] = s->dims[k];
    r->data[buffer] = NULL;
    if (results[i].data)
      continue;
    size_t first = 0;
    while (places[t->results.items[first]].buffer != buffer)
      first++;
    results[i].data = buffer_new(r, places[buffer].bytes);
    if (results[i].data == NULL)
      return fail(r, s, "out of memory");
    memcpy(results[i].data, results[first].data, places[buffer].bytes);
  }
  return true;
}

static void clean_up(interp *r) {
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
  interp_plan_free(&r->plan);
}

bool interp_run(const trace *t, array *arguments, size_t argument_count, array *results,
                bool allow_foreign, const atomic_bool *interrupted, interp_failure *failure) {
  interp r = {.trace = t, .watch = {.interrupted = interrupted}, .failure = failure};
  *failure = (interp_failure){0};
  for (size_t i = 0; i < t->results.count; i++)
    results[i] = (array){0};
  bool ok = check_ranks(&r) && allocate(&r) && check_memory(&r) &&
            open_foreign(&r, allow_foreign) && take_arguments(&r, arguments, argument_count);
  destroy_all(arguments, argument_count);  // those that nothing needs
  ok = ok && run_steps(&r) && hand_over(&r, results);
  if (!ok)
    destroy_all(results, t->results.count);
  clean_up(&r);
  return ok;
}

uint64_t interp_peak_bytes(const trace *t) {
  interp_plan plan;
  if (!interp_plan_make(&plan, t))
    return UINT64_MAX;
  uint64_t peak = plan.peak;
  interp_plan_free(&plan);
  return peak;
}
