// Memory that runs out, and system calls that fail. Each call of the API is made again and again,
// with its first, second, third ... allocation failing: that one only, or all from it on. The call
// must succeed, or fail with one error; made again with memory, in the same context, it must
// succeed, with the same results. When all is freed, no block that the library has allocated is
// left.
//
// Of the allocations some are drawn at random; all of them with ./bootstrap test --all. That takes
// half an hour, which processes can share:
//
//   PERMC_ALL=1 memory_failure_test programs --part 3/16    each 16th allocation of each call
//
// The linker's --wrap (tests/CMakeLists.txt) replaces what the library calls, not what the C
// library calls inside.
#ifndef PERMC_TESTS_UNIT_MEMORY_FAILURE_H
#define PERMC_TESTS_UNIT_MEMORY_FAILURE_H

#include "tests/test.h"

#include "runtime/permc.h"
#include "tests/unit/splitmix.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- allocations that fail ---------------------------------------------------------------------

// What fails, and is counted.
typedef enum failing { NOTHING, MEMORY, SYSTEM } failing;
static atomic_int counting;

static atomic_long allocations_left;  // or system calls: before the first that fails
static atomic_bool only_one;
static atomic_long blocks;  // that the library has, and has not freed

static bool next_fails(failing what, int number) {
  if (atomic_load(&counting) != (int)what)
    return false;
  long left = atomic_fetch_sub(&allocations_left, 1);
  bool fails = left == 1 || (left < 1 && !atomic_load(&only_one));
  if (fails)
    errno = number;
  return fails;
}

static bool allocation_fails(void) { return next_fails(MEMORY, ENOMEM); }

static void *count_block(void *block) {
  atomic_fetch_add(&blocks, block != NULL);
  return block;
}

#define WRAP(result, name, parameters, value)                                                      \
  result __real_##name parameters;                                                                 \
  result __wrap_##name parameters;                                                                 \
  result __wrap_##name parameters { return allocation_fails() ? 0 : (value); }
WRAP(void *, malloc, (size_t bytes), count_block(__real_malloc(bytes)))
WRAP(void *, calloc, (size_t count, size_t bytes), count_block(__real_calloc(count, bytes)))
WRAP(void *, aligned_alloc, (size_t alignment, size_t bytes),
     count_block(__real_aligned_alloc(alignment, bytes)))
WRAP(void *, realloc, (void *memory, size_t bytes),
     memory ? __real_realloc(memory, bytes) : count_block(__real_realloc(memory, bytes)))
WRAP(char *, strdup, (const char *string), count_block(__real_strdup(string)))
WRAP(char *, strndup, (const char *string, size_t most), count_block(__real_strndup(string, most)))
WRAP(char *, realpath, (const char *path, char *out), count_block(__real_realpath(path, out)))
WRAP(FILE *, fopen, (const char *path, const char *mode), __real_fopen(path, mode))
WRAP(FILE *, fdopen, (int file, const char *mode), __real_fdopen(file, mode))
WRAP(locale_t, newlocale, (int mask, const char *name, locale_t base),
     __real_newlocale(mask, name, base))

// Its text, which the caller frees, is a block.
FILE *__real_open_memstream(char **text, size_t *length);
FILE *__wrap_open_memstream(char **text, size_t *length);
FILE *__wrap_open_memstream(char **text, size_t *length) {
  FILE *stream = allocation_fails() ? NULL : __real_open_memstream(text, length);
  atomic_fetch_add(&blocks, stream != NULL);
  return stream;
}

void __real_free(void *block);
void __wrap_free(void *block);
void __wrap_free(void *block) {
  atomic_fetch_sub(&blocks, block != NULL);
  __real_free(block);
}

int __real_posix_memalign(void **memory, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes) {
  int failed = allocation_fails() ? ENOMEM : __real_posix_memalign(memory, alignment, bytes);
  atomic_fetch_add(&blocks, !failed);
  return failed;
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *with);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *with);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *with) {
  return allocation_fails() ? EAGAIN : __real_pthread_create(thread, attributes, run, with);
}

// ---- sessions -----------------------------------------------------------------------------------

typedef struct example {
  const char *source;  // an expression; of several lines: a program, with an entry "main"
  const char *types;   // of its arguments, or values
} example;

typedef struct session {
  const example *program;  // or NULL
  permc_context *context;
  permc_value **arguments, **results;
  size_t argument_count, result_count;
  permc_compiled *compiled;
  permc_value **expected;  // of the program, by interp
  size_t expected_count;
  permc_error error;  // of functions that do not have the context for it
} session;

static void free_session(session *s) {
  permc_values_free(s->arguments, s->argument_count);
  permc_values_free(s->results, s->result_count);
  permc_values_free(s->expected, s->expected_count);
  permc_compiled_free(s->compiled);
  permc_context_free(s->context);
  *s = (session){.program = s->program};
}

static void drop_arguments(session *s) {
  permc_values_free(s->arguments, s->argument_count);
  s->arguments = NULL;
  s->argument_count = 0;
}

static const char *entry_of(const session *s) {
  return strchr(s->program->source, '\n') ? "main" : "-e";
}

static bool load_source(session *s) {
  const char *source = s->program->source;
  return strchr(source, '\n') ? permc_load_text(s->context, "program.perm", source, strlen(source))
                              : permc_define(s->context, source);
}

static bool read_program_arguments(session *s) {
  drop_arguments(s);
  return permc_read_random(s->context, entry_of(s), s->program->types, 1, &s->arguments,
                           &s->argument_count);
}

static bool arrays_equal(const permc_value *a, const permc_value *b, size_t component) {
  const char *type = permc_value_type(a, component);
  uint32_t rank = permc_value_rank(a, component);
  const uint64_t *dims = permc_value_dims(a, component);
  uint64_t bytes = strcmp(type, "bool") ? strtoul(type + 1, NULL, 10) / 8 : 1;
  for (uint32_t i = 0; i < rank; i++)
    bytes *= dims[i];
  return !strcmp(type, permc_value_type(b, component)) && rank == permc_value_rank(b, component) &&
         !memcmp(dims, permc_value_dims(b, component), rank * sizeof *dims) &&
         !memcmp(permc_value_data(a, component), permc_value_data(b, component), bytes);
}

static bool values_equal(const permc_value *a, const permc_value *b) {
  bool good = permc_value_components(a) == permc_value_components(b);
  for (size_t i = 0; good && i < permc_value_components(a); i++)
    good = arrays_equal(a, b, i);
  return good;
}

// Whether results are those of interp: the first are.
static bool are_expected(session *s, permc_value **results, size_t count) {
  bool good = count == s->expected_count;
  for (size_t i = 0; good && i < count; i++)
    good = values_equal(results[i], s->expected[i]);
  return good;
}

typedef struct call {
  const char *name;
  bool (*make)(session *s);  // whether all is as it is with memory
} call;

// A list of calls, each of which finds what it needs by those before it.
typedef struct call_list {
  const call *calls;
  size_t count;
  size_t first;   // those before it are made, and nothing fails
  unsigned some;  // failures of each, where not all are tried
  // NULL: all is as it should be after a failure. May be NULL.
  const char *(*check)(session *s);
} call_list;
#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

// ---- trials ------------------------------------------------------------------------------------

// What a process at work is about, in memory that its parent reads, even when it has crashed.
typedef struct trial {
  const char *call, *problem;
  long allocation;
  long count;  // of all trials
} trial;
static trial *current;

// The allocations that are tried, where all are: the one of this number in each `of` of them.
static struct { unsigned long number, of; } part = {0, 1};
static failing tried = MEMORY;

// How many errors a text has: their lines begin with a place or with the library's name.
static int count_errors(const char *message) {
  int count = 0;
  for (const char *line = message, *end; *line; line = *end ? end + 1 : end) {
    end = line + strcspn(line, "\n");
    const char *place = strstr(line, ": error: ");
    bool own = !strncmp(line, "permc: ", 7) && strncmp(line, "permc: warning: ", 16) != 0;
    count += own || (place && place < end);
  }
  return count;
}

// NULL: with this allocation failing, the call does what it should, and so it does again with
// memory.
static const char *try_allocation(session *s, const call_list *l, const call *c) {
  s->error = (permc_error){PERMC_OK, ""};
  atomic_store(&allocations_left, current->allocation);
  atomic_store(&counting, tried);
  bool good = c->make(s);
  atomic_store(&counting, NOTHING);
  const char *message = s->context ? permc_message(s->context) : "";
  permc_code code = s->context ? permc_last_code(s->context) : PERMC_ERROR_MEMORY;
  if (!good && !*message && !*s->error.message && s->context)
    return "a failure without a message";
  if (!good && *message && count_errors(message) != 1)
    return "more than one error";
  if (!good && *message && code == PERMC_OK)
    return "an error without a code";
  const char *problem = !good && l->check ? l->check(s) : NULL;
  if (problem)
    return problem;
  return c->make(s) ? NULL : "the call fails with memory again";
}

// How many allocations the call makes.
static long count_allocations(session *s, const call *c) {
  atomic_store(&allocations_left, LONG_MAX);
  atomic_store(&counting, tried);
  bool good = c->make(s);
  atomic_store(&counting, NOTHING);
  return good ? LONG_MAX - atomic_load(&allocations_left) : 0;
}

// Lets one allocation of the call's `count` fail: it alone, or all later ones, too.
static void fail_allocation(session *s, const call_list *l, const call *c, long allocation,
                            bool alone, long count) {
  current->allocation = allocation;
  current->count++;
  atomic_store(&only_one, alone);
  current->problem = try_allocation(s, l, c);
  if (current->problem && test_fail(__FILE__, __LINE__, c->name))
    printf(": allocation %ld of %ld%s: %s\n%s", allocation, count,
           alone ? "" : " and all later ones", current->problem,
           s->context ? permc_message(s->context) : "");
  current->allocation = 0;
}

// Lets some allocations of the call fail; all of this part where nothing is left out.
static void try_call(session *s, const call_list *l, const call *c) {
  current->call = c->name;
  if (!CHECK(c->make(s))) {
    printf("%s: %s\n", c->name, s->context ? permc_message(s->context) : "");
    return;
  }
  long count = c < l->calls + l->first ? 0 : count_allocations(s, c);
  if (test_all()) {
    for (long i = (long)part.number; i < count; i += (long)part.of)
      for (int alone = 0; alone < 2; alone++)
        fail_allocation(s, l, c, i + 1, alone, count);
    return;
  }
  for (unsigned i = 0; i < l->some && count > 0; i++) {
    uint64_t choice = random_u64() % (2 * (uint64_t)count + 1);
    fail_allocation(s, l, c, (long)(choice / 2 + 1), choice % 2, count);
  }
}

// After the destructors of the library, which has memory that it keeps for later calls.
static bool is_child;
__attribute__((destructor(101))) static void check_blocks(void) {
  if (!is_child || atomic_load(&blocks) == 0)
    return;
  printf("%ld blocks are left\n", atomic_load(&blocks));
  fflush(stdout);
  _exit(1);
}

// The calls in a process of their own, which ends without a block of the library's.
static void try_calls(const example *p, const call_list *l) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    size_t before = test_state.failures;
    session s = {.program = p};
    if (p && (s.context = permc_context_new()))
      CHECK(permc_define(s.context, "1"));  // reads the library
    for (size_t i = 0; i < l->count; i++)
      try_call(&s, l, &l->calls[i]);
    free_session(&s);
    is_child = true;
    exit(test_state.failures > before ? 1 : 0);
  }
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status) && test_fail(__FILE__, __LINE__, current->call))
    printf(": allocation %ld: %s\n", current->allocation, strsignal(WTERMSIG(status)));
  if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0) && p)
    printf("the program is %s\n", p->source);
}

static void share_trial(void) {
  if (current)
    return;
  current = mmap(NULL, sizeof *current, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(current != MAP_FAILED);
}

static void print_part(void) {
  if (test_all())
    printf("%s: part %lu of %lu: %ld trials\n", test_state.name, part.number, part.of,
           current->count);
  current->count = 0;
}

static int memory_failure_main(int count, char **arguments) {
  int kept = 1;
  for (int i = 1; i < count; i++)
    if (strcmp(arguments[i], "--part") != 0)
      arguments[kept++] = arguments[i];
    else if (i + 1 == count || sscanf(arguments[++i], "%lu/%lu", &part.number, &part.of) != 2 ||
             part.number >= part.of)
      return fprintf(stderr, "%s: --part needs a part, such as 3/16\n", arguments[0]), 2;
  arguments[kept] = NULL;
  return test_main(kept, arguments);
}

#endif
