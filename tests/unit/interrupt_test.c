// permc_interrupt: it ends the call in progress on one context, in each stage and on each backend;
// later calls and other contexts are not touched.
#include "tests/unit/api.h"
#include "tests/unit/script.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEYS = 1 << 12, MOST_TRIES = 10000 };

// `endless` takes longer to elaborate than a test may.
static const char program[] = "main : [2^n]u32 -> [2^n]u32\n"
                              "main = sort\n"
                              "endless : i64\n"
                              "endless = length [i + j | i <- 1..100000, j <- 1..100000]\n";

// A thread that interrupts a context over and over, so that no call on it can begin too late.
typedef struct interrupter {
  permc_context *context;
  atomic_bool end;
  pthread_t thread;
} interrupter;

static void *interrupt_often(void *with) {
  interrupter *i = with;
  while (!atomic_load(&i->end))
    permc_interrupt(i->context);
  return NULL;
}

static void start(interrupter *i, permc_context *c) {
  i->context = c;
  atomic_store(&i->end, false);
  REQUIRE(pthread_create(&i->thread, NULL, interrupt_often, i) == 0);
}

static void end(interrupter *i) {
  atomic_store(&i->end, true);
  pthread_join(i->thread, NULL);
}

static permc_value *some_keys(void) {
  static uint32_t keys[KEYS];
  for (size_t i = 0; i < KEYS; i++)
    keys[i] = (uint32_t)random_u64();
  return value_1("u32", KEYS, keys);
}

static bool runs(permc_context *c, const char *backend, permc_value *keys) {
  permc_value **results = NULL;
  size_t count = 0;
  bool good = permc_run(c, "main", backend, &keys, 1, &results, &count);
  permc_values_free(results, count);
  return good;
}

TEST(elaboration) {
  permc_context *c = load_text(program);
  permc_value **results = NULL, *keys = some_keys();
  size_t count = 0;
  interrupter i;
  start(&i, c);
  CHECK(!permc_check(c, "endless", NULL, 0));
  CHECK_CONTAINS(permc_message(c), "error: interrupted\n");
  CHECK(!permc_run(c, "endless", NULL, NULL, 0, &results, &count));
  CHECK_CONTAINS(permc_message(c), "error: interrupted\n");
  end(&i);
  CHECK(runs(c, "interp", keys));
  permc_value_free(keys);
  permc_context_free(c);
}

// What runs is interrupted on one context, while another one runs the same program.
static void check_backend(const char *backend) {
  permc_context *c = load_text(program), *other = load_text(program);
  permc_value **results = NULL, *keys = some_keys();
  size_t count = 0, tries = 0;
  permc_compiled *compiled = permc_compile(c, "main", backend, &keys, 1);
  interrupter i;
  REQUIRE(compiled != NULL);
  start(&i, c);
  while (call_values(compiled, &keys, 1, &results, &count) && tries < MOST_TRIES)
    tries++;  // it was faster than the interrupt
  CHECK(results == NULL);
  CHECK_CONTAINS(call_error.message, "interrupted");
  CHECK(runs(other, backend, keys));
  permc_context *later = load_text(program);
  CHECK(runs(later, backend, keys));
  end(&i);
  CHECK(call_values(compiled, &keys, 1, &results, &count));
  permc_interrupt(c);  // between calls: there is nothing to end
  CHECK(runs(c, backend, keys));
  permc_values_free(results, count);
  permc_compiled_free(compiled);
  permc_value_free(keys);
  permc_context_free(later);
  permc_context_free(other);
  permc_context_free(c);
}

TEST(interp) { check_backend("interp"); }
TEST(portable) { check_backend("portable"); }
TEST(cpu) { check_backend("cpu"); }

// A compiler that does not end.
TEST(compilation) {
  char folder[] = "/tmp/permc-interrupt-XXXXXX", path[64];
  REQUIRE(mkdtemp(folder) != NULL);
  use_script_as_compiler(folder, "exec sleep 1000");
  setenv("PERMC_CACHE", folder, 1);
  permc_context *c = load_text(program);
  permc_value *keys = some_keys();
  interrupter i;
  start(&i, c);
  CHECK(permc_compile(c, "main", "cpu", &keys, 1) == NULL);
  CHECK_CONTAINS(permc_message(c), "interrupted");
  end(&i);
  unsetenv("PERMC_CC");
  CHECK(runs(c, "portable", keys));
  permc_value_free(keys);
  permc_context_free(c);
  snprintf(path, sizeof path, "%s/compiler", folder);
  unlink(path);
  snprintf(path, sizeof path, "%s/permc-work", folder);
  CHECK(rmdir(path) == 0);
  snprintf(path, sizeof path, "%s/permc-entries", folder);
  CHECK(rmdir(path) == 0 && rmdir(folder) == 0);
  unsetenv("PERMC_CACHE");
}

TEST_MAIN()
