// What injection_test.c and fake_memory.c share.
#ifndef PERMC_TESTS_UNIT_FAKE_MEMORY_H
#define PERMC_TESTS_UNIT_FAKE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct allocation_plan {
  atomic_long calls;
  long first, last;  // numbers of the calls that fail; from 1
} allocation_plan;

enum { PROGRAM_STARTS = 0x7065726d };  // an option that prctl does not have

#endif
