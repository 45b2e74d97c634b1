// permc machine: accesses, algorithms and plans on the memory machines.
#include "core/clock.h"
#include "core/units.h"
#include "kernels/banks/banks.h"
#include "kernels/hmm/plan.h"
#include "runtime/system/memory.h"
#include "tool/reports/address_text.h"
#include "tool/reports/hmm.h"
#include "tool/reports/plan.h"
#include "tool/verbs/verbs.h"

#include <inttypes.h>
#include <math.h>

typedef struct hmm_command {
  const cli_arguments *args;
  arena *memory;
  hmm_machine machine;
  const hmm_algorithm *algorithm;  // NULL: a plan
  hmm_task task;
  const char *data;  // the name of the permutation or file, or NULL
} hmm_command;

// Threads: 0 where they are not given.
static bool read_machine(hmm_command *s) {
  const cli_arguments *args = s->args;
  for (int kind = 0; kind < HMM_KINDS; kind++)
    if (!strcmp(args->operands[0], hmm_kind_names[kind])) {
      s->task.registers = cli_number(args, "--registers", 0);
      s->machine = (hmm_machine){.kind = (hmm_kind)kind,
                                 .width = (uint32_t)cli_number(args, "--width", 32),
                                 .dmms = (uint32_t)cli_number(args, "--dmms", 1),
                                 .latency = cli_number(args, "--latency", 100),
                                 .shared_latency = cli_number(args, "--shared-latency", 1),
                                 .threads = cli_number(args, "--threads", 0)};
      return true;
    }
  cli_usage_error("machine: unknown machine '%s' (there is dmm, umm and hmm)", args->operands[0]);
  return false;
}

// ---- what it is to do ------------------------------------------------------------------------

static cli_status report_unknown_algorithm(const hmm_command *s, const char *name) {
  text_closest closest = {.word = name};
  for (size_t i = 0; hmm_algorithm_at(i); i++)
    text_consider(&closest, hmm_algorithm_at(i)->name);
  return cli_unknown_name(s->args, "algorithm", &closest,
                          arena_printf(s->memory,
                                       "permc machine %s help lists them; the name of a program "
                                       "ends in .perm",
                                       s->args->operands[0]));
}

static cli_status list_algorithms(void) {
  for (size_t i = 0; hmm_algorithm_at(i); i++)
    printf("%-20s%s\n", hmm_algorithm_at(i)->name, hmm_algorithm_at(i)->summary);
  for (size_t i = 0; hmm_permutation_at(i); i++)
    printf("%s%s", i ? ", " : "permutations: ", hmm_permutation_at(i)->name);
  puts("");
  return CLI_OK;
}

// NULL: reported. `hint` is added to the message when the file cannot be read.
static uint64_t *read_list(hmm_command *s, const char *path, const char *hint) {
  size_t length, line = 0;
  const char *wrong = "";
  char *bytes = cli_read_file(path, SIZE_MAX, &length, &wrong);
  address_list list = {0};
  uint64_t n = s->task.n;
  bool read = bytes != NULL,
       good = read && address_text_read(s->memory, bytes, length, NULL, &list, &line, &wrong);
  free(bytes);
  s->task.n = list.count;
  if (line)
    cli_error("%s:%zu: %s", path, line, wrong);
  else if (!good)
    cli_error("%s: %s%s", path, wrong, read ? "" : hint);
  else if (n && n != list.count)
    cli_error("%s: it has %zu numbers, but --size is %" PRIu64, path, list.count, n);
  return good && (!n || n == list.count) ? list.items : NULL;
}

static bool read_permutation(hmm_command *s) {
  const char *name = cli_value(s->args, "--permutation");
  const hmm_permutation *p = hmm_permutation_named(name);
  uint64_t n = s->task.n;
  s->data = name;
  if (p) {
    uint32_t bits = (uint32_t)__builtin_ctzll(n);
    if ((n & (n - 1)) != 0 || bits > HMM_SIZE_BITS_MAX || (p->square && bits % 2)) {
      cli_error("the permutation %s needs n = 2^k with k %sat most %d, not n = %" PRIu64, name,
                p->square ? "even and " : "", HMM_SIZE_BITS_MAX, n);
      return false;
    }
    s->task.list = hmm_permutation_list(s->memory, p, bits, s->task.seed);
    return true;
  }
  uint64_t *list = read_list(s, name, "; permutations with names: permc machine dmm help");
  const char *wrong = list ? hmm_permutation_problem(s->memory, list, s->task.n) : NULL;
  if (wrong)
    cli_error("%s is not a permutation: %s", name, wrong);
  s->task.list = list;
  return list && !wrong;
}

static bool read_addresses(hmm_command *s) {
  s->data = cli_value(s->args, "--addresses");
  return (s->task.list = read_list(s, s->data, "")) != NULL;
}

// All that there is to do, but whole warps and as few as the algorithm takes.
static uint64_t default_threads(const hmm_command *s) {
  uint64_t n = s->task.n, w = s->machine.width;
  if (s->algorithm->data == HMM_INPUT_ADDRESSES)
    return (n + w - 1) / w * w;
  return s->algorithm->takes & HMM_TAKES_REGISTERS ? n / w : n;
}

// ---- memory ----------------------------------------------------------------------------------

// Both executions, with barriers and free-running, hold what they have taken.
static bool check_memory(const hmm_command *s) {
  uint64_t bytes = 0;
  char why[MEMORY_WHY], threads[NUMBER_SPACE] = "";
  for (int barrier = 0; barrier < 2; barrier++) {
    hmm_machine m = s->machine;
    m.barrier = barrier;
    if (__builtin_add_overflow(bytes, hmm_algorithm_bytes(&m, s->algorithm, &s->task), &bytes))
      bytes = UINT64_MAX;
  }
  if (memory_suffices((double)bytes, 0, why))
    return true;
  if (s->machine.threads)
    snprintf(threads, sizeof threads, " with p = %" PRIu64, s->machine.threads);
  if (s->task.n == 0)  // a file will say
    cli_error("p = %" PRIu64 " is too large: a memory machine for it needs %s", s->machine.threads,
              why);
  else
    cli_error("n = %" PRIu64 "%s is too large: a memory machine for it needs %s", s->task.n,
              threads, why);
  return false;
}

// That it does not fit, and what would.
static cli_status report_large_plan(hmm_command *s, const plan *p, const c_options *options,
                                    const char *why) {
  enum { FEWER_BITS = 18 };
  char ignored[MEMORY_WHY];
  hmm_estimate fewer;
  s->machine.threads = UINT64_C(1) << FEWER_BITS;
  if (!hmm_plan_report_estimate(s->memory, &s->machine, p, options, &fewer) &&
      memory_suffices(fewer.bytes, 0, ignored))
    return cli_error("a memory machine for this plan needs %s; try --threads 2^%d", why,
                     FEWER_BITS);
  return cli_error("a memory machine for this plan needs %s; fewer threads do not help: take "
                   "smaller arrays",
                   why);
}

static void warn_of_time(const hmm_estimate *e) {
  static const double many = 1.3e9, a_second = 1.3e8;  // as measured: ten seconds
  if (e->requests < many)
    return;
  static const struct {
    double seconds;
    const char *name;
  } units[] = {{3600, "hour"}, {60, "minute"}, {1, "second"}};
  double seconds = e->requests / a_second;
  size_t unit = 0;
  while (units[unit].seconds > 1 && seconds < 2 * units[unit].seconds)
    unit++;
  cli_error("simulating %.1e requests takes about %.0f %ss", e->requests,
            seconds / units[unit].seconds, units[unit].name);
}

// ---- algorithms ------------------------------------------------------------------------------

// NULL, or the option without which it cannot be.
static const char *missing_option(const hmm_command *s) {
  const char *list = s->algorithm->data == HMM_INPUT_PERMUTATION ? "--permutation"
                     : s->algorithm->data == HMM_INPUT_ADDRESSES ? "--addresses"
                                                                 : NULL;
  const char *name = list ? cli_value(s->args, list) : NULL;
  if (list && !name)
    return list;
  bool from_file = name && !hmm_permutation_named(name);
  return from_file || cli_is_given(s->args, "--size") ? NULL : "--size";
}

// NULL, or an option that says nothing to the algorithm.
static const char *unused_option(const hmm_command *s) {
  const hmm_algorithm *r = s->algorithm;
  const char *permutation = cli_value(s->args, "--permutation");
  const hmm_permutation *p = permutation ? hmm_permutation_named(permutation) : NULL;
  bool random = r->data != HMM_INPUT_PERMUTATION || (p && !p->at);
  const struct {
    const char *name;
    bool taken;
  } options[] = {{"--permutation", r->data == HMM_INPUT_PERMUTATION},
                 {"--addresses", r->data == HMM_INPUT_ADDRESSES},
                 {"--registers", r->takes & HMM_TAKES_REGISTERS},
                 {"--shared-latency", s->machine.kind == HMM_KIND_HMM},
                 {"--seed", r->takes & HMM_TAKES_SEED && random}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (!options[i].taken && cli_is_given(s->args, options[i].name))
      return options[i].name;
  return NULL;
}

static cli_status report_unused(hmm_command *s, const char *option) {
  const char *permutation = cli_value(s->args, "--permutation");
  bool of_kind = !strcmp(option, "--shared-latency");
  bool of_permutation =
      permutation && s->algorithm->data == HMM_INPUT_PERMUTATION && !strcmp(option, "--seed");
  return cli_usage_error(
      "machine: %s does not apply to %s", option,
      of_kind          ? (s->machine.kind == HMM_KIND_DMM ? "a dmm" : "a umm")
      : of_permutation ? arena_printf(s->memory, "%s with %s", s->algorithm->name, permutation)
                       : s->algorithm->name);
}

// Reads --size; n stays 0 where it is not given.
static cli_status read_size(hmm_command *s) {
  const char *size = cli_value(s->args, "--size");
  size_t count;
  cli_values(s->args, "--size", &count);
  if (count > 1)
    return cli_usage_error("machine: --size was given twice");
  if (size && (!cli_read_number(size, &s->task.n) || s->task.n == 0))
    return cli_usage_error("machine: --size must be a number from 1, such as 2^10, not '%s'", size);
  if (s->task.n <= UINT64_C(1) << HMM_SIZE_BITS_MAX)
    return CLI_OK;
  return cli_error("n must be at most 2^%d, not %" PRIu64, HMM_SIZE_BITS_MAX, s->task.n);
}

// CLI_OK: s->task and the threads are there.
static cli_status read_task(hmm_command *s) {
  s->task.seed = cli_number(s->args, "--seed", 1);
  if (unused_option(s))
    return report_unused(s, unused_option(s));
  if (missing_option(s))
    return cli_usage_error("machine: %s is missing", missing_option(s));
  cli_status status = read_size(s);
  if (status != CLI_OK)
    return status;
  if (s->task.n && s->machine.threads) {
    const char *problem = hmm_algorithm_problem(s->memory, &s->machine, s->algorithm, &s->task);
    if (problem)
      return cli_error("%s", problem);
  }
  if (!check_memory(s) || (s->algorithm->data == HMM_INPUT_PERMUTATION && !read_permutation(s)) ||
      (s->algorithm->data == HMM_INPUT_ADDRESSES && !read_addresses(s)))
    return CLI_WRONG;
  if (s->machine.threads == 0)
    s->machine.threads = default_threads(s);
  return check_memory(s) ? CLI_OK : CLI_WRONG;
}

static cli_status run_algorithm(hmm_command *s) {
  hmm_report report;
  text out = {0};
  cli_status status = read_task(s);
  if (status != CLI_OK)
    return status;
  double start = clock_seconds();
  const char *problem = hmm_report_make(s->memory, &s->machine, s->algorithm, &s->task, &report);
  if (problem)
    return cli_error("%s", problem);
  if (cli_is_given(s->args, "--time"))
    cli_print_time(NULL, "machine", clock_seconds() - start);
  report.data = s->data;
  (cli_is_given(s->args, "--json") ? hmm_report_json : hmm_report_text)(&out, &report);
  return cli_print_text(&out);
}

// ---- plans -----------------------------------------------------------------------------------

static cli_status run_passes(hmm_command *s, const plan *p, const char *entry) {
  hmm_plan_report r;
  text out = {0};
  double start = clock_seconds();
  const char *name = cli_value(s->args, "--layout");
  c_options options = C_OPTIONS_OF_GPU(NULL, 0);
  if (name)
    options.layout = bank_layout_kind_and_seed(name, &options.layout_seed);
  hmm_estimate estimate;
  char why[MEMORY_WHY];
  const char *problem = hmm_plan_report_estimate(s->memory, &s->machine, p, &options, &estimate);
  if (!problem && !memory_suffices(estimate.bytes, 0, why))
    return report_large_plan(s, p, &options, why);
  if (!problem)
    warn_of_time(&estimate);
  if (!problem)
    problem = hmm_plan_report_make(s->memory, &s->machine, p, entry, &options, &r);
  if (problem)
    return cli_error("%s", problem);
  if (cli_is_given(s->args, "--time"))
    cli_print_time(NULL, "machine", clock_seconds() - start);
  (cli_is_given(s->args, "--json") ? hmm_plan_report_json : hmm_plan_report_text)(&out, &r);
  return cli_print_text(&out);
}

static cli_status run_plan(hmm_command *s) {
  FREED_BY(report_plan_free) report_plan p = {0};
  cli_status status = report_plan_make(s->args, cli_operand(s->args, 1), &p);
  return status == CLI_OK ? run_passes(s, p.pipeline.plan, p.title) : status;
}

// ---- the verb --------------------------------------------------------------------------------

// Options of plans where there is an algorithm, and the other way round.
static const char *misplaced_option(const hmm_command *s) {
  static const char *const of_plans[] = {"-e",         "--entry",  "--arguments",
                                         "--strategy", "--layout", NULL};
  static const char *const of_algorithms[] = {"--permutation", "--addresses", "--registers",
                                              "--seed", NULL};
  for (const char *const *name = s->algorithm ? of_plans : of_algorithms; *name; name++)
    if (cli_is_given(s->args, *name))
      return *name;
  return NULL;
}

cli_status verb_machine(const cli_arguments *args) {
  hmm_command s = {.args = args, .memory = args->memory};
  const char *what = cli_operand(args, 1);
  if (!read_machine(&s))
    return CLI_USAGE;
  if (what && !strcmp(what, "help"))
    return list_algorithms();
  if (!what && !cli_is_given(args, "-e"))
    return cli_usage_error("machine: an algorithm, a FILE or -e EXPR is missing (permc machine %s "
                           "help lists algorithms)",
                           args->operands[0]);
  s.algorithm = what ? hmm_algorithm_named(what) : NULL;
  if (what && !s.algorithm && !cli_ends_with(what, ".perm"))
    return report_unknown_algorithm(&s, what);
  if (misplaced_option(&s))
    return cli_usage_error("machine: %s does not apply to %s", misplaced_option(&s),
                           s.algorithm ? s.algorithm->name : "a plan");
  return s.algorithm ? run_algorithm(&s) : run_plan(&s);
}
