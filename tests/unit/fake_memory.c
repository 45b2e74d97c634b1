// Preloaded into the tool by injection_test.c: allocations fail by plan.
//
// Takes the place of the C library's allocators, also for calls from inside the C library (strdup,
// fopen, regcomp, dlopen). The plan lies in memory shared with the test, in the file descriptor
// that FAILING_ALLOCATION names. The start of the program itself is marked by a system call that
// does nothing, so that the test need not count what the loader does.
#include "tests/unit/fake_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static allocation_plan *plan;

static bool allocation_fails(void) {
  if (!plan)
    return false;
  long number = atomic_fetch_add(&plan->calls, 1) + 1;
  if (number < plan->first || number > plan->last)
    return false;
  errno = ENOMEM;
  return true;
}

__attribute__((constructor)) static void read_plan(void) {
  const char *file = getenv("FAILING_ALLOCATION");
  void *shared = MAP_FAILED;
  if (file)
    shared = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(file), 0);
  unsetenv("LD_PRELOAD");  // compilers have memory
  prctl(PROGRAM_STARTS, 0, 0, 0, 0);
  if (shared != MAP_FAILED)
    plan = shared;
}

// What glibc calls its own.
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

#define EXPORTED __attribute__((visibility("default")))
EXPORTED void *malloc(size_t bytes) { return allocation_fails() ? NULL : __libc_malloc(bytes); }
EXPORTED void *calloc(size_t count, size_t bytes) {
  return allocation_fails() ? NULL : __libc_calloc(count, bytes);
}
EXPORTED void *realloc(void *memory, size_t bytes) {
  return allocation_fails() ? NULL : __libc_realloc(memory, bytes);
}
EXPORTED void *aligned_alloc(size_t alignment, size_t bytes) {
  return allocation_fails() ? NULL : __libc_memalign(alignment, bytes);
}
EXPORTED int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  void *got = allocation_fails() ? NULL : __libc_memalign(alignment, bytes);
  if (got)
    *memory = got;
  return got ? 0 : ENOMEM;
}
