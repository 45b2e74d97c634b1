// What one rank does: its memory, its passes, exchanges with the others. See ranks.h.
#include "core/clock.h"
#include "runtime/ranks/memory.h"
#include "runtime/ranks/parts.h"
#include "runtime/ranks/routine.h"
#include "runtime/routines/routine.h"

#define NEVER UINT32_MAX

typedef struct step {
  share_kind kind;
  uint32_t stage, pass;  // the pass; of what only moves the first of its stage
} step;

typedef struct rank {
  const ranks_run *run;
  transport *transport;  // of what is in memory of the host
  transport *links;      // of arrays
  rank_memory memory;    // where these are
  uint32_t own;          // the number of its GPU
  uint32_t threads;
  cpu_store *store;
  error *failure;
  bool told;  // ... is one that all ranks know
  step *steps;
  uint32_t step_count;
  uint64_t *slab;          // by array of the plan
  uint32_t *first, *last;  // by array: the steps that need it; first is NEVER: none
  array_part *parts;       // by array, while it lives
  void **data;             // ... the address that element 0 would have
} rank;

static bool fail_memory(rank *r) { return error_set(r->failure, SPAN_NONE, "out of memory"); }

static bool fail_device(rank *r, const rank_memory *m) {
  return error_set(r->failure, SPAN_NONE, "%s", rank_memory_problem(m));
}

// ---- steps --------------------------------------------------------------------------------------

// Whether each rank executes all of the program: the plan may have other stages than the shares then.
static bool is_whole(const shares *s) {
  bool whole = true;
  for (size_t i = 0; i < s->net->stages.count; i++)
    whole = whole && s->stages[i].kind == SHARE_WHOLE;
  return whole;
}

static bool only_moves(share_kind kind) {
  return kind == SHARE_EXCHANGE || kind == SHARE_GATHER || kind == SHARE_WINDOW;
}

static void list_steps(rank *r) {
  const plan *p = r->run->plan;
  bool whole = is_whole(r->run->shares);
  for (uint32_t i = 0; i < p->passes.count; i++) {
    uint32_t stage = p->passes.items[i].stage;
    share_kind kind = whole ? SHARE_WHOLE : r->run->shares->stages[stage].kind;
    const step *before = r->step_count ? &r->steps[r->step_count - 1] : NULL;
    if (!only_moves(kind) || !before || before->stage != stage)
      r->steps[r->step_count++] = (step){kind, stage, i};
  }
}

// The arrays that a step touches, each once; `arrays` has room for those of its pass, and two.
static uint32_t step_arrays(const rank *r, const step *s, net_id *arrays) {
  if (!only_moves(s->kind))
    return plan_pass_arrays(&r->run->plan->passes.items[s->pass], arrays);
  const share_stage *as = &r->run->shares->stages[s->stage];
  arrays[0] = s->kind == SHARE_EXCHANGE ? as->exchange.from : as->from;
  arrays[1] = s->kind == SHARE_EXCHANGE ? as->exchange.to : as->to;
  return 2;
}

static uint32_t most_arrays(const plan *p) {
  uint32_t most = 2;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    uint32_t some = plan_pass_most_arrays(&p->passes.items[i]);
    most = some > most ? some : most;
  }
  return most;
}

static bool find_lifetimes(rank *r) {
  const plan *p = r->run->plan;
  net_id *arrays = malloc(most_arrays(p) * sizeof *arrays);
  if (!arrays)
    return fail_memory(r);
  for (size_t a = 0; a < p->arrays.count; a++)
    r->first[a] = NEVER, r->last[a] = 0;
  for (uint32_t i = 0; i < r->step_count; i++) {
    uint32_t count = step_arrays(r, &r->steps[i], arrays);
    for (uint32_t k = 0; k < count; k++) {
      r->first[arrays[k]] = i < r->first[arrays[k]] ? i : r->first[arrays[k]];
      r->last[arrays[k]] = i;
    }
  }
  free(arrays);
  for (size_t a = 0; a < p->arrays.count; a++)
    if (p->arrays.items[a].role == NET_RESULT)
      r->last[a] = NEVER;
  return true;
}

// ---- slabs --------------------------------------------------------------------------------------

static void find_slabs(rank *r) {
  const shares *s = r->run->shares;
  for (net_id a = 0; a < r->run->plan->arrays.count; a++)
    r->slab[a] = a < s->net->arrays.count ? s->slab[a] : plan_share_elements(r->run->plan, a);
}

static const share_window *window_of(const rank *r, net_id a) {
  const shares *s = r->run->shares;
  return a < s->net->arrays.count ? s->window[a] : NULL;
}

// What a rank has of an array, without memory: a window, a slab, or all.
static array_part part_of(const rank *r, net_id a, uint32_t of) {
  int64_t all = (int64_t)r->run->plan->arrays.items[a].count, first = 0, end = all;
  const share_window *w = window_of(r, a);
  if (w)
    first = w->first + of * w->step, end = first + (int64_t)w->length;
  else if (r->slab[a])
    first = (int64_t)(of * r->slab[a]), end = first + (int64_t)r->slab[a];
  first = first < 0 ? 0 : first < all ? first : all;
  end = end < first ? first : end < all ? end : all;
  return (array_part){.first = (uint64_t)first, .count = (uint64_t)(end - first)};
}

// ---- memory -------------------------------------------------------------------------------------

static uint64_t element_bytes(const rank *r, net_id a) {
  return scalar_types[r->run->plan->arrays.items[a].type].size;
}

// Of a slab there is memory for elements, too, that do not exist: tiles are whole.
static uint64_t memory_bytes(const rank *r, net_id a) {
  uint64_t slab = window_of(r, a) ? 0 : r->slab[a];
  uint64_t count = slab ? slab : part_of(r, a, r->transport->rank).count;
  return count * element_bytes(r, a) + rank_memory_line(&r->memory);
}

// Element 0 lies, or would lie, at a multiple of a line, as in whole arrays.
static bool allocate(rank *r, net_id a) {
  uint64_t slab = window_of(r, a) ? 0 : r->slab[a], before;
  array_part *part = &r->parts[a];
  *part = part_of(r, a, r->transport->rank);
  before = (slab ? r->transport->rank * slab : part->first) * element_bytes(r, a);
  part->memory = rank_memory_new(&r->memory, memory_bytes(r, a));
  if (!part->memory)
    return fail_device(r, &r->memory);
  part->data = (char *)part->memory + before % rank_memory_line(&r->memory);
  r->data[a] = (void *)((uintptr_t)part->data - before);
  return true;
}

static void free_part(rank *r, net_id a) {
  rank_memory_free(&r->memory, r->parts[a].memory, memory_bytes(r, a));
  r->parts[a] = (array_part){0};
  r->data[a] = NULL;
}

// What each rank has of an array.
static extent *list_extents(const rank *r, net_id a) {
  extent *all = malloc(r->transport->ranks * sizeof *all);
  for (uint32_t i = 0; all && i < r->transport->ranks; i++)
    all[i] = extent_of(part_of(r, a, i));
  return all;
}

// An argument of which each rank has a part, to what each needs of it, in memory of the host.
static bool take_parts(rank *r, net_id a, const array *given, void *to) {
  transport *t = r->transport;
  array_part own = array_own(given);
  extent *wants = list_extents(r, a);
  if (!wants)
    return fail_memory(r);
  extent *has = parts_gather(t, extent_of(own), r->failure);
  bool good = has != NULL;
  if (good && !parts_are_whole(has, t->ranks, array_count(given)))
    good = error_set(r->failure, SPAN_NONE,
                     "what the ranks have of argument %u is not, one behind the other, all of it",
                     (unsigned)r->run->plan->arrays.items[a].number + 1);
  good = good &&
         parts_exchange(t, has, own.data, wants, to, scalar_types[given->type].size, r->failure);
  r->told = !good;
  free(wants);
  free(has);
  return good;
}

// Elements of an argument, by way of memory of the host that has `room` bytes.
static bool upload_pieces(rank *r, net_id a, const array *given, void *memory, uint64_t room) {
  const array_part *part = &r->parts[a];
  uint64_t size = element_bytes(r, a), most = room / size;
  bool good = true;
  for (uint64_t i = 0, count; i < part->count && good; i += count) {
    count = part->count - i < most ? part->count - i : most;
    good = array_fetch(given, part->first + i, count, memory, r->failure) &&
           (rank_memory_write(&r->memory, (char *)part->data + i * size, memory, count * size) ||
            fail_device(r, &r->memory));
  }
  return good;
}

// What this rank's GPU needs of an argument or table. data: all of it, or NULL.
static bool upload_given(rank *r, net_id a, const array *given, const void *data) {
  enum { PIECE = 1 << 26 };
  const array_part *part = &r->parts[a];
  uint64_t size = element_bytes(r, a), bytes = part->count * size;
  if (data)
    return rank_memory_write(&r->memory, part->data, (const char *)data + part->first * size,
                             bytes) ||
           fail_device(r, &r->memory);
  bool in_parts = array_device(given) == ARRAY_IN_PART;
  uint64_t room = in_parts || bytes < PIECE ? bytes : PIECE;
  void *memory = array_memory(room + 1);
  bool good = memory ? true : fail_memory(r);
  if (good && in_parts)
    good = take_parts(r, a, given, memory) &&
           (rank_memory_write(&r->memory, part->data, memory, bytes) || fail_device(r, &r->memory));
  else if (good)
    good = upload_pieces(r, a, given, memory, room);
  free(memory);
  return good;
}

// An argument that each rank has as a whole stays where it is, if it is in memory.
static bool take_given(rank *r, net_id a) {
  const net_array *of = &r->run->plan->arrays.items[a];
  const array *given = of->number < r->run->argument_count ? &r->run->arguments[of->number] : NULL;
  void *data = NULL;
  if (of->role == NET_TABLE || array_device(given) == ARRAY_HOST) {
    if (!cpu_find_given(of, r->run->arguments, r->run->argument_count, &data, r->failure))
      return false;
    if (!r->slab[a] && !r->memory.device) {
      r->data[a] = data;
      return true;
    }
  }
  if (r->memory.device)
    return allocate(r, a) && upload_given(r, a, given, data);
  if (array_device(given) == ARRAY_IN_PART)
    return allocate(r, a) && take_parts(r, a, given, r->parts[a].data);
  return allocate(r, a) &&
         array_fetch(given, r->parts[a].first, r->parts[a].count, r->parts[a].data, r->failure);
}

static bool take_arrays(rank *r, uint32_t number) {
  const plan *p = r->run->plan;
  bool good = true;
  for (net_id a = 0; good && a < p->arrays.count; a++)
    if (r->first[a] == number)
      good = net_array_is_given(&p->arrays.items[a]) ? take_given(r, a) : allocate(r, a);
  return good;
}

static void free_arrays(rank *r, uint32_t number) {
  for (net_id a = 0; a < r->run->plan->arrays.count; a++)
    if (r->first[a] != NEVER && r->last[a] == number)
      free_part(r, a);
}

// ---- steps, executed ----------------------------------------------------------------------------

static bool exchange(rank *r, const share_exchange *x) {
  uint64_t size = scalar_types[r->run->plan->arrays.items[x->from].type].size;
  transport_blocks b = {x->blocks, size << x->block};
  return transport_exchange_blocks(r->links, &b, r->parts[x->from].data, r->parts[x->to].data,
                                   r->failure) ||
         (r->told = true, false);
}

static bool gather(rank *r, transport *t, net_id from, void *to) {
  uint64_t size = scalar_types[r->run->plan->arrays.items[from].type].size;
  uint64_t *bytes = malloc(t->ranks * sizeof *bytes);
  if (!bytes)
    return fail_memory(r);
  for (uint32_t i = 0; i < t->ranks; i++)
    bytes[i] = part_of(r, from, i).count * size;
  bool good = transport_gather(t, r->parts[from].data, bytes, to, r->failure);
  r->told = !good;
  free(bytes);
  return good;
}

// From the slabs of all to the window of each.
static bool fetch_window(rank *r, net_id from, net_id to) {
  extent *has = list_extents(r, from), *wants = list_extents(r, to);
  uint64_t size = scalar_types[r->run->plan->arrays.items[from].type].size;
  bool good = has && wants;
  if (good)
    r->told = !(good = parts_exchange(r->links, has, r->parts[from].data, wants, r->parts[to].data,
                                      size, r->failure));
  else
    fail_memory(r);
  free(has);
  free(wants);
  return good;
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
    return !r->told || error_set(r->failure, SPAN_NONE, "%s", why.message);
  }
  bool stopped = r->run->interrupted && atomic_load(r->run->interrupted);
  return routine_run(p, routine, data, r->threads, r->run->interrupted) ||
         error_set(r->failure, SPAN_NONE, stopped ? "interrupted" : "out of memory");
}

// What the pass reads of its arrays comes from the GPU, to parts[i] of its access i, or what it has written
// goes there.
static bool move_accesses(rank *r, const plan_pass *pass, bool written, const array_part *host) {
  bool good = true;
  for (uint32_t i = 0; i < pass->access_count && good; i++) {
    net_id a = pass->accesses[i].array;
    const array_part *part = &r->parts[a];
    uint64_t bytes = part->count * element_bytes(r, a);
    if (pass->accesses[i].writes == written)
      good = written ? rank_memory_write(&r->memory, part->data, host[a].data, bytes)
                     : rank_memory_read(&r->memory, host[a].data, part->data, bytes);
  }
  return good || fail_device(r, &r->memory);
}

// Memory of the host for each array of the pass, of which this rank has parts.
static bool make_copies(rank *r, const plan_pass *pass, array_part *host, void **data) {
  rank_memory none = {0};
  for (uint32_t i = 0; i < pass->access_count; i++) {
    net_id a = pass->accesses[i].array;
    uintptr_t before = (uintptr_t)r->parts[a].data - (uintptr_t)r->data[a];
    uint64_t line = rank_memory_line(&none);
    if (host[a].memory)
      continue;
    if (!(host[a].memory = array_memory(memory_bytes(r, a) + line)))
      return fail_memory(r);
    host[a].data = (char *)host[a].memory + before % line;
    data[a] = (void *)((uintptr_t)host[a].data - before);
  }
  return true;
}

static bool run_copied_routine(rank *r, const step *s) {
  const plan_pass *pass = &r->run->plan->passes.items[s->pass];
  size_t count = r->run->plan->arrays.count + 1;
  array_part *host = calloc(count, sizeof *host);
  void **data = calloc(count, sizeof *data);
  bool good = host && data ? make_copies(r, pass, host, data) : fail_memory(r);
  good = good && move_accesses(r, pass, false, host) && run_routine(r, s, data) &&
         move_accesses(r, pass, true, host);
  for (size_t a = 0; a < count && host; a++)
    free(host[a].memory);
  free(host);
  free(data);
  return good;
}

static bool execute_routine(rank *r, const step *s) {
  return r->memory.device ? run_copied_routine(r, s) : run_routine(r, s, r->data);
}

static bool launch_items(rank *r, uint32_t pass, uint64_t first, uint64_t last) {
  const ranks_devices *d = r->run->devices;
  _Static_assert(sizeof *r->data == sizeof(cuda_address), "addresses of the GPU are pointers");
  return d->run(d->with, r->own, pass, first, last, (cuda_address *)(void *)r->data) ||
         fail_device(r, &r->memory);
}

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
  if (r->memory.device && plan_routine_of(run->plan, pass))
    return first == last || execute_routine(r, s);
  if (r->memory.device)
    return launch_items(r, s->pass, first, last);
  return cpu_run_items(run->plan, &o, s->pass, first, last, r->data, r->failure);
}

static bool execute_step(rank *r, uint32_t number) {
  const step *s = &r->steps[number];
  const share_stage *stages = r->run->shares->stages;
  bool good = take_arrays(r, number);
  if (good && s->kind == SHARE_EXCHANGE)
    good = exchange(r, &stages[s->stage].exchange);
  else if (good && s->kind == SHARE_GATHER)
    good = gather(r, r->links, stages[s->stage].from, r->data[stages[s->stage].to]);
  else if (good && s->kind == SHARE_WINDOW)
    good = fetch_window(r, stages[s->stage].from, stages[s->stage].to);
  else if (good && s->kind == SHARE_ROUTINE)
    good = execute_routine(r, s);
  else if (good)
    good = execute_pass(r, s);
  if (good)
    free_arrays(r, number);
  return good;
}

// ---- the whole ----------------------------------------------------------------------------------

// Each rank has all of it then.
static bool make_whole(rank *r, net_id a) {
  array_part part = r->parts[a];
  uint64_t slab = r->slab[a];
  r->slab[a] = 0;
  r->parts[a] = (array_part){0};
  bool good = allocate(r, a);
  array_part whole = r->parts[a];
  r->slab[a] = slab;
  r->parts[a] = part;
  good = good && gather(r, r->transport, a, whole.data);
  free(good ? part.memory : whole.memory);
  if (good)
    r->parts[a] = whole;
  return good;
}

// Results in memory of the GPU come to that of the host, where all else is done with them.
static bool bring_home(rank *r) {
  const plan *p = r->run->plan;
  rank_memory device = r->memory;
  bool good =
      !device.device || cuda_wait(device.device, r->run->interrupted) || fail_device(r, &device);
  if (!device.device || !good)
    return good;
  for (net_id a = 0; a < p->arrays.count; a++) {
    array_part there = r->parts[a];
    r->memory = device;
    uint64_t bytes = memory_bytes(r, a);
    r->memory = (rank_memory){0};
    r->parts[a] = (array_part){0};
    if (!there.memory)
      continue;
    good = good && allocate(r, a) &&
           (rank_memory_read(&device, r->parts[a].data, there.data,
                             there.count * element_bytes(r, a)) ||
            fail_device(r, &device));
    rank_memory_free(&device, there.memory, bytes);
  }
  rank_memory_end(&device);
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
            allocate(r, a)) &&  // without elements, so that no pass stores to it
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
      good = take_given(r, a);
    else
      good = allocate(r, a) &&
             (cuda_clear(r->memory.device, (uintptr_t)r->parts[a].memory, memory_bytes(r, a)) ||
              fail_device(r, &r->memory));
    r->first[a] = NEVER;
  }
  return good;
}

static bool execute_all(rank *r) {
  bool good = true;
  for (uint32_t i = 0; good && i < r->step_count; i++)
    good = execute_step(r, i);
  for (net_id a = 0; a < r->run->plan->arrays.count; a++)
    if (r->first[a] != NEVER && r->parts[a].memory &&
        r->run->plan->arrays.items[a].role == NET_RESULT)
      free_part(r, a);
  return good;
}

static bool meet(rank *r, double *now) {
  bool good = cuda_wait(r->memory.device, r->run->interrupted) || fail_device(r, &r->memory);
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
    return fail_memory(r);
  list_steps(r);
  find_slabs(r);
  return find_lifetimes(r);
}

static void free_rank(rank *r) {
  for (net_id a = 0; r->parts && a < r->run->plan->arrays.count; a++)
    if (r->parts[a].memory)
      free_part(r, a);
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

bool rank_execute(const ranks_run *run, const rank_place *place, array_part *parts,
                  error *failure) {
  error why = {0};
  transport *t = place->transport;
  rank r = {.run = run, .transport = t, .threads = place->threads, .failure = &why};
  bool good = make_rank(&r) && find_memory(&r, place->own, place->links);
  bool reports = t->kind != &transport_threads || !t->rank;
  for (uint32_t i = 0; good && !run->runs && i < r.step_count; i++) {
    good = execute_step(&r, i);
    if (good && reports)
      progress_report(&run->progress, i + 1, r.step_count);
  }
  good = good && (run->runs ? time_steps(&r) : bring_home(&r) && move_results(&r, parts));
  for (size_t a = 0; !good && a < run->plan->arrays.count; a++)
    if (run->plan->arrays.items[a].role == NET_RESULT) {
      free(parts[run->plan->arrays.items[a].number].memory);
      parts[run->plan->arrays.items[a].number] = (array_part){0};
    }
  free_rank(&r);
  if (!good && r.told)
    return error_set(failure, SPAN_NONE, "%s", why.message);
  if (!good)
    rank_fail(t, why.message, failure);
  return good;
}
