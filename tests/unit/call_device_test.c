// permc_call on memory of a GPU: streams of the caller, graphs of the caller, several threads.
// Skipped where there is no GPU; call_test and cuda_calls_test have what needs none. The test
// calls_at_once runs with the fake driver, too (fake_cuda.h), as unit/calls_at_once.
#include "api.h"

#include "core/clock.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/values/value.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- the caller's side: streams, memory --------------------------------------------------------

static char why[CUDA_WHY];
static cuda_device *device;

static bool have_device(void) {
  const char *folder = getenv("PERMC_TMP");
  if (!device && folder && getenv("PERMC_CUDA_DRIVER"))  // kernels for the host lie there
    setenv("PERMC_CACHE", folder, 1), setenv("FAKE_NVRTC_HOST", folder, 1);
  if (!device && nvrtc_find(why, sizeof why))
    device = cuda_open(0, why, sizeof why);
  return device != NULL;
}

// A call of the driver.
#define CUDA(call) CHECK(cuda_enter(device) && cuda_leave(device, device->api->call == 0))

static cuda_stream *new_stream(void) {
  cuda_stream *s = NULL;
  CUDA(stream_create(&s, CUDA_STREAM_NON_BLOCKING));
  return s;
}

static permc_value *borrow(const char *type, uint32_t rank, const uint64_t *dims,
                           cuda_address data) {
  permc_error e = {PERMC_OK, ""};
  permc_memory m = {
      .type = type, .rank = rank, .dims = dims, .data = (void *)(uintptr_t)data, .device = 0};
  permc_value *v = permc_value_borrow(&m, &e);
  CHECK_STR(e.message, "");
  return v;
}

// A program, its arguments drawn, and arguments and results in memory of the device.
typedef struct subject {
  permc_context *context;
  permc_compiled *compiled;
  permc_value **drawn, **expected;  // in memory of the host
  size_t count, result_count;
  permc_value *arguments[4], *results[4];
  cuda_address memory[8];
  size_t memory_count;
} subject;

static permc_value *place(subject *s, const permc_value *v, bool copy) {
  permc_value *parts[4];
  for (size_t k = 0; k < v->count; k++) {
    const array *a = &v->components[k];
    cuda_address at = s->memory[s->memory_count++] = cuda_memory_new(device, array_bytes(a));
    CHECK(at != 0);
    for (uint64_t i = 0; copy && a->type == SCALAR_BOOL && i < array_bytes(a); i++)
      ((uint8_t *)a->data)[i] *= (uint8_t)(1 + i % 127 * 2);  // true is any byte but 0
    if (copy)
      CHECK(cuda_upload(device, at, a->data, array_bytes(a)) && cuda_wait(device, NULL));
    parts[k] = borrow(permc_value_type(v, k), a->rank, a->dims, at);
  }
  return permc_value_tuple(parts, v->count);
}

static bool open_subject(subject *s, const char *expression, const char *types, uint64_t seed) {
  *s = (subject){.context = load_expression(expression)};
  if (!s->context)
    return false;
  CHECK(permc_read_random(s->context, "-e", types, seed, &s->drawn, &s->count));
  CHECK(
      permc_run(s->context, "-e", "portable", s->drawn, s->count, &s->expected, &s->result_count));
  s->compiled = permc_compile_types(s->context, "-e", "cuda", types);
  CHECK_STR(permc_message(s->context), "");
  if (!s->compiled)
    return false;
  for (size_t i = 0; i < s->count; i++)
    s->arguments[i] = place(s, s->drawn[i], true);
  for (size_t i = 0; i < s->result_count; i++)
    s->results[i] = place(s, s->expected[i], false);
  return true;
}

static void close_subject(subject *s) {
  permc_compiled_free(s->compiled);
  for (size_t i = 0; i < s->count; i++)
    permc_value_free(s->arguments[i]);
  for (size_t i = 0; i < s->result_count; i++)
    permc_value_free(s->results[i]);
  permc_values_free(s->drawn, s->count);
  permc_values_free(s->expected, s->result_count);
  permc_context_free(s->context);
  for (size_t i = 0; i < s->memory_count; i++)
    cuda_memory_free(device, s->memory[i]);
}

static permc_code call_on(const subject *s, cuda_stream *stream) {
  permc_call_options o = {.stream = stream};
  permc_error e;
  permc_code code =
      permc_call(s->compiled, s->arguments, s->count, s->results, s->result_count, &o, &e);
  CHECK_STR(e.message, "");
  return code;
}

static void clear_results(const subject *s) {
  for (size_t i = 0; i < s->result_count; i++)
    for (size_t k = 0; k < s->results[i]->count; k++) {
      uint64_t bytes = array_bytes(&s->results[i]->components[k]);
      void *zeros = calloc(1, bytes + 1);
      CHECK(cuda_upload(device, (uintptr_t)s->results[i]->components[k].data, zeros, bytes));
      CHECK(cuda_wait(device, NULL));
      free(zeros);
    }
}

static bool has_results(const subject *s, cuda_stream *stream) {
  bool good = CUDA(stream_synchronize(stream));
  for (size_t i = 0; i < s->result_count && good; i++)
    for (size_t k = 0; k < s->results[i]->count && good; k++) {
      array found = s->expected[i]->components[k];
      found.data = malloc(array_bytes(&found) + 1);
      good = cuda_download(device, found.data, (uintptr_t)s->results[i]->components[k].data,
                           array_bytes(&found)) &&
             array_same_bits(&found, &s->expected[i]->components[k]);
      free(found.data);
    }
  return good;
}

static const struct {
  const char *expression, *types;
} programs[] = {
    {"map (* 3)", "[1000]u32"},
    {"sort", "[2^10]u32"},
    {"sort_network", "[2^20]f32"},
    {"map sort", "[100][2^10]u32"},
    {"fft", "[2^16]c64"},
    {"scan (+)", "[2^20]i64"},
    {"bitrev", "[2^22]u32"},
    {"\\xs -> (sum xs, reverse xs)", "[100000]i32"},
    {"\\xs ys -> zip_with (\\(a, b) y -> (b, a + y)) xs ys", "[3000](i32, f32) [3000]i32"},
    {"sort", "[2^20]u32"},
    {"argsort", "[100003]f32"},
    {"sort", "[2^24]u32"},
    {"compact odd", "[100000]u32"},
    {"histogram 8 id", "[2^16]u8"},
    {"histogram 4 (\\x -> int (x / 16))", "[100000]u8"},
    {"\\is xs -> gather (map (% 1000) is) xs", "[5000]u32 [1000]f32"},
    {"sort_on fst", "[2^20](u32, u32)"},
    {"map not", "[100000]bool"},
    {"reverse", "[2^20]bool"},
    {"transpose", "[100][1000]bool"},
    {"argsort", "[2^16]bool"},
    {"scan_segments (+)", "[2^18]bool [2^18]i32"},
    {"\\is xs -> gather (map (% 1000) is) xs", "[5000]u32 [1000]bool"},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

// ---- calls ---------------------------------------------------------------------------------------

TEST(on_a_stream) {
  if (!have_device())
    SKIP(why);
  cuda_stream *stream = new_stream();
  for (size_t i = 0; i < PROGRAMS; i++) {
    subject s;
    if (CHECK(open_subject(&s, programs[i].expression, programs[i].types, 7))) {
      for (int run = 0; run < 3; run++) {
        clear_results(&s);
        CHECK_EQ_U64(call_on(&s, stream), PERMC_OK);
        if (!CHECK(has_results(&s, stream)))
          printf("%s %s\n", programs[i].expression, programs[i].types);
      }
      printf("%s %s: workspace of %llu bytes\n", programs[i].expression, programs[i].types,
             (unsigned long long)permc_workspace_bytes(s.compiled));
    }
    close_subject(&s);
  }
  CUDA(stream_destroy(stream));
}

TEST(on_the_default_stream) {
  if (!have_device())
    SKIP(why);
  subject s;
  if (CHECK(open_subject(&s, "sort", "[2^10]u32", 7))) {
    CHECK_EQ_U64(call_on(&s, NULL), PERMC_OK);
    CHECK(has_results(&s, NULL));
  }
  close_subject(&s);
}

static permc_value *a_schedule(uint32_t length) {
  uint32_t *places = malloc((length + 1) * sizeof *places);
  for (uint32_t i = 0; i < length; i++)
    places[i] = i;
  for (uint32_t i = length; i > 1; i--) {
    uint32_t k = (uint32_t)random_below(i), last = places[i - 1];
    places[i - 1] = places[k];
    places[k] = last;
  }
  permc_value *v = value_1("u32", length, places);
  v->components[0].permutation = true;
  free(places);
  return v;
}

// Permutations by schedules, which are the host's, of values of the device: two of them in turn, by
// two streams.
TEST(schedules) {
  if (!have_device())
    SKIP(why);
  static const uint32_t lengths[] = {1000, 1 << 12, 1 << 16, 1000003, 1 << 22};
  cuda_stream *streams[2] = {new_stream(), new_stream()};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    char types[64];
    subject s[2];
    permc_value *one[2] = {a_schedule(lengths[i]), a_schedule(lengths[i])};
    snprintf(types, sizeof types, "[%u]u32", (unsigned)lengths[i]);
    permc_context *c = load_expression("permute");
    permc_compiled *p = NULL;
    for (int k = 0; k < 2; k++) {
      CHECK(open_subject(&s[k], "map id", types, 7));
      permc_value *in[2] = {one[k], s[k].drawn[0]};
      permc_values_free(s[k].expected, s[k].result_count);
      CHECK(permc_run(c, "-e", "portable", in, 2, &s[k].expected, &s[k].result_count));
      CHECK_STR(permc_message(c), "");
      p = p ? p : permc_compile(c, "-e", "cuda", in, 2);
    }
    for (int turn = 0; p && turn < 6; turn++) {
      int k = turn / 2 % 2;
      permc_value *in[2] = {one[k], s[k].arguments[0]};
      permc_call_options o = {.stream = streams[turn % 2]};
      permc_error e;
      clear_results(&s[k]);
      double start = clock_seconds();
      CHECK_EQ_U64(permc_call(p, in, 2, s[k].results, 1, &o, &e), PERMC_OK);
      CHECK_STR(e.message, "");
      double seconds = clock_seconds() - start;
      CHECK(has_results(&s[k], o.stream));
      printf("%s: %.3f ms\n", types, seconds * 1e3);
    }
    permc_compiled_free(p);
    permc_context_free(c);
    for (int k = 0; k < 2; k++) {
      permc_value_free(one[k]);
      close_subject(&s[k]);
    }
  }
  for (int k = 0; k < 2; k++)
    CUDA(stream_destroy(streams[k]));
}

// Recorded by the caller, and replayed on other data at the same places.
TEST(in_a_graph) {
  if (!have_device())
    SKIP(why);
  cuda_stream *stream = new_stream();
  for (size_t i = 0; i < PROGRAMS; i++) {
    subject s;
    cuda_recording *recording = NULL;
    cuda_graph *graph = NULL;
    if (CHECK(open_subject(&s, programs[i].expression, programs[i].types, 7))) {
      permc_call_options o = {.stream = stream};
      CUDA(begin_capture(stream, CUDA_CAPTURE_THREAD_LOCAL));
      permc_code code =
          permc_call(s.compiled, s.arguments, s.count, s.results, s.result_count, &o, &call_error);
      CUDA(end_capture(stream, &recording));
      if (CHECK_EQ_U64(code, PERMC_OK))
        CUDA(graph_instantiate(&graph, recording, 0));
      else
        printf("%s: %s\n", programs[i].expression, call_error.message);
      for (int run = 0; run < 3 && graph; run++) {
        clear_results(&s);
        CUDA(graph_launch(graph, stream));
        CHECK(has_results(&s, stream));
        for (size_t k = 0; k < s.count; k++) {  // other data
          permc_value **drawn = NULL;
          size_t count = 0;
          CHECK(permc_read_random(s.context, "-e", programs[i].types, 100 + (uint64_t)run, &drawn,
                                  &count));
          const array *a = &drawn[k]->components[0];
          CHECK(cuda_upload(device, (uintptr_t)s.arguments[k]->components[0].data, a->data,
                            array_bytes(a)) &&
                cuda_wait(device, NULL));
          memcpy(s.drawn[k]->components[0].data, a->data, array_bytes(a));
          permc_values_free(drawn, count);
        }
        permc_values_free(s.expected, s.result_count);
        CHECK(
            permc_run(s.context, "-e", "portable", s.drawn, s.count, &s.expected, &s.result_count));
      }
      if (graph)
        CUDA(graph_exec_destroy(graph));
      if (recording)
        CUDA(graph_destroy(recording));
    }
    close_subject(&s);
  }
  CUDA(stream_destroy(stream));
}

// A program that looks at its data is not captured, and says so.
TEST(checks_of_data) {
  if (!have_device())
    SKIP(why);
  cuda_stream *stream = new_stream();
  int64_t places[4] = {0, 1, 2, 3};
  uint32_t keys[4] = {5, 6, 7, 8}, out[4] = {0};
  permc_context *c = load_expression("gather");
  permc_compiled *p = permc_compile_types(c, "-e", "cuda", "[4]i64 [4]u32");
  REQUIRE(p != NULL);
  cuda_address at[3];
  for (int i = 0; i < 3; i++)
    at[i] = cuda_memory_new(device, 64);
  permc_value *in[2] = {borrow("i64", 1, (uint64_t[]){4}, at[0]),
                        borrow("u32", 1, (uint64_t[]){4}, at[1])};
  permc_value *y = borrow("u32", 1, (uint64_t[]){4}, at[2]);
  permc_call_options o = {.stream = stream};
  for (int run = 0; run < 3; run++) {
    places[2] = run == 1 ? 9 : 0;
    CHECK(cuda_upload(device, at[0], places, sizeof places) &&
          cuda_upload(device, at[1], keys, sizeof keys) && cuda_wait(device, NULL));
    CHECK_EQ_U64(permc_call(p, in, 2, &y, 1, &o, &call_error),
                 run == 1 ? PERMC_ERROR_PROGRAM : PERMC_OK);
    CHECK_CONTAINS(call_error.message, run == 1 ? "index 9 at position 2" : "");
  }
  CHECK(cuda_download(device, out, at[2], sizeof out));
  CHECK_EQ_U64(out[2], 5);
  cuda_recording *recording = NULL;
  CUDA(begin_capture(stream, CUDA_CAPTURE_THREAD_LOCAL));
  CHECK_EQ_U64(permc_call(p, in, 2, &y, 1, &o, &call_error), PERMC_ERROR_DEVICE);
  CHECK_CONTAINS(call_error.message, "cannot be captured");
  CUDA(end_capture(stream, &recording));
  CUDA(graph_destroy(recording));
  permc_value_free(in[0]);
  permc_value_free(in[1]);
  permc_value_free(y);
  permc_compiled_free(p);
  permc_context_free(c);
  for (int i = 0; i < 3; i++)
    cuda_memory_free(device, at[i]);
  CUDA(stream_destroy(stream));
}

// ---- calls at once -------------------------------------------------------------------------------

// What passes keep between their blocks is a call's own.
static const struct {
  const char *expression, *types;
  bool waits;  // for its checks, so that it cannot be recorded
} kept[] = {
    {"scan (+)", "[2^17]i32", false},
    {"scan_segments (+)", "[2^18]bool [2^18]i64", false},
    {"\\xs ys -> (scan (+) xs, scan (+) ys)", "[2^17]u32 [2^16]u32", false},
    {"sort", "[2^15]u32", false},
    {"argsort", "[30001]f32", false},
    {"sort_on (\\x -> x & 7)", "[2^15]u32", false},
    {"sort_ragged (map (\\i -> 100 * i) (iota 300))", "[30000]u32", true},
    {"compact odd", "[2^16]u32", false},
    {"bucket 3 (\\x -> x & 7)", "[2^16]u32", false},
    {"histogram 8 id", "[2^16]u8", false},
    {"top_k 100", "[2^15]f32", false},
    {"shuffle_random 3", "[2^15]u32", false},
    {"map sort", "[8][2^12]u64", false},
};

static cuda_graph *record_call(const subject *s, cuda_stream *stream) {
  cuda_recording *recording = NULL;
  cuda_graph *graph = NULL;
  CUDA(begin_capture(stream, CUDA_CAPTURE_THREAD_LOCAL));
  permc_code code = call_on(s, stream);
  CUDA(end_capture(stream, &recording));
  if (code == PERMC_OK)
    CUDA(graph_instantiate(&graph, recording, 0));
  CUDA(graph_destroy(recording));
  return graph;
}

// On two streams, which do not wait for each other: calls, or a graph of one and a call.
static bool two_at_once(subject s[2], cuda_stream *streams[2], cuda_graph *graph) {
  for (int k = 0; k < 2; k++)
    clear_results(&s[k]);
  if (graph)
    CUDA(graph_launch(graph, streams[0]));
  else
    call_on(&s[0], streams[0]);
  call_on(&s[1], streams[1]);
  bool first = has_results(&s[0], streams[0]), second = has_results(&s[1], streams[1]);
  return CHECK(first) & CHECK(second);
}

TEST(calls_at_once) {
  if (!have_device())
    SKIP(why);
  cuda_stream *streams[2] = {new_stream(), new_stream()};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    subject s[2];
    bool good = true;
    for (int k = 0; k < 2; k++)
      good = CHECK(open_subject(&s[k], kept[i].expression, kept[i].types, 7 + (uint64_t)k)) && good;
    permc_compiled *other = s[1].compiled;
    s[1].compiled = s[0].compiled;
    for (int round = 0; round < 4 && good; round++)
      good = two_at_once(s, streams, NULL);
    cuda_graph *graph = good && !kept[i].waits ? record_call(&s[0], streams[0]) : NULL;
    for (int round = 0; round < 2 && graph; round++)
      good = two_at_once(s, streams, graph) && good;
    if (graph)
      CUDA(graph_exec_destroy(graph));
    if (!CHECK(good && (graph || kept[i].waits)))
      printf("%s %s\n", kept[i].expression, kept[i].types);
    s[1].compiled = other;
    for (int k = 0; k < 2; k++)
      close_subject(&s[k]);
  }
  for (int k = 0; k < 2; k++)
    CUDA(stream_destroy(streams[k]));
}

// ---- threads -------------------------------------------------------------------------------------

typedef struct caller {
  const permc_compiled *compiled;
  uint32_t number;
  bool good;
  pthread_t thread;
} caller;

enum { LENGTH = 1 << 12, CALLS = 200 };

static void *call_often(void *with) {
  caller *t = with;
  static uint32_t in[8][LENGTH], out[8][LENGTH];
  char problem[CUDA_WHY];
  cuda_device *d = cuda_open(0, problem, sizeof problem);
  cuda_address a = d ? cuda_memory_new(d, sizeof in[0]) : 0,
               b = d ? cuda_memory_new(d, sizeof in[0]) : 0;
  permc_value *x = borrow("u32", 1, (uint64_t[]){LENGTH}, a),
              *y = borrow("u32", 1, (uint64_t[]){LENGTH}, b);
  permc_call_options o = {.stream = d->stream};
  permc_error e;
  t->good = a && b;
  for (uint32_t i = 0; i < CALLS && t->good; i++) {
    for (uint32_t k = 0; k < LENGTH; k++)
      in[t->number][k] = (k + i + t->number) * 2654435761u;
    t->good = cuda_upload(d, a, in[t->number], sizeof in[0]) &&
              permc_call(t->compiled, &x, 1, &y, 1, &o, &e) == PERMC_OK &&
              cuda_download(d, out[t->number], b, sizeof in[0]);
    for (uint32_t k = 1; k < LENGTH && t->good; k++)
      t->good = out[t->number][k - 1] <= out[t->number][k];
  }
  permc_value_free(x);
  permc_value_free(y);
  cuda_memory_free(d, a);
  cuda_memory_free(d, b);
  cuda_close(d);
  return NULL;
}

TEST(threads) {
  if (!have_device())
    SKIP(why);
  enum { THREADS = 8 };
  caller all[THREADS];
  permc_context *c = load_expression("sort");
  permc_compiled *p = permc_compile_types(c, "-e", "cuda", "[2^12]u32");
  REQUIRE(p != NULL);
  for (uint32_t i = 0; i < THREADS; i++) {
    all[i] = (caller){.compiled = p, .number = i};
    REQUIRE(pthread_create(&all[i].thread, NULL, call_often, &all[i]) == 0);
  }
  for (uint32_t i = 0; i < THREADS; i++) {
    pthread_join(all[i].thread, NULL);
    CHECK(all[i].good);
  }
  permc_compiled_free(p);
  permc_context_free(c);
}

// ---- what it costs -------------------------------------------------------------------------------

static const char empty[] =
    "extern \"C\" __global__ void none(unsigned long long f, void *a, void *b, void *c) {}\n";

// Of launches of an empty kernel, with as many parameters.
static double time_launches(cuda_stream *stream, int count) {
  void *cubin = NULL;
  size_t size = 0;
  nvrtc_job job = {
      .text = empty, .name = "none.cu", .architecture = cuda_facts_of(device)->capability};
  cuda_kernel k;
  if (!CHECK(nvrtc_compile(&job, &cubin, &size, why, sizeof why)))
    return 0;
  cuda_module *m = cuda_module_load(device, cubin, size);
  if (!CHECK(m != NULL && cuda_kernel_find(device, m, "none", 0, &k)))
    return 0;
  uint64_t values[4] = {0};
  void *parameters[4] = {&values[0], &values[1], &values[2], &values[3]};
  cuda_launch_config config = {{1, 1, 1}, {32, 1, 1}, 0, stream, NULL, 0};
  CHECK(cuda_enter(device));
  for (int i = 0; i < 100; i++)
    device->api->launch_kernel(&config, k.function, parameters, NULL);
  device->api->stream_synchronize(stream);
  double start = clock_seconds();
  for (int i = 0; i < count; i++)
    device->api->launch_kernel(&config, k.function, parameters, NULL);
  double seconds = (clock_seconds() - start) / count;
  device->api->stream_synchronize(stream);
  cuda_leave(device, true);
  cuda_module_free(device, m);
  free(cubin);
  return seconds;
}

TEST(overhead) {
  if (!have_device())
    SKIP(why);
  enum { COUNT = 64 };  // fewer than CUDA queues
  cuda_stream *stream = new_stream();
  subject s;
  if (CHECK(open_subject(&s, "map (* 3)", "[1000]u32", 7))) {
    double launch = 1, call = 1;
    for (int turn = 0; turn < 9; turn++) {
      double one = time_launches(stream, COUNT);
      launch = one < launch ? one : launch;
      call_on(&s, stream);
      CUDA(stream_synchronize(stream));
      permc_call_options o = {.stream = stream};
      double start = clock_seconds();
      for (int i = 0; i < COUNT; i++)
        permc_call(s.compiled, s.arguments, s.count, s.results, s.result_count, &o, NULL);
      double each = (clock_seconds() - start) / COUNT;
      call = each < call ? each : call;
      CUDA(stream_synchronize(stream));
    }
    printf("a launch takes %.0f ns, a call of one launch %.0f ns\n", launch * 1e9, call * 1e9);
    CHECK(has_results(&s, stream));
  }
  close_subject(&s);
  CUDA(stream_destroy(stream));
}

// A child of fork has no GPU, and says so.
TEST(child_of_fork) {
  if (!have_device())
    SKIP(why);
  subject s;
  int status = 1;
  CHECK(open_subject(&s, "sort", "[2^10]u32", 7));
  pid_t child = fork();
  if (child == 0) {
    permc_error e;
    alarm(60);
    bool good =
        permc_call(s.compiled, s.arguments, 1, s.results, 1, NULL, &e) == PERMC_ERROR_DEVICE &&
        strstr(e.message, "forked after CUDA was started");
    permc_context *c = load_expression("sort");
    good = good && !permc_compile_types(c, "-e", "cuda", "[8]u32") &&
           strstr(permc_message(c), "forked after CUDA was started");
    permc_compiled *p = permc_compile_types(c, "-e", NULL, "[8]u32");
    good = good && p;
    permc_compiled_free(p);
    permc_context_free(c);
    close_subject(&s);  // nothing of the parent's is freed
    _exit(!good);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK_EQ_I64(status, 0);
  CHECK_EQ_U64(call_on(&s, NULL), PERMC_OK);
  CHECK(has_results(&s, NULL));
  close_subject(&s);
}

// Microseconds of a call: of many one after the other on a stream, of which the host; of one that
// is waited for.
typedef struct call_times {
  double all, host, alone;
} call_times;

static call_times time_calls(const subject *s, const permc_call_options *o) {
  enum { TIMES = 100, TURNS = 5 };
  call_times least = {1, 1, 1};
  for (int turn = 0; turn < TURNS; turn++) {
    double all = 0, host = 0, alone = 0;
    for (int k = 0; k < 2 * TIMES; k++) {
      double start = clock_seconds();
      permc_call(s->compiled, s->arguments, s->count, s->results, s->result_count, o, NULL);
      host += k < TIMES ? clock_seconds() - start : 0;
      if (k >= TIMES - 1)
        CUDA(stream_synchronize(o->stream));
      *(k < TIMES ? &all : &alone) += clock_seconds() - start;
    }
    least.all = all < least.all ? all : least.all;
    least.host = host < least.host ? host : least.host;
    least.alone = alone < least.alone ? alone : least.alone;
  }
  return (call_times){least.all / TIMES * 1e6, least.host / TIMES * 1e6, least.alone / TIMES * 1e6};
}

// With a workspace of the caller, and without.
TEST(times) {
  if (!have_device())
    SKIP(why);
  static const char *const types[] = {"[2^10]u32", "[2^16]u32", "[2^20]u32", "[2^22]u32",
                                      "[2^24]u32"};
  cuda_stream *stream = new_stream();
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    subject s;
    if (CHECK(open_subject(&s, "sort", types[i], 7))) {
      uint64_t bytes = permc_workspace_bytes(s.compiled);
      cuda_address memory = 0;
      permc_call_options o = {.stream = stream}, with = o;
      CUDA(mem_alloc(&memory, bytes + 1));
      with.workspace = (void *)(uintptr_t)memory;
      with.workspace_bytes = bytes;
      for (int k = 0; k < 2; k++)  // the graph is written
        call_on(&s, stream);
      call_times own = time_calls(&s, &o), callers = time_calls(&s, &with);
      printf(
          "sort %s: %.1f us, of which the host has %.1f, and %.1f alone; with a workspace of the "
          "caller's %.1f, %.1f and %.1f\n",
          types[i], own.all, own.host, own.alone, callers.all, callers.host, callers.alone);
      CUDA(mem_free(memory));
    }
    close_subject(&s);
  }
  CUDA(stream_destroy(stream));
}

TEST_MAIN()
