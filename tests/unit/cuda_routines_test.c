// Routines in programs on the backend cuda without a GPU: sorts, counts, permutations by schedules.
#include "tests/unit/cuda_program.h"

#include "runtime/cuda/device.h"
#include "runtime/gpu/launch_table.h"
#include "runtime/values/value.h"
#include "tests/readers/readers.h"

// The keys by a digit of 8 bits, from high to low, as the kernel of a sort does it: the number of
// the first block, the keys before and after, the state, rows, their length, the digit's number.
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
    for (size_t at = 1; at <= 6; at++)
      run_with_failure(calls[c], at, run_sort);
}

// Of more keys than a block has counts of, by the kernels themselves: nothing goes to the host but
// the counts, and what the check of the keys has found.
TEST(counts_of_many_keys) {
  char message[2000];
  enter("");
  setenv("FAKE_NVRTC_HOST", getenv("PERMC_CACHE"), 1);
  unsetenv("FAKE_NVRTC_CUBIN");
  CHECK(run_count(message, sizeof message));
  CHECK_STR(message, "");
  fake_driver_check();
  size_t copies = fake.calls("cuMemcpyDtoHAsync_v2");
  CHECK_EQ_U64(copies, 2);
  for (size_t at = 1; at <= copies; at++)
    CHECK(!run_with_failure("cuMemcpyDtoHAsync_v2", at, run_count));
  unsetenv("FAKE_NVRTC_HOST");
  setenv("FAKE_NVRTC_CUBIN", FAKE_CUDA_MODULE, 1);
}

// Keys that a sort computes of bools of any bytes.
TEST(keys_of_bools) {
  uint8_t bytes[COUNT], expected[COUNT];
  permc_value **results = NULL;
  size_t count = 0, trues = 0;
  enter("");
  setenv("FAKE_NVRTC_HOST", getenv("PERMC_CACHE"), 1);
  unsetenv("FAKE_NVRTC_CUBIN");
  for (size_t i = 0; i < COUNT; i++) {
    bytes[i] = (uint8_t)(i % 3 ? i % 256 : 0);
    trues += bytes[i] != 0;
  }
  for (size_t i = 0; i < COUNT; i++)
    expected[i] = i >= COUNT - trues;
  permc_context *c = load_text("main : [m]bool -> [m]bool\nmain xs = fst (bucket 1 i64 xs)\n");
  permc_value *argument = value_1("bool", COUNT, bytes);
  permc_compiled *p = permc_compile(c, "main", "cuda", &argument, 1);
  CHECK(p && call_values(p, &argument, 1, &results, &count));
  if (CHECK_EQ_U64(count, 1))
    check_1(results[0], 0, "bool", COUNT, expected);
  permc_values_free(results, count);
  permc_compiled_free(p);
  permc_value_free(argument);
  permc_context_free(c);
  unsetenv("FAKE_NVRTC_HOST");
  setenv("FAKE_NVRTC_CUBIN", FAKE_CUDA_MODULE, 1);
}

// The only pass is a permutation by a schedule: by its kernel, with tables that are made of the
// places.
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
    for (size_t at = 1; at <= calls; at++)
      CHECK(!run_with_failure(called[k], at, run_permutations));
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

// Then a call on values of the host, which has another schedule, and one on those of the device
// again.
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
  REQUIRE(cuda_graph_begin(d));  // it is the last one's, and stays so
  CHECK_EQ_U64(permc_call(p, arguments, 2, &result, 1, &o, &call_error), PERMC_OK);
  cuda_graph *graph = cuda_graph_end(d, true);
  CHECK_EQ_U64(fake.calls("cuMemcpyHtoDAsync_v2"), uploads);
  permc_value_free(arguments[0]);
  arguments[0] = a_schedule(3);
  CHECK_EQ_U64(permc_call(p, arguments, 2, &result, 1, &o, &call_error), PERMC_OK);
  CHECK(graph && cuda_graph_launch(d, graph) && cuda_fetch(d, found, to, sizeof found));
  for (uint32_t i = 0; i < COUNT; i++)
    CHECK_EQ_U64(found[i * 7 % COUNT], values[i]);
  cuda_graph_free(d, graph);
  permc_value_free(arguments[0]);
  arguments[0] = a_schedule(7);
  CHECK_EQ_U64(permc_call(p, arguments, 2, &result, 1, &o, &call_error), PERMC_OK);
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
  fake.define("permc_pass_1", 4, NULL);
  p = permc_compile(c, "both", "cuda", arguments, 2);  // reads the schedule on the device, too
  CHECK_STR(permc_message(c), "");
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

// ---- without a device --------------------------------------------------------------------------

// A launch of a pass: its parameters are of the plan and of its temporaries, of which it clears
// some.
static void check_launch(const launch_table *t, const launch_pass *pass, const permc_launch *l) {
  const permc_parameter *first = &t->parameters.items[l->first_parameter];
  CHECK(l->kernel < t->kernels.count && l->threads > 0 && l->threads <= 1024);
  CHECK(t->kernels.items[l->kernel].module < t->modules.count);
  CHECK(l->first_parameter + l->parameter_count <= t->parameters.count);
  CHECK(l->clear_at + l->clear_bytes <= pass->bytes);
  CHECK(first->kind == PERMC_IS_FIRST);
  for (const permc_parameter *p = first + 1; p < first + l->parameter_count; p++) {
    CHECK(p->kind != PERMC_IS_ARRAY || p->value < t->plan->arrays.count);
    CHECK(p->kind != PERMC_IS_TEMPORARY || p->value < pass->bytes);
    CHECK(p->kind != PERMC_IS_SHARED || pass->shared[p->value] > 0);
    CHECK((p->kind == PERMC_IS_DATA) == (p->data != NULL));
  }
}

// Launches of all passes, and those of a part of the arrays; bytes of temporaries.
typedef struct table_row {
  const char *entry, *types;
  uint32_t launches, kernels, in_parts;
  bool has_temporaries;
} table_row;

static void check_table(arena *memory, const table_row *row) {
  char program[100];
  snprintf(program, sizeof program, "main = %s\n", row->entry);
  permc_context *c = load_text(program);
  permc_explain_options o = {.target = "gpu", .types = row->types, .dump = "plan"};
  char *out = NULL;
  const char *wrong = NULL, *problem = NULL;
  c_code code = {0};
  error failure = {0};
  launch_table t, part;
  REQUIRE(permc_explain(c, "main", NULL, 0, &o, &out));
  const plan *p = plan_read(memory, out, &wrong);
  REQUIRE(p && c_emit(&code, p, &(c_options){0}, &problem));
  launch_options all = {.code = &code, .machine = {132, 232448}};
  launch_options half = {.machine = all.machine, .by_rows = true, .by_shares = true, .parts = 2};
  CHECK(launch_table_make(&t, p, &all, &failure) && launch_table_make(&part, p, &half, &failure));
  CHECK_EQ_U64(t.launches.count, row->launches);
  CHECK_EQ_U64(t.kernels.count, row->kernels);
  CHECK_EQ_U64(part.launches.count, row->in_parts);
  uint64_t bytes = 0;
  for (uint32_t i = 0, next = 0; i < p->passes.count; i++) {
    const launch_pass *pass = &t.passes[i];
    CHECK(!pass->count || pass->first == next);
    for (uint32_t k = 0; k < pass->count; k++)
      check_launch(&t, pass, &t.launches.items[pass->first + k]);
    for (uint32_t k = 0; k < part.passes[i].count; k++)
      check_launch(&part, &part.passes[i], &part.launches.items[part.passes[i].first + k]);
    next += pass->count;
    bytes += pass->bytes;
  }
  CHECK((bytes > 0) == row->has_temporaries);
  launch_table_free(&t);
  launch_table_free(&part);
  c_code_free(&code);
  permc_context_free(c);
  free(out);
}

TEST(tables_of_launches) {
  static const table_row rows[] = {
      {"map (+ 1)", "[1000]u32", 1, 1, 0, false},
      {"scan (+)", "[2^18]i32", 1, 1, 0, true},
      {"argsort", "[2^22]u64", 9, 9, 12, true},
      {"sort_desc", "[2^23]i32", 5, 5, 8, true},
      {"argsort", "[2^19]u64", 9, 9, 0, true},
      {"map (count_keys 8)", "[4][5000]u8", 2, 2, 2, false},
      {"map (count_keys 14)", "[4][5000]u16", 4, 4, 2, false},
      {"bucket 3 (\\p -> p.1 % 8)", "[1000](u32, u16, f32, i64, u8, c64)", 13, 13, 0, true},
      {"compact odd", "[2^16]u32", 4, 4, 0, true},
      {"transpose", "[1000][777]f32", 1, 1, 0, false},
      {"sort_ragged (map (\\i -> 100 * i) (iota 30))", "[3000]u32", 6, 6, 0, true},
  };
  jmp_buf no_memory;
  arena memory = {.failure = &no_memory};
  REQUIRE(setjmp(no_memory) == 0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_table(&memory, &rows[i]);
  arena_free(&memory);
}

TEST_MAIN()
