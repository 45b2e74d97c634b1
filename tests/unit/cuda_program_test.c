// Programs on the backend cuda without a GPU, from permc_compile to the results
// (cuda_program.h).
#include "tests/unit/cuda_program.h"

#include "runtime/system/cache.h"
#include "runtime/system/speed.h"

#include <sys/wait.h>

// The entries of the cache after a process of its own has compiled, as what is
// found of NVRTC stays.
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

// The first test: nothing is known of NVRTC yet. What another version has
// compiled, or for another GPU, is not taken.
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
  CHECK_EQ_U64(fake.calls("cuGraphLaunch") - launches,
               1 + 5);  // one run, then ten, ten, and three times one
  CHECK(permc_time_copy(s.compiled, 4096, 3, &seconds));
  CHECK_EQ_U64(fake.calls("cuMemcpyDtoDAsync_v2") - copies, 1 + 3);
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

// The same, but what is noted is what it finds of tables: nothing, their
// addresses, the first one.
static float first_table[16];
static uint64_t table_count, first_address;
static void note_tables(const fake_cuda_launch *l) {
  const uint64_t *imports = (const uint64_t *)(uintptr_t)l->parameters[3];
  const uint64_t *tables = (const uint64_t *)(uintptr_t)imports[1];
  CHECK_EQ_U64(imports[0], 0);
  memcpy(first_table, (const void *)(uintptr_t)tables[0], sizeof first_table);
  first_address = tables[0];
  CHECK_EQ_U64((uint64_t)(uintptr_t)imports - tables[0], 512);  // 2 * 8 parts and 64 more, of f32
  table_count++;
}

// What the kernel is given: the address of the roots' table, which is on the
// device.
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

// ---- auto
// --------------------------------------------------------------------------------------

// So much arithmetic that a GPU wins, where its driver runs already: x to 3 x +
// 1, 100 times.
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
  machine_speed slow = speed_usual;  // as large arrays would be
  slow.cycle *= 5;
  enter("");
  speed_keep(&slow);
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
  CHECK(!run_large(false, "", false,
                   message));  // starting the driver would take longer
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

// Threads of a GPU would write to one place at once.
TEST(grouped_is_not_for_a_gpu) {
  static const char program[] = "main : [m]u32 -> []u32\nmain xs = grouped (+) (trusted (map (\\x "
                                "-> i64 x % 2) xs)) xs [0, 0]\n";
  enter("");
  subject s = subject_of(program, "cuda");
  CHECK(s.compiled == NULL);
  CHECK_CONTAINS(permc_message(s.context), "grouped takes elements one after the other");
  drop(&s);
  s = subject_of(program, "auto");
  REQUIRE(s.compiled != NULL && execute(&s));
  CHECK(strcmp(permc_compiled_backend(s.compiled), "cuda") != 0);
  drop(&s);
}

// ---- every call, failing
// -----------------------------------------------------------------------

static bool run_program(char *message, size_t size) {
  subject s = a_subject("cuda");
  bool good = s.compiled && execute(&s);
  if (good)
    check_results(&s);
  snprintf(message, size, "%s", s.compiled ? call_error.message : permc_message(s.context));
  drop(&s);
  return good;
}

// Each call of the driver fails once. The run fails with a message that names
// the call, or succeeds (the CPU did it, or there was another way), with the
// right results. Nothing is left over.
TEST(failing_calls) {
  char message[2000];
  size_t counts[SYMBOLS], failed = 0;
  enter("");
  CHECK(run_program(message, sizeof message));
  fake_driver_check();
  for (size_t i = 0; i < SYMBOLS; i++)
    counts[i] = fake.calls(symbols[i]);
  for (size_t i = 0; i < SYMBOLS; i++)
    for (size_t at = 1; at <= counts[i]; at++)
      failed += !run_with_failure(symbols[i], at, run_program);
  CHECK(failed > 20);
}

// The rows themselves are not wanted, but whether their offsets are right:
// arrays of the sort are in no pass.
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
