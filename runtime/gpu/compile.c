// A program's kernels: the modules of its tables are compiled at once, and loaded by each device.
#include "runtime/gpu/state.h"
#include "runtime/system/pool.h"

typedef struct compilation {
  const launch_table *table;
  const cuda_code_source *source;
  cuda_code *made;  // by module
  const progress *progress;
  _Atomic size_t done;
} compilation;

static bool compile_modules(void *with, unsigned worker, uint64_t first, uint64_t last) {
  compilation *c = with;
  for (uint64_t i = first; i < last; i++) {
    if (!cuda_code_make(&c->made[i], &c->table->modules.items[i], c->source, false))
      return false;
    size_t done = atomic_fetch_add(&c->done, 1) + 1;
    if (worker == 0 && c->table->modules.count > 1)  // one at a time
      progress_report(c->progress, done, c->table->modules.count);
  }
  return true;
}

// Of routines each device has its part, and the first all; those of ranks are loaded when they are
// first executed.
static bool load_kernels(cuda_program *g, bool ranks, int table, cuda_code *made, error *failure) {
  for (uint32_t i = 0; i < g->plan->passes.count; i++) {
    bool routine = plan_routine_of(g->plan, &g->plan->passes.items[i]);
    unsigned devices = !routine || table == OF_PART ? g->part_count : 1;
    for (program_part *p = g->parts; p < g->parts + devices && !(routine && ranks); p++)
      if (!table_code_load(&p->code[table], p->device, &g->tables[table], i, made, &g->source,
                           failure))
        return program_fail_of(g, p, failure);
  }
  return true;
}

bool program_compile(cuda_program *g, const cuda_options *o, int table, error *failure) {
  const launch_table *t = &g->tables[table];
  if (!t->passes)
    return true;
  size_t count = o->ranks ? t->plan_modules : t->modules.count;
  compilation c = {t, &g->source, calloc(count + 1, sizeof *c.made), &o->progress, 0};
  bool good = c.made && pool_run(pool_processors(), count, 1, compile_modules, &c, g->interrupted);
  if (!good && g->interrupted && atomic_load(g->interrupted))
    error_set(failure, SPAN_NONE, "interrupted");
  for (size_t i = 0; c.made && i < count && !good; i++)
    if (*c.made[i].message)
      error_set(failure, SPAN_NONE, "%s", c.made[i].message);
  good = good ? load_kernels(g, o->ranks, table, c.made, failure) : error_no_memory(failure);
  for (size_t i = 0; c.made && i < count; i++)
    cuda_code_free(&c.made[i]);
  free(c.made);
  return good;
}
