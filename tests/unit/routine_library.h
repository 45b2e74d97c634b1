// Kernels of routines as a library of the host, with counters: their text, compiled, and their
// launches.
#ifndef PERMC_TESTS_ROUTINE_LIBRARY_H
#define PERMC_TESTS_ROUTINE_LIBRARY_H

#pragma GCC diagnostic ignored "-Wunused-function"
// For permc_access; what is counted is in the library that is compiled.
#define PERMC_COUNT "tests/unit/touches.h"
#include "core/text.h"
#include "kernels/routines/launch.h"
#include "kernels/text/cuda_host.h"
#include "runtime/compiled/compiler.h"
#include "tests/test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

PERMC_COUNTERS

enum { SCRATCH = 1 << 18 };

#define NO_COMPILER "there is no C compiler"
static bool has_compiler(void) {
  compiler found;
  return compiler_find(&found, NULL);
}

// Numbers below `count`: about `amount` of them, or (test_all) all.
#define EACH_OF_SAMPLE(i, amount, count)                                                           \
  for (size_t i = 0; i < (count); i += (count) / test_amount(amount, count))

// A function for each kernel, whose parameters are two tables.
static void write_entries(text *out, uint32_t count, const routine_launch *launches) {
  for (uint32_t i = 0; i < count; i++) {
    const routine_launch *l = &launches[i];
    if (i > 0 && !strcmp(l->kernel, launches[i - 1].kernel))
      continue;
    text_printf(out,
                "#ifndef RUN_%s\n#define RUN_%s\nvoid run_%s(char *s, uint64_t item, void **a, "
                "const uint64_t *n) {\n  permc_kernel_%s(s, item",
                l->kernel, l->kernel, l->kernel, l->kernel);
    for (uint32_t a = 0; a < l->array_count; a++)
      text_printf(out, ", a[%u]", a);
    for (uint32_t n = 0; n < l->number_count; n++)
      text_printf(out, ", n[%u]", n);
    text_string(out, ");\n}\n#endif\n");
  }
}

static void *compile(const text *body) {
  compiler found;
  char name[] = "/tmp/permc-sort-XXXXXX", object[64], command[2 * COMPILER_PATH];
  int file = mkstemp(name);
  if (!compiler_find(&found, NULL) || file < 0 ||
      write(file, body->data, body->length) != (ssize_t)body->length)
    return NULL;
  close(file);
  snprintf(object, sizeof object, "%s.so", name);
  snprintf(command, sizeof command,
           "'%s' -O0 -shared -fPIC -I. '-DPERMC_COUNT=\"tests/unit/touches.h\"' -x c -w -o %s %s",
           found.path, object, name);
  void *library = system(command) == 0 ? dlopen(object, RTLD_NOW | RTLD_LOCAL) : NULL;
  unlink(name);
  unlink(object);
  return library;
}

typedef void entry(char *scratch, uint64_t item, void **arrays, const uint64_t *numbers);

static void run_blocks(char *const *arrays, void *library, const routine_launch *l, char *scratch,
                       uint64_t first, uint64_t last) {
  char name[32];
  void *parameters[LAUNCH_MOST_ARRAYS];
  snprintf(name, sizeof name, "run_%s", l->kernel);
  void *symbol = dlsym(library, name);
  entry *run;
  REQUIRE(symbol != NULL && l->shared_bytes <= SCRATCH);
  memcpy(&run, &symbol, sizeof run);
  for (uint32_t a = 0; a < l->array_count; a++)
    parameters[a] = l->arrays[a] == LAUNCH_NOTHING ? NULL : arrays[l->arrays[a]];
  for (uint64_t b = first; b < last; b++)
    run(scratch, b, parameters, l->numbers);
}

static void run_launch(char *const *arrays, void *library, const routine_launch *l, char *scratch) {
  run_blocks(arrays, library, l, scratch, 0, l->blocks);
}

// Adds what the library's warps have asked for since the last call: by loads and stores of memory,
// of warps of 32 lanes, and by gets and puts of scratch.
typedef struct access_sums {
  uint64_t lines[2], least_lines[2], turns[2], least_turns[2];
} access_sums;

static void take_counts(void *library, access_sums *sums) {
  permc_access *accesses = dlsym(library, "permc_accesses");
  const uint32_t *count = dlsym(library, "permc_access_count");
  void *symbol = dlsym(library, "permc_count_rest");
  void (*count_rest)(void);
  REQUIRE(accesses && count && symbol);
  memcpy(&count_rest, &symbol, sizeof count_rest);
  count_rest();
  for (const permc_access *a = accesses; a < accesses + *count; a++) {
    uint32_t scratch = a->kind >= PERMC_GETS, out = a->kind - (scratch ? PERMC_GETS : PERMC_LOADS);
    sums->lines[out] += a->lines;
    sums->least_lines[out] += a->least_lines;
    sums->turns[out] += a->turns;
    sums->least_turns[out] += a->least_turns;
  }
  memset(accesses, 0, *count * sizeof *accesses);
}

#endif
