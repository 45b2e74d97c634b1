// The backend auto on the processor: executors that take turns, compiled code that takes over, a
// compiler that is ended, and what the cost model chooses.
#include "runtime/adaptive/adaptive.h"
#include "runtime/pipeline.h"
#include "runtime/system/cache.h"
#include "tests/test.h"
#include "tests/unit/compiled.h"
#include "tests/unit/script.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
  const char *expression, *types;
} programs[] = {{"sort", "[2^14]u32"},       {"sort_on fst", "[2^12](f32, u8)"},
                {"fft", "[2^13]c64"},        {"scan (+)", "[2^15]i32"},
                {"map sort", "[99][64]i16"}, {"padded maxval sort", "[5000]u64"},
                {"bitrev", "[2^16]u8"},      {"fft", "[2^20]c64"}};
enum { PROGRAMS = sizeof programs / sizeof *programs, MANY_PASSES = 7, MOST = 8, PASSES = 100 };

static permc_context *load_expression(const char *expression) {
  permc_context *c = permc_context_new();
  CHECK(c && permc_define(c, expression));
  return c;
}

// A run of a plan with random arguments.
typedef struct subject {
  permc_context *context;
  pipeline *pipeline;
  permc_value **values;
  size_t value_count, argument_count, result_count;
  array arguments[MOST], expected[MOST];
} subject;

static bool run(const subject *s, cpu_executor executor, array *results) {
  error why = {0};
  cpu_options o = {.threads = 2, .executor = &executor, .borrow_arguments = true};
  array arguments[MOST];
  memcpy(arguments, s->arguments, sizeof arguments);
  bool good = cpu_run(s->pipeline->plan, &o, arguments, s->argument_count, results, &why);
  if (!CHECK(good))
    printf("%s\n", why.message);
  return good;
}

static void check_run(const subject *s, cpu_executor executor) {
  array results[MOST] = {0};
  if (!run(s, executor, results))
    return;
  for (size_t i = 0; i < s->result_count; i++)
    CHECK(memcmp(results[i].data, s->expected[i].data, array_bytes(&results[i])) == 0);
  arrays_destroy(results, s->result_count);
}

static portable *new_portable(const subject *s) {
  error why = {0};
  portable *e = portable_new(s->pipeline->plan, &(portable_options){0}, &why);
  CHECK(e != NULL);
  return e;
}

typedef void check_subject(subject *s);
typedef struct check_job {
  subject *subject;
  check_subject *check;
} check_job;

static bool with_plan(permc_context *c, pipeline *p, void *with) {
  check_job *j = with;
  subject *s = j->subject;
  (void)c;
  s->pipeline = p;
  for (size_t i = 0; i < s->value_count; i++)
    for (size_t k = 0; k < s->values[i]->count; k++)
      s->arguments[s->argument_count++] = s->values[i]->components[k];
  s->result_count = p->trace.results.count;
  portable *e = new_portable(s);
  if (run(s, (cpu_executor){portable_pass, e, NULL}, s->expected))
    j->check(s);
  portable_free(e);
  arrays_destroy(s->expected, s->result_count);
  return true;
}

static void check_program(size_t number, check_subject *check) {
  subject s = {.context = load_expression(programs[number].expression)};
  REQUIRE(s.context != NULL);
  CHECK(permc_read_random(s.context, "-e", programs[number].types, 1, &s.values, &s.value_count));
  pipeline_request r = {
      .entry = "-e", .last = STAGE_PLAN, .arguments = s.values, .argument_count = s.value_count};
  check_job j = {&s, check};
  if (!CHECK(pipeline_with(s.context, &r, with_plan, &j)))
    printf("%s: %s\n", programs[number].expression, permc_message(s.context));
  permc_values_free(s.values, s.value_count);
  permc_context_free(s.context);
}

// ---- executors that take turns -----------------------------------------------------------------

typedef struct turns {
  portable *portable;
  compiled *compiled;
  uint32_t first;  // the passes of its parity are compiled
} turns;

static cpu_work take_turns(void *with, uint32_t pass) {
  turns *t = with;
  return (pass + t->first) % 2 ? portable_pass(t->portable, pass)
                               : compiled_pass(t->compiled, pass);
}

static bool turns_in_place(const void *with, uint32_t pass) {
  const turns *t = with;
  return (pass + t->first) % 2 || compiled_in_place(t->compiled, pass);
}

static void check_turns(subject *s) {
  error why = {0};
  compiled_status status;
  turns t = {.portable = new_portable(s)};
  t.compiled = compiled_from_plan(s->pipeline->plan, NULL, &(compiled_options){0}, &status, &why);
  CHECK(t.compiled != NULL);
  for (t.first = 0; t.first < 2 && t.compiled; t.first++)
    check_run(s, (cpu_executor){take_turns, &t, turns_in_place});
  portable_free(t.portable);
  compiled_free(t.compiled);
}

TEST(passes_by_turns) {
  for (size_t i = 0; i < PROGRAMS; i++)
    check_program(i, check_turns);
}

// ---- compilers ---------------------------------------------------------------------------------

static char place[1000];

static void enter(void) {
  snprintf(place, sizeof place, "%s/adaptive-%d", getenv("PERMC_TMP"), (int)getpid());
  mkdir(place, 0700);
  setenv("PERMC_CACHE", place, 1);
}

static int entries_found;
static int count_entry(const char *path, const struct stat *s, int kind, struct FTW *at) {
  (void)s, (void)at;
  const char *ending = strrchr(path, '.');
  entries_found += kind == FTW_F && ending && !strcmp(ending, ".so");
  return 0;
}

static int count_entries(void) {
  entries_found = 0;
  nftw(place, count_entry, 8, FTW_PHYS);
  return entries_found;
}

static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *at) {
  (void)s, (void)kind, (void)at;
  return remove(path);
}

static void leave(void) {
  nftw(place, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
  unsetenv("PERMC_CACHE");
  unsetenv("PERMC_CC");
}

// A model where compiled code saves so many seconds of each pass, and nothing of the first ones.
static cost_model model_with(const subject *s, model_pass *passes, uint32_t first, double saved) {
  size_t count = s->pipeline->plan->passes.count;
  cost_model m = {.passes = passes};
  for (size_t i = 0; CHECK(count <= PASSES) && i < count; i++) {
    passes[i] = (model_pass){i < first ? 0 : saved, 0};
    m.portable += passes[i].portable;
  }
  return m;
}

static adaptive *new_adaptive(const subject *s, const cost_model *m, const atomic_bool *flag) {
  error why = {0};
  adaptive_options o = {.text = {.stream_bytes = COMPILED_STREAM_BYTES},
                        .compiled = {.interrupted = flag},
                        .model = m,
                        .threads = 2};
  adaptive *e = adaptive_new(s->pipeline->plan, &o, &why);
  CHECK(e != NULL);
  return e;
}

// The first pass waits for the code, which the next executor finds in the cache.
static void check_take_over(subject *s) {
  model_pass passes[PASSES];
  cost_model m = model_with(s, passes, 0, 1e6);
  adaptive *e = new_adaptive(s, &m, NULL);
  CHECK(!adaptive_has_code(e));
  check_run(s, (cpu_executor){adaptive_pass, e, adaptive_in_place});
  CHECK(adaptive_has_code(e));
  CHECK_STR(adaptive_problem(e), "");
  adaptive_free(e);
  CHECK(count_entries() == 1);
  e = new_adaptive(s, &m, NULL);
  CHECK(adaptive_has_code(e));
  check_run(s, (cpu_executor){adaptive_pass, e, adaptive_in_place});
  adaptive_free(e);
}

// Passes of which compiled code saves nothing do not wait for it.
static void check_later_pass(subject *s) {
  model_pass passes[PASSES];
  cost_model m = model_with(s, passes, 1, 1e6);
  REQUIRE(s->pipeline->plan->passes.count > 1);
  adaptive *e = new_adaptive(s, &m, NULL);
  for (uint32_t pass = 0; pass < 2; pass++) {
    (void)adaptive_pass(e, pass);
    CHECK(adaptive_has_code(e) == (pass == 1));
  }
  adaptive_free(e);
}

TEST(compiled_code_takes_over) {
  enter();
  check_program(0, check_take_over);
  leave();
  enter();
  check_program(MANY_PASSES, check_later_pass);
  leave();
}

static bool has_child(void) { return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD; }

static void check_slow_compiler(subject *s) {
  model_pass passes[PASSES];
  cost_model m = model_with(s, passes, 0, 0.5);
  adaptive *e = new_adaptive(s, &m, NULL);
  check_run(s, (cpu_executor){adaptive_pass, e, adaptive_in_place});
  CHECK(!adaptive_has_code(e) && has_child());
  pid_t child = fork();
  if (child == 0) {  // the thread that waits for the compiler is not here
    alarm(60);
    adaptive_free(e);
    _exit(0);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  adaptive_free(e);
  CHECK(!has_child());
  m = model_with(s, passes, 0, 1e6);
  atomic_bool stop = true;
  alarm(60);
  e = new_adaptive(s, &m, &stop);  // an interrupt ends the waiting
  (void)adaptive_pass(e, 0);
  adaptive_free(e);
  alarm(0);
  CHECK(!has_child() && count_entries() == 0);
}

// A compiler that never ends is ended with the run, and leaves nothing.
TEST(a_compiler_is_ended) {
  enter();
  use_script_as_compiler(place, "exec sleep 1000");
  check_program(0, check_slow_compiler);
  leave();
}

static void check_failure(subject *s) {
  model_pass passes[PASSES];
  cost_model m = model_with(s, passes, 0, 1e6);
  adaptive *e = new_adaptive(s, &m, NULL);
  check_run(s, (cpu_executor){adaptive_pass, e, adaptive_in_place});
  CHECK_CONTAINS(adaptive_problem(e), "the C compiler");
  adaptive_free(e);
}

TEST(a_compiler_fails) {
  enter();
  use_script_as_compiler(place, "echo 'error: no' >&2; exit 1");
  check_program(0, check_failure);
  leave();
}

// What compiled code saves is less than compiling takes: there is no compiler, but code in the cache
// is taken.
static void check_short_program(subject *s) {
  model_pass passes[PASSES];
  cost_model m = model_with(s, passes, 0, 0.01);
  m.portable = 0.01;
  adaptive *e = new_adaptive(s, &m, NULL);
  check_run(s, (cpu_executor){adaptive_pass, e, adaptive_in_place});
  CHECK(!adaptive_has_code(e) && !has_child());
  adaptive_free(e);
  error why = {0};
  compiled_status status;
  compiled_free(compiled_from_plan(s->pipeline->plan, NULL, &(compiled_options){0}, &status, &why));
  CHECK(status == COMPILED);
  e = new_adaptive(s, &m, NULL);
  CHECK(adaptive_has_code(e));
  check_run(s, (cpu_executor){adaptive_pass, e, adaptive_in_place});
  adaptive_free(e);
}

TEST(a_short_program) {
  enter();
  check_program(0, check_short_program);
  leave();
}

// ---- the model ---------------------------------------------------------------------------------

static bool take_model(permc_context *c, pipeline *p, void *with) {
  (void)c;
  *(cost_model *)with = p->model;
  return true;
}

static cost_model model_of(const char *expression, const char *types) {
  cost_model m = {0};
  permc_context *c = load_expression(expression);
  pipeline_request r = {.entry = "-e", .last = STAGE_PLAN, .types = types};
  permc_use_threads(c, 2);
  CHECK(c && pipeline_with(c, &r, take_model, &m));
  permc_context_free(c);
  return m;
}

TEST(choices) {
  cost_model m = model_of("sort", "[2^4]u32");
  CHECK(model_prefers_interp(&m));
  CHECK(!model_prefers_gpu(&m));
  // Arrays that are joined are passes of their own, many of them; what is only reshaped costs
  // nothing.
  m = model_of("odd_even_sort", "[2^20]u32");
  CHECK(model_prefers_interp(&m));
  m = model_of("sort_network", "[2^20]u32");
  CHECK(!model_prefers_interp(&m));
  m = model_of("scan (+)", "[2^20]u32");
  CHECK(!model_prefers_interp(&m));
  m = model_of("sort_network", "[2^16]u32");
  CHECK(!model_prefers_interp(&m) && !model_prefers_gpu(&m));
  CHECK(m.compiled < m.portable && m.portable < m.text && m.text < m.compile);
  m = model_of("sort_network", "[2^24]u32");
  CHECK(m.portable > m.text + m.compiled && !model_prefers_gpu(&m));
  m = model_of("sort_network", "[2^28]u32");
  CHECK(m.portable > m.text + m.compile + m.compiled && model_prefers_gpu(&m));
  m = model_of("bitrev", "[2^28]u32");  // the way there and back takes longer than moving them here
  CHECK(!model_prefers_gpu(&m));
}

// An element at a place that data say waits for memory, by the size of the array; one at a place that
// indices say has neighbours there.
TEST(places_that_are_data_wait) {
  enter();
  speed_keep(&speed_usual);
  const double elements = 1 << 20, threads = 2, far = 1 << 26;
  const double wait = speed_usual.place[SPEED_FAR] - speed_usual.place[SPEED_NEAR];
  const char *by_data = "\\ks xs -> gather (map (clamp 0 100 . i64) ks) xs";
  const char *by_index = "\\ks xs -> zip_with (\\k x -> f32 k + x) ks "
                         "(gather (map (\\i -> clamp 0 100 (i / 3)) (iota (2^20))) xs)";
  double small = model_of(by_data, "[2^20]u8 [2^10]f32").compiled;
  double large = model_of(by_data, "[2^20]u8 [2^24]f32").compiled;
  CHECK(speed_place_seconds(&speed_usual, far) == speed_usual.place[SPEED_FAR]);
  CHECK(fabs(large - small - elements * wait / threads) < 1e-9);
  small = model_of(by_index, "[2^20]u8 [2^10]f32").compiled;
  large = model_of(by_index, "[2^20]u8 [2^24]f32").compiled;
  CHECK(fabs(large - small) < 1e-9);
  leave();
}

static bool take_seconds(permc_context *c, pipeline *p, void *with) {
  double *seconds = with;
  (void)c;
  for (size_t i = 0; i < p->plan->passes.count; i++)
    *seconds += p->plan->passes.items[i].seconds - p->target->pass_seconds;
  return true;
}

// On a GPU it is in 32 bytes of its own: 1 + 4 bytes are read and written in order.
TEST(places_that_are_data_have_sectors) {
  enter();
  permc_context *c = load_expression("\\ks xs -> gather (map (clamp 0 100 . i64) ks) xs");
  pipeline_request r = {
      .entry = "-e", .last = STAGE_PLAN, .types = "[2^24]u8 [2^24]f32", .target = "gpu"};
  double seconds = 0, bytes = (1 << 24) * (1.0 + 4 + 32);
  CHECK(c && pipeline_with(c, &r, take_seconds, &seconds));
  CHECK(fabs(seconds * target_named("gpu")->memory_bytes_per_second / bytes - 1) < 1e-3);
  permc_context_free(c);
  leave();
}

// Times are those of the machine, which is measured once, where they are told to a user.
TEST(the_machine_is_measured) {
  enter();
  machine_speed usual = speed_of_machine(false), s = speed_of_machine(true);
  CHECK(usual.cycle == speed_usual.cycle && usual.all == speed_usual.all);
  CHECK(s.cycle > 1e-11 && s.cycle < 1e-8);
  for (int i = 0; i < SPEED_LEVELS; i++)
    CHECK(s.byte[i] > 1e-13 && s.byte[i] < 1e-8 && s.place[i] > 1e-11 && s.place[i] < 1e-6);
  CHECK(fabs(speed_of_machine(false).byte[0] - s.byte[0]) < 1e-14);
  CHECK(speed_byte_seconds(&s, 1e12, 2) >= s.all && speed_byte_seconds(&s, 10, 2) < s.byte[0]);
  cost_model first, second;
  speed_keep(&speed_usual);
  first = model_of("fft", "[2^16]c64");
  s = speed_usual;
  s.cycle *= 3;
  for (int i = 0; i < SPEED_LEVELS; i++)
    s.byte[i] *= 3;
  speed_keep(&s);
  second = model_of("fft", "[2^16]c64");
  CHECK(fabs(second.interp / first.interp - 3) < 1e-6);
  CHECK(fabs(second.portable / first.portable - 3) < 1e-6);
  CHECK(fabs(second.compiled / first.compiled - 3) < 1e-6);
  leave();
}

// ---- what runs often -----------------------------------------------------------------------------

// Compiled without a backend, by each way to do so.
static void check_often(const char *expression, const char *types, bool untrusted,
                        const char *expected) {
  permc_context *c = permc_context_new();
  permc_value **values = NULL;
  size_t count = 0;
  REQUIRE(c != NULL);
  if (untrusted)
    permc_use_untrusted(c);
  CHECK(permc_define(c, expression) && permc_read_random(c, "-e", types, 1, &values, &count));
  for (int ranks = 1; ranks <= 2; ranks++) {
    permc_ranks shared = {.transport = "threads", .count = 2};
    permc_compiled *made[] = {permc_compile(c, "-e", NULL, values, count),
                              permc_compile_types(c, "-e", "auto", types)};
    for (int i = 0; i < 2; i++) {
      if (CHECK(made[i] != NULL))
        CHECK_STR(permc_compiled_backend(made[i]), expected);
      permc_compiled_free(made[i]);
    }
    CHECK(permc_use_ranks(c, &shared));
  }
  permc_values_free(values, count);
  permc_context_free(c);
}

TEST(what_runs_often_is_compiled) {
  static const char *const rows[][2] = {
      {"map (+ 1)", "[4]i32"}, {"fft", "[1024]c64"}, {"bitrev", "[2^16]u32"}, {"sort", "[64]u32"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_often(rows[i][0], rows[i][1], false, "cpu");
  check_often("fft", "[1024]c64", true, "portable");
  enter();
  setenv("PERMC_CC", "/nowhere/cc", 1);
  check_often("map (+ 1)", "[4]i32", false, "portable");
  leave();
}

TEST_MAIN()
