// An entry and sizes to an explanation: elaborate, lower, rewrite, plan, count. See explain.h.
#include "runtime/explain/explain.h"

#include "kernels/emit/emit.h"

#include "runtime/cpu/cpu.h"
#include "runtime/shapes.h"

typedef struct explain_job {
  const char *entry, *type;
  const permc_size *sizes;
  size_t size_count;
  const permc_explain_options *options;
  text *out;          // NULL: only the facts are wanted
  plan_facts *facts;  // or NULL
} explain_job;

// ---- targets ---------------------------------------------------------------------------------

static bool no_target(permc_context *c, const char *name) {
  text known = {0};
  for (size_t i = 0; i < target_count(); i++)
    text_printf(&known, "%s%s", i ? ", " : "", target_at(i)->name);
  context_error(c, "there is no target '%s', nor a file of that name; there is %s", name,
                text_content(&known));
  text_free(&known);
  return false;
}

static bool read_target(permc_context *c, arena *memory, const char *path, const target **out) {
  size_t length;
  const char *wrong = "";
  const char *lines = read_source(memory, path, &length, &wrong);
  if (!lines)
    return no_target(c, path);
  *out = target_read(memory, lines, &wrong);
  if (!*out)
    context_error(c, "%s: %s", path, wrong);
  return *out != NULL;
}

static bool find_target(permc_context *c, arena *memory, const permc_explain_options *o,
                        const target **out) {
  bool for_gpu = o && (o->machine || (o->dump && !strcmp(o->dump, "cuda")));
  const char *name = o && o->target ? o->target : for_gpu ? "gpu" : NULL;
  *out = name ? target_named(name) : backend_target(c);
  return *out || read_target(c, memory, name, out);
}

// ---- the trace -------------------------------------------------------------------------------

static bool shapes_from_types(permc_context *c, const char *types, arena *memory,
                              entry_types *fitted, array_shapes *shapes) {
  permc_value **values;
  size_t count;
  if (!shapes_of_types(c, fitted->entry->name, "argument types", types, &values, &count))
    return false;
  bool good = true;
  for (size_t i = 0; i < count && good; i++) {
    good = entry_types_fit(c, fitted, values[i], i);
    for (size_t k = 0; k < values[i]->count && good; k++) {
      const array *a = &values[i]->components[k];
      uint64_t *dims = NEW_ARRAY(memory, uint64_t, a->rank + 1);
      memcpy(dims, a->dims, a->rank * sizeof *dims);
      vec_push(memory, shapes, ((array_shape){a->type, a->rank, dims, NULL}));
    }
  }
  permc_values_free(values, count);
  return good;
}

static bool make_trace(permc_context *c, const explain_job *j, binding *b, arena *memory,
                       trace *out) {
  const char *types = j->options ? j->options->types : NULL;
  entry_types fitted = entry_types_start(c, b);
  array_shapes shapes = {0};
  if (types && j->size_count) {
    context_error(c,
                  "sizes and the types of arguments exclude each other: the types say the sizes");
    return false;
  }
  if (types ? !shapes_from_types(c, types, memory, &fitted, &shapes)
            : !shapes_at(c, b, memory, j->sizes, j->size_count, &shapes))
    return false;
  entry_types_finish(c, &fitted);
  if (!elaborate(&c->program.diagnostics, memory, &c->limits, true, b, fitted.instance,
                 shapes.items, shapes.count, out, NULL))
    return false;
  const char *wrong = trace_verify(memory, out);
  if (wrong)
    context_error(c, "the compiled program is wrong (please report this): %s", wrong);
  return !wrong;
}

static bool is_identity(const trace_step *s) {
  bool identity = s->number == 0;
  for (uint32_t i = 0; UINT64_C(1) << i < s->dims[0]; i++)
    identity = identity && s->rows[i] == UINT64_C(1) << i;
  return identity;
}

// Whether the step, taken literally, puts elements into another order (trace.h).
static bool moves(const trace_step *s) {
  switch (s->op) {
  case TRACE_SPLIT:
    return s->number != s->dims[0];
  case TRACE_STITCH:
    return s->number != s->dims[0] / 2;
  case TRACE_PAIR:
  case TRACE_UNPAIR:
    return s->number != 1;
  case TRACE_BMMC:
    return !is_identity(s);
  case TRACE_TRANSPOSE:
    return s->dims[0] > 1 && s->dims[1] > 1;
  default:
    return false;
  }
}

static uint64_t count_moving_steps(const trace *t) {
  uint64_t count = 0;
  for (size_t i = 0; i < t->steps.count; i++)
    count += moves(&t->steps.items[i]);
  return count;
}

// ---- products --------------------------------------------------------------------------------

// The text that the plan's passes are compiled from; false: *problem says what cannot be written.
static bool dump_code(text *out, const plan *p, const char **problem) {
  c_options on_cpu = {.stream_bytes = UINT64_MAX}, on_gpu = C_OPTIONS_OF_GPU(NULL, 0);
  c_code code = {0};
  bool good = c_emit(&code, p, p->target->lane_bytes ? &on_cpu : &on_gpu, problem);
  if (good)
    c_code_file(out, &code, 0, code.pass_count, true);
  c_code_free(&code);
  return good;
}

static bool dump(permc_context *c, text *out, const explanation *e, const char *stage) {
  const char *problem = NULL;
  if (!strcmp(stage, "trace"))
    trace_print(out, e->trace);
  else if (!strcmp(stage, "net")) {
    text_string(out, net_legend);
    net_print(out, e->program.net);
  } else if (!strcmp(stage, "plan")) {
    text_string(out, net_legend);
    text_string(out, plan_legend);
    plan_print(out, e->program.plan);
  } else if (!dump_code(out, e->program.plan, &problem)) {
    context_error(c, "this program has no such text: %s", problem ? problem : "out of memory");
    return false;
  }
  return true;
}

static bool print(permc_context *c, const explain_job *j, const explanation *e) {
  const permc_explain_options *o = j->options;
  if (o && o->dump)
    return dump(c, j->out, e, o->dump);
  if (o && o->json)
    explain_json(j->out, e);
  else
    explain_text(j->out, e);
  return true;
}

static bool explain(permc_context *c, const explain_job *j, binding *b, arena *memory) {
  trace t = {0};
  const target *machine;
  const permc_explain_options *o = j->options;
  double start = context_now();
  if (!find_target(c, memory, o, &machine) || !make_trace(c, j, b, memory, &t))
    return false;
  c->times.elaborate = context_now() - start;
  explanation e = {.entry = b->name,
                   .type = j->type,
                   .sizes = j->sizes,
                   .size_count = j->size_count,
                   .trace = &t,
                   .strategy = c->strategy,
                   .show_rules = o && o->rules};
  bool here = !o || (!o->target && !o->machine && !(o->dump && !strcmp(o->dump, "cuda")));
  if (!backend_plan(c, memory, &t, machine, here, c->strategy, &e.program))
    return false;
  e.facts = plan_facts_of(e.program.plan);
  e.moving_steps = count_moving_steps(&t);
  e.peak_bytes = cpu_peak_bytes(e.program.plan);
  e.planning_seconds = c->times.plan;
  if (j->facts)
    *j->facts = e.facts;
  if (j->out && o && o->machine)
    return explain_machine(c, memory, &e, o->json, j->out);
  return !j->out || print(c, j, &e);
}

static bool run_explain(permc_context *c, void *with) {
  const explain_job *j = with;
  binding *b = context_entry(c, j->entry);
  jmp_buf failure;
  arena memory = {.failure = &failure, .limit = 2 * c->limits.memory};
  if (!b)
    return false;
  if (setjmp(failure)) {
    arena_free(&memory);
    context_report_memory(c, b);
    return false;
  }
  bool good = explain(c, j, b, &memory);
  arena_free(&memory);
  return good;
}

static bool known_stage(permc_context *c, const char *stage) {
  static const char *const stages[] = {"trace", "net", "plan", "c", "cuda"};
  for (size_t i = 0; i < 5; i++)
    if (!strcmp(stages[i], stage))
      return true;
  context_error(c, "there is no stage '%s' to dump; there is trace, net, plan, c, cuda", stage);
  return false;
}

bool permc_explain(permc_context *c, const char *entry, const permc_size *sizes, size_t size_count,
                   const permc_explain_options *options, char **out) {
  text all = {0};
  context_begin_call(c);
  *out = NULL;
  if (options && options->dump && !known_stage(c, options->dump))
    return false;
  const char *shown = permc_entry_type(c, entry);
  explain_job j = {entry, shown, sizes, size_count, options, &all, NULL};
  bool good = shown && context_run_job(c, run_explain, &j);
  if (good && all.failed) {
    context_error(c, "out of memory");
    good = false;
  }
  if (good)
    *out = all.data;
  else
    text_free(&all);
  return good;
}

bool explain_facts(permc_context *c, const char *entry, const permc_size *sizes, size_t count,
                   const char *target_name, plan_facts *facts) {
  permc_explain_options options = {.target = target_name};
  explain_job j = {entry, NULL, sizes, count, &options, NULL, facts};
  context_begin_call(c);
  return context_run_job(c, run_explain, &j);
}
