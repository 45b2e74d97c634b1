// Memory that runs out. Each call of the API is made again and again, with its first, second, third ...
// allocation failing: that one only, or all from it on. The call must succeed, or fail with one
// error; made again with memory, in the same context, it must succeed, with the same results. When
// all is freed, no block that the library has allocated is left.
//
// Calls that have effects of their own, then the life of fifty programs that cover the language.
// Each program has a process of its own. Of the allocations some are drawn at random; all of them
// with ./bootstrap test --all. That takes half an hour, which processes can share:
//
//   PERMC_ALL=1 memory_failure_test programs --part 3/16    each 16th allocation of each call
//
// The linker's --wrap (tests/CMakeLists.txt) replaces what the library calls, not what the C
// library calls inside.
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

static atomic_long allocations_left;  // before the first that fails
static atomic_bool counting, only_one;
static atomic_long blocks;  // that the library has, and has not freed

static bool allocation_fails(void) {
  if (!atomic_load(&counting))
    return false;
  long left = atomic_fetch_sub(&allocations_left, 1);
  bool fails = left == 1 || (left < 1 && !atomic_load(&only_one));
  if (fails)
    errno = ENOMEM;
  return fails;
}

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

// ---- calls of one session ----------------------------------------------------------------------

static const char session_program[] = "main : [2^n]i32 -> [2^n]i32\n"
                                      "main = sort\n"
                                      "\n"
                                      "sums : [2^n]f32 -> f32 -> [2^n]f32\n"
                                      "sums xs y = map (\\x -> x * 1.5 + y) (parm 1 id xs)\n"
                                      "\n"
                                      "difference : [2^n]i32 -> i32\n"
                                      "difference xs = reduce (-) xs\n";
static const char keys[] = "[7i32, 1i32, 5i32, 3i32, 2i32, 6i32, 0i32, 4i32]";

typedef struct session {
  const struct program *program;  // one of the fifty, or NULL
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

static bool create_context(session *s) {
  permc_compiled_free(s->compiled);
  s->compiled = NULL;
  permc_context_free(s->context);
  s->context = permc_context_new();
  return s->context;
}

static bool load_program(session *s) {
  return permc_load_text(s->context, "program.perm", session_program, sizeof session_program - 1);
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
  char *out = permc_format(s->context, "program.perm", session_program, sizeof session_program - 1);
  bool good = out && !strcmp(out, session_program);
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

typedef struct call {
  const char *name;
  bool (*make)(session *s);  // whether all is as it is with memory
} call;

// In an order in which each finds what it needs.
static const call session_calls[] = {
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

// ---- fifty programs ----------------------------------------------------------------------------

typedef struct program {
  const char *source;  // an expression; of several lines: a program, with an entry "main"
  const char *types;   // of its arguments, or values
} program;

static const program programs[] = {
    {"sort", "[2^4]u32"},
    {"sort", "[11]f32"},
    {"sort_desc", "[2^3](u16, i8)"},
    {"argsort", "[9]i64"},
    {"sort_stable_on (\\(k, x) -> k)", "[12](u8, u32)"},
    {"radix_sort", "[2^4]u16"},
    {"sample_sort", "[10]i32"},
    {"sort_by (\\x y -> x.0 >= y.0)", "[2^3](i32, u8)"},
    {"balanced_sort", "[2^3]f16"},
    {"column_sort", "[2^4]u32"},
    {"periodic_sort", "[2^3]bool"},
    {"padded maxval sort_network", "[5]u8"},
    {"top_k 3", "[2^4]f64"},
    {"merge_sorted", "[5]i32 [7]i32"},
    {"\\xs -> sort_ragged [1, 4, length xs - 1] xs", "[9]u32"},
    {"map_ragged 2 0 (scan (+)) [0, 3, 3, 7]", "[7]i32"},
    {"\\xs -> permute (ranks xs) xs", "[8]u32"},
    {"gather", "[3,0,7] [8]u32"},
    {"scatter", "[5,0,2] [3]f32 [8]f32"},
    {"\\ps xs -> permute (trusted ps) xs", "[3,1,0,2] [4]c64"},
    {"compact (\\x -> x > 0)", "[13]i32"},
    {"bucket 2 (\\x -> x & 3)", "[10]u8"},
    {"histogram 3 (\\x -> x & 7)", "[17]u16"},
    {"choose [radix_sort, sort]", "[8]i32"},
    {"shuffle_random 3", "[11]u32"},
    {"bitrev", "[2^5]u8"},
    {"bmmc [4, 2, 1] 5", "[2^3]f64"},
    {"rotate 3", "[10]u16"},
    {"gray . ungray . shuffle . unshuffle", "[2^4]i32"},
    {"digitrev 2", "[2^4]c128"},
    {"bit_permute [2, 0, 1]", "[2^3]bool"},
    {"transpose", "[3][5]f32"},
    {"\\xs -> transpose (rows_of 3 xs)", "[12]u64"},
    {"\\xs -> concat (drop 2 xs) (take 2 xs)", "[9]f64"},
    {"map sort", "[3][2^2]i32"},
    {"unzip . map (\\(x, (y, z)) -> (y + x, z))", "[6](i32, (i32, f32))"},
    {"scan (+)", "[13]i64"},
    {"scan_segments max", "[8]bool [8]u32"},
    {"linear_recurrence 0.0", "[8]f64 [8]f64"},
    {"\\xs -> (sum xs, minimum xs, argmax xs)", "[14]i32"},
    {"\\xs -> (any (map (> 1.0) xs), count (< 0.0) xs, product xs)", "[8]f64"},
    {"is_sorted", "[9]u32"},
    {"fft", "[2^4]c64"},
    {"fwht", "[2^4]i32"},
    {"parm 5 reverse", "[2^3]u32"},
    {"parmi 1 (\\k xs -> map (+ k) xs)", "[2^3]i64"},
    {"column 2 (\\[x, y] -> [x + y, x - y])", "[2^3]f32"},
    {"map (\\x -> sqrt (abs (sin x)) + exp (x / 3.0))", "[7]f64"},
    {"map (\\x -> if x < 3 then i32 x << 2 else -7) (iota 9)", ""},
    {"main : [2^n]u32 -> [2^n]u32\n"
     "main xs = merged n (parm 1 sort xs)\n"
     "\n"
     "merged 0 xs = xs\n"
     "merged k xs = parm (2^(k-1)) (merged (k-1)) (vcolumn xs)\n",
     "[2^4]u32"},
    {"main : int -> [m]f32 -> ([m]f32, f32)\n"
     "main k xs = iter k step (xs, 0.0)\n"
     "\n"
     "step (xs, s) = (map (* 0.5) xs, s + maximum xs)\n",
     "3 [2^2]f32"},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

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

static bool check_program(session *s) {
  return permc_check_arguments(s->context, entry_of(s), s->program->types, NULL, 0);
}

static bool explain_program(session *s, const char *dump) {
  permc_explain_options o = {.types = s->program->types, .rules = !dump, .dump = dump};
  char *out = NULL;
  bool good = permc_explain(s->context, entry_of(s), NULL, 0, &o, &out) && out && *out;
  free(out);
  return good;
}

static bool explain_words(session *s) { return explain_program(s, NULL); }
static bool explain_page(session *s) { return explain_program(s, "html"); }
static bool explain_picture(session *s) { return explain_program(s, "passes.svg"); }
static bool explain_c(session *s) { return explain_program(s, "c"); }
static bool explain_cuda(session *s) { return explain_program(s, "cuda"); }

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

static bool run_program(session *s, const char *backend) {
  permc_value **results = NULL;
  size_t count = 0;
  bool good = permc_run(s->context, entry_of(s), backend, s->arguments, s->argument_count, &results,
                        &count);
  if (good && !s->expected) {
    s->expected = results;
    s->expected_count = count;
    return true;
  }
  good = good && are_expected(s, results, count);
  permc_values_free(results, count);
  return good;
}

static bool run_program_interp(session *s) { return run_program(s, "interp"); }
static bool run_program_portable(session *s) { return run_program(s, "portable"); }
static bool run_program_machine(session *s) { return run_program(s, "machine"); }
static bool run_program_auto(session *s) { return run_program(s, NULL); }

static bool compile_program(session *s) {
  permc_compiled_free(s->compiled);
  s->compiled = permc_compile_types(s->context, entry_of(s), "portable", s->program->types);
  return s->compiled;
}

// The arguments where they are, component by component.
static permc_value *borrow_value(session *s, const permc_value *v) {
  permc_value *parts[4];
  size_t count = permc_value_components(v);
  for (size_t i = 0; i < count; i++)
    parts[i] = permc_value_borrow(&(permc_memory){.type = permc_value_type(v, i),
                                                  .rank = permc_value_rank(v, i),
                                                  .dims = permc_value_dims(v, i),
                                                  .data = (void *)(uintptr_t)permc_value_data(v, i),
                                                  .device = PERMC_HOST,
                                                  .read_only = true},
                                  &s->error);
  return permc_value_tuple(parts, count);
}

static bool call_compiled(session *s) {
  permc_value *in[3] = {NULL}, **out = NULL;
  size_t count = 0;
  bool good = true;
  s->error = (permc_error){PERMC_ERROR_MEMORY, "out of memory"};
  for (size_t i = 0; good && i < s->argument_count; i++)
    good = (in[i] = borrow_value(s, s->arguments[i])) != NULL;
  good = good && (out = permc_results_new(s->compiled, &count)) &&
         permc_call(s->compiled, in, s->argument_count, out, count, NULL, &s->error) == PERMC_OK &&
         are_expected(s, out, count);
  for (size_t i = 0; i < s->argument_count; i++)
    permc_value_free(in[i]);
  permc_values_free(out, count);
  return good;
}

static const call program_calls[] = {
    {"the program is loaded", load_source},
    {"permc_read_random", read_program_arguments},
    {"permc_check_arguments", check_program},
    {"permc_run, interp", run_program_interp},
    {"permc_run, portable", run_program_portable},
    {"permc_run, machine", run_program_machine},
    {"permc_run, auto", run_program_auto},
    {"permc_compile_types", compile_program},
    {"permc_call", call_compiled},
    {"permc_explain", explain_words},
    {"permc_explain, html", explain_page},
    {"permc_explain, passes.svg", explain_picture},
    {"permc_explain, c", explain_c},
    {"permc_explain, cuda", explain_cuda},
};

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

// NULL: with this allocation failing, the call does what it should, and so it does again with memory.
static const char *try_allocation(session *s, const call *c) {
  s->error = (permc_error){PERMC_OK, ""};
  atomic_store(&allocations_left, current->allocation);
  atomic_store(&counting, true);
  bool good = c->make(s);
  atomic_store(&counting, false);
  const char *message = s->context ? permc_message(s->context) : "";
  permc_code code = s->context ? permc_last_code(s->context) : PERMC_ERROR_MEMORY;
  if (!good && !*message && !*s->error.message && s->context)
    return "a failure without a message";
  if (!good && *message && count_errors(message) != 1)
    return "more than one error";
  if (!good && *message && code == PERMC_OK)
    return "an error without a code";
  return c->make(s) ? NULL : "the call fails with memory again";
}

// How many allocations the call makes.
static long count_allocations(session *s, const call *c) {
  atomic_store(&allocations_left, LONG_MAX);
  atomic_store(&counting, true);
  bool good = c->make(s);
  atomic_store(&counting, false);
  return good ? LONG_MAX - atomic_load(&allocations_left) : 0;
}

// Lets one allocation of the call's `count` fail: it alone, or all later ones, too.
static void fail_allocation(session *s, const call *c, long allocation, bool alone, long count) {
  current->allocation = allocation;
  current->count++;
  atomic_store(&only_one, alone);
  current->problem = try_allocation(s, c);
  if (current->problem && test_fail(__FILE__, __LINE__, c->name))
    printf(": allocation %ld of %ld%s: %s\n%s", allocation, count,
           alone ? "" : " and all later ones", current->problem,
           s->context ? permc_message(s->context) : "");
  current->allocation = 0;
}

// Lets some allocations of the call fail; all of this part where nothing is left out.
static void try_call(session *s, const call *c, unsigned some) {
  current->call = c->name;
  if (!CHECK(c->make(s))) {
    printf("%s: %s\n", c->name, s->context ? permc_message(s->context) : "");
    return;
  }
  long count = count_allocations(s, c);
  if (test_all()) {
    for (long i = (long)part.number; i < count; i += (long)part.of)
      for (int alone = 0; alone < 2; alone++)
        fail_allocation(s, c, i + 1, alone, count);
    return;
  }
  for (unsigned i = 0; i < some; i++) {
    uint64_t choice = random_u64() % (2 * (uint64_t)count + 1);
    fail_allocation(s, c, (long)(choice / 2 + 1), choice % 2, count);
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
static void try_calls(const program *p, const call *calls, size_t count, unsigned some) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    size_t before = test_state.failures;
    session s = {.program = p};
    if (p && (s.context = permc_context_new()))
      CHECK(permc_define(s.context, "1"));  // reads the library
    for (size_t i = 0; i < count; i++)
      try_call(&s, &calls[i], some);
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
  current = mmap(NULL, sizeof *current, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(current != MAP_FAILED);
}

TEST(calls_of_a_session) {
  share_trial();
  try_calls(NULL, session_calls, sizeof session_calls / sizeof *session_calls, 12);
}

TEST(programs) {
  share_trial();
  for (size_t i = 0; i < PROGRAMS; i++) {
    random_state = i;
    try_calls(&programs[i], program_calls, sizeof program_calls / sizeof *program_calls, 1);
  }
  if (test_all())
    printf("part %lu of %lu: %ld trials\n", part.number, part.of, current->count);
}

int main(int count, char **arguments) {
  int kept = 1;
  for (int i = 1; i < count; i++)
    if (strcmp(arguments[i], "--part") != 0)
      arguments[kept++] = arguments[i];
    else if (i + 1 == count || sscanf(arguments[++i], "%lu/%lu", &part.number, &part.of) != 2 ||
             part.number >= part.of)
      return fprintf(stderr, "memory_failure_test: --part needs a part, such as 3/16\n"), 2;
  arguments[kept] = NULL;
  return test_main(kept, arguments);
}
