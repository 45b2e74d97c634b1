// The backend auto on the processor: executors that take turns in the middle of passes, a compiler
// that takes over, one that is left behind, and what the cost model chooses.
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
                {"bitrev", "[2^16]u8"}};
enum { PROGRAMS = sizeof programs / sizeof *programs, MOST = 8 };

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
  if (run(s, (cpu_executor){portable_pass, e}, s->expected))
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
  uint64_t calls, slice;
} turns;

static cpu_work take_turns(void *with, uint32_t pass) {
  turns *t = with;
  bool second = t->calls++ % 2;
  cpu_work work = second ? compiled_pass(t->compiled, pass) : portable_pass(t->portable, pass);
  uint64_t granularity = portable_pass(t->portable, pass).granularity;
  work.slice = granularity * t->slice;
  work.in_place = false;
  return work;
}

static void check_turns(subject *s) {
  error why = {0};
  compiled_status status;
  turns t = {.portable = new_portable(s)};
  t.compiled = compiled_from_plan(s->pipeline->plan, NULL, &(compiled_options){0}, &status, &why);
  CHECK(t.compiled != NULL);
  for (t.slice = 1; t.slice < 100 && t.compiled; t.slice = 3 * t.slice + 1) {
    check_run(s, (cpu_executor){take_turns, &t});
    t.calls = 1;
    check_run(s, (cpu_executor){take_turns, &t});
    t.calls = 0;
  }
  portable_free(t.portable);
  compiled_free(t.compiled);
}

TEST(slices_by_turns) {
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

// Passes that are said to take so long that compiled code is worth any wait.
static cost_model slow_model(const subject *s, model_pass *passes) {
  size_t count = s->pipeline->plan->passes.count;
  for (size_t i = 0; i < count; i++)
    passes[i] = (model_pass){1e6, 1};
  return (cost_model){.passes = passes, .portable = 1e6 * (double)count, .compiled = (double)count};
}

static adaptive *new_adaptive(const subject *s, const cost_model *m, compilation **pending) {
  error why = {0};
  adaptive_options o = {.text = {.stream_bytes = COMPILED_STREAM_BYTES},
                        .model = m,
                        .threads = 2,
                        .may_leave = m->interp > 0,
                        .pending = pending};
  adaptive *e = adaptive_new(s->pipeline->plan, &o, &why);
  CHECK(e != NULL);
  return e;
}

static void check_take_over(subject *s) {
  model_pass passes[100];
  cost_model m = slow_model(s, passes);
  compilation *pending = NULL;
  adaptive *e = new_adaptive(s, &m, &pending);
  for (int i = 0; i < 100000 && e && adaptive_pass(e, 0).slice; i++)  // cut up until it is compiled
    check_run(s, (cpu_executor){adaptive_pass, e});
  check_run(s, (cpu_executor){adaptive_pass, e});
  CHECK_STR(adaptive_problem(e), "");
  adaptive_free(e);
  CHECK(pending == NULL);
  CHECK(count_entries() == 1);
  e = new_adaptive(s, &m, &pending);  // from the cache
  CHECK(e && adaptive_pass(e, 0).slice == 0);
  check_run(s, (cpu_executor){adaptive_pass, e});
  adaptive_free(e);
}

TEST(compiled_code_takes_over) {
  enter();
  check_program(0, check_take_over);
  leave();
}

static void check_left_behind(subject *s) {
  model_pass passes[100];
  cost_model m = slow_model(s, passes);
  compilation *pending = NULL;
  adaptive *e = new_adaptive(s, &m, &pending);
  check_run(s, (cpu_executor){adaptive_pass, e});
  adaptive_free(e);
  compilation *first = pending;
  CHECK(first != NULL);
  e = new_adaptive(s, &m, &pending);  // the same program: it goes on with that one
  CHECK(pending == NULL);
  check_run(s, (cpu_executor){adaptive_pass, e});
  adaptive_free(e);
  CHECK(pending == first);
  pid_t child = fork();
  if (child == 0) {  // the thread that waits for the compiler is not here
    alarm(60);
    compilation_end(pending, true);
    _exit(0);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  compilation_end(pending, true);
  CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
  CHECK(count_entries() == 0);
}

// A compiler that never ends is ended, and leaves nothing.
TEST(a_compiler_is_left_behind) {
  enter();
  use_script_as_compiler(place, "exec sleep 1000");
  check_program(0, check_left_behind);
  leave();
}

static void check_failure(subject *s) {
  model_pass passes[100];
  cost_model m = slow_model(s, passes);
  compilation *pending = NULL;
  adaptive *e = new_adaptive(s, &m, &pending);
  for (int i = 0; i < 100000 && e && adaptive_pass(e, 0).slice; i++)
    check_run(s, (cpu_executor){adaptive_pass, e});
  check_run(s, (cpu_executor){adaptive_pass, e});
  CHECK_CONTAINS(adaptive_problem(e), "the C compiler");
  adaptive_free(e);
  CHECK(pending == NULL);
}

TEST(a_compiler_fails) {
  enter();
  use_script_as_compiler(place, "echo 'error: no' >&2; exit 1");
  check_program(0, check_failure);
  setenv("PERMC_CC", "/nowhere/cc", 1);
  leave();
}

// ---- from run to run ---------------------------------------------------------------------------

// A compiler that takes no time: it gives what the compiler has made of the same text.
static bool write_fast_compiler(const subject *s) {
  char answer[2200];
  error why = {0};
  compiled_status status;
  compiled_free(compiled_from_plan(s->pipeline->plan, NULL, &(compiled_options){0}, &status, &why));
  snprintf(answer, sizeof answer, "mv %s/permc-entries/*.so %s/made", place, place);
  if (!CHECK(status == COMPILED) || !CHECK(system(answer) == 0))
    return false;
  snprintf(answer, sizeof answer, "while [ \"$1\" != -o ]; do shift; done; cp %s/made \"$2\"",
           place);
  use_script_as_compiler(place, answer);
  return true;
}

// Passes that are said to gain a tenth of what compiling takes, or less.
static cost_model short_model(const subject *s, model_pass *passes) {
  cost_model m = slow_model(s, passes);
  double each = 0.01 / (double)s->pipeline->plan->passes.count;
  for (size_t i = 0; i < s->pipeline->plan->passes.count; i++)
    passes[i] = (model_pass){each, each / 2};
  m.portable = 0.01;
  m.compiled = 0.005;
  m.bytes = 1;
  return m;
}

// A run on a fresh executor, after which the compiler, if one was begun, has all the time it wants.
// Returns whether one was.
static bool run_once(const subject *s, const cost_model *m) {
  compilation *pending = NULL;
  adaptive *e = new_adaptive(s, m, &pending);
  check_run(s, (cpu_executor){adaptive_pass, e});
  adaptive_free(e);
  for (int i = 0; i < 100000 && pending && !compilation_has_ended(pending); i++)
    usleep(1000);
  bool begun = pending != NULL;
  compilation_end(pending, false);
  return begun;
}

static compile_record the_record(const subject *s) {
  compile_record r = {0};
  compiled_options o = {.only_cached = true, .record = &r};
  compiled_status status;
  error why = {0};
  compiled_free(compiled_from_plan(s->pipeline->plan, NULL, &o, &status, &why));
  return r;
}

static void check_next_run(subject *s) {
  model_pass passes[100];
  cost_model m = short_model(s, passes);
  if (!write_fast_compiler(s))
    return;
  CHECK(the_record(s).lost == 0);
  CHECK(!run_once(s, &m));
  compile_record first = the_record(s);
  CHECK(first.lost > 0 && first.over == 0);
  CHECK(!run_once(s, &m));
  compile_record second = the_record(s);
  CHECK(second.lost > first.lost && second.over == 0);
  CHECK(count_entries() == 0);
  second.lost = 1000;  // of many runs
  compile_record_add(&second);
  CHECK(run_once(s, &m));
  CHECK(count_entries() == 1);
  compilation *pending = NULL;
  adaptive *e = new_adaptive(s, &m, &pending);  // from the cache
  check_run(s, (cpu_executor){adaptive_pass, e});
  CHECK(e && adaptive_pass(e, 0).slice == 0);
  adaptive_free(e);
}

TEST(runs_are_counted) {
  enter();
  check_program(0, check_next_run);
  leave();
}

// Passes that take longer than interp are left to it, and the loss is noted; but not if earlier
// runs have lost enough, or if the code is in the cache.
static void check_leaving(subject *s) {
  model_pass passes[100];
  compilation *pending = NULL;
  cost_model m = short_model(s, passes);
  m.interp = 0.0065;
  m.planning = m.compile = 1;
  adaptive *e = new_adaptive(s, &m, &pending);
  CHECK(adaptive_leaves(e));
  adaptive_free(e);
  compile_record noted = the_record(s);
  CHECK(noted.lost > 0.0014 && noted.lost < 0.0016 && noted.over == 0);
  m.interp = 0.009;  // no faster, to speak of
  e = new_adaptive(s, &m, &pending);
  CHECK(!adaptive_leaves(e) && the_record(s).lost == noted.lost);
  adaptive_free(e);
  m.interp = 0.0065;
  noted.lost = 1000;  // of many runs
  compile_record_add(&noted);
  e = new_adaptive(s, &m, &pending);
  CHECK(!adaptive_leaves(e));
  check_run(s, (cpu_executor){adaptive_pass, e});
  adaptive_free(e);
  compilation_end(pending, true);
  pending = NULL;
  error why = {0};
  compiled_status status;
  compiled_free(compiled_from_plan(s->pipeline->plan, NULL, &(compiled_options){0}, &status, &why));
  e = new_adaptive(s, &m, &pending);  // from the cache
  CHECK(!adaptive_leaves(e) && adaptive_pass(e, 0).slice == 0);
  check_run(s, (cpu_executor){adaptive_pass, e});
  adaptive_free(e);
}

TEST(a_program_is_left_to_interp) {
  enter();
  check_program(0, check_leaving);
  leave();
}

// A compiler that was ended gets twice the time, and that has to be worth it.
static void check_more_time(subject *s) {
  model_pass passes[100];
  cost_model m = short_model(s, passes);
  compile_record more = the_record(s);
  more.lost = 1000;
  compile_record_add(&more);
  compilation *pending = NULL;
  adaptive *e = new_adaptive(s, &m, &pending);
  check_run(s, (cpu_executor){adaptive_pass, e});
  adaptive_free(e);
  CHECK(pending != NULL);
  compilation_end(pending, true);
  compile_record now = the_record(s);
  CHECK(now.lost > 1000 && now.over > 0);
  more.lost = 0;
  more.over = 1000;
  compile_record_add(&more);
  pending = NULL;
  e = new_adaptive(s, &m, &pending);
  check_run(s, (cpu_executor){adaptive_pass, e});
  adaptive_free(e);
  CHECK(pending == NULL);
  compilation_end(pending, true);
}

TEST(an_ended_compiler_gets_more_time) {
  enter();
  use_script_as_compiler(place, "exec sleep 1000");
  check_program(0, check_more_time);
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
  CHECK(model_prefers_interp(&m) && model_is_worth_planning(&m));
  m = model_of("odd_even_sort", "[2^10]u32");
  CHECK(model_prefers_interp(&m) && !model_is_worth_planning(&m));
  m = model_of("sort_network", "[2^20]u32");
  CHECK(!model_prefers_interp(&m) && !model_returns_to_interp(&m));
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

// Times are those of the machine, which is measured once, where they are told to a user.
TEST(the_machine_is_measured) {
  enter();
  machine_speed usual = speed_of_machine(false), s = speed_of_machine(true);
  CHECK(usual.cycle == speed_usual.cycle && usual.all == speed_usual.all);
  CHECK(s.cycle > 1e-11 && s.cycle < 1e-8);
  for (int i = 0; i < SPEED_LEVELS; i++)
    CHECK(s.byte[i] > 1e-13 && s.byte[i] < 1e-8);
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
