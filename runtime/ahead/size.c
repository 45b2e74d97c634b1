// A program at one size: its text, and then a source for a processor (host.c) or a GPU (gpu.c). See
// making.h.
#include "runtime/ahead/making.h"
#include "runtime/cpu/cpu.h"

#include <stdlib.h>

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
static const char *write_text(const ahead_making *m, const pipeline *p, c_code *code) {
  explain_lines lines;
  c_comments comments = explain_comments(m->context, p, &lines);
  c_options options = backend_text_options(p->backend, m->context);
  bool gpu = m->request->target == AHEAD_CUDA;
  const char *problem = gpu ? c_missing_on_gpu(p->plan) : NULL;
  if (!gpu)
    options.comments = &comments;
  if (!problem)
    c_emit(code, p->plan, &options, &problem);
  return problem;
}

bool ahead_add_size(ahead_making *m, const pipeline *p) {
  c_code code = {0};
  ahead_plan s = {.plan = p->plan, .trace = &p->trace, .code = &code};
  const char *problem = write_text(m, p, &code);
  bool gpu = m->request->target == AHEAD_CUDA;
  bool good = problem      ? context_error(m->context, "%s%s", problem,
                                      gpu ? "; a library for --target c has them" : "")
              : code.roots ? check_bounds(m->context, &s)
                           : context_no_memory(m->context);
  good = good && (gpu ? ahead_add_gpu_source(m, &s) : ahead_add_host_source(m, &s));
  free(s.layout.places);
  free(s.roots_at);
  c_code_free(&code);
  return good;
}
