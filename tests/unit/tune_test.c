// Tuning: the search with given times, what is stored and found again, permc_tune on the backend
// cpu with a clock that the test has set.
#include "tests/unit/api.h"

#include "runtime/compiled/compiler.h"
#include "runtime/cuda/cuda.h"
#include "runtime/pipeline.h"
#include "runtime/tune/tune.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static char place[512];  // a new folder for each test: the cache

static void enter(void) {
  const char *folder = getenv("PERMC_TMP");
  snprintf(place, sizeof place, "%s/tune-XXXXXX", folder ? folder : "/tmp");
  if (!mkdtemp(place))
    abort();
  setenv("PERMC_CACHE", place, 1);
}

static void leave(void) {
  char command[600];
  snprintf(command, sizeof command, "rm -rf %s", place);
  if (system(command) != 0)
    printf("%s is left\n", place);
}

static size_t count_paths(const char *wanted, char path[1024]) {
  char whole[600];
  glob_t found = {0};
  snprintf(whole, sizeof whole, "%s/%s", place, wanted);
  size_t count = glob(whole, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
  if (count && path)
    snprintf(path, 1024, "%s", found.gl_pathv[count - 1]);
  globfree(&found);
  return count;
}

// The entry with a text, if there is one; how many there are.
static size_t stored(char path[1024]) { return count_paths("permc-entries/*.text", path); }
static size_t left_over(void) { return count_paths("permc-work/*", NULL); }

// ---- the search ------------------------------------------------------------------------------

static const tune_bounds of_gpu = {{1 << 10, 16, 4}, {100 << 10, 128, 16}};
static const tune_bounds of_cpu = {{1 << 14, 64, 16}, {1 << 20, 2048, 16}};

// Times by distance from a best point: twice as long for each halving or doubling.
static double seconds_at(const tuned_point *p, const tuned_point *best) {
  double distance = 0;
  for (int f = 0; f < TUNED_FIELDS; f++)
    distance += fabs(log2((double)p->bytes[f] / (double)best->bytes[f]));
  return exp2(distance);
}

// The end of a search among such times.
static void search(tune_search *s, const tuned_point *start, const tune_bounds *b,
                   const tuned_point *best, size_t most) {
  tuned_point p;
  double so_far = seconds_at(start, best);
  tune_search_start(s, start, true, b, most);
  while (tune_search_next(s, &p)) {
    double seconds = seconds_at(&p, best);
    const tune_candidate *before = s->best;
    tune_search_add(s, &p, seconds / so_far);
    so_far = s->best != before ? seconds : so_far;
  }
}

TEST(the_search_finds_the_best_of_its_values) {
  const tuned_point start = {{32 << 10, 32, 16}};
  for (int tile = 13; tile <= 16; tile++)
    for (int registers = 4; registers <= 6; registers++)
      for (int wide = 2; wide <= 4; wide++) {
        tuned_point best = {{UINT64_C(1) << tile, UINT64_C(1) << registers, UINT64_C(1) << wide}};
        tune_search s;
        search(&s, &start, &of_gpu, &best, 0);
        const tuned_point *found = s.best ? &s.best->point : &start;
        CHECK(memcmp(found, &best, sizeof best) == 0);
        CHECK((s.best != NULL) == (memcmp(&start, &best, sizeof best) != 0));
        if (s.best)
          CHECK(fabs(s.best->ratio * seconds_at(&start, &best) - 1) < 1e-9);
        CHECK(s.count <= TUNE_MOST);
        for (size_t i = 0; i < s.count; i++)
          for (size_t k = 0; k < i; k++)
            CHECK(memcmp(&s.tried[i].point, &s.tried[k].point, sizeof best) != 0);
      }
}

TEST(the_search_stays_within_the_machine) {
  tuned_point best = {{1 << 20, 4096, 16}}, start = {{128 << 10, 1024, 16}};
  tune_search s;
  search(&s, &start, &of_cpu, &best, 0);
  REQUIRE(s.best != NULL);
  CHECK_EQ_U64(s.best->point.bytes[TUNED_TILE], 256 << 10);
  CHECK_EQ_U64(s.best->point.bytes[TUNED_REGISTERS], 2048);
  CHECK_EQ_U64(s.value_count[TUNED_WIDE], 1);
  start = (tuned_point){{1 << 10, 16, 16}};
  best = (tuned_point){{1, 1, 1}};
  search(&s, &start, &of_gpu, &best, 0);
  for (size_t i = 0; i < s.count; i++)
    for (int f = 0; f < TUNED_FIELDS; f++)
      CHECK(s.tried[i].point.bytes[f] >= of_gpu.least[f] &&
            s.tried[i].point.bytes[f] <= of_gpu.most[f]);
  search(&s, &start, &of_gpu, &best, 2);
  CHECK_EQ_U64(s.count, 2);
}

TEST(ties_and_failures_keep_what_was_there) {
  const tuned_point start = {{32 << 10, 32, 16}};
  static const double ratios[] = {1, 0.995, INFINITY, 1.2};
  for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
    tune_search s;
    tuned_point p;
    size_t count = 0;
    tune_search_start(&s, &start, true, &of_gpu, 0);
    for (; tune_search_next(&s, &p); count++)
      tune_search_add(&s, &p, ratios[i]);
    CHECK(s.best == NULL);
    CHECK_EQ_U64(count, 7);  // 3 tiles, 2 registers, 2 accesses beside the start
  }
}

// What several stages have is not the point of the largest one, which is then a candidate itself.
TEST(a_start_that_is_not_what_the_model_has) {
  const tuned_point start = {{32 << 10, 32, 16}};
  tune_search s;
  tuned_point p;
  bool found = false;
  tune_search_start(&s, &start, false, &of_gpu, 0);
  while (tune_search_next(&s, &p)) {
    found |= memcmp(&p, &start, sizeof p) == 0;
    tune_search_add(&s, &p, 1);
  }
  CHECK(found);
  CHECK_EQ_U64(s.count, 8);
}

TEST(targets_at_a_point) {
  const tuned_point p = {{4096, 64, 8}};
  target t = tuned_target_at(target_named("gpu"), &p);
  CHECK_EQ_U64(t.adapts, 0);
  CHECK_STR(t.name, "gpu");
  tuned_point back = tuned_point_of(&t);
  CHECK(memcmp(&back, &p, sizeof p) == 0);
}

// ---- equality --------------------------------------------------------------------------------

TEST(results_are_compared_to_the_bit_but_for_nan) {
  const uint32_t x[] = {0x7fc00000, 0x3f800000}, y[] = {0xffc00001, 0x3f800000},
                 z[] = {0x7fc00000, 0x3f800001};
  permc_value *a = value_1("f32", 2, x), *b = value_1("f32", 2, y), *c = value_1("f32", 2, z);
  permc_value *d = value_1("u32", 2, x), *e = value_1("u32", 2, y), *f = value_1("u32", 1, x);
  permc_value *g = value_1("c64", 1, x), *h = value_1("c64", 1, y);
  CHECK(tune_same_results(&a, &b, 1));
  CHECK(!tune_same_results(&a, &c, 1));
  CHECK(!tune_same_results(&a, &d, 1));
  CHECK(tune_same_results(&d, &d, 1));
  CHECK(!tune_same_results(&d, &e, 1));
  CHECK(!tune_same_results(&d, &f, 1));
  CHECK(tune_same_results(&g, &h, 1));
  permc_value *all[] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    permc_value_free(all[i]);
}

// ---- programs --------------------------------------------------------------------------------

enum { KEYS = 1 << 10 };

typedef struct subject {
  permc_context *context;
  permc_value *keys;
} subject;

static subject a_sorter(void) {
  uint32_t keys[KEYS];
  for (size_t i = 0; i < KEYS; i++)
    keys[i] = (uint32_t)random_u64();
  return (subject){load_text("main : [2^n]u32 -> [2^n]u32\nmain = sort\n"),
                   value_1("u32", KEYS, keys)};
}

static void drop(subject *s) {
  permc_value_free(s->keys);
  permc_context_free(s->context);
}

// What clocks are told, and tell.
typedef struct given_times {
  tuned_point best;    // the fastest
  bool flat;           // all take as long
  size_t turns, stop;  // at this turn (from 1) it is interrupted
  permc_context *context;
} given_times;

static bool given_clock(void *with, tune_side *one, tune_side *other, double *seconds,
                        double *ratio) {
  given_times *g = with;
  *seconds = g->flat ? 1 : seconds_at(&one->point, &g->best);
  *ratio = other && !g->flat ? *seconds / seconds_at(&other->point, &g->best) : 1;
  if (++g->turns == g->stop)
    permc_interrupt(g->context);
  return true;
}

// The report, or NULL; to be freed.
static char *tuned(subject *s, const permc_tune_options *o, given_times *g) {
  char *report = NULL;
  bool good = tune_program(s->context, "main", "cpu", &s->keys, 1, o, given_clock, g, &report);
  CHECK(good == (report != NULL));
  return report;
}

// As the next compilation of the program has it, in words.
static char *explained(subject *s) {
  char *out = NULL;
  permc_size n = {"n", 10};
  CHECK(permc_explain(s->context, "main", &n, 1, NULL, &out));
  return out;
}

static void check_explained(subject *s, bool is_tuned, const char *tile) {
  char *out = explained(s), words[64];
  snprintf(words, sizeof words, "%s: lines of", is_tuned ? ", tuned" : "");
  CHECK_CONTAINS(out ? out : "", words);
  CHECK((strstr(out ? out : "", ", tuned") != NULL) == is_tuned);
  snprintf(words, sizeof words, "tiles of %s,", tile);
  CHECK_CONTAINS(out ? out : "", words);
  free(out);
}

static void check_sorts(subject *s) {
  permc_value **found = NULL, **expected = NULL;
  size_t count = 0;
  CHECK(permc_run(s->context, "main", "cpu", &s->keys, 1, &found, &count));
  CHECK_STR(permc_message(s->context), "");
  CHECK(permc_run(s->context, "main", "interp", &s->keys, 1, &expected, &count));
  if (found && expected)
    CHECK(tune_same_results(found, expected, 1));
  permc_values_free(found, found ? count : 0);
  permc_values_free(expected, expected ? count : 0);
}

static const target *here(void) { return target_named(compiler_widest_isa()); }

static given_times best_at(const subject *s, uint64_t tile) {
  given_times g = {.best = tuned_point_of(here()), .context = s->context};
  g.best.bytes[TUNED_TILE] = tile;
  return g;
}

TEST(what_is_better_is_stored_and_used) {
  enter();
  char path[1024];
  subject s = a_sorter();
  check_explained(&s, false, "128 KiB");
  given_times g = best_at(&s, 32 << 10);
  char *report = tuned(&s, NULL, &g);
  CHECK_CONTAINS(report ? report : "", "main on cpu: ");
  CHECK_CONTAINS(report ? report : "", "\nmodel      128 KiB");
  CHECK_CONTAINS(report ? report : "", "\nbest        32 KiB");
  CHECK_CONTAINS(report ? report : "", "\nstored in ");
  CHECK_EQ_U64(stored(path), 1);
  if (report)
    CHECK_CONTAINS(report, path);
  free(report);
  check_explained(&s, true, "32 KiB");
  check_sorts(&s);
  // Another size, and the same for another machine, are other programs.
  permc_explain_options o = {.target = here()->name};
  permc_size n[] = {{"n", 10}, {"n", 11}};
  for (int i = 0; i < 2; i++) {
    char *out = NULL;
    CHECK(permc_explain(s.context, "main", &n[i], 1, i ? NULL : &o, &out));
    CHECK(out && !strstr(out, "tuned"));
    free(out);
  }
  CHECK_EQ_U64(left_over(), 0);
  drop(&s);
  leave();
}

TEST(what_is_not_better_is_removed) {
  enter();
  char path[1024];
  subject s = a_sorter();
  given_times better = best_at(&s, 32 << 10), flat = {.flat = true};
  free(tuned(&s, NULL, &better));
  CHECK_EQ_U64(stored(path), 1);
  char *report = tuned(&s, &(permc_tune_options){.dry_run = true}, &flat);
  CHECK_CONTAINS(report ? report : "", "the model's choice is kept");
  free(report);
  CHECK_EQ_U64(stored(path), 1);
  free(tuned(&s, NULL, &flat));
  CHECK_EQ_U64(stored(path), 0);
  check_explained(&s, false, "128 KiB");
  report = tuned(&s, &(permc_tune_options){.dry_run = true}, &better);
  CHECK_CONTAINS(report ? report : "", "nothing is stored: this is a dry run");
  free(report);
  CHECK_EQ_U64(stored(path), 0);
  drop(&s);
  leave();
}

TEST(forgetting) {
  enter();
  char path[1024];
  subject s = a_sorter();
  given_times g = best_at(&s, 32 << 10);
  const permc_tune_options forget = {.forget = true};
  char *report = tuned(&s, &forget, &g);
  CHECK_STR(report, "no target is stored\n");
  free(report);
  free(tuned(&s, NULL, &g));
  CHECK_EQ_U64(stored(path), 1);
  g.turns = 0;
  report = tuned(&s, &forget, &g);
  CHECK_STR(report, "the stored target is removed\n");
  free(report);
  CHECK_EQ_U64(g.turns, 0);
  CHECK_EQ_U64(stored(path), 0);
  check_explained(&s, false, "128 KiB");
  drop(&s);
  leave();
}

TEST(an_interruption_leaves_nothing) {
  enter();
  char path[1024];
  subject s = a_sorter();
  given_times all = best_at(&s, 32 << 10);
  free(tuned(&s, &(permc_tune_options){.dry_run = true}, &all));
  for (size_t stop = 2; stop <= all.turns; stop += all.turns - 2) {
    given_times g = best_at(&s, 32 << 10);
    g.stop = stop;
    CHECK(tuned(&s, NULL, &g) == NULL);
    CHECK_CONTAINS(permc_message(s.context), "interrupted");
    CHECK_EQ_U64(stored(path), 0);
    CHECK_EQ_U64(left_over(), 0);
  }
  check_explained(&s, false, "128 KiB");
  check_sorts(&s);
  drop(&s);
  leave();
}

TEST(what_is_not_right_is_ignored) {
  enter();
  char path[1024], content[2048];
  subject s = a_sorter();
  given_times g = best_at(&s, 32 << 10);
  free(tuned(&s, NULL, &g));
  REQUIRE(stored(path) == 1);
  FILE *f = fopen(path, "r");
  REQUIRE(f != NULL);
  size_t length = fread(content, 1, sizeof content, f);
  fclose(f);
  for (size_t i = 0; i < length; i++) {  // each byte in turn is another one
    int file = open(path, O_WRONLY);
    char other = (char)(content[i] ^ 1);
    CHECK(pwrite(file, &other, 1, (off_t)i) == 1);
    if (i % 16 == 0)
      check_explained(&s, false, "128 KiB");
    CHECK(pwrite(file, &content[i], 1, (off_t)i) == 1);
    close(file);
  }
  check_explained(&s, true, "32 KiB");
  CHECK(chmod(path, 0722) == 0);  // others may have written to it
  check_explained(&s, false, "128 KiB");
  CHECK(chmod(path, 0700) == 0 && truncate(path, (off_t)length - 1) == 0);
  check_explained(&s, false, "128 KiB");
  CHECK(truncate(path, 0) == 0);
  check_explained(&s, false, "128 KiB");
  CHECK(unlink(path) == 0 && symlink("/etc/passwd", path) == 0);
  check_explained(&s, false, "128 KiB");
  free(tuned(&s, NULL, &g));  // made anew
  check_explained(&s, true, "32 KiB");
  drop(&s);
  leave();
}

// What another hand has stored under the right key: numbers are taken, nothing else.
TEST(stored_by_hand) {
  enter();
  static const struct {
    const char *content, *tile;
    bool good;
  } cases[] = {
      {"base = avx2\ntile_bytes = 65536\nregister_bytes = 256\nline_bytes = 32\n", "64 KiB", true},
      {"base = avx2\ntile_bytes = 65536\nregister_bytes = many\n", "128 KiB", false},
      {"", "128 KiB", false}};
  subject s = a_sorter();
  tuned_trial trial = {.target = NULL};
  s.context->trial = &trial;
  permc_compiled_free(permc_compile(s.context, "main", "cpu", &s.keys, 1));
  s.context->trial = NULL;
  CHECK(trial.key[0] != 0);
  cache c;
  char path[CACHE_PATH];
  const char *why;
  cache_open(&c);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *content = cases[i].content;
    CHECK(cache_keep_bytes(&c, CACHE_TUNED, trial.key, content, strlen(content), path, &why));
    check_explained(&s, cases[i].good, cases[i].tile);
    char *out = explained(&s);
    CHECK_CONTAINS(out ? out : "", "lines of 128 bytes");
    free(out);
    check_sorts(&s);
  }
  CHECK(cache_remove_text(&c, CACHE_TUNED, trial.key));
  CHECK(!cache_remove_text(&c, CACHE_TUNED, trial.key));
  drop(&s);
  leave();
}

// A GPU that a plan can be made for, though nothing runs on it.
TEST(what_a_gpu_is_tuned_by) {
  enter();
  setenv("PERMC_CUDA_DRIVER", FAKE_CUDA, 1);
  setenv("PERMC_NVRTC", FAKE_NVRTC, 1);
  subject s = a_sorter();
  const tuned_point p = {{2048, 64, 8}};
  target small = tuned_target_at(target_named("gpu"), &p), found;
  tuned_trial trial = {.target = &small};
  s.context->trial = &trial;
  CHECK(permc_compile(s.context, "main", "cuda", &s.keys, 1) == NULL);  // no fall back to the cpu
  s.context->trial = NULL;
  REQUIRE(context_gpu(s.context)->open != NULL && trial.own != NULL);
  CHECK_STR(trial.own->name, "gpu");
  CHECK_CONTAINS(trial.machine, cuda_facts_of(context_gpu(s.context)->open)->name);
  CHECK_CONTAINS(trial.machine, "sm_90");
  CHECK(trial.same);
  const tuned_point chosen = {{4096, 32, 16}};  // plan_stage_target, of 2^10 keys
  CHECK(memcmp(&trial.chosen, &chosen, sizeof chosen) == 0);
  cache c;
  char path[CACHE_PATH];
  const char *why;
  arena memory = {.failure = NULL};
  cache_open(&c);
  CHECK(!tuned_find(&c, trial.key, &memory, trial.own, &found));
  CHECK(tuned_store(&c, trial.key, trial.own, &p, path, &why));
  CHECK(tuned_find(&c, trial.key, &memory, trial.own, &found));
  CHECK(found.tile_bytes == 2048 && found.register_bytes == 64 && found.wide_bytes == 8);
  CHECK(!found.adapts && found.lane_bytes == 0 && found.line_bytes == 128);
  arena_free(&memory);
  drop(&s);
  leave();
}

TEST(where_there_is_no_gpu) {
  enter();
  void (*set)(const char *settings) = NULL;
  void *library = dlopen(FAKE_CUDA, RTLD_NOW);
  REQUIRE(library != NULL);
  *(void **)&set = dlsym(library, "fake_cuda_set");
  REQUIRE(set != NULL);
  setenv("PERMC_CUDA_DRIVER", FAKE_CUDA, 1);
  set("devices=0");
  subject s = a_sorter();
  given_times g = best_at(&s, 32 << 10);
  char *report = NULL;
  CHECK(!tune_program(s.context, "main", "cuda", &s.keys, 1, NULL, given_clock, &g, &report));
  CHECK_CONTAINS(permc_message(s.context), "the backend cuda cannot run this: there is no CUDA");
  CHECK(report == NULL);
  drop(&s);
  dlclose(library);
  leave();
}

TEST(refusals) {
  enter();
  subject s = a_sorter();
  char *report = NULL;
  given_times g = best_at(&s, 32 << 10);
  CHECK(!permc_tune(s.context, "main", "interp", &s.keys, 1, NULL, &report) && !report);
  CHECK_CONTAINS(permc_message(s.context), "interp makes no plan, so there is nothing to tune");
  CHECK(!permc_tune(s.context, "main", "fpga", &s.keys, 1, NULL, &report) && !report);
  CHECK_CONTAINS(permc_message(s.context), "there is no backend 'fpga'");
  CHECK(!permc_tune(s.context, "other", "cpu", &s.keys, 1, NULL, &report) && !report);
  CHECK_CONTAINS(permc_message(s.context), "there is no entry point 'other'");
  CHECK(chmod(place, 0777) == 0);
  CHECK(tuned(&s, NULL, &g) == NULL);
  CHECK_CONTAINS(permc_message(s.context), "the best target cannot be stored: the cache ");
  CHECK(s.context->trial == NULL);
  drop(&s);
  leave();
}

// With its own clock, whatever it finds.
TEST(a_measurement) {
  enter();
  char path[1024];
  subject s = a_sorter();
  char *report = NULL;
  const permc_tune_options o = {.seconds = 1e-4};
  CHECK(permc_tune(s.context, "main", "cpu", &s.keys, 1, &o, &report));
  CHECK_STR(permc_message(s.context), "");
  size_t kept = 0;
  for (const char *at = report; at && (at = strstr(at, "\nstored in ")); at++)
    kept++;
  // The best may be found to be no better when it is measured again beside the model's.
  bool same = report && strstr(report, "the model's choice is kept");
  CHECK(report && (same || (strstr(report, "\nbest ") && kept)));
  CHECK_EQ_U64(stored(path), kept);
  free(report);
  check_sorts(&s);
  drop(&s);
  leave();
}

TEST_MAIN()
