// Runs on the program's own arrays, as graphs; and their times.
#include "runtime/cpu/ranges.h"
#include "runtime/gpu/state.h"

enum { MANY = 10 };  // runs that are timed as one graph, without launches by the host between them

// ---- graphs -------------------------------------------------------------------------------------

void program_drop_graphs(cuda_program *g) {
  cuda_graph_free(g->device, g->one);
  cuda_graph_free(g->device, g->many);
  g->one = g->many = NULL;
}

// The temporaries of routines, cleared for all runs: their kernels leave them so.
static bool make_temporaries(cuda_program *g, program_part *part, uint32_t number) {
  const launch_table *t = &g->tables[program_table_of(g, number)];
  const launch_pass *pass = &t->passes[number];
  cuda_address *a = &part->temporaries[number];
  if (!pass->bytes || g->facts[number].one || (t->parts == 1 && part != g->parts))
    return true;
  const permc_launch *l = &t->launches.items[pass->first];
  return (*a = *a ? *a : cuda_memory_new(part->device, pass->bytes)) &&
         (!l->clear_bytes || cuda_clear(part->device, *a + l->clear_at, l->clear_bytes));
}

static bool make_shared(cuda_program *g, uint32_t number) {
  const launch_table *t = &g->tables[OF_PART];
  bool good = true;
  for (uint32_t i = 0; i < LAUNCH_MOST_SHARED && t->passes && good; i++) {
    cuda_address *a = &g->shared[number][i];
    uint64_t bytes = t->passes[number].shared[i];
    good = !bytes || (*a = *a ? *a : program_memory_new(g, bytes));
  }
  return good;
}

// The program's own arrays, for runs on arrays of the host.
static bool make_own_arrays(cuda_program *g, error *failure) {
  if (g->has_own_arrays)
    return true;
  if (!program_allocate_arrays(g, false, failure))
    return false;
  if (g->state_bytes &&
      !((g->state = g->state ? g->state : cuda_memory_new(g->device, g->state_bytes)) &&
        cuda_clear(g->device, g->state, g->state_bytes)))
    return program_fail(g, failure);
  for (uint32_t i = 0; i < g->plan->passes.count; i++) {
    if (!make_shared(g, i))
      return program_fail(g, failure);
    for (unsigned k = 0; k < g->part_count; k++)
      if (!make_temporaries(g, &g->parts[k], i))
        return cuda_fail(g->parts[k].device, failure);
  }
  return g->has_own_arrays = true;
}

// The graph of one run on them.
static bool make_graph(cuda_program *g, error *failure) {
  uint32_t count = (uint32_t)g->plan->passes.count;
  if (!make_own_arrays(g, failure))
    return false;
  for (uint32_t i = 0; i < count && !g->one; i++)
    if (g->permuting[i] && !cuda_permuting_allocate(g->permuting[i]))
      return program_fail(g, failure);
  return g->one || (g->one = program_record(g, 0, count, 1, failure));
}

// ---- runs ---------------------------------------------------------------------------------------

static bool launch_run(cuda_program *g, error *failure) {
  pass_range_begin(g->plan, 0, (uint32_t)g->plan->passes.count);
  bool good = cuda_graph_launch(g->device, g->one);
  pass_range_end(g->plan);
  return good || program_fail(g, failure);
}

bool program_prepare(cuda_program *g, cuda_device *d, cuda_permuting *r, const void *places,
                     error *failure) {
  bool changed = false;
  bool good = cuda_permuting_prepare(r, d, places, &g->source, g->interrupted, &changed, failure);
  if (changed)
    program_drop_graphs(g);
  return good;
}

static bool prepare_run(cuda_program *g, const array *arguments, size_t count, error *failure) {
  for (size_t i = 0; i < g->plan->passes.count; i++) {
    cuda_permuting *r = g->permuting[i];
    void *places;
    if (r && !(cpu_find_given(&g->plan->arrays.items[cuda_permuting_places(r)], arguments, count,
                              &places, failure) &&
               program_prepare(g, g->device, r, places, failure)))
      return false;
  }
  return make_graph(g, failure);
}

// The turn of its barrier is held while kernels are under way, not while arrays are moved.
static bool run(cuda_program *g, const array *arguments, size_t count, array *results,
                error *failure) {
  if (!make_own_arrays(g, failure) || !prepare_run(g, arguments, count, failure) ||
      !program_upload(g, NET_ARGUMENT, arguments, count, failure))
    return false;
  gpu_barrier_begin(g->barrier);
  bool good = launch_run(g, failure);
  good = good && (program_wait(g) || program_fail(g, failure));
  gpu_barrier_end(g->barrier);
  return good && program_download(g, results, failure);
}

bool cuda_program_run(cuda_program *g, const array *arguments, size_t count, array *results,
                      error *failure) {
  pthread_mutex_lock(&g->schedules);
  bool good = run(g, arguments, count, results, failure);
  pthread_mutex_unlock(&g->schedules);
  return good;
}

// ---- times --------------------------------------------------------------------------------------

// One run comes before the clock: a GPU that another process has used, as those that take turns in
// bench/run.py, goes over to this one first (2^23 u32 reversed by two H200: 95 us a run with that,
// 39 us without).

static void begin_runs(cuda_program *g) {
  pthread_mutex_lock(&g->schedules);
  gpu_barrier_begin(g->barrier);
}

static void end_runs(cuda_program *g) {
  gpu_barrier_end(g->barrier);
  pthread_mutex_unlock(&g->schedules);
}

static bool time_runs(cuda_program *g, unsigned runs, double *seconds, error *failure) {
  if (!make_graph(g, failure) || !launch_run(g, failure))
    return false;
  unsigned many = runs / MANY;
  if (many && !g->many &&
      !(g->many = program_record(g, 0, (uint32_t)g->plan->passes.count, MANY, failure)))
    return false;
  bool good = cuda_time_begin(g->device);
  for (unsigned i = 0; i < many && good; i++)
    good = cuda_graph_launch(g->device, g->many);
  for (unsigned i = many * MANY; i < runs && good; i++)
    if (!launch_run(g, failure))
      return false;
  good = good && cuda_time_end(g->device, seconds);
  *seconds /= runs;
  return good || program_fail(g, failure);
}

bool cuda_program_time(cuda_program *g, unsigned runs, double *seconds, error *failure) {
  begin_runs(g);
  bool good = time_runs(g, runs, seconds, failure);
  end_runs(g);
  return good;
}

static bool time_pass(cuda_program *g, uint32_t pass, unsigned runs, double *seconds,
                      error *failure) {
  if (!make_graph(g, failure))
    return false;
  cuda_graph *graph = program_record(g, pass, pass + 1, runs, failure);
  bool good = graph && cuda_graph_launch(g->device, graph) && cuda_time_begin(g->device) &&
              cuda_graph_launch(g->device, graph) && cuda_time_end(g->device, seconds);
  if (graph && !good)
    program_fail(g, failure);
  cuda_graph_free(g->device, graph);
  *seconds /= runs;
  return good;
}

bool cuda_program_time_pass(cuda_program *g, uint32_t pass, unsigned runs, double *seconds,
                            error *failure) {
  begin_runs(g);
  bool good = time_pass(g, pass, runs, seconds, failure);
  end_runs(g);
  return good;
}

bool cuda_program_time_copy(cuda_program *g, uint64_t bytes, unsigned runs, double *seconds,
                            error *failure) {
  begin_runs(g);
  if (g->copied.bytes != bytes) {
    cuda_memory_free(g->device, g->copied.address);
    g->copied = (buffer){.address = cuda_memory_new(g->device, 2 * bytes), .bytes = bytes};
  }
  bool good = g->copied.address &&
              cuda_copy(g->device, g->copied.address + bytes, g->copied.address, bytes) &&
              cuda_time_begin(g->device);
  for (unsigned i = 0; i < runs && good; i++)
    good = cuda_copy(g->device, g->copied.address + bytes, g->copied.address, bytes);
  good = (good && cuda_time_end(g->device, seconds)) || program_fail(g, failure);
  *seconds /= runs;
  end_runs(g);
  return good;
}
