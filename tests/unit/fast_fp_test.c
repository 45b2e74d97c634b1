// permc_use_fast_floats: the options that the C compiler and NVRTC get, the cache, and results.
#include "tests/unit/api.h"

#include "runtime/compiled/compiler.h"
#include "tests/unit/script.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char program[] = "main : [m]f32 -> [m]f32 -> [m]f32 -> [m]f32\n"
                              "main xs ys zs = zip_with (\\(x, y) z -> x * y + z) (zip xs ys) zs\n";

static char place[512];  // a new folder for each test: the cache

static void enter(void) {
  const char *folder = getenv("PERMC_TMP");
  snprintf(place, sizeof place, "%s/fast-XXXXXX", folder ? folder : "/tmp");
  REQUIRE(mkdtemp(place) != NULL);
  setenv("PERMC_CACHE", place, 1);
}

static void leave(void) {
  char command[600];
  snprintf(command, sizeof command, "rm -rf %s", place);
  CHECK(system(command) == 0);
  unsetenv("PERMC_CACHE");
  unsetenv("PERMC_CC");
}

// The lines that contain `word`: of the file `name` in `place`, or ("") of the entries of the
// cache.
static size_t count_lines(const char *name, const char *word) {
  size_t count = 0;
  char from[600];
  snprintf(from, sizeof from, "%s%s", place, *name ? "" : "/permc-entries");
  DIR *folder = opendir(from);
  for (struct dirent *e; folder && (e = readdir(folder));) {
    char path[1000], line[1 << 12];
    if (strncmp(e->d_name, name, strlen(name)) != 0 || e->d_name[0] == '.')
      continue;
    snprintf(path, sizeof path, "%s/%s", from, e->d_name);
    FILE *file = fopen(path, "rb");
    while (file && fgets(line, sizeof line, file))
      count += strstr(line, word) != NULL;
    if (file)
      fclose(file);
  }
  if (folder)
    closedir(folder);
  return count;
}

enum { COUNT = 64 };

typedef struct subject {
  permc_context *context;
  permc_value *arguments[3];
} subject;

static subject a_subject(void) {
  subject s = {.context = load_text(program)};
  for (size_t k = 0; k < 3; k++) {
    float values[COUNT];
    for (size_t i = 0; i < COUNT; i++)
      values[i] = (float)(random_u64() >> 40) / (float)(1 << 24) - (k == 2);
    s.arguments[k] = value_1("f32", COUNT, values);
  }
  return s;
}

static void drop(subject *s) {
  for (size_t k = 0; k < 3; k++)
    permc_value_free(s->arguments[k]);
  permc_context_free(s->context);
}

static void run(subject *s, const char *backend, bool fast, float out[COUNT]) {
  permc_value **results = NULL;
  size_t count = 0;
  permc_use_fast_floats(s->context, fast);
  if (!permc_run(s->context, "main", backend, s->arguments, 3, &results, &count))
    CHECK_STR(permc_message(s->context), "");
  REQUIRE(count == 1);
  memcpy(out, permc_value_data(results[0], 0), COUNT * sizeof *out);
  permc_values_free(results, count);
}

static const float *values_of(const subject *s, size_t k) {
  return permc_value_data(s->arguments[k], 0);
}

TEST(cpu) {
  enter();
  char logging[600];
  snprintf(logging, sizeof logging, "echo \"$@\" >>%s/log; exec cc \"$@\"", place);
  use_script_as_compiler(place, logging);
  subject s = a_subject();
  float strict[COUNT], fast[COUNT], expected[COUNT];
  bool differs = false;
  run(&s, "cpu", false, strict);
  CHECK_EQ_U64(count_lines("log", "-ffp-contract=off"), 1);
  CHECK_EQ_U64(count_lines("log", "-ffp-contract=fast"), 0);
  run(&s, "cpu", true, fast);
  CHECK_EQ_U64(count_lines("log", "-ffp-contract=off"), 1);
  CHECK_EQ_U64(count_lines("log", "-ffp-contract=fast"), 1);
  for (size_t i = 0; i < COUNT; i++) {
    float product = values_of(&s, 0)[i] * values_of(&s, 1)[i];
    expected[i] = fmaf(values_of(&s, 0)[i], values_of(&s, 1)[i], values_of(&s, 2)[i]);
    CHECK(strict[i] == product + values_of(&s, 2)[i]);
    differs |= strict[i] != expected[i];
  }
  CHECK(differs);
  if (compiler_isa_named("avx2"))
    CHECK(memcmp(fast, expected, sizeof fast) == 0);
  run(&s, "cpu", false, fast);  // from the cache
  CHECK(memcmp(fast, strict, sizeof fast) == 0);
  CHECK_EQ_U64(count_lines("log", "-ffp-contract"), 2);
  drop(&s);
  leave();
}

TEST(ignored) {
  static const char *const backends[] = {"interp", "portable"};
  subject s = a_subject();
  for (size_t i = 0; i < 2; i++) {
    float strict[COUNT], fast[COUNT];
    run(&s, backends[i], false, strict);
    run(&s, backends[i], true, fast);
    CHECK(memcmp(fast, strict, sizeof fast) == 0);
  }
  drop(&s);
}

// The fake NVRTC's code is its options and the text. It is kept before the driver refuses it.
TEST(cuda) {
  enter();
  setenv("PERMC_CUDA_DRIVER", FAKE_CUDA, 1);
  setenv("PERMC_NVRTC", FAKE_NVRTC, 1);
  subject s = a_subject();
  CHECK(permc_compile(s.context, "main", "cuda", s.arguments, 3) == NULL);
  CHECK_EQ_U64(count_lines("", "--fmad=false "), 1);
  CHECK_EQ_U64(count_lines("", "--fmad=true "), 0);
  permc_use_fast_floats(s.context, true);
  CHECK(permc_compile(s.context, "main", "cuda", s.arguments, 3) == NULL);
  CHECK_EQ_U64(count_lines("", "--fmad=false "), 1);
  CHECK_EQ_U64(count_lines("", "--fmad=true "), 1);
  drop(&s);
  leave();
}

TEST_MAIN()
