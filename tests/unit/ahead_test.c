// Libraries made ahead of time (runtime/ahead/ahead.h), compiled by the C compiler alone, beside
// interp:
// programs of the library on random data, and random programs (tests/generator).
//
//   ahead_test                              8 random programs
//   ahead_test --count 2000 --seed 5        a long run
//
// A batch of libraries is compiled as one shared object, which shows that they go into one program.
#include "runtime/ahead/ahead.h"
#include "runtime/compiled/compiler.h"
#include "tests/generator/differ.h"
#include "tests/test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 24 };

static struct { uint64_t seed, count; } settings = {.seed = 0, .count = 8};

// One library, what it is given, and what it must make of that.
typedef struct trial {
  random_program *program;  // NULL: of the table
  permc_value **arguments;
  size_t argument_count;
  result oracle;
  bool built;
} trial;

typedef struct batch {
  permc_context *context;
  char folder[400];
  text glue, files;  // files: their names, behind each other
  size_t count;
  trial trials[BATCH];
} batch;

// ---- making ------------------------------------------------------------------------------------

static void write_file(const char *folder, const char *name, const text *content) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  CHECK(f && fwrite(text_content(content), 1, content->length, f) == content->length);
  if (f)
    fclose(f);
}

static size_t count_components(permc_value *const *values, size_t count) {
  size_t components = 0;
  for (size_t i = 0; i < count; i++)
    components += permc_value_components(values[i]);
  return components;
}

// A function with the arrays as a list.
static void add_glue(batch *b, const trial *t) {
  size_t arrays = count_components(t->arguments, t->argument_count) +
                  count_components(t->oracle.values, t->oracle.count);
  text_printf(&b->glue,
              "#include \"p%zu.h\"\n"
              "int glue_%zu(void **a, void *error);\n"
              "int glue_%zu(void **a, void *error) { return p%zu_call(",
              b->count, b->count, b->count, b->count);
  for (size_t i = 0; i < arrays; i++)
    text_printf(&b->glue, "a[%zu], ", i);
  text_string(&b->glue, "0, error); }\n");
}

static void add_files(batch *b, const ahead_library *l) {
  for (size_t i = 0; i < l->count; i++) {
    const char *name = l->files[i].name;
    write_file(b->folder, name, &l->files[i].content);
    if (!strcmp(name + strlen(name) - 2, ".c"))
      text_printf(&b->files, "%s/%s%c", b->folder, name, 0);
  }
}

// The program is loaded. Where interp fails, the library need not be made.
static void add_trial(batch *b, const char *entry, const char *types, trial t) {
  char name[16];
  ahead_library l;
  snprintf(name, sizeof name, "p%zu", b->count);
  ahead_request r = {.entry = entry, .name = name, .types = types};
  t.built = ahead_make(b->context, &r, &l);
  if (!t.built && !t.oracle.message)
    CHECK_STR(permc_message(b->context), "");
  t.built = t.built && !t.oracle.message;
  if (t.built) {
    add_glue(b, &t);
    add_files(b, &l);
  }
  ahead_free(&l);
  b->trials[b->count++] = t;
}

// ---- compiling ---------------------------------------------------------------------------------

static void *compile_batch(batch *b) {
  compiler found;
  error why = {0};
  char product[500], glue[500];
  const char *words[16 + 4 * BATCH];
  size_t n = 0;
  static const char *const options[] = {"-std=c99", "-Wall", "-Wextra", "-Werror",
                                        "-O0",      "-fPIC", "-shared"};
  const compiler_limits patient = {.seconds = 1000};
  if (!compiler_find(&found, &why))
    return NULL;
  write_file(b->folder, "glue.c", &b->glue);
  snprintf(product, sizeof product, "%s/all.so", b->folder);
  snprintf(glue, sizeof glue, "%s/glue.c", b->folder);
  words[n++] = found.path;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    words[n++] = options[i];
  for (size_t i = 0; i < b->files.length; i += strlen(b->files.data + i) + 1)
    words[n++] = b->files.data + i;
  const char *rest[] = {glue, "-o", product, "-lm", NULL};
  memcpy(words + n, rest, sizeof rest);
  compiler_status status =
      compiler_run(&(compiler_job){words, product}, 1, b->folder, &patient, NULL, NULL, &why);
  CHECK_STR(why.message, "");
  return status == COMPILER_DONE ? dlopen(product, RTLD_NOW | RTLD_LOCAL) : NULL;
}

// ---- running -----------------------------------------------------------------------------------

static result call_library(void *library, size_t number, const trial *t) {
  char name[32];
  void *arrays[256];
  size_t n = 0;
  struct {
    int code;
    int64_t position, row, value;
    char message[200];
  } failure = {0, 0, 0, 0, ""};
  result r = {.count = t->oracle.count};
  snprintf(name, sizeof name, "glue_%zu", number);
  void *symbol = dlsym(library, name);
  int (*call)(void **, void *);
  memcpy(&call, &symbol, sizeof call);
  r.values = calloc(r.count + 1, sizeof *r.values);
  for (size_t i = 0; i < t->argument_count; i++)
    for (size_t k = 0; k < permc_value_components(t->arguments[i]); k++)
      arrays[n++] = (void *)(uintptr_t)permc_value_data(t->arguments[i], k);
  for (size_t i = 0; i < r.count; i++) {
    r.values[i] = permc_value_like(t->oracle.values[i]);
    for (size_t k = 0; k < permc_value_components(r.values[i]); k++)
      arrays[n++] = (void *)(uintptr_t)permc_value_data(r.values[i], k);
  }
  if (CHECK(call != NULL))
    CHECK_EQ_U64((uint64_t)call(arrays, &failure), 0);
  CHECK_STR(failure.message, "");
  return r;
}

static void check_same(const trial *t, const result *found) {
  for (size_t i = 0; i < found->count; i++)
    for (size_t k = 0; k < permc_value_components(found->values[i]); k++) {
      uint64_t bytes = component_size(found->values[i], k) *
                       scalar_types[scalar_named(permc_value_type(found->values[i], k),
                                                 strlen(permc_value_type(found->values[i], k)))]
                           .size;
      CHECK(!bytes || memcmp(permc_value_data(found->values[i], k),
                             permc_value_data(t->oracle.values[i], k), bytes) == 0);
    }
}

static void check_trial(void *library, size_t number, trial *t) {
  if (t->built && library) {
    result found = call_library(library, number, t);
    difference d = t->program ? compare_results(t->program, &t->oracle, &found)
                              : (difference){.kind = NO_DIFFERENCE};
    if (!CHECK(d.kind == NO_DIFFERENCE))
      printf("%s\n%s\n", d.text, t->program->text);
    if (!t->program)
      check_same(t, &found);
    free_result(&found);
  }
  free_result(&t->oracle);
  if (t->program)
    random_program_free(t->program);
  else
    permc_values_free(t->arguments, t->argument_count);
}

static void begin_batch(batch *b) {
  static unsigned number;
  *b = (batch){.context = random_program_context()};
  snprintf(b->folder, sizeof b->folder, "%s/ahead-%u",
           getenv("PERMC_TMP") ? getenv("PERMC_TMP") : "/tmp", number++);
  char command[900];
  snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", b->folder, b->folder);
  CHECK(system(command) == 0);
}

static void end_batch(batch *b) {
  void *library = b->files.length ? compile_batch(b) : NULL;
  for (size_t i = 0; i < b->count; i++) {
    check_trial(library, i, &b->trials[i]);
  }
  if (library)
    dlclose(library);
  text_free(&b->glue);
  text_free(&b->files);
  permc_context_free(b->context);
}

static bool has_compiler(void) {
  compiler found;
  return compiler_find(&found, NULL);
}

// ---- programs of the library -------------------------------------------------------------------

static const struct library_row {
  const char *expression, *types;
} library[] = {
    {"sort", "[300]f32"},
    {"sort_desc", "[64]i16"},
    {"fft", "[64]c64"},
    {"\\ps xs -> gather (map (\\p -> p % 50) ps) xs", "[100]i32 [50]f32"},
    {"\\xs -> (scan (+) xs, sum xs, argsort xs)", "[100]i32"},
    // A loop, whose rounds have one function, and each an element of an argument as a part of it.
    {"\\ps ws xs -> fold (\\ys w -> zip_with (+) (map (* w) ys) (gather (map (% 40) ps) ys)) xs ws",
     "[40]i32 [20]i32 [40]i32"},
};

static const struct library_row more_library[] = {
    {"sort", "[5000]f64"},
    {"sort_desc", "[5000]i16"},
    {"sort_desc . map (\\x -> if x > 0.5 then 0 / 0 else x)", "[5000]f32"},
    {"map sort", "[100][37]u8"},
    {"sort_on (\\x -> x % 10)", "[1000]i32"},
    {"argsort", "[5000]f16"},
    {"\\xs -> (sort xs, map (\\x -> x * 2 + 1) xs)", "[1000]bf16"},
    {"fft", "[1024]c128"},
    {"sort_ragged [0, 3, 40, 100]", "[100]u32"},
    {"fwht", "[256]f32"},
    {"transpose", "[100][33]f32"},
    {"transpose", "[64][32]c128"},
    {"map transpose", "[3][7][5]u16"},
    {"bitrev", "[1024]u32"},
    {"scan (+)", "[1000]f32"},
    {"reduce max", "[1024]i8"},
    {"compact (> 3)", "[1000]i32"},
    {"histogram 3 (\\x -> x % 8)", "[1000]i32"},
    {"map (\\x -> x * 2 + 1)", "[100]f16"},
    {"padded maxval sort", "[1000]i32"},
    {"map (\\x -> sqrt x + sin x)", "[100]f64"},
};

static void run_rows(const struct library_row *rows, size_t count) {
  batch b;
  begin_batch(&b);
  for (size_t i = 0; i < count; i++) {
    trial t = {0};
    bool good =
        permc_define(b.context, rows[i].expression) &&
        permc_read_random(b.context, "-e", rows[i].types, i + 1, &t.arguments, &t.argument_count) &&
        permc_run(b.context, "-e", "interp", t.arguments, t.argument_count, &t.oracle.values,
                  &t.oracle.count);
    if (good)
      add_trial(&b, "-e", rows[i].types, t);
    else
      CHECK_STR(permc_message(b.context), "");
  }
  end_batch(&b);
}

TEST(library_programs) {
  if (!has_compiler())
    SKIP("there is no C compiler");
  run_rows(library, sizeof library / sizeof *library);
  if (getenv("PERMC_ALL"))
    run_rows(more_library, sizeof more_library / sizeof *more_library);
}

// ---- random programs ---------------------------------------------------------------------------

TEST(random_programs) {
  if (!has_compiler())
    SKIP("there is no C compiler");
  for (uint64_t done = 0; done < settings.count;) {
    batch b;
    begin_batch(&b);
    for (; b.count < BATCH && done < settings.count; done++) {
      program_options o = default_program_options;
      o.places = done % 2;
      random_program *p = random_program_new(settings.seed + done, &o);
      trial t = {.program = p, .arguments = p->values, .argument_count = p->argument_count};
      t.oracle = load_and_run(b.context, p, "interp");
      char *types = random_program_types(p);
      add_trial(&b, "main", types, t);
      free(types);
    }
    end_batch(&b);
  }
}

int main(int count, char **arguments) {
  int kept = 1;
  for (int i = 1; i < count; i++)
    if (!strcmp(arguments[i], "--count") && i + 1 < count)
      settings.count = strtoull(arguments[++i], NULL, 10);
    else if (!strcmp(arguments[i], "--seed") && i + 1 < count)
      settings.seed = strtoull(arguments[++i], NULL, 10);
    else
      arguments[kept++] = arguments[i];
  arguments[kept] = NULL;
  return test_main(kept, arguments);
}
