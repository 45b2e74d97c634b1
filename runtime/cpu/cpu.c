// A run: buffers by the lifetimes of arrays, scratch memory by thread, items by pool.c. See cpu.h.
#include "runtime/cpu/cpu.h"

#include "runtime/cpu/ranges.h"
#include "runtime/cpu/sweeps.h"
#include "runtime/routines/routine.h"
#include "runtime/system/memory.h"
#include "runtime/system/pool.h"
#include <inttypes.h>
#include <stdio.h>

enum {
  ALIGNMENT = 64,
  SPARES = 16,
  SLACK = 16,              // spares may take a part in so many more than the peak
  SMALL_RUN = 1 << 24,     // bytes that every machine has
  SMALL_PASS = 1 << 16,    // elements times ops that do not pay for waking a thread
  CHUNKS_PER_THREAD = 16,  // so that threads finish together
  LARGEST_CHUNK = 8,       // times what is worth a call: an interrupt must not wait for long
};
#define NEVER UINT32_MAX

// A released buffer that a later array may have.
typedef struct spare {
  void *data;
  uint64_t room;
} spare;

struct cpu_store {
  spare spares[SPARES];
  uint64_t spare_bytes;
  void **scratch;  // by worker
  unsigned threads;
  uint64_t scratch_bytes;
};

typedef struct cpu_state {
  const plan *plan;
  const cpu_options *options;
  cpu_store *store;
  error *failure;
  unsigned threads;
  uint32_t *first, *last;  // by array: the passes it is needed in; NEVER: as in cpu_array_lifetimes
  void **data;             // by array, while it lives
  uint64_t *room;          // of that memory: a buffer's, or an argument's bytes, to the byte
  uint64_t live_bytes, peak;  // bytes in arrays; together with the spares at most
                              // `peak` and the slack
  _Atomic uint64_t done;      // elements, for the progress
  uint64_t all;               // elements of all passes
} cpu_state;

uint64_t cpu_array_bytes(const net_array *a) { return a->count * scalar_types[a->type].size; }
// What its buffer takes.
static uint64_t array_buffer_bytes(const net_array *a) {
  return array_reserved_bytes(cpu_array_bytes(a));
}
// Whether memory of that room serves for the array, and is not much more than it needs.
static bool is_suited(uint64_t room, const net_array *a) {
  return room >= cpu_array_bytes(a) && room <= array_buffer_bytes(a);
}

// ---- lifetimes of arrays ------------------------------------------------------------------------

void cpu_array_lifetimes(const plan *p, uint32_t *first, uint32_t *last) {
  for (size_t a = 0; a < p->arrays.count; a++)
    first[a] = NEVER, last[a] = 0;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    const plan_pass *pass = &p->passes.items[i];
    uint32_t moves = pass->load_count + pass->store_count;
    for (uint32_t m = 0; m < moves + pass->access_count; m++) {
      net_id a = m < pass->load_count ? pass->loads[m].array
                 : m < moves          ? pass->stores[m - pass->load_count].array
                                      : pass->accesses[m - moves].array;
      first[a] = i < first[a] ? i : first[a];
      last[a] = i;
    }
  }
}

// Whether an array of the plan stays its owner's, who may need it again.
static bool is_borrowed(const net_array *a, bool borrow_arguments) {
  return a->role == NET_TABLE || (a->role == NET_ARGUMENT && borrow_arguments);
}

// The passes in which arrays need memory. Arguments and tables do from the first pass on (for ever
// if they are borrowed), results to the last.
static void find_memory_lifetimes(const plan *p, bool borrow_arguments, uint32_t *first,
                                  uint32_t *last) {
  cpu_array_lifetimes(p, first, last);
  for (size_t a = 0; a < p->arrays.count; a++) {
    const net_array *of = &p->arrays.items[a];
    bool given = net_array_is_given(of) && first[a] != NEVER;
    if (given)
      first[a] = 0;
    if (of->role == NET_RESULT || (given && is_borrowed(of, borrow_arguments)))
      last[a] = NEVER;
  }
}

static uint64_t find_peak_bytes(const plan *p, const uint32_t *first, const uint32_t *last,
                                uint64_t (*size)(const net_array *)) {
  uint64_t peak = 0;
  for (uint32_t i = 0; i < p->passes.count || i == 0; i++) {
    uint64_t sum = 0;
    for (size_t a = 0; a < p->arrays.count; a++)
      if (first[a] <= i && last[a] >= i &&
          __builtin_add_overflow(sum, size(&p->arrays.items[a]), &sum))
        return UINT64_MAX;
    peak = sum > peak ? sum : peak;
  }
  return peak;
}

uint64_t cpu_peak_bytes(arena *memory, const plan *p) {
  uint32_t *first = NEW_ARRAY(memory, uint32_t, 2 * p->arrays.count + 1);
  uint32_t *last = first + p->arrays.count;
  find_memory_lifetimes(p, false, first, last);
  return find_peak_bytes(p, first, last, cpu_array_bytes);
}

// With conditions, a tile may load what another tile stores: an element for which they do not hold.
bool cpu_loads_where_stored(const plan *p, const plan_pass *pass, uint32_t load, net_id stored) {
  net_id loaded = pass->loads[load].array;
  for (uint32_t i = 0; i < pass->access_count; i++)
    if (pass->accesses[i].array == loaded || pass->accesses[i].array == stored)
      return false;
  const plan_move *store = plan_only_move(pass->stores, pass->store_count, stored);
  return store && store->live_count == 0 && pass->live_count == 0 &&
         p->arrays.items[loaded].type == p->arrays.items[stored].type &&
         plan_only_move(pass->loads, pass->load_count, loaded) &&
         net_map_equal(&pass->loads[load].map, &store->map);
}

// ---- buffers ------------------------------------------------------------------------------------

static bool is_aligned(const void *data) { return (uintptr_t)data % ALIGNMENT == 0; }

static void *take_spare(cpu_store *s, spare *from) {
  void *data = from->data;
  s->spare_bytes -= from->room;
  *from = (spare){NULL, 0};
  return data;
}

// A spare for the array, or (NULL) a free place for one; NULL: there is none.
static spare *find_spare(cpu_store *s, const net_array *a) {
  for (size_t i = 0; i < SPARES; i++)
    if (a ? s->spares[i].data && is_suited(s->spares[i].room, a) : s->spares[i].data == NULL)
      return &s->spares[i];
  return NULL;
}

// Spares that would take too much are freed. A small buffer must not cost a large one its memory in
// each run: hence the slack.
static void *new_buffer(cpu_state *s, net_id number) {
  const net_array *a = &s->plan->arrays.items[number];
  uint64_t most = s->peak + s->peak / SLACK;
  spare *found = find_spare(s->store, a);
  s->room[number] = found ? found->room : array_buffer_bytes(a);
  s->live_bytes += s->room[number];
  if (found)
    return take_spare(s->store, found);
  for (size_t i = 0; i < SPARES && s->live_bytes + s->store->spare_bytes > most; i++)
    free(take_spare(s->store, &s->store->spares[i]));
  return array_memory(cpu_array_bytes(a));
}

// Whether passes after `pass` need more buffers of that size than there are spares.
static bool is_spare_wanted(const cpu_state *s, uint32_t pass, uint64_t room) {
  int64_t wanted = 0;
  for (size_t a = 0; a < s->plan->arrays.count; a++)
    wanted += s->data[a] == NULL && s->first[a] != NEVER && s->first[a] > pass &&
              is_suited(room, &s->plan->arrays.items[a]);
  for (size_t i = 0; i < SPARES; i++)
    wanted -= s->store->spares[i].data && s->store->spares[i].room == room;
  return wanted > 0;
}

// Makes memory a spare if it is suited and there is a place for it, else frees it.
static void add_spare(cpu_store *s, void *data, uint64_t room) {
  spare *place = data && is_aligned(data) ? find_spare(s, NULL) : NULL;
  if (place == NULL) {
    free(data);
    return;
  }
  *place = (spare){data, room};
  s->spare_bytes += room;
}

static void release_buffer(cpu_state *s, uint32_t pass, void *data, uint64_t room) {
  s->live_bytes -= room;
  if (is_spare_wanted(s, pass, room))
    add_spare(s->store, data, room);
  else
    free(data);
}

// The array whose buffer array `stored` can have, because the pass is the last to use it and stores
// where it has loaded; NET_NONE: there is none.
static net_id find_replaced_array(const cpu_state *s, uint32_t number, net_id stored) {
  const plan_pass *pass = &s->plan->passes.items[number];
  const net_array *arrays = s->plan->arrays.items;
  for (uint32_t i = 0; i < pass->load_count; i++) {
    net_id a = pass->loads[i].array;
    if (s->last[a] == number && s->data[a] && is_aligned(s->data[a]) &&
        is_suited(s->room[a], &arrays[stored]) && cpu_loads_where_stored(s->plan, pass, i, stored))
      return a;
  }
  return NET_NONE;
}

// shared[a]: the array that has taken over the buffer of array a in this pass, or NET_NONE.
static bool allocate_stored_arrays(cpu_state *s, uint32_t number, bool in_place, net_id *shared) {
  const plan_pass *pass = &s->plan->passes.items[number];
  for (uint32_t i = 0; i < pass->access_count; i++) {
    net_id id = pass->accesses[i].array;
    if (!s->data[id] && !(s->data[id] = new_buffer(s, id)))
      return error_set(s->failure, SPAN_NONE, "out of memory");
  }
  for (uint32_t i = 0; i < pass->store_count; i++) {
    net_id id = pass->stores[i].array;
    if (s->data[id])
      continue;
    bool once = !net_stage_overlaps(&s->plan->net->stages.items[pass->stage]);
    net_id from = in_place && once ? find_replaced_array(s, number, id) : NET_NONE;
    if (from != NET_NONE && shared[from] == NET_NONE) {
      s->data[id] = s->data[from];
      s->room[id] = s->room[from];
      shared[from] = id;
    } else if (!(s->data[id] = new_buffer(s, id))) {
      return error_set(s->failure, SPAN_NONE, "out of memory");
    }
  }
  return true;
}

static void release_dead_arrays(cpu_state *s, uint32_t number, const net_id *shared) {
  for (size_t a = 0; a < s->plan->arrays.count; a++)
    if (s->data[a] && s->last[a] == number) {
      if (shared[a] == NET_NONE)
        release_buffer(s, number, s->data[a], s->room[a]);
      s->data[a] = NULL;
    }
}

// ---- passes -------------------------------------------------------------------------------------

uint64_t cpu_item_count(const plan *p, uint32_t number) {
  const plan_pass *pass = &p->passes.items[number];
  return net_stage_elements(&p->net->stages.items[pass->stage]) >> pass->tile.dimension;
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
    if (!j->work->run(j->work->with, j->pass, j->state->data, item, item + count, scratch))
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
  bool interrupted = flag && atomic_load(flag) && !atomic_load(&j.no_memory);
  return error_set(s->failure, SPAN_NONE, interrupted ? "interrupted" : "out of memory");
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
  if (routine_run(s->plan, r, s->data, s->threads, flag)) {
    uint64_t done = r->rows * r->length;
    done += atomic_fetch_add_explicit(&s->done, done, memory_order_relaxed);
    progress_report(&s->options->progress, done, s->all);
    return true;
  }
  return error_set(s->failure, SPAN_NONE,
                   flag && atomic_load(flag) ? "interrupted" : "out of memory");
}

// The items first ... last - 1; a routine is one.
static bool run_ranged(cpu_state *s, uint32_t number, cpu_work work, uint64_t first,
                       uint64_t last) {
  pass_range_begin(s->plan, number, 1);
  bool good = plan_routine_of(s->plan, &s->plan->passes.items[number])
                  ? first == last || run_routine(s, number)
                  : run_items(s, number, work, first, last);
  pass_range_end(s->plan);
  return good;
}

static bool run_pass(cpu_state *s, uint32_t number) {
  cpu_work work = s->options->executor->pass(s->options->executor->with, number);
  size_t count = s->plan->arrays.count;
  net_id *shared = malloc((count + 1) * sizeof *shared);
  if (shared == NULL)
    return error_set(s->failure, SPAN_NONE, "out of memory");
  for (size_t a = 0; a < count; a++)
    shared[a] = NET_NONE;
  bool good = allocate_stored_arrays(s, number, work.in_place, shared) &&
              run_ranged(s, number, work, 0, cpu_item_count(s->plan, number));
  release_dead_arrays(s, number, shared);
  free(shared);
  return good;
}

// ---- stores -------------------------------------------------------------------------------------

cpu_store *cpu_store_new(void) { return calloc(1, sizeof(cpu_store)); }

static void free_scratch(cpu_store *s) {
  for (unsigned i = 0; i < s->threads; i++)
    free(s->scratch[i]);
  free(s->scratch);
  s->scratch = NULL;
  s->threads = 0;
  s->scratch_bytes = 0;
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

static void empty_store(cpu_store *s) {
  for (size_t i = 0; i < SPARES; i++)
    free(s->spares[i].data);
  free_scratch(s);
}

void cpu_store_free(cpu_store *s) {
  if (s)
    empty_store(s);
  free(s);
}

// ---- arguments and results ----------------------------------------------------------------------

static bool check_memory(const cpu_state *s, const array *arguments, size_t count) {
  char why[MEMORY_WHY];
  uint64_t bytes = find_peak_bytes(s->plan, s->first, s->last, cpu_array_bytes);
  uint64_t held = s->store->spare_bytes;
  for (size_t i = 0; i < count; i++)
    held += array_bytes(&arguments[i]);
  return memory_suffices((double)bytes, held, why) ||
         error_set(s->failure, SPAN_NONE, "this needs %s", why);
}

bool cpu_find_given(const net_array *wanted, const array *arguments, size_t count, void **data,
                    error *failure) {
  const array *a = wanted->number < count ? &arguments[wanted->number] : NULL;
  if (wanted->role == NET_TABLE)
    return *data = (void *)(uintptr_t)wanted->table, true;
  if (a && a->type == wanted->type && array_count(a) == wanted->count &&
      (a->data || wanted->count == 0))
    return *data = a->data, true;
  return error_set(failure, SPAN_NONE, "argument %" PRIu32 " must be an array of %" PRIu64 " %s",
                   wanted->number + 1, wanted->count, scalar_types[wanted->type].name);
}

static bool take_arguments(cpu_state *s, array *arguments, size_t count) {
  for (size_t a = 0; a < s->plan->arrays.count; a++) {
    const net_array *wanted = &s->plan->arrays.items[a];
    if (!net_array_is_given(wanted) || s->first[a] == NEVER)
      continue;
    if (!cpu_find_given(wanted, arguments, count, &s->data[a], s->failure))
      return false;
    if (!is_borrowed(wanted, s->options->borrow_arguments))
      arguments[wanted->number].data = NULL;
    s->live_bytes += s->room[a] = cpu_array_bytes(wanted);
  }
  return true;
}

static bool move_results(cpu_state *s, array *results) {
  for (size_t a = 0; a < s->plan->arrays.count; a++) {
    const net_array *from = &s->plan->arrays.items[a];
    if (from->role != NET_RESULT)
      continue;
    if (s->data[a] == NULL)  // without elements, so that no pass stores to it
      s->data[a] = array_memory(cpu_array_bytes(from));
    if (s->data[a] == NULL)
      return error_set(s->failure, SPAN_NONE, "out of memory");
    results[from->number] =
        (array){.type = from->type, .rank = 1, .dims = {from->count}, .data = s->data[a]};
    s->data[a] = NULL;
  }
  return true;
}

// ---- the whole ----------------------------------------------------------------------------------

static bool allocate_state(cpu_state *s) {
  size_t count = s->plan->arrays.count;
  s->first = calloc(count + 1, sizeof *s->first);
  s->last = calloc(count + 1, sizeof *s->last);
  s->data = calloc(count + 1, sizeof *s->data);
  s->room = calloc(count + 1, sizeof *s->room);
  if (!s->first || !s->last || !s->data || !s->room || !set_store_threads(s->store, s->threads))
    return error_set(s->failure, SPAN_NONE, "out of memory");
  find_memory_lifetimes(s->plan, s->options->borrow_arguments, s->first, s->last);
  s->peak = find_peak_bytes(s->plan, s->first, s->last, array_buffer_bytes);
  return true;
}

static void free_state(cpu_state *s) {
  for (size_t a = 0; s->data && a < s->plan->arrays.count; a++)
    if (!is_borrowed(&s->plan->arrays.items[a], s->options->borrow_arguments))
      free(s->data[a]);
  free(s->first);
  free(s->last);
  free(s->data);
  free(s->room);
}

static uint64_t count_elements(const plan *p) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    const net_routine *r = plan_routine_of(p, &p->passes.items[i]);
    all += r ? r->rows * r->length : cpu_item_count(p, i) << p->passes.items[i].tile.dimension;
  }
  return all;
}

static cpu_state state_in_place(const plan *p, const cpu_options *o, void **data, error *failure) {
  return (cpu_state){.plan = p,
                     .options = o,
                     .store = o->store,
                     .failure = failure,
                     .threads = o->threads,
                     .data = data,
                     .all = o->progress.report ? count_elements(p) : 0};
}

static bool run_in_place(cpu_state *s, uint32_t number, uint64_t first, uint64_t last) {
  const cpu_executor *executor = s->options->executor;
  if (!set_store_threads(s->store, s->threads))
    return error_set(s->failure, SPAN_NONE, "out of memory");
  return run_ranged(s, number, executor->pass(executor->with, number), first, last);
}

bool cpu_run_items(const plan *p, const cpu_options *o, uint32_t pass, uint64_t first,
                   uint64_t last, void **data, error *failure) {
  cpu_state s = state_in_place(p, o, data, failure);
  return run_in_place(&s, pass, first, last);
}

bool cpu_run_in_place(const plan *p, const cpu_options *o, void **data, error *failure) {
  cpu_state s = state_in_place(p, o, data, failure);
  bool good = true;
  for (uint32_t i = 0; good && i < p->passes.count; i++)
    good = run_in_place(&s, i, 0, cpu_item_count(p, i));
  return good;
}

bool cpu_run(const plan *p, const cpu_options *o, array *arguments, size_t argument_count,
             array *results, error *failure) {
  cpu_store own = {.threads = 0};
  cpu_state s = {.plan = p,
                 .options = o,
                 .store = &own,
                 .failure = failure,
                 .threads = o->threads ? o->threads : pool_processors(),
                 .all = count_elements(p)};
  size_t result_count = 0;
  for (size_t a = 0; a < p->arrays.count; a++)
    if (p->arrays.items[a].role == NET_RESULT)
      results[result_count++] = (array){0};
  bool good = allocate_state(&s) && check_memory(&s, arguments, argument_count) &&
              take_arguments(&s, arguments, argument_count);
  if (!o->borrow_arguments)
    arrays_destroy(arguments, argument_count);  // those that nothing needs
  for (uint32_t i = 0; good && i < p->passes.count; i++)
    good = run_pass(&s, i);
  good = good && move_results(&s, results);
  if (!good)
    arrays_destroy(results, result_count);
  free_state(&s);
  empty_store(&own);
  return good;
}
