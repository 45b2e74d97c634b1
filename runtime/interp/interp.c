// The loop over the steps of a Trace, the scalar steps, and the memory of values. See interp.h.
#include "runtime/interp/interp.h"

#include "runtime/foreign/foreign.h"
#include "runtime/interp/order.h"
#include "runtime/system/memory.h"
#include <inttypes.h>
#include <stdio.h>

enum {
  CHUNK = 2048,        // elements of a scalar step computed at a time: some KiB, in the first cache
  FOREIGN_CHUNK = 16,  // calls of a foreign function between two looks at the flag
  STEP_COST = 64,      // a step counts as that many elements besides its own
  WIDEST = sizeof(scalar_bits),
};

typedef struct interp {
  const trace *trace;
  const array *arguments;
  interp_watch watch;
  error *failure;
  size_t *last_use;   // per step: the last that reads it; for a result the number of steps;
                      //   0: nothing needs it
  void **data;        // per step: its value, from when it is computed to its last use
  const void **in;    // the operands of the step in hand
  foreign **foreign;  // per c_function, NULL until it is called
} interp;

static const trace_step *step_at(const interp *r, value_id id) {
  return &r->trace->steps.items[id];
}

static const scalar_row *row_of(scalar_type type) { return &scalar_types[type]; }

static uint64_t value_bytes(const interp *r, value_id id) {
  return trace_step_count(step_at(r, id)) * row_of(step_at(r, id)->type)->size;
}

// ---- scalar steps -------------------------------------------------------------------------------

// Elements start ... start + n - 1 of operand k, as the step's instances see them: where they are,
// or repeated in `room` if the operand's batch is smaller. NULL: interrupted.
static const void *operand_chunk(interp *r, const trace_step *s, uint32_t k, uint64_t start,
                                 size_t n, unsigned char *room) {
  const trace_step *o = step_at(r, s->operands[k]);
  size_t size = row_of(o->type)->size;
  const unsigned char *in = r->data[s->operands[k]];
  if (o->batch == s->batch)
    return in + start * size;
  if (o->batch == 1 && start > 0)
    return room;  // full since the first chunk
  return interp_repeat(&r->watch, room, in, size, start, n, s->batch / o->batch) ? room : NULL;
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

static bool run_elementwise(interp *r, const trace_step *s, unsigned char *out) {
  size_t chunk = s->batch < CHUNK ? s->batch : CHUNK;
  unsigned char *room = malloc(s->operand_count * chunk * WIDEST + 1);
  bool good = room != NULL;
  r->watch.no_memory = !good;
  for (uint64_t start = 0; start < s->batch && good; start += chunk) {
    size_t n = s->batch - start < chunk ? s->batch - start : chunk;
    for (uint32_t k = 0; k < s->operand_count && good; k++) {
      r->in[k] = operand_chunk(r, s, k, start, n, room + k * chunk * WIDEST);
      good = r->in[k] != NULL;
    }
    good = good && compute_chunk(r, s, n, out + start * row_of(s->type)->size) &&
           interp_watch_spend(&r->watch, n);
  }
  free(room);
  return good;
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
  void *out = r->data[id];
  for (uint32_t k = 0; k < s->operand_count; k++)
    r->in[k] = r->data[s->operands[k]];
  switch (s->op) {
  case TRACE_ARGUMENT:
    if (s->type == SCALAR_BOOL)  // what is not 0 is true
      scalar_convert(SCALAR_U8, s->type, value_bytes(r, id), r->arguments[s->number].data, out);
    else if (value_bytes(r, id) > 0)
      memcpy(out, r->arguments[s->number].data, value_bytes(r, id));
    return true;
  case TRACE_CONSTANT:
    memcpy(out, &s->constant, row_of(s->type)->size);
    return true;
  case TRACE_TABLE:
    memcpy(out, s->table, value_bytes(r, id));
    return true;
  case TRACE_INSTANCE:
    return run_count(r, out, s->batch, s->number);
  case TRACE_IOTA:
    return run_count(r, out, s->dims[0], 0);
  case TRACE_SCALAR:
  case TRACE_SELECT:
  case TRACE_CONVERT:
  case TRACE_ROOT:
  case TRACE_EXTERN:
    return run_elementwise(r, s, out);
  case TRACE_PLACES:
  case TRACE_COUNT:
  case TRACE_WRONG:
    return interp_order(&r->watch, r->trace, s, r->in, out);
  default:
    return interp_move(&r->watch, r->trace, s, r->in, out);
  }
}

static bool run_steps(interp *r) {
  for (value_id id = 0; id < r->trace->steps.count; id++) {
    const trace_step *s = step_at(r, id);
    if (!r->last_use[id])
      continue;
    r->data[id] = malloc(value_bytes(r, id) + 1);
    if (r->data[id] == NULL)
      return error_no_memory(r->failure);
    if (!interp_watch_spend(&r->watch, STEP_COST) || !run_step(r, id))
      return r->watch.no_memory ? error_no_memory(r->failure)
                                : error_set(r->failure, SPAN_NONE, "interrupted");
    for (uint32_t k = 0; k < s->operand_count; k++)
      if (r->last_use[s->operands[k]] == id) {
        free(r->data[s->operands[k]]);
        r->data[s->operands[k]] = NULL;
      }
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
  size_t operands = 1;
  for (size_t i = 0; i < t->steps.count; i++)
    operands =
        t->steps.items[i].operand_count > operands ? t->steps.items[i].operand_count : operands;
  r->last_use = calloc(t->steps.count + 1, sizeof *r->last_use);
  r->data = calloc(t->steps.count + 1, sizeof *r->data);
  r->in = calloc(operands, sizeof *r->in);
  r->foreign = calloc(t->externs.count + 1, sizeof *r->foreign);
  return (r->last_use && r->data && r->in && r->foreign) || error_no_memory(r->failure);
}

// Backwards from the results: what is first seen to read a value is the last to do so.
static void find_last_uses(interp *r) {
  const trace *t = r->trace;
  for (size_t i = 0; i < t->results.count; i++)
    r->last_use[t->results.items[i]] = t->steps.count;
  for (size_t i = t->steps.count; i-- > 0;)
    for (uint32_t k = 0; r->last_use[i] && k < t->steps.items[i].operand_count; k++) {
      size_t *last = &r->last_use[t->steps.items[i].operands[k]];
      *last = *last ? *last : i;
    }
}

// The most bytes that are in values at any time. Negative: there is no memory to find it out.
//
//   %0 argument 0     8 bytes, last read by %1     8
//   %1 scalar neg %0  8        last read by %2     16, then %0 goes
//   %2 scalar neg %1  8        a result            16
static double peak_bytes(const interp *r) {
  const trace *t = r->trace;
  double live = 0, most = 0, results = 0, *dying = calloc(t->steps.count + 1, sizeof *dying);
  if (!dying)
    return -1;
  for (value_id id = 0; id < t->steps.count; id++) {
    double bytes = r->last_use[id] ? (double)value_bytes(r, id) : 0;
    dying[r->last_use[id]] += bytes;
    live += bytes;
    most = live > most ? live : most;
    live -= dying[id];
  }
  for (size_t i = 0; i < t->results.count; i++)  // a value that is two results is copied
    results += (double)value_bytes(r, t->results.items[i]);
  free(dying);
  return results > most ? results : most;
}

static bool check_memory(interp *r, size_t count) {
  char why[MEMORY_WHY];
  uint64_t held = 0;
  for (size_t i = 0; i < count; i++)
    held += array_bytes(&r->arguments[i]);
  double peak = peak_bytes(r);
  if (peak < 0)
    return error_no_memory(r->failure);
  if (!memory_suffices((double)held + peak, held, why))
    return error_set(r->failure, SPAN_NONE, "this needs %s", why);
  // glibc keeps the memory of blocks as large as one that has been freed: values are short-lived.
  void *volatile all = malloc((size_t)peak);
  free(all);
  return true;
}

static bool open_foreign(interp *r, bool allowed) {
  for (value_id id = 0; id < r->trace->steps.count; id++) {
    const trace_step *s = step_at(r, id);
    if (s->op != TRACE_EXTERN || !r->last_use[id] || r->foreign[s->number])
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

static bool check_arguments(interp *r, size_t count) {
  for (value_id id = 0; id < r->trace->steps.count; id++) {
    const trace_step *s = step_at(r, id);
    if (s->op == TRACE_ARGUMENT &&
        (s->number >= count || !is_argument_of(&r->arguments[s->number], s)))
      return error_set(r->failure, SPAN_NONE,
                       "argument %" PRIu64 " is missing, or has another type or shape than the "
                       "program was compiled for",
                       s->number + 1);
  }
  return true;
}

// The values become the results; one that is several results is copied.
static bool hand_over_results(interp *r, array *results) {
  const trace *t = r->trace;
  for (size_t i = 0; i < t->results.count; i++) {
    value_id id = t->results.items[i];
    const trace_step *s = step_at(r, id);
    results[i] = (array){.type = s->type, .rank = s->rank, .data = r->data[id]};
    for (uint32_t k = 0; k < s->rank; k++)
      results[i].dims[k] = s->dims[k];
    r->data[id] = NULL;
    if (results[i].data)
      continue;
    size_t first = 0;
    while (t->results.items[first] != id)
      first++;
    results[i].data = malloc(value_bytes(r, id) + 1);
    if (results[i].data == NULL)
      return error_no_memory(r->failure);
    memcpy(results[i].data, results[first].data, value_bytes(r, id));
  }
  return true;
}

bool interp_run(const trace *t, const array *arguments, size_t argument_count, array *results,
                bool allow_foreign, const atomic_bool *interrupted, error *failure) {
  interp r = {.trace = t,
              .arguments = arguments,
              .watch = {.interrupted = interrupted},
              .failure = failure};
  *failure = (error){0};
  for (size_t i = 0; i < t->results.count; i++)
    results[i] = (array){0};
  bool ok = check_ranks(&r) && allocate_tables(&r);
  if (ok)
    find_last_uses(&r);
  ok = ok && check_memory(&r, argument_count) && open_foreign(&r, allow_foreign) &&
       check_arguments(&r, argument_count) && run_steps(&r) && hand_over_results(&r, results);
  if (!ok)
    arrays_destroy(results, t->results.count);
  for (size_t i = 0; r.data && i < t->steps.count; i++)
    free(r.data[i]);
  for (size_t i = 0; r.foreign && i < t->externs.count; i++)
    foreign_close(r.foreign[i]);
  free(r.last_use);
  free(r.data);
  free(r.in);
  free(r.foreign);
  return ok;
}
