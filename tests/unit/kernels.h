// Kernels of a program for the target gpu, compiled for the host with counters (touches.h): what
// they compute, and what their warps ask of memory and of scratch.
//
//   kernels k = {.name = "bitrev"};
//   if (kernels_make(&k, context, "-e", "[2^16]u32")) {    // plan, and its text in a file
//     kernels_compile(&k, 1);                              // any number of them at once
//     kernels_run(&k, arguments, count, &oracle, &found);  // `found` has the shapes of `oracle`
//     kernels_check_counts(&k);
//   }
//   kernels_free(&k);
//
// THE LEAST. An access of scratch by a warp takes one turn at the banks (for words of 8 and 16
// bytes each half or quarter of a warp): always, whatever the program is.
//
// An access of memory by a warp touches no more lines than its bytes fill, if
// - all 32 lanes have it. Blocks of fewer threads, and lanes beyond a limit, ask for less;
// - the plan calls the move coalesced and not direct, and there are whole lines to be moved: all
//   address bits within a line are bits of the index of their own, and whatever else is added to an
//   address is a multiple of a line; and more than few elements are live. (The plan calls rows of 3
//   elements coalesced, too, and an array from its second element on: it asks only that the tile
//   has what there is of lines.)
// Complex numbers whose elements have a condition each go in two halves, real and imaginary parts,
// and each half touches the lines of both: twice the least.
// kernels_counts says how many accesses these conditions leave, so that a test can tell that they
// leave some.
#ifndef PERMC_TESTS_UNIT_KERNELS_H
#define PERMC_TESTS_UNIT_KERNELS_H

#include "core/sanitized.h"
#include "fusion/plan/planning.h"
#include "kernels/emit/emit.h"
#include "kernels/hmm/plan.h"
#include "runtime/compiled/compiler.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/roots.h"
#include "runtime/cuda/code.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/gpu/program.h"
#include "runtime/routines/routine.h"
#include "runtime/system/pool.h"
#include "tests/generator/differ.h"
#include "tests/readers/readers.h"
#include "tests/test.h"

#include <dlfcn.h>
#include <unistd.h>

enum { KERNELS_GUARD = 256, KERNELS_LINE = 128 };

// As in touches.h.
typedef struct kernels_access {
  uint64_t warps, full, lines, least_lines, stages, turns, least_turns;
  uint64_t item, warp, at[32];
  uint32_t kind, bytes, lanes, lane[32], call;
} kernels_access;
enum { KERNELS_LOADS, KERNELS_STORES, KERNELS_GETS, KERNELS_PUTS };

// Sums over the accesses of a pass, or of all passes.
typedef struct kernels_counts {
  uint64_t memory, whole;  // accesses by warps; those by full warps of moves that have whole lines
  uint64_t scratch;
} kernels_counts;

// What a pass asks for, by kind: lines of memory by full warps, as a memory machine counts them, or
// turns at the banks.
typedef struct kernels_asked {
  uint64_t stages[4];
  bool partly[4];  // also by warps that are not full
} kernels_asked;

typedef struct kernels {
  const char *name;   // for messages
  const char *level;  // of optimization; NULL: -O0
  c_options options;  // with a layout, for one
  arena memory;
  const plan *plan;
  c_code code;
  char source[64], object[72];
  size_t bytes;  // of the text
  void *library;
  char **arrays;  // by array of the plan, with guards around
  kernels_counts counts;
  kernels_asked *asked;  // by pass
  char wrong[200];       // the first access that is not at its least, or ""
} kernels;

static jmp_buf kernels_failure;

// ---- a plan, and its text ----------------------------------------------------------------------

static const plan *kernels_plan(arena *memory, permc_context *c, const char *entry,
                                const char *types) {
  permc_explain_options o = {.target = "gpu", .types = types, .dump = "plan"};
  char *out = NULL;
  const char *wrong = NULL;
  const plan *p = NULL;
  if (permc_explain(c, entry, NULL, 0, &o, &out))
    p = plan_read(memory, out, &wrong);
  CHECK_STR(wrong, NULL);
  if (p)
    CHECK_STR(plan_verify(memory, p), NULL);
  free(out);
  return p;
}

static bool kernels_write(kernels *k) {
  text t = {0};
  snprintf(k->source, sizeof k->source, "/tmp/permc-kernels-XXXXXX");
  int file = mkstemp(k->source);
  snprintf(k->object, sizeof k->object, "%s.so", k->source);
  c_code_file(&t, &k->code, 0, k->code.pass_count, true);
  text_string(&t, "PERMC_COUNTERS\n");
  k->bytes = t.length;
  bool good = file >= 0 && !t.failed && write(file, t.data, t.length) == (ssize_t)t.length;
  if (file >= 0)
    close(file);
  text_free(&t);
  return good;
}

// False: the entry cannot be elaborated, and nothing has been checked; or a check has failed.
static bool kernels_make(kernels *k, permc_context *c, const char *entry, const char *types) {
  const char *problem = NULL;
  if (setjmp(kernels_failure))
    abort();
  k->memory = (arena){.failure = &kernels_failure};
  k->options.stream_bytes = UINT64_MAX;
  k->plan = kernels_plan(&k->memory, c, entry, types);
  return k->plan && CHECK(c_emit(&k->code, k->plan, &k->options, &problem)) &&
         CHECK(kernels_write(k));
}

static void kernels_free(kernels *k) {
  if (k->library)
    dlclose(k->library);
  if (*k->source)
    unlink(k->source);
  if (*k->object)
    unlink(k->object);
  c_code_free(&k->code);
  arena_free(&k->memory);
}

// ---- compiling ---------------------------------------------------------------------------------

static bool kernels_no_compiler(void) {
  compiler found;
  return !compiler_find(&found, NULL);
}

static bool kernels_compile_some(void *with, unsigned worker, uint64_t first, uint64_t last) {
  compiler found;
  char command[3 * COMPILER_PATH];
  const char *options[COMPILER_OPTIONS];
  (void)worker;
  if (!compiler_find(&found, NULL))
    return false;
  for (uint64_t i = first; i < last; i++) {
    kernels *k = (kernels *)with + i;
    int used = snprintf(command, sizeof command, "'%s'", found.path);
    size_t count = compiler_options("baseline", false, options);
    for (size_t o = 0; o < count; o++)
      used += snprintf(command + used, sizeof command - (size_t)used, " '%s'", options[o]);
    snprintf(command + used, sizeof command - (size_t)used,
             " %s -shared -I. '-DPERMC_COUNT=\"tests/unit/touches.h\"' -x c -o %s %s -lm",
             k->level ? k->level : "-O0", k->object, k->source);
    if (system(command) == 0)
      k->library = dlopen(k->object, RTLD_NOW | RTLD_LOCAL);
  }
  return true;
}

static void kernels_compile(kernels *all, uint64_t count) {
  pool_run(pool_processors(), count, 1, kernels_compile_some, all, NULL);
}

// ---- what is at its least ----------------------------------------------------------------------

// Whether the move has whole lines at aligned addresses, and whole warps ask for them.
static bool is_whole(const plan *p, const plan_pass *pass, const plan_move *m) {
  const net_stage *s = &p->net->stages.items[pass->stage];
  uint64_t line = KERNELS_LINE / scalar_types[p->arrays.items[m->array].type].size, bits = 0;
  uint64_t others = (uint64_t)m->map.offset;
  for (uint32_t i = 0; i < m->map.loop_count; i++)
    others |= (uint64_t)m->map.strides[i];
  for (uint32_t i = 0; i < m->map.row_count; i++) {
    uint64_t weight = (uint64_t)m->map.rows[i].weight;
    bool within = weight < line && (weight & (weight - 1)) == 0 && !(bits & weight);
    *(within ? &bits : &others) |= weight;
  }
  f2_space lines = line_space(&m->map, s->n, (uint32_t)line);
  return m->coalesced && !m->direct && !plan_are_few(m->live_count) && bits == line - 1 &&
         others % line == 0 && UINT64_C(1) << lines.dimension == line;
}

// How many times the lines that its bytes fill an access of the array may touch; 0: any number, as
// not all of the pass's moves of that kind and array are whole.
static uint64_t lines_allowed(const plan *p, const plan_pass *pass, uint32_t kind, net_id id) {
  bool loads = kind == KERNELS_LOADS, whole = true, wide = true;
  for (uint32_t i = 0; i < (loads ? pass->load_count : pass->store_count); i++) {
    const plan_move *m = loads ? &pass->loads[i] : &pass->stores[i];
    if (m->array != id)
      continue;
    whole = whole && is_whole(p, pass, m);
    wide = wide && plan_move_is_wide(m);
  }
  bool complex = scalar_types[p->arrays.items[id].type].kind == KIND_COMPLEX;
  return whole ? complex && !wide ? 2 : 1 : 0;
}

static uint64_t array_size(const plan *p, net_id id) {
  const net_array *a = &p->arrays.items[id];
  return a->count * scalar_types[a->type].size;
}

// NET_NONE: it lies in none of them.
static net_id array_at(const kernels *k, uint64_t address) {
  for (net_id i = 0; i < k->plan->arrays.count; i++)
    if (address >= (uint64_t)(uintptr_t)k->arrays[i] &&
        address - (uint64_t)(uintptr_t)k->arrays[i] < array_size(k->plan, i))
      return i;
  return NET_NONE;
}

static void note_wrong(kernels *k, uint32_t pass, const kernels_access *a, net_id id) {
  static const char *const kinds[] = {"load", "store", "get", "put"};
  if (*k->wrong == 0)
    snprintf(k->wrong, sizeof k->wrong,
             "pass %u, %s of a%d, %u bytes: %" PRIu64 " lines, at least %" PRIu64 "; %" PRIu64
             " turns, at least %" PRIu64,
             pass, kinds[a->kind], (int)id, a->bytes, a->lines, a->least_lines, a->turns,
             a->least_turns);
}

static void add_access(kernels *k, uint32_t pass, const kernels_access *a) {
  kernels_counts *c = &k->counts;
  bool scratch = a->kind >= KERNELS_GETS;
  k->asked[pass].stages[a->kind] += scratch ? a->turns : a->stages;
  k->asked[pass].partly[a->kind] |= !scratch && a->full != a->warps;
  if (scratch) {
    c->scratch += a->warps;
    if (a->turns != a->least_turns)
      note_wrong(k, pass, a, NET_NONE);
    return;
  }
  net_id id = array_at(k, a->at[0]);
  CHECK(id != NET_NONE);
  c->memory += a->warps;
  if (id == NET_NONE)
    return;
  uint64_t allowed = lines_allowed(k->plan, &k->plan->passes.items[pass], a->kind, id);
  c->whole += allowed ? a->full : 0;
  if (allowed && a->lines > allowed * a->least_lines)  // fewer: lanes that load the same
    note_wrong(k, pass, a, id);
}

// The accesses since the last call are this pass's.
static void add_accesses(kernels *k, uint32_t pass) {
  void (*count_rest)(void);
  *(void **)&count_rest = dlsym(k->library, "permc_count_rest");
  kernels_access *accesses = dlsym(k->library, "permc_accesses");
  const uint32_t *count = dlsym(k->library, "permc_access_count");
  count_rest();
  for (uint32_t i = 0; i < *count; i++) {
    if (accesses[i].warps > 0)
      add_access(k, pass, &accesses[i]);
    accesses[i] = (kernels_access){0};
  }
}

// ---- running -----------------------------------------------------------------------------------

// Arrays are filled with what no result should have, and have guards at both ends.
static void make_arrays(kernels *k, permc_value *const *arguments, size_t count) {
  const plan *p = k->plan;
  k->arrays = NEW_ARRAY(&k->memory, char *, p->arrays.count + 1);
  for (net_id i = 0; i < p->arrays.count; i++) {
    size_t room = (array_size(p, i) + 3 * KERNELS_GUARD) / KERNELS_GUARD * KERNELS_GUARD;
    char *all = aligned_alloc(KERNELS_GUARD, room);
    memset(all, 0xa5, room);
    k->arrays[i] = all + KERNELS_GUARD;
  }
  uint32_t number = 0;
  for (size_t v = 0; v < count; v++)
    for (size_t part = 0; part < permc_value_components(arguments[v]); part++, number++)
      for (net_id i = 0; i < p->arrays.count; i++)
        if (p->arrays.items[i].role == NET_ARGUMENT && p->arrays.items[i].number == number)
          memcpy(k->arrays[i], permc_value_data(arguments[v], part), array_size(p, i));
}

static bool free_arrays(kernels *k) {
  uint64_t damaged = 0;
  for (net_id i = 0; i < k->plan->arrays.count; i++) {
    const char *before = k->arrays[i] - KERNELS_GUARD,
               *behind = k->arrays[i] + array_size(k->plan, i);
    for (int x = 0; x < KERNELS_GUARD; x++)
      damaged += before[x] != (char)0xa5 || behind[x] != (char)0xa5;
    free(k->arrays[i] - KERNELS_GUARD);
  }
  return CHECK_EQ_U64(damaged, 0);
}

static void run_passes(kernels *k) {
  size_t count = 0;
  k->asked = NEW_ARRAY(&k->memory, kernels_asked, k->plan->passes.count + 1);
  void **roots = roots_make(k->code.roots, &count, 1);
  permc_imports imports = {NULL, (const void *const *)roots};
  const permc_pass_row *rows = dlsym(k->library, "permc_passes");
  for (uint32_t i = 0; CHECK(rows && roots) && i < k->plan->passes.count; i++) {
    size_t room = (rows[i].scratch_bytes + KERNELS_GUARD) / KERNELS_GUARD * KERNELS_GUARD;
    char *scratch = aligned_alloc(KERNELS_GUARD, room);
    memset(scratch, 0x5a, room);
    if (plan_routine_of(k->plan, &k->plan->passes.items[i]))
      CHECK(routine_run(k->plan, plan_routine_of(k->plan, &k->plan->passes.items[i]),
                        (void *const *)k->arrays, 1, NULL));
    else
      rows[i].code((void *const *)k->arrays, 0, cpu_item_count(k->plan, i), scratch, &imports);
    free(scratch);
    add_accesses(k, i);
  }
  roots_free(roots, count);
}

// Component `number` of the results, in the shape of `like`.
static permc_value *take_result(const kernels *k, uint32_t number, const permc_value *like,
                                size_t component) {
  for (net_id i = 0; i < k->plan->arrays.count; i++) {
    const net_array *a = &k->plan->arrays.items[i];
    const char *name = permc_value_type(like, component);
    size_t size = scalar_types[scalar_named(name, strlen(name))].size;
    if (a->role == NET_RESULT && a->number == number &&  // of pairs, perhaps, of what like's has
        CHECK_EQ_U64(array_size(k->plan, i), component_size(like, component) * size))
      return permc_value_new(name, permc_value_rank(like, component),
                             permc_value_dims(like, component), k->arrays[i]);
  }
  return NULL;
}

static result take_results(const kernels *k, const result *like) {
  result r = {calloc(like->count + 1, sizeof *r.values), like->count, NULL};
  uint32_t number = 0;
  for (size_t v = 0; v < like->count; v++) {
    permc_value *parts[LEAVES];
    size_t count = permc_value_components(like->values[v]);
    bool all = true;
    for (size_t i = 0; i < count; i++)
      all = CHECK(parts[i] = take_result(k, number++, like->values[v], i)) && all;
    if (all)
      r.values[v] = count == 1 ? parts[0] : permc_value_tuple(parts, count);
  }
  return r;
}

// False: there is no library. The results are the caller's (free_result).
static bool kernels_run(kernels *k, permc_value *const *arguments, size_t count, const result *like,
                        result *found) {
  if (!CHECK(k->library != NULL)) {
    printf("%s cannot be compiled\n", k->name);
    return false;
  }
  make_arrays(k, arguments, count);
  run_passes(k);
  *found = take_results(k, like);
  return free_arrays(k);
}

// To the bit, but for those of NaN.
static inline bool kernels_equal(const permc_value *a, const permc_value *b, size_t component) {
  scalar_type type = 0;
  while (strcmp(scalar_types[type].name, permc_value_type(a, component)) != 0)
    type++;
  const shape element = {.type = type, .origin = ORIGIN_COMPUTED};
  const char *x = permc_value_data(a, component), *y = permc_value_data(b, component);
  size_t size = scalar_types[type].size;
  for (uint64_t i = 0; i < component_size(a, component); i++)
    if (!equal_elements(x + i * size, y + i * size, &element))
      return false;
  return true;
}

static inline bool kernels_check_counts(const kernels *k) {
  if (CHECK_STR(*k->wrong ? k->wrong : NULL, NULL))
    return true;
  printf("%s\n", k->name);
  return false;
}

// ---- the memory machines -----------------------------------------------------------------------

// An HMM counts the same plan (hmm/plan.h): of each pass and kind of access as many stages at its
// shared memories as there were turns at the banks, and at its global memory as there were lines.
// (An access of several words is several requests, each of the lanes that have 128 bytes together,
// and two of them may be for one line. Lines of warps that are not full are not counted here, and a
// machine takes the places of gathers and scatters to be the worst. What blocks that look back publish
// is not counted here.)
static inline void kernels_check_hmm(const kernels *k) {
  hmm_machine m = {HMM_KIND_HMM, 4, 32, 100, 1, 0, false};
  bool good = true;
  for (uint32_t i = 0; i < k->plan->passes.count; i++) {
    const c_pass_facts *f = &k->code.facts[i];
    if (plan_routine_of(k->plan, &k->plan->passes.items[i]) || f->threads == 0)
      continue;
    arena scratch = {.failure = &kernels_failure};
    hmm_counts c = {0};
    CHECK_STR(hmm_plan_run(&scratch, &m, k->plan, i, &k->options, &c), NULL);
    for (hmm_op op = 0; op < HMM_ACCESSES; op++)  // as kinds are numbered
      good = (k->asked[i].partly[op] || k->plan->passes.items[i].access_count > 0 ||
                      (f->one && !hmm_is_shared(op))
                  ? CHECK(c.stages[op] >= k->asked[i].stages[op])
                  : CHECK_EQ_U64(c.stages[op], k->asked[i].stages[op])) &&
             good;
    arena_free(&scratch);
  }
  if (!good)
    printf("%s on an HMM\n", k->name);
}

// ---- NVRTC -------------------------------------------------------------------------------------

// NULL, or why NVRTC is not to be asked here. (With sanitizers it takes minutes, and none of what
// they see is permc's.)
static inline const char *kernels_no_nvrtc(char *why, size_t size) {
#if SANITIZED
  snprintf(why, size, "NVRTC has no part in what sanitizers look for");
  return why;
#else
  return nvrtc_find(why, size) ? NULL : why;
#endif
}

enum { KERNELS_ARCHITECTURES = 3 };
static const uint32_t kernels_architectures[KERNELS_ARCHITECTURES] = {80, 90, 100};

// sm_100 is known since CUDA 12.8.
static inline uint32_t kernels_architecture_count(void) {
  int major = 0, minor = 0;
  nvrtc_version(&major, &minor);
  return major > 12 || minor >= 8 ? 3 : 2;
}

// What NVRTC is given, to be freed.
static inline char *kernels_gpu_text(const kernels *k) {
  text t = {0};
  c_code_file(&t, &k->code, 0, k->code.pass_count, false);
  return t.data;
}

// With the options of runtime/gpu/program.c. cubin NULL: message says why.
typedef struct kernels_job {
  const char *text;
  int architecture;
  void *cubin;
  size_t size;
  char message[NVRTC_WHY];
} kernels_job;

static bool kernels_compile_jobs(void *with, unsigned worker, uint64_t first, uint64_t last) {
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    kernels_job *j = (kernels_job *)with + i;
    nvrtc_job of = {j->text, "kernels.cu", j->architecture, cuda_code_options[false],
                    CUDA_CODE_OPTIONS};
    if (!nvrtc_compile(&of, &j->cubin, &j->size, j->message, sizeof j->message))
      j->cubin = NULL;
  }
  return true;
}

static inline void kernels_compile_for_gpus(kernels_job *jobs, uint64_t count) {
  pool_run(pool_processors(), count, 1, kernels_compile_jobs, jobs, NULL);
}

#endif
