// From an entry and types to the files of a library. See ahead.h.
#include "runtime/ahead/making.h"
#include "runtime/compiled/compiled.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cuda/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>

// ---- the program -------------------------------------------------------------------------------

static bool describe_arrays(ahead_making *m, const pipeline *p, const c_comments *names) {
  const array_shapes *shapes = &p->shapes.arrays;
  m->argument_count = shapes->count;
  m->result_count = trace_returned(&p->trace);
  m->program_arrays = p->plan->arrays.count;
  m->arrays = calloc(m->argument_count + m->result_count + 1, sizeof *m->arrays);
  if (!m->arrays)
    return context_no_memory(m->context);
  for (size_t i = 0; i < m->argument_count + m->result_count; i++) {
    const array_shape *a = i < m->argument_count ? &shapes->items[i] : NULL;
    const trace_step *r =
        a ? NULL : &p->trace.steps.items[p->trace.results.items[i - m->argument_count]];
    const char *name = a ? names->argument(names->with, (uint32_t)i) : NULL;
    array *shape = &m->arrays[i].shape;
    *shape = (array){.type = a ? a->type : r->type, .rank = a ? a->rank : r->rank};
    for (uint32_t k = 0; k < (uint32_t)shape->rank; k++)
      shape->dims[k] = a ? a->dims[k] : r->dims[k];
    m->arrays[i].is_static = a && a->data;
    snprintf(m->arrays[i].name, sizeof m->arrays[i].name, "%s", name ? name : "");
  }
  return true;
}

#define MOST_TABLE_BYTES (UINT64_C(1) << 24)

static bool check_bounds(permc_context *c, const ahead_plan *s) {
  char why[400];
  uint64_t bytes = 0;
  for (size_t a = 0; a < s->plan->arrays.count; a++)
    if (s->plan->arrays.items[a].role == NET_TABLE)
      bytes += cpu_array_bytes(&s->plan->arrays.items[a]);
  if (bytes > MOST_TABLE_BYTES)
    return context_error(c,
                         "the program has %llu bytes of constant arrays, and a library at most "
                         "%llu; make them arguments",
                         (unsigned long long)bytes, (unsigned long long)MOST_TABLE_BYTES);
  return c_code_is_bounded(s->code, why, sizeof why) || context_error(c, "%s", why);
}

// NULL: it has a text, or memory was out. A text that a GPU's compiler gets has no comments.
static const char *write_text(const ahead_making *m, const pipeline *p, const c_comments *comments,
                              c_code *code) {
  c_options options = backend_text_options(p->backend, m->context);
  bool gpu = m->request->target == AHEAD_CUDA;
  const char *problem = gpu ? c_missing_on_gpu(p->plan) : NULL;
  if (!gpu)
    options.comments = comments;
  if (!problem)
    c_emit(code, p->plan, &options, &problem);
  return problem;
}

static bool add_program(permc_context *c, pipeline *p, void *with) {
  ahead_making *m = with;
  explain_lines lines;
  c_comments comments = explain_comments(c, p, &lines);
  FREED_BY(c_code_free) c_code code = {0};
  ahead_plan s = {.plan = p->plan, .trace = &p->trace, .code = &code};
  bool gpu = m->request->target == AHEAD_CUDA;
  snprintf(m->title, sizeof m->title, "%s", lines.title);
  if (!describe_arrays(m, p, &comments))
    return false;
  const char *problem = write_text(m, p, &comments, &code);
  bool good =
      problem ? context_error(c, "%s%s", problem, gpu ? "; a library for --target c has them" : "")
      : code.roots ? check_bounds(c, &s)
                   : context_no_memory(c);
  good = good && (gpu ? ahead_add_gpu_source : ahead_add_host_source)(m, &s);
  free(s.layout.places);
  free(s.roots_at);
  return good;
}

// Without NVRTC there are only the kernels' texts.
static void warn_of_code(permc_context *c) {
  char why[NVRTC_WHY];
  if (!nvrtc_find(why, sizeof why))
    diag_report(&c->program.diagnostics, DIAG_WARNING, SPAN_NONE,
                "the library has the text of its kernels, but no machine code, and will open no "
                "GPU: %s",
                why);
}

// ---- the whole ---------------------------------------------------------------------------------

static bool is_complete(const ahead_library *l) {
  for (size_t i = 0; i < l->count; i++)
    if (l->files[i].content.failed)
      return false;
  return true;
}

// The row of fusion/target/target.h that a library for a processor is planned for.
static void name_target(const permc_context *c, char name[32]) {
  snprintf(name, 32, "c-%s", c->isa ? c->isa : "baseline");
  if (!target_named(name))  // native
    snprintf(name, 32, "c-%s", compiler_widest_isa());
}

bool ahead_make(permc_context *c, const ahead_request *r, ahead_library *out) {
  ahead_making m = {.context = c, .request = r, .library = out};
  bool cuda = r->target == AHEAD_CUDA;
  char plain[32];
  *out = (ahead_library){0};
  name_target(c, plain);
  pipeline_request request = {.entry = r->entry,
                              .types = r->types,
                              .sizes = r->sizes,
                              .size_count = r->size_count,
                              .last = STAGE_PLAN,
                              .backend = cuda ? "cuda" : "cpu",
                              .target = cuda ? "gpu" : plain,
                              .often = true};
  bool good = pipeline_with(c, &request, add_program, &m) && ahead_add_library(&m) &&
              (is_complete(out) || context_no_memory(c));
  if (good && cuda)
    warn_of_code(c);
  free(m.arrays);
  text_free(&m.externs);
  return good;
}
