// A program's kernels: its text in files, which are compiled at once, and loaded by each device.
#include "runtime/gpu/state.h"
#include "runtime/system/pool.h"

enum { FILE_BYTES = 1 << 16 };  // of text that is worth a compilation of its own

typedef struct compilation {
  const cuda_program *program;
  const c_code *code;
  size_t files;
  uint32_t first[MOST_FILES + 1];  // file i has the passes first[i] ... first[i + 1] - 1
  cuda_code made[MOST_FILES];
  const progress *progress;
  _Atomic size_t done;
} compilation;

static bool compile_file(compilation *c, size_t i, bool anew) {
  text file = {0};
  c_code_file(&file, c->code, c->first[i], c->first[i + 1], false);
  bool good = cuda_code_make(&c->made[i], &file, &c->program->source, anew);
  text_free(&file);
  return good;
}

static bool compile_files(void *with, unsigned worker, uint64_t first, uint64_t last) {
  compilation *c = with;
  for (uint64_t i = first; i < last; i++) {
    if (!compile_file(c, i, false))
      return false;
    size_t done = atomic_fetch_add(&c->done, 1) + 1;
    if (worker == 0 && c->files > 1)  // one at a time
      progress_report(c->progress, done, c->files);
  }
  return true;
}

// Code from the cache that cannot be loaded is compiled again.
static bool load_module(cuda_program *g, program_part *part, compilation *c, size_t i,
                        error *failure) {
  cuda_module **m = &part->modules[i];
  *m = cuda_module_load(part->device, c->made[i].cubin, c->made[i].size);
  if (!*m && c->made[i].cached) {
    if (!compile_file(c, i, true))
      return error_set(failure, SPAN_NONE, "%s", c->made[i].message);
    *m = cuda_module_load(part->device, c->made[i].cubin, c->made[i].size);
  }
  part->module_count = i + 1;
  return *m || program_fail_of(g, part, failure);
}

static bool find_kernels(cuda_program *g, program_part *part, const compilation *c, size_t i,
                         error *failure) {
  for (uint32_t pass = c->first[i]; pass < c->first[i + 1]; pass++) {
    const launch_table *t = &g->tables[OF_ALL];
    uint32_t number = t->passes[pass].kernel;
    const permc_kernel *k = &t->kernels.items[number];
    if (g->facts[pass].threads && g->facts[pass].kernel == pass &&
        !cuda_kernel_find(part->device, part->modules[i], k->name, k->shared_bytes,
                          &part->code[OF_ALL].kernels[number]))
      return program_fail_of(g, part, failure);
  }
  return true;
}

static bool load_modules(cuda_program *g, compilation *c, error *failure) {
  for (unsigned k = 0; k < g->part_count; k++)
    for (size_t i = 0; i < c->files; i++)
      if (!load_module(g, &g->parts[k], c, i, failure) ||
          !find_kernels(g, &g->parts[k], c, i, failure))
        return false;
  return true;
}

bool program_compile(cuda_program *g, const cuda_options *o, const c_code *code, error *failure) {
  compilation *c = calloc(1, sizeof *c);
  if (!c)
    return error_no_memory(failure);
  c->program = g;
  c->code = code;
  c->progress = &o->progress;
  c->files = c_code_split(code, FILE_BYTES, MOST_FILES, c->first);
  bool good = pool_run(o->compilers ? o->compilers : pool_processors(), c->files, 1, compile_files,
                       c, g->interrupted);
  if (!good && g->interrupted && atomic_load(g->interrupted))
    error_set(failure, SPAN_NONE, "interrupted");
  for (size_t i = 0; i < c->files && !good; i++)
    if (*c->made[i].message)
      error_set(failure, SPAN_NONE, "%s", c->made[i].message);
  if (!good)
    error_no_memory(failure);
  good = good && load_modules(g, c, failure);
  for (size_t i = 0; i < c->files; i++)
    cuda_code_free(&c->made[i]);
  free(c);
  return good;
}
