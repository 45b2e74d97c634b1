// Compiled programs, and calls of them on the caller's memory (permc.h).
//
//   permc_compile    the pipeline; where each array of the plan lies in a call (runtime/cpu/layout.h)
//   permc_call       checks shapes and memory, fills in the addresses, and has the passes run; or, on
//                    ranks (runtime/ranks), those of this process's part
//
// A compiled program does not change. What a call needs beside it is a call_state: the program has
// a list of those that are idle. Backends without `call` run one call at a time, on copies.
#include "core/float_environment.h"
#include "runtime/alike.h"
#include "runtime/checks.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/layout.h"
#include "runtime/names.h"
#include "runtime/pipeline.h"
#include "runtime/system/locks.h"
#include "runtime/system/pool.h"

#include <inttypes.h>
#include <stdio.h>

// What one call at a time has.
typedef struct call_state {
  struct call_state *next;
  array *arguments, *results;  // of all values, in order: as the caller has them; then the checks
  void **data;                 // by array of the plan
  void *workspace;             // NULL: not needed yet
  cpu_store *store;
} call_state;

struct permc_compiled {
  permc_context *context;  // whose interrupts end calls
  permc_context settings;  // as they were; the messages of the call that has the lock
  char *entry;
  pipeline pipeline;
  size_t argument_count, result_count;
  permc_value **arguments, **results;  // without data
  uint32_t *origins;                   // of the results' names (names.h)
  bool *on_host;                       // by argument: the host alone reads it, in any call
  int32_t device;                      // ARRAY_HOST, or the number of a GPU
  array_layout layout;                 // of backends that have `call`
  call_state *idle;                    // with lock_of the program
  uint32_t forks;                      // of the process that compiled it (system/locks.h)
  pthread_mutex_t turn;                // of calls on copies
  uint32_t turn_forks;                 // ... and those of the lock
  rank_world *ranks;                   // that calls are shared among; NULL: there are none
  run_origin origin;                   // ... where they differ
};

// ---- call states -------------------------------------------------------------------------------

static void free_state(call_state *s) {
  if (!s)
    return;
  cpu_store_free(s->store);
  free(s->workspace);
  free(s->arguments);
  free(s->results);
  free(s->data);
  free(s);
}

static call_state *new_state(const permc_compiled *p) {
  const pipeline *l = &p->pipeline;
  call_state *s = calloc(1, sizeof *s);
  if (!s)
    return NULL;
  s->arguments = calloc(l->shapes.arrays.count + 1, sizeof *s->arguments);
  s->results = calloc(l->trace.results.count + 1, sizeof *s->results);
  s->data = calloc(p->layout.places ? l->plan->arrays.count + 1 : 1, sizeof *s->data);
  s->store = cpu_store_new();
  if (s->arguments && s->results && s->data && s->store)
    return s;
  free_state(s);
  return NULL;
}

static call_state *take_state(permc_compiled *p) {
  library_lock(lock_of(p));
  call_state *s = p->idle;
  p->idle = s ? s->next : NULL;
  library_unlock(lock_of(p));
  return s ? s : new_state(p);
}

static void give_state(permc_compiled *p, call_state *s) {
  library_lock(lock_of(p));
  s->next = p->idle;
  p->idle = s;
  library_unlock(lock_of(p));
}

// ---- what a call is given ----------------------------------------------------------------------

// "[8](u32, f64)" is said as "[8]u32, [8]f64".
static void describe_arrays(text *to, const permc_value *v) {
  for (size_t k = 0; k < v->count; k++) {
    text_string(to, k ? ", " : "");
    for (uint32_t i = 0; i < v->components[k].rank; i++)
      text_printf(to, "[%" PRIu64 "]", v->components[k].dims[i]);
    text_string(to, scalar_types[v->components[k].type].name);
  }
}

// Whether its elements are in memory, or, on ranks, what this process has of them.
static bool has_elements(const permc_compiled *p, const array *a) {
  bool part = array_device(a) == ARRAY_IN_PART;
  return part ? p->ranks && !ranks_are_here(p->ranks) : a->data || !array_bytes(a);
}

static permc_code refuse_shape(const permc_compiled *p, const char *what, size_t number,
                               const permc_value *wanted, const permc_value *found,
                               permc_error *e) {
  text is = {0}, should = {0};
  describe_arrays(&should, wanted);
  if (found)
    describe_arrays(&is, found);
  failure_set(e, PERMC_ERROR_ARGUMENT,
              "'%s' was compiled for other types or sizes: %s %zu must be %s, and is %s", p->entry,
              what, number + 1, text_content(&should), found ? text_content(&is) : "NULL");
  text_free(&is);
  text_free(&should);
  return PERMC_ERROR_ARGUMENT;
}

// The arrays of the values, in one row, if they have the shapes that they must have.
static permc_code list_arrays(const permc_compiled *p, const char *what, permc_value *const *wanted,
                              size_t wanted_count, permc_value *const *found, size_t count,
                              array *row, permc_error *e) {
  if (count != wanted_count)
    return failure_set(e, PERMC_ERROR_ARGUMENT, "'%s' has %zu %s%s, and is given %zu", p->entry,
                       wanted_count, what, wanted_count == 1 ? "" : "s", count);
  for (size_t i = 0; i < count; i++) {
    bool good = found && found[i] && found[i]->count == wanted[i]->count;
    for (size_t k = 0; good && k < wanted[i]->count; k++, row++) {
      *row = found[i]->components[k];
      good = array_same_shape(row, &wanted[i]->components[k]);
      if (good && !has_elements(p, row))
        return failure_set(e, PERMC_ERROR_ARGUMENT, "%s %zu of '%s' has no elements in memory",
                           what, i + 1, p->entry);
    }
    if (!good)
      return refuse_shape(p, what, i, wanted[i], found ? found[i] : NULL, e);
  }
  return PERMC_OK;
}

// Arguments that are part of the program have the elements that it was compiled for.
static permc_code check_known(const permc_compiled *p, const array *arguments, permc_error *e) {
  const array_shapes *shapes = &p->pipeline.shapes.arrays;
  for (size_t i = 0; i < shapes->count; i++) {
    const array_shape *s = &shapes->items[i];
    const array *a = &arguments[i];
    if ((s->data || s->permutation) && array_device(a) != ARRAY_HOST)
      return failure_set(
          e, PERMC_ERROR_DEVICE,
          "'%s' needs to know an argument before it runs: it must be in the memory of "
          "the host",
          p->entry);
    if (s->data && memcmp(a->data, s->data, array_bytes(a)) != 0)
      return failure_set(e, PERMC_ERROR_ARGUMENT,
                         "'%s' was compiled for another value of an argument that it needs to know "
                         "before it runs",
                         p->entry);
    if (s->permutation && !a->permutation)
      return failure_set(e, PERMC_ERROR_ARGUMENT,
                         "'%s' was compiled for an argument that is read from a schedule",
                         p->entry);
  }
  return PERMC_OK;
}

// Places that the program was compiled for, and what they did.
typedef struct moved_places {
  const movement *moves;
  place_list list;
} moved_places;

static bool hold_places(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const moved_places *m = with;
  (void)worker;
  return movement_holds(m->moves, &m->list, first, last);
}

// Arguments whose places are part of the program move elements as they did.
static permc_code check_places(const permc_compiled *p, const array *arguments, permc_error *e) {
  enum { CHUNK = 1 << 16 };
  const trace *t = &p->pipeline.trace;
  for (size_t i = 0; i < t->steps.count; i++) {
    const trace_step *s = &t->steps.items[i];
    if (!trace_places_are_known(s))
      continue;
    const array *a = &arguments[s->number];
    moved_places m = {&s->places->moves, {a->data, scalar_types[a->type].size, array_count(a)}};
    if (array_device(a) != ARRAY_HOST)
      return failure_set(e, PERMC_ERROR_DEVICE,
                         "a schedule that '%s' was compiled for must be in the memory of the host",
                         p->entry);
    if (pool_run(pool_processors(), m.list.count, CHUNK, hold_places, &m, NULL))
      continue;
    text is = {0};
    movement_print(&is, m.moves);
    permc_code code =
        failure_set(e, PERMC_ERROR_ARGUMENT, "'%s' was compiled for another permutation: %s",
                    p->entry, text_content(&is));
    text_free(&is);
    return code;
  }
  return PERMC_OK;
}

static bool overlap(const array *a, const array *b) {
  array_part own = array_own(a), other = array_own(b);
  uintptr_t x = (uintptr_t)own.data, y = (uintptr_t)other.data;
  uint64_t m = own.count * scalar_types[a->type].size, n = other.count * scalar_types[b->type].size;
  return m && n && array_device(a) == array_device(b) && (x < y ? y - x < m : x - y < n);
}

// Whether results may be written to.
static permc_code check_results(const permc_compiled *p, const call_state *s, permc_error *e) {
  size_t arguments = p->pipeline.shapes.arrays.count, count = trace_returned(&p->pipeline.trace);
  for (size_t i = 0; i < count; i++) {
    const array *r = &s->results[i];
    if (r->owner && r->owner->read_only)
      return failure_set(e, PERMC_ERROR_LAYOUT,
                         "a result of '%s' would be written to read-only memory", p->entry);
    for (size_t k = 0; k < arguments + i; k++)
      if (overlap(r, k < arguments ? &s->arguments[k] : &s->results[k - arguments]))
        return failure_set(e, PERMC_ERROR_LAYOUT, "a result of '%s' overlaps %s", p->entry,
                           k < arguments ? "an argument" : "another result");
  }
  return PERMC_OK;
}

// The device that all arrays with elements are on, but for what the host reads: the host, or the
// program's GPU.
static permc_code find_device(const permc_compiled *p, const call_state *s, int32_t *device,
                              permc_error *e) {
  size_t arguments = p->pipeline.shapes.arrays.count, count = trace_returned(&p->pipeline.trace);
  bool any = false;
  *device = ARRAY_HOST;
  for (size_t i = 0; i < arguments + count; i++) {
    const array *a = i < arguments ? &s->arguments[i] : &s->results[i - arguments];
    if (!array_bytes(a) || (i < arguments && p->on_host[i]))
      continue;
    if (array_device(a) == ARRAY_IN_PART)
      continue;
    if (any && array_device(a) != *device)
      return failure_set(e, PERMC_ERROR_DEVICE,
                         "the arguments and results of '%s' are in the memory of several devices",
                         p->entry);
    *device = array_device(a);
    any = true;
  }
  if (*device == ARRAY_HOST || *device == p->device)
    return PERMC_OK;
  return failure_set(e, PERMC_ERROR_DEVICE,
                     "the arguments of '%s' are in the memory of GPU %d, and it was compiled for "
                     "another device (backend %s)",
                     p->entry, (int)*device, p->pipeline.backend->name);
}

static permc_code check_call(const permc_compiled *p, permc_value *const *arguments,
                             size_t argument_count, permc_value *const *results,
                             size_t result_count, call_state *s, int32_t *device, permc_error *e) {
  permc_code code = list_arrays(p, "argument", p->arguments, p->argument_count, arguments,
                                argument_count, s->arguments, e);
  if (code == PERMC_OK)
    code =
        list_arrays(p, "result", p->results, p->result_count, results, result_count, s->results, e);
  if (code == PERMC_OK)
    code = find_device(p, s, device, e);
  if (code == PERMC_OK)
    code = check_known(p, s->arguments, e);
  if (code == PERMC_OK)
    code = check_places(p, s->arguments, e);
  return code == PERMC_OK ? check_results(p, s, e) : code;
}

// ---- on the caller's memory --------------------------------------------------------------------

// The memory between the passes; *taken: of the backend, which has it again after the call.
static permc_code find_workspace(const permc_compiled *p, call_state *s, backend_call *call,
                                 const permc_call_options *o, void **workspace, bool *taken,
                                 permc_error *e) {
  const backend *b = p->pipeline.backend;
  uint64_t bytes = p->layout.workspace_bytes;
  error failure = {0};
  *workspace = o ? o->workspace : NULL;
  *taken = false;
  if (*workspace && ((uintptr_t)*workspace % LAYOUT_ALIGNMENT || o->workspace_bytes < bytes))
    return failure_set(e, PERMC_ERROR_LAYOUT,
                       "the workspace of '%s' must have %" PRIu64
                       " bytes at a multiple of %d, and has %" PRIu64 " at %p",
                       p->entry, bytes, LAYOUT_ALIGNMENT, o->workspace_bytes, o->workspace);
  if (*workspace || !bytes)
    return PERMC_OK;
  if (b->workspace) {
    *taken = b->workspace(&p->pipeline.program, call, bytes, workspace, &failure);
    return *taken ? PERMC_OK : failure_set(e, PERMC_ERROR_MEMORY, "%s", failure.message);
  }
  if (!s->workspace)
    s->workspace = array_memory(bytes);
  *workspace = s->workspace;
  return s->workspace ? PERMC_OK
                      : failure_set(e, PERMC_ERROR_MEMORY,
                                    "out of memory: '%s' needs %" PRIu64 " bytes of workspace",
                                    p->entry, bytes);
}

static void fill_addresses(const permc_compiled *p, call_state *s, char *workspace) {
  const plan *l = p->pipeline.plan;
  for (size_t a = 0; a < l->arrays.count; a++) {
    array_place place = p->layout.places[a];
    s->data[a] = place.home == HOME_ARGUMENT    ? s->arguments[place.at].data
                 : place.home == HOME_RESULT    ? s->results[place.at].data
                 : place.home == HOME_TABLE     ? (void *)(uintptr_t)l->arrays.items[a].table
                 : place.home == HOME_WORKSPACE ? workspace + place.at
                                                : NULL;
  }
}

// What the backend said of a run that failed.
static permc_code refuse_run(const permc_compiled *p, const error *failure, permc_error *e) {
  permc_code code = atomic_load(&p->context->stop) ? PERMC_ERROR_INTERRUPTED
                    : failure->step != STEP_NONE   ? PERMC_ERROR_PROGRAM
                    : p->device != ARRAY_HOST      ? PERMC_ERROR_DEVICE
                                                   : PERMC_ERROR_MEMORY;
  return failure_set(e, code, "%s", failure->message);
}

// With diagnostics of the call's own: the sources are the program's.
static permc_code check_data(const permc_compiled *p, const array *results, permc_error *e) {
  diagnostics d = {.sources = p->settings.program.diagnostics.sources};
  permc_code code = PERMC_OK;
  if (!checks_pass(&d, &p->pipeline.trace, results))
    code = failure_set(e, PERMC_ERROR_PROGRAM, "%s", text_content(&d.rendered));
  text_free(&d.rendered);
  return code;
}

// The results that the checks look at, which are in the workspace: on a GPU, copies.
static bool find_checked(const permc_compiled *p, call_state *s, const backend_call *call,
                         error *failure) {
  const trace *t = &p->pipeline.trace;
  const plan *l = p->pipeline.plan;
  const backend *b = p->pipeline.backend;
  for (size_t a = 0; a < l->arrays.count; a++) {
    const net_array *of = &l->arrays.items[a];
    if (of->role != NET_RESULT || of->number < trace_returned(t))
      continue;
    array *r = &s->results[of->number];
    uint64_t bytes = cpu_array_bytes(of);
    *r = (array){.type = of->type, .rank = 1, .dims = {of->count}, .data = s->data[a]};
    if (!b->fetch || !bytes)
      continue;
    if (!(r->data = array_memory(bytes)))
      return error_set(failure, SPAN_NONE, "out of memory");
    if (!b->fetch(&p->pipeline.program, call, r->data, s->data[a], bytes, failure))
      return false;
  }
  return true;
}

static permc_code run_checks(const permc_compiled *p, call_state *s, const backend_call *call,
                             permc_error *e) {
  size_t first = trace_returned(&p->pipeline.trace),
         count = p->pipeline.trace.results.count - first;
  error failure = {0};
  bool found = find_checked(p, s, call, &failure);
  permc_code code = found ? check_data(p, s->results, e) : refuse_run(p, &failure, e);
  if (p->pipeline.backend->fetch)
    arrays_destroy(s->results + first, count);
  return code;
}

static permc_code call_here(permc_compiled *p, call_state *s, const permc_call_options *o,
                            permc_error *e) {
  const pipeline *l = &p->pipeline;
  backend_call call = {s->data, NULL, s->store, o ? o->stream : NULL, NULL};
  void *workspace;
  bool taken;
  permc_code code = find_workspace(p, s, &call, o, &workspace, &taken, e);
  if (code != PERMC_OK)
    return code;
  error failure = {0};
  fill_addresses(p, s, workspace);
  call.temporaries = workspace ? (char *)workspace + p->layout.temporaries_at : NULL;
  float_environment floats = float_environment_enter();
  if (!l->backend->call(&l->program, &call, &failure))
    code = refuse_run(p, &failure, e);
  float_environment_leave(&floats);
  if (code == PERMC_OK && l->trace.checks.count)
    code = run_checks(p, s, &call, e);
  if (taken && !l->backend->workspace(&l->program, &call, 0, &workspace, &failure) &&
      code == PERMC_OK)
    code = refuse_run(p, &failure, e);
  return code;
}

// ---- on copies, one call at a time -------------------------------------------------------------

static permc_code execute_copies(permc_compiled *p, call_state *s, array *made, permc_error *e) {
  pipeline *l = &p->pipeline;
  backend_run r = {s->arguments, l->shapes.arrays.count, true, made, {0}};
  context_clear(&p->settings);
  if (!l->backend->execute(&l->program, &r)) {
    permc_code code =
        atomic_load(&p->context->stop) ? PERMC_ERROR_INTERRUPTED : permc_last_code(&p->settings);
    return failure_set(e, code, "%s", permc_message(&p->settings));
  }
  permc_code code = check_data(p, made, e);
  for (size_t i = 0; code == PERMC_OK && i < trace_returned(&l->trace); i++)
    if (array_bytes(&made[i]))
      memcpy(s->results[i].data, made[i].data, array_bytes(&made[i]));
  return code;
}

static permc_code call_on_copies(permc_compiled *p, call_state *s, permc_error *e) {
  size_t count = p->pipeline.trace.results.count;
  array *made = calloc(count + 1, sizeof *made);
  c_environment environment;
  if (!made || !c_environment_enter(&environment)) {
    free(made);
    return failure_set(e, PERMC_ERROR_MEMORY, "out of memory");
  }
  lock_for_long(&p->turn, &p->turn_forks);
  permc_code code = execute_copies(p, s, made, e);
  pthread_mutex_unlock(&p->turn);
  arrays_destroy(made, count);
  free(made);
  c_environment_leave(&environment);
  return code;
}

// ---- on ranks ------------------------------------------------------------------------------------

static ranks_run run_of_ranks(const permc_compiled *p) {
  const pipeline *l = &p->pipeline;
  const backend *b = l->backend;
  return (ranks_run){.plan = l->plan,
                     .shares = l->shares,
                     .executor = b->executor ? b->executor(&l->program) : NULL,
                     .devices = b->devices ? b->devices(&l->program) : NULL,
                     .threads = p->settings.threads,
                     .interrupted = p->settings.limits.interrupted,
                     .fast_floats = p->settings.fuse,
                     .returned = (uint32_t)trace_returned(&l->trace),
                     .entry = p->entry,
                     .text = p->origin.text};
}

static permc_code call_on_ranks(permc_compiled *p, call_state *s, permc_error *e) {
  const pipeline *l = &p->pipeline;
  size_t count = l->trace.results.count;
  array *made = calloc(count + 1, sizeof *made);
  if (!made)
    return failure_set(e, PERMC_ERROR_MEMORY, "out of memory");
  error failure = {0};
  ranks_run run = run_of_ranks(p);
  run.arguments = s->arguments;
  run.argument_count = l->shapes.arrays.count;
  run.wanted = s->results;
  permc_code code = PERMC_OK;
  if (!ranks_execute(p->ranks, &run, made, &failure))
    code = failure_set(e, PERMC_ERROR_RANKS, "%s", failure.message);
  else
    code = check_data(p, made, e);
  arrays_destroy(made, count);
  free(made);
  return code;
}

permc_code permc_call(const permc_compiled *compiled, permc_value *const *arguments,
                      size_t argument_count, permc_value *const *results, size_t result_count,
                      const permc_call_options *options, permc_error *e) {
  permc_compiled *p = (permc_compiled *)(uintptr_t)compiled;  // its states and locks alone change
  if (!p)
    return failure_set(e, PERMC_ERROR_ARGUMENT, "the compiled program is NULL");
  if (p->device != ARRAY_HOST && p->forks != library_forks())
    return failure_set(e, PERMC_ERROR_DEVICE, FORKED_WITH_CUDA);
  call_state *s = take_state(p);
  int32_t device;
  if (!s)
    return failure_set(e, PERMC_ERROR_MEMORY, "out of memory");
  permc_code code = check_call(p, arguments, argument_count, results, result_count, s, &device, e);
  if (code == PERMC_OK) {
    context_enter(p->context);
    code = p->ranks                                  ? call_on_ranks(p, s, e)
           : device == p->device && p->layout.places ? call_here(p, s, options, e)
                                                     : call_on_copies(p, s, e);
    context_leave(p->context);
  }
  give_state(p, s);
  if (code == PERMC_OK &&
      !results_take_names(p->origins, arguments, argument_count, results, result_count))
    code = failure_set(e, PERMC_ERROR_MEMORY, "out of memory");
  if (code == PERMC_OK && e)
    *e = (permc_error){PERMC_OK, ""};
  return code;
}

uint64_t permc_workspace_bytes(const permc_compiled *p) {
  return p ? p->layout.workspace_bytes : 0;
}

// ---- compiling ---------------------------------------------------------------------------------

typedef struct compile_job {
  permc_compiled *made;
  const char *backend, *types;  // types NULL: `like`
  permc_value *const *like;
  size_t count;
  permc_value *
      *typed;  // `like`, of types; not on the stack of the job, from which failures of memory jump
} compile_job;

static permc_value *without_data(const permc_value *v) {
  permc_value *out = value_new(v->count);
  for (size_t k = 0; out && k < v->count; k++) {
    out->components[k] = v->components[k];
    out->components[k].data = NULL;
    out->components[k].owner = NULL;
  }
  return out;
}

// The types of arguments and results, as values.
static bool list_types(permc_compiled *p, const compile_job *j) {
  const result_parts *parts = &p->pipeline.result;
  const trace *t = &p->pipeline.trace;
  p->arguments = calloc(j->count + 1, sizeof *p->arguments);
  p->results = calloc(parts->count + 1, sizeof *p->results);
  p->origins = malloc((t->results.count + 1) * sizeof *p->origins);
  if (!p->arguments || !p->results || !p->origins || !trace_find_origins(t, p->origins))
    return false;
  for (; p->argument_count < j->count; p->argument_count++)
    if (!(p->arguments[p->argument_count] = without_data(j->like[p->argument_count])))
      return false;
  size_t next = 0;
  for (; p->result_count < parts->count; p->result_count++) {
    permc_value *v = p->results[p->result_count] = value_new(parts->arrays[p->result_count]);
    for (size_t k = 0; v && k < v->count; k++) {
      const trace_step *s = &t->steps.items[t->results.items[next++]];
      v->components[k] = (array){.type = s->type, .rank = s->rank};
      for (uint32_t i = 0; i < s->rank; i++)
        v->components[k].dims[i] = s->dims[i];
    }
    if (!v)
      return false;
  }
  return true;
}

// Whether a pass reads the array, but for the places of a permutation by a schedule.
static bool reads(const plan *p, const plan_pass *pass, net_id id) {
  const net_routine *r = plan_routine_of(p, pass);
  bool places = r && r->kind == NET_PERMUTE && r->pairs[0].from == id;
  bool found = places && r->pairs[1].from == id;
  for (uint32_t i = 0; i < pass->load_count; i++)
    found = found || pass->loads[i].array == id;
  for (uint32_t i = 0; i < pass->access_count; i++)
    found = found || (pass->accesses[i].array == id && !places);
  return found;
}

// Arguments that are part of the program, which a call only compares, and schedules that no pass
// reads.
static bool find_what_is_on_host(permc_compiled *p) {
  const pipeline *l = &p->pipeline;
  const array_shapes *shapes = &l->shapes.arrays;
  if (!(p->on_host = calloc(shapes->count + 1, sizeof *p->on_host)))
    return false;
  for (size_t i = 0; i < shapes->count; i++)
    p->on_host[i] = shapes->items[i].data || shapes->items[i].permutation;
  for (size_t a = 0; l->plan && a < l->plan->arrays.count; a++) {
    const net_array *of = &l->plan->arrays.items[a];
    for (size_t i = 0; i < l->plan->passes.count && of->role == NET_ARGUMENT; i++)
      if (reads(l->plan, &l->plan->passes.items[i], (net_id)a))
        p->on_host[of->number] = shapes->items[of->number].data;
  }
  return true;
}

static bool lay_out(permc_compiled *p) {
  const pipeline *l = &p->pipeline;
  if (!find_what_is_on_host(p))
    return false;
  if (!l->backend->call || p->ranks)
    return true;
  layout_pass *passes = calloc(l->plan->passes.count + 1, sizeof *passes);
  for (uint32_t i = 0; passes && i < l->plan->passes.count; i++)
    passes[i] = l->backend->pass(&l->program, i);
  bool good = passes && array_layout_make(l->plan, passes, trace_returned(&l->trace), &p->layout);
  free(passes);
  return good;
}

// What a call may read while the context does something else.
static bool copy_settings(permc_compiled *p, const permc_context *c) {
  diagnostics *d = &p->settings.program.diagnostics;
  const diagnostics *from = &c->program.diagnostics;
  p->settings = (permc_context){.allow_extern = c->allow_extern,
                                .untrusted = c->untrusted,
                                .limits = c->limits,
                                .threads = c->threads ? c->threads : pool_processors(),
                                .isa = c->isa,
                                .fuse = c->fuse};
  d->sources.items = calloc(from->sources.count + 1, sizeof *d->sources.items);
  if (!d->sources.items)
    return false;
  d->sources.count = from->sources.count;
  if (from->sources.count)
    memcpy(d->sources.items, from->sources.items, from->sources.count * sizeof *d->sources.items);
  p->pipeline.program.context = &p->settings;
  return true;
}

static bool compile_for(permc_context *c, const compile_job *j) {
  permc_value *const none[] = {NULL};
  permc_compiled *p = j->made;
  pipeline_request r = {.entry = p->entry,
                        .last = STAGE_PROGRAM,
                        .arguments = j->like ? j->like : none,
                        .argument_count = j->count,
                        .backend = j->backend,
                        .often = true,
                        .ranks = c->ranks ? ranks_count(c->ranks) : 0};
  if (!pipeline_make(c, &r, &p->pipeline))
    return false;
  run_origin_of(c, &p->origin);
  p->ranks = p->pipeline.shares ? ranks_keep(c->ranks) : NULL;
  p->device = p->pipeline.backend == &cuda_backend && !p->ranks ? c->device : ARRAY_HOST;
  return (list_types(p, j) && lay_out(p) && copy_settings(p, c)) || context_no_memory(c);
}

static bool run_compile(permc_context *c, void *with) {
  compile_job *j = with;
  if (j->types &&
      !values_of_types(c, j->made->entry, "argument types", j->types, &j->typed, &j->count))
    return false;
  j->like = j->types ? j->typed : j->like;
  return compile_for(c, j);
}

static permc_compiled *compile(permc_context *c, const char *entry, compile_job j) {
  context_begin_call(c);
  if (!context_given(c, entry, "the entry point") || !pipeline_backend(c, j.backend) ||
      !context_given_list(c, j.like, j.count, "arguments"))
    return NULL;
  permc_compiled *p = calloc(1, sizeof *p);
  char *name = strdup(entry);
  if (!p || !name) {
    free(p);
    free(name);
    return context_no_memory(c), NULL;
  }
  p->context = c;
  p->entry = name;
  p->device = ARRAY_HOST;
  p->forks = p->turn_forks = library_forks();
  pthread_mutex_init(&p->turn, NULL);
  j.made = p;
  bool good = context_run_job(c, run_compile, &j);
  permc_values_free(j.typed, j.count);
  if (good)
    return p;
  permc_compiled_free(p);
  return NULL;
}

permc_compiled *permc_compile(permc_context *c, const char *entry, const char *backend_name,
                              permc_value *const *like, size_t argument_count) {
  return compile(c, entry,
                 (compile_job){.backend = backend_name, .like = like, .count = argument_count});
}

permc_compiled *permc_compile_types(permc_context *c, const char *entry, const char *backend_name,
                                    const char *types) {
  return compile(c, entry, (compile_job){.backend = backend_name, .types = types ? types : ""});
}

void permc_compiled_free(permc_compiled *p) {
  if (!p)
    return;
  for (call_state *s = p->idle, *next; s; s = next) {
    next = s->next;
    free_state(s);
  }
  pipeline_free(&p->pipeline);
  ranks_close(p->ranks);
  free(p->layout.places);
  free(p->origins);
  free(p->on_host);
  permc_values_free(p->arguments, p->argument_count);
  permc_values_free(p->results, p->result_count);
  free(p->settings.program.diagnostics.sources.items);
  text_free(&p->settings.program.diagnostics.rendered);
  pthread_mutex_destroy(&p->turn);
  free(p->entry);
  free(p);
}

// ---- what it is --------------------------------------------------------------------------------

const permc_value *permc_compiled_argument(const permc_compiled *p, size_t number) {
  return p && number < p->argument_count ? p->arguments[number] : NULL;
}

const permc_value *permc_compiled_result(const permc_compiled *p, size_t number) {
  return p && number < p->result_count ? p->results[number] : NULL;
}

permc_value **permc_results_new(const permc_compiled *p, size_t *count) {
  if (!p || !count)
    return NULL;
  permc_value **values = calloc(p->result_count + 1, sizeof *values);
  bool good = values != NULL;
  for (*count = 0; good && *count < p->result_count; *count += good)
    good = (values[*count] = permc_value_like(p->results[*count])) != NULL;
  if (!good)
    values_drop(&values, count);
  return values;
}

const char *permc_compiled_backend(const permc_compiled *p) {
  return p ? p->pipeline.backend->name : NULL;
}

const char *permc_compiled_device(const permc_compiled *p) {
  const backend *b = p ? p->pipeline.backend : NULL;
  return b && b->device ? b->device(&p->pipeline.program) : NULL;
}

// ---- times -------------------------------------------------------------------------------------

static bool time_on_ranks(permc_compiled *p, unsigned runs, double *seconds) {
  array *none = calloc(p->pipeline.trace.results.count + 1, sizeof *none);
  error failure = {0};
  ranks_run run = run_of_ranks(p);
  run.runs = runs;
  run.seconds = seconds;
  if (!none)
    return context_no_memory(&p->settings);
  bool good = ranks_execute(p->ranks, &run, none, &failure);
  free(none);
  return good || context_error_of(&p->settings, PERMC_ERROR_RANKS, "%s", failure.message);
}

static bool time_on_device(permc_compiled *p, uint64_t copy_bytes, unsigned runs, double *seconds) {
  const backend *b = p->pipeline.backend;
  context_begin_call(p->context);
  context_clear(&p->settings);
  if (!b->time)
    return false;
  bool good = p->ranks && !copy_bytes ? time_on_ranks(p, runs, seconds)
                                      : b->time(&p->pipeline.program, copy_bytes, runs, seconds);
  if (!good) {
    diagnostics *d = &p->context->program.diagnostics;
    d->errors++;
    p->context->code = permc_last_code(&p->settings);
    text_string(&d->rendered, permc_message(&p->settings));
  }
  return good;
}

bool permc_time_call(permc_compiled *p, unsigned runs, double *seconds) {
  return time_on_device(p, 0, runs, seconds);
}

bool permc_time_copy(permc_compiled *p, uint64_t bytes, unsigned runs, double *seconds) {
  return time_on_device(p, bytes, runs, seconds);
}
