// Kernels for GPUs, run on the host: right results, every access of memory by whole lines, every
// access of scratch without a bank conflict, by count (kernels/cuda_host.h).
#define RANDOM_NET_BITS 9
#include "tests/unit/memory.h"
#include "tests/unit/net_random.h"

#include "kernels/c_emit.h"
#include "runtime/compiler.h"
#include "runtime/cpu.h"
#include "runtime/cuda_program.h"
#include "runtime/nvrtc.h"
#include "runtime/permc.h"
#include "runtime/roots.h"

#include <dlfcn.h>
#include <unistd.h>

typedef struct counts {
  uint64_t lines, least_lines, turns, least_turns, accesses;
} counts;

// ---- a plan, and its code --------------------------------------------------------------------

static const plan *planned(const char *expression, const char *types) {
  permc_context *c = permc_context_new();
  permc_explain_options o = {.target = "gpu", .types = types, .dump = "plan"};
  char *out = NULL;
  const char *wrong = NULL;
  const plan *p = NULL;
  if (CHECK(c && permc_define(c, expression)) && CHECK(permc_explain(c, "-e", NULL, 0, &o, &out)))
    p = plan_read(&memory, out, &wrong);
  CHECK_STR(wrong, NULL);
  if (p)
    CHECK_STR(plan_verify(&memory, p), NULL);
  free(out);
  permc_context_free(c);
  return p;
}

// The kernels with counters, as a library.
static void *library_of(const c_code *code) {
  char source[] = "/tmp/permc-warps-XXXXXX", command[2 * COMPILER_PATH], object[64];
  compiler found;
  text t = {0};
  int file = mkstemp(source);
  if (file < 0 || !compiler_find(&found, command, sizeof command))
    return NULL;
  c_code_file(&t, code, 0, code->pass_count, true);
  bool good = !t.failed && write(file, t.data, t.length) == (ssize_t)t.length;
  close(file);
  text_free(&t);
  snprintf(object, sizeof object, "%s.so", source);
  snprintf(command, sizeof command,
           "'%s' -w -O1 -shared -fPIC -fno-strict-aliasing -ffp-contract=off -DPERMC_COUNT -x c "
           "-o %s %s -lm",
           found.path, object, source);
  good = good && system(command) == 0;
  void *library = good ? dlopen(object, RTLD_NOW | RTLD_LOCAL) : NULL;
  unlink(source);
  unlink(object);
  return library;
}

// ---- running ---------------------------------------------------------------------------------

static void **make_arrays(const plan *p, const evaluation *e) {
  void **arrays = NEW_ARRAY(&memory, void *, p->arrays.count + 1);
  for (size_t i = 0; i < p->arrays.count; i++) {
    const net_array *a = &p->arrays.items[i];
    size_t size = scalar_types[a->type].size;
    arrays[i] = aligned_alloc(256, (a->count * size + 256) / 256 * 256);
    for (uint64_t x = 0; x < a->count && a->role == NET_ARGUMENT; x++)
      memcpy((char *)arrays[i] + x * size, &e->arrays[i][x].bits, size);
  }
  return arrays;
}

static void run_passes(const plan *p, const c_code *code, void *library, void **arrays) {
  size_t count = 0;
  void **roots = roots_make(code->roots, &count, 1);
  permc_imports imports = {NULL, (const void *const *)roots};
  const permc_pass_row *rows = dlsym(library, "permc_passes");
  for (uint32_t i = 0; CHECK(rows != NULL && roots != NULL) && i < p->passes.count; i++) {
    void *scratch = aligned_alloc(256, (rows[i].scratch_bytes + 256) / 256 * 256);
    rows[i].code(arrays, 0, cpu_item_count(p, i), scratch, &imports);
    free(scratch);
  }
  roots_free(roots, count);
}

static uint64_t wrong_elements(const plan *p, const evaluation *e, void **arrays) {
  uint64_t wrong = 0;
  for (size_t i = 0; i < p->net->arrays.count; i++) {
    const net_array *a = &p->net->arrays.items[i];
    size_t size = scalar_types[a->type].size;
    for (uint64_t x = 0; x < a->count && a->role == NET_RESULT; x++)
      wrong += memcmp((char *)arrays[i] + x * size, &e->arrays[i][x].bits, size) != 0;
  }
  return wrong;
}

static void check_counts(const char *expression, const counts *c, bool whole) {
  bool good = CHECK_EQ_U64(c->turns, c->least_turns) && CHECK(c->accesses > 0);
  if (whole)
    good = CHECK_EQ_U64(c->lines, c->least_lines) && good;
  if (!good)
    printf("%s: %" PRIu64 " lines, at least %" PRIu64 "; %" PRIu64 " turns, at least %" PRIu64 "\n",
           expression, c->lines, c->least_lines, c->turns, c->least_turns);
}

// whole: its arrays can be moved by whole lines.
static void check_kernels(const char *expression, const char *types, bool whole) {
  START();
  const plan *p = planned(expression, types);
  c_code code = {0};
  const char *problem = NULL;
  if (!CHECK(p && c_emit(&code, p, &(c_options){.stream_bytes = UINT64_MAX}, &problem)))
    return;
  evaluation *e = net_evaluate(&memory, p->net, 1);
  void *library = library_of(&code), **arrays = make_arrays(p, e);
  if (CHECK(library != NULL)) {
    void (*count_rest)(void);
    *(void **)&count_rest = dlsym(library, "permc_count_rest");
    run_passes(p, &code, library, arrays);
    count_rest();
    check_counts(expression, dlsym(library, "permc_counted"), whole);
    if (!CHECK_EQ_U64(wrong_elements(p, e, arrays), 0))
      printf("%s\n", expression);
    dlclose(library);
  }
  for (size_t i = 0; i < p->arrays.count; i++)
    free(arrays[i]);
  c_code_free(&code);
  arena_free(&memory);
}

static bool no_compiler(void) {
  compiler found;
  char why[256];
  return !compiler_find(&found, why, sizeof why);
}

TEST(permutations) {
  static const char *const maps[] = {"bitrev", "gray", "reverse", "map id",
                                     "bmmc [1, 3, 7, 14, 19, 51, 66, 229, 348, 985, 1303, 3271, "
                                     "5947, 10967, 32537, 51699] 12345"};
  static const char *const types[] = {"[2^16]u32", "[2^16]u64", "[2^16]u16", "[2^16]u8"};
  if (no_compiler())
    SKIP("there is no C compiler");
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
      check_kernels(maps[i], types[k], true);
  check_kernels("transpose", "[2^8][2^8]u32", true);
  check_kernels("map reverse", "[100][2^8]u32", true);
}

TEST(networks) {
  if (no_compiler())
    SKIP("there is no C compiler");
  check_kernels("sort", "[2^14]u32", true);
  check_kernels("map sort", "[6][2^9]i64", true);
  check_kernels("sort", "[2^12]f32", true);
  check_kernels("map sort", "[3][2^10]f64", true);
  check_kernels("balanced_sort", "[2^12]u32", true);
  check_kernels("fwht", "[2^15]f32", true);
  check_kernels("fft", "[2^14]c64", true);
  check_kernels("sort", "[2^12](u32, u32)", true);
  check_kernels("padded maxval sort", "[5000]u32", false);
}

// ---- NVRTC -----------------------------------------------------------------------------------

static void check_compiles(const char *expression, const char *types, const int *architectures) {
  START();
  const plan *p = planned(expression, types);
  c_code code = {0};
  const char *problem = NULL;
  text t = {0};
  if (!CHECK(p && c_emit(&code, p, &(c_options){.stream_bytes = UINT64_MAX}, &problem)))
    return;
  c_code_file(&t, &code, 0, code.pass_count, false);
  text_add(&t, "", 1);
  for (int i = 0; architectures[i]; i++) {
    nvrtc_job job = {.text = t.data,
                     .name = expression,
                     .architecture = architectures[i],
                     .options = cuda_program_options,
                     .option_count = CUDA_PROGRAM_OPTIONS};
    char message[NVRTC_WHY] = "";
    void *cubin = NULL;
    size_t size = 0;
    if (!CHECK(!t.failed && nvrtc_compile(&job, &cubin, &size, message, sizeof message)))
      printf("%s for sm_%d: %s\n", expression, architectures[i], message);
    free(cubin);
  }
  text_free(&t);
  c_code_free(&code);
  arena_free(&memory);
}

TEST(compiled_for_gpus) {
  int major = 0, minor = 0;
  char why[NVRTC_WHY];
  if (!nvrtc_find(why, sizeof why))
    SKIP(why);
  nvrtc_version(&major, &minor);
  bool blackwell = major > 12 || minor >= 8;
  const int architectures[] = {80, 90, blackwell ? 100 : 0, 0};
  check_compiles("bitrev", "[2^16]u8", architectures);
  check_compiles("sort", "[2^12]u32", architectures);
  check_compiles("sort", "[2^10]f32", architectures);
  check_compiles("map sort", "[5][2^6](u8, f64)", architectures);
  check_compiles("fft", "[2^12]c64", architectures);
  check_compiles("fft", "[2^10]c128", architectures);
  check_compiles("scan (+)", "[2^8]i16", architectures);
  check_compiles("map (\\x -> sinpi x + exp (x / 3) + floor x % 2)", "[2^10]f64", architectures);
  check_compiles("map (\\x -> popcount x / 3 + clz x)", "[2^10]i64", architectures);
}

TEST_MAIN()
