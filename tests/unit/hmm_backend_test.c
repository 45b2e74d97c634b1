// The backend machine: results as interp's to the bit, time units as permc machine counts them,
// and what it does with programs that the machines do not know.
#include "kernels/banks/banks.h"
#include "kernels/hmm/plan.h"
#include "tests/generator/differ.h"
#include "tests/readers/readers.h"
#include "tests/test.h"
#include "tests/unit/api.h"
#include "tests/unit/memory.h"

typedef struct row {
  const char *program, *types;  // program: of tests/programs, or an expression
} row;

static const row programs[] = {
    {"bitonic", "[2^0]u32"},
    {"bitonic", "[2^7]u32"},
    {"bitonic", "[2^11]u32"},
    {"bitonic_rows", "[0][4]i32"},
    {"bitonic_rows", "[3][2^5]i32"},
    {"bitonic_rows", "[33][2^3]u8"},
    {"fft", "[2^1]c64"},
    {"fft", "[2^8]c64"},
    {"flip2", "[2^6]u8"},
    {"padded_sort", "[0]f32"},
    {"padded_sort", "[1]f32"},
    {"padded_sort", "[100]f32"},
    {"padded_sort", "[1000]f32"},
    {"padded_sort", "[4097]f32"},
    {"paper_sort", "[2^0]i32"},
    {"paper_sort", "[2^3]i32"},
    {"paper_sort", "[2^10]i32"},
    {"random_bmmc", "[2^10]u32"},
    {"random_bmmc", "[2^13]u32"},
    {"sort_pairs", "[2^6](u32, u32)"},
    {"sort_pairs", "[2^12](u32, u32)"},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static permc_context *open_program(const row *r) {
  char path[80];
  snprintf(path, sizeof path, "tests/programs/%s.perm", r->program);
  permc_context *c = permc_context_new();
  if (!CHECK(c && permc_load(c, path)))
    printf("%s: %s\n", path, c ? permc_message(c) : "no memory");
  return c;
}

// To the bit, but for those of NaN that were computed.
static bool equal(const permc_value *a, const permc_value *b, size_t component) {
  scalar_type type =
      scalar_named(permc_value_type(a, component), strlen(permc_value_type(a, component)));
  const shape element = {.type = type, .origin = ORIGIN_COMPUTED};
  const char *x = permc_value_data(a, component), *y = permc_value_data(b, component);
  bool good = CHECK_STR(permc_value_type(b, component), permc_value_type(a, component)) &&
              CHECK_EQ_U64(component_size(b, component), component_size(a, component));
  for (uint64_t i = 0; good && i < component_size(a, component); i++)
    good =
        equal_elements(x + i * scalar_types[type].size, y + i * scalar_types[type].size, &element);
  return CHECK(good);
}

static bool equal_values(const permc_value *a, const permc_value *b) {
  bool good = CHECK_EQ_U64(permc_value_components(a), permc_value_components(b));
  for (size_t k = 0; good && k < permc_value_components(a); k++)
    good = equal(a, b, k);
  return good;
}

// Both run it on the same arguments. The units; 0: the machine does not know what it needs, which
// is left in the context as an error.
static uint64_t compare(permc_context *c, const char *entry, const char *types) {
  permc_value **arguments = NULL;
  size_t count = 0;
  result oracle = {0}, found = {0};
  uint64_t units = 0;
  bool good = permc_read_random(c, entry, types, 1, &arguments, &count) &&
              permc_run(c, entry, "interp", arguments, count, &oracle.values, &oracle.count);
  if (!CHECK(good))
    printf("%s: %s\n", types, permc_message(c));
  bool known =
      good && permc_run(c, entry, "machine", arguments, count, &found.values, &found.count);
  if (known)
    units = permc_last_times(c).units;
  else
    CHECK_CONTAINS(permc_message(c), "the backend machine cannot run this: ");
  if (known && CHECK_EQ_U64(found.count, oracle.count))
    for (size_t i = 0; i < found.count && good; i++)
      good = equal_values(oracle.values[i], found.values[i]);
  if (!good)
    printf("%s differs\n", types);
  free_result(&oracle);
  free_result(&found);
  permc_values_free(arguments, count);
  return units;
}

static const plan *plan_of(permc_context *c, const char *entry, const char *types) {
  START();
  permc_explain_options o = {.target = "gpu", .types = types, .dump = "plan"};
  const char *wrong = NULL;
  char *out = NULL;
  const plan *p = NULL;
  if (CHECK(permc_explain(c, entry, NULL, 0, &o, &out)))
    p = plan_read(&memory, out, &wrong);
  CHECK_STR(wrong, NULL);
  free(out);
  return p;
}

// What permc machine counts for the plan, free-running.
static uint64_t counted(permc_context *c, const char *entry, const char *types,
                        const c_options *options) {
  const plan *p = plan_of(c, entry, types);
  uint64_t time = 0;
  for (uint32_t i = 0; CHECK(p != NULL) && i < p->passes.count; i++) {
    hmm_counts one;
    CHECK_STR(hmm_plan_run(&memory, &hmm_plan_default, p, i, options, NULL, &one), NULL);
    time += one.time;
  }
  return time;
}

TEST(programs) {
  for (size_t i = 0; i < PROGRAMS; i++) {
    permc_context *c = open_program(&programs[i]);
    uint64_t units = compare(c, "main", programs[i].types);
    CHECK_STR(permc_message(c), "");
    if (!CHECK_EQ_U64(units, counted(c, "main", programs[i].types, NULL)))
      printf("%s of %s\n", programs[i].program, programs[i].types);
    permc_context_free(c);
  }
}

// Registers that hold padding are numbered otherwise than their places in memory.
TEST(padding) {
  permc_context *c = permc_context_new();
  CHECK(permc_define(c, "padded maxval odd_even_sort"));
  CHECK(compare(c, "-e", "[700]u8") > 0);
  permc_context_free(c);
}

// Exchanges by other layouts: the same bits, in other time.
TEST(layouts) {
  static const char *const expressions[][2] = {{"sort", "[2^13]u32"}, {"bitrev", "[2^13]u8"}};
  permc_context *c = permc_context_new();
  for (size_t k = 0; k < 2; k++) {
    uint64_t best = 0;
    CHECK(permc_define(c, expressions[k][0]));
    for (size_t i = 0; bank_layout_kind_at(i); i++) {
      c_options options = {.stream_bytes = UINT64_MAX, .layout = bank_layout_kind_at(i)};
      CHECK(permc_use_layout(c, options.layout->name));
      bank_layout_kind_and_seed(options.layout->name, &options.layout_seed);
      uint64_t units = compare(c, "-e", expressions[k][1]);
      if (units == 0)  // the layout does not suit it
        continue;
      CHECK_EQ_U64(units, counted(c, "-e", expressions[k][1], &options));
      best = best == 0 || units < best ? units : best;
    }
    CHECK(permc_use_layout(c, "optimal"));
    CHECK_EQ_U64(compare(c, "-e", expressions[k][1]), best);
  }
  permc_context_free(c);
}

static const char *backend_of(permc_context *c, const char *types, const char **device) {
  permc_value **arguments = NULL;
  size_t count = 0;
  CHECK(permc_read_random(c, "-e", types, 1, &arguments, &count));
  permc_compiled *p = permc_compile(c, "-e", "machine", arguments, count);
  const char *backend = p ? permc_compiled_backend(p) : "";
  bool has = p && permc_compiled_device(p) != NULL;
  if (has)
    CHECK_STR(permc_compiled_device(p), "HMM(1, 32, 100)");
  *device = has ? "HMM" : NULL;
  permc_compiled_free(p);
  permc_values_free(arguments, count);
  return backend;
}

TEST(what_it_runs_on) {
  const char *device;
  permc_context *c = permc_context_new();
  CHECK(permc_define(c, "bitrev"));
  CHECK_STR(backend_of(c, "[2^6]u32", &device), "machine");
  CHECK_STR(device, "HMM");
  CHECK(permc_use_strategy(c, "online"));
  CHECK_STR(backend_of(c, "[2^12]u32", &device), "");
  CHECK_CONTAINS(permc_message(c), "the backend machine cannot run this: ");
  permc_context_free(c);
}

TEST(what_machines_do_not_know) {
  permc_context *c = permc_context_new();
  CHECK(permc_define(c, "bitrev") && permc_use_strategy(c, "online"));
  CHECK_EQ_U64(compare(c, "-e", "[2^12]u32"), 0);
  CHECK_CONTAINS(permc_message(c), "the strategy online has a kernel of its own");
  permc_context_free(c);
  c = permc_context_new();
  permc_allow_extern(c, true);
  CHECK(permc_load(c, "examples/extern.perm"));
  CHECK_EQ_U64(compare(c, "main", "[100]f64"), 0);
  CHECK_CONTAINS(permc_message(c), "the program calls C functions");
  permc_context_free(c);
}

TEST(too_large) {
  permc_context *c = permc_context_new();
  permc_value **results = NULL;
  size_t count = 0;
  CHECK(permc_define(c, "replicate (2^44) 1"));
  CHECK(!permc_run(c, "-e", "machine", NULL, 0, &results, &count));
  CHECK_CONTAINS(permc_message(c), "a memory machine for this needs");
  CHECK(results == NULL && count == 0);
  permc_context_free(c);
}

// Arguments stay as they are, and results of an earlier run are used again.
TEST(runs_again) {
  permc_context *c = permc_context_new();
  permc_value **arguments = NULL, **results = NULL;
  size_t count = 0, result_count = 0;
  CHECK(permc_define(c, "sort") && permc_read_random(c, "-e", "[2^8]u32", 1, &arguments, &count));
  permc_compiled *p = permc_compile(c, "-e", "machine", arguments, count);
  for (int i = 0; CHECK(p != NULL) && i < 2; i++) {
    CHECK(call_values(p, arguments, count, &results, &result_count));
    const uint32_t *sorted = permc_value_data(results[0], 0);
    for (size_t k = 1; k < 256; k++)
      CHECK(sorted[k - 1] <= sorted[k]);
  }
  permc_compiled_free(p);
  permc_values_free(results, result_count);
  permc_values_free(arguments, count);
  permc_context_free(c);
}

TEST_MAIN()
