// CUDA devices, on a driver that needs no GPU (fake_cuda.h): drivers and devices that are missing
// or old, memory, copies, kernels, recordings, waiting; and each call that can fail, failing.
#include "tests/test.h"

#include "runtime/cuda/device.h"
#include "tests/unit/fake_driver.h"
#include "tests/unit/library.h"

#include <pthread.h>

// ---- drivers, until there is one that is good: it stays for the process ------------------------

static void check_no_driver(const char *path, const char *settings, const char *expected) {
  char why[CUDA_WHY] = "";
  setenv("PERMC_CUDA_DRIVER", path, 1);
  setenv("FAKE_CUDA", settings, 1);
  CHECK(cuda_open(0, why, sizeof why) == NULL);
  CHECK_CONTAINS(why, expected);
  CHECK(strchr(why, '\n') == NULL);
  why[0] = 0;
  CHECK(cuda_count(why, sizeof why) == 0);
  CHECK_CONTAINS(why, expected);
  unsetenv("FAKE_CUDA");
}

TEST(no_driver) {
  check_no_driver("/nonexistent/libcuda.so", "",
                  "PERMC_CUDA_DRIVER does not name a driver that can be loaded");
  check_no_driver("/nonexistent/libcuda.so", "", "/nonexistent/libcuda.so");
}

TEST(drivers_that_do_not_do) {
  check_no_driver(FAKE_CUDA, "driver=11080", "is for CUDA 11.8, permc needs 12.0 or later");
  check_no_driver(FAKE_CUDA, "fail=cuDriverGetVersion", "does not report its version");
  check_no_driver(FAKE_CUDA, "devices=0",
                  "there is no CUDA device (cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable");
  check_no_driver(FAKE_CUDA, "fail=cuInit status=804",
                  "the NVIDIA driver does not start: cuInit: error 804");
}

TEST(functions_that_are_missing) {
  char expected[100];
  for (size_t i = 0; i < SYMBOLS - LATER_SYMBOLS; i++) {
    const char *path = library_without(FAKE_CUDA, symbols[i]);
    snprintf(expected, sizeof expected, "has no function %s", symbols[i]);
    check_no_driver(path, "", expected);
    remove(path);
  }
}

// ---- the fake ----------------------------------------------------------------------------------

static void add(const fake_cuda_launch *l);

// Loads the fake, and has it behave as said.
static void enter(const char *settings) {
  if (fake_driver_load())
    fake.define("add", 3, add);
  fake.set(settings);
}

static cuda_device *open_device(void) {
  char why[CUDA_WHY] = "";
  cuda_device *d = cuda_open(0, why, sizeof why);
  CHECK_STR(why, "");
  if (!d)
    abort();
  return d;
}

// add(a, b, count): a[i] += b[i]
static fake_cuda_launch seen;
static void add(const fake_cuda_launch *l) {
  uint32_t *a = (uint32_t *)(uintptr_t)l->parameters[0];
  const uint32_t *b = (const uint32_t *)(uintptr_t)l->parameters[1];
  for (uint64_t i = 0; i < l->parameters[2]; i++)
    a[i] += b[i];
  seen = *l;
}

static const char module[] = FAKE_CUDA_MODULE;

// ---- devices -----------------------------------------------------------------------------------

TEST(facts) {
  char why[CUDA_WHY] = "";
  enter("devices=2 memory=80000");
  CHECK(cuda_count(why, sizeof why) == 2);
  cuda_device *d = open_device();
  const cuda_facts *f = cuda_facts_of(d);
  CHECK_STR(f->name, "Fake GPU");
  CHECK_EQ_I64(f->driver, 12080);
  CHECK_EQ_I64(f->capability, 90);
  CHECK_EQ_I64(f->multiprocessors, 132);
  CHECK_EQ_I64(f->threads_per_multiprocessor, 2048);
  CHECK_EQ_I64(f->shared_per_block, 232448);
  CHECK_EQ_U64(f->memory_bytes, UINT64_C(80000) << 20);
  CHECK_STR(cuda_message(d), "");
  cuda_device *same = cuda_open(0, why, sizeof why), *other = cuda_open(1, why, sizeof why);
  CHECK(same && other);
  cuda_close(d);
  cuda_close(same);
  cuda_close(other);
  cuda_close(NULL);
  fake_driver_check();
}

TEST(devices_that_do_not_do) {
  char why[CUDA_WHY];
  enter("devices=2 capability=61");
  CHECK(cuda_open(2, why, sizeof why) == NULL);
  CHECK_STR(why, "there is no CUDA device 2; this machine has 2, numbered from 0");
  CHECK(cuda_open(-1, why, sizeof why) == NULL);
  CHECK_CONTAINS(why, "no CUDA device -1");
  CHECK(cuda_open(1, why, sizeof why) == NULL);
  CHECK_STR(why, "the Fake GPU has compute capability 6.1, permc needs 7.0 or higher");
  enter("devices=0");
  CHECK(cuda_open(0, why, sizeof why) == NULL);
  CHECK_STR(why, "there is no CUDA device");
  enter("fail=cuDevicePrimaryCtxRetain status=2");
  CHECK(cuda_open(0, why, sizeof why) == NULL);
  CHECK_STR(why,
            "cuDevicePrimaryCtxRetain of the Fake GPU: CUDA_ERROR_OUT_OF_MEMORY: out of memory");
  fake_driver_check();
}

static void *use_elsewhere(void *with) {
  cuda_device *d = with;
  uint32_t out = 0;
  cuda_address a = cuda_memory_new(d, 4);
  CHECK(a && cuda_upload(d, a, &(uint32_t){7}, 4) && cuda_download(d, &out, a, 4) && out == 7);
  cuda_memory_free(d, a);
  return NULL;
}

TEST(any_thread) {
  pthread_t thread;
  enter("");
  cuda_device *d = open_device();
  use_elsewhere(d);
  REQUIRE(pthread_create(&thread, NULL, use_elsewhere, d) == 0);
  pthread_join(thread, NULL);
  cuda_close(d);
  fake_driver_check();
}

// ---- memory and copies -------------------------------------------------------------------------

TEST(memory) {
  enter("memory=4096");
  cuda_device *d = open_device();
  cuda_address a = cuda_memory_new(d, UINT64_C(1) << 20), none = cuda_memory_new(d, 0);
  CHECK(a != 0 && a % 256 == 0 && none != 0 && none != a);
  CHECK_EQ_U64(cuda_memory_left(d), (UINT64_C(4095) << 20) - 1);
  CHECK(cuda_memory_new(d, UINT64_C(8) << 30) == 0);
  CHECK_STR(cuda_message(d), "cuMemAlloc of 8589934592 bytes (8.0 GiB), 4.0 of 4.0 GiB being free: "
                             "CUDA_ERROR_OUT_OF_MEMORY: out of memory");
  cuda_memory_free(d, a);
  cuda_memory_free(d, none);
  cuda_memory_free(d, 0);
  cuda_close(d);
  fake_driver_check();
}

static unsigned char byte_of(uint64_t i, uint64_t salt) {
  return (unsigned char)((i * 2654435761u + salt) >> 13);
}

static void fill(unsigned char *bytes, uint64_t count, uint64_t salt) {
  for (uint64_t i = 0; i < count; i++)
    bytes[i] = byte_of(i, salt);
}

// Up, across, down; what was uploaded is overwritten before anybody has waited.
static void check_copies(cuda_device *d, uint64_t count) {
  unsigned char *host = malloc(count + 1);
  cuda_address a = cuda_memory_new(d, count), b = cuda_memory_new(d, count);
  bool good = host && a && b;
  fill(host, count, count);
  good = good && cuda_upload(d, a, host, count);
  memset(host, 0, count);
  good = good && cuda_copy(d, b, a, count);
  host[count] = 99;
  good = good && cuda_download(d, host, b, count);
  for (uint64_t i = 0; i < count && good; i++)
    good = host[i] == byte_of(i, count);
  CHECK(good && host[count] == 99);
  CHECK_STR(cuda_message(d), "");
  cuda_memory_free(d, a);
  cuda_memory_free(d, b);
  free(host);
}

TEST(copies) {
  const uint64_t stage = CUDA_STAGE_BYTES, direct = CUDA_DIRECT_BYTES;
  const uint64_t counts[] = {0,         1,         1000,          direct,           direct + 1,
                             stage - 1, stage,     stage + 1,     2 * stage,        2 * stage + 1,
                             3 * stage, 4 * stage, 5 * stage - 7, 6 * stage + 12345};
  enter("");
  cuda_device *d = open_device();
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    check_copies(d, counts[i]);
  cuda_close(d);
  fake_driver_check();
}

// Where no memory that the GPU reaches is to be had, CUDA copies by itself.
TEST(copies_without_stages) {
  for (int at = 1; at <= 2; at++) {
    enter(at == 1 ? "fail=cuMemHostAlloc at=1" : "fail=cuMemHostAlloc at=2");
    cuda_device *d = open_device();
    check_copies(d, 3 * CUDA_STAGE_BYTES);
    CHECK_EQ_U64(fake.calls("cuMemHostAlloc"), at + 2);  // the second copy has them
    cuda_close(d);
    fake_driver_check();
  }
}

// ---- kernels -----------------------------------------------------------------------------------

TEST(launches) {
  uint32_t a[100], b[100], out[100];
  uint64_t count = 100;
  cuda_kernel k;
  enter("");
  cuda_device *d = open_device();
  cuda_module *m = cuda_module_load(d, module, sizeof module);
  REQUIRE(m && cuda_kernel_find(d, m, "add", 200000, &k));
  CHECK_STR(k.name, "add");
  CHECK(k.dynamic_shared == 200000 && k.static_shared == 16);
  for (uint32_t i = 0; i < 100; i++) {
    a[i] = i;
    b[i] = 1000 * i;
  }
  cuda_address x = cuda_memory_new(d, sizeof a), y = cuda_memory_new(d, sizeof b);
  CHECK(cuda_upload(d, x, a, sizeof a) && cuda_upload(d, y, b, sizeof b));
  CHECK(cuda_launch(d, &k, (cuda_grid){.blocks = 5, .threads = 256}, (void *[]){&x, &y, &count}));
  CHECK(cuda_launch(d, &k, (cuda_grid){.blocks = 1, .threads = 32}, (void *[]){&x, &y, &count}));
  CHECK(cuda_wait(d, NULL) && cuda_download(d, out, x, sizeof out));
  for (uint32_t i = 0; i < 100; i++)
    CHECK_EQ_U64(out[i], 2001 * i);
  CHECK(seen.blocks[0] == 1 && seen.blocks[1] == 1 && seen.blocks[2] == 1);
  CHECK(seen.threads == 32 && seen.shared_bytes == 200000);
  cuda_memory_free(d, x);
  cuda_memory_free(d, y);
  cuda_module_free(d, m);
  cuda_module_free(d, NULL);
  cuda_close(d);
  fake_driver_check();
}

TEST(launches_that_do_not_do) {
  uint64_t zero = 0;
  void *parameters[] = {&zero, &zero, &zero};
  cuda_kernel k;
  enter("");
  cuda_device *d = open_device();
  CHECK(cuda_module_load(d, "other", 6) == NULL);
  CHECK_STR(cuda_message(d), "cuModuleLoadData of 6 bytes of code for sm_90 on the Fake GPU: "
                             "CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid");
  CHECK(cuda_module_load(d, NULL, 0) == NULL);
  cuda_module *m = cuda_module_load(d, module, sizeof module);
  CHECK(!cuda_kernel_find(d, m, "subtract", 0, &k));
  CHECK_STR(cuda_message(d),
            "cuModuleGetFunction of subtract: CUDA_ERROR_NOT_FOUND: named symbol not found");
  CHECK(!cuda_kernel_find(d, m, "add", 232448, &k));
  CHECK_STR(cuda_message(d), "add needs 232464 bytes of shared memory, the Fake GPU has 232448");
  REQUIRE(cuda_kernel_find(d, m, "add", 40000, &k));
  CHECK_EQ_U64(fake.calls("cuFuncSetAttribute"), 0);
  CHECK(!cuda_launch(d, &k, (cuda_grid){.blocks = 4096, .threads = 2048}, parameters));
  CHECK_STR(cuda_message(d), "cuLaunchKernelEx of add, 4096 blocks of 2048 threads, 40000 bytes of "
                             "shared memory: CUDA_ERROR_INVALID_VALUE: invalid argument");
  CHECK(!cuda_launch(d, &k, (cuda_grid){.blocks = UINT64_C(1) << 31, .threads = 32}, parameters));
  CHECK_STR(cuda_message(d), "add would be 2147483648 blocks, CUDA allows 2147483647");
  CHECK(cuda_launch(d, &k, (cuda_grid){CUDA_MOST_BLOCKS, 32, true}, parameters));
  cuda_module_free(d, m);
  cuda_close(d);
  fake_driver_check();
}

// What goes wrong inside of a kernel is told by the call that waits, with the kernel's name.
TEST(faults_in_kernels) {
  uint64_t zero = 0;
  atomic_bool interrupted = false;
  cuda_kernel k;
  enter("fault=700");
  cuda_device *d = open_device();
  cuda_module *m = cuda_module_load(d, module, sizeof module);
  cuda_address a = cuda_memory_new(d, 1000);
  REQUIRE(m && a && cuda_kernel_find(d, m, "add", 0, &k));
  CHECK(
      cuda_launch(d, &k, (cuda_grid){.blocks = 1, .threads = 32}, (void *[]){&zero, &zero, &zero}));
  CHECK(!cuda_wait(d, &interrupted));
  CHECK_STR(cuda_message(d),
            "cuStreamQuery of all that was launched, last add: "
            "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered");
  cuda_memory_free(d, a);
  cuda_module_free(d, m);
  CHECK_CONTAINS(cuda_message(d), "last add");
  CHECK(cuda_memory_new(d, 1000) == 0);
  CHECK_CONTAINS(cuda_message(d), "cuMemAlloc of 1000 bytes: CUDA_ERROR_ILLEGAL_ADDRESS");
  cuda_close(d);
  fake_driver_check();
}

// ---- recordings, waiting, times ----------------------------------------------------------------

typedef struct sums {
  cuda_module *module;
  cuda_kernel add;
  cuda_address x, y;
  uint64_t count;
} sums;

static bool sums_new(cuda_device *d, sums *s) {
  uint32_t ones[4] = {1, 1, 1, 1};
  *s = (sums){.count = 4};
  return (s->module = cuda_module_load(d, module, sizeof module)) != NULL &&
         cuda_kernel_find(d, s->module, "add", 65536, &s->add) &&
         (s->x = cuda_memory_new(d, sizeof ones)) != 0 &&
         (s->y = cuda_memory_new(d, sizeof ones)) != 0 && cuda_upload(d, s->x, ones, sizeof ones) &&
         cuda_upload(d, s->y, ones, sizeof ones);
}

static void sums_free(cuda_device *d, sums *s) {
  cuda_memory_free(d, s->x);
  cuda_memory_free(d, s->y);
  cuda_module_free(d, s->module);
}

static bool sums_launch(cuda_device *d, sums *s) {
  return cuda_launch(d, &s->add, (cuda_grid){.blocks = 1, .threads = 32},
                     (void *[]){&s->x, &s->y, &s->count});
}

static bool sums_record(cuda_device *d, sums *s) {
  return sums_launch(d, s) && sums_launch(d, s) && cuda_copy(d, s->y, s->x, 16);
}

TEST(recordings) {
  sums s;
  uint32_t out[4] = {0};
  enter("");
  cuda_device *d = open_device();
  REQUIRE(sums_new(d, &s));
  REQUIRE(cuda_graph_begin(d) && sums_record(d, &s));
  cuda_graph *g = cuda_graph_end(d, true);
  REQUIRE(g != NULL);
  CHECK(cuda_download(d, out, s.x, 16) && out[0] == 1);  // nothing was done so far
  CHECK(cuda_graph_launch(d, g) && cuda_graph_launch(d, g) && cuda_wait(d, NULL));
  CHECK(cuda_download(d, out, s.x, 16) && out[0] == 9 && out[3] == 9);  // 1 + 2*1, 3 + 2*3
  cuda_graph_free(d, g);
  cuda_graph_free(d, NULL);
  sums_free(d, &s);
  CHECK_STR(cuda_message(d), "");
  cuda_close(d);
  fake_driver_check();
}

// Started twice for the first addresses, once for the others.
TEST(sequences) {
  sums s;
  uint32_t out[4] = {0};
  enter("");
  cuda_device *d = open_device();
  cuda_sequence *q = cuda_sequence_new(d);
  REQUIRE(q != NULL && sums_new(d, &s));
  cuda_grid grid = {.blocks = 1, .threads = 32, .overlapping = true};
  void *parameters[] = {&s.x, &s.y, &s.count};
  for (int i = 0; i < 3; i++) {
    cuda_sequence_write(d, q);
    bool good = cuda_launch(d, &s.add, grid, parameters) &&
                cuda_launch(d, &s.add, grid, parameters) && cuda_clear(d, s.y, 8);
    CHECK(cuda_sequence_launch(d, q, good));
    if (i == 0)
      CHECK(cuda_sequence_launch(d, q, true));
    cuda_address x = s.x;  // next time the other way round
    s.x = s.y;
    s.y = x;
  }
  // x, y: 3 1, then y is 0 0 1 1 and x 3 3 5 5; y + x twice, with x cleared; x + y twice
  CHECK(cuda_download(d, out, s.y, 16));
  CHECK(out[0] == 12 && out[3] == 27);
  CHECK(cuda_download(d, out, s.x, 16));
  CHECK(out[0] == 0 && out[3] == 11);
  size_t launches = fake.calls("cuGraphLaunch");
  cuda_sequence_write(d, q);
  CHECK(!cuda_sequence_launch(d, q, false));
  CHECK_EQ_U64(fake.calls("cuGraphLaunch"), launches);
  cuda_sequence_write(d, q);
  for (int i = 0; i < 3; i++)
    CHECK(i == 2 ? cuda_clear(d, s.x, 8) : sums_launch(d, &s));
  CHECK(!sums_launch(d, &s));
  CHECK_CONTAINS(cuda_message(d), "too many launches");
  cuda_sequence_launch(d, q, false);
  cuda_sequence_free(d, q);
  cuda_sequence_free(d, NULL);
  sums_free(d, &s);
  cuda_close(d);
  fake_driver_check();
}

TEST(what_cannot_be_recorded) {
  sums s;
  double seconds;
  uint32_t out[4] = {0};
  enter("");
  cuda_device *d = open_device();
  REQUIRE(sums_new(d, &s) && cuda_graph_begin(d));
  CHECK(!cuda_upload(d, s.x, out, 16));
  CHECK_STR(cuda_message(d), "an upload is not possible while launches are recorded");
  CHECK(!cuda_download(d, out, s.x, 16));
  CHECK_CONTAINS(cuda_message(d), "a download is not possible");
  CHECK(!cuda_wait(d, NULL) && !cuda_time_begin(d) && !cuda_time_end(d, &seconds));
  CHECK(!cuda_graph_begin(d));
  CHECK_CONTAINS(cuda_message(d), "a recording is not possible");
  CHECK(cuda_graph_end(d, false) == NULL);
  CHECK_CONTAINS(cuda_message(d), "a recording is not possible");
  CHECK(cuda_graph_end(d, true) == NULL);  // none was begun
  CHECK(cuda_download(d, out, s.x, 16) && out[0] == 1);
  CHECK(cuda_graph_begin(d));
  sums_free(d, &s);
  cuda_close(d);  // ends the recording
  fake_driver_check();
}

TEST(waiting) {
  sums s;
  atomic_bool interrupted = false;
  enter("busy=300");
  cuda_device *d = open_device();
  REQUIRE(sums_new(d, &s) && sums_launch(d, &s));
  CHECK(cuda_wait(d, &interrupted));
  CHECK_EQ_U64(fake.calls("cuStreamQuery"), 301);
  fake.set("busy=300000000");
  atomic_store(&interrupted, true);
  CHECK(!cuda_wait(d, &interrupted));
  CHECK_STR(cuda_message(d), "interrupted");
  fake.set("fail=cuStreamSynchronize status=701");
  CHECK(!cuda_wait(d, NULL));
  CHECK_STR(cuda_message(d),
            "cuStreamSynchronize of all that was launched, last add: "
            "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch");
  fake.set("");
  CHECK(cuda_wait(d, &interrupted));  // done is done
  sums_free(d, &s);
  cuda_close(d);
  fake_driver_check();
}

TEST(times) {
  sums s;
  double seconds = -1;
  enter("");
  cuda_device *d = open_device();
  REQUIRE(sums_new(d, &s));
  CHECK(cuda_time_begin(d) && sums_launch(d, &s) && sums_launch(d, &s));
  CHECK(cuda_time_end(d, &seconds) && seconds > 1.9e-3 && seconds < 2.1e-3);  // of the fake's clock
  CHECK(cuda_time_begin(d) && cuda_time_end(d, &seconds) && seconds == 0);
  sums_free(d, &s);
  cuda_close(d);
  fake_driver_check();
}

// ---- every call, failing -----------------------------------------------------------------------

// Something of everything. False: the message, or `why` where there is no device, tells it.
static bool use_stream_memory(cuda_device *d, void *host) {
  cuda_address a = 0;
  bool taken = cuda_stream_memory_new(d, 16, &a);
  bool good = taken && cuda_clear(d, a, 16) && cuda_fetch(d, host, a, 16);
  return taken && cuda_stream_memory_free(d, a) && good;
}

static bool use_sequence(cuda_device *d, sums *s) {
  cuda_sequence *q = cuda_sequence_new(d);
  bool good = q != NULL;
  for (int i = 0; i < 2 && good; i++) {
    cuda_sequence_write(d, q);
    good = sums_launch(d, s);
    good = cuda_sequence_launch(d, q, good);
  }
  cuda_sequence_free(d, q);
  return good && cuda_wait(d, NULL);
}

static bool use_all(char *why, size_t size) {
  enum { BYTES = CUDA_STAGE_BYTES + 1000 };
  static unsigned char host[BYTES];
  sums s = {0};
  double seconds;
  cuda_graph *g = NULL;
  atomic_bool interrupted = false;
  cuda_device *d = cuda_open(0, why, size);
  if (!d)
    return false;
  cuda_address a = cuda_memory_new(d, BYTES);
  bool good = a && cuda_memory_left(d) && sums_new(d, &s) && cuda_upload(d, a, host, BYTES) &&
              cuda_time_begin(d) && sums_launch(d, &s) && cuda_time_end(d, &seconds) &&
              cuda_graph_begin(d);
  if (good) {
    good = sums_record(d, &s);
    g = cuda_graph_end(d, good);
    good = g != NULL;
  }
  good = good && cuda_graph_launch(d, g) && cuda_wait(d, NULL) && cuda_wait(d, &interrupted) &&
         cuda_download(d, host, a, BYTES) && cuda_download(d, host, s.x, 16) &&
         use_stream_memory(d, host) && use_sequence(d, &s);
  snprintf(why, size, "%s", cuda_message(d));
  cuda_graph_free(d, g);
  cuda_memory_free(d, a);
  sums_free(d, &s);
  cuda_close(d);
  return good;
}

// Those whose failing is no failure: of cleaning up, of what there is a way around, of words; and
// those of several devices (cuda_peers_test.c, ranks_test.c).
static bool may_fail(const char *symbol) {
  static const char *const names[] = {"cuDriverGetVersion",
                                      "cuInit",
                                      "cuDeviceGetUuid_v2",
                                      "cuCtxEnablePeerAccess",
                                      "cuGetErrorName",
                                      "cuGetErrorString",
                                      "cuCtxPopCurrent_v2",
                                      "cuMemFree_v2",
                                      "cuMemFreeHost",
                                      "cuDevicePrimaryCtxRelease_v2",
                                      "cuStreamDestroy_v2",
                                      "cuGraphDestroy",
                                      "cuGraphExecDestroy",
                                      "cuEventDestroy_v2",
                                      "cuModuleUnload",
                                      "cuStreamSynchronize",
                                      "cuMemHostAlloc",
                                      "cuEventCreate",
                                      "cuCtxPushCurrent_v2",
                                      "cuDeviceCanAccessPeer",
                                      "cuMemGetAllocationGranularity",
                                      "cuMemCreate",
                                      "cuMemRelease",
                                      "cuMemAddressReserve",
                                      "cuMemAddressFree",
                                      "cuMemMap",
                                      "cuMemUnmap",
                                      "cuMemSetAccess",
                                      "cuStreamWaitEvent",
                                      "cuCtxSynchronize"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], symbol) == 0)
      return true;
  return false;
}

static void check_failing(const char *symbol, size_t at) {
  char settings[100], why[CUDA_WHY] = "", name[64];
  snprintf(settings, sizeof settings, "fail=%s at=%zu status=999", symbol, at);
  snprintf(name, sizeof name, "%.*s", (int)strcspn(symbol, "_"), symbol);
  enter(settings);
  bool good = use_all(why, sizeof why);
  if (good ? !may_fail(symbol) : !strstr(why, "error 999"))
    printf("%s: %s\n", settings, good ? "no failure" : why);
  CHECK(good ? may_fail(symbol) : strstr(why, "error 999") != NULL);
  CHECK(good || strncmp(why, name, strcspn(name, "W")) == 0);
  CHECK_EQ_U64(fake.left(), 0);
  if (strcmp(name, "cuCtxPushCurrent") != 0)  // without which nothing can be freed
    CHECK_STR(fake.misuse(), "");
}

TEST(failing_calls) {
  char why[CUDA_WHY] = "";
  size_t counts[SYMBOLS];
  enter("");
  CHECK(use_all(why, sizeof why));
  CHECK_STR(why, "");
  fake_driver_check();
  for (size_t i = 0; i < SYMBOLS; i++)
    counts[i] = fake.calls(symbols[i]);
  for (size_t i = 0; i < SYMBOLS; i++) {
    CHECK(counts[i] > 0 || may_fail(symbols[i]));
    for (size_t at = 1; at <= counts[i]; at++)
      check_failing(symbols[i], at);
  }
}

TEST_MAIN()
