// Calls of programs on the backend cuda without a GPU: memory, streams and workspaces of the
// caller, launches that are started as one, several devices.
#include "tests/unit/cuda_program.h"

#include "runtime/cuda/device.h"

#include <pthread.h>

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

// Several launches are started as one from the second call on, by graphs of their own: written once
// for each stream, and again for other addresses; one by one while the stream is captured, or if
// that fails.
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

// The call of a program of several launches takes a workspace from the second call on a stream on
// and keeps it, whatever the streams; but not where it is captured or its launches cannot be one.
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

// What the blocks of a scan keep is the call's: cleared once for all calls on a stream, as its
// launches tell their runs apart, and each time where a stream is captured.
static uint64_t state;
static void note_state(const fake_cuda_launch *l) { state = l->parameters[4]; }

TEST(state_of_look_back) {
  enum { LENGTH = 1 << 15 };
  uint64_t dims[1] = {LENGTH}, seen[3];
  char why[CUDA_WHY];
  enter("");
  fake.define("permc_pass_0", 5, note_state);
  permc_context *c = load_text("main : [m]u32 -> [m]u32\nmain = scan (+)\n");
  permc_compiled *p = permc_compile_types(c, "main", "cuda", "[2^15]u32");
  cuda_device *d[2] = {cuda_open(0, why, sizeof why), cuda_open(0, why, sizeof why)};
  REQUIRE(p && d[0] && d[1]);
  cuda_address at = cuda_memory_new(d[0], 2 * sizeof(uint32_t) * LENGTH);
  permc_memory m = {.type = "u32", .rank = 1, .dims = dims, .data = (void *)(uintptr_t)at};
  permc_value *from = permc_value_borrow(&m, NULL);
  m.data = (char *)m.data + sizeof(uint32_t) * LENGTH;
  permc_value *to = permc_value_borrow(&m, NULL);
#define CALL_CLEARS(which, count)                                                                  \
  cleared += (count);                                                                              \
  CHECK_EQ_U64(permc_call(p, &from, 1, &to, 1, &(permc_call_options){.stream = d[which]->own},     \
                          &call_error),                                                            \
               PERMC_OK);                                                                          \
  CHECK_EQ_U64(fake.calls("cuMemsetD8Async"), cleared)
  size_t cleared = 0;
  CALL_CLEARS(0, 1);
  for (int which = 0; which < 2; which++) {
    CALL_CLEARS(which, 1);
    CALL_CLEARS(which, 0);
    CHECK(cuda_wait(d[which], NULL));
    seen[which] = state;
  }
  REQUIRE(cuda_graph_begin(d[0]));
  CALL_CLEARS(0, 1);
  cuda_graph *graph = cuda_graph_end(d[0], true);
  CHECK(cuda_graph_launch(d[0], graph) && cuda_wait(d[0], NULL));
  seen[2] = state;
  CHECK(seen[0] != seen[1] && seen[0] != seen[2] && seen[1] != seen[2]);
#undef CALL_CLEARS
  cuda_graph_free(d[0], graph);
  permc_value_free(from);
  permc_value_free(to);
  cuda_memory_free(d[0], at);
  permc_compiled_free(p);
  permc_context_free(c);
  cuda_close(d[0]);
  cuda_close(d[1]);
  fake_driver_check();
  fake.define("permc_pass_0", 4, run_kernel);
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
  // Values in the memory of the host: copied to the device that each program is for, in turn; and
  // what a run takes is the device of the context.
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

// ---- values of the host ------------------------------------------------------------------------

// Calls of one program, whose values are the host's, while its context compiles others, whose first
// calls record their launches.
static void *call_again(void *with) {
  const subject *s = with;
  permc_error e = {PERMC_OK, ""};
  for (int i = 0; i < 100 && e.code == PERMC_OK; i++)
    permc_call(s->compiled, &s->argument, 1, s->results, 1, NULL, &e);
  return e.code == PERMC_OK ? NULL : strdup(e.message);
}

TEST(compiling_beside_calls) {
  pthread_t thread;
  enter("slow=1");
  subject s = a_subject("cuda");
  REQUIRE(s.compiled != NULL && execute(&s));
  REQUIRE(pthread_create(&thread, NULL, call_again, &s) == 0);
  for (int i = 0; i < 20; i++) {
    subject other = {.context = s.context, .argument = s.argument};
    other.compiled = permc_compile(s.context, "main", "cuda", &s.argument, 1);
    if (CHECK(other.compiled != NULL) && CHECK(execute(&other)))
      check_results(&other);
    permc_values_free(other.results, other.result_count);
    permc_compiled_free(other.compiled);
  }
  void *message = NULL;
  pthread_join(thread, &message);
  CHECK_STR(message, NULL);
  free(message);
  check_results(&s);
  drop(&s);
  fake_driver_check();
}

TEST_MAIN()
