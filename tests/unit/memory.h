// The memory of the tests of one program: START() at a test's beginning makes it empty.
#ifndef PERMC_TESTS_MEMORY_H
#define PERMC_TESTS_MEMORY_H

#include "core/memory.h"
#include <setjmp.h>
#include <stdlib.h>

static arena memory;
static jmp_buf failure;

#define START()                                                                                    \
  do {                                                                                             \
    arena_free(&memory);                                                                           \
    memory = (arena){.failure = &failure};                                                         \
    if (setjmp(failure) != 0)                                                                      \
      abort();                                                                                     \
  } while (0)

#endif
