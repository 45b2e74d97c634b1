// What one rank does: its memory, its passes, exchanges with the others. See ranks.h.
#include "core/clock.h"
#include "runtime/ranks/state.h"

// ---- the whole ----------------------------------------------------------------------------------

static bool take_results(rank *r, array_part *parts) {
  const plan *p = r->run->plan;
  bool good = !r->device || cuda_wait(r->device, r->run->interrupted) || rank_failed(r);
  for (net_id a = 0; good && a < p->arrays.count; a++)
    if (p->arrays.items[a].role == NET_RESULT)
      good = rank_take_result(r, a, &parts[p->arrays.items[a].number]);
  return good;
}

// Where its arrays are, and what carries them.
static bool find_memory(rank *r, uint32_t own, transport **links) {
  const ranks_devices *d = r->run->devices;
  r->own = own;
  r->links = d ? *links : r->transport;
  if (!d)
    return true;
  r->device = d->gpus[own];
  if (!*links)
    r->told = !(*links = transport_open_device(r->transport, r->device, r->failure));
  r->links = *links;
  return *links;
}

// ---- times --------------------------------------------------------------------------------------

// Given arrays, which stay: no step takes them.
static bool take_zeros(rank *r) {
  const plan *p = r->run->plan;
  bool good = true;
  for (net_id a = 0; good && a < p->arrays.count; a++) {
    if (r->storage.items[a].first == STORAGE_NEVER || !net_array_is_given(&p->arrays.items[a]))
      continue;
    if (p->arrays.items[a].role == NET_TABLE)
      good = rank_take_given(r, a);
    else
      good = rank_allocate(r, a) &&
             (cuda_clear(r->device, (uintptr_t)r->parts[a].memory, rank_memory_bytes(r, a)) ||
              rank_failed(r));
    r->storage.items[a].first = STORAGE_NEVER;
  }
  return good;
}

static bool execute_all(rank *r, const progress *report) {
  bool good = true;
  for (uint32_t i = 0; good && i < r->step_count; i++) {
    good = rank_execute_step(r, i);
    if (good && report)
      progress_report(report, i + 1, r->step_count);
  }
  return good;
}

static bool meet(rank *r, double *now) {
  bool good = cuda_wait(r->device, r->run->interrupted) || rank_failed(r);
  if (good)
    r->told = !(good = transport_barrier(r->transport, r->failure));
  *now = clock_seconds();
  return good;
}

static bool time_steps(rank *r) {
  double start = 0, end = 0;
  bool good = take_zeros(r) && execute_all(r, NULL) && meet(r, &start);
  for (unsigned i = 0; good && i < r->run->runs; i++)
    good = execute_all(r, NULL);
  good = good && meet(r, &end);
  if (good && r->own == 0)
    *r->run->seconds = (end - start) / r->run->runs;
  return good;
}

// ---- a rank -------------------------------------------------------------------------------------

static bool make_rank(rank *r) {
  const plan *p = r->run->plan;
  size_t count = p->arrays.count + 1;
  r->steps = calloc(p->passes.count + 1, sizeof *r->steps);
  r->slab = calloc(count, sizeof *r->slab);
  r->parts = calloc(count, sizeof *r->parts);
  r->data = calloc(count, sizeof *r->data);
  r->store = cpu_store_new();
  if (!r->steps || !r->slab || !r->parts || !r->data || !r->store)
    return error_no_memory(r->failure);
  rank_list_steps(r);
  rank_find_slabs(r);
  return rank_find_lifetimes(r);
}

static void free_rank(rank *r) {
  rank_end_arrays(r);
  cpu_store_free(r->store);
  free(r->steps);
  free(r->slab);
  free(r->parts);
  free(r->data);
}

bool rank_execute(const ranks_run *run, const rank_place *place, array_part *parts,
                  error *failure) {
  error why = {0};
  transport *t = place->transport;
  rank r = {.run = run, .transport = t, .threads = place->threads, .failure = &why};
  bool reports = t->kind != &transport_threads || !t->rank;
  bool good = make_rank(&r) && find_memory(&r, place->own, place->links) && rank_place_arrays(&r);
  if (good && run->runs)
    good = time_steps(&r);
  else
    good = good && execute_all(&r, reports ? &run->progress : NULL) && take_results(&r, parts);
  free_rank(&r);
  if (!good && r.told)
    return error_pass(failure, &why);
  if (!good)
    transport_fail(t, why.message, failure);
  return good;
}
