// CUDA devices and NVRTC together, on a GPU. Skipped where there is none.
#include "tests/test.h"

#include "runtime/cuda/cuda.h"
#include "runtime/cuda/nvrtc.h"

#include <pthread.h>
#include <time.h>

static const char kernel_text[] =
    // a[i] += b[i]
    "extern \"C\" __global__ void add(unsigned *a, const unsigned *b, unsigned long long count) {\n"
    "  unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < count) a[i] += b[i];\n"
    "}\n"
    // out[block * words + i] = in[block * words + words - 1 - i], through shared memory
    "extern \"C\" __global__ void turn(unsigned *out, const unsigned *in, unsigned words) {\n"
    "  extern __shared__ unsigned tile[];\n"
    "  unsigned long long from = (unsigned long long)blockIdx.x * words;\n"
    "  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) tile[i] = in[from + i];\n"
    "  __syncthreads();\n"
    "  for (unsigned i = threadIdx.x; i < words; i += blockDim.x)\n"
    "    out[from + i] = tile[words - 1 - i];\n"
    "}\n"
    "extern \"C\" __global__ void spin(unsigned long long nanoseconds) {\n"
    "  unsigned long long start, now;\n"
    "  asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(start));\n"
    "  do asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));\n"
    "  while (now - start < nanoseconds);\n"
    "}\n";

// ---- what the tests share ----------------------------------------------------------------------

static char why[CUDA_WHY];
static cuda_device *device;
static cuda_module *module;

// Once for all tests. False: `why`.
static bool have_device(void) {
  void *cubin = NULL;
  size_t size = 0;
  if (module)
    return true;
  if (!device && !(device = cuda_open(0, why, sizeof why)))
    return false;
  nvrtc_job job = {
      .text = kernel_text, .name = "test.cu", .architecture = cuda_facts_of(device)->capability};
  if (!nvrtc_compile(&job, &cubin, &size, why, sizeof why))
    return false;
  module = cuda_module_load(device, cubin, size);
  free(cubin);
  snprintf(why, sizeof why, "%s", cuda_message(device));
  CHECK_STR(why, "");
  return module != NULL;
}

static cuda_kernel kernel(const char *name, uint32_t shared_bytes) {
  cuda_kernel k;
  if (!cuda_kernel_find(device, module, name, shared_bytes, &k))
    CHECK_STR(cuda_message(device), "");
  return k;
}

// Whether a call was good; what it said is shown if not.
static bool good(bool result) {
  if (!result)
    CHECK_STR(cuda_message(device), "");
  return result;
}

static uint32_t *numbers(uint64_t count, uint32_t factor) {
  uint32_t *n = malloc(count * sizeof *n + 1);
  for (uint64_t i = 0; n && i < count; i++)
    n[i] = (uint32_t)i * factor;
  return n;
}

static uint64_t count_wrong(const uint32_t *found, uint64_t count, uint32_t factor) {
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < count; i++)
    wrong += found[i] != (uint32_t)i * factor;
  return wrong;
}

static cuda_address uploaded(const uint32_t *n, uint64_t count) {
  cuda_address a = cuda_memory_new(device, count * sizeof *n);
  good(a != 0 && cuda_upload(device, a, n, count * sizeof *n));
  return a;
}

// ---- tests -------------------------------------------------------------------------------------

TEST(facts) {
  if (!have_device())
    SKIP(why);
  const cuda_facts *f = cuda_facts_of(device);
  CHECK(f->name[0] != 0 && f->driver >= 12000 && f->capability >= 70);
  CHECK(f->multiprocessors > 0 && f->threads_per_multiprocessor >= 1024);
  CHECK(f->shared_per_block > 49152);
  CHECK(f->memory_bytes >= cuda_memory_left(device) && cuda_memory_left(device) > 0);
  CHECK(cuda_count(why, sizeof why) > 0);
}

// Up, across and down; what was uploaded is overwritten at once.
static void check_copies(uint64_t count) {
  uint32_t *n = numbers(count, 2654435761u);
  uint64_t bytes = count * sizeof *n;
  cuda_address a = uploaded(n, count), b = cuda_memory_new(device, bytes);
  memset(n, 0, bytes);
  CHECK(good(cuda_copy(device, b, a, bytes) && cuda_download(device, n, b, bytes)));
  CHECK_EQ_U64(count_wrong(n, count, 2654435761u), 0);
  cuda_memory_free(device, a);
  cuda_memory_free(device, b);
  free(n);
}

TEST(copies) {
  const uint64_t stage = CUDA_STAGE_BYTES / 4, direct = CUDA_DIRECT_BYTES / 4;
  const uint64_t counts[] = {0,         1,         direct,    direct + 1,    stage - 1, stage,
                             stage + 1, 2 * stage, 3 * stage, 7 * stage + 5, 32 * stage};
  if (!have_device())
    SKIP(why);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    check_copies(counts[i]);
}

TEST(launches) {
  enum { COUNT = 1000003, THREADS = 128 };
  if (!have_device())
    SKIP(why);
  uint32_t *n = numbers(COUNT, 3);
  uint64_t count = COUNT;
  cuda_address a = uploaded(n, COUNT), b = uploaded(n, COUNT);
  cuda_kernel add = kernel("add", 0);
  CHECK(add.static_shared == 0);
  cuda_grid grid = {.blocks = COUNT / THREADS + 1, .threads = THREADS};
  CHECK(good(cuda_launch(device, &add, grid, (void *[]){&a, &b, &count}) &&
             cuda_wait(device, NULL) && cuda_download(device, n, a, sizeof *n * COUNT)));
  CHECK_EQ_U64(count_wrong(n, COUNT, 6), 0);
  cuda_memory_free(device, a);
  cuda_memory_free(device, b);
  free(n);
}

TEST(much_shared_memory) {
  enum { BLOCKS = 300 };
  if (!have_device())
    SKIP(why);
  uint32_t bytes = (uint32_t)cuda_facts_of(device)->shared_per_block, words = bytes / 4;
  uint64_t count = (uint64_t)BLOCKS * words, wrong = 0;
  uint32_t *n = numbers(count, 1);
  cuda_address a = uploaded(n, count), b = cuda_memory_new(device, sizeof *n * count);
  cuda_kernel turn = kernel("turn", bytes);
  CHECK(good(cuda_launch(device, &turn, (cuda_grid){.blocks = BLOCKS, .threads = 512},
                         (void *[]){&b, &a, &words}) &&
             cuda_download(device, n, b, sizeof *n * count)));
  for (uint64_t i = 0; i < count; i++)
    wrong += n[i] != i / words * words + words - 1 - i % words;
  CHECK_EQ_U64(wrong, 0);
  cuda_memory_free(device, a);
  cuda_memory_free(device, b);
  free(n);
}

TEST(recordings) {
  enum { COUNT = 5000, TIMES = 10 };
  if (!have_device())
    SKIP(why);
  uint32_t *n = numbers(COUNT, 1);
  uint64_t count = COUNT;
  cuda_address a = uploaded(n, COUNT), b = uploaded(n, COUNT), c = uploaded(n, COUNT);
  cuda_kernel add = kernel("add", 0);
  void *parameters[] = {&a, &b, &count};
  cuda_grid grid = {.blocks = COUNT / 256 + 1, .threads = 256};
  CHECK(good(cuda_graph_begin(device)));
  CHECK(good(cuda_launch(device, &add, grid, parameters) &&
             cuda_launch(device, &add, grid, parameters) && cuda_copy(device, c, a, 4 * COUNT)));
  cuda_graph *g = cuda_graph_end(device, true);
  REQUIRE(good(g != NULL));
  for (int i = 0; i < TIMES; i++)
    CHECK(good(cuda_graph_launch(device, g)));
  CHECK(good(cuda_wait(device, NULL) && cuda_download(device, n, c, 4 * COUNT)));
  CHECK_EQ_U64(count_wrong(n, COUNT, 1 + 2 * TIMES), 0);
  CHECK(good(cuda_graph_begin(device) && cuda_launch(device, &add, grid, parameters)));
  CHECK(cuda_graph_end(device, false) == NULL);
  CHECK(good(cuda_download(device, n, a, 4 * COUNT)));
  CHECK_EQ_U64(count_wrong(n, COUNT, 1 + 2 * TIMES), 0);
  cuda_graph_free(device, g);
  cuda_memory_free(device, a);
  cuda_memory_free(device, b);
  cuda_memory_free(device, c);
  free(n);
}

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

TEST(times_and_interrupts) {
  uint64_t nanoseconds = 20000000;
  atomic_bool interrupted = false;
  double seconds = 0;
  if (!have_device())
    SKIP(why);
  cuda_kernel spin = kernel("spin", 0);
  cuda_grid one = {.blocks = 1, .threads = 1};
  CHECK(good(cuda_time_begin(device) && cuda_launch(device, &spin, one, (void *[]){&nanoseconds}) &&
             cuda_time_end(device, &seconds)));
  CHECK(seconds > 0.019);
  nanoseconds = 500000000;
  CHECK(good(cuda_launch(device, &spin, one, (void *[]){&nanoseconds})));
  atomic_store(&interrupted, true);
  double start = seconds_now();
  CHECK(!cuda_wait(device, &interrupted) && seconds_now() - start < 0.4);
  CHECK_STR(cuda_message(device), "interrupted");
  atomic_store(&interrupted, false);
  CHECK(cuda_wait(device, &interrupted) && seconds_now() - start > 0.4);
}

static void *use_elsewhere(void *with) {
  check_copies(CUDA_STAGE_BYTES);
  return with;
}

TEST(any_thread) {
  pthread_t thread;
  if (!have_device())
    SKIP(why);
  REQUIRE(pthread_create(&thread, NULL, use_elsewhere, NULL) == 0);
  pthread_join(thread, NULL);
}

TEST(messages) {
  void *cubin = NULL;
  size_t size = 0;
  uint64_t nothing = 0;
  if (!have_device())
    SKIP(why);
  CHECK(cuda_memory_new(device, UINT64_C(1) << 45) == 0);
  CHECK_CONTAINS(cuda_message(device), "being free: CUDA_ERROR_OUT_OF_MEMORY: ");
  cuda_kernel spin = kernel("spin", 0);
  CHECK(
      !cuda_launch(device, &spin, (cuda_grid){.blocks = 1, .threads = 2048}, (void *[]){&nothing}));
  CHECK_CONTAINS(cuda_message(device), "cuLaunchKernelEx of spin, 1 blocks of 2048 threads");
  CHECK(!cuda_kernel_find(device, module, "none", 0, &spin));
  CHECK_CONTAINS(cuda_message(device), "cuModuleGetFunction of none: CUDA_ERROR_NOT_FOUND: ");
  // code for another GPU
  int other = cuda_facts_of(device)->capability / 10 == 9 ? 80 : 90;
  nvrtc_job job = {.text = kernel_text, .name = "test.cu", .architecture = other};
  REQUIRE(nvrtc_compile(&job, &cubin, &size, why, sizeof why));
  CHECK(cuda_module_load(device, cubin, size) == NULL);
  CHECK_CONTAINS(cuda_message(device), "cuModuleLoadData of ");
  free(cubin);
}

// The last one: the GPU takes no more work of this process.
TEST(faults) {
  uint64_t count = 1000;
  cuda_address nowhere = 16;
  if (!have_device())
    SKIP(why);
  cuda_kernel add = kernel("add", 0);
  CHECK(good(cuda_launch(device, &add, (cuda_grid){.blocks = 4, .threads = 256},
                         (void *[]){&nowhere, &nowhere, &count})));
  CHECK(!cuda_wait(device, NULL));
  CHECK_CONTAINS(cuda_message(device), "last add: CUDA_ERROR_ILLEGAL_ADDRESS: ");
  CHECK(cuda_memory_new(device, 1000) == 0);
  cuda_module_free(device, module);
  cuda_close(device);
}

TEST_MAIN()
