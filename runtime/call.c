// Calls of compiled programs on the caller's memory (permc.h). See compile.h.
//
//   permc_call   checks shapes and memory; fills in the addresses (runtime/cpu/storage.h), and has
//                the passes run. On ranks, and by backends without `call`, it executes the program
//
// A compiled program does not change. What a call needs beside it is a call_state: the program has
// a list of those that are idle. One call at a time executes.
#include "core/float_environment.h"
#include "runtime/checks.h"
#include "runtime/compile.h"
#include "runtime/system/locks.h"
#include "runtime/system/pool.h"

#include <inttypes.h>

// ---- call states -------------------------------------------------------------------------------

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
  call_state_free(s);
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

// Whether its elements are in memory, or, on ranks, what this process has of them.
static bool has_elements(const permc_compiled *p, const array *a) {
  bool part = array_device(a) == ARRAY_IN_PART;
  return part ? p->ranks && !ranks_are_here(p->ranks) : a->data || !array_bytes(a);
}

static permc_code refuse_shape(const permc_compiled *p, const char *what, size_t number,
                               const permc_value *wanted, const permc_value *found,
                               permc_error *e) {
  FREED_BY(text_free) text is = {0}, should = {0};
  value_print_shapes(&should, wanted);
  if (found)
    value_print_shapes(&is, found);
  failure_set(e, PERMC_ERROR_ARGUMENT,
              "'%s' was compiled for other types or sizes: %s %zu must be %s, and is %s",
              p->pipeline.entry->name, what, number + 1, text_content(&should),
              found ? text_content(&is) : "NULL");
  return PERMC_ERROR_ARGUMENT;
}

// The arrays of the values, in one row, if they have the shapes that they must have.
static permc_code list_arrays(const permc_compiled *p, const char *what, permc_value *const *wanted,
                              size_t wanted_count, permc_value *const *found, size_t count,
                              array *row, permc_error *e) {
  if (count != wanted_count)
    return failure_set(e, PERMC_ERROR_ARGUMENT, "'%s' has %zu %s%s, and is given %zu",
                       p->pipeline.entry->name, wanted_count, what, wanted_count == 1 ? "" : "s",
                       count);
  for (size_t i = 0; i < count; i++) {
    bool good = found && found[i] && found[i]->count == wanted[i]->count;
    for (size_t k = 0; good && k < wanted[i]->count; k++, row++) {
      *row = found[i]->components[k];
      good = array_same_shape(row, &wanted[i]->components[k]);
      if (good && !has_elements(p, row))
        return failure_set(e, PERMC_ERROR_ARGUMENT, "%s %zu of '%s' has no elements in memory",
                           what, i + 1, p->pipeline.entry->name);
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
          p->pipeline.entry->name);
    if (s->data && memcmp(a->data, s->data, array_bytes(a)) != 0)
      return failure_set(e, PERMC_ERROR_ARGUMENT,
                         "'%s' was compiled for another value of an argument that it needs to know "
                         "before it runs",
                         p->pipeline.entry->name);
    if (s->permutation && !a->permutation)
      return failure_set(e, PERMC_ERROR_ARGUMENT,
                         "'%s' was compiled for an argument that is read from a schedule",
                         p->pipeline.entry->name);
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
  for (size_t i = 0; i < p->pipeline.shapes.arrays.count; i++) {
    const array *a = &arguments[i];
    moved_places m = {p->moves[i], {a->data, scalar_types[a->type].size, array_count(a)}};
    if (!m.moves)
      continue;
    if (array_device(a) != ARRAY_HOST)
      return failure_set(e, PERMC_ERROR_DEVICE,
                         "a schedule that '%s' was compiled for must be in the memory of the host",
                         p->pipeline.entry->name);
    if (pool_run(pool_processors(), m.list.count, CHUNK, hold_places, &m, NULL))
      continue;
    FREED_BY(text_free) text is = {0};
    movement_print(&is, m.moves);
    permc_code code =
        failure_set(e, PERMC_ERROR_ARGUMENT, "'%s' was compiled for another permutation: %s",
                    p->pipeline.entry->name, text_content(&is));
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
                         "a result of '%s' would be written to read-only memory",
                         p->pipeline.entry->name);
    for (size_t k = 0; k < arguments + i; k++)
      if (overlap(r, k < arguments ? &s->arguments[k] : &s->results[k - arguments]))
        return failure_set(e, PERMC_ERROR_LAYOUT, "a result of '%s' overlaps %s",
                           p->pipeline.entry->name,
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
                         p->pipeline.entry->name);
    *device = array_device(a);
    any = true;
  }
  if (*device == ARRAY_HOST || *device == p->device)
    return PERMC_OK;
  return failure_set(e, PERMC_ERROR_DEVICE,
                     "the arguments of '%s' are in the memory of GPU %d, and it was compiled for "
                     "another device (backend %s)",
                     p->pipeline.entry->name, (int)*device, p->pipeline.backend->name);
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
                       p->pipeline.entry->name, bytes, LAYOUT_ALIGNMENT, o->workspace_bytes,
                       o->workspace);
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
                                    p->pipeline.entry->name, bytes);
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
      return error_no_memory(failure);
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

// ---- by executing the program --------------------------------------------------------------------

static permc_code execute(permc_compiled *p, call_state *s, array *made, permc_error *e) {
  const array *wanted = p->ranks ? s->results : NULL;
  context_clear(&p->settings);
  if (compiled_execute(p, &p->settings, s->arguments, true, wanted, made))
    return PERMC_OK;
  bool interrupted = !p->ranks && atomic_load(&p->context->stop);
  permc_code code = interrupted ? PERMC_ERROR_INTERRUPTED : permc_last_code(&p->settings);
  return failure_set(e, code, "%s", diag_unprefixed(permc_message(&p->settings)));
}

static permc_code call_by_executing(permc_compiled *p, call_state *s, permc_error *e) {
  const trace *t = &p->pipeline.trace;
  array *made = calloc(t->results.count + 1, sizeof *made);
  c_environment environment;
  if (!made || !c_environment_enter(&environment)) {
    free(made);
    return failure_set(e, PERMC_ERROR_MEMORY, "out of memory");
  }
  lock_for_long(&p->turn, &p->turn_forks);
  permc_code code = execute(p, s, made, e);
  pthread_mutex_unlock(&p->turn);
  for (size_t i = 0; code == PERMC_OK && !p->ranks && i < trace_returned(t); i++)
    if (array_bytes(&made[i]))
      memcpy(s->results[i].data, made[i].data, array_bytes(&made[i]));
  arrays_destroy(made, t->results.count);
  free(made);
  c_environment_leave(&environment);
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
    code = device == p->device && p->layout.places ? call_here(p, s, options, e)
                                                   : call_by_executing(p, s, e);
    context_leave(p->context);
  }
  give_state(p, s);
  if (code == PERMC_OK && !compiled_name_results(p, arguments, results))
    code = failure_set(e, PERMC_ERROR_MEMORY, "out of memory");
  if (code == PERMC_OK && e)
    *e = (permc_error){PERMC_OK, ""};
  return code;
}

uint64_t permc_workspace_bytes(const permc_compiled *p) {
  return p ? p->layout.workspace_bytes : 0;
}
