// The loop over the steps of a Trace, and the memory of values. See interp.h.
#include "runtime/interp/interp.h"

#include "lang/execute/execute.h"
#include "runtime/foreign/foreign.h"
#include "runtime/system/memory.h"
#include <inttypes.h>

enum { STEP_COST = 64 };  // a step counts as that many elements besides its own

typedef struct interp {
  const trace *trace;
  const array *arguments;
  step_watch watch;
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

// ---- the run ------------------------------------------------------------------------------------

static void call_foreign(void *with, const trace_step *s, size_t n, const void *const *in,
                         void *out) {
  const interp *r = with;
  foreign_call(r->foreign[s->number], n, in, out);
}

static bool run_step(interp *r, value_id id) {
  const trace_step *s = step_at(r, id);
  void *out = r->data[id];
  for (uint32_t k = 0; k < s->operand_count; k++)
    r->in[k] = r->data[s->operands[k]];
  if (s->op != TRACE_ARGUMENT)
    return execute_step(&r->watch, r->trace, s, r->in, out, call_foreign, r);
  if (s->type == SCALAR_BOOL)  // what is not 0 is true
    scalar_convert(SCALAR_U8, s->type, value_bytes(r, id), r->arguments[s->number].data, out);
  else if (value_bytes(r, id) > 0)
    memcpy(out, r->arguments[s->number].data, value_bytes(r, id));
  return true;
}

static bool run_steps(interp *r) {
  for (value_id id = 0; id < r->trace->steps.count; id++) {
    const trace_step *s = step_at(r, id);
    if (!r->last_use[id])
      continue;
    r->data[id] = malloc(value_bytes(r, id) + 1);
    if (r->data[id] == NULL)
      return error_no_memory(r->failure);
    if (!step_watch_spend(&r->watch, STEP_COST) || !run_step(r, id))
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
  double live = 0, most = 0, results = 0;
  FREED double *dying = calloc(t->steps.count + 1, sizeof *dying);
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
  if (!memory_suffices((double)held + peak, held, why)) {
    r->failure->bytes = peak;
    return error_set(r->failure, SPAN_NONE, "this needs %s", why);
  }
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
