// Random programs (tests/generator) on interp, the oracle, and on the other backends: equal shapes,
// equal bits, and a program that fails on one must fail on the other (but one that is too large for
// the other backend's memory limit is counted). Computed NaN are equal
// whatever their bits; those that were only moved keep theirs. What sin, exp and their kin made may
// differ by 4 units in the last place.
//
//   differential_test                            2000 programs from seed 0 on each backend, 200
//                                                on cpu, which compiles each of them
//   differential_test --count 100000 --seed 5    a long run
//   differential_test --backends cpu,portable    on these alone
//   differential_test --ranks 2,4,8              on so many ranks, threads, by the processor's backends
//   differential_test --files                    on arrays in files, by 4 to 256 KiB of memory
//   mpirun -n 4 differential_test --mpi          on ranks that are processes
//   differential_test --print --seed 7           the program of that seed
//   differential_test --stats --count 20000      what occurs how often, and whether it runs
//
// The tests are ranks_P, on P ranks; files, on arrays in files; texts, of what is compiled;
// backend_NAME; places_NAME for a quarter as many programs with gathers and scatters; and
// rough_NAME for as many with sin, exp and their
// kin; what is given besides options chooses among them. --max-bits N: arrays of up to 2^N
// elements. --rough: --print and --stats show programs of that kind. --keep-large: see below.
//
// A program that differs is made smaller before it is shown: choices of it are left out or lowered
// as long as it still differs (--keep-large: it is shown as it is).
#include "tests/generator/differ.h"
#include "tests/unit/api.h"

#include <time.h>

static struct {
  uint64_t seed, count;
  const char *backends, *ranks, *ranks_by;
  program_options program;
  bool long_run, mpi, files, print, stats, keep_large;
} settings = {.count = 2000,
              .backends = "interp,portable,cpu",
              .ranks = "2,4,8,16",
              .files = true,
              .ranks_by = "portable"};

enum { FAILURES_SHOWN = 3, SECONDS_EACH = 60 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static permc_context *new_context(void) {
  permc_context *c = random_program_context();
  if (c == NULL)
    abort();
  return c;
}

// ---- showing it ------------------------------------------------------------------------------

static bool small_data(const random_program *p) {
  uint64_t elements = 0;
  for (size_t i = 0; i < p->argument_count; i++)
    for (size_t k = 0; k < permc_value_components(p->values[i]); k++)
      elements += component_size(p->values[i], k);
  return elements <= 64;
}

static void show_program(const random_program *p) {
  permc_context *c = new_context();
  char *formatted = permc_format(c, "random", p->text, strlen(p->text));
  printf("%s", formatted ? formatted : p->text);
  char *types = random_program_types(p);
  printf("-- arguments: %s\n", types);
  free(types);
  fflush(stdout);
  for (size_t i = 0; i < p->argument_count && small_data(p); i++)
    permc_write_file(c, "-", p->values[i]);
  free(formatted);
  permc_context_free(c);
}

typedef struct series {
  program_options options;
  uint64_t count;
  rival other;
} series;

// The difference is shown before the program is made smaller, during which anything may happen.
static void show_difference(permc_context *c, random_program *p, uint64_t seed, const series *s,
                            difference d) {
  printf("---- seed %" PRIu64 " on %s\n%s\n", seed, s->other.backend, d.text);
  fflush(stdout);
  if (!settings.keep_large && !s->other.rank) {
    size_t before = p->choice_count;
    bool failed;
    p = shrink_program(c, p, seed, &s->options, &s->other, d.kind);
    printf("-- made smaller, from %zu to %zu choices\n%s\n", before, p->choice_count,
           try_program(c, p, &s->other, &failed).text);
  }
  show_program(p);
  printf("----\n");
  random_program_free(p);
}

// ---- many programs ---------------------------------------------------------------------------

// "" if there is such a backend, else why not.
static const char *missing_backend(const char *backend) {
  static char why[200];
  permc_context *c = new_context();
  static const char simple[] = "main : int\nmain = 1\n";
  permc_value **values = NULL;
  size_t count = 0;
  *why = 0;
  if (permc_load_text(c, "simple", simple, strlen(simple)) &&
      !permc_run(c, "main", backend, NULL, 0, &values, &count) &&
      strstr(permc_message(c), "there is no backend") != NULL)
    snprintf(why, sizeof why, "%.*s", (int)strcspn(permc_message(c), "\n"), permc_message(c));
  permc_values_free(values, count);
  permc_context_free(c);
  return why;
}

static uint64_t first_seed(void) {
  const char *other = getenv("PERMC_SEED");
  return settings.seed + (other == NULL ? 0 : strtoull(other, NULL, 10) * 1000000);
}

typedef struct tally {
  uint64_t programs, failed, large, different;
} tally;

static tally check_programs(const series *s) {
  tally t = {0, 0, 0, 0};
  permc_context *c = new_context();
  for (uint64_t i = 0; i < s->count && t.different < FAILURES_SHOWN; i++) {
    uint64_t seed = first_seed() + i;
    random_program *p = random_program_new(seed, &s->options);
    watch_program(p, seed);
    bool failed;
    difference d = try_program(c, p, &s->other, &failed);
    t.programs++;
    t.failed += failed;
    t.large += d.kind == BEYOND_LIMITS;
    bool differs = d.kind > BEYOND_LIMITS;
    t.different += differs;
    if (differs)
      show_difference(c, p, seed, s, d);
    else
      random_program_free(p);
  }
  watch_program(NULL, 0);
  permc_context_free(c);
  return t;
}

// Prints what a long run came to.
static void run_series(const series *s) {
  double start = now();
  tally t = check_programs(s);
  CHECK_EQ_U64(t.different, 0);
  if (settings.long_run)
    printf("%s: %" PRIu64 " programs from seed %" PRIu64 " in %.0f s, %" PRIu64
           " of them fail alike, %" PRIu64 " are beyond what there is there\n",
           test_state.name, t.programs, first_seed(), now() - start, t.failed, t.large);
}

// By all processes that mpirun has started, which draw the same programs. Nothing is made smaller:
// the others would not know.
static void mpi_test(void) {
  permc_ranks ranks = {.transport = "mpi"};
  series s = {settings.program, settings.count, {.backend = settings.ranks_by}};
  s.other.rank = new_context();
  if (CHECK(permc_use_ranks(s.other.rank, &ranks)))
    run_series(&s);
  else
    printf("%s", permc_message(s.other.rank));
  permc_context_free(s.other.rank);
}

static void ranks_test(void) {
  series s = {settings.program,
              settings.long_run ? settings.count : test_amount(60, 10000),
              {.backend = settings.ranks_by}};
  s.other.ranks = (uint32_t)strtoul(strchr(test_state.name, '_') + 1, NULL, 10);
  run_series(&s);
}

static void files_test(void) {
  const char *folder = getenv("PERMC_TMP");
  series s = {settings.program,
              settings.long_run ? settings.count : test_amount(200, 10000),
              {.backend = settings.ranks_by, .folder = folder ? folder : "/tmp"}};
  run_series(&s);
}

static void backend_test(void) {
  series s = {settings.program,
              settings.long_run ? settings.count : test_amount(2000, 20000),
              {.backend = strchr(test_state.name, '_') + 1}};
  s.options.rough = test_state.name[0] == 'r';
  s.options.places = test_state.name[0] == 'p' || settings.program.places;
  if (s.options.rough || test_state.name[0] == 'p')
    s.count /= 4;
  if (!strcmp(s.other.backend, "cpu") && !settings.long_run)
    s.count /= 10;  // each is compiled
  const char *missing = missing_backend(s.other.backend);
  if (*missing)
    SKIP(missing);
  run_series(&s);
}

// The texts for compilers, as far as permc itself verifies them: no compiler runs.
static void texts_test(void) {
  static const char *const targets[] = {"avx512", "avx2", "baseline", "gpu"};
  uint64_t count = settings.long_run ? settings.count : test_amount(1000, 20000), wrong = 0;
  permc_context *c = new_context();
  for (uint64_t seed = first_seed(); seed < first_seed() + count; seed++) {
    random_program *p = random_program_new(seed, &settings.program);
    char *types = random_program_types(p), *out = NULL;
    permc_explain_options o = {.target = targets[seed % 4], .types = types};
    o.dump = seed % 4 == 3 ? "cuda" : "c";
    watch_program(p, seed);
    if (permc_load_text(c, "random", p->text, strlen(p->text)))
      permc_explain(c, "main", NULL, 0, &o, &out);
    bool fault = strstr(permc_message(c), "report") != NULL;
    if (fault && ++wrong <= FAILURES_SHOWN)
      printf("-- seed %" PRIu64 ", %s: %s%s-- %s\n", seed, o.target, permc_message(c), p->text,
             types);
    free(out);
    free(types);
    random_program_free(p);
  }
  CHECK_EQ_U64(wrong, 0);
  watch_program(NULL, 0);
  permc_context_free(c);
}

static void register_test(const char *kind, const char *backend, void (*run)(void)) {
  test_case *one = calloc(1, sizeof *one);
  size_t room = strlen(kind) + strlen(backend) + 1;
  char *title = malloc(room);
  if (one == NULL || title == NULL)
    abort();
  snprintf(title, room, "%s%s", kind, backend);
  *one = (test_case){title, run, NULL};
  test_register(one);
}

// Three tests for each backend; they live as long as the program.
static void register_backends(void) {
  char *list = strdup(settings.backends);
  for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ",")) {
    register_test("backend_", name, backend_test);
    register_test("places_", name, backend_test);
    register_test("rough_", name, backend_test);
  }
  free(list);
}

static void register_ranks(void) {
  if (settings.mpi)
    register_test("mpi", "", mpi_test);
  if (settings.files)
    register_test("files", "", files_test);
  char *list = strdup(settings.ranks);
  for (char *count = strtok(list, ","); count != NULL; count = strtok(NULL, ","))
    register_test("ranks_", count, ranks_test);
  free(list);
}

// ---- what occurs -----------------------------------------------------------------------------

typedef struct occurrence {
  char name[56];
  uint64_t count;
} occurrence;

typedef struct occurrences {
  occurrence items[512];
  size_t count;
} occurrences;

static void count_mark(occurrences *o, const char *name) {
  size_t i = 0;
  while (i < o->count && strcmp(o->items[i].name, name) != 0)
    i++;
  if (i == sizeof o->items / sizeof *o->items)
    return;
  if (i == o->count)
    snprintf(o->items[o->count++].name, sizeof o->items->name, "%s", name);
  o->items[i].count++;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const occurrence *)a)->name, ((const occurrence *)b)->name);
}

static void show_occurrences(occurrences *o, uint64_t programs) {
  qsort(o->items, o->count, sizeof *o->items, by_name);
  size_t rows = (o->count + 2) / 3;
  for (size_t i = 0; i < rows; i++) {
    for (size_t k = i; k < o->count; k += rows)
      printf("%-32.32s%6.2f%%   ", o->items[k].name,
             100 * (double)o->items[k].count / (double)programs);
    printf("\n");
  }
}

static int show_statistics(void) {
  static occurrences o;
  permc_context *c = new_context();
  uint64_t good = 0, faults = 0, choices = 0, bytes = 0;
  double making = 0, loading = 0, running_time = 0;
  for (uint64_t seed = first_seed(); seed < first_seed() + settings.count; seed++) {
    double start = now();
    random_program *p = random_program_new(seed, &settings.program);
    making += now() - start;
    watch_program(p, seed);
    result r = load_and_run(c, p, "interp");
    loading += permc_last_times(c).load;
    running_time += permc_last_times(c).elaborate + permc_last_times(c).run;
    good += r.message == NULL;
    free_result(&r);
    bool fault = false;
    for (size_t i = 0; i < p->mark_count; i++) {
      count_mark(&o, p->marks[i]);
      fault |= strncmp(p->marks[i], "fault", 5) == 0;
    }
    faults += fault;
    choices += p->choice_count;
    bytes += strlen(p->text);
    random_program_free(p);
  }
  double n = (double)settings.count;
  show_occurrences(&o, settings.count);
  printf("%" PRIu64 " programs: %.2f%% run on interp, %.2f%% have a mistake on purpose\n",
         settings.count, 100 * (double)good / n, 100 * (double)faults / n);
  printf("on average %.0f choices, %.0f bytes; %.3f ms to make, %.3f to load, %.3f to run\n",
         (double)choices / n, (double)bytes / n, 1e3 * making / n, 1e3 * loading / n,
         1e3 * running_time / n);
  permc_context_free(c);
  return 0;
}

static int print_programs(void) {
  uint64_t count = settings.long_run ? settings.count : 1;
  for (uint64_t seed = first_seed(); seed < first_seed() + count; seed++) {
    random_program *p = random_program_new(seed, &settings.program);
    printf("-- seed %" PRIu64 "\n", seed);
    show_program(p);
    random_program_free(p);
  }
  return 0;
}

// ---- options ---------------------------------------------------------------------------------

static bool is_option(char ***next, const char *name, const char **with) {
  if (strcmp(**next, name) != 0)
    return false;
  if (with != NULL && (*next)[1] != NULL)
    *with = *++*next;
  return true;
}

// Reads an option at *next, leaving *next at its last word. False: it is none.
static bool read_option(char ***next) {
  const char *number = "0";
  if (is_option(next, "--seed", &number))
    settings.seed = strtoull(number, NULL, 10);
  else if (is_option(next, "--count", &number))
    settings.count = strtoull(number, NULL, 10), settings.long_run = true;
  else if (is_option(next, "--max-bits", &number))
    settings.program.max_bits = atoi(number);
  else if (is_option(next, "--backends", &number))
    settings.backends = settings.ranks_by = number, settings.ranks = "", settings.files = false;
  else if (is_option(next, "--ranks", &number))
    settings.ranks = number, settings.backends = "", settings.files = false;
  else if (is_option(next, "--files", NULL))
    settings.files = true, settings.backends = settings.ranks = "";
  else if (is_option(next, "--mpi", NULL))
    settings.mpi = true, settings.files = false, settings.backends = settings.ranks = "";
  else if (is_option(next, "--rough", NULL))
    settings.program.rough = true;
  else if (is_option(next, "--places", NULL))
    settings.program.places = true;
  else if (is_option(next, "--print", NULL))
    settings.print = true;
  else if (is_option(next, "--stats", NULL))
    settings.stats = true;
  else if (is_option(next, "--keep-large", NULL))
    settings.keep_large = true;
  else
    return false;
  return true;
}

int main(int count, char **arguments) {
  settings.program = default_program_options;
  int kept = 1;
  for (char **next = arguments + 1; *next != NULL; next++)
    if (!read_option(&next))
      arguments[kept++] = *next;
  arguments[kept] = NULL;
  (void)count;
  watch_programs(SECONDS_EACH * slower());
  if (settings.print)
    return print_programs();
  if (settings.stats)
    return show_statistics();
  register_backends();
  register_ranks();
  if (!settings.mpi)
    register_test("texts", "", texts_test);
  return test_main(kept, arguments);
}
