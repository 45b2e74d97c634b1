// The steps of a rank. See state.h.
#include "runtime/ranks/routines/routine.h"
#include "runtime/ranks/state.h"
#include "runtime/routines/routine.h"

// ---- steps --------------------------------------------------------------------------------------

// Whether each rank executes all of the program: the plan may have other stages than the shares
// then.
static bool is_whole(const shares *s) {
  bool whole = true;
  for (size_t i = 0; i < s->net->stages.count; i++)
    whole = whole && s->stages[i].kind == SHARE_WHOLE;
  return whole;
}

void rank_list_steps(rank *r) {
  const plan *p = r->run->plan;
  bool whole = is_whole(r->run->shares);
  for (uint32_t i = 0; i < p->passes.count; i++) {
    uint32_t stage = p->passes.items[i].stage;
    share_kind kind = whole ? SHARE_WHOLE : r->run->shares->stages[stage].kind;
    const step *before = r->step_count ? &r->steps[r->step_count - 1] : NULL;
    if (!share_only_moves(kind) || !before || before->stage != stage)
      r->steps[r->step_count++] = (step){kind, stage, i};
  }
}

// Of arrays, by steps. A result without elements has room, which no step needs.
bool rank_find_lifetimes(rank *r) {
  const plan *p = r->run->plan;
  if (!storage_begin(&r->storage, p, NULL))
    return error_no_memory(r->failure);
  storage_item *items = r->storage.items;
  for (net_id a = 0; a < p->arrays.count; a++)
    items[a].first = STORAGE_NEVER;
  for (uint32_t i = 0; i < r->step_count; i++) {
    const step *s = &r->steps[i];
    const plan_pass *pass = &p->passes.items[s->pass];
    if (share_only_moves(s->kind)) {
      const share_stage *as = &r->run->shares->stages[s->stage];
      storage_note_use(&items[as->from], i);
      storage_note_use(&items[as->to], i);
    } else {
      for (plan_access at = {0}; plan_access_next(pass, &at);)
        storage_note_use(&items[at.array], i);
    }
  }
  for (net_id a = 0; a < p->arrays.count; a++)
    if (p->arrays.items[a].role == NET_RESULT) {
      items[a].first = items[a].first == STORAGE_NEVER ? 0 : items[a].first;
      items[a].last = STORAGE_NEVER;
    }
  return true;
}

// ---- steps, executed ----------------------------------------------------------------------------

static bool exchange(rank *r, const share_stage *x) {
  uint64_t size = scalar_types[r->run->plan->arrays.items[x->from].type].size;
  transport_blocks b = {x->blocks, size << x->block};
  return transport_exchange_blocks(r->links, &b, r->parts[x->from].data, r->parts[x->to].data,
                                   r->failure) ||
         (r->told = true, false);
}

// By all ranks together, or, of one that is not shared, by each. On memory of the host.
static bool run_routine(rank *r, const step *s, void *const *data) {
  const plan *p = r->run->plan;
  const net_routine *routine = plan_routine_of(p, &p->passes.items[s->pass]);
  error why = {0};
  team all = {r->transport, r->threads, r->run->interrupted, &why};
  ranked_routine shared = {&all, p->net, routine, r->slab, data};
  if (s->kind == SHARE_ROUTINE) {
    r->told = !routine_run_ranked(&shared);
    return !r->told || error_pass(r->failure, &why);
  }
  return routine_run(p, routine, data, r->threads, r->run->interrupted) ||
         error_stopped(r->failure, r->run->interrupted);
}

// What the pass reads of its arrays comes from the GPU, to parts[i] of its access i, or what it has
// written goes there.
static bool move_accesses(rank *r, const plan_pass *pass, bool written, const array_part *host) {
  bool good = true;
  for (uint32_t i = 0; i < pass->access_count && good; i++) {
    net_id a = pass->accesses[i].array;
    uintptr_t there = (uintptr_t)r->parts[a].data;
    uint64_t bytes = r->parts[a].count * rank_element_bytes(r, a);
    if (pass->accesses[i].writes == written)
      good = written ? cuda_upload(r->device, there, host[a].data, bytes)
                     : cuda_download(r->device, host[a].data, there, bytes);
  }
  return good || rank_failed(r);
}

// Memory of the host for each array of the pass, of which this rank has parts.
static bool make_copies(rank *r, const plan_pass *pass, array_part *host, void **data) {
  for (uint32_t i = 0; i < pass->access_count; i++) {
    net_id a = pass->accesses[i].array;
    void *memory = host[a].memory ? host[a].memory : array_memory(rank_memory_bytes(r, a));
    if (!memory)
      return error_no_memory(r->failure);
    host[a] = rank_part_in(r, a, memory, &data[a]);
  }
  return true;
}

static bool run_copied_routine(rank *r, const step *s) {
  const plan_pass *pass = &r->run->plan->passes.items[s->pass];
  size_t count = r->run->plan->arrays.count + 1;
  FREED array_part *host = calloc(count, sizeof *host);
  FREED void **data = calloc(count, sizeof *data);
  bool good = host && data ? make_copies(r, pass, host, data) : error_no_memory(r->failure);
  good = good && move_accesses(r, pass, false, host) && run_routine(r, s, data) &&
         move_accesses(r, pass, true, host);
  for (size_t a = 0; a < count && host; a++)
    free(host[a].memory);
  return good;
}

// Of how many ranks each has as many rows of a routine as the others: whole ones, of all its
// arrays. 1: this one has all rows; 0: some have parts of rows.
static uint32_t ranks_of_rows(const rank *r, const step *s) {
  const plan *p = r->run->plan;
  const net_routine *routine = plan_routine_of(p, &p->passes.items[s->pass]);
  uint32_t ranks = r->transport->ranks;
  if (s->kind != SHARE_ROUTINE)
    return 1;
  uint64_t own = shares_routine_slab(p->net, routine, r->slab, ranks);
  bool sorts = routine->kind == NET_SORT || routine->kind == NET_PLACES;
  return sorts && !routine->counts && own % routine->length == 0 &&
                 own * ranks == routine->rows * routine->length
             ? ranks
             : 0;
}

static bool execute_routine(rank *r, const step *s) {
  const ranks_devices *d = r->run->devices;
  uint32_t parts = r->device ? ranks_of_rows(r, s) : 0;
  bool done = false;
  if (!r->device)
    return run_routine(r, s, r->data);
  if (parts && !d->routine(d->program, r->own, s->pass, parts == 1, r->transport->rank,
                           (const cuda_address *)(void *)r->data, &done, r->failure))
    return false;
  return done || run_copied_routine(r, s);
}

static bool launch_items(rank *r, uint32_t pass, uint64_t first, uint64_t last) {
  const ranks_devices *d = r->run->devices;
  _Static_assert(sizeof *r->data == sizeof(cuda_address), "addresses of the GPU are pointers");
  return d->run(d->program, r->own, pass, first, last, (const cuda_address *)(void *)r->data) ||
         rank_failed(r);
}

// The rank's share of a pass.
static bool execute_pass(rank *r, const step *s) {
  const ranks_run *run = r->run;
  const plan_pass *pass = &run->plan->passes.items[s->pass];
  cpu_options o = {.threads = r->threads,
                   .interrupted = run->interrupted,
                   .executor = run->executor,
                   .store = r->store};
  uint64_t first = 0, last = cpu_item_count(run->plan, s->pass);
  if (s->kind == SHARE_SPLIT)
    plan_share_items(run->plan, pass, r->transport->rank, &first, &last);
  if (r->device && plan_routine_of(run->plan, pass))
    return first == last || execute_routine(r, s);
  if (r->device)
    return launch_items(r, s->pass, first, last);
  return cpu_run_items(run->plan, &o, s->pass, first, last, r->data, r->failure);
}

// ---- the whole ----------------------------------------------------------------------------------

static bool execute(rank *r, const step *s) {
  const share_stage *as = &r->run->shares->stages[s->stage];
  switch (s->kind) {
  case SHARE_EXCHANGE:
    return exchange(r, as);
  case SHARE_GATHER:
  case SHARE_WINDOW:
    return rank_fetch(r, r->links, as->from, rank_list_extents(r, as->to), r->parts[as->to].data);
  case SHARE_ROUTINE:
    return execute_routine(r, s);
  case SHARE_SPLIT:
  case SHARE_WHOLE:
    break;
  }
  return execute_pass(r, s);
}

bool rank_execute_step(rank *r, uint32_t number) {
  bool good = rank_take_arrays(r, number) && execute(r, &r->steps[number]);
  storage_free_after(&r->storage, number);
  return good;
}
