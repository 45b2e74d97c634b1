// Runs on the program's own arrays: graphs, between them routines of the host; and their times.
#include "core/clock.h"
#include "runtime/cpu/ranges.h"
#include "runtime/gpu/state.h"
#include "runtime/routines/routine.h"
#include "runtime/system/pool.h"

enum { MANY = 10 };  // runs that are timed as one graph, without launches by the host between them

// ---- graphs -------------------------------------------------------------------------------------

bool program_is_for_host(const cuda_program *g, uint32_t pass) {
  return plan_routine_of(g->plan, &g->plan->passes.items[pass]) && !g->permuting[pass] &&
         !g->tables[OF_ALL].passes[pass].count;
}

void program_drop_graphs(cuda_program *g) {
  for (size_t i = 0; i < g->stretch_count; i++)
    cuda_graph_free(g->device, g->stretches[i].graph);
  cuda_graph_free(g->device, g->many);
  memset(g->stretches, 0, g->stretch_count * sizeof *g->stretches);
  g->stretch_count = 0;
  g->many = NULL;
}

// The passes in stretches; at least one.
static bool record_stretches(cuda_program *g, error *failure) {
  program_drop_graphs(g);
  uint32_t count = (uint32_t)g->plan->passes.count;
  for (uint32_t i = 0; i < count; i++)
    if (g->permuting[i] && !cuda_permuting_allocate(g->permuting[i]))
      return program_fail(g, failure);
  for (uint32_t first = 0, last; first < count || !g->stretch_count; first = last + 1) {
    stretch *s = &g->stretches[g->stretch_count++];
    for (last = first; last < count && !program_is_for_host(g, last); last++)
      ;
    s->routine = last < count ? last : NEVER;
    if ((last > first || !count) && !(s->graph = program_record(g, first, last, 1, failure)))
      return false;
  }
  return true;
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
  for (uint32_t i = 0; i < g->plan->passes.count; i++)
    for (unsigned k = 0; k < g->part_count; k++)
      if (!make_temporaries(g, &g->parts[k], i))
        return cuda_fail(g->parts[k].device, failure);
  return g->has_own_arrays = true;
}

// Graphs on them.
static bool make_stretches(cuda_program *g, error *failure) {
  if (!make_own_arrays(g, failure) || g->stretch_count > 0)
    return g->stretch_count > 0;
  bool good = record_stretches(g, failure);
  if (!good)
    program_drop_graphs(g);
  return good;
}

// ---- routines, by the host ----------------------------------------------------------------------

// Arrays that the routine reads are downloaded, those that it writes uploaded.
static bool move_accesses(cuda_program *g, const plan_pass *pass, bool written, void **data,
                          error *failure) {
  for (uint32_t i = 0; i < pass->access_count; i++) {
    net_id a = pass->accesses[i].array;
    uint64_t bytes = cpu_array_bytes(&g->plan->arrays.items[a]);
    if (pass->accesses[i].writes != written)
      continue;
    if (!(written ? cuda_upload(g->device, g->own[a], data[a], bytes)
                  : cuda_download(g->device, data[a], g->own[a], bytes)))
      return program_fail(g, failure);
  }
  return true;
}

static bool run_on_host(cuda_program *g, uint32_t number, error *failure) {
  const plan *p = g->plan;
  const plan_pass *pass = &p->passes.items[number];
  void **data = calloc(p->arrays.count + 1, sizeof *data);
  bool good = data != NULL;
  for (uint32_t i = 0; i < pass->access_count && good; i++) {
    net_id a = pass->accesses[i].array;
    good = data[a] || (data[a] = array_memory(cpu_array_bytes(&p->arrays.items[a])));
  }
  if (!good)
    error_no_memory(failure);
  else if (!program_wait(g))
    good = program_fail(g, failure);
  good = good && move_accesses(g, pass, false, data, failure);
  good = good &&
         (routine_run(p, plan_routine_of(p, pass), data, pool_processors(), g->interrupted) ||
          error_stopped(failure, g->interrupted)) &&
         move_accesses(g, pass, true, data, failure);
  for (size_t a = 0; a < p->arrays.count && data; a++)
    free(data[a]);
  free(data);
  return good;
}

// ---- runs ---------------------------------------------------------------------------------------

static bool run_stretches(cuda_program *g, error *failure) {
  uint32_t first = 0;
  for (size_t i = 0; i < g->stretch_count; first = g->stretches[i++].routine + 1) {
    const stretch *s = &g->stretches[i];
    uint32_t count = (s->routine == NEVER ? (uint32_t)g->plan->passes.count : s->routine) - first;
    pass_range_begin(g->plan, first, count);
    bool good = !s->graph || cuda_graph_launch(g->device, s->graph);
    pass_range_end(g->plan);
    if (!good)
      return program_fail(g, failure);
    if (s->routine == NEVER)
      continue;
    pass_range_begin(g->plan, s->routine, 1);
    good = run_on_host(g, s->routine, failure);
    pass_range_end(g->plan);
    if (!good)
      return false;
  }
  return true;
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
  return make_stretches(g, failure);
}

// The turn of its barrier is held while kernels are under way, not while arrays are moved.
static bool run(cuda_program *g, const array *arguments, size_t count, array *results,
                error *failure) {
  if (!make_own_arrays(g, failure) || !prepare_run(g, arguments, count, failure) ||
      !program_upload(g, NET_ARGUMENT, arguments, count, failure))
    return false;
  gpu_barrier_begin(g->barrier);
  bool good = run_stretches(g, failure);
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
  if (!make_stretches(g, failure) || !run_stretches(g, failure))
    return false;
  bool alone = g->stretch_count == 1 && g->stretches[0].routine == NEVER;
  unsigned many = alone ? runs / MANY : 0;
  if (many && !g->many &&
      !(g->many = program_record(g, 0, (uint32_t)g->plan->passes.count, MANY, failure)))
    return false;
  bool good = cuda_time_begin(g->device);
  for (unsigned i = 0; i < many && good; i++)
    good = cuda_graph_launch(g->device, g->many);
  for (unsigned i = many * MANY; i < runs && good; i++)
    if (!run_stretches(g, failure))
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
  if (!make_stretches(g, failure))
    return false;
  double start = clock_seconds();
  for (unsigned i = 0; i < runs && program_is_for_host(g, pass);
       i++, *seconds = clock_seconds() - start)
    if (!run_on_host(g, pass, failure))
      return false;
  if (program_is_for_host(g, pass))
    return *seconds /= runs, true;
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
