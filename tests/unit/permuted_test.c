// Programs whose argument is a schedule: a scatter to its places is the routine permute, on every
// backend, and nobody checks the places.
#include "tests/unit/api.h"

#include "core/random.h"
#include "runtime/routines/routine.h"
#include "runtime/values/value.h"

#include <setjmp.h>

enum { COUNT = 3001 };

static uint32_t images[COUNT];

static permc_value *a_permutation(bool from_schedule) {
  uint64_t seed = 3;
  for (uint32_t i = 0; i < COUNT; i++) {
    uint32_t k = draw_below(&seed, i + 1);
    images[i] = images[k];
    images[k] = i;
  }
  permc_value *v = value_1("u32", COUNT, images);
  v->components[0].permutation = from_schedule;
  return v;
}

static void check_permuted(const char *backend, const char *program, const char *type,
                           size_t size) {
  char elements[COUNT * 16], expected[COUNT * 16];
  uint64_t seed = 5;
  for (size_t i = 0; i < COUNT * size; i++)
    elements[i] = (char)(draw_word(&seed) & 0x3f);
  permc_context *c = load_text(program);
  permc_value *arguments[] = {a_permutation(true), value_1(type, COUNT, elements)}, **results;
  for (size_t i = 0; i < COUNT; i++)
    memcpy(expected + images[i] * size, elements + i * size, size);
  size_t count = 0;
  if (CHECK(permc_run(c, "main", backend, arguments, 2, &results, &count)) &&
      CHECK_EQ_U64(count, 1))
    check_1(results[0], 0, type, COUNT, expected);
  permc_values_free(results, count);
  for (int i = 0; i < 2; i++)
    permc_value_free(arguments[i]);
  permc_context_free(c);
}

TEST(backends) {
  static const char *const backends[] = {"interp", "portable"};
  static const char program[] = "main : [m]i -> [m]a -> [m]a\nmain p xs = permute p xs\n";
  for (int i = 0; i < 2; i++) {
    check_permuted(backends[i], program, "u8", 1);
    check_permuted(backends[i], program, "i16", 2);
    check_permuted(backends[i], program, "f32", 4);
    check_permuted(backends[i], program, "i64", 8);
    check_permuted(backends[i], program, "c128", 16);
  }
}

// Of a schedule the routine is the only pass; of an array of integers there are those that check
// it.
TEST(plans) {
  permc_context *c = load_text("main : [m]i -> [m]u32 -> [m]u32\nmain p xs = permute p xs\n");
  for (int k = 0; k < 2; k++) {
    permc_value *arguments[] = {a_permutation(k == 1), value_1("u32", COUNT, images)};
    permc_explain_options o = {
        .target = "gpu", .arguments = arguments, .argument_count = 2, .dump = "plan"};
    char *out = NULL;
    CHECK(permc_explain(c, "main", NULL, 0, &o, &out));
    CHECK_EQ_I64(out && strstr(out, "routine permute rows 1 length 3001") != NULL, k);
    CHECK_EQ_I64(out && strstr(out, "pass 1") != NULL, 1 - k);
    free(out);
    for (int i = 0; i < 2; i++)
      permc_value_free(arguments[i]);
  }
  permc_context_free(c);
}

// Element i goes to its Gray code ^ 3; to (i + 77) mod COUNT; [3][n] transposed.
static uint32_t simple_place(int kind, uint32_t count, uint32_t i) {
  return kind == 0   ? (i ^ i >> 1) ^ 3
         : kind == 1 ? (i + 77) % count
                     : i % (count / 3) * 3 + i / (count / 3);
}

static void check_simple(permc_context *c, const char *backend, int kind, bool schedule) {
  static const uint32_t counts[] = {2048, 3001, 3000};
  uint32_t count = counts[kind], at[COUNT];
  float xs[COUNT], moved[COUNT], back[COUNT];
  for (uint32_t i = 0; i < count; i++) {
    at[i] = simple_place(kind, count, i);
    xs[i] = (float)i;
  }
  for (uint32_t i = 0; i < count; i++) {
    moved[at[i]] = xs[i];
    back[i] = xs[at[i]];
  }
  permc_value *arguments[] = {value_1("u32", count, at), value_1("f32", count, xs)}, **results;
  arguments[0]->components[0].permutation = schedule;
  size_t results_count = 0;
  if (CHECK(permc_run(c, "main", backend, arguments, 2, &results, &results_count)) &&
      CHECK_EQ_U64(results_count, 2)) {
    check_1(results[0], 0, "f32", count, moved);
    check_1(results[1], 0, "f32", count, back);
  }
  permc_values_free(results, results_count);
  for (int i = 0; i < 2; i++)
    permc_value_free(arguments[i]);
}

TEST(recognised) {
  static const char *const backends[] = {"interp", "portable"};
  permc_context *c =
      load_text("main : [m]i -> [m]a -> ([m]a, [m]a)\nmain p xs = (permute p xs, gather p xs)\n");
  for (int k = 0; k < 12; k++)
    check_simple(c, backends[k % 2], k / 4, k / 2 % 2);
  permc_context_free(c);
}

// Of a rotation by 5, whose places nobody reads; of the same as a plain array, which many runs may
// have others of, there are places and their check.
TEST(compiled_for_places) {
  permc_context *c = load_text("main : [m]i -> [m]u32 -> [m]u32\nmain p xs = permute p xs\n");
  for (int schedule = 0; schedule < 2; schedule++) {
    permc_value *arguments[] = {value_1("u32", 9, (uint32_t[]){5, 6, 7, 8, 0, 1, 2, 3, 4}),
                                value_1("u32", 9, (uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8})};
    permc_value **results = NULL;
    size_t count = 0;
    arguments[0]->components[0].permutation = schedule;
    permc_compiled *p = permc_compile(c, "main", "portable", arguments, 2);
    if (CHECK(p && call_values(p, arguments, 2, &results, &count)))
      check_1(results[0], 0, "u32", 9, (uint32_t[]){4, 5, 6, 7, 8, 0, 1, 2, 3});
    uint32_t *places = arguments[0]->components[0].data;
    places[3] = 0;
    places[4] = 8;
    CHECK(call_values(p, arguments, 2, &results, &count) == !schedule);
    if (schedule)
      CHECK_CONTAINS(call_error.message,
                     "'main' was compiled for another permutation: rotation by 5");
    permc_values_free(results, count);
    permc_compiled_free(p);
    for (int i = 0; i < 2; i++)
      permc_value_free(arguments[i]);
  }
  permc_context_free(c);
}

// A number that is negative is no place, however large the array.
TEST(negative_places) {
  permc_context *c = load_text("main : [m]i8 -> [m]u8 -> [m]u8\nmain p xs = permute p xs\n");
  int8_t places[256];
  uint8_t xs[256] = {0};
  for (int i = 0; i < 256; i++)
    places[i] = (int8_t)(uint8_t)i;
  permc_value *arguments[] = {value_1("i8", 256, places), value_1("u8", 256, xs)}, **results;
  size_t count = 0;
  CHECK(!permc_run(c, "main", "portable", arguments, 2, &results, &count));
  CHECK_CONTAINS(permc_message(c), "-128");
  for (int i = 0; i < 2; i++)
    permc_value_free(arguments[i]);
  permc_context_free(c);
}

// On a GPU many elements that come from places are the same routine, the other way round.
TEST(gathers) {
  enum { MANY = 1 << 22 };
  uint32_t *at = malloc(MANY * sizeof *at);
  permc_context *c = load_text("main : [m]i -> [m]u32 -> [m]u32\nmain p xs = gather p xs\n");
  uint64_t seed = 3;
  for (uint32_t i = 0; i < MANY; i++) {
    uint32_t k = draw_below(&seed, i + 1);
    at[i] = at[k];
    at[k] = i;
  }
  permc_value *arguments[] = {value_1("u32", MANY, at), value_1("u32", MANY, at)};
  arguments[0]->components[0].permutation = true;
  for (int k = 0; k < 2; k++) {
    permc_explain_options o = {
        .target = k ? "gpu" : "avx2", .arguments = arguments, .argument_count = 2, .dump = "plan"};
    char *out = NULL;
    CHECK(permc_explain(c, "main", NULL, 0, &o, &out));
    CHECK_EQ_I64(out && strstr(out, "routine permute rows 1 length 4194304 back") != NULL, k);
    free(out);
  }
  for (int i = 0; i < 2; i++)
    permc_value_free(arguments[i]);
  permc_context_free(c);
  free(at);
}

TEST(routines) {
  enum { FEW = 5 };
  uint8_t at[FEW] = {3, 0, 4, 1, 2};
  uint16_t xs[FEW] = {10, 11, 12, 13, 14}, ys[FEW];
  arena a = {0};
  jmp_buf failure;
  a.failure = &failure;
  REQUIRE(!setjmp(failure));
  for (int back = 0; back < 2; back++) {
    plan p = {0};
    vec_push(&a, &p.arrays, ((net_array){.type = SCALAR_U8, .count = FEW}));
    vec_push(&a, &p.arrays, ((net_array){.type = SCALAR_U16, .count = FEW}));
    vec_push(&a, &p.arrays, ((net_array){.type = SCALAR_U16, .count = FEW}));
    net_routine_pair pairs[] = {{0, NET_NONE}, {1, 2}};
    net_routine r = {.kind = NET_PERMUTE,
                     .back = back,
                     .rows = 1,
                     .length = FEW,
                     .pair_count = 2,
                     .pairs = pairs};
    CHECK(routine_run(&p, &r, (void *[]){at, xs, ys}, 2, NULL));
    for (int i = 0; i < FEW; i++)
      CHECK(back ? ys[i] == xs[at[i]] : ys[at[i]] == xs[i]);
  }
  arena_free(&a);
}

// What was compiled for a schedule is for schedules.
TEST(another_array) {
  permc_context *c = load_text("main : [m]i -> [m]u32 -> [m]u32\nmain p xs = permute p xs\n");
  permc_value *arguments[] = {a_permutation(true), value_1("u32", COUNT, images)}, **results = NULL;
  size_t count = 0;
  permc_compiled *p = permc_compile(c, "main", "portable", arguments, 2);
  if (CHECK(p != NULL)) {
    arguments[0]->components[0].permutation = false;
    CHECK(!call_values(p, arguments, 2, &results, &count));
    CHECK_CONTAINS(call_error.message,
                   "'main' was compiled for an argument that is read from a schedule");
  }
  permc_compiled_free(p);
  for (int i = 0; i < 2; i++)
    permc_value_free(arguments[i]);
  permc_context_free(c);
}

TEST_MAIN()
