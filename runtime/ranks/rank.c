// What one rank does: its memory, its passes, exchanges with the others. See ranks.h.
#include "core/clock.h"
#include "runtime/ranks/state.h"

// ---- the whole ----------------------------------------------------------------------------------

// Each rank has all of it then.
static bool make_whole(rank *r, net_id a) {
  array_part part = r->parts[a];
  uint64_t slab = r->slab[a];
  r->slab[a] = 0;
  r->parts[a] = (array_part){0};
  bool good = rank_allocate(r, a);
  array_part whole = r->parts[a];
  r->slab[a] = slab;
  r->parts[a] = part;
  good = good && rank_gather(r, r->transport, a, whole.data);
  free(good ? part.memory : whole.memory);
  if (good)
    r->parts[a] = whole;
  return good;
}

static bool move_results(rank *r, array_part *parts) {
  const plan *p = r->run->plan;
  bool good = true;
  for (net_id a = 0; good && a < p->arrays.count; a++) {
    const net_array *of = &p->arrays.items[a];
    if (of->role != NET_RESULT)
      continue;
    good = (r->first[a] != NEVER ||
            rank_allocate(r, a)) &&  // without elements, so that no pass stores to it
           (!r->slab[a] || of->number < r->run->returned || make_whole(r, a));
    parts[of->number] = r->parts[a];
    r->parts[a] = (array_part){0};
  }
  return good;
}

// Where its arrays are, and what carries them.
static bool find_memory(rank *r, uint32_t own, transport **links) {
  const ranks_devices *d = r->run->devices;
  r->own = own;
  r->links = d ? *links : r->transport;
  if (!d)
    return true;
  r->memory.device = d->device(d->with, own);
  if (!*links)
    r->told = !(*links = transport_open_device(r->transport, r->memory.device, r->failure));
  r->links = *links;
  return *links;
}

// ---- times --------------------------------------------------------------------------------------

// Given arrays, which stay: no step takes them, or frees them.
static bool take_zeros(rank *r) {
  const plan *p = r->run->plan;
  bool good = true;
  for (net_id a = 0; good && a < p->arrays.count; a++) {
    if (r->first[a] == NEVER || !net_array_is_given(&p->arrays.items[a]))
      continue;
    if (p->arrays.items[a].role == NET_TABLE)
      good = rank_take_given(r, a);
    else
      good = rank_allocate(r, a) && (cuda_clear(r->memory.device, (uintptr_t)r->parts[a].memory,
                                                rank_memory_bytes(r, a)) ||
                                     rank_device_failed(r, &r->memory));
    r->first[a] = NEVER;
  }
  return good;
}

static bool execute_all(rank *r) {
  bool good = true;
  for (uint32_t i = 0; good && i < r->step_count;)
    good = rank_execute_step(r, i, &i);
  for (net_id a = 0; a < r->run->plan->arrays.count; a++)
    if (r->first[a] != NEVER && r->parts[a].memory &&
        r->run->plan->arrays.items[a].role == NET_RESULT)
      rank_free_part(r, a);
  return good;
}

static bool meet(rank *r, double *now) {
  bool good = cuda_wait(r->memory.device, r->run->interrupted) || rank_device_failed(r, &r->memory);
  if (good)
    r->told = !(good = transport_barrier(r->transport, r->failure));
  *now = clock_seconds();
  return good;
}

static bool time_steps(rank *r) {
  double start = 0, end = 0;
  bool good = take_zeros(r) && execute_all(r) && meet(r, &start);
  for (unsigned i = 0; good && i < r->run->runs; i++)
    good = execute_all(r);
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
  r->first = calloc(count, sizeof *r->first);
  r->last = calloc(count, sizeof *r->last);
  r->parts = calloc(count, sizeof *r->parts);
  r->data = calloc(count, sizeof *r->data);
  r->store = cpu_store_new();
  if (!r->steps || !r->slab || !r->first || !r->last || !r->parts || !r->data || !r->store)
    return error_no_memory(r->failure);
  rank_list_steps(r);
  rank_find_slabs(r);
  return rank_find_lifetimes(r);
}

static void free_rank(rank *r) {
  for (net_id a = 0; r->parts && a < r->run->plan->arrays.count; a++)
    if (r->parts[a].memory)
      rank_free_part(r, a);
  rank_memory_end(&r->memory);
  cpu_store_free(r->store);
  free(r->steps);
  free(r->slab);
  free(r->first);
  free(r->last);
  free(r->parts);
  free(r->data);
}

bool rank_fail(transport *t, const char *cause, error *failure) {
  transport_fail(t, cause);
  return error_set(failure, SPAN_NONE, "rank %u: %.480s", (unsigned)t->rank, cause);
}

// Always the same parts, so that ranks at different steps get each other's, and not what is no
// digest.
bool rank_agree(transport *t, const rank_step *own, error *failure) {
  const transport_part rows[] = {
      {.name = "step", .bytes = own->step, .shown = true},
      {.name = "entry point", .bytes = own->entry, .shown = true, .explains = true},
      {.name = "argument types", .bytes = own->types, .shown = true, .explains = true},
      {.name = "program text", .bytes = own->text, .shown = true, .explains = true},
      {.name = "call", .bytes = own->call, .shown = true, .explained = true},
      {.name = "plan", .bytes = own->plan, .explained = true},
      {.name = "choice of arguments that are in parts, or in files", .bytes = own->parts},
      {.name = "arguments that each rank has all of", .bytes = own->whole},
      {.name = "choice of floats", .bytes = own->floats, .shown = true},
      {.name = "memory", .bytes = own->memory, .shown = true},
      {.name = "output file, and all write one", .bytes = own->file, .shown = true}};
  enum { PARTS = sizeof rows / sizeof *rows };
  transport_part parts[PARTS];
  for (size_t i = 0; i < PARTS; i++) {
    parts[i] = rows[i];
    parts[i].bytes = rows[i].bytes ? rows[i].bytes : "";
    parts[i].count = strlen(parts[i].bytes);
  }
  return transport_agree(t, parts, PARTS, failure);
}

bool rank_compare(transport *t, uint64_t own, bool *same, error *failure) {
  uint64_t *all = calloc(2 * (size_t)t->ranks, sizeof *all);
  for (uint32_t r = 0; all && r < t->ranks; r++)
    all[r] = sizeof own;
  bool good = all ? transport_gather(t, &own, all, all + t->ranks, failure)
                  : rank_fail(t, "out of memory", failure);
  *same = good;
  for (uint32_t r = 0; good && r < t->ranks; r++)
    *same = *same && all[t->ranks + r] == own;
  free(all);
  return good;
}

bool rank_execute(const ranks_run *run, const rank_place *place, array_part *parts,
                  error *failure) {
  error why = {0};
  transport *t = place->transport;
  rank r = {.run = run, .transport = t, .threads = place->threads, .failure = &why};
  bool good =
      make_rank(&r) && find_memory(&r, place->own, place->links) && rank_agree_on_pieces(&r);
  bool reports = t->kind != &transport_threads || !t->rank;
  for (uint32_t i = 0; good && !run->runs && i < r.step_count;) {
    good = rank_execute_step(&r, i, &i);
    if (good && reports)
      progress_report(&run->progress, i, r.step_count);
  }
  good = good && (run->runs ? time_steps(&r) : rank_bring_home(&r) && move_results(&r, parts));
  free_rank(&r);
  if (!good && r.told)
    return error_pass(failure, &why);
  if (!good)
    rank_fail(t, why.message, failure);
  return good;
}
