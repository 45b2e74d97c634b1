// Mistakes of callers of permc.h: each is one error with its code, nothing is lost by it, and the
// right call after it gives the right result. Those of permc_call are in call_test.c.
#include "api.h"

typedef struct desk {
  permc_context *context;
  permc_compiled *compiled;  // sort of [8]u32
  permc_value *keys;
} desk;

static const uint32_t unsorted[8] = {5, 3, 1, 2, 7, 0, 6, 4}, sorted[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static const char program[] = "main : [2^n]u32 -> [2^n]u32\nmain = sort\n"
                              "moved : int -> [2^n]u32 -> [2^n]u32\nmoved k xs = rotate k xs\n";

static desk open_desk(void) {
  desk d = {.context = permc_context_new()};
  permc_load_text(d.context, "desk.perm", program, sizeof program - 1);
  d.compiled = permc_compile_types(d.context, "main", "portable", "[8]u32");
  d.keys = value_1("u32", 8, unsorted);
  CHECK(d.compiled && d.keys);
  return d;
}

static void close_desk(desk *d) {
  permc_value_free(d->keys);
  permc_compiled_free(d->compiled);
  permc_context_free(d->context);
}

// That all is as before: the program that was compiled, and the one that is loaded.
static void check_right(const desk *d) {
  permc_value **results = NULL;
  size_t count = 0;
  CHECK(call_values(d->compiled, &d->keys, 1, &results, &count));
  check_1(results ? results[0] : NULL, 0, "u32", 8, sorted);
  permc_values_free(results, count);
  if (CHECK(permc_run(d->context, "main", "portable", &d->keys, 1, &results, &count)))
    check_1(results[0], 0, "u32", 8, sorted);
  CHECK_STR(permc_message(d->context), "");
  CHECK_EQ_U64(permc_last_code(d->context), PERMC_OK);
  permc_values_free(results, count);
}

static void check_mistake(const desk *d, bool refused, permc_code code, const char *part,
                          const char *what) {
  const char *message = permc_message(d->context);
  bool good = CHECK(refused) & CHECK_EQ_U64(permc_last_code(d->context), code) &
              CHECK_CONTAINS(message, part) & CHECK(*message);
  const char *error = strstr(message, "permc: ");
  good = good & CHECK(!error || !strstr(error + 1, "permc: "));  // one
  if (!good)
    printf("after %s\n", what);
  check_right(d);
}

// A call on the context that must be refused.
#define WRONG(code, part, call) check_mistake(&d, !(call), PERMC_ERROR_##code, part, #call)

TEST(programs_and_entries) {
  desk d = open_desk();
  permc_context *c = d.context;
  WRONG(ARGUMENT, "the name of the program is NULL", permc_load(c, NULL));
  WRONG(ARGUMENT, "the name of the program is NULL", permc_load_text(c, NULL, "", 0));
  WRONG(ARGUMENT, "the program is NULL", permc_load_text(c, "a", NULL, 5));
  WRONG(ARGUMENT, "the expression is NULL", permc_define(c, NULL));
  WRONG(PROGRAM, "expected", permc_define(c, "sort +"));
  WRONG(ARGUMENT, "the entry point is NULL", permc_entry_type(c, NULL));
  for (int i = 0; i < 2; i++)  // messages do not add up
    WRONG(ARGUMENT, "there is no entry point 'absent'", permc_entry_type(c, "absent"));
  WRONG(ARGUMENT, "there is no entry point", permc_parameter_count(c, "absent") != (size_t)-1);
  CHECK(permc_entry_type(c, "main") && permc_last_code(c) == PERMC_OK);
  WRONG(ARGUMENT, "the program is NULL", permc_format(c, "a", NULL, 1));
  WRONG(ARGUMENT, "the name of the program is NULL", permc_format(c, NULL, "", 0));
  close_desk(&d);
}

TEST(sizes_and_types) {
  desk d = open_desk();
  permc_context *c = d.context;
  char *out = NULL;
  permc_size unnamed = {NULL, 3}, other = {"zz", 3};
  permc_value **values = NULL, *none[2] = {NULL, NULL};
  size_t count = 0;
  WRONG(ARGUMENT, "sizes is NULL", permc_check(c, "main", NULL, 1));
  WRONG(ARGUMENT, "the name of a size is NULL", permc_check(c, "main", &unnamed, 1));
  WRONG(ARGUMENT, "no entry point has a size named 'zz'", permc_check(c, "main", &other, 1));
  WRONG(ARGUMENT, "it is NULL", permc_check_arguments(c, "main", NULL, none, 1));
  WRONG(ARGUMENT, "the entry point is NULL", permc_check_arguments(c, NULL, "[8]u32", NULL, 0));
  WRONG(ARGUMENT, "'[8' ends too early", permc_compile_types(c, "main", NULL, "[8"));
  WRONG(ARGUMENT, "0 argument types", permc_compile_types(c, "main", NULL, NULL));
  WRONG(PROGRAM, "2^63 bytes or more", permc_compile_types(c, "main", "portable", "[2^61]u32"));
  WRONG(ARGUMENT, "is wrong at 'u33'", permc_read_random(c, "main", "[8]u33", 1, &values, &count));
  WRONG(MEMORY, "fit into memory", permc_read_random(c, "main", "[2^60]u32", 1, &values, &count));
  WRONG(ARGUMENT, "random types are NULL", permc_read_random(c, "main", NULL, 1, &values, &count));
  WRONG(ARGUMENT, "where values go is NULL",
        permc_read_random(c, "main", "[8]u32", 1, NULL, &count));
  WRONG(ARGUMENT, "name of a size",
        permc_read_random_at(c, "main", &unnamed, 1, 1, &values, &count));
  WRONG(ARGUMENT, "where the text goes is NULL", permc_explain(c, "main", NULL, 0, NULL, NULL));
  WRONG(ARGUMENT, "no form 'zz'",
        permc_explain(c, "main", NULL, 0, &(permc_explain_options){.dump = "zz"}, &out));
  close_desk(&d);
}

TEST(values_and_runs) {
  desk d = open_desk();
  permc_context *c = d.context;
  permc_value **results = NULL, *none[2] = {NULL, NULL}, *many[40];
  permc_value *empty = (permc_value *)(uintptr_t)permc_compiled_argument(d.compiled, 0);
  size_t count = 0;
  char *report = NULL;
  for (int i = 0; i < 40; i++)
    many[i] = d.keys;
  WRONG(ARGUMENT, "the entry point is NULL",
        permc_run(c, NULL, NULL, &d.keys, 1, &results, &count));
  WRONG(ARGUMENT, "it is NULL", permc_run(c, "main", NULL, none, 1, &results, &count));
  WRONG(ARGUMENT, "arguments is NULL", permc_run(c, "main", NULL, NULL, 1, &results, &count));
  WRONG(ARGUMENT, "is NULL", permc_run(c, "main", NULL, &d.keys, 1, NULL, NULL));
  WRONG(ARGUMENT, "no elements in memory", permc_run(c, "main", NULL, &empty, 1, &results, &count));
  WRONG(ARGUMENT, "given 40", permc_run(c, "main", NULL, many, 40, &results, &count));
  WRONG(MISSING, "there is no backend 'zz'",
        permc_run(c, "main", "zz", &d.keys, 1, &results, &count));
  WRONG(ARGUMENT, "the entry point is NULL", permc_compile(c, NULL, NULL, &d.keys, 1));
  WRONG(ARGUMENT, "arguments is NULL", permc_compile(c, "main", NULL, NULL, 3));
  WRONG(ARGUMENT, "the entry point is NULL", permc_tune(c, NULL, NULL, &d.keys, 1, NULL, &report));
  WRONG(ARGUMENT, "the report is NULL", permc_tune(c, "main", NULL, &d.keys, 1, NULL, NULL));
  WRONG(ARGUMENT, "the entry point is NULL", permc_check_laws(c, NULL, &d.keys, 1));
  WRONG(ARGUMENT, "the text is NULL", permc_place_parts(c, NULL, NULL, 0, NULL, NULL));
  WRONG(ARGUMENT, "lengths is NULL", permc_place_parts(c, "", NULL, 1, NULL, NULL));
  CHECK(permc_set_limit(c, "results", 8));
  CHECK(!permc_run(c, "main", NULL, &d.keys, 1, &results, &count));
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_MEMORY);
  CHECK(permc_set_limit(c, "results", 1 << 20));
  check_right(&d);
  close_desk(&d);
}

TEST(files) {
  desk d = open_desk();
  permc_context *c = d.context;
  permc_value **values = NULL;
  const char *absent = "/no such folder/a.npy", *path = NULL, *twice[2] = {"a.npy", "a.npy"};
  size_t count = 0;
  WRONG(FILE, "No such file", permc_read_files(c, "main", &absent, 1, &values, &count));
  WRONG(ARGUMENT, "a path is NULL", permc_read_files(c, "main", &path, 1, &values, &count));
  WRONG(ARGUMENT, "paths is NULL", permc_read_files(c, "main", NULL, 1, &values, &count));
  WRONG(FILE, "this is empty", permc_read_bytes(c, "main", "x", NULL, 0, &values, &count));
  WRONG(FILE, "x:1:", permc_read_bytes(c, "main", "x", "[1u32,", 6, &values, &count));
  WRONG(ARGUMENT, "name of the bytes is NULL",
        permc_read_bytes(c, "main", NULL, "1", 1, &values, &count));
  WRONG(FILE, "there is no folder", permc_write_file(c, absent, d.keys));
  WRONG(ARGUMENT, "the path is NULL", permc_write_file(c, NULL, d.keys));
  WRONG(ARGUMENT, "the value is NULL", permc_write_file(c, absent, NULL));
  WRONG(DEVICE, "not in the memory of the host",
        permc_write_file(c, "a.npy", permc_compiled_argument(d.compiled, 0)));
  WRONG(ARGUMENT, "a path is NULL", permc_check_outputs(c, "main", NULL, 0, &path, 1));
  WRONG(ARGUMENT, "2 times", permc_check_outputs(c, "main", NULL, 0, twice, 2));
  close_desk(&d);
}

TEST(settings) {
  desk d = open_desk();
  permc_context *c = d.context;
  CHECK(permc_use_isa(c, "baseline"));
  WRONG(ARGUMENT, "the instruction set is NULL", permc_use_isa(c, NULL));
  WRONG(ARGUMENT, "no instruction set 'zz'", permc_use_isa(c, "zz"));
  WRONG(ARGUMENT, "there is no strategy 'zz'", permc_use_strategy(c, "zz"));
  WRONG(ARGUMENT, "there is no layout 'zz'", permc_use_layout(c, "zz"));
  WRONG(ARGUMENT, "there is no layout", permc_use_layout(c, "optimal:x"));
  WRONG(DEVICE, "there is no GPU -1", permc_use_device(c, -1));
  CHECK(!permc_set_limit(c, NULL, 1) && !permc_set_limit(c, "zz", 1));
  permc_use_threads(c, UINT32_MAX);
  permc_limit_compiler(c, UINT64_MAX, UINT64_MAX);
  permc_on_progress(c, NULL, NULL);
  check_right(&d);
  close_desk(&d);
}

// A program that cannot be loaded leaves none.
TEST(loads) {
  permc_context *c = permc_context_new();
  for (int i = 0; i < 2; i++) {
    CHECK(!permc_load(c, i ? "/no such file" : NULL));
    CHECK_EQ_U64(permc_last_code(c), i ? PERMC_ERROR_FILE : PERMC_ERROR_ARGUMENT);
    CHECK(!permc_load_text(c, "desk.perm", program, 1));
    CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_PROGRAM);
    CHECK(!permc_compile_types(c, "main", "portable", "[8]u32"));
    CHECK(permc_load_text(c, "desk.perm", program, sizeof program - 1));
    desk d = {c, permc_compile_types(c, "main", "portable", "[8]u32"), value_1("u32", 8, unsorted)};
    check_right(&d);
    permc_compiled_free(d.compiled);
    permc_value_free(d.keys);
  }
  permc_context_free(c);
}

// Values have no context: NULL, 0 or false is all that is said.
TEST(values) {
  uint64_t dims[3] = {8, UINT64_MAX, UINT64_MAX};
  permc_value *v = value_1("u32", 8, unsorted), *parts[2] = {v, v};
  CHECK(!permc_value_new(NULL, 1, dims, NULL) && !permc_value_new("u32", 17, dims, NULL));
  CHECK(!permc_value_new("u32", 1, NULL, NULL) && !permc_value_new("u32", 3, dims, NULL));
  CHECK(!permc_value_like(NULL) && permc_value_components(NULL) == 0);
  CHECK(!permc_value_type(v, 1) && !permc_value_dims(v, 1) && !permc_value_data(v, 1));
  CHECK(!permc_value_name(v, 1) && permc_value_rank(v, 1) == 0 && !permc_value_type(NULL, 0));
  CHECK(!permc_value_set_name(v, 1, "x") && permc_value_set_name(v, 0, "x"));
  CHECK(permc_value_set_name(v, 0, permc_value_name(v, 0)));
  CHECK_STR(permc_value_name(v, 0), "x");
  CHECK(!permc_value_tuple(parts, 2));  // one value is no two; it is freed
  uint64_t first = 1, length = 1;
  CHECK(!permc_value_part(NULL, 0, &first, &length) && !first && !length);
  CHECK(!permc_compiled_argument(NULL, 0) && !permc_results_new(NULL, NULL));
  CHECK(!permc_compiled_backend(NULL) && !permc_compiled_device(NULL));
  permc_error why = {PERMC_OK, ""};
  CHECK_EQ_U64(permc_call(NULL, NULL, 0, NULL, 0, NULL, &why), PERMC_ERROR_ARGUMENT);
  CHECK(!permc_value_borrow(NULL, &why));
  CHECK_CONTAINS(why.message, "is NULL");
  permc_memory last = {.type = "u32",
                       .rank = 1,
                       .dims = dims,
                       .data = (void *)(UINTPTR_MAX - 15),
                       .device = PERMC_HOST};
  CHECK(!permc_value_borrow(&last, &why));
  CHECK_CONTAINS(why.message, "beyond the end of memory");
  last.data = dims;
  CHECK(!permc_value_borrow_part(NULL, 0, 0, &why));
  CHECK_CONTAINS(why.message, "is NULL");
  CHECK(!permc_value_borrow_part(&last, dims[0], 1, &why));
  CHECK_CONTAINS(why.message, "elements, and no part of 1 from element ");
  last.device = 0;
  CHECK(!permc_value_borrow_part(&last, 0, 1, &why));
  CHECK_CONTAINS(why.message, "in the memory of the host");
}

// One value for two parameters, also where both are given away.
TEST(one_value_twice) {
  permc_context *c = load_expression("\\xs ys -> (sort xs, map (+ 1u32) ys)");
  for (int i = 0; i < 2; i++) {
    permc_value *v = value_1("u32", 8, unsorted), *both[2] = {v, v}, **results = NULL;
    size_t count = 0;
    bool good = i ? permc_run_consume(c, "-e", "portable", both, 2, &results, &count)
                  : permc_run(c, "-e", "portable", both, 2, &results, &count);
    if (CHECK(good))
      check_1(results[0], 0, "u32", 8, sorted);
    permc_values_free(results, count);
    permc_value_free(i ? both[1] : v);
  }
  permc_context_free(c);
}

TEST_MAIN()
