// Memory that runs out. Each call of the API is made again and again in child processes, with its
// first, second, third ... allocation failing: that one only, or all from it on. The call must
// succeed, or fail with a message; made again with memory, it must succeed.
//
// The linker's --wrap (tests/CMakeLists.txt) replaces what the library calls, not what the C
// library calls inside.
#include "tests/test.h"

#include "runtime/permc.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- allocations that fail ---------------------------------------------------------------------

static atomic_long allocations_left;  // before the first that fails
static atomic_bool counting, only_one;

static bool allocation_fails(void) {
  if (!atomic_load(&counting))
    return false;
  long left = atomic_fetch_sub(&allocations_left, 1);
  bool fails = left == 1 || (left < 1 && !atomic_load(&only_one));
  if (fails)
    errno = ENOMEM;
  return fails;
}

#define WRAP(result, name, parameters, arguments)                                                  \
  result __real_##name parameters;                                                                 \
  result __wrap_##name parameters;                                                                 \
  result __wrap_##name parameters { return allocation_fails() ? 0 : __real_##name arguments; }
WRAP(void *, malloc, (size_t bytes), (bytes))
WRAP(void *, calloc, (size_t count, size_t bytes), (count, bytes))
WRAP(void *, realloc, (void *memory, size_t bytes), (memory, bytes))
WRAP(void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
WRAP(char *, strdup, (const char *string), (string))
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode))
WRAP(FILE *, fdopen, (int file, const char *mode), (file, mode))
WRAP(locale_t, newlocale, (int mask, const char *name, locale_t base), (mask, name, base))

int __real_posix_memalign(void **memory, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes) {
  return allocation_fails() ? ENOMEM : __real_posix_memalign(memory, alignment, bytes);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *with);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *with);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *with) {
  return allocation_fails() ? EAGAIN : __real_pthread_create(thread, attributes, run, with);
}

// ---- calls -------------------------------------------------------------------------------------

static const char program[] = "main : [2^n]i32 -> [2^n]i32\n"
                              "main = sort\n"
                              "\n"
                              "sums : [2^n]f32 -> f32 -> [2^n]f32\n"
                              "sums xs y = map (\\x -> x * 1.5 + y) (parm 1 id xs)\n"
                              "\n"
                              "difference : [2^n]i32 -> i32\n"
                              "difference xs = reduce (-) xs\n";
static const char keys[] = "[7i32, 1i32, 5i32, 3i32, 2i32, 6i32, 0i32, 4i32]";

typedef struct session {
  permc_context *context;
  permc_value **arguments, **results;
  size_t argument_count, result_count;
  permc_compiled *compiled;
  permc_error error;  // of functions that do not have the context for it
} session;

static bool create_context(session *s) {
  permc_compiled_free(s->compiled);
  s->compiled = NULL;
  permc_context_free(s->context);
  s->context = permc_context_new();
  return s->context;
}

static bool load_program(session *s) {
  return permc_load_text(s->context, "program.perm", program, sizeof program - 1);
}

// Whether the text is refused with a message that contains `part`.
static bool refuse_text(session *s, const char *wrong, const char *part) {
  return !permc_load_text(s->context, "wrong.perm", wrong, strlen(wrong)) &&
         strstr(permc_message(s->context), part);
}

static bool refuse_syntax(session *s) {
  return refuse_text(s, "main : [2^n]i32 -> \nmain = ) sort\n", "expected");
}

static bool refuse_types(session *s) {
  return refuse_text(s, "main : [2^n]i32 -> [2^n]f32\nmain = sort\n", "f32");
}

static bool define_expression(session *s) { return permc_define(s->context, "map (+ 1) (iota 4)"); }

static bool check_entries(session *s) { return permc_check(s->context, NULL, NULL, 0); }

static bool refuse_size(session *s) {
  permc_size size = {"n", 0};
  return !permc_check(s->context, "sums", &size, 1) &&
         strstr(permc_message(s->context), "this array has one element");
}

static bool name_types(session *s) {
  return permc_entry_type(s->context, "main") && permc_entry_type(s->context, "-e");
}

static bool explain_entry(session *s, const permc_explain_options *options) {
  permc_size size = {"n", 10};
  char *out = NULL;
  bool good = permc_explain(s->context, "main", &size, 1, options, &out);
  if (good == !out || (out && !*out)) {
    printf("permc_explain: %s with%s text\n", good ? "success" : "failure", out ? "" : "out");
    good = false;
  }
  free(out);
  return good;
}

static bool explain_text(session *s) {
  return explain_entry(s, &(permc_explain_options){.rules = true});
}

static bool explain_plan(session *s) {
  return explain_entry(s, &(permc_explain_options){.dump = "plan"});
}

static bool explain_net(session *s) {
  return explain_entry(s, &(permc_explain_options){.dump = "net"});
}

static bool format_program(session *s) {
  char *out = permc_format(s->context, "program.perm", program, sizeof program - 1);
  bool good = out && !strcmp(out, program);
  free(out);
  return good;
}

static void drop_arguments(session *s) {
  permc_values_free(s->arguments, s->argument_count);
  s->arguments = NULL;
  s->argument_count = 0;
}

static bool read_arguments(session *s) {
  drop_arguments(s);
  return permc_read_bytes(s->context, "main", "keys", keys, sizeof keys - 1, &s->arguments,
                          &s->argument_count);
}

static bool run_entry(session *s, const char *backend) {
  permc_values_free(s->results, s->result_count);
  s->results = NULL;
  s->result_count = 0;
  if (!permc_run(s->context, "main", backend, s->arguments, s->argument_count, &s->results,
                 &s->result_count))
    return false;
  const int32_t *sorted = permc_value_data(s->results[0], 0);
  for (int32_t i = 0; i < 8; i++)
    if (sorted[i] != i)
      return false;
  return true;
}

static bool run_interp(session *s) { return run_entry(s, "interp"); }

static bool run_portable(session *s) { return run_entry(s, "portable"); }

static bool compile_types(session *s, const char *backend) {
  permc_compiled_free(s->compiled);
  s->compiled = permc_compile_types(s->context, "main", backend, "[8]i32");
  return s->compiled;
}

static bool compile_portable(session *s) { return compile_types(s, "portable"); }
static bool compile_interp(session *s) { return compile_types(s, "interp"); }

static bool compile_like(session *s) {
  permc_compiled_free(s->compiled);
  s->compiled = permc_compile(s->context, "main", "portable", s->arguments, s->argument_count);
  return s->compiled;
}

// On borrowed memory, into results that are made for it.
static bool call_program(session *s) {
  int32_t data[8] = {7, 1, 5, 3, 2, 6, 0, 4};
  uint64_t dims[1] = {8};
  permc_memory memory = {
      .type = "i32", .rank = 1, .dims = dims, .data = data, .device = PERMC_HOST};
  size_t count = 0;
  s->error = (permc_error){PERMC_ERROR_MEMORY, "out of memory"};
  permc_value *in = permc_value_borrow(&memory, &s->error);
  permc_value **out = in ? permc_results_new(s->compiled, &count) : NULL;
  bool good = out && permc_call(s->compiled, &in, 1, out, count, NULL, &s->error) == PERMC_OK;
  for (int32_t i = 0; good && i < 8; i++)
    good = ((const int32_t *)permc_value_data(out[0], 0))[i] == i && data[0] == 7;
  permc_value_free(in);
  permc_values_free(out, count);
  return good;
}

static bool refuse_law(session *s) {
  return !permc_check_laws(s->context, "difference", s->arguments, s->argument_count) &&
         strstr(permc_message(s->context), "not associative");
}

static const char *result_path(void) {
  static char path[1024];
  const char *folder = getenv("PERMC_TMP");
  snprintf(path, sizeof path, "%s/result.npy", folder ? folder : "/tmp");
  return path;
}

static bool write_result(session *s) {
  return permc_write_file(s->context, result_path(), s->results[0]);
}

static bool read_result(session *s) {
  const char *path = result_path();
  drop_arguments(s);
  return permc_read_files(s->context, "main", &path, 1, &s->arguments, &s->argument_count);
}

static bool read_random(session *s) {
  drop_arguments(s);
  return permc_read_random(s->context, "main", "[8]i32", 1, &s->arguments, &s->argument_count);
}

static bool read_random_at_size(session *s) {
  permc_size size = {"n", 3};
  drop_arguments(s);
  return permc_read_random_at(s->context, "main", &size, 1, 1, &s->arguments, &s->argument_count);
}

// In an order in which each finds what it needs.
static const struct call {
  const char *name;
  bool (*make)(session *s);  // whether all is as it is with memory
} calls[] = {
    {"permc_context_new", create_context},
    {"permc_load_text, a syntax error", refuse_syntax},
    {"permc_load_text, a type error", refuse_types},
    {"permc_load_text", load_program},
    {"permc_define", define_expression},
    {"permc_check", check_entries},
    {"permc_check, a size that fails", refuse_size},
    {"permc_entry_type", name_types},
    {"permc_explain", explain_text},
    {"permc_explain, plan", explain_plan},
    {"permc_explain, net", explain_net},
    {"permc_format", format_program},
    {"permc_read_bytes", read_arguments},
    {"permc_run, interp", run_interp},
    {"permc_run, portable", run_portable},
    {"permc_compile_types, interp", compile_interp},
    {"permc_call, interp", call_program},
    {"permc_compile_types", compile_portable},
    {"permc_call", call_program},
    {"permc_compile", compile_like},
    {"permc_check_laws, one that does not hold", refuse_law},
    {"permc_write_file", write_result},
    {"permc_read_files", read_result},
    {"permc_read_random", read_random},
    {"permc_read_random_at", read_random_at_size},
};

// ---- in child processes ------------------------------------------------------------------------

// What a child process found, as its exit status.
enum { ENOUGH_MEMORY = 1, BLANK_MESSAGE = 2, NO_RETRY = 4 };

static int make_call_without_memory(const struct call *call, session *s, long number) {
  atomic_store(&allocations_left, number);
  atomic_store(&counting, true);
  bool good = call->make(s);
  atomic_store(&counting, false);
  int found = atomic_load(&allocations_left) > 0 ? ENOUGH_MEMORY : 0;
  if (!good && s->context && !*permc_message(s->context) && !*s->error.message)
    found |= BLANK_MESSAGE;
  if (!call->make(s))
    found |= NO_RETRY;
  permc_values_free(s->arguments, s->argument_count);
  permc_values_free(s->results, s->result_count);
  permc_compiled_free(s->compiled);
  permc_context_free(s->context);
  return found;
}

// Whether the allocation of this number is one that the call makes.
static bool try_allocation(const struct call *call, session *s, long number) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    int found = make_call_without_memory(call, s, number);
    fflush(stdout);
    _exit(found);
  }
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  int found = WEXITSTATUS(status);
  const char *problem = WIFSIGNALED(status)     ? strsignal(WTERMSIG(status))
                        : found >= 2 * NO_RETRY ? "the process ended"
                        : found & BLANK_MESSAGE ? "a failure without a message"
                        : found & NO_RETRY      ? "the call fails with memory again"
                                                : NULL;
  if (problem && test_fail(__FILE__, __LINE__, call->name))
    printf(": allocation %ld%s: %s\n", number, only_one ? "" : " and all later ones", problem);
  return WIFSIGNALED(status) || !(found & ENOUGH_MEMORY);
}

static void fail_allocations(bool one) {
  // The first load types the library, with hundreds of allocations at few places.
  enum { MOST_ALLOCATIONS = 5000, ALL_UP_TO = 100, STRIDE = 7 };
  session s = {0};
  atomic_store(&only_one, one);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    long number = 1;
    while (number < MOST_ALLOCATIONS && try_allocation(&calls[i], &s, number))
      number += number < ALL_UP_TO ? 1 : STRIDE;
    if (!CHECK(calls[i].make(&s)))
      printf("%s\n", s.context ? permc_message(s.context) : calls[i].name);
  }
  permc_values_free(s.arguments, s.argument_count);
  permc_values_free(s.results, s.result_count);
  permc_compiled_free(s.compiled);
  permc_context_free(s.context);
}

TEST(one_allocation_fails) { fail_allocations(true); }

TEST(all_later_allocations_fail) { fail_allocations(false); }

TEST_MAIN()
