// From portable to compiled passes. See adaptive.h.
#include "runtime/adaptive/adaptive.h"
#include "core/clock.h"

#include <stdlib.h>

// Seconds.
#define SLICE 0.02    // of a pass, after which the rest is weighed anew
#define DOUBT 0.05    // passes that take less tell little of how right the model is
#define PATIENCE 0.1  // ... and a part of what the program takes:
#define PATIENT_PART 0.2

typedef enum phase {
  UNTRIED,    // the C text has not been written
  MISSED,     // its code is not in the cache
  COMPILING,  // the compiler runs
  SETTLED     // compiled code is there, or there is no way to it
} phase;

struct adaptive {
  const plan *plan;
  adaptive_options options;
  portable *portable;
  compiled *compiled;  // NULL: portable executes the passes
  bool leaves;         // and interp has the program
  phase phase;
  c_code code;               // while MISSED
  compilation *pending;      // while COMPILING
  double started, expected;  // when, by the clock; how long it is thought to take
  compile_record record;     // of earlier runs
  unsigned threads;          // ... that are left
  error problem;
  // What was done so far, by the clock and by the model.
  double begun, predicted;
  uint32_t pass;
  uint64_t item, slice;  // of the pass: where the present slice begins, and its length
};

// ---- weighing ----------------------------------------------------------------------------------

// How many times as long as predicted the passes take. A moment without a processor is no sign.
static double find_correction(const adaptive *e) {
  double taken = e->begun > 0 ? clock_seconds() - e->begun : 0;
  return (taken + DOUBT) / (e->predicted + DOUBT);
}

// Seconds that compiled code would save of the rest.
static double find_gain(const adaptive *e) {
  const cost_model *m = e->options.model;
  double left = 1 - e->predicted / m->portable;
  return left * (m->portable - m->compiled) * find_correction(e);
}

// What compiling is thought to take. One that was ended is given twice the time.
static double find_compile_seconds(const adaptive *e) {
  double predicted = model_compile_seconds(c_code_bytes(&e->code), e->options.threads);
  return predicted > 2 * e->record.over ? predicted : 2 * e->record.over;
}

static void wait_for_code(adaptive *e, compilation *pending, unsigned threads) {
  e->pending = pending;
  e->phase = COMPILING;
  e->started = clock_seconds();
  e->threads = threads;
}

// Writes the C text, and loads its code if it is in the cache.
static void look_for_code(adaptive *e) {
  const char *problem = NULL;
  compiled_status status;
  compiled_options o = e->options.compiled;
  o.only_cached = true;
  o.record = &e->record;
  e->phase = SETTLED;
  if (!c_emit(&e->code, e->plan, &e->options.text, &problem))
    return;
  compilation **pending = e->options.pending;
  if (*pending && compilation_is_of(*pending, &e->code)) {
    wait_for_code(e, *pending, e->options.threads > 1 ? e->options.threads - 1 : 1);
    *pending = NULL;
    return;
  }
  e->compiled = compiled_new(e->plan, &e->code, &o, &status, &e->problem);
  if (!e->compiled && status == COMPILED_NOT_CACHED)
    e->phase = MISSED;
  if (status != COMPILED_UNAVAILABLE || find_gain(e) < e->options.model->compile)
    e->problem = (error){0};
}

static void begin_compilation(adaptive *e) {
  unsigned all = e->options.threads, busy = model_compilers(c_code_bytes(&e->code), all);
  compilation_end(*e->options.pending, true);
  *e->options.pending = NULL;
  e->expected = find_compile_seconds(e);
  wait_for_code(e, compilation_begin(&e->code, &e->options.compiled), busy < all ? all - busy : 1);
  if (!e->pending)
    e->phase = SETTLED;
}

static void end_compilation(adaptive *e) {
  e->compiled = compilation_take(e->pending, e->plan, &e->options.compiled, &e->problem);
  compilation_end(e->pending, true);
  e->pending = NULL;
  e->phase = SETTLED;
}

static void add_loss(const adaptive *e, compile_record more) {
  memcpy(more.key, e->record.key, sizeof more.key);
  if (more.lost > 0)
    compile_record_add(&more);
}

// Whether interp has the program. It has not if there is compiled code, or a compiler runs or is
// worth it after what earlier runs have lost.
static bool leave_to_interp(adaptive *e) {
  const cost_model *m = e->options.model;
  double gain = m->interp - m->compiled;
  if (!e->options.may_leave || !model_returns_to_interp(m))
    return false;
  if (gain > m->text && m->bytes < (double)C_CODE_MOST_BYTES)
    look_for_code(e);
  if (e->compiled || e->phase == COMPILING ||
      (e->phase == MISSED && e->record.lost + gain > find_compile_seconds(e)))
    return false;
  add_loss(e, (compile_record){.lost = gain - m->text});
  return true;
}

// Takes each step that the rest of the work is worth, and compiling also where earlier runs have
// lost more than it takes.
static void weigh_rest(adaptive *e) {
  const cost_model *m = e->options.model;
  if (e->phase == UNTRIED && find_gain(e) > m->text && m->bytes < (double)C_CODE_MOST_BYTES)
    look_for_code(e);
  if (e->phase == MISSED && e->record.lost + find_gain(e) > find_compile_seconds(e))
    begin_compilation(e);
  if (e->phase == COMPILING && compilation_has_ended(e->pending))
    end_compilation(e);
}

// ---- passes ------------------------------------------------------------------------------------

// Counts what was done since the last call.
static void count_slice(adaptive *e) {
  double share = (double)e->slice / (double)cpu_item_count(e->plan, e->pass);
  if (e->begun > 0 && e->slice > 0)
    e->predicted += share * e->options.model->passes[e->pass].portable;
  e->slice = 0;
}

static void advance_to(adaptive *e, uint32_t pass) {
  uint64_t next = e->item + e->slice;
  count_slice(e);
  bool goes_on = pass == e->pass && next < cpu_item_count(e->plan, pass);
  if (e->begun == 0 || (pass <= e->pass && !goes_on)) {  // a run begins
    e->begun = clock_seconds();
    e->predicted = 0;
  }
  e->item = goes_on ? next : 0;
  e->pass = pass;
}

cpu_work adaptive_pass(void *with, uint32_t pass) {
  adaptive *e = with;
  uint64_t items = cpu_item_count(e->plan, pass);
  if (e->compiled)
    return compiled_pass(e->compiled, pass);
  advance_to(e, pass);
  weigh_rest(e);
  if (e->compiled)
    return compiled_pass(e->compiled, pass);
  cpu_work work = portable_pass(e->portable, pass);
  double seconds = e->options.model->passes[pass].portable * find_correction(e);
  if (e->phase != SETTLED && seconds > 2 * SLICE)
    work.slice = (uint64_t)((double)items * SLICE / seconds) + 1;
  uint64_t granularity = work.granularity ? work.granularity : 1;
  work.slice = (work.slice + granularity - 1) / granularity * granularity;
  e->slice = work.slice && work.slice < items - e->item ? work.slice : items - e->item;
  if (e->phase == COMPILING && !work.threads)
    work.threads = e->threads;
  return work;
}

// ---- making and freeing ------------------------------------------------------------------------

adaptive *adaptive_new(const plan *p, const adaptive_options *o, error *failure) {
  adaptive *e = calloc(1, sizeof *e);
  if (!e) {
    error_set(failure, SPAN_NONE, "out of memory");
    return NULL;
  }
  e->plan = p;
  e->options = *o;
  e->leaves = leave_to_interp(e);
  if (e->leaves)
    return e;
  weigh_rest(e);
  e->portable = e->compiled ? NULL : portable_new(p, &o->portable, failure);
  if (e->compiled || e->portable)
    return e;
  adaptive_free(e);
  return NULL;
}

// For the next run: what this one has lost by not having compiled code, and that its compiler had
// not enough time, if it is ended after `patience`.
static void note_loss(adaptive *e, double patience) {
  const cost_model *m = e->options.model;
  count_slice(e);
  double gain = e->predicted / m->portable * (m->portable - m->compiled) * find_correction(e);
  compile_record more = {.lost = gain - m->text};
  if (e->pending)
    more.over = clock_seconds() - e->started + patience;
  add_loss(e, more);
}

// Ends the run, but not yet the compiler.
static void leave_run(adaptive *e) {
  double earlier = e->record.lost < e->expected ? e->record.lost : e->expected;
  double patience = PATIENCE + PATIENT_PART * (clock_seconds() - e->begun) + earlier;
  note_loss(e, patience);
  if (e->pending)
    *e->options.pending = compilation_leave(e->pending, patience);
}

void adaptive_free(adaptive *e) {
  if (!e)
    return;
  const atomic_bool *flag = e->options.compiled.interrupted;
  bool ran = e->begun > 0 && !(flag && atomic_load(flag));
  if (ran && (e->phase == MISSED || e->phase == COMPILING))
    leave_run(e);
  else
    compilation_end(e->pending, true);
  portable_free(e->portable);
  compiled_free(e->compiled);
  c_code_free(&e->code);
  free(e);
}

bool adaptive_leaves(const adaptive *e) { return e->leaves; }

const char *adaptive_problem(const adaptive *e) { return e->problem.message; }
