// From portable to compiled passes. See adaptive.h.
#include "runtime/adaptive/adaptive.h"
#include "core/clock.h"

#include <stdlib.h>

#define DOUBT 0.05  // seconds: passes that take less tell little of how right the model is

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
  compiled *compiled;   // NULL: portable executes the passes
  bool began_compiled;  // so did the run, whose arrays lie accordingly
  phase phase;
  c_code code;               // while MISSED
  compilation *pending;      // while COMPILING
  double started, expected;  // when, by the clock; how long it is thought to take
  unsigned threads;          // ... that are left
  error problem;
  // The passes that were executed: since when, by the clock, and how long by the model.
  double begun, predicted;
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

// Writes the C text, and loads its code if it is in the cache.
static void look_for_code(adaptive *e) {
  const char *problem = NULL;
  compiled_status status;
  compiled_options o = e->options.compiled;
  o.only_cached = true;
  e->phase = SETTLED;
  if (!c_emit(&e->code, e->plan, &e->options.text, &problem))
    return;
  c_code_bound(&e->code, e->plan, C_CODE_MOST_BYTES);
  e->compiled = compiled_new(e->plan, &e->code, &o, &status, &e->problem);
  if (!e->compiled && status == COMPILED_NOT_CACHED)
    e->phase = MISSED;
  if (status != COMPILED_UNAVAILABLE || find_gain(e) < e->options.model->compile)
    e->problem = (error){0};
}

static double find_compile_seconds(const adaptive *e) {
  return model_compile_seconds(c_code_bytes_of_passes(&e->code), e->code.headers,
                               e->code.lanes_alone, e->options.threads);
}

static void begin_compilation(adaptive *e) {
  unsigned all = e->options.threads, busy = model_compilers(c_code_bytes_of_passes(&e->code), all);
  e->expected = find_compile_seconds(e);
  e->started = clock_seconds();
  e->threads = busy < all ? all - busy : 1;
  e->pending = compilation_begin(&e->code, &e->options.compiled);
  e->phase = e->pending ? COMPILING : SETTLED;
}

// Waits for the compiler where portable takes longer to the pass. The time does not count as that
// of passes.
static void wait_for_code(adaptive *e, uint32_t pass) {
  const model_pass *m = &e->options.model->passes[pass];
  double gain = (m->portable - m->compiled) * find_correction(e), start = clock_seconds();
  if (e->started + e->expected - start < gain)
    compilation_wait(e->pending, gain, e->options.compiled.interrupted);
  e->begun += clock_seconds() - start;
}

// Takes each step towards compiled code that the rest of the work is worth.
static void weigh_rest(adaptive *e) {
  const cost_model *m = e->options.model;
  const double rolled = 8;  // loops of text, which the model takes for what they execute
  if (e->phase == UNTRIED && find_gain(e) > m->text &&
      m->bytes < rolled * (double)C_CODE_MOST_BYTES)
    look_for_code(e);
  if (e->phase == MISSED && find_gain(e) > find_compile_seconds(e))
    begin_compilation(e);
}

// ---- passes ------------------------------------------------------------------------------------

bool adaptive_in_place(const void *with, uint32_t pass) {
  const adaptive *e = with;
  return !e->compiled || compiled_in_place(e->compiled, pass);
}

// Whether compiled code can execute the pass where arrays lie for portable. (Where its stage's tiles
// overlap, none shares memory.)
static bool is_for_both(const adaptive *e, uint32_t pass) {
  const net_stage *s = &e->plan->net->stages.items[e->plan->passes.items[pass].stage];
  return compiled_in_place(e->compiled, pass) || net_stage_overlaps(s);
}

cpu_work adaptive_pass(void *with, uint32_t pass) {
  adaptive *e = with;
  if (pass == 0) {
    e->began_compiled = e->compiled != NULL;
    e->begun = clock_seconds();
    e->predicted = 0;
  } else {
    e->predicted += e->options.model->passes[pass - 1].portable;
  }
  if (!e->compiled)
    weigh_rest(e);
  if (e->phase == COMPILING) {
    wait_for_code(e, pass);
    if (compilation_has_ended(e->pending)) {
      e->compiled = compilation_take(e->pending, e->plan, &e->options.compiled, &e->problem);
      e->pending = NULL;
      e->phase = SETTLED;
    }
  }
  if (e->compiled && (e->began_compiled || is_for_both(e, pass)))
    return compiled_pass(e->compiled, pass);
  cpu_work work = portable_pass(e->portable, pass);
  if (e->phase == COMPILING && !work.threads)
    work.threads = e->threads;
  return work;
}

// ---- making and freeing ------------------------------------------------------------------------

adaptive *adaptive_new(const plan *p, const adaptive_options *o, error *failure) {
  adaptive *e = calloc(1, sizeof *e);
  if (!e) {
    error_no_memory(failure);
    return NULL;
  }
  e->plan = p;
  e->options = *o;
  weigh_rest(e);
  e->portable = e->compiled ? NULL : portable_new(p, &o->portable, failure);
  if (e->compiled || e->portable)
    return e;
  adaptive_free(e);
  return NULL;
}

void adaptive_free(adaptive *e) {
  if (!e)
    return;
  compilation_end(e->pending);
  portable_free(e->portable);
  compiled_free(e->compiled);
  c_code_free(&e->code);
  free(e);
}

bool adaptive_has_code(const adaptive *e) { return e->compiled != NULL; }

const char *adaptive_note(const adaptive *e) {
  return e->compiled ? compiled_note(e->compiled) : "";
}
const char *adaptive_problem(const adaptive *e) { return e->problem.message; }
