// Sessions: buffers by liveness, scratch memory by thread, items by pool.c. See cpu.h.
#include "runtime/cpu/cpu.h"

#include "runtime/cpu/portable.h"
#include "runtime/system/memory.h"
#include "runtime/system/pool.h"
#include <inttypes.h>
#include <stdio.h>

enum {
  ALIGNMENT = 64,
  SPARES = 16,
  SMALL_RUN = 1 << 24,     // bytes that every machine has
  SMALL_PASS = 1 << 16,    // elements times ops that do not pay for waking a thread
  CHUNKS_PER_THREAD = 16,  // so that threads finish together
  LARGEST_CHUNK = 8,       // times what is worth a call: an interrupt must not wait for long
};
#define NEVER UINT32_MAX

// A dead buffer that a later array may have.
typedef struct spare {
  void *data;
  uint64_t room;
} spare;

struct cpu_store {
  spare spares[SPARES];
  void **scratch;  // by worker
  unsigned threads;
  uint64_t scratch_bytes;
};

struct cpu_session {
  const plan *plan;
  const atomic_bool *interrupted;
  bool keep_arguments;
  cpu_store *store;
  cpu_failure *failure;
  unsigned threads;
  uint32_t *first, *last;  // by array: passes; first is NEVER where none touches it
  void **data;             // by array, while it lives
  spare spares[SPARES];
  uint64_t live, spared;  // bytes in arrays and in spares: together at most `peak`
  uint64_t peak;
  uint64_t needed;  // the peak of what is in the arrays
  void **scratch;   // by worker
  uint64_t scratch_bytes;
};

bool cpu_fail(cpu_failure *failure, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  *failure = (cpu_failure){.has_origin = false};
  vsnprintf(failure->message, sizeof failure->message, format, arguments);
  va_end(arguments);
  return false;
}

static uint64_t bytes_of(const net_array *a) { return a->count * scalar_types[a->type].size; }
// What its buffer takes: buffers of equal room serve for each other.
static uint64_t room_of(const net_array *a) { return array_room(bytes_of(a)); }

// ---- liveness -----------------------------------------------------------------------------------

// Arguments live from the first pass on (for ever if they are kept), results to the last.
static void find_lives(const plan *p, bool keep_arguments, uint32_t *first, uint32_t *last) {
  for (size_t a = 0; a < p->arrays.count; a++)
    first[a] = NEVER, last[a] = 0;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    const plan_pass *pass = &p->passes.items[i];
    for (uint32_t m = 0; m < pass->load_count + pass->store_count; m++) {
      const plan_move *move =
          m < pass->load_count ? &pass->loads[m] : &pass->stores[m - pass->load_count];
      first[move->array] = i < first[move->array] ? i : first[move->array];
      last[move->array] = i;
    }
  }
  for (size_t a = 0; a < p->arrays.count; a++) {
    if (p->arrays.items[a].role == NET_ARGUMENT && first[a] != NEVER) {
      first[a] = 0;
      if (keep_arguments)
        last[a] = NEVER;
    }
    if (p->arrays.items[a].role == NET_RESULT)
      last[a] = NEVER;
  }
}

static uint64_t find_peak(const plan *p, const uint32_t *first, const uint32_t *last,
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

uint64_t cpu_peak_bytes(const plan *p) {
  uint32_t *lives = calloc(2 * p->arrays.count + 1, sizeof *lives);
  if (lives == NULL)
    return UINT64_MAX;
  find_lives(p, false, lives, lives + p->arrays.count);
  uint64_t peak = find_peak(p, lives, lives + p->arrays.count, bytes_of);
  free(lives);
  return peak;
}

// ---- buffers ------------------------------------------------------------------------------------

static bool aligned(const void *data) { return (uintptr_t)data % ALIGNMENT == 0; }

static void drop_spare(cpu_session *s, spare *one) {
  free(one->data);
  s->spared -= one->room;
  *one = (spare){NULL, 0};
}

static void *buffer_new(cpu_session *s, const net_array *a) {
  uint64_t room = room_of(a);
  s->live += room;
  for (size_t i = 0; i < SPARES; i++)
    if (s->spares[i].data && s->spares[i].room == room) {
      void *data = s->spares[i].data;
      s->spared -= room;
      s->spares[i] = (spare){NULL, 0};
      return data;
    }
  for (size_t i = 0; i < SPARES && s->live + s->spared > s->peak; i++)
    if (s->spares[i].data)
      drop_spare(s, &s->spares[i]);
  return array_memory(bytes_of(a));
}

// How many arrays of that size passes after `pass` will ask for, less the spares there are.
static int64_t shortage(const cpu_session *s, uint32_t pass, uint64_t room) {
  int64_t count = 0;
  for (size_t a = 0; a < s->plan->arrays.count; a++)
    count += s->data[a] == NULL && s->first[a] != NEVER && s->first[a] > pass &&
             room_of(&s->plan->arrays.items[a]) == room;
  for (size_t i = 0; i < SPARES; i++)
    count -= s->spares[i].data && s->spares[i].room == room;
  return count;
}

static void buffer_free(cpu_session *s, uint32_t pass, void *data, uint64_t room) {
  s->live -= room;
  for (size_t i = 0; aligned(data) && i < SPARES; i++)
    if (s->spares[i].data == NULL && (s->store || shortage(s, pass, room) > 0)) {
      s->spares[i] = (spare){data, room};
      s->spared += room;
      return;
    }
  free(data);
}

// ---- arrays in one buffer -----------------------------------------------------------------------

// Whether each tile of the pass stores to array `id` just where it has loaded from *from, which
// nobody needs any more. (With live forms, an index that is not alive may load what another tile
// stores.)
static bool find_in_place(const cpu_session *s, uint32_t number, net_id id, net_id *from) {
  const plan_pass *pass = &s->plan->passes.items[number];
  const plan_move *store = plan_only_move(pass->stores, pass->store_count, id);
  if (store == NULL || store->live_count > 0 || pass->live_count > 0)
    return false;
  for (uint32_t i = 0; i < pass->load_count; i++) {
    net_id a = pass->loads[i].array;
    const net_array *old = &s->plan->arrays.items[a], *new = &s->plan->arrays.items[id];
    // An argument's memory is the caller's: of its very size.
    bool fits = bytes_of(old) == bytes_of(new) ||
                (old->role == NET_TEMPORARY && room_of(old) == room_of(new));
    if (s->last[a] == number && s->data[a] && aligned(s->data[a]) && fits &&
        old->type == new->type &&plan_only_move(pass->loads, pass->load_count, a) &&
        net_map_equal(&pass->loads[i].map, &store->map))
      return *from = a, true;
  }
  return false;
}

// `shared`, by array: the other name of a buffer, or NET_NONE.
static bool provide(cpu_session *s, uint32_t number, bool in_place, net_id *shared) {
  const plan_pass *pass = &s->plan->passes.items[number];
  for (uint32_t i = 0; i < pass->store_count; i++) {
    net_id id = pass->stores[i].array, from = NET_NONE;
    if (s->data[id])
      continue;
    if (in_place && find_in_place(s, number, id, &from) && shared[from] == NET_NONE) {
      s->data[id] = s->data[from];
      shared[from] = id;
      continue;
    }
    s->data[id] = buffer_new(s, &s->plan->arrays.items[id]);
    if (s->data[id] == NULL)
      return cpu_fail(s->failure, "out of memory");
  }
  return true;
}

static void release(cpu_session *s, uint32_t number, const net_id *shared) {
  for (size_t a = 0; a < s->plan->arrays.count; a++)
    if (s->data[a] && s->last[a] == number) {
      if (shared[a] == NET_NONE)
        buffer_free(s, number, s->data[a], room_of(&s->plan->arrays.items[a]));
      s->data[a] = NULL;
    }
}

// ---- passes -------------------------------------------------------------------------------------

static uint64_t block_count(const plan *p, const plan_pass *pass) {
  return UINT64_C(1) << (p->net->stages.items[pass->stage].n - pass->tile.dimension);
}

uint64_t cpu_item_count(const plan *p, uint32_t number) {
  const plan_pass *pass = &p->passes.items[number];
  const net_stage *stage = &p->net->stages.items[pass->stage];
  uint64_t count = block_count(p, pass);
  for (uint32_t l = 0; l < stage->loop_count; l++)
    count *= stage->extents[l];
  return count;
}

typedef struct pass_job {
  cpu_session *session;
  uint32_t pass;
  const cpu_work *work;
  atomic_bool no_memory;
} pass_job;

static bool do_items(void *with, unsigned worker, uint64_t first, uint64_t last) {
  pass_job *j = with;
  cpu_session *s = j->session;
  if (s->scratch[worker] == NULL) {
    s->scratch[worker] = aligned_alloc(ALIGNMENT, s->scratch_bytes);
    if (s->scratch[worker] == NULL) {
      atomic_store_explicit(&j->no_memory, true, memory_order_relaxed);
      return false;
    }
    memset(s->scratch[worker], 0, s->scratch_bytes);
  }
  return j->work->run(j->work->with, j->pass, s->data, first, last, s->scratch[worker]);
}

static void prepare_scratch(cpu_session *s, uint64_t bytes) {
  if (bytes < s->scratch_bytes)
    return;
  for (unsigned i = 0; i < s->threads; i++) {
    free(s->scratch[i]);
    s->scratch[i] = NULL;
  }
  s->scratch_bytes = bytes / ALIGNMENT * ALIGNMENT + ALIGNMENT;
}

static unsigned threads_for(const cpu_session *s, uint32_t number, const cpu_work *work,
                            uint64_t items) {
  const plan_pass *pass = &s->plan->passes.items[number];
  uint64_t steps = pass->load_count + pass->op_count + pass->store_count;
  bool small = items < SMALL_PASS && steps < SMALL_PASS && pass->tile.dimension < 16 &&
               (items * steps) << pass->tile.dimension < SMALL_PASS;
  return work->serial || small ? 1 : s->threads;
}

static uint64_t chunk_for(const cpu_work *work, uint64_t items, unsigned threads) {
  uint64_t least = work->chunk ? work->chunk : 1, chunk = items / threads / CHUNKS_PER_THREAD;
  uint64_t granularity = work->granularity ? work->granularity : 1;
  chunk = chunk > LARGEST_CHUNK * least ? LARGEST_CHUNK * least : chunk;
  chunk = chunk < least ? least : chunk;
  return (chunk + granularity - 1) / granularity * granularity;
}

static bool run_items(cpu_session *s, uint32_t number, const cpu_work *work) {
  pass_job j = {.session = s, .pass = number, .work = work};
  uint64_t items = cpu_item_count(s->plan, number);
  unsigned threads = threads_for(s, number, work, items);
  prepare_scratch(s, work->scratch_bytes);
  atomic_init(&j.no_memory, false);
  if (pool_run(threads, items, chunk_for(work, items, threads), do_items, &j, s->interrupted))
    return true;
  bool interrupted = s->interrupted && atomic_load(s->interrupted) && !atomic_load(&j.no_memory);
  return cpu_fail(s->failure, interrupted ? "interrupted" : "out of memory");
}

bool cpu_pass(cpu_session *s, uint32_t number, const cpu_work *work) {
  size_t count = s->plan->arrays.count;
  net_id *shared = malloc((count + 1) * sizeof *shared);
  if (shared == NULL)
    return cpu_fail(s->failure, "out of memory");
  for (size_t a = 0; a < count; a++)
    shared[a] = NET_NONE;
  bool good = provide(s, number, work->in_place, shared) && run_items(s, number, work);
  release(s, number, shared);
  free(shared);
  return good;
}

// ---- stores -------------------------------------------------------------------------------------

cpu_store *cpu_store_new(void) { return calloc(1, sizeof(cpu_store)); }

static void forget_scratch(cpu_store *s) {
  for (unsigned i = 0; i < s->threads; i++)
    free(s->scratch[i]);
  free(s->scratch);
  s->scratch = NULL;
  s->threads = 0;
}

void cpu_store_free(cpu_store *s) {
  if (s == NULL)
    return;
  for (size_t i = 0; i < SPARES; i++)
    free(s->spares[i].data);
  forget_scratch(s);
  free(s);
}

void cpu_store_give(cpu_store *s, void *data, uint64_t bytes) {
  for (size_t i = 0; data && aligned(data) && i < SPARES; i++)
    if (s->spares[i].data == NULL) {
      s->spares[i] = (spare){data, array_room(bytes)};
      return;
    }
  free(data);
}

// What the store has moves to the session, and at the end of the session back.
static void open_store(cpu_session *s, cpu_store *store) {
  s->store = store;
  if (store == NULL)
    return;
  for (size_t i = 0; i < SPARES; i++) {
    s->spares[i] = store->spares[i];
    s->spared += s->spares[i].room;
    store->spares[i] = (spare){NULL, 0};
  }
  if (store->threads == s->threads) {
    memcpy(s->scratch, store->scratch, s->threads * sizeof *s->scratch);
    memset(store->scratch, 0, s->threads * sizeof *s->scratch);
    s->scratch_bytes = store->scratch_bytes;
  }
}

static void close_store(cpu_session *s) {
  cpu_store *store = s->store;
  if (store == NULL)
    return;
  memcpy(store->spares, s->spares, sizeof s->spares);
  memset(s->spares, 0, sizeof s->spares);
  forget_scratch(store);
  store->scratch = s->scratch;
  store->threads = s->threads;
  store->scratch_bytes = s->scratch_bytes;
  s->scratch = NULL;
}

// ---- beginning ----------------------------------------------------------------------------------

static void destroy_all(array *arrays, size_t count) {
  for (size_t i = 0; i < count; i++) {
    array_destroy(&arrays[i]);
    arrays[i] = (array){0};
  }
}

static cpu_session *session_new(const plan *p, const cpu_options *o, cpu_failure *failure) {
  size_t count = p->arrays.count;
  cpu_session *s = calloc(1, sizeof *s);
  if (s == NULL)
    return NULL;
  s->plan = p;
  s->interrupted = o->interrupted;
  s->keep_arguments = o->keep_arguments;
  s->failure = failure;
  s->threads = o->threads ? o->threads : pool_processors();
  s->first = calloc(count + 1, sizeof *s->first);
  s->last = calloc(count + 1, sizeof *s->last);
  s->data = calloc(count + 1, sizeof *s->data);
  s->scratch = calloc(s->threads, sizeof *s->scratch);
  if (s->first && s->last && s->data && s->scratch) {
    find_lives(p, o->keep_arguments, s->first, s->last);
    s->peak = find_peak(p, s->first, s->last, room_of);
    s->needed = find_peak(p, s->first, s->last, bytes_of);
    open_store(s, o->store);
    return s;
  }
  cpu_end(s, NULL);
  return NULL;
}

static bool check_memory(const cpu_session *s) {
  const char *owner = "";
  if (s->needed < SMALL_RUN)
    return true;
  uint64_t limit = interp_memory_limit(&owner);
  if (s->needed <= limit)
    return true;
  char need[32], have[32];
  interp_format_bytes(need, sizeof need, s->needed);
  interp_format_bytes(have, sizeof have, limit);
  return cpu_fail(s->failure, "this needs %s of memory; %s %s", need, owner, have);
}

static bool take_arguments(cpu_session *s, array *arguments, size_t count) {
  for (size_t a = 0; a < s->plan->arrays.count; a++) {
    const net_array *wanted = &s->plan->arrays.items[a];
    if (wanted->role != NET_ARGUMENT || s->first[a] == NEVER)
      continue;
    array *given = wanted->number < count ? &arguments[wanted->number] : NULL;
    if (given == NULL || given->type != wanted->type || array_count(given) != wanted->count ||
        (given->data == NULL && wanted->count > 0))
      return cpu_fail(s->failure,
                      "argument %" PRIu32 " is missing, or not of the type and shape expected",
                      wanted->number + 1);
    s->data[a] = given->data;
    if (!s->keep_arguments)
      given->data = NULL;
    s->live += room_of(wanted);
  }
  return true;
}

cpu_session *cpu_begin(const plan *p, const cpu_options *o, array *arguments, size_t argument_count,
                       cpu_failure *failure) {
  *failure = (cpu_failure){.has_origin = false};
  cpu_session *s = session_new(p, o, failure);
  bool good = s != NULL || cpu_fail(failure, "out of memory");
  good = good && check_memory(s) && take_arguments(s, arguments, argument_count);
  if (!o->keep_arguments)
    destroy_all(arguments, argument_count);  // those that nothing needs
  if (good)
    return s;
  cpu_end(s, NULL);
  return NULL;
}

// ---- ending -------------------------------------------------------------------------------------

static bool hand_over(cpu_session *s, array *results) {
  for (size_t a = 0; a < s->plan->arrays.count; a++) {
    const net_array *from = &s->plan->arrays.items[a];
    if (from->role != NET_RESULT)
      continue;
    if (s->data[a] == NULL)  // without elements, so that no pass stores to it
      s->data[a] = array_memory(bytes_of(from));
    if (s->data[a] == NULL)
      return cpu_fail(s->failure, "out of memory");
    results[from->number] =
        (array){.type = from->type, .rank = 1, .dims = {from->count}, .data = s->data[a]};
    s->data[a] = NULL;
  }
  return true;
}

static size_t result_count(const plan *p) {
  size_t count = 0;
  for (size_t a = 0; a < p->arrays.count; a++)
    count += p->arrays.items[a].role == NET_RESULT;
  return count;
}

bool cpu_end(cpu_session *s, array *results) {
  if (s == NULL)
    return false;
  bool good = results != NULL && hand_over(s, results);
  if (!good && results)
    destroy_all(results, result_count(s->plan));
  for (size_t a = 0; s->data && a < s->plan->arrays.count; a++)
    if (!s->keep_arguments || s->plan->arrays.items[a].role != NET_ARGUMENT)
      free(s->data[a]);
  close_store(s);
  for (size_t i = 0; i < SPARES; i++)
    free(s->spares[i].data);
  for (unsigned i = 0; s->scratch && i < s->threads; i++)
    free(s->scratch[i]);
  free(s->first);
  free(s->last);
  free(s->data);
  free(s->scratch);
  free(s);
  return good;
}

// ---- the whole ----------------------------------------------------------------------------------

static bool run_all(const plan *p, const cpu_options *o, const cpu_executor *executor,
                    array *arguments, size_t argument_count, array *results, cpu_failure *failure) {
  cpu_session *s = cpu_begin(p, o, arguments, argument_count, failure);
  bool good = s != NULL;
  for (uint32_t i = 0; good && i < p->passes.count; i++) {
    cpu_work work = executor->pass(executor->with, i);
    good = cpu_pass(s, i, &work);
  }
  return cpu_end(s, good ? results : NULL);
}

bool cpu_run(const plan *p, const cpu_options *o, array *arguments, size_t argument_count,
             array *results, cpu_failure *failure) {
  *failure = (cpu_failure){.has_origin = false};
  for (size_t i = 0; i < result_count(p); i++)
    results[i] = (array){0};
  if (o->executor)
    return run_all(p, o, o->executor, arguments, argument_count, results, failure);
  portable_options options = {.allow_foreign = o->allow_foreign, .interrupted = o->interrupted};
  portable *executor = portable_new(p, &options, failure);
  bool good = false;
  if (executor)
    good = run_all(p, o, &(cpu_executor){portable_pass, executor}, arguments, argument_count,
                   results, failure);
  else if (!o->keep_arguments)
    destroy_all(arguments, argument_count);
  portable_free(executor);
  return good;
}
