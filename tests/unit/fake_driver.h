// The fake driver of CUDA (fake_cuda.h) as tests call it.
//
//   fake_driver_load();                 // permc finds it; `fake` has its functions
//   fake.set("fail=cuInit at=1");
//   ...
//   fake_driver_check();                // it was used as CUDA wants it, and nothing is left over
#ifndef PERMC_TESTS_UNIT_FAKE_DRIVER_H
#define PERMC_TESTS_UNIT_FAKE_DRIVER_H

#include "tests/test.h"

#include "runtime/cuda/driver.h"
#include "tests/unit/fake_cuda.h"

#include <dlfcn.h>

#define FAKE_SYMBOL(field, symbol, parameters) #symbol,
static const char *const symbols[] = {CUDA_CALLS(FAKE_SYMBOL) CUDA_LATER_CALLS(FAKE_SYMBOL)};
enum { SYMBOLS = sizeof symbols / sizeof *symbols, LATER_SYMBOLS = 3 };  // the last ones

static struct {
  void (*set)(const char *settings);
  void (*define)(const char *name, unsigned parameter_count, fake_cuda_kernel *run);
  const char *(*misuse)(void);
  size_t (*left)(void);
  size_t (*calls)(const char *symbol);
} fake;

// Whether it was not loaded before.
static inline bool fake_driver_load(void) {
  static const char *const names[] = {"fake_cuda_set", "fake_cuda_define", "fake_cuda_misuse",
                                      "fake_cuda_left", "fake_cuda_calls"};
  setenv("PERMC_CUDA_DRIVER", FAKE_CUDA, 1);
  if (fake.set)
    return false;
  void *library = dlopen(FAKE_CUDA, RTLD_NOW);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *symbol = library ? dlsym(library, names[i]) : NULL;
    if (!symbol)
      abort();
    memcpy((char *)&fake + i * sizeof symbol, &symbol, sizeof symbol);
  }
  return true;
}

static inline void fake_driver_check(void) {
  CHECK_STR(fake.misuse(), "");
  CHECK_EQ_U64(fake.left(), 0);
}

// The kernel of map (+ 1) on so many u32. Its parameters: the number of the first block, the
// argument, the result, and the tables of roots.
static inline void fake_add_one(const fake_cuda_launch *l, size_t count) {
  const uint32_t *in = (const uint32_t *)(uintptr_t)l->parameters[1];
  uint32_t *out = (uint32_t *)(uintptr_t)l->parameters[2];
  for (size_t i = 0; i < count; i++)
    out[i] = in[i] + 1;
}

#endif
