// Several GPUs that work on the same arrays (runtime/cuda/peers.h), and programs on them, without a
// GPU:
// the driver is fake_cuda.c, the compiler fake_nvrtc.c.
#include "tests/unit/api.h"

#include "runtime/cuda/device.h"
#include "runtime/cuda/peers.h"
#include "runtime/values/value.h"
#include "tests/unit/fake_driver.h"

#include <unistd.h>

// ---- a program: map (+ 1) on 2^20 elements ------------------------------------------------------

enum { COUNT = 1 << 20, MOST_LAUNCHES = 64 };
static struct { uint64_t first, blocks; } launches[MOST_LAUNCHES];
static size_t launch_count;
static uint64_t all_blocks;  // of the pass, when one device executes it; 0: not known yet

static void add_one(const fake_cuda_launch *l) {
  const uint32_t *in = (const uint32_t *)(uintptr_t)l->parameters[1];
  uint32_t *out = (uint32_t *)(uintptr_t)l->parameters[2];
  uint64_t first = l->parameters[0], blocks = l->blocks[0];
  if (launch_count < MOST_LAUNCHES) {
    launches[launch_count].first = first;
    launches[launch_count++].blocks = blocks;
  }
  uint64_t size = COUNT / (all_blocks ? all_blocks : blocks);
  for (uint64_t i = first * size; i < (first + blocks) * size; i++)
    out[i] = in[i] + 1;
}

static size_t barriers;  // a launch of each GPU
static void note_barrier(const fake_cuda_launch *l) {
  (void)l;
  barriers++;
}

static bool run_on(const int32_t *devices, size_t count, char *message, size_t size);

static void enter(const char *settings) {
  static char place[512], message[2000];
  if (fake_driver_load()) {
    const char *folder = getenv("PERMC_TMP");
    snprintf(place, sizeof place, "%s/peers-XXXXXX", folder ? folder : "/tmp");
    REQUIRE(mkdtemp(place) != NULL);
    setenv("PERMC_NVRTC", FAKE_NVRTC, 1);
    setenv("FAKE_NVRTC_CUBIN", FAKE_CUDA_MODULE, 1);
    setenv("PERMC_CACHE", place, 1);
    fake.define("permc_pass_0", 4, add_one);
    fake.define("permc_pass_barrier", 5, note_barrier);
    fake.set("devices=1");
    REQUIRE(run_on((const int32_t[]){0}, 1, message, sizeof message) && launch_count == 1);
    all_blocks = launches[0].blocks;
  }
  fake.set(settings);
  launch_count = 0;
  barriers = 0;
}

static bool run_on(const int32_t *devices, size_t count, char *message, size_t size) {
  static uint32_t values[COUNT], expected[COUNT];
  permc_context *c = load_text("main : [m]u32 -> [m]u32\nmain = map (+ 1)\n");
  permc_value *argument, **results = NULL;
  size_t results_count = 0;
  for (uint32_t i = 0; i < COUNT; i++)
    expected[i] = (values[i] = 3 * i) + 1;
  argument = value_1("u32", COUNT, values);
  bool good = permc_use_devices(c, devices, count) &&
              permc_run(c, "main", "cuda", &argument, 1, &results, &results_count);
  if (good && CHECK_EQ_U64(results_count, 1))
    check_1(results[0], 0, "u32", COUNT, expected);
  snprintf(message, size, "%s", permc_message(c));
  permc_values_free(results, results_count);
  permc_value_free(argument);
  permc_context_free(c);
  return good;
}

// Each executes its part of the blocks, wherever they are.
TEST(programs) {
  static const struct {
    size_t count, barriers;
    int32_t devices[16];
  } rows[] = {{1, 0, {0}},
              {2, 0, {0, 1}},
              {4, 0, {2, 0, 3, 1}},
              {4, 0, {1, 1, 1, 1}},
              {16, 0, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}}};
  char message[2000];
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    enter("devices=4");
    CHECK(run_on(rows[k].devices, rows[k].count, message, sizeof message));
    CHECK_STR(message, "");
    fake_driver_check();
    uint64_t blocks = 0;
    CHECK_EQ_U64(launch_count, rows[k].count);
    CHECK_EQ_U64(barriers, rows[k].barriers);
    for (size_t i = 0; i < launch_count; blocks += launches[i++].blocks)
      CHECK_EQ_U64(launches[i].first, blocks);
    CHECK_EQ_U64(blocks, all_blocks);
  }
}

// ---- a sort -------------------------------------------------------------------------------------

enum { KEYS = 1 << 23 };
static uint64_t counted[64];  // addresses of the keys whose digits are counted
static size_t counted_count;

static void note_keys(const fake_cuda_launch *l) {
  if (counted_count < 64)
    counted[counted_count++] = l->parameters[1];
}

static uint64_t merged[64];  // blocks of merges, by launch
static size_t merged_count;

static void note_blocks(const fake_cuda_launch *l) {
  if (merged_count < 64)
    merged[merged_count++] = l->blocks[0];
}

// Each sorts its slab; then they merge pairs of slabs, and the pair of these: each a part of the
// tiles.
TEST(sorts) {
  static uint32_t keys[KEYS];
  enter("devices=4");
  fake.define("permc_pass_count", 2, note_keys);
  fake.define("permc_pass_digit", 1, NULL);
  fake.define("permc_pass_cuts", 1, NULL);
  fake.define("permc_pass_merge", 1, note_blocks);
  permc_context *c = load_text("main : [m]u32 -> [m]u32\nmain = sort\n");
  permc_value *argument = value_1("u32", KEYS, keys), **results = NULL;
  size_t result_count = 0;
  CHECK(permc_use_devices(c, (const int32_t[]){0, 1, 2, 3}, 4) &&
        permc_run(c, "main", "cuda", &argument, 1, &results, &result_count));
  CHECK_STR(permc_message(c), "");
  CHECK_EQ_U64(counted_count, 4);
  for (size_t i = 0; i < counted_count; i++)
    CHECK_EQ_U64(counted[i] - counted[0], i * sizeof(uint32_t) * KEYS / 4);
  CHECK_EQ_U64(merged_count, 2 * 4);
  for (size_t i = 0; i < merged_count; i++)
    CHECK(merged[i] >= merged[0] - 1 && merged[i] <= merged[0] + 1);
  permc_values_free(results, result_count);
  permc_value_free(argument);
  permc_context_free(c);
  fake_driver_check();
}

// ---- passes that overlap ------------------------------------------------------------------------

// A bit reversal of so many elements that its second pass begins while the first still waits for
// links: by kernels that are executed. Returns the launches.
static size_t launches_of_reversal(const char *settings) {
  enum { BITS = 25, ELEMENTS = 1 << BITS };
  static char folder[600];
  enter(settings);
  snprintf(folder, sizeof folder, "%s", getenv("PERMC_CACHE"));
  setenv("FAKE_NVRTC_HOST", folder, 1);
  unsetenv("FAKE_NVRTC_CUBIN");
  permc_context *c = load_expression("bitrev");
  permc_value **arguments = NULL, **results = NULL;
  size_t count = 0, result_count = 0, wrong = 0;
  CHECK(permc_read_random(c, "-e", "[2^25]u32", 1, &arguments, &count));
  CHECK(permc_use_devices(c, (const int32_t[]){0, 1}, 2) &&
        permc_run(c, "-e", "cuda", arguments, count, &results, &result_count));
  CHECK_STR(permc_message(c), "");
  const uint32_t *in = permc_value_data(arguments[0], 0);
  const uint32_t *out = results ? permc_value_data(results[0], 0) : in;
  for (uint32_t i = 0, reversed = 0; i < ELEMENTS; i++) {
    wrong += out[reversed] != in[i];
    uint32_t bit = ELEMENTS / 2;  // of a number that is counted from its highest bit down
    while (reversed & bit)
      reversed ^= bit, bit /= 2;
    reversed |= bit;
  }
  CHECK_EQ_U64(wrong, 0);
  size_t launched = fake.calls("cuLaunchKernelEx");
  permc_values_free(arguments, count);
  permc_values_free(results, result_count);
  permc_context_free(c);
  fake_driver_check();
  unsetenv("FAKE_NVRTC_HOST");
  setenv("FAKE_NVRTC_CUBIN", FAKE_CUDA_MODULE, 1);
  return launched;
}

// Without sides, which is no error, the passes come one after the other.
TEST(turns) {
  enum { GPUS = 2, TURNS = 2, IN_TURNS = GPUS * (2 * TURNS + TURNS), APART = GPUS * (2 + 1) };
  char settings[100];
  if (system("command -v cc >/dev/null") != 0)
    SKIP("no C compiler");
  if (slower() > 1 && !test_all())
    SKIP("an array of 128 MiB, five times, is for a release");
  // Sides that there are not, and sides on which nothing is recorded: the first GPU's fork is the
  // first wait. A run takes 6 s: of these, some.
  static const char *const without[] = {"fail=cuDevSmResourceSplitByCount at=2 status=801",
                                        "fail=cuStreamWaitEvent at=3 status=900",
                                        "fail=cuGreenCtxStreamCreate at=2 status=801"};
  CHECK_EQ_U64(launches_of_reversal("devices=2"), IN_TURNS);
  for (size_t i = 0; i < sizeof without / sizeof *without; i += test_step(3)) {
    snprintf(settings, sizeof settings, "devices=2 %s", without[i]);
    CHECK_EQ_U64(launches_of_reversal(settings), APART);
  }
  setenv("PERMC_BARRIER", "events", 1);
  CHECK_EQ_U64(launches_of_reversal("devices=2"), GPUS * 2);
  unsetenv("PERMC_BARRIER");
}

// Where a GPU fails, the words of each are filled, so that none waits for it.
TEST(barrier_of_gpus_that_fail) {
  char message[2000];
  size_t clears[2];
  for (int failing = 0; failing < 2; failing++) {
    enter(failing ? "devices=2 fault=700" : "devices=2");
    CHECK_EQ_U64(run_on((const int32_t[]){0, 1}, 2, message, sizeof message), !failing);
    clears[failing] = fake.calls("cuMemsetD8Async");
  }
  CHECK_EQ_U64(clears[1] - clears[0], 2);
}

static void check_refused(const char *settings, const int32_t *devices, size_t count,
                          const char *expected) {
  char message[2000];
  enter(settings);
  CHECK(!run_on(devices, count, message, sizeof message));
  CHECK_CONTAINS(message, expected);
  CHECK_EQ_U64(fake.left(), 0);
}

TEST(devices_that_do_not_do) {
  const int32_t some[] = {0, 1, 2, 3};
  check_refused("devices=2", some, 4, "there is no CUDA device 2; this machine has 2");
  check_refused("devices=4", some, 3, "must be 2, 4, 8 or 16, a power of two, not 3");
  check_refused("devices=4 apart=1", some, 2, "GPU 0: the Fake GPU cannot map memory");
  check_refused("devices=4 reach=0", some, 2,
                "GPU 1: it and GPU 0 do not reach each other's memory");
  check_refused("devices=2 memory=7", some, 2, "GPU 1: cuMemCreate of 2097152 bytes");
  check_refused("devices=2 fault=700", some, 2, "cuStreamQuery of all that was launched");
}

static void check_failing(const char *symbol, const int32_t *devices, size_t count) {
  char message[2000], settings[100];
  size_t calls =
      (enter("devices=2"), run_on(devices, count, message, sizeof message), fake.calls(symbol));
  CHECK(calls > 0);
  for (size_t at = 1; at <= calls; at += test_step(2)) {
    snprintf(settings, sizeof settings, "devices=2 fail=%s at=%zu status=999", symbol, at);
    enter(settings);
    if (!CHECK(!run_on(devices, count, message, sizeof message)))
      printf("%s\n", settings);
    CHECK_CONTAINS(message, "error 999");
    CHECK_EQ_U64(fake.left(), 0);
    CHECK_STR(fake.misuse(), "");
  }
}

// The message begins with the GPU, or is of one that is not open yet.
TEST(failing_calls) {
  static const char *const called[] = {"cuDeviceCanAccessPeer",
                                       "cuMemGetAllocationGranularity",
                                       "cuMemCreate",
                                       "cuMemAddressReserve",
                                       "cuMemMap",
                                       "cuMemSetAccess",
                                       "cuStreamWaitEvent",
                                       "cuEventRecord",
                                       "cuLaunchKernelEx",
                                       "cuStreamQuery",
                                       "cuDevicePrimaryCtxRetain"};
  for (size_t k = 0; k < sizeof called / sizeof *called; k++) {
    check_failing(called[k], (const int32_t[]){0, 1, 1, 0}, 4);
    check_failing(called[k], (const int32_t[]){0, 1}, 2);
  }
}

// ---- memory -------------------------------------------------------------------------------------

// An array is one range for all: what one peer writes, another reads, also across slabs.
TEST(memory) {
  static unsigned char from[7 << 20], to[7 << 20];
  char why[CUDA_WHY];
  enter("devices=2");
  cuda_peers *p = cuda_peers_open((const int[]){0, 1, 0, 1}, 4, why, sizeof why);
  REQUIRE(p != NULL);
  for (size_t i = 0; i < sizeof from; i++)
    from[i] = (unsigned char)(i * 7 + (i >> 11));
  uint64_t left = cuda_peers_memory_left(p);
  cuda_address a = cuda_peers_memory_new(p, sizeof from), b = cuda_peers_memory_new(p, 0);
  REQUIRE(a && b && a != b);
  CHECK_EQ_U64(fake.calls("cuMemCreate"), 4 + 1);
  CHECK(cuda_peers_memory_left(p) < left);
  for (unsigned i = 0; i < 4; i++) {
    cuda_device *d = cuda_peer(p, i), *e = cuda_peer(p, (i + 1) % 4);
    CHECK(cuda_upload(d, a + 5 * i, from, sizeof from - 5 * i) && cuda_peers_wait(p, NULL));
    memset(to, 0, sizeof to);
    CHECK(cuda_download(e, to, a + 5 * i, sizeof to - 5 * i));
    CHECK(memcmp(from, to, sizeof to - 5 * i) == 0);
  }
  cuda_peers_memory_free(p, 0);
  cuda_peers_memory_free(p, a);
  CHECK(!cuda_peers_memory_new(p, (uint64_t)1 << 31));
  CHECK_CONTAINS(cuda_message(cuda_peer(p, 0)), "GPU 1: cuMemCreate of 536870912 bytes");
  cuda_peers_close(p);
  fake_driver_check();
}

TEST_MAIN()
