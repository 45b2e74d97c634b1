#include "runtime/gpu/program.h"
#include "core/clock.h"
#include "kernels/emit/emit.h"
#include "runtime/cpu/ranges.h"
#include "runtime/cpu/roots.h"
#include "runtime/cuda/code.h"
#include "runtime/cuda/device.h"
#include "runtime/gpu/permuting.h"
#include "runtime/gpu/routine.h"
#include "runtime/gpu/rows.h"
#include "runtime/gpu/streams.h"
#include "runtime/routines/routine.h"
#include "runtime/system/pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  FILE_BYTES = 1 << 16,  // of text that is worth a compilation of its own
  MOST_FILES = 32,
  KEPT_PART = 512,  // of the device's memory, that a stream's workspace may have at most
  MANY = 10         // runs that are timed as one graph, without launches by the host between them
};
#define NEVER UINT32_MAX

typedef struct buffer {
  cuda_address address;
  uint64_t bytes;
  bool taken;
} buffer;

// Passes that follow each other without the host, as a graph (NULL: there are none); then a routine that
// has no kernels, which the host executes (NEVER: none).
typedef struct stretch {
  cuda_graph *graph;
  uint32_t routine;
} stretch;

// How a pass is launched.
typedef struct pass_launch {
  uint32_t array_count;
  net_id *arrays;  // its parameters
  uint64_t items;
} pass_launch;

// What each of the devices has of its own.
typedef struct program_part {
  cuda_device *device;
  size_t module_count;
  cuda_module *modules[MOST_FILES];
  cuda_kernel *kernels;  // by pass
  cuda_address imports;  // permc_imports, the list of tables, and the tables
} program_part;

struct cuda_program {
  cuda_device *device;  // the first
  cuda_peers *peers;    // all of them; NULL: that one alone
  const plan *plan;
  const atomic_bool *interrupted;
  unsigned part_count;
  program_part parts[CUDA_MOST_PEERS];
  c_pass_facts *facts;    // by pass
  pass_launch *launches;  // by pass
  uint32_t *buffer_of;    // by array: the number of its buffer, or NEVER
  buffer *buffers;        // room for one of each array
  size_t buffer_count;
  bool
      has_own_arrays;  // tables are there from the beginning, the other arrays from the first run on
  cuda_address *own;   // by array: where it is, then
  cuda_permuting **permuting;  // by pass: of permutations by schedules, or NULL
  pthread_mutex_t schedules;   // of these, and of the stretches
  stretch *stretches;          // one run
  size_t stretch_count;
  cuda_graph *many;         // MANY runs, for cuda_program_time, where no routine is the host's
  cuda_routine **routines;  // by pass; NULL: it is none, or the host's
  cuda_rows **rows;  // by pass: of those whose rows several devices share; NULL: the first does it
  cache cache;
  cuda_code_source source;
  buffer copied;                 // two halves, of cuda_program_time_copy
  cuda_streams streams;          // the sequences of calls
  atomic_uint launches_of_call;  // 0: not known yet
};

static bool fail_with_device_message(const cuda_program *g, error *failure) {
  return error_set(failure, SPAN_NONE, "%s", cuda_message(g->device));
}

static bool fail_with_part_message(const cuda_program *g, const program_part *part,
                                   error *failure) {
  if (g->peers)
    cuda_peers_refuse(g->peers, (unsigned)(part - g->parts));
  return fail_with_device_message(g, failure);
}

// Memory that all devices reach.
static cuda_address program_memory_new(const cuda_program *g, uint64_t bytes) {
  return g->peers ? cuda_peers_memory_new(g->peers, bytes) : cuda_memory_new(g->device, bytes);
}

static void program_memory_free(const cuda_program *g, cuda_address a) {
  if (g->peers)
    cuda_peers_memory_free(g->peers, a);
  else
    cuda_memory_free(g->device, a);
}

static bool program_wait(const cuda_program *g) {
  return g->peers ? cuda_peers_wait(g->peers, g->interrupted)
                  : cuda_wait(g->device, g->interrupted);
}

// ---- compiling ---------------------------------------------------------------------------------

typedef struct compilation {
  const cuda_program *program;
  const c_code *code;
  size_t files;
  uint32_t first[MOST_FILES + 1];  // file i has the passes first[i] ... first[i + 1] - 1
  cuda_code made[MOST_FILES];
  const progress *progress;
  _Atomic size_t done;
} compilation;

static bool compile_file(compilation *c, size_t i, bool anew) {
  text file = {0};
  c_code_file(&file, c->code, c->first[i], c->first[i + 1], false);
  bool good = cuda_code_make(&c->made[i], &file, &c->program->source, anew);
  text_free(&file);
  return good;
}

static bool compile_files(void *with, unsigned worker, uint64_t first, uint64_t last) {
  compilation *c = with;
  for (uint64_t i = first; i < last; i++) {
    if (!compile_file(c, i, false))
      return false;
    size_t done = atomic_fetch_add(&c->done, 1) + 1;
    if (worker == 0 && c->files > 1)  // one at a time
      progress_report(c->progress, done, c->files);
  }
  return true;
}

// Code from the cache that cannot be loaded is compiled again.
static bool load_module(cuda_program *g, program_part *part, compilation *c, size_t i,
                        error *failure) {
  cuda_module **m = &part->modules[i];
  *m = cuda_module_load(part->device, c->made[i].cubin, c->made[i].size);
  if (!*m && c->made[i].cached) {
    if (!compile_file(c, i, true))
      return error_set(failure, SPAN_NONE, "%s", c->made[i].message);
    *m = cuda_module_load(part->device, c->made[i].cubin, c->made[i].size);
  }
  part->module_count = i + 1;
  return *m || fail_with_part_message(g, part, failure);
}

static bool find_kernels(cuda_program *g, program_part *part, const compilation *c, size_t i,
                         error *failure) {
  for (uint32_t pass = c->first[i]; pass < c->first[i + 1]; pass++) {
    char name[C_PASS_NAME];
    uint32_t own = g->facts[pass].kernel;
    if (own != pass || !g->facts[pass].threads) {  // found before; none
      part->kernels[pass] = part->kernels[own];
      continue;
    }
    c_pass_name(g->plan, pass, name);
    if (!cuda_kernel_find(part->device, part->modules[i], name,
                          (uint32_t)g->facts[pass].scratch_bytes, &part->kernels[pass]))
      return fail_with_part_message(g, part, failure);
  }
  return true;
}

static bool load_modules(cuda_program *g, compilation *c, error *failure) {
  for (unsigned k = 0; k < g->part_count; k++)
    for (size_t i = 0; i < c->files; i++)
      if (!load_module(g, &g->parts[k], c, i, failure) ||
          !find_kernels(g, &g->parts[k], c, i, failure))
        return false;
  return true;
}

static bool compile_passes(cuda_program *g, const cuda_options *o, const c_code *code,
                           error *failure) {
  compilation *c = calloc(1, sizeof *c);
  if (!c)
    return error_set(failure, SPAN_NONE, "out of memory");
  c->program = g;
  c->code = code;
  c->progress = &o->progress;
  c->files = c_code_split(code, FILE_BYTES, MOST_FILES, c->first);
  bool good = pool_run(o->compilers ? o->compilers : pool_processors(), c->files, 1, compile_files,
                       c, g->interrupted);
  if (!good && g->interrupted && atomic_load(g->interrupted))
    error_set(failure, SPAN_NONE, "interrupted");
  for (size_t i = 0; i < c->files && !good; i++)
    if (*c->made[i].message)
      error_set(failure, SPAN_NONE, "%s", c->made[i].message);
  if (!good)
    error_set(failure, SPAN_NONE, "out of memory");
  good = good && load_modules(g, c, failure);
  for (size_t i = 0; i < c->files; i++)
    cuda_code_free(&c->made[i]);
  free(c);
  return good;
}

// ---- placing -----------------------------------------------------------------------------------

// The number of a free buffer that is at least as large and at most an eighth larger, or of a new
// one.
static uint32_t take_buffer(cuda_program *g, uint64_t bytes) {
  for (uint32_t i = 0; i < g->buffer_count; i++) {
    buffer *b = &g->buffers[i];
    if (!b->taken && b->bytes >= bytes && b->bytes - bytes <= bytes / 8) {
      b->taken = true;
      return i;
    }
  }
  g->buffers[g->buffer_count] = (buffer){.bytes = bytes, .taken = true};
  return (uint32_t)g->buffer_count++;
}

// The temporary array whose buffer array `stored` can have, because the pass is the last to use it
// and stores where it has loaded; NET_NONE: there is none. (Arguments are read in every run.)
static net_id find_replaced_array(const cuda_program *g, uint32_t number, net_id stored,
                                  const uint32_t *last) {
  const plan_pass *pass = &g->plan->passes.items[number];
  const net_array *arrays = g->plan->arrays.items;
  for (uint32_t i = 0; i < pass->load_count && g->facts[number].in_place; i++) {
    net_id a = pass->loads[i].array;
    if (last[a] == number && arrays[a].role == NET_TEMPORARY &&
        g->buffers[g->buffer_of[a]].bytes >= cpu_array_bytes(&arrays[stored]) &&
        cpu_loads_where_stored(g->plan, pass, i, stored))
      return a;
  }
  return NET_NONE;
}

static void place_stored_arrays(cuda_program *g, uint32_t number, uint32_t *last) {
  const plan_pass *pass = &g->plan->passes.items[number];
  for (uint32_t i = 0; i < pass->access_count; i++)
    if (g->buffer_of[pass->accesses[i].array] == NEVER)
      g->buffer_of[pass->accesses[i].array] =
          take_buffer(g, cpu_array_bytes(&g->plan->arrays.items[pass->accesses[i].array]));
  for (uint32_t i = 0; i < pass->store_count; i++) {
    net_id id = pass->stores[i].array;
    if (g->buffer_of[id] != NEVER)
      continue;
    net_id old = find_replaced_array(g, number, id, last);
    if (old == NET_NONE) {
      g->buffer_of[id] = take_buffer(g, cpu_array_bytes(&g->plan->arrays.items[id]));
    } else {
      g->buffer_of[id] = g->buffer_of[old];
      last[old] = NEVER;  // its buffer is still used
    }
  }
  for (size_t a = 0; a < g->plan->arrays.count; a++)
    if (last[a] == number && g->plan->arrays.items[a].role == NET_TEMPORARY &&
        g->buffer_of[a] != NEVER)  // an array without elements is in no pass
      g->buffers[g->buffer_of[a]].taken = false;
}

// Arguments, tables and results have buffers of their own, temporaries share.
static bool choose_buffers(cuda_program *g, error *failure) {
  const plan *p = g->plan;
  uint32_t *first = calloc(2 * p->arrays.count + 1, sizeof *first);
  if (!first)
    return error_set(failure, SPAN_NONE, "out of memory");
  uint32_t *last = first + p->arrays.count;
  cpu_array_lifetimes(p, first, last);
  for (size_t a = 0; a < p->arrays.count; a++)
    g->buffer_of[a] = net_array_is_given(&p->arrays.items[a])
                          ? take_buffer(g, cpu_array_bytes(&p->arrays.items[a]))
                          : NEVER;
  for (uint32_t i = 0; i < p->passes.count; i++)
    place_stored_arrays(g, i, last);
  for (size_t a = 0; a < p->arrays.count; a++)
    if (g->buffer_of[a] == NEVER && p->arrays.items[a].role == NET_RESULT)
      g->buffer_of[a] = take_buffer(g, cpu_array_bytes(&p->arrays.items[a]));
  free(first);
  return true;
}

static bool allocate_buffers(cuda_program *g, error *failure) {
  uint64_t needed = 0;
  for (size_t i = 0; i < g->buffer_count; i++) {
    if (g->buffers[i].address)
      continue;
    g->buffers[i].address = program_memory_new(g, g->buffers[i].bytes);
    needed += g->buffers[i].bytes;
    for (size_t k = i + 1; k < g->buffer_count && !g->buffers[i].address; k++)
      needed += g->buffers[k].bytes;
    if (!g->buffers[i].address)
      return error_set(failure, SPAN_NONE, "%s; the program needs %llu bytes in %zu arrays",
                       cuda_message(g->device), (unsigned long long)needed, g->buffer_count);
  }
  return true;
}

static cuda_address array_address(const cuda_program *g, net_id id) {
  return g->buffers[g->buffer_of[id]].address;
}

static void note_addresses(cuda_program *g) {
  for (size_t a = 0; a < g->plan->arrays.count; a++)
    g->own[a] = g->buffer_of[a] == NEVER ? 0 : array_address(g, (net_id)a);
}

static bool make_routines(cuda_program *g, error *failure) {
  const plan *p = g->plan;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    const plan_pass *pass = &p->passes.items[i];
    if (plan_routine_of(p, pass) &&
        !(cuda_routine_new(&g->routines[i], g->device, p, pass, &g->source, failure) &&
          (!g->peers || cuda_rows_new(&g->rows[i], g->peers, p, pass, &g->source, failure))))
      return false;
  }
  return true;
}

// After the arrays have their addresses.
static bool place_routines(cuda_program *g, error *failure) {
  for (uint32_t i = 0; i < g->plan->passes.count; i++)
    if (g->rows[i] ? !cuda_rows_place(g->rows[i], g->own, failure)
                   : g->routines[i] && !cuda_routine_place(g->routines[i], g->own, failure))
      return false;
  return true;
}

// ---- arguments and tables ----------------------------------------------------------------------

// The tables have their memory at once.
static bool allocate_tables(cuda_program *g, error *failure) {
  for (size_t a = 0; a < g->plan->arrays.count; a++) {
    buffer *b = g->plan->arrays.items[a].role == NET_TABLE ? &g->buffers[g->buffer_of[a]] : NULL;
    if (b && !(b->address = program_memory_new(g, b->bytes)))
      return fail_with_device_message(g, failure);
  }
  return true;
}

// The arrays of that role: arguments in every run, tables once.
static bool upload_given(cuda_program *g, net_role role, const array *arguments, size_t count,
                         error *failure) {
  for (size_t a = 0; a < g->plan->arrays.count; a++) {
    const net_array *wanted = &g->plan->arrays.items[a];
    void *data;
    if (wanted->role != role || wanted->count == 0)
      continue;
    if (!cpu_find_given(wanted, arguments, count, &data, failure))
      return false;
    if (!cuda_upload(g->device, array_address(g, (net_id)a), data, cpu_array_bytes(wanted)))
      return fail_with_device_message(g, failure);
  }
  return true;
}

// In one piece of memory: permc_imports, the addresses of the tables, the tables. `head` has room for
// the first two.
static bool upload_part_roots(program_part *part, const permc_root_table *rows, void **tables,
                              size_t count, uint64_t *head) {
  uint64_t total = (2 + count) * sizeof *head, at = (total + 255) / 256 * 256;
  for (size_t i = 0; i < count; i++) {
    head[2 + i] = at;
    at += (roots_bytes(&rows[i]) + 255) / 256 * 256;
  }
  part->imports = cuda_memory_new(part->device, at);
  head[1] = part->imports + 2 * sizeof(cuda_address);
  bool good = part->imports != 0;
  for (size_t i = 0; i < count && good; i++) {
    head[2 + i] += part->imports;
    good = cuda_upload(part->device, head[2 + i], tables[i], roots_bytes(&rows[i]));
  }
  return good && cuda_upload(part->device, part->imports, head, total);
}

static bool upload_roots(cuda_program *g, const permc_root_table *rows, error *failure) {
  size_t count = 0;
  void **tables = roots_make(rows, &count, pool_processors());
  uint64_t *head = calloc(count + 2, sizeof *head);
  bool good = tables && head;
  if (!good)
    error_set(failure, SPAN_NONE, "out of memory");
  for (unsigned k = 0; k < g->part_count && good; k++)
    good = upload_part_roots(&g->parts[k], rows, tables, count, head) ||
           fail_with_part_message(g, &g->parts[k], failure);
  free(head);
  roots_free(tables, count);
  return good;
}

// ---- recording ---------------------------------------------------------------------------------

// The items up to the last that has something to do.
static uint64_t items_to_launch(const plan *p, uint32_t number) {
  const plan_pass *pass = &p->passes.items[number];
  bool loops = p->net->stages.items[pass->stage].loop_count > 0;
  return loops ? cpu_item_count(p, number) : plan_live_blocks(p, pass);
}

static bool plan_launches(cuda_program *g) {
  for (uint32_t i = 0; i < g->plan->passes.count; i++) {
    const plan_pass *pass = &g->plan->passes.items[i];
    const c_one_kernel *one = g->facts[i].one;
    pass_launch *l = &g->launches[i];
    l->arrays =
        calloc((one ? one->array_count : plan_pass_most_arrays(pass)) + 1, sizeof *l->arrays);
    if (!l->arrays)
      return false;
    l->array_count = one ? one->array_count : plan_pass_arrays(pass, l->arrays);
    l->items = one ? one->blocks : items_to_launch(g->plan, i);
    if (one)
      memcpy(l->arrays, one->arrays, one->array_count * sizeof *l->arrays);
  }
  return true;
}

// The items first ... last - 1 of a pass, on arrays that lie at these addresses.
static bool launch_items(const cuda_program *g, const program_part *part, cuda_device *d,
                         uint32_t number, uint64_t first, uint64_t last, cuda_address *addresses) {
  enum { MOST_PARAMETERS = 512 };  // CUDA allows 4096 bytes of them
  const pass_launch *l = &g->launches[number];
  void *parameters[MOST_PARAMETERS];
  cuda_address imports = part->imports;
  bool good = true;
  if (!g->facts[number].threads)
    return true;
  if (l->array_count + 3 > MOST_PARAMETERS)
    return cuda_refuse(d, "pass %u has too many arrays", (unsigned)number);
  parameters[0] = &first;
  for (uint32_t i = 0; i < l->array_count; i++)
    parameters[1 + i] = &addresses[l->arrays[i]];
  parameters[1 + l->array_count] = &imports;
  parameters[2 + l->array_count] = g->facts[number].matrix;
  for (; first < last && good; first += CUDA_MOST_BLOCKS_X) {
    uint64_t left = last - first;
    cuda_grid grid = {.x = left < CUDA_MOST_BLOCKS_X ? left : CUDA_MOST_BLOCKS_X,
                      .threads = g->facts[number].threads,
                      .overlapping = !g->peers};
    good = cuda_launch(d, &part->kernels[number], grid, parameters);
  }
  return good;
}

// By `d`, the first device: on its own stream, or on that of a call.
static bool launch_kernel(const cuda_program *g, cuda_device *d, uint32_t number,
                          cuda_address *addresses) {
  return launch_items(g, &g->parts[0], d, number, 0, g->launches[number].items, addresses);
}

// By all devices, each the blocks of its part.
static bool launch_parts(const cuda_program *g, uint32_t number) {
  uint64_t items = g->launches[number].items;
  bool good = cuda_peers_fork(g->peers);
  for (unsigned i = 0; i < g->part_count && good; i++)
    good = launch_items(g, &g->parts[i], g->parts[i].device, number, items * i / g->part_count,
                        items * (i + 1) / g->part_count, g->own) ||
           cuda_peers_refuse(g->peers, i);
  return good && cuda_peers_join(g->peers);
}

static bool launch_pass(cuda_program *g, uint32_t number) {
  if (g->permuting[number])
    return cuda_permuting_launch(g->permuting[number], g->device, g->own, 0);
  if (g->rows[number])
    return cuda_rows_launch(g->rows[number]);
  if (g->routines[number])
    return cuda_routine_launch(g->routines[number]);
  if (g->plan->passes.items[number].keys_for &&
      cuda_routine_makes_keys(g->routines[g->plan->passes.items[number].keys_for]))
    return true;
  bool together = g->peers && !g->facts[number].one;  // whose blocks wait for each other
  return together ? launch_parts(g, number) : launch_kernel(g, g->device, number, g->own);
}

// So many runs of the passes first ... last - 1, one after the other. NULL: failed.
static cuda_graph *record_passes(cuda_program *g, uint32_t first, uint32_t last, unsigned runs,
                                 error *failure) {
  bool good = cuda_graph_begin(g->device);
  if (!good)
    return fail_with_device_message(g, failure), NULL;
  for (unsigned run = 0; run < runs; run++)
    for (uint32_t i = first; i < last && good; i++)
      good = launch_pass(g, i);
  cuda_graph *graph = cuda_graph_end(g->device, good);
  if (!graph)
    fail_with_device_message(g, failure);
  return graph;
}

static bool is_for_host(const cuda_program *g, uint32_t pass) {
  return plan_routine_of(g->plan, &g->plan->passes.items[pass]) && !g->permuting[pass] &&
         !g->routines[pass];
}

static void drop_stretches(cuda_program *g) {
  for (size_t i = 0; i < g->stretch_count; i++)
    cuda_graph_free(g->device, g->stretches[i].graph);
  cuda_graph_free(g->device, g->many);
  memset(g->stretches, 0, g->stretch_count * sizeof *g->stretches);
  g->stretch_count = 0;
  g->many = NULL;
}

// The passes in stretches; at least one.
static bool record_stretches(cuda_program *g, error *failure) {
  drop_stretches(g);
  uint32_t count = (uint32_t)g->plan->passes.count;
  for (uint32_t i = 0; i < count; i++)
    if (g->permuting[i] && !cuda_permuting_place(g->permuting[i]))
      return fail_with_device_message(g, failure);
  for (uint32_t first = 0, last; first < count || !g->stretch_count; first = last + 1) {
    stretch *s = &g->stretches[g->stretch_count++];
    for (last = first; last < count && !is_for_host(g, last); last++)
      ;
    s->routine = last < count ? last : NEVER;
    if ((last > first || !count) && !(s->graph = record_passes(g, first, last, 1, failure)))
      return false;
  }
  return true;
}

// ---- routines, by the host ---------------------------------------------------------------------

// Arrays that the routine reads are downloaded, those that it writes uploaded.
static bool move_accesses(cuda_program *g, const plan_pass *pass, bool written, void **data,
                          error *failure) {
  for (uint32_t i = 0; i < pass->access_count; i++) {
    net_id a = pass->accesses[i].array;
    uint64_t bytes = cpu_array_bytes(&g->plan->arrays.items[a]);
    if (pass->accesses[i].writes != written)
      continue;
    if (!(written ? cuda_upload(g->device, array_address(g, a), data[a], bytes)
                  : cuda_download(g->device, data[a], array_address(g, a), bytes)))
      return fail_with_device_message(g, failure);
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
    error_set(failure, SPAN_NONE, "out of memory");
  else if (!program_wait(g))
    good = fail_with_device_message(g, failure);
  good = good && move_accesses(g, pass, false, data, failure);
  if (good && !routine_run(p, plan_routine_of(p, pass), data, pool_processors(), g->interrupted)) {
    bool stopped = g->interrupted && atomic_load(g->interrupted);
    good = error_set(failure, SPAN_NONE, stopped ? "interrupted" : "out of memory");
  }
  good = good && move_accesses(g, pass, true, data, failure);
  for (size_t a = 0; a < p->arrays.count && data; a++)
    free(data[a]);
  free(data);
  return good;
}

static bool run_stretches(cuda_program *g, error *failure) {
  uint32_t first = 0;
  for (size_t i = 0; i < g->stretch_count; first = g->stretches[i++].routine + 1) {
    const stretch *s = &g->stretches[i];
    uint32_t count = (s->routine == NEVER ? (uint32_t)g->plan->passes.count : s->routine) - first;
    pass_range_begin(g->plan, first, count);
    bool good = !s->graph || cuda_graph_launch(g->device, s->graph);
    pass_range_end(g->plan);
    if (!good)
      return fail_with_device_message(g, failure);
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

// ---- the whole ---------------------------------------------------------------------------------

static cuda_program *allocate_program(cuda_device *d, const plan *p, const cuda_options *o) {
  cuda_program *g = calloc(1, sizeof *g);
  if (!g)
    return NULL;
  *g = (cuda_program){.device = d, .peers = o->peers, .plan = p, .interrupted = o->interrupted};
  g->part_count = o->peers ? cuda_peers_count(o->peers) : 1;
  bool has_kernels = true;
  for (unsigned i = 0; i < g->part_count; i++) {
    g->parts[i].device = o->peers ? cuda_peer(o->peers, i) : d;
    g->parts[i].kernels = calloc(p->passes.count + 1, sizeof *g->parts[i].kernels);
    has_kernels &= g->parts[i].kernels != NULL;
  }
  streams_begin(&g->streams, (uint32_t)p->arrays.count);
  pthread_mutex_init(&g->schedules, NULL);
  cache_open(&g->cache);
  if (o->no_cache)
    g->cache.folder[0] = 0;
  g->source =
      (cuda_code_source){&g->cache, cuda_code_options[o->fuse], cuda_facts_of(d)->capability};
  g->facts = calloc(p->passes.count + 1, sizeof *g->facts);
  g->buffer_of = calloc(p->arrays.count + 1, sizeof *g->buffer_of);
  g->buffers = calloc(p->arrays.count + 1, sizeof *g->buffers);
  g->launches = calloc(p->passes.count + 1, sizeof *g->launches);
  g->own = calloc(p->arrays.count + 1, sizeof *g->own);
  g->stretches = calloc(p->passes.count + 1, sizeof *g->stretches);
  g->permuting = calloc(p->passes.count + 1, sizeof *g->permuting);
  for (size_t i = 0; i < p->passes.count && g->permuting; i++)
    g->permuting[i] = cuda_permuting_new(d, p, &p->passes.items[i]);
  g->routines = calloc(p->passes.count + 1, sizeof *g->routines);
  g->rows = calloc(p->passes.count + 1, sizeof *g->rows);
  if (has_kernels && g->rows && g->routines && g->permuting && g->stretches && g->facts &&
      g->buffer_of && g->buffers && g->launches && g->own)
    return g;
  cuda_program_free(g);
  return NULL;
}

cuda_program *cuda_program_new(cuda_device *d, const plan *p, c_code *code, const cuda_options *o,
                               error *failure) {
  cuda_program *g = allocate_program(d, p, o);
  if (!g)
    return error_set(failure, SPAN_NONE, "out of memory"), NULL;
  for (size_t i = 0; i < p->passes.count; i++) {
    g->facts[i] = code->facts[i];
    code->facts[i].matrix = NULL;  // the program's now
    code->facts[i].one = NULL;
  }
  if (compile_passes(g, o, code, failure) && choose_buffers(g, failure) &&
      allocate_tables(g, failure) && upload_given(g, NET_TABLE, NULL, 0, failure) &&
      upload_roots(g, code->roots, failure) && make_routines(g, failure) &&
      (plan_launches(g) || error_set(failure, SPAN_NONE, "out of memory")))
    return g;
  cuda_program_free(g);
  return NULL;
}

static void free_part(program_part *part) {
  cuda_memory_free(part->device, part->imports);
  for (size_t i = 0; i < part->module_count; i++)
    cuda_module_free(part->device, part->modules[i]);
  free(part->kernels);
}

void cuda_program_free(cuda_program *g) {
  if (!g)
    return;
  if (g->stretches)
    drop_stretches(g);
  for (size_t i = 0; i < g->plan->passes.count && g->permuting; i++)
    cuda_permuting_free(g->permuting[i]);
  free(g->permuting);
  for (size_t i = 0; i < g->buffer_count; i++)
    program_memory_free(g, g->buffers[i].address);
  cuda_memory_free(g->device, g->copied.address);
  for (size_t i = 0; i < g->plan->passes.count && g->routines; i++)
    cuda_routine_free(g->routines[i]);
  for (size_t i = 0; i < g->plan->passes.count && g->rows; i++)
    cuda_rows_free(g->rows[i]);
  for (unsigned i = 0; i < g->part_count; i++)
    free_part(&g->parts[i]);
  for (size_t i = 0; i < g->plan->passes.count && g->facts; i++) {
    free(g->facts[i].matrix);
    free(g->facts[i].one);
  }
  for (size_t i = 0; i < g->plan->passes.count && g->launches; i++)
    free(g->launches[i].arrays);
  streams_end(&g->streams, g->device);
  pthread_mutex_destroy(&g->schedules);
  free(g->launches);
  free(g->own);
  free(g->facts);
  free(g->buffer_of);
  free(g->buffers);
  free(g->stretches);
  free(g->routines);
  free(g->rows);
  free(g);
}

// The program's own arrays, for runs on arrays of the host.
static bool make_own_arrays(cuda_program *g, error *failure) {
  if (g->has_own_arrays)
    return true;
  if (!allocate_buffers(g, failure))
    return false;
  note_addresses(g);
  g->has_own_arrays = place_routines(g, failure);
  return g->has_own_arrays;
}

// Graphs on them.
static bool make_stretches(cuda_program *g, error *failure) {
  if (!make_own_arrays(g, failure) || g->stretch_count > 0)
    return g->stretch_count > 0;
  bool good = record_stretches(g, failure);
  if (!good)
    drop_stretches(g);
  return good;
}

static bool time_runs(cuda_program *g, unsigned runs, double *seconds, error *failure) {
  if (!make_stretches(g, failure))
    return false;
  bool alone = g->stretch_count == 1 && g->stretches[0].routine == NEVER;
  unsigned many = alone ? runs / MANY : 0;
  if (many && !g->many &&
      !(g->many = record_passes(g, 0, (uint32_t)g->plan->passes.count, MANY, failure)))
    return false;
  bool good = cuda_time_begin(g->device);
  for (unsigned i = 0; i < many && good; i++)
    good = cuda_graph_launch(g->device, g->many);
  for (unsigned i = many * MANY; i < runs && good; i++)
    if (!run_stretches(g, failure))
      return false;
  good = good && cuda_time_end(g->device, seconds);
  *seconds /= runs;
  return good || fail_with_device_message(g, failure);
}

bool cuda_program_time(cuda_program *g, unsigned runs, double *seconds, error *failure) {
  pthread_mutex_lock(&g->schedules);
  bool good = time_runs(g, runs, seconds, failure);
  pthread_mutex_unlock(&g->schedules);
  return good;
}

static bool time_pass(cuda_program *g, uint32_t pass, unsigned runs, double *seconds,
                      error *failure) {
  if (!make_stretches(g, failure))
    return false;
  double start = clock_seconds();
  for (unsigned i = 0; i < runs && is_for_host(g, pass); i++, *seconds = clock_seconds() - start)
    if (!run_on_host(g, pass, failure))
      return false;
  if (is_for_host(g, pass))
    return *seconds /= runs, true;
  cuda_graph *graph = record_passes(g, pass, pass + 1, runs, failure);
  bool good = graph && cuda_graph_launch(g->device, graph) && cuda_time_begin(g->device) &&
              cuda_graph_launch(g->device, graph) && cuda_time_end(g->device, seconds);
  if (graph && !good)
    fail_with_device_message(g, failure);
  cuda_graph_free(g->device, graph);
  *seconds /= runs;
  return good;
}

bool cuda_program_time_pass(cuda_program *g, uint32_t pass, unsigned runs, double *seconds,
                            error *failure) {
  pthread_mutex_lock(&g->schedules);
  bool good = time_pass(g, pass, runs, seconds, failure);
  pthread_mutex_unlock(&g->schedules);
  return good;
}

bool cuda_program_time_copy(cuda_program *g, uint64_t bytes, unsigned runs, double *seconds,
                            error *failure) {
  if (g->copied.bytes != bytes) {
    cuda_memory_free(g->device, g->copied.address);
    g->copied = (buffer){.address = cuda_memory_new(g->device, 2 * bytes), .bytes = bytes};
  }
  bool good = g->copied.address && cuda_time_begin(g->device);
  for (unsigned i = 0; i < runs && good; i++)
    good = cuda_copy(g->device, g->copied.address + bytes, g->copied.address, bytes);
  good = good && cuda_time_end(g->device, seconds);
  *seconds /= runs;
  return good || fail_with_device_message(g, failure);
}

static bool download_results(cuda_program *g, array *results, error *failure) {
  for (size_t a = 0; a < g->plan->arrays.count; a++) {
    const net_array *from = &g->plan->arrays.items[a];
    if (from->role != NET_RESULT)
      continue;
    array *to = &results[from->number];
    if (to->data == NULL || array_bytes(to) != cpu_array_bytes(from)) {
      array_destroy(to);
      *to = (array){.data = array_memory(cpu_array_bytes(from))};
      if (!to->data)
        return error_set(failure, SPAN_NONE, "out of memory");
    }
    *to = (array){.type = from->type, .rank = 1, .dims = {from->count}, .data = to->data};
    if (from->count &&
        !cuda_download(g->device, to->data, array_address(g, (net_id)a), cpu_array_bytes(from)))
      return fail_with_device_message(g, failure);
  }
  return true;
}

// A permutation has its schedule. What was recorded with another one is dropped.
static bool prepare_permuting(cuda_program *g, cuda_device *d, cuda_permuting *r,
                              const void *places, error *failure) {
  bool changed = false;
  bool good = cuda_permuting_prepare(r, d, places, &g->source, g->interrupted, &changed, failure);
  if (changed)
    drop_stretches(g);
  return good;
}

static bool prepare_run(cuda_program *g, const array *arguments, size_t count, error *failure) {
  for (size_t i = 0; i < g->plan->passes.count; i++) {
    cuda_permuting *r = g->permuting[i];
    void *places;
    if (r && !(cpu_find_given(&g->plan->arrays.items[cuda_permuting_places(r)], arguments, count,
                              &places, failure) &&
               prepare_permuting(g, g->device, r, places, failure)))
      return false;
  }
  return make_stretches(g, failure);
}

static bool run(cuda_program *g, const array *arguments, size_t count, array *results,
                error *failure) {
  bool good = make_own_arrays(g, failure) && prepare_run(g, arguments, count, failure) &&
              upload_given(g, NET_ARGUMENT, arguments, count, failure) && run_stretches(g, failure);
  if (good && !program_wait(g))
    good = fail_with_device_message(g, failure);
  if (good && download_results(g, results, failure))
    return true;
  for (size_t a = 0; a < g->plan->arrays.count; a++)
    if (g->plan->arrays.items[a].role == NET_RESULT)
      arrays_destroy(&results[g->plan->arrays.items[a].number], 1);
  return false;
}

bool cuda_program_run(cuda_program *g, const array *arguments, size_t count, array *results,
                      error *failure) {
  pthread_mutex_lock(&g->schedules);
  bool good = run(g, arguments, count, results, failure);
  pthread_mutex_unlock(&g->schedules);
  return good;
}

// ---- calls on arrays of the caller -------------------------------------------------------------

// In memory that nobody else has: the device as it is when a call goes to a stream of its own.
static cuda_device call_device(const cuda_program *g, cuda_stream *stream) {
  const cuda_device *d = g->device;
  return (cuda_device){.api = d->api,
                       .facts = d->facts,
                       .ordinal = d->ordinal,
                       .context = d->context,
                       .stream = stream};
}

// The passes that the kernels of pass `number` execute: those of one whose blocks look back, or a routine
// and the pass that would make its keys.
static void find_together(const cuda_program *g, uint32_t number, uint32_t *first, uint32_t *last) {
  const plan_pass *pass = &g->plan->passes.items[number];
  *first = *last = number;
  if (g->facts[number].one)
    *last = g->facts[number].one->last;
  if (pass->keys_from && cuda_routine_makes_keys(g->routines[number]))
    *first = pass->keys_from - 1;
}

layout_pass cuda_program_pass(const cuda_program *g, uint32_t number) {
  uint64_t bytes = g->routines[number] ? cuda_routine_bytes(g->routines[number]) : 0;
  layout_pass out = {g->facts[number].in_place && !g->routines[number], number, bytes};
  for (uint32_t i = 0; i < g->plan->passes.count; i++) {
    uint32_t first, last;
    find_together(g, i, &first, &last);
    if (first == last || number < first || number > last)
      continue;
    out.in_place = false;
    out.first = first < out.first ? first : out.first;
  }
  return out;
}

static bool fail_with_message(const cuda_device *d, error *failure) {
  return error_set(failure, SPAN_NONE, "%s", cuda_message(d));
}

// The array between launches is the stream's.
static bool call_permuting(cuda_device *d, cuda_permuting *r, const cuda_address *addresses) {
  cuda_address between = 0;
  uint64_t bytes = cuda_permuting_between(r);
  if (bytes && !cuda_stream_memory_new(d, bytes, &between))
    return false;
  bool good = cuda_permuting_launch(r, d, addresses, between);
  return (!bytes || cuda_stream_memory_free(d, between)) && good;
}

static bool call_pass(const cuda_program *g, cuda_device *d, uint32_t number,
                      cuda_address *addresses, cuda_address temporaries) {
  if (g->permuting[number])
    return call_permuting(d, g->permuting[number], addresses);
  if (g->routines[number])
    return cuda_routine_call(g->routines[number], d, addresses, temporaries);
  const plan_pass *pass = &g->plan->passes.items[number];
  if (pass->keys_for && cuda_routine_makes_keys(g->routines[pass->keys_for]))
    return true;
  if (plan_routine_of(g->plan, pass))
    return cuda_refuse(d, "pass %u is the host's: this program takes values in its memory alone",
                       (unsigned)number + 1);
  return launch_kernel(g, d, number, addresses);
}

static bool call_passes(const cuda_program *g, cuda_device *d, cuda_address *addresses,
                        cuda_address temporaries) {
  bool good = true;
  for (uint32_t i = 0; i < g->plan->passes.count && good; i++) {
    pass_range_begin(g->plan, i, 1);
    good = call_pass(g, d, i, addresses, temporaries);
    pass_range_end(g->plan);
  }
  return good;
}

static bool call_sequence(cuda_program *g, cuda_device *d, stream_sequence *s,
                          cuda_address *addresses, cuda_address temporaries) {
  bool good = true;
  if (!stream_sequence_holds(&g->streams, s, addresses, temporaries)) {
    cuda_sequence_write(d, s->launches);
    good = call_passes(g, d, addresses, temporaries);
  }
  s->failed = !cuda_sequence_launch(d, s->launches, good);
  return !s->failed;
}

static bool is_sequence(const cuda_program *g) {
  unsigned launches = atomic_load(&g->launches_of_call);
  return launches > 1 && launches <= CUDA_SEQUENCE_MOST && !g->plan->lines;
}

static bool permutes(const cuda_program *g) {
  for (size_t i = 0; i < g->plan->passes.count; i++)
    if (g->permuting[i])
      return true;
  return false;
}

// Permutations by schedules, whose launches change: one by one. The addresses of their places are those of
// the host.
static bool call_with_schedules(cuda_program *g, cuda_device *d, cuda_address *addresses,
                                cuda_address temporaries, error *failure) {
  bool good = true;
  pthread_mutex_lock(&g->schedules);
  for (size_t i = 0; i < g->plan->passes.count && good; i++) {
    cuda_permuting *r = g->permuting[i];
    const void *places = r ? (const void *)(uintptr_t)addresses[cuda_permuting_places(r)] : NULL;
    good = !r || prepare_permuting(g, d, r, places, failure);
  }
  good = good && (call_passes(g, d, addresses, temporaries) ||
                  error_set(failure, SPAN_NONE, "%s", cuda_message(d)));
  pthread_mutex_unlock(&g->schedules);
  cuda_stages_end(d);
  return good;
}

// Several launches are a sequence from the second call on; where there can be none, they are done
// one by one, then and ever after. Profilers see them one by one.
bool cuda_program_call(cuda_program *g, cuda_stream *stream, void **arrays, void *temporaries,
                       stream_sequence *kept, error *failure) {
  cuda_device d = call_device(g, stream);
  const plan *p = g->plan;
  cuda_address *addresses = (cuda_address *)(void *)arrays;
  _Static_assert(sizeof(void *) == sizeof(cuda_address), "addresses of the device are pointers");
  for (size_t a = 0; a < p->arrays.count; a++)
    if (p->arrays.items[a].role == NET_TABLE)
      addresses[a] = array_address(g, (net_id)a);
  if (permutes(g))
    return call_with_schedules(g, &d, addresses, (uintptr_t)temporaries, failure);
  stream_sequence *s = kept ? kept : is_sequence(g) ? streams_take(&g->streams, &d) : NULL;
  bool done = s && call_sequence(g, &d, s, addresses, (uintptr_t)temporaries);
  bool good = done || call_passes(g, &d, addresses, (uintptr_t)temporaries);
  if (s && !done)
    atomic_store(&g->launches_of_call, NEVER);
  else if (!s && good && !atomic_load(&g->launches_of_call))
    atomic_store(&g->launches_of_call, d.launched);
  if (s && !kept)
    streams_give(&g->streams, &d, s);
  return good || fail_with_message(&d, failure);
}

bool cuda_program_take(cuda_program *g, cuda_stream *stream, uint64_t bytes, cuda_address *memory,
                       stream_sequence **kept, error *failure) {
  cuda_device d = call_device(g, stream);
  *kept = bytes <= d.facts.memory_bytes / KEPT_PART && is_sequence(g)
              ? streams_take(&g->streams, &d)
              : NULL;
  if (*kept && (*memory = stream_sequence_memory(*kept, &d, bytes)))
    return true;
  if (*kept)
    streams_give(&g->streams, &d, *kept);
  *kept = NULL;
  return cuda_stream_memory_new(&d, bytes, memory) || fail_with_message(&d, failure);
}

bool cuda_program_give(cuda_program *g, cuda_stream *stream, cuda_address memory,
                       stream_sequence *kept, error *failure) {
  cuda_device d = call_device(g, stream);
  if (!kept)
    return cuda_stream_memory_free(&d, memory) || fail_with_message(&d, failure);
  streams_give(&g->streams, &d, kept);
  return true;
}

bool cuda_program_fetch(const cuda_program *g, cuda_stream *stream, void *to, cuda_address from,
                        uint64_t bytes, error *failure) {
  cuda_device d = call_device(g, stream);
  return cuda_fetch(&d, to, from, bytes) || fail_with_message(&d, failure);
}
