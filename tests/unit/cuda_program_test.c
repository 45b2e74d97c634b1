// Programs on the backend cuda without a GPU, from permc_compile to the results: the driver is
// fake_cuda.c, the compiler fake_nvrtc.c, and the kernel of the program's only pass a function here.
#include "tests/unit/api.h"

#include "runtime/cuda/device.h"
#include "runtime/system/cache.h"
#include "runtime/values/value.h"
#include "tests/unit/fake_driver.h"

#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1000 };

static void add_one(const fake_cuda_launch *l) { fake_add_one(l, COUNT); }

// The same, but what is noted is what it finds of tables: nothing, their addresses, the first one.
static float first_table[16];
static uint64_t table_count, first_address;
static void note_tables(const fake_cuda_launch *l) {
  const uint64_t *imports = (const uint64_t *)(uintptr_t)l->parameters[3];
  const uint64_t *tables = (const uint64_t *)(uintptr_t)imports[1];
  CHECK_EQ_U64(imports[0], 0);
  memcpy(first_table, (const void *)(uintptr_t)tables[0], sizeof first_table);
  first_address = tables[0];
  table_count++;
}

static fake_cuda_kernel *kernel = add_one;
static void run_kernel(const fake_cuda_launch *l) { kernel(l); }

static void enter(const char *settings) {
  static char place[512];
  if (fake_driver_load()) {
    const char *folder = getenv("PERMC_TMP");
    snprintf(place, sizeof place, "%s/cuda-XXXXXX", folder ? folder : "/tmp");
    REQUIRE(mkdtemp(place) != NULL);
    setenv("PERMC_NVRTC", FAKE_NVRTC, 1);
    setenv("FAKE_NVRTC_CUBIN", FAKE_CUDA_MODULE, 1);
    setenv("PERMC_CACHE", place, 1);
    fake.define("permc_pass_0", 4, run_kernel);
  }
  fake.set(settings);
}

typedef struct subject {
  permc_context *context;
  permc_value *argument, **results;
  size_t result_count;
  permc_compiled *compiled;
} subject;

static subject subject_of(const char *program, const char *backend) {
  uint32_t values[COUNT];
  for (uint32_t i = 0; i < COUNT; i++)
    values[i] = 3 * i;
  subject s = {.context = load_text(program), .argument = value_1("u32", COUNT, values)};
  s.compiled = permc_compile(s.context, "main", backend, &s.argument, 1);
  return s;
}

static subject a_subject(const char *backend) {
  return subject_of("main : [m]u32 -> [m]u32\nmain = map (+ 1)\n", backend);
}

static void drop(subject *s) {
  permc_values_free(s->results, s->result_count);
  permc_compiled_free(s->compiled);
  permc_value_free(s->argument);
  permc_context_free(s->context);
}

static bool execute(subject *s) {
  return call_values(s->compiled, &s->argument, 1, &s->results, &s->result_count);
}

static void check_results(const subject *s) {
  uint32_t expected[COUNT];
  for (uint32_t i = 0; i < COUNT; i++)
    expected[i] = 3 * i + 1;
  if (CHECK_EQ_U64(s->result_count, 1))
    check_1(s->results[0], 0, "u32", COUNT, expected);
}

// The entries of the cache after a process of its own has compiled, as what is found of NVRTC stays.
static size_t count_entries_after(const char *version, const char *settings) {
  cache c;
  cache_list entries;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    setenv("FAKE_NVRTC", version, 1);
    enter(settings);
    subject s = a_subject("cuda");
    bool good = s.compiled != NULL;
    drop(&s);
    _exit(good ? 0 : 1);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_EQ_I64(status, 0);
  cache_look(&c);
  CHECK(cache_count(&c, &entries));
  size_t count = entries.count;
  cache_list_free(&entries);
  return count;
}

// The first test: nothing is known of NVRTC yet. What another version has compiled, or for another
// GPU, is not taken.
TEST(code_of_another_nvrtc) {
  enter("");
  CHECK_EQ_U64(count_entries_after("12.4", ""), 1);
  CHECK_EQ_U64(count_entries_after("12.4", ""), 1);
  CHECK_EQ_U64(count_entries_after("12.5", ""), 2);
  CHECK_EQ_U64(count_entries_after("13.4", ""), 3);
  CHECK_EQ_U64(count_entries_after("12.4", "capability=80"), 4);
  CHECK_EQ_U64(count_entries_after("12.4", ""), 4);
}

TEST(results) {
  enter("");
  subject s = a_subject("cuda");
  REQUIRE(s.compiled != NULL);
  CHECK_STR(permc_compiled_backend(s.compiled), "cuda");
  CHECK_CONTAINS(permc_compiled_device(s.compiled), "CUDA 12.8");
  for (int i = 0; i < 2; i++) {  // the second into the results of the first
    CHECK(execute(&s));
    check_results(&s);
  }
  drop(&s);
  fake_driver_check();
}

TEST(time_on_device) {
  double seconds = -1;
  enter("");
  subject s = a_subject("cuda");
  REQUIRE(s.compiled != NULL && execute(&s));
  size_t launches = fake.calls("cuGraphLaunch"), copies = fake.calls("cuMemcpyDtoDAsync_v2");
  CHECK(permc_time_call(s.compiled, 23, &seconds));
  CHECK(seconds >= 0);
  CHECK_EQ_U64(fake.calls("cuGraphLaunch") - launches, 5);  // ten runs, ten, and three times one
  CHECK(permc_time_copy(s.compiled, 4096, 3, &seconds));
  CHECK_EQ_U64(fake.calls("cuMemcpyDtoDAsync_v2") - copies, 3);
  CHECK(permc_time_copy(s.compiled, 8192, 1, &seconds));  // in other memory
  CHECK(!permc_time_copy(s.compiled, (uint64_t)1 << 40, 1, &seconds));
  CHECK_CONTAINS(permc_message(s.context), "cuMemAlloc of 2199023255552 bytes");
  drop(&s);
  fake_driver_check();
  s = a_subject("interp");
  REQUIRE(s.compiled != NULL && execute(&s));
  CHECK(!permc_time_call(s.compiled, 1, &seconds));
  CHECK_STR(permc_message(s.context), "");
  drop(&s);
}

// A program's own memory is not touched, and nothing is waited for.
TEST(memory_of_the_caller) {
  cuda_stream *stream = NULL;
  uint32_t in[COUNT], out[COUNT];
  uint64_t dims[1] = {COUNT};
  enter("");
  subject s = a_subject("cuda");
  char why[CUDA_WHY];
  cuda_device *d = cuda_open(0, why, sizeof why);  // the caller's
  REQUIRE(s.compiled != NULL && d != NULL);
  REQUIRE(cuda_enter(d) && cuda_leave(d, d->api->stream_create(&stream, 0) == 0));
  for (uint32_t i = 0; i < COUNT; i++)
    in[i] = 3 * i;
  cuda_address x = cuda_memory_new(d, sizeof in), y = cuda_memory_new(d, sizeof out);
  REQUIRE(x && y && cuda_upload(d, x, in, sizeof in) && cuda_wait(d, NULL));
  permc_memory memory[2] = {{"u32", 1, dims, NULL, (void *)(uintptr_t)x, 0, true, NULL, NULL},
                            {"u32", 1, dims, NULL, (void *)(uintptr_t)y, 0, false, NULL, NULL}};
  permc_value *from = permc_value_borrow(&memory[0], NULL),
              *to = permc_value_borrow(&memory[1], NULL);
  permc_call_options o = {.stream = stream};
  size_t allocations = fake.calls("cuMemAlloc_v2"), waits = fake.calls("cuStreamSynchronize");
  CHECK_EQ_U64(permc_workspace_bytes(s.compiled), 0);
  for (int run = 0; run < 2; run++)
    CHECK_EQ_U64(permc_call(s.compiled, &from, 1, &to, 1, &o, &call_error), PERMC_OK);
  CHECK_EQ_U64(fake.calls("cuMemAlloc_v2"), allocations);
  CHECK_EQ_U64(fake.calls("cuStreamSynchronize"), waits);
  CHECK_EQ_U64(fake.calls("cuLaunchKernelEx"), 2);
  CHECK(cuda_download(d, out, y, sizeof out) && out[COUNT - 1] == in[COUNT - 1] + 1);
  fake.set("fail=cuLaunchKernelEx at=1 status=999");
  CHECK_EQ_U64(permc_call(s.compiled, &from, 1, &to, 1, &o, &call_error), PERMC_ERROR_DEVICE);
  CHECK_CONTAINS(call_error.message, "error 999");
  CHECK_EQ_U64(permc_call(s.compiled, &from, 1, &to, 1, &o, &call_error), PERMC_OK);
  CHECK_EQ_U64(permc_call(s.compiled, &s.argument, 1, &to, 1, &o, &call_error), PERMC_ERROR_DEVICE);
  CHECK_CONTAINS(call_error.message, "several devices");
  CHECK(execute(&s));  // on values of the host
  check_results(&s);
  permc_value_free(from);
  permc_value_free(to);
  cuda_memory_free(d, x);
  cuda_memory_free(d, y);
  CHECK(cuda_enter(d) && cuda_leave(d, d->api->stream_destroy(stream) == 0));
  drop(&s);
  cuda_close(d);
  fake_driver_check();
}

// A program of several launches, whose kernels do nothing, and arrays on the device.
enum { ARRAYS = 3 };
typedef struct long_subject {
  permc_context *context;
  permc_compiled *compiled;
  cuda_device *device;
  cuda_address at[ARRAYS];
  permc_value *values[ARRAYS];
} long_subject;

static bool open_long(long_subject *s) {
  enum { LENGTH = 1 << 16 };
  uint64_t dims[1] = {LENGTH};
  char why[CUDA_WHY];
  enter("");
  for (int pass = 1; pass < 16; pass++) {
    char name[32];
    snprintf(name, sizeof name, "permc_pass_%d", pass);
    fake.define(name, 3, NULL);
  }
  s->context = load_text("main : [m]u32 -> [m]u32\nmain = sort_network\n");
  s->compiled = permc_compile_types(s->context, "main", "cuda", "[2^16]u32");
  s->device = cuda_open(0, why, sizeof why);
  for (int i = 0; i < ARRAYS && s->device; i++) {
    s->at[i] = cuda_memory_new(s->device, sizeof(uint32_t) * LENGTH);
    permc_memory m = {.type = "u32", .rank = 1, .dims = dims, .data = (void *)(uintptr_t)s->at[i]};
    s->values[i] = permc_value_borrow(&m, NULL);
  }
  return s->compiled && s->device;
}

static void close_long(long_subject *s) {
  CHECK(cuda_wait(s->device, NULL));
  for (int i = 0; i < ARRAYS; i++) {
    permc_value_free(s->values[i]);
    cuda_memory_free(s->device, s->at[i]);
  }
  permc_compiled_free(s->compiled);
  permc_context_free(s->context);
  cuda_close(s->device);
  fake_driver_check();
}

// Several launches are started as one from the second call on, by graphs of their own: written once for
// each stream, and again for other addresses; one by one while the stream is captured, or if that fails.
TEST(launches_as_one) {
  long_subject s;
  REQUIRE(open_long(&s));
  cuda_device *d = s.device;
  permc_compiled *p = s.compiled;
  cuda_address workspace = cuda_memory_new(d, permc_workspace_bytes(p) + 1);
  permc_call_options o = {d->own, (void *)(uintptr_t)workspace, permc_workspace_bytes(p)};
  permc_error e;
#define CALLS(to) CHECK_EQ_U64(permc_call(p, &s.values[0], 1, &s.values[to], 1, &o, &e), PERMC_OK)
  CALLS(1);
  size_t launches = fake.calls("cuLaunchKernelEx");
  CHECK(launches > 1);
  CALLS(1);
  CALLS(1);
  CHECK_EQ_U64(fake.calls("cuGraphAddNode_v2"), launches);
  CHECK_EQ_U64(fake.calls("cuGraphExecNodeSetParams"), 0);
  CALLS(2);
  CHECK_EQ_U64(fake.calls("cuGraphExecNodeSetParams"), launches);
  CHECK_EQ_U64(fake.calls("cuGraphLaunch"), 3);
  CHECK_EQ_U64(fake.calls("cuLaunchKernelEx"), launches);
  REQUIRE(cuda_graph_begin(d));
  CALLS(2);
  cuda_graph_free(d, cuda_graph_end(d, true));
  CHECK_EQ_U64(fake.calls("cuLaunchKernelEx"), 2 * launches);
  fake.set("fail=cuGraphLaunch at=1 status=999");
  for (size_t i = 1; i < 3; i++) {
    CALLS(1);
    CHECK_EQ_U64(fake.calls("cuLaunchKernelEx"), i * launches);
  }
#undef CALLS
  cuda_memory_free(d, workspace);
  close_long(&s);
}

// The call of a program of several launches takes a workspace from the second call on a stream on and
// keeps it, whatever the streams; but not where it is captured or its launches cannot be one.
TEST(workspace_is_kept) {
  char why[CUDA_WHY];
  long_subject s;
  REQUIRE(open_long(&s));
  cuda_device *d = s.device, *other = cuda_open(0, why, sizeof why);
  REQUIRE(other != NULL);
  CHECK(permc_workspace_bytes(s.compiled) > 0);
  permc_call_options o = {.stream = d->own};
  permc_error e;
#define CALL_TAKES(count)                                                                          \
  taken += (count);                                                                                \
  CHECK_EQ_U64(permc_call(s.compiled, &s.values[0], 1, &s.values[1], 1, &o, &e), PERMC_OK);        \
  CHECK_EQ_U64(fake.calls("cuMemAllocAsync"), taken)
  size_t taken = 0;
  CALL_TAKES(1);  // how many launches there are is not known yet
  CHECK_EQ_U64(fake.calls("cuMemFreeAsync"), 1);
  CALL_TAKES(1);
  CALL_TAKES(0);
  o.stream = other->own;
  CALL_TAKES(1);
  CALL_TAKES(0);
  o.stream = d->own;
  CALL_TAKES(0);
  CHECK_EQ_U64(fake.calls("cuGraphExecNodeSetParams"), 0);
  CHECK_EQ_U64(fake.calls("cuMemFreeAsync"), 1);
  REQUIRE(cuda_graph_begin(d));
  CALL_TAKES(1);
  cuda_graph_free(d, cuda_graph_end(d, true));
  CHECK_EQ_U64(fake.calls("cuMemFreeAsync"), 2);
  fake.set("fail=cuGraphLaunch at=1 status=999");
  taken = 0;
  CALL_TAKES(0);  // one by one, in the memory that is then freed
  CHECK_EQ_U64(fake.calls("cuMemFreeAsync"), 1);
  CALL_TAKES(1);
#undef CALL_TAKES
  cuda_close(other);
  close_long(&s);
}

// A program is for the GPU that was chosen when it was compiled.
TEST(several_devices) {
  uint64_t dims[1] = {COUNT};
  enter("devices=2");
  permc_context *c = load_text("main : [m]u32 -> [m]u32\nmain = map (+ 1)\n");
  CHECK(!permc_use_device(c, -1) && !permc_use_device(c, 99));
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_DEVICE);
  permc_compiled *p[3] = {NULL};
  cuda_device *d[2];
  permc_value *x[2], *y[2];
  char why[CUDA_WHY];
  for (int32_t i = 0; i < 2; i++) {
    CHECK(permc_use_device(c, i));
    REQUIRE((p[i] = permc_compile_types(c, "main", "cuda", "[1000]u32")) != NULL);
    REQUIRE((d[i] = cuda_open(i, why, sizeof why)) != NULL);
    permc_memory m = {.type = "u32", .rank = 1, .dims = dims, .device = i};
    m.data = (void *)(uintptr_t)cuda_memory_new(d[i], 4 * COUNT);
    x[i] = permc_value_borrow(&m, NULL);
    m.data = (void *)(uintptr_t)cuda_memory_new(d[i], 4 * COUNT);
    y[i] = permc_value_borrow(&m, NULL);
  }
  CHECK(permc_use_device(c, 2));
  CHECK(permc_compile_types(c, "main", "cuda", "[1000]u32") == NULL);
  CHECK_CONTAINS(permc_message(c), "no CUDA device 2");
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_MISSING);
  for (int i = 0; i < 2; i++) {
    permc_call_options o = {.stream = d[i]->own};
    CHECK_EQ_U64(permc_call(p[i], &x[i], 1, &y[i], 1, &o, &call_error), PERMC_OK);
    CHECK_STR(call_error.message, "");
    CHECK_EQ_U64(permc_call(p[i], &x[1 - i], 1, &y[1 - i], 1, &o, &call_error), PERMC_ERROR_DEVICE);
    CHECK_EQ_U64(permc_call(p[i], &x[i], 1, &y[1 - i], 1, &o, &call_error), PERMC_ERROR_DEVICE);
  }
  // Values in the memory of the host: copied to the device that each program is for, in turn; and what
  // a run takes is the device of the context.
  uint32_t keys[COUNT] = {1};
  permc_value *host = value_1("u32", COUNT, keys), *result = value_1("u32", COUNT, NULL), **made;
  size_t count;
  double seconds;
  for (int i = 0; i < 4; i++) {
    CHECK(permc_use_device(c, (i + 1) % 2));
    CHECK_EQ_U64(permc_call(p[i % 2], &host, 1, &result, 1, NULL, &call_error), PERMC_OK);
    CHECK_EQ_U64(((const uint32_t *)permc_value_data(result, 0))[0], 2);
    CHECK(permc_run(c, "main", "cuda", &host, 1, &made, &count));
    CHECK(permc_time_call(p[i % 2], 1, &seconds));
    CHECK(permc_time_copy(p[i % 2], 64, 1, &seconds));
    permc_values_free(made, count);
  }
  permc_value_free(host);
  permc_value_free(result);
  for (int i = 0; i < 2; i++) {
    CHECK(cuda_wait(d[i], NULL));
    cuda_memory_free(d[i], (uintptr_t)permc_value_data(x[i], 0));
    cuda_memory_free(d[i], (uintptr_t)permc_value_data(y[i], 0));
    permc_value_free(x[i]);
    permc_value_free(y[i]);
    permc_compiled_free(p[i]);
    cuda_close(d[i]);
  }
  permc_context_free(c);
  fake_driver_check();
}

// What the kernel is given: the address of the roots' table, which is on the device.
TEST(tables_of_roots) {
  enter("");
  kernel = note_tables;
  float values[2 * COUNT] = {0};
  permc_context *c = load_text("main : [m]c64 -> [m]c64\nmain = mapi (\\k z -> z * root k 8)\n");
  permc_value *in = value_1("c64", COUNT, values), **out = NULL;
  size_t count = 0;
  CHECK(permc_run(c, "main", "cuda", &in, 1, &out, &count));
  CHECK_STR(permc_message(c), "");
  CHECK_EQ_U64(table_count, 1);
  const float half = 0.70710678F, expected[16] = {1,  0, half,  half,  0, 1,  -half, half,
                                                  -1, 0, -half, -half, 0, -1, half,  -half};
  CHECK(memcmp(first_table, expected, sizeof expected) == 0);
  CHECK_EQ_U64(first_address % 256, 0);  // as CUDA's own memory
  permc_values_free(out, count);
  permc_value_free(in);
  permc_context_free(c);
  fake_driver_check();
  kernel = add_one;
}

// Code from the cache that the driver refuses is compiled again.
TEST(stale_code) {
  enter("");
  subject s = a_subject("cuda");
  REQUIRE(s.compiled != NULL);
  drop(&s);
  enter("fail=cuModuleLoadData at=1 status=200");
  s = a_subject("cuda");
  REQUIRE(s.compiled != NULL && execute(&s));
  CHECK_EQ_U64(fake.calls("cuModuleLoadData"), 2);
  check_results(&s);
  drop(&s);
  fake_driver_check();
}

// ---- auto --------------------------------------------------------------------------------------

// So much arithmetic that a GPU wins, where its driver runs already: x to 3 x + 1, 100 times.
enum { LARGE = 1 << 22, TIMES = 100 };
static const char large_program[] =
    "main : [m]u32 -> [m]u32\nmain = map (iter 100 (\\x -> 3 * x + 1))\n"
    "small : [m]u32 -> [m]u32\nsmall = map (+ 1)\n";

static uint32_t expected_of(uint32_t x) {
  for (int i = 0; i < TIMES; i++)
    x = 3 * x + 1;
  return x;
}

static size_t launched;
static void iterate(const fake_cuda_launch *l) {
  const uint32_t *in = (const uint32_t *)(uintptr_t)l->parameters[1];
  uint32_t *out = (uint32_t *)(uintptr_t)l->parameters[2];
  uint32_t factor = expected_of(1) - expected_of(0), constant = expected_of(0);
  for (size_t i = 0; i < LARGE; i++)
    out[i] = factor * in[i] + constant;
  launched++;
}

// By auto. With `start`, the driver runs before. Whether the GPU has done it.
static bool run_large(bool start, const char *settings, bool consume, char message[300]) {
  permc_context *c = load_text(large_program);
  uint32_t few[COUNT] = {0}, *values = malloc(LARGE * sizeof *values);
  for (uint32_t i = 0; values && i < LARGE; i++)
    values[i] = i * 7;
  permc_value *in = value_1("u32", COUNT, few), **out = NULL;
  size_t count = 0;
  enter("");
  permc_use_threads(c, 1);
  kernel = add_one;
  CHECK(!start || permc_run(c, "small", "cuda", &in, 1, &out, &count));
  permc_values_free(out, count);
  out = NULL;
  permc_value_free(in);
  in = value_1("u32", LARGE, values);
  enter(settings);
  kernel = iterate;
  launched = 0;
  bool good = consume ? permc_run_consume(c, "main", NULL, &in, 1, &out, &count)
                      : permc_run(c, "main", NULL, &in, 1, &out, &count);
  CHECK(good && count == 1 && !in == consume);
  for (uint32_t i = 0; i < LARGE; i++)
    values[i] = expected_of(1) * values[i] - expected_of(0) * (values[i] - 1);
  if (good)
    check_1(out[0], 0, "u32", LARGE, values);
  snprintf(message, 300, "%s", permc_message(c));
  bool on_gpu = launched > 0;
  permc_values_free(out, count);
  permc_value_free(in);
  permc_context_free(c);
  free(values);
  kernel = add_one;
  return on_gpu;
}

TEST(auto_takes_the_gpu_where_it_wins) {
  char message[300];
  CHECK(run_large(true, "", false, message));
  CHECK_STR(message, "");
  fake_driver_check();
  CHECK(run_large(true, "", true, message));
  CHECK_STR(message, "");
  fake_driver_check();
  CHECK(!run_large(false, "", false, message));  // starting the driver would take longer
  CHECK_STR(message, "");
  CHECK_EQ_U64(fake.calls("cuInit"), 0);
}

TEST(auto_goes_on_without_a_gpu_that_fails) {
  static const char *const failing[] = {"fail=cuModuleLoadData at=1 status=999 fault=700",
                                        "fail=cuGraphLaunch at=1 status=719", "fault=700"};
  for (size_t i = 0; i < 3; i++) {
    char message[300];
    bool launches = run_large(true, failing[i], i % 2, message);
    CHECK_CONTAINS(message, "the processor runs this, as the GPU failed: ");
    CHECK(launches == (i != 1));
    CHECK_EQ_U64(fake.left(), 0);
  }
}

// ---- routines ----------------------------------------------------------------------------------

// The keys by a digit of 8 bits, from high to low, as the kernel of a sort does it: the number of the first
// block, the keys before and after, the state, rows, their length, the digit's number.
static void sort_digit(const fake_cuda_launch *l) {
  const uint32_t *from = (const uint32_t *)(uintptr_t)l->parameters[1];
  uint32_t *to = (uint32_t *)(uintptr_t)l->parameters[2], shift = 8 * (uint32_t)l->parameters[6];
  CHECK_EQ_U64(l->parameters[4], 1);
  CHECK_EQ_U64(l->parameters[5], COUNT);
  for (uint32_t digit = 256; digit-- > 0;)
    for (uint32_t i = 0; i < COUNT; i++)
      if ((from[i] >> shift & 255) == digit)
        *to++ = from[i];
}

// The second pass is a routine.
static bool run_routine(const char *program, const char *type, uint64_t count, const void *expected,
                        char *message, size_t size) {
  subject s = subject_of(program, "cuda");
  bool good = s.compiled && execute(&s);
  if (good && CHECK_EQ_U64(s.result_count, 1))
    check_1(s.results[0], 0, type, count, expected);
  snprintf(message, size, "%s", s.compiled ? call_error.message : permc_message(s.context));
  drop(&s);
  return good;
}

static bool run_sort(char *message, size_t size) {
  uint32_t expected[COUNT];
  for (uint32_t i = 0; i < COUNT; i++)
    expected[i] = 3 * (COUNT - 1 - i) + 1;
  return run_routine("main : [m]u32 -> [m]u32\n"
                     "main xs = permute (sorted_places_desc ys) ys where ys = map (+ 1) xs\n",
                     "u32", COUNT, expected, message, size);
}

// What checks the keys finds none that is wrong.
static void find_nothing(const fake_cuda_launch *l) {
  memcpy((void *)(uintptr_t)l->parameters[2], (const int64_t[2]){INT64_MAX, 0}, 16);
}

static bool run_count(char *message, size_t size) {
  static int64_t expected[1 << 14];
  for (uint32_t i = 0; i < 1 << 14; i++)
    expected[i] = i < 3 * COUNT && i % 3 == 1;
  return run_routine("main : [m]u32 -> []int\nmain xs = count_keys 14 (map (+ 1) xs)\n", "i64",
                     1 << 14, expected, message, size);
}

// Kernels of its own, in the graph. Whatever fails, it is told, and nothing is left over.
TEST(routines) {
  static const char *const calls[] = {"cuMemAlloc_v2", "cuModuleLoadData", "cuModuleGetFunction",
                                      "cuLaunchKernelEx"};
  char message[2000];
  enter("");
  fake.define("permc_pass_count", 6, NULL);
  fake.define("permc_pass_digit", 7, sort_digit);
  CHECK(run_sort(message, sizeof message));
  CHECK_STR(message, "");
  fake_driver_check();
  CHECK_EQ_U64(fake.calls("cuLaunchKernelEx"), 6);
  for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
    for (size_t at = 1; at <= 6; at++) {
      char settings[100];
      snprintf(settings, sizeof settings, "fail=%s at=%zu status=999", calls[c], at);
      enter(settings);
      if (!run_sort(message, sizeof message))
        CHECK_CONTAINS(message, "error 999");
      CHECK_EQ_U64(fake.left(), 0);
    }
}

TEST(routines_of_the_host) {
  char message[2000];
  enter("");
  fake.define("permc_pass_2", 4, find_nothing);
  fake.define("permc_pass_3", 5, find_nothing);
  CHECK(run_count(message, sizeof message));
  CHECK_STR(message, "");
  fake_driver_check();
  size_t copies = fake.calls("cuMemcpyDtoHAsync_v2");
  CHECK(copies > 0);
  for (size_t at = 1; at <= copies; at++) {
    char settings[100];
    snprintf(settings, sizeof settings, "fail=cuMemcpyDtoHAsync_v2 at=%zu status=999", at);
    enter(settings);
    CHECK(!run_count(message, sizeof message));
    CHECK_CONTAINS(message, "error 999");
    CHECK_EQ_U64(fake.left(), 0);
  }
}

// The only pass is a permutation by a schedule: by its kernel, with tables that are made of the places.
static uint64_t permuted_runs;
static void run_s_designated(const fake_cuda_launch *l) {
  const uint32_t *a = (const uint32_t *)(uintptr_t)l->parameters[1];
  uint32_t *b = (uint32_t *)(uintptr_t)l->parameters[2];
  const uint32_t *q = (const uint32_t *)(uintptr_t)l->parameters[3];
  CHECK_EQ_U64(l->parameters[4], COUNT);
  for (uint64_t i = 0; i < COUNT; i++)
    b[i] = a[q[i]];
  permuted_runs++;
}

// Twice by one permutation, then by another.
static bool run_permutations(char *message, size_t size) {
  static const uint32_t factors[] = {7, 7, 3};
  uint32_t values[COUNT], places[COUNT], expected[COUNT];
  permc_context *c = load_text("main : [m]i -> [m]u32 -> [m]u32\nmain p xs = permute p xs\n");
  permc_value *arguments[2] = {NULL, NULL}, **results = NULL;
  permc_compiled *p = NULL;
  size_t count = 0;
  bool good = true;
  for (size_t run = 0; run < 3 && good; run++) {
    for (uint32_t i = 0; i < COUNT; i++) {
      values[i] = i * i;
      places[i] = i * factors[run] % COUNT;
      expected[places[i]] = values[i];
    }
    for (int i = 0; i < 2; i++) {
      permc_value_free(arguments[i]);
      arguments[i] = value_1("u32", COUNT, i ? values : places);
    }
    arguments[0]->components[0].permutation = true;
    p = p ? p : permc_compile(c, "main", "cuda", arguments, 2);
    good = p && call_values(p, arguments, 2, &results, &count);
    if (good && CHECK_EQ_U64(count, 1))
      check_1(results[0], 0, "u32", COUNT, expected);
  }
  snprintf(message, size, "%s", p ? call_error.message : permc_message(c));
  permc_values_free(results, count);
  permc_compiled_free(p);
  for (int i = 0; i < 2; i++)
    permc_value_free(arguments[i]);
  permc_context_free(c);
  return good;
}

TEST(permutations_by_schedules) {
  static const char *const called[] = {"cuMemAlloc_v2", "cuStreamEndCapture", "cuLaunchKernelEx",
                                       "cuModuleGetFunction"};
  char message[2000];
  enter("");
  fake.define("permc_pass_s_designated", 5, run_s_designated);
  CHECK(run_permutations(message, sizeof message));
  CHECK_STR(message, "");
  CHECK_EQ_U64(permuted_runs, 3);
  fake_driver_check();
  for (size_t k = 0; k < sizeof called / sizeof *called; k++) {
    size_t calls = (enter(""), run_permutations(message, sizeof message), fake.calls(called[k]));
    CHECK(calls > 0);
    for (size_t at = 1; at <= calls; at++) {
      char settings[100];
      snprintf(settings, sizeof settings, "fail=%s at=%zu status=999", called[k], at);
      enter(settings);
      CHECK(!run_permutations(message, sizeof message));
      CHECK_CONTAINS(message, "error 999");
      CHECK_EQ_U64(fake.left(), 0);
    }
  }
}

// The values of arguments and results in memory of the device, the schedule in that of the host.
static permc_value *on_device(cuda_device *d, cuda_address *at, const uint32_t *values) {
  uint64_t dims[1] = {COUNT};
  *at = cuda_memory_new(d, COUNT * sizeof *values);
  CHECK(*at && cuda_upload(d, *at, values, COUNT * sizeof *values) && cuda_wait(d, NULL));
  permc_memory m = {.type = "u32", .rank = 1, .dims = dims, .data = (void *)(uintptr_t)*at};
  return permc_value_borrow(&m, NULL);
}

static permc_value *a_schedule(uint32_t factor) {
  uint32_t places[COUNT];
  for (uint32_t i = 0; i < COUNT; i++)
    places[i] = i * factor % COUNT;
  permc_value *v = value_1("u32", COUNT, places);
  v->components[0].permutation = true;
  return v;
}

// Then a call on values of the host, which has another schedule, and one on those of the device again.
TEST(schedules_on_values_of_the_device) {
  static const uint32_t factors[] = {7, 7, 3, 7};
  static const char *const failing[] = {"cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2", "cuStreamQuery",
                                        "cuLaunchKernelEx"};
  uint32_t values[COUNT], found[COUNT];
  char why[CUDA_WHY];
  enter("");
  fake.define("permc_pass_s_designated", 5, run_s_designated);
  permc_context *c = load_text("main : [m]i -> [m]u32 -> [m]u32\nmain p xs = permute p xs\n"
                               "both : [m]u32 -> [m]u32 -> ([m]u32, [m]u32)\n"
                               "both p xs = (permute p xs, map (+ 1) p)\n");
  cuda_device *d = cuda_open(0, why, sizeof why);
  REQUIRE(d != NULL);
  for (uint32_t i = 0; i < COUNT; i++)
    values[i] = i * i;
  cuda_address from, to;
  permc_value *arguments[2] = {a_schedule(7), on_device(d, &from, values)};
  permc_value *result = on_device(d, &to, values), *results[2] = {result, result};
  permc_compiled *p = permc_compile(c, "main", "cuda", arguments, 2);
  REQUIRE(p != NULL);
  permc_call_options o = {.stream = d->own};
  REQUIRE(cuda_graph_begin(d));  // a schedule cannot be made meanwhile
  CHECK_EQ_U64(permc_call(p, arguments, 2, &result, 1, &o, &call_error), PERMC_ERROR_DEVICE);
  CHECK_CONTAINS(call_error.message, "before the stream is captured");
  cuda_graph_free(d, cuda_graph_end(d, true));
  for (size_t run = 0; run < sizeof factors / sizeof *factors; run++) {
    permc_value_free(arguments[0]);
    arguments[0] = a_schedule(factors[run]);
    CHECK_EQ_U64(permc_call(p, arguments, 2, &result, 1, &o, &call_error), PERMC_OK);
    CHECK(cuda_fetch(d, found, to, sizeof found));
    for (uint32_t i = 0; i < COUNT; i++)
      CHECK_EQ_U64(found[i * factors[run] % COUNT], values[i]);
    if (run == 2) {
      permc_value *there[2] = {a_schedule(7), value_1("u32", COUNT, values)}, **out = NULL;
      size_t count = 0;
      for (int k = 0; k < 2; k++)
        call_values(p, there, 2, &out, &count);
      CHECK_STR(call_error.message, "");
      REQUIRE(out != NULL);
      CHECK_EQ_U64(((const uint32_t *)permc_value_data(out[0], 0))[7], 1);
      permc_values_free(out, count);
      permc_value_free(there[0]);
      permc_value_free(there[1]);
    }
  }
  size_t uploads = fake.calls("cuMemcpyHtoDAsync_v2");
  REQUIRE(cuda_graph_begin(d));  // it is the last one's
  CHECK_EQ_U64(permc_call(p, arguments, 2, &result, 1, &o, &call_error), PERMC_OK);
  cuda_graph_free(d, cuda_graph_end(d, true));
  CHECK_EQ_U64(fake.calls("cuMemcpyHtoDAsync_v2"), uploads);
  for (size_t k = 0; k < sizeof failing / sizeof *failing; k++) {
    char settings[100];
    snprintf(settings, sizeof settings, "fail=%s at=1 status=999", failing[k]);
    permc_value_free(arguments[0]);
    arguments[0] = a_schedule(k % 2 ? 7 : 3);
    fake.set(settings);
    CHECK_EQ_U64(permc_call(p, arguments, 2, &result, 1, &o, &call_error), PERMC_ERROR_DEVICE);
    CHECK_CONTAINS(call_error.message, "error 999");
    CHECK_EQ_U64(permc_call(p, arguments, 2, &result, 1, &o, &call_error), PERMC_OK);
  }
  permc_compiled_free(p);
  p = permc_compile(c, "both", "cuda", arguments, 2);  // reads the schedule on the device, too
  REQUIRE(p != NULL);
  CHECK_EQ_U64(permc_call(p, arguments, 2, results, 2, &o, &call_error), PERMC_ERROR_DEVICE);
  CHECK_CONTAINS(call_error.message, "several devices");
  permc_compiled_free(p);
  permc_value_free(arguments[0]);
  permc_value_free(arguments[1]);
  permc_value_free(result);
  cuda_memory_free(d, from);
  cuda_memory_free(d, to);
  permc_context_free(c);
  cuda_close(d);
  fake_driver_check();
}

// ---- every call, failing -----------------------------------------------------------------------

static bool run_program(char *message, size_t size) {
  subject s = a_subject("cuda");
  bool good = s.compiled && execute(&s);
  if (good)
    check_results(&s);
  snprintf(message, size, "%s", s.compiled ? call_error.message : permc_message(s.context));
  drop(&s);
  return good;
}

// Each call of the driver fails once. The run fails with a message that names the call, or succeeds
// (the CPU did it, or there was another way), with the right results. Nothing is left over.
TEST(failing_calls) {
  char message[2000];
  size_t counts[SYMBOLS], failed = 0;
  enter("");
  CHECK(run_program(message, sizeof message));
  fake_driver_check();
  for (size_t i = 0; i < SYMBOLS; i++)
    counts[i] = fake.calls(symbols[i]);
  for (size_t i = 0; i < SYMBOLS; i++)
    for (size_t at = 1; at <= counts[i]; at++) {
      char settings[100];
      snprintf(settings, sizeof settings, "fail=%s at=%zu status=999", symbols[i], at);
      enter(settings);
      bool good = run_program(message, sizeof message);
      failed += !good;
      if (!good && !CHECK_CONTAINS(message, "error 999"))
        printf("%s\n", settings);
      CHECK_EQ_U64(fake.left(), 0);
    }
  CHECK(failed > 20);
}

// The rows themselves are not wanted, but whether their offsets are right: arrays of the sort are in no
// pass.
TEST(arrays_in_no_pass) {
  enter("");
  permc_context *c = load_text("main : [8][3](f64, i16) -> [](f64, i16)\n"
                               "main xss = take 0 sorted[0]\n"
                               "  where sorted = map row xss\n"
                               "row xs = sort_ragged [k, k, k + 1] xs\n"
                               "  where k = i64 xs[1].1 % 3\n");
  for (int pass = 0; pass < 16; pass++) {
    char name[32];
    snprintf(name, sizeof name, "permc_pass_%d", pass);
    fake.define(name, 1, NULL);
  }
  permc_compiled *compiled = permc_compile_types(c, "main", "cuda", "[8][3](f64, i16)");
  CHECK_STR(permc_message(c), "");
  CHECK(compiled != NULL);
  permc_compiled_free(compiled);
  permc_context_free(c);
}

TEST_MAIN()
