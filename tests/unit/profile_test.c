// What profilers are told: ranges of NVTX around launches, and the names of functions. The driver
// is fake_cuda.c, the compiler of its kernels fake_nvrtc.c, the profiler fake_nvtx.c.
#include "tests/unit/api.h"

#include "runtime/compiled/compiler.h"
#include "runtime/cuda/device.h"
#include "tests/unit/fake_driver.h"

enum { COUNT = 1000 };

static void add_one(const fake_cuda_launch *l) { fake_add_one(l, COUNT); }

static char *ranges;  // what the profiler was told

static void enter(void) {
  static char place[512];
  const char *folder = getenv("PERMC_TMP");
  if (!ranges) {
    snprintf(place, sizeof place, "%s/profile-XXXXXX", folder ? folder : "/tmp");
    REQUIRE(mkdtemp(place) != NULL && fake_driver_load());
    setenv("PERMC_NVRTC", FAKE_NVRTC, 1);
    setenv("FAKE_NVRTC_CUBIN", FAKE_CUDA_MODULE, 1);
    setenv("PERMC_CACHE", place, 1);
    setenv("NVTX_INJECTION64_PATH", FAKE_NVTX, 1);
    void *profiler = dlopen(FAKE_NVTX, RTLD_NOW);
    REQUIRE(profiler && (ranges = dlsym(profiler, "fake_nvtx_ranges")));
    fake.define("permc_pass_0_test_2", 4, add_one);
  }
  fake.set("");
  ranges[0] = 0;
}

static const char program[] = "main : [m]u32 -> [m]u32\nmain = map (+ 1)\n";

TEST(ranges_on_a_gpu) {
  enter();
  uint32_t values[COUNT] = {41};
  permc_context *c = load_text(program);
  permc_value *x = value_1("u32", COUNT, values), **results = NULL;
  size_t count = 0;
  REQUIRE(permc_run(c, "main", "cuda", &x, 1, &results, &count));
  CHECK_EQ_U64(((const uint32_t *)permc_value_data(results[0], 0))[0], 42);
  CHECK_STR(ranges, "permc_pass_0_test_2{}");

  // A call on a stream of the caller.
  char why[CUDA_WHY];
  permc_compiled *p = permc_compile(c, "main", "cuda", &x, 1);
  cuda_device *d = cuda_open(0, why, sizeof why);
  REQUIRE(p && d);
  uint64_t dims[1] = {COUNT};
  permc_value *at[2];
  for (int i = 0; i < 2; i++) {
    permc_memory m = {.type = "u32", .rank = 1, .dims = dims, .device = 0};
    m.data = (void *)(uintptr_t)cuda_memory_new(d, 4 * COUNT);
    REQUIRE((at[i] = permc_value_borrow(&m, NULL)) != NULL);
  }
  ranges[0] = 0;
  permc_call_options o = {.stream = d->own};
  for (int i = 0; i < 2; i++)
    CHECK_EQ_U64(permc_call(p, &at[0], 1, &at[1], 1, &o, &call_error), PERMC_OK);
  CHECK_STR(ranges, "permc_pass_0_test_2{}permc_pass_0_test_2{}");
  CHECK(cuda_wait(d, NULL));
  for (int i = 0; i < 2; i++) {
    cuda_memory_free(d, (uintptr_t)permc_value_data(at[i], 0));
    permc_value_free(at[i]);
  }
  permc_values_free(results, count);
  permc_value_free(x);
  permc_compiled_free(p);
  cuda_close(d);
  permc_context_free(c);
  fake_driver_check();
}

// A map, and a sort, which is a routine: in a run, and in a call.
TEST(ranges_on_processors) {
  static const char *const backends[] = {"portable", "cpu"};
  uint32_t values[COUNT] = {41};
  for (size_t b = 0; b < sizeof backends / sizeof *backends; b++) {
    enter();
    permc_context *c = load_text("main : [m]u32 -> [m]u32\nmain xs =\n  sort_on (\\x -> x / 2) "
                                 "(map (+ 1) xs)\n");
    permc_value *x = value_1("u32", COUNT, values), **results = NULL;
    size_t count = 0;
    CHECK(permc_run(c, "main", backends[b], &x, 1, &results, &count));
    CHECK_CONTAINS(ranges, "permc_pass_0_test_3{}permc_pass_1");
    char run[512];
    snprintf(run, sizeof run, "%s", ranges);
    ranges[0] = 0;
    permc_compiled *p = permc_compile(c, "main", backends[b], &x, 1);
    REQUIRE(p != NULL && results != NULL);
    CHECK_EQ_U64(permc_call(p, &x, 1, results, 1, NULL, &call_error), PERMC_OK);
    CHECK_STR(ranges, run);
    permc_values_free(results, count);
    permc_value_free(x);
    permc_compiled_free(p);
    permc_context_free(c);
  }
}

// Whether a file has these bytes.
static bool holds(const char *path, const char *word) {
  FILE *f = fopen(path, "rb");
  size_t size = f && !fseek(f, 0, SEEK_END) ? (size_t)ftell(f) : 0;
  char *bytes = malloc(size + 1);
  if (f)
    rewind(f);
  bool found = f && bytes && fread(bytes, 1, size, f) == size &&
               memmem(bytes, size, word, strlen(word)) != NULL;
  if (f)
    fclose(f);
  free(bytes);
  return found;
}

// perf and gdb read the names of functions in the file that the code is loaded from, which stays.
TEST(names_of_compiled_functions) {
  enter();
  compiler found;
  error why = {0};
  if (!compiler_find(&found, &why))
    SKIP("there is no C compiler");
  permc_context *c = load_text("main : [m]u32 -> [m]u32\n"
                               "main xs =\n  let ys = reverse xs in\n    map (\\y -> y * y) ys\n");
  permc_compiled *p = permc_compile_types(c, "main", "cpu", "[4]u32");
  char line[8192], path[4096];
  bool named = false;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (p && maps && fgets(line, sizeof line, maps))
    named = named || (sscanf(line, "%*s %*s %*s %*s %*s %4095[^\n]", path) == 1 &&
                      strstr(path, getenv("PERMC_CACHE")) && holds(path, "permc_pass_0_test_4"));
  if (maps)
    fclose(maps);
  CHECK(named);
  permc_compiled_free(p);
  permc_context_free(c);
}

TEST_MAIN()
