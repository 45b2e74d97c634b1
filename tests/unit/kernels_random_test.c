// Random programs (tests/generator) as kernels for GPUs. Run on the host (kernels.h): what interp
// computes, every access of scratch without a bank conflict, whole lines of memory wherever the
// plan has whole lines to move. Compiled by NVRTC, each program for one architecture in turn.
//
//   kernels_random_test                            60 programs from seed 0
//   kernels_random_test --count 5000 --seed 1000   a long run
//   kernels_random_test --print --seed 7           the program of that seed
//
// --max-bits N: arrays of up to 2^N elements. A quarter of the programs has sin, exp and their kin.
#include "tests/unit/kernels.h"

static struct {
  uint64_t seed, count;
  program_options program;
  bool long_run, print;
} settings = {.seed = 11};  // of a few programs from there, some have exchanges

enum { BATCH = 32, MOST_TEXT = 4 << 20 };

// A program on its way: without a message, interp has run it.
typedef struct trial {
  uint64_t seed;
  random_program *program;
  result oracle;
  char name[40];
} trial;

typedef struct tally {
  uint64_t programs, failed, large, passes;
  kernels_counts counts;
} tally;

// ---- a program ---------------------------------------------------------------------------------

static program_options options_of(uint64_t seed) {
  program_options o = settings.program;
  o.rough = seed % 4 == 3;
  o.places = seed % 4 == 2;
  return o;
}

static void drop(trial *t, kernels *k) {
  kernels_free(k);
  free_result(&t->oracle);
  random_program_free(t->program);
}

// False: interp fails, or there is too much to compile; nothing is left of it.
static bool prepare(permc_context *c, uint64_t seed, trial *t, kernels *k, tally *sums) {
  program_options o = options_of(seed);
  *t = (trial){.seed = seed, .program = random_program_new(seed, &o)};
  watch_program(t->program, seed);
  snprintf(t->name, sizeof t->name, "seed %" PRIu64, seed);
  *k = (kernels){.name = t->name};
  t->oracle = load_and_run(c, t->program, "interp");
  sums->failed += t->oracle.message != NULL;
  char *types = random_program_types(t->program);
  bool good = !t->oracle.message && kernels_make(k, c, "main", types);
  if (!t->oracle.message && !good && CHECK_CONTAINS(permc_message(c), "MiB of memory"))
    sums->large++;
  if (good && k->bytes > MOST_TEXT) {
    sums->large++;
    good = false;
  }
  free(types);
  if (!good)
    drop(t, k);
  return good;
}

static void show(const trial *t, const kernels *k) {
  char *types = random_program_types(t->program);
  printf("---- %s\n%s-- arguments: %s\n", k->name, t->program->text, types);
  free(types);
}

static void add_counts(tally *sums, const kernels *k) {
  kernels_counts *to = &sums->counts;
  sums->programs++;
  sums->passes += k->plan->passes.count;
  to->memory += k->counts.memory;
  to->whole += k->counts.whole;
  to->scratch += k->counts.scratch;
}

static void finish(trial *t, kernels *k, tally *sums) {
  result found = {0};
  const random_program *p = t->program;
  watch_program(p, t->seed);
  bool good = kernels_run(k, p->values, p->argument_count, &t->oracle, &found);
  if (good) {
    difference d = compare_results(p, &t->oracle, &found);
    good = CHECK_STR(d.kind ? d.text : NULL, NULL);
    good = kernels_check_counts(k) && good;
    kernels_check_hmm(k);
  }
  if (!good)
    show(t, k);
  add_counts(sums, k);
  free_result(&found);
  drop(t, k);
}

// ---- many programs -----------------------------------------------------------------------------

// As many as are wanted of those that interp runs.
static void check_programs(uint64_t seed, uint64_t wanted, tally *sums) {
  static trial trials[BATCH];
  static kernels all[BATCH];
  permc_context *c = random_program_context();
  while (CHECK(c) && sums->programs < wanted && test_state.failures < TEST_FAILURES_SHOWN) {
    uint32_t count = 0;
    while (count < BATCH && sums->programs + count < wanted)
      count += prepare(c, seed++, &trials[count], &all[count], sums);
    watch_program(NULL, 0);
    kernels_compile(all, count);
    for (uint32_t i = 0; i < count; i++)
      finish(&trials[i], &all[i], sums);
  }
  watch_program(NULL, 0);
  permc_context_free(c);
}

static uint64_t program_count(void) {
  return settings.long_run ? settings.count : test_amount(60, 5000);
}

TEST(programs) {
  tally sums = {0};
  if (kernels_no_compiler())
    SKIP("there is no C compiler");
  check_programs(settings.seed, program_count(), &sums);
  const kernels_counts *n = &sums.counts;
  // What is counted is not nothing.
  CHECK(settings.long_run || (n->scratch > 5 * sums.programs && n->whole > 5 * sums.programs));
  if (settings.long_run)
    printf("%" PRIu64 " programs of %" PRIu64 " passes; %" PRIu64 " fail on interp, %" PRIu64
           " are too large; %" PRIu64 " accesses of memory by warps, %" PRIu64
           " of them of whole lines, %" PRIu64 " of scratch\n",
           sums.programs, sums.passes, sums.failed, sums.large, n->memory, n->whole, n->scratch);
}

// Lines that fill the lanes of a phase, while no vector of its basis alone steps through them.
TEST(lines_across_lanes) {
  static const uint64_t seeds[] = {9239, 70017};
  tally sums = {0};
  if (kernels_no_compiler())
    SKIP("there is no C compiler");
  for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
    check_programs(seeds[i], 1, &sums);
}

// ---- NVRTC -------------------------------------------------------------------------------------

static void compile_batch(trial *trials, kernels *all, uint32_t count) {
  static kernels_job jobs[BATCH];
  char *texts[BATCH];
  for (uint32_t i = 0; i < count; i++) {
    texts[i] = kernels_gpu_text(&all[i]);
    uint32_t a = (uint32_t)(trials[i].seed % kernels_architecture_count());
    jobs[i] = (kernels_job){.text = texts[i], .architecture = (int)kernels_architectures[a]};
  }
  watch_program(NULL, 0);
  kernels_compile_for_gpus(jobs, count);
  for (uint32_t i = 0; i < count; i++) {
    if (!c_missing_on_gpu(all[i].plan) && !CHECK_STR(jobs[i].cubin ? NULL : jobs[i].message, NULL))
      show(&trials[i], &all[i]);
    free(jobs[i].cubin);
    free(texts[i]);
    drop(&trials[i], &all[i]);
  }
}

TEST(compiled_for_gpus) {
  static char why[NVRTC_WHY];
  static trial trials[BATCH];
  static kernels all[BATCH];
  tally sums = {0};
  uint64_t seed = settings.seed, wanted = program_count(), done = 0;
  if (kernels_no_nvrtc(why, sizeof why))
    SKIP(why);
  permc_context *c = random_program_context();
  while (CHECK(c) && done < wanted && test_state.failures < TEST_FAILURES_SHOWN) {
    uint32_t count = 0;
    while (count < BATCH && done + count < wanted)
      count += prepare(c, seed++, &trials[count], &all[count], &sums);
    compile_batch(trials, all, count);
    done += count;
  }
  permc_context_free(c);
}

// ---- options -----------------------------------------------------------------------------------

static void read_option(char ***next) {
  const char *name = **next, *value = (*next)[1];
  if (!strcmp(name, "--print")) {
    settings.print = true;
    return;
  }
  if (!value)
    return;
  ++*next;
  if (!strcmp(name, "--seed"))
    settings.seed = strtoull(value, NULL, 10);
  else if (!strcmp(name, "--count"))
    settings.count = strtoull(value, NULL, 10), settings.long_run = true;
  else if (!strcmp(name, "--max-bits"))
    settings.program.max_bits = atoi(value);
}

static int print_program(void) {
  program_options o = options_of(settings.seed);
  random_program *p = random_program_new(settings.seed, &o);
  char *types = random_program_types(p);
  printf("%s-- arguments: %s\n", p->text, types);
  free(types);
  random_program_free(p);
  return 0;
}

int main(int count, char **arguments) {
  settings.program = default_program_options;
  int kept = 1;
  for (char **next = arguments + 1; *next != NULL; next++)
    if (!strncmp(*next, "--", 2) && strcmp(*next, "--list"))
      read_option(&next);
    else
      arguments[kept++] = *next;
  arguments[kept] = NULL;
  (void)count;
  watch_programs(60 * 10);
  return settings.print ? print_program() : test_main(kept, arguments);
}
