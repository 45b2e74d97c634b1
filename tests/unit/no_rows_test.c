// Shapes without rows: what a program makes of two rows has, but for its outermost length, the
// shape of what it makes of none, on random programs; and what cannot be elaborated for rows cannot
// be for none. (What fails because of its elements, as `padded` may, has none to fail of.)
#include "core/text.h"
#include "tests/generator/program.h"
#include "tests/unit/api.h"

enum { MOST_ARGUMENTS = 8 };

// Ways to call main for a number of rows, #. F is the call, `main a0 a1`; X the pattern of its
// arguments, (a0, a1); R the rows, `zip r0 r1`.
typedef struct way {
  const char *expression;
  bool rows;        // the parameters are arrays of rows
  bool may_differ;  // what fails for rows need not fail for none: there is nothing to look at
} way;
static const way ways[] = {{"map (\\X -> F) (R)", true, false},
                           {"[F | X <- R]", true, false},
                           {"[F | X <- R, i <- 1..1]", true, true},
                           {"[F | X <- R, # > 0]", true, true},
                           {"map (\\X -> [F | i <- 1..0]) (R)", true, true},
                           {"zip (map (\\X -> F) (R)) [0..#-1]", true, false},
                           {"map (\\i -> F) [1..#]", false, true},
                           {"[F | i <- 1..#]", false, true},
                           {"take # [F, F]", false, true},
                           {"concat [] (replicate # (F))", false, true}};

static void write_expression(text *out, const way *w, size_t arguments, int rows) {
  text call = {0}, names = {0}, zipped = {0};
  text_string(&call, "main");
  for (size_t i = 0; i < arguments; i++) {
    bool last = i + 1 == arguments;
    text_printf(&call, " a%zu", i);
    text_printf(&names, last ? "a%zu" : "(a%zu, ", i);
    text_printf(&zipped, last ? "r%zu" : "zip r%zu (", i);
    text_printf(out, "%s%s%zu", i ? " " : "\\", w->rows ? "r" : "a", i);
  }
  for (size_t i = 1; i < arguments; i++) {
    text_string(&names, ")");
    text_string(&zipped, ")");
  }
  text_string(out, " -> ");
  for (const char *c = w->expression; *c; c++)
    if (*c == '#')
      text_printf(out, "%d", rows);
    else
      text_printf(out, "%.*s", *c == 'F' || *c == 'X' || *c == 'R' ? 1000 : 1,
                  *c == 'F'   ? text_content(&call)
                  : *c == 'X' ? text_content(&names)
                  : *c == 'R' ? text_content(&zipped)
                              : c);
  text_free(&call);
  text_free(&names);
  text_free(&zipped);
}

// `rows` copies of v as one array; of a tuple, one for each component.
static permc_value *repeated(const permc_value *v, uint64_t rows) {
  permc_value *parts[32];
  size_t count = permc_value_components(v);
  for (size_t i = 0; i < count; i++) {
    const char *type = permc_value_type(v, i);
    uint64_t dims[17] = {rows};
    size_t size = scalar_types[scalar_named(type, strlen(type))].size;
    for (uint32_t k = 0; k < permc_value_rank(v, i); k++)
      size *= dims[k + 1] = permc_value_dims(v, i)[k];
    char *data = malloc(rows * size + 1);
    for (uint64_t k = 0; data && k < rows; k++)
      memcpy(data + k * size, permc_value_data(v, i), size);
    parts[i] = permc_value_new(type, permc_value_rank(v, i) + 1, dims, data);
    free(data);
  }
  return count == 1 ? parts[0] : permc_value_tuple(parts, count);
}

// The shapes of the results, "[4]u8 f32", without their outermost length; NULL: it fails, and if
// *elaborates because of its elements.
static char *run_for_rows(permc_context *c, const random_program *p, const way *w, int rows,
                          const char *backend, bool *elaborates) {
  text expression = {0}, shapes = {0};
  permc_value *arguments[MOST_ARGUMENTS], **results = NULL;
  size_t count = 0;
  write_expression(&expression, w, p->argument_count, rows);
  for (size_t i = 0; i < p->argument_count; i++)
    arguments[i] = w->rows ? repeated(p->values[i], (uint64_t)rows) : p->values[i];
  bool good = permc_define(c, text_content(&expression)) &&
              permc_run(c, "-e", backend, arguments, p->argument_count, &results, &count);
  *elaborates = good || permc_check_arguments(c, "-e", NULL, arguments, p->argument_count);
  for (size_t r = 0; r < count; r++)
    for (size_t i = 0; i < permc_value_components(results[r]); i++) {
      const uint64_t *dims = permc_value_dims(results[r], i);
      CHECK_EQ_U64(dims[0], (uint64_t)rows);
      for (uint32_t k = 1; k < permc_value_rank(results[r], i); k++)
        text_printf(&shapes, "[%" PRIu64 "]", dims[k]);
      text_printf(&shapes, "%s ", permc_value_type(results[r], i));
    }
  for (size_t i = 0; w->rows && i < p->argument_count; i++)
    permc_value_free(arguments[i]);
  permc_values_free(results, count);
  text_free(&expression);
  return good ? shapes.data : NULL;
}

static void check_program(permc_context *c, const random_program *p, const way *w,
                          const char *backend) {
  bool two_elaborates, none_elaborates;
  char *two = run_for_rows(c, p, w, 2, backend, &two_elaborates);
  char *none = run_for_rows(c, p, w, 0, backend, &none_elaborates);
  bool agrees = two ? none && CHECK_STR(none, two) : !none || w->may_differ || two_elaborates;
  if (!CHECK(agrees))
    printf("%s\n%s%s\n%s\n", w->expression, p->text, two ? "is good" : "fails", permc_message(c));
  free(two);
  free(none);
}

static void check_programs(const char *backend, uint64_t first, uint64_t count) {
  static const program_options options = {.max_bits = 3, .fault_percent = 10};
  permc_context *c = random_program_context();
  for (uint64_t seed = first; CHECK(c != NULL) && seed < first + count; seed++) {
    random_program *p = random_program_new(seed, &options);
    bool loaded = permc_load_text(c, "random.perm", p->text, strlen(p->text));
    for (size_t w = 0; loaded && p->argument_count && p->argument_count < MOST_ARGUMENTS &&
                       w < sizeof ways / sizeof *ways;
         w++)
      check_program(c, p, &ways[w], backend);
    random_program_free(p);
  }
  permc_context_free(c);
}

TEST(random_programs_for_no_rows) {
  check_programs("interp", 1, 300);
  check_programs("portable", 1001, 60);
}

TEST_MAIN()
