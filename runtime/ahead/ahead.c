// From an entry and types to the files of a library. See ahead.h.
#include "runtime/ahead/making.h"
#include "runtime/compiled/compiled.h"
#include "runtime/cuda/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- sizes -------------------------------------------------------------------------------------

static bool describe_arrays(ahead_making *m, const pipeline *p, const c_comments *names) {
  ahead_size *s = &m->sizes[m->size_count];
  const array_shapes *shapes = &p->shapes.arrays;
  s->argument_count = shapes->count;
  s->result_count = trace_returned(&p->trace);
  s->arrays = calloc(s->argument_count + s->result_count + 1, sizeof *s->arrays);
  if (!s->arrays)
    return context_no_memory(m->context);
  for (size_t i = 0; i < s->argument_count + s->result_count; i++) {
    const array_shape *a = i < s->argument_count ? &shapes->items[i] : NULL;
    const trace_step *r =
        a ? NULL : &p->trace.steps.items[p->trace.results.items[i - s->argument_count]];
    const uint64_t *dims = a ? a->dims : r->dims;
    const char *name = a ? names->argument(names->with, (uint32_t)i) : NULL;
    s->arrays[i] = (ahead_array){
        .type = a ? a->type : r->type, .rank = a ? a->rank : r->rank, .is_static = a && a->data};
    for (uint32_t k = 0; k < s->arrays[i].rank; k++)
      s->arrays[i].dims[k] = dims[k];
    snprintf(s->arrays[i].name, sizeof s->arrays[i].name, "%s", name ? name : "");
  }
  return true;
}

static bool same_length(const ahead_size *a, const ahead_size *b) {
  bool same = true;
  for (size_t i = 0; i < a->argument_count; i++)
    for (uint32_t k = 0; k < a->arrays[i].rank && !a->arrays[i].is_static; k++)
      same = same && a->arrays[i].dims[k] == b->arrays[i].dims[k];
  return same;
}

// Whether the new size goes with those before it: the same types, other lengths.
static bool check_size(const ahead_making *m) {
  const ahead_size *s = &m->sizes[m->size_count], *first = &m->sizes[0];
  const char *types = m->request->types[m->size_count];
  bool alike = s->argument_count == first->argument_count && s->result_count == first->result_count;
  for (size_t i = 0; alike && i < s->argument_count + s->result_count; i++)
    alike = s->arrays[i].type == first->arrays[i].type &&
            s->arrays[i].rank == first->arrays[i].rank &&
            s->arrays[i].is_static == first->arrays[i].is_static;
  if (!alike)
    return context_error(m->context,
                         "--arguments '%s' and '%s' make functions of different C types: sizes "
                         "behind one function differ in lengths alone; build two libraries",
                         m->request->types[0], types);
  for (size_t i = 0; i < m->size_count; i++)
    if (same_length(s, &m->sizes[i]))
      return context_error(m->context,
                           "--arguments '%s' and '%s' have the same lengths: one function cannot "
                           "tell them apart; build two libraries",
                           m->request->types[i], types);
  return true;
}

static bool add_size(permc_context *c, pipeline *p, void *with) {
  ahead_making *m = with;
  explain_lines lines;
  c_comments names = explain_comments(c, p, &lines);
  snprintf(m->title, sizeof m->title, "%s", lines.title);
  if (!describe_arrays(m, p, &names) || !check_size(m) || !ahead_add_size(m, p))
    return false;
  m->size_count++;
  return true;
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
  *out = (ahead_library){0};
  m.sizes = calloc(r->type_count + 1, sizeof *m.sizes);
  bool good = m.sizes || context_no_memory(c);
  char plain[32];
  name_target(c, plain);
  for (size_t i = 0; i < r->type_count && good; i++) {
    bool cuda = r->target == AHEAD_CUDA;
    pipeline_request request = {.entry = r->entry,
                                .types = r->types[i],
                                .last = STAGE_PLAN,
                                .backend = cuda ? "cuda" : "cpu",
                                .target = cuda ? "gpu" : plain,
                                .often = true};
    good = pipeline_with(c, &request, add_size, &m);
  }
  good = good && ahead_add_library(&m) && (is_complete(out) || context_no_memory(c));
  if (good && r->target == AHEAD_CUDA)
    warn_of_code(c);
  for (size_t i = 0; i < r->type_count && m.sizes; i++)
    free(m.sizes[i].arrays);
  free(m.sizes);
  text_free(&m.externs);
  return good;
}
