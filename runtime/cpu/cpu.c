// A run: rooms for the arrays, scratch memory by thread, items by pool.c. See cpu.h.
#include "runtime/cpu/cpu.h"

#include "runtime/cpu/ranges.h"
#include "runtime/cpu/sweeps.h"
#include "runtime/routines/routine.h"
#include "runtime/system/memory.h"
#include "runtime/system/pool.h"
#include <inttypes.h>

enum {
  ALIGNMENT = 64,
  SMALL_PASS = 1 << 16,    // elements times ops that do not pay for waking a thread
  CHUNKS_PER_THREAD = 16,  // so that threads finish together
  LARGEST_CHUNK = 8,       // times what is worth a call: an interrupt must not wait for long
};
#define NEVER UINT32_MAX

struct cpu_store {
  void **scratch;  // by worker
  unsigned threads;
  uint64_t scratch_bytes;
  void **bound;  // room for the arrays of a pass that has the code of another one
  size_t bound_count;
};

typedef struct cpu_state {
  const plan *plan;
  const cpu_options *options;
  cpu_store *store;
  error *failure;
  unsigned threads;
  void **data;            // by array: where it is
  void *const *bound;     // ... for the code of the pass
  storage storage;        // of a run that has memory of its own
  _Atomic uint64_t done;  // elements, for the progress
  uint64_t all;           // elements of all passes
} cpu_state;

// ---- lifetimes of arrays ------------------------------------------------------------------------

// Whether an array of the plan stays its owner's, who may need it again.
static bool is_borrowed(const net_array *a, bool borrow_arguments) {
  return a->role == NET_TABLE || (a->role == NET_ARGUMENT && borrow_arguments);
}

// The passes in which arrays need memory. Arguments and tables do from the first pass on (for ever
// if they are borrowed), results to the last.
static void find_memory_lifetimes(const plan *p, bool borrow_arguments, storage_item *items) {
  storage_lifetimes(p, items);
  for (size_t a = 0; a < p->arrays.count; a++) {
    const net_array *of = &p->arrays.items[a];
    bool given = net_array_is_given(of) && items[a].first != NEVER;
    if (given)
      items[a].first = 0;
    if (of->role == NET_RESULT || (given && is_borrowed(of, borrow_arguments)))
      items[a].last = NEVER;
  }
}

static uint64_t find_peak_bytes(const plan *p, const storage_item *items) {
  uint64_t peak = 0;
  for (uint32_t i = 0; i < p->passes.count || i == 0; i++) {
    uint64_t sum = 0;
    for (size_t a = 0; a < p->arrays.count; a++)
      if (items[a].first <= i && items[a].last >= i &&
          __builtin_add_overflow(sum, items[a].bytes, &sum))
        return UINT64_MAX;
    peak = sum > peak ? sum : peak;
  }
  return peak;
}

uint64_t cpu_peak_bytes(arena *memory, const plan *p) {
  storage_item *items = NEW_ARRAY(memory, storage_item, p->arrays.count + 1);
  find_memory_lifetimes(p, false, items);
  return find_peak_bytes(p, items);
}

// ---- rooms --------------------------------------------------------------------------------------

// Those that the pass is the first to need.
static bool allocate_rooms(cpu_state *s, uint32_t pass) {
  for (uint32_t i = 0; i < s->storage.room_count; i++) {
    storage_room *r = &s->storage.rooms[i];
    if (r->first != pass)
      continue;
    if (!r->memory && !(r->memory = array_memory(r->bytes)))
      return error_no_memory(s->failure);
    for (net_id a = r->array; a != NET_NONE; a = s->storage.items[a].next)
      s->data[a] = r->memory;
  }
  return true;
}

// ---- passes -------------------------------------------------------------------------------------

uint64_t cpu_item_count(const plan *p, uint32_t number) {
  const plan_pass *pass = &p->passes.items[number];
  return net_stage_elements(plan_stage_of(p, pass)) >> pass->tile.dimension;
}

typedef struct pass_job {
  cpu_state *state;
  uint32_t pass;
  const cpu_work *work;
  const sweep *sweep;
  atomic_bool no_memory;
} pass_job;

// Of the sweep: numbers first, ..., last - 1.
static bool run_stretches(const pass_job *j, uint64_t first, uint64_t last, void *scratch) {
  for (uint64_t number = first, count; number < last; number += count) {
    uint64_t item = sweep_item(j->sweep, number, &count);
    count = count < last - number ? count : last - number;
    if (!j->work->run(j->work->with, j->pass, j->state->bound, item, item + count, scratch))
      return false;
  }
  return true;
}

static bool run_chunk(void *with, unsigned worker, uint64_t first, uint64_t last) {
  pass_job *j = with;
  cpu_store *s = j->state->store;
  if (s->scratch[worker] == NULL) {
    s->scratch[worker] = aligned_alloc(ALIGNMENT, s->scratch_bytes);
    if (s->scratch[worker] == NULL) {
      atomic_store_explicit(&j->no_memory, true, memory_order_relaxed);
      return false;
    }
    memset(s->scratch[worker], 0, s->scratch_bytes);
  }
  if (!run_stretches(j, first, last, s->scratch[worker]))
    return false;
  uint64_t done = (last - first) << j->state->plan->passes.items[j->pass].tile.dimension;
  done += atomic_fetch_add_explicit(&j->state->done, done, memory_order_relaxed);
  if (worker == 0)
    progress_report(&j->state->options->progress, done, j->state->all);
  return true;
}

// A larger one is allocated by each worker when it begins.
static void prepare_scratch(cpu_store *s, uint64_t bytes) {
  if (bytes < s->scratch_bytes)
    return;
  for (unsigned i = 0; i < s->threads; i++) {
    free(s->scratch[i]);
    s->scratch[i] = NULL;
  }
  s->scratch_bytes = bytes / ALIGNMENT * ALIGNMENT + ALIGNMENT;
}

static bool is_small(const plan_pass *pass, uint64_t items) {
  uint64_t steps = pass->load_count + pass->op_count + pass->store_count;
  return items < SMALL_PASS && steps < SMALL_PASS && pass->tile.dimension < 16 &&
         (items * steps) << pass->tile.dimension < SMALL_PASS;
}

static unsigned choose_threads(const cpu_state *s, uint32_t number, const cpu_work *work,
                               uint64_t items) {
  unsigned most = work->threads && work->threads < s->threads ? work->threads : s->threads;
  if (net_stage_has(plan_stage_of(s->plan, &s->plan->passes.items[number]), NET_GROUP))
    return 1;  // in the order of the indices
  return is_small(&s->plan->passes.items[number], items) ? 1 : most;
}

static uint64_t choose_chunk(const cpu_work *work, uint64_t items, unsigned threads) {
  uint64_t least = work->chunk ? work->chunk : 1, chunk = items / threads / CHUNKS_PER_THREAD;
  uint64_t granularity = work->granularity ? work->granularity : 1;
  chunk = chunk > LARGEST_CHUNK * least ? LARGEST_CHUNK * least : chunk;
  chunk = chunk < least ? least : chunk;
  return (chunk + granularity - 1) / granularity * granularity;
}

static bool run_sweep(cpu_state *s, uint32_t number, const sweep *of, const cpu_work *work) {
  const atomic_bool *flag = s->options->interrupted;
  uint64_t items = sweep_items(of);
  unsigned threads = choose_threads(s, number, work, items);
  pass_job j = {.state = s, .pass = number, .work = work, .sweep = of};
  atomic_init(&j.no_memory, false);
  prepare_scratch(s->store, work->scratch_bytes);
  if (items == 0 ||
      pool_run(threads, items, choose_chunk(work, items, threads), run_chunk, &j, flag))
    return true;
  return error_stopped(s->failure, atomic_load(&j.no_memory) ? NULL : flag);
}

static bool run_items(cpu_state *s, uint32_t number, cpu_work work, uint64_t first, uint64_t last) {
  const plan_pass *pass = &s->plan->passes.items[number];
  bool whole = s->threads == 1 || is_small(pass, last - first);
  sweep w = sweep_first(s->plan, pass, whole, first, last);
  bool good = run_sweep(s, number, &w, &work);
  while (good && sweep_next(&w))
    good = run_sweep(s, number, &w, &work);
  return good;
}

static bool run_routine(cpu_state *s, uint32_t number) {
  const atomic_bool *flag = s->options->interrupted;
  const net_routine *r = plan_routine_of(s->plan, &s->plan->passes.items[number]);
  if (routine_run(s->plan, r, s->bound, s->threads, flag)) {
    uint64_t done = r->rows * r->length;
    done += atomic_fetch_add_explicit(&s->done, done, memory_order_relaxed);
    progress_report(&s->options->progress, done, s->all);
    return true;
  }
  return error_stopped(s->failure, flag);
}

// ---- stores -------------------------------------------------------------------------------------

cpu_store *cpu_store_new(void) { return calloc(1, sizeof(cpu_store)); }

static void free_scratch(cpu_store *s) {
  for (unsigned i = 0; i < s->threads; i++)
    free(s->scratch[i]);
  free(s->scratch);
  free(s->bound);
  *s = (cpu_store){0};
}

// Makes room for the scratch memory of so many threads.
static bool set_store_threads(cpu_store *s, unsigned threads) {
  if (s->threads == threads)
    return true;
  free_scratch(s);
  s->scratch = calloc(threads, sizeof *s->scratch);
  s->threads = s->scratch ? threads : 0;
  return s->scratch != NULL;
}

void cpu_store_free(cpu_store *s) {
  if (s)
    free_scratch(s);
  free(s);
}

// ---- arguments and results ----------------------------------------------------------------------

static bool check_memory(const cpu_state *s, const array *arguments, size_t count) {
  char why[MEMORY_WHY];
  uint64_t bytes = find_peak_bytes(s->plan, s->storage.items), held = 0;
  for (size_t i = 0; i < count; i++)
    held += array_bytes(&arguments[i]);
  if (memory_suffices((double)bytes, held, why))
    return true;
  s->failure->bytes = (double)bytes;
  return error_set(s->failure, SPAN_NONE, "this needs %s", why);
}

bool cpu_find_given(const net_array *wanted, const array *arguments, size_t count, void **data,
                    error *failure) {
  const array *a = wanted->number < count ? &arguments[wanted->number] : NULL;
  if (wanted->role == NET_TABLE)
    return *data = (void *)(uintptr_t)wanted->table, true;
  if (a && (a->type == wanted->type || scalar_complex_of(a->type) == wanted->type) &&
      array_bytes(a) == cpu_array_bytes(wanted) && (a->data || wanted->count == 0))
    return *data = a->data, true;
  return error_set(failure, SPAN_NONE, "argument %" PRIu32 " must be an array of %" PRIu64 " %s",
                   wanted->number + 1, wanted->count, scalar_types[wanted->type].name);
}

static bool find_arguments(cpu_state *s, const array *arguments, size_t count) {
  const plan *p = s->plan;
  bool good = true;
  for (size_t a = 0; a < p->arrays.count && good; a++)
    if (net_array_is_given(&p->arrays.items[a]) && s->storage.items[a].first != NEVER)
      good = cpu_find_given(&p->arrays.items[a], arguments, count, &s->data[a], s->failure);
  return good;
}

// Rooms; arguments that are not borrowed are some of them. Nothing else lies in one that is not
// aligned.
static bool place_arrays(cpu_state *s, array *arguments) {
  const plan *p = s->plan;
  storage_item *items = s->storage.items;
  for (size_t a = 0; a < p->arrays.count; a++) {
    if (is_borrowed(&p->arrays.items[a], s->options->borrow_arguments))
      items[a].first = NEVER;
    else if ((uintptr_t)s->data[a] % ALIGNMENT != 0)
      items[a].bytes = 0;
  }
  s->storage.transient = true;
  if (!storage_place(&s->storage))
    return error_no_memory(s->failure);
  for (size_t a = 0; a < p->arrays.count; a++)
    if (p->arrays.items[a].role == NET_ARGUMENT && items[a].first != NEVER) {
      s->storage.rooms[items[a].room].memory = s->data[a];
      arguments[p->arrays.items[a].number].data = NULL;
    }
  return true;
}

static bool move_results(cpu_state *s, array *results) {
  for (size_t a = 0; a < s->plan->arrays.count; a++) {
    const net_array *from = &s->plan->arrays.items[a];
    bool stored = s->storage.items[a].first != NEVER;  // one without elements need not be
    if (from->role != NET_RESULT)
      continue;
    void *data = stored ? s->data[a] : array_memory(cpu_array_bytes(from));
    if (!data)
      return error_no_memory(s->failure);
    results[from->number] =
        (array){.type = from->type, .rank = 1, .dims = {from->count}, .data = data};
    if (stored)
      s->storage.rooms[s->storage.items[a].room].memory = NULL;
  }
  return true;
}

// ---- the whole ----------------------------------------------------------------------------------

static void *array_at(const cpu_state *s, net_id id) {
  const net_array *a = &s->plan->arrays.items[id];
  return a->part_of ? (char *)s->data[a->part_of - 1] + a->part_at * scalar_types[a->type].size
                    : s->data[id];
}

static bool has_own_arrays(const plan *p, uint32_t number) {
  bool own = !p->passes.items[number].repeats;
  for (plan_access at = {0}; own && plan_access_next(&p->passes.items[number], &at);)
    own = !p->arrays.items[at.array].part_of;
  return own;
}

// Where the code of a pass, which may be another one's, finds arrays, parts of arrays among them.
static bool bind_arrays(cpu_state *s, uint32_t number, uint32_t code) {
  const plan *p = s->plan;
  cpu_store *store = s->store;
  s->bound = s->data;
  if (has_own_arrays(p, number))
    return true;
  if (store->bound_count < p->arrays.count) {
    free(store->bound);
    store->bound = calloc(p->arrays.count, sizeof *store->bound);
    store->bound_count = store->bound ? p->arrays.count : 0;
  }
  plan_access to = {0}, from = {0};
  while (store->bound && plan_access_next(&p->passes.items[code], &to) &&
         plan_access_next(&p->passes.items[number], &from))
    store->bound[to.array] = array_at(s, from.array);
  s->bound = store->bound;
  return store->bound != NULL;
}

// The items first ... last - 1; a routine is one.
static bool run_pass(cpu_state *s, uint32_t number, uint64_t first, uint64_t last) {
  const cpu_executor *executor = s->options->executor;
  cpu_work work = executor->pass(executor->with, number);
  bool routine = plan_routine_of(s->plan, &s->plan->passes.items[number]) != NULL;
  uint32_t code = routine ? number : plan_code_of(s->plan, number);
  if (!set_store_threads(s->store, s->threads) || !bind_arrays(s, number, code))
    return error_no_memory(s->failure);
  pass_range_begin(s->plan, number, 1);
  bool good =
      routine ? first == last || run_routine(s, number) : run_items(s, code, work, first, last);
  pass_range_end(s->plan);
  return good;
}

static bool run_passes(cpu_state *s) {
  bool good = true;
  for (uint32_t i = 0; good && i < s->plan->passes.count; i++) {
    good = allocate_rooms(s, i) && run_pass(s, i, 0, cpu_item_count(s->plan, i));
    storage_free_after(&s->storage, i);
  }
  return good;
}

static uint64_t count_elements(const plan *p) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    const net_routine *r = plan_routine_of(p, &p->passes.items[i]);
    all += r ? r->rows * r->length : cpu_item_count(p, i) << p->passes.items[i].tile.dimension;
  }
  return all;
}

static cpu_state make_state(const plan *p, const cpu_options *o, cpu_store *store, void **data,
                            error *failure) {
  return (cpu_state){.plan = p,
                     .options = o,
                     .store = store,
                     .failure = failure,
                     .threads = o->threads ? o->threads : pool_processors(),
                     .data = data,
                     .all = o->progress.report ? count_elements(p) : 0};
}

bool cpu_run_items(const plan *p, const cpu_options *o, uint32_t pass, uint64_t first,
                   uint64_t last, void **data, error *failure) {
  cpu_state s = make_state(p, o, o->store, data, failure);
  return run_pass(&s, pass, first, last);
}

bool cpu_run_in_place(const plan *p, const cpu_options *o, void **data, error *failure) {
  cpu_state s = make_state(p, o, o->store, data, failure);
  return run_passes(&s);
}

void cpu_describe_passes(const plan *p, const cpu_executor *e, storage_pass *passes) {
  for (uint32_t i = 0; i < p->passes.count; i++)
    passes[i].in_place = !e->in_place || e->in_place(e->with, i);
}

static bool run_in_rooms(cpu_state *s, storage_pass *passes, array *arguments,
                         size_t argument_count, array *results) {
  if (!passes || !s->data || !storage_begin(&s->storage, s->plan, passes))
    return error_no_memory(s->failure);
  cpu_describe_passes(s->plan, s->options->executor, passes);
  find_memory_lifetimes(s->plan, s->options->borrow_arguments, s->storage.items);
  bool good = check_memory(s, arguments, argument_count) &&
              find_arguments(s, arguments, argument_count) && place_arrays(s, arguments);
  if (!s->options->borrow_arguments)
    arrays_destroy(arguments, argument_count);  // those that nothing needs
  return good && run_passes(s) && move_results(s, results);
}

bool cpu_run(const plan *p, const cpu_options *o, array *arguments, size_t argument_count,
             array *results, error *failure) {
  cpu_store own = {0};
  FREED void **data = calloc(p->arrays.count + 1, sizeof *data);
  FREED storage_pass *passes = calloc(p->passes.count + 1, sizeof *passes);
  cpu_state s = make_state(p, o, &own, data, failure);
  bool good = run_in_rooms(&s, passes, arguments, argument_count, results);
  if (!o->borrow_arguments)
    arrays_destroy(arguments, argument_count);
  storage_end(&s.storage);
  free_scratch(&own);
  return good;
}
