// Runs on arrays in files (runtime/external/run.h): bytes and requests are those that are
// predicted; a run that is killed at any moment goes on, and ends with the same bytes; a journal
// that is damaged, or of another run, is an error. Random programs are in differential_test.
#include "core/random.h"
#include "core/sanitized.h"
#include "tests/unit/api.h"

#include "runtime/external/file.h"
#include "runtime/external/run.h"
#include "runtime/pipeline.h"
#include "runtime/system/unnamed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct example {
  const char *text, *types;
  uint64_t memory;
} examples[] = {
    {"bitrev", "[2^16]u32", 1 << 17},
    {"fft", "[2^14]c64", 1 << 15},
    {"sort", "[2^18]u32", 1 << 19},
    {"argsort", "[2^17]i16", 1 << 20},
    {"scan (+)", "[2^15]i64", 1 << 15},
    {"transpose", "[1000][700]u16", 1 << 19},
    {"map sort", "[40][1000]f32", 1 << 16},
    {"map argsort", "[3][40000]u16", 1 << 19},
    {"zip_with (+)", "[9999]u8 [9999]u8", 1 << 13},
    {"histogram 4 (& 15)", "[2^16]u8", 1 << 15},
    {"merge_sorted", "[30000]u32 [17001]u32", 1 << 16},
    {"\\p v xs -> scan (+) (scatter (map (\\i -> 3 * i + i64 p[0] % 2) (iota 100)) v xs)",
     "[1]u8 [100]u32 [2^14]u32", 1 << 18},
    {"map (\\r -> map (\\v -> v - sum r) r)", "[130][517]i64", 1 << 17},
    {"\\xs -> transpose (map reverse xs)", "[300][517]u16", 1 << 16},
    // Turns that a loop has not, as bits, would be stored where others are.
    {"\\a -> let b = map (\\x -> x) (join (map shuffle a)); c = merge_sorted b [b[0]] in "
     "take 24 (map (\\x -> x) (concat c (map (\\x -> i32 x + c[0]) (iota 97))))",
     "[3][32]i32", 1 << 16},
    {"\\xs -> permute (argsort (map (* 7919) xs)) xs", "[20011]u16", 1 << 18},
    // What these read and write depends on data.
    {"\\xs -> sort_ragged [0, 100001, 2^18] xs", "[2^18]u32", 1 << 20},
    {"\\xs -> sort_ragged (map (\\i -> i64 xs[0] % 5 + 700 * i) (iota 300)) xs", "[2^18]u32",
     1 << 20},
    {"\\xs -> ragged_places [1, 5000, 5000, 150000] xs", "[2^18]u16", 1 << 21},
    {"map (sort_ragged_on negate (map (* 9000) (iota 4)))", "[3][30000]i16", 1 << 19},
};
enum { EXAMPLES = sizeof examples / sizeof *examples, PREDICTED = EXAMPLES - 4 };

static const char *path_of(const char *name) {
  static char paths[4][1024];
  static unsigned next;
  char *path = paths[next++ % 4];
  snprintf(path, 1024, "%s/%s", getenv("PERMC_TMP") ? getenv("PERMC_TMP") : "/tmp", name);
  return path;
}

// ---- a run, in a process of its own ------------------------------------------------------------

// What a process tells its parent.
typedef struct told {
  char message[512];
  uint64_t reports;
  disk_counts moved;
  external_amount predicted;
} told;
static told *from_child;

typedef struct trial {
  const struct example *example;
  uint64_t memory;   // 0: arrays are in memory
  uint64_t kill_at;  // the report at which the process is killed; 0: none
  bool resume;
  bool from_file;
  const char *result;  // the name of a file of the bytes
  permc_value **arguments;
  size_t count;
} trial;

static void on_progress(void *with, uint64_t done, uint64_t total) {
  const trial *t = with;
  CHECK(done <= total);
  if (++from_child->reports == t->kill_at)
    raise(SIGKILL);
}

static void predict(const trial *t, const external *e) {
  external_amount *all = &from_child->predicted, one;
  error failure = {0};
  *all = (external_amount){0};
  for (size_t i = 0; i < e->steps.count; i++) {
    CHECK(external_measure(e, i, t->memory, &one, &failure));
    all->parts += one.parts;
    all->moved.reads += one.moved.reads;
    all->moved.writes += one.moved.writes;
    all->moved.requests += one.moved.requests;
  }
}

static bool write_result(const trial *t, array *a) {
  error failure = {0};
  FILE *to = fopen(path_of(t->result), "w");
  bool good =
      to && array_load(a, &failure) && fwrite(a->data, 1, array_bytes(a), to) == array_bytes(a);
  return to && fclose(to) == 0 && good;
}

static bool execute(permc_context *c, pipeline *p, void *with) {
  const trial *t = with;
  error failure = {0};
  array results[4] = {{0}}, arguments[4] = {{0}};
  for (size_t i = 0; i < t->count; i++)
    arguments[i] = t->arguments[i]->components[0];
  predict(t, p->steps);
  external_run run = {.steps = p->steps,
                      .plan = p->plan,
                      .executor = p->backend->executor(&p->program),
                      .threads = 1,
                      .interrupted = c->limits.interrupted,
                      .progress = {on_progress, with},
                      .memory = t->memory,
                      .folder = path_of(t->resume ? "run" : "."),
                      .resume = t->resume,
                      .arguments = arguments,
                      .argument_count = t->count,
                      .moved = &from_child->moved,
                      .returned = (uint32_t)trace_returned(&p->trace)};
  bool good = external_execute(&run, results, &failure) && write_result(t, &results[0]);
  snprintf(from_child->message, sizeof from_child->message, "%s", failure.message);
  arrays_destroy(results, 4);
  return good;
}

// The arguments are always the same.
// The first argument from a file instead, the same one each time: a run has no copy of it.
static bool read_from_file(permc_context *c, trial *t) {
  const char *path = path_of("argument.npy");
  permc_files files = {.memory = t->memory, .folder = path_of(".")};
  bool good = (access(path, F_OK) == 0 || permc_write_file(c, path, t->arguments[0])) &&
              permc_use_files(c, t->memory ? &files : NULL);
  permc_values_free(t->arguments, t->count);
  t->arguments = NULL;
  t->count = 0;
  return good && permc_read_files(c, "-e", &path, 1, &t->arguments, &t->count);
}

static bool run_here(trial *t) {
  permc_context *c = load_expression(t->example->text);
  permc_value **results = NULL;
  size_t count = 0;
  bool good = permc_read_random(c, "-e", t->example->types, 1, &t->arguments, &t->count);
  good = good && (!t->from_file || read_from_file(c, t));
  pipeline_request r = {.entry = "-e",
                        .last = STAGE_PROGRAM,
                        .arguments = t->arguments,
                        .argument_count = t->count,
                        .backend = "portable",
                        .memory = t->memory};
  if (good && t->memory)
    good = pipeline_with(c, &r, execute, t);
  else if (good)
    good = permc_run(c, "-e", "portable", t->arguments, t->count, &results, &count) &&
           write_result(t, &results[0]->components[0]);
  if (!good && !*from_child->message)
    snprintf(from_child->message, sizeof from_child->message, "%s", permc_message(c));
  permc_values_free(t->arguments, t->count);
  permc_values_free(results, count);
  permc_context_free(c);
  return good;
}

typedef enum ending { DONE, FAILED, KILLED } ending;

static ending run_trial(trial t) {
  int status;
  if (!from_child)
    from_child =
        mmap(NULL, sizeof *from_child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  *from_child = (told){0};
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    test_state.failures = 0;
    bool good = run_here(&t);
    fflush(stdout);
    _exit(!good || test_state.failures);
  }
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? KILLED : WEXITSTATUS(status) ? FAILED : DONE;
}

static bool same_files(const char *a, const char *b) {
  FILE *x = fopen(a, "r"), *y = fopen(b, "r");
  int at = 0, other = 0;
  while (x && y && at != EOF && at == other) {
    at = getc(x);
    other = getc(y);
  }
  if (x)
    fclose(x);
  if (y)
    fclose(y);
  return x && y && at == other;
}

static trial reference_of(const struct example *p) {
  CHECK(run_trial((trial){.example = p, .result = "expected"}) == DONE);
  return (trial){.example = p, .memory = p->memory, .result = "found"};
}

// A loop with a scatter, of which the turns are no power of two: a step has no more of them.
TEST(a_scatter_in_a_loop) {
  static const struct example permuted = {
      "\\xs -> permute (map (\\j -> (j + i64 xs[0]) % 17) (iota 17)) xs", "[17]u8", 1 << 13};
  CHECK(run_trial(reference_of(&permuted)) == DONE);
  CHECK(same_files(path_of("found"), path_of("expected")));
}

// ---- bytes -------------------------------------------------------------------------------------

TEST(what_is_predicted) {
  for (int i = 0; i < PREDICTED; i++) {
    trial t = reference_of(&examples[i]);
    if (!CHECK(run_trial(t) == DONE))
      printf("%s: %s\n", t.example->text, from_child->message);
    CHECK(same_files(path_of("found"), path_of("expected")));
    const external_traffic *predicted = &from_child->predicted.moved;
    const disk_counts *moved = &from_child->moved;
    // Samples and cuts of sorts are not predicted, nor how much pages have that is not wanted; what
    // a routine writes at its end is not counted.
    uint64_t some = DISK_PAGE * 16 * from_child->predicted.parts;
    if (!CHECK(moved->bytes_written + DISK_PAGE >= predicted->writes &&
               moved->bytes_written <= predicted->writes + some / 8) ||
        !CHECK(moved->bytes_read >= predicted->reads &&
               moved->bytes_read <= predicted->reads + some))
      printf("%s: read %" PRIu64 " for %" PRIu64 ", written %" PRIu64 " for %" PRIu64 "\n",
             t.example->text, moved->bytes_read, predicted->reads, moved->bytes_written,
             predicted->writes);
    // What is written up to a page, or from one on, is a request of its own.
    uint64_t wanted = predicted->requests, made = moved->requests;
    if (!CHECK(made + wanted / 16 >= wanted &&
               made <= wanted + wanted / 16 + 4 * from_child->predicted.parts))
      printf("%s: %" PRIu64 " requests for %" PRIu64 "\n", t.example->text, made, wanted);
  }
}

// ---- kills -------------------------------------------------------------------------------------

static void remove_run(void) { external_remove(path_of("run"), -1); }

// Killed at each of its reports, or some of them, and then once more in the second run.
TEST(kills) {
  for (int i = 0; i < EXAMPLES; i++) {
    trial t = reference_of(&examples[i]);
    t.resume = true;
    uint64_t step = test_all() ? 1 : slower() == 1 ? 61 : 101, kills = 0;
    ending last = KILLED;
    for (t.kill_at = 1; last == KILLED; t.kill_at += step, kills++) {
      remove_run();
      last = run_trial(t);
      if (last == KILLED) {
        trial again = t;
        again.kill_at = 1 + t.kill_at % 3;
        if (run_trial(again) == KILLED) {
          again.kill_at = 0;
          CHECK(run_trial(again) == DONE);
        }
      }
      if (!CHECK(same_files(path_of("found"), path_of("expected"))))
        printf("%s, killed at report %" PRIu64 ": %s\n", t.example->text, t.kill_at,
               from_child->message);
      remove(path_of("found"));
    }
    CHECK(last == DONE && kills > 1);
    remove_run();
    CHECK(access(path_of("run"), F_OK) != 0);
  }
}

// The journal without its last line, of which a part stays.
static void cut_journal(void) {
  char lines[1200];
  snprintf(lines, sizeof lines, "%s/journal", path_of("run"));
  int file = open(lines, O_RDWR);
  off_t size = lseek(file, 0, SEEK_END);
  CHECK(size > 100 && ftruncate(file, size - 3) == 0);
  close(file);
}

// Killed when all is on the disk, and the line that says so is not: also of the first note.
TEST(a_kill_within_a_note) {
  static const struct example sums = {"map (\\r -> map (\\v -> v - sum r) r)", "[2010][517]i64",
                                      1 << 22};
  trial t = reference_of(&sums);
  remove(path_of("argument.npy"));
  t.resume = t.from_file = true;
  for (t.kill_at = 2; t.kill_at < 20; t.kill_at += test_step(3)) {
    remove_run();
    CHECK(run_trial(t) == KILLED);
    cut_journal();
    trial again = t;
    again.kill_at = 0;
    if (!CHECK(run_trial(again) == DONE && same_files(path_of("found"), path_of("expected"))))
      printf("killed at report %" PRIu64 ": %s\n", t.kill_at, from_child->message);
  }
  remove_run();
}

static struct timespec written_at(const char *name) {
  struct stat s = {0};
  char path[1200];
  snprintf(path, sizeof path, "%s/%s", path_of("run"), name);
  CHECK(stat(path, &s) == 0);
  return s.st_mtim;
}

// Killed near its end, twice: a sort goes on behind its runs, which are not made again (s0-1), and
// needs no second copy of its argument.
TEST(a_sort_goes_on_in_the_middle) {
  static const char *const files[] = {"argument0", "s0-1"};
  const struct example *sort = &examples[2];
  trial t = {.example = sort, .memory = sort->memory, .resume = true, .result = "found"};
  remove_run();
  CHECK(run_trial(t) == DONE);
  uint64_t reports = from_child->reports;
  struct timespec first[2];
  remove_run();
  t.kill_at = reports - 2;
  CHECK(run_trial(t) == KILLED);
  for (int i = 0; i < 2; i++)
    first[i] = written_at(files[i]);
  t.kill_at = 1;
  CHECK(run_trial(t) == KILLED);
  for (int i = 0; i < 2; i++) {
    struct timespec second = written_at(files[i]);
    CHECK(first[i].tv_sec == second.tv_sec && first[i].tv_nsec == second.tv_nsec);
  }
  remove_run();
}

// ---- what is not as it was left ----------------------------------------------------------------

// A run of several steps, killed in the last. What it moves at once are whole pages.
static trial half_a_run(void) {
  static const struct example large = {"fft", "[2^20]c64", 1 << 24};
  trial t = reference_of(&large);
  remove_run();
  t.resume = true;
  CHECK(run_trial(t) == DONE);
  uint64_t reports = from_child->reports;
  remove_run();
  t.kill_at = reports - 2;
  CHECK(run_trial(t) == KILLED);
  t.kill_at = 0;
  return t;
}

// A byte of the journal, but for those that end lines.
static void spoil_line(uint64_t *state) {
  char path[1200], byte = '\n';
  snprintf(path, sizeof path, "%s/journal", path_of("run"));
  int file = open(path, O_RDWR);
  off_t size = lseek(file, 0, SEEK_END), at = 0;
  while (size > 0 && byte == '\n') {
    at = (off_t)(draw_word(state) % (uint64_t)size);
    CHECK(pread(file, &byte, 1, at) == 1);
  }
  byte ^= 4;
  CHECK(pwrite(file, &byte, 1, at) == 1);
  close(file);
}

// One byte of a line of the journal is spoiled at some moment: the run is refused.
TEST(a_damaged_journal) {
  uint64_t state = 11, tries = test_amount(5, 100);
  for (int i = 0; i < EXAMPLES; i++) {
    trial t = reference_of(&examples[i]);
    t.resume = true;
    remove_run();
    CHECK(run_trial(t) == DONE);
    uint64_t reports = from_child->reports;
    for (uint64_t k = 0; k < tries; k++) {
      remove_run();
      trial killed = t;
      killed.kill_at = 1 + draw_word(&state) % reports;
      CHECK(run_trial(killed) == KILLED);
      spoil_line(&state);
      if (!CHECK(run_trial(t) == FAILED &&
                 strstr(from_child->message, "its journal is not what was written")))
        printf("%s, killed at report %" PRIu64 " of %" PRIu64 ": %s\n", t.example->text,
               killed.kill_at, reports, from_child->message);
    }
  }
  remove_run();
}

// By the number of the failure, whatever its text is.
TEST(advice) {
  error known = {0}, like = {0};
  error_set_number(&known, EMFILE, "a: no more");
  error_set(&like, SPAN_NONE, "a: %s", strerror(EMFILE));
  run_file_advise(&known);
  run_file_advise(&like);
  CHECK_STR(known.message, "a: no more; raise the limit of open files (ulimit -n)");
  CHECK(!strchr(like.message, ';'));
}

TEST(a_journal_that_is_cut) {
  trial t = half_a_run();
  cut_journal();
  CHECK(run_trial(t) == DONE && same_files(path_of("found"), path_of("expected")));
  remove_run();
}

// The second sorts from high to low: no more than a flag of a routine differs.
TEST(another_run) {
  static const struct example up_and_down[] = {{"sort", "[2^18]u32", 0},
                                               {"sort_desc", "[2^18]u32", 0}};
  trial t = half_a_run(),
        other = {.example = &examples[0], .memory = examples[0].memory, .result = "found"};
  other.resume = true;
  CHECK(run_trial(other) == FAILED);
  CHECK_CONTAINS(from_child->message, "the run that was begun here has another program");
  remove_run();
  trial up = {.example = &up_and_down[0], .memory = 1 << 19, .kill_at = 5, .resume = true},
        down = {.example = &up_and_down[1], .memory = 1 << 19, .resume = true, .result = "found"};
  CHECK(run_trial(up) == KILLED && run_trial(down) == FAILED);
  CHECK_CONTAINS(from_child->message, "the run that was begun here has another program");
  remove_run();
  t = half_a_run();
  char path[1200];
  snprintf(path, sizeof path, "%s/journal", path_of("run"));
  int file = open(path, O_RDWR);
  CHECK(flock(file, LOCK_EX) == 0);
  CHECK(run_trial(t) == FAILED);
  CHECK_CONTAINS(from_child->message, "another run is at work here");
  close(file);
  CHECK(run_trial(t) == DONE && same_files(path_of("found"), path_of("expected")));
  remove_run();
}

// Two contexts that resume the same run: the second has to wait until the first has its results
// where it wants them, and has ended the run.
TEST(until_the_folder_goes) {
  permc_context *both[2];
  permc_value **arguments[2] = {NULL}, **results[2] = {NULL};
  size_t count[2], result_count[2] = {0};
  permc_files files = {.memory = 1 << 17, .folder = path_of("run"), .resume = true};
  remove_run();
  for (int i = 0; i < 2; i++) {
    both[i] = load_expression("bitrev");
    REQUIRE(both[i] && permc_use_files(both[i], &files) &&
            permc_read_random(both[i], "-e", "[2^16]u32", 1, &arguments[i], &count[i]));
  }
  for (int i = 0; i < 2; i++) {
    CHECK(permc_run(both[i], "-e", "portable", arguments[i], 1, &results[i], &result_count[i]));
    CHECK(
        !permc_run(both[!i], "-e", "portable", arguments[!i], 1, &results[!i], &result_count[!i]));
    CHECK_CONTAINS(permc_message(both[!i]), "another run is at work here");
    CHECK(permc_write_file(both[i], path_of("result.npy"), results[i][0]));
    permc_remove_files(both[i]);
    CHECK(access(path_of("run"), F_OK) != 0 && remove(path_of("result.npy")) == 0);
    permc_values_free(results[i], result_count[i]);
  }
  for (int i = 0; i < 2; i++) {
    permc_values_free(arguments[i], count[i]);
    permc_context_free(both[i]);
  }
}

// ---- failures leave nothing --------------------------------------------------------------------

TEST(nothing_is_left) {
  char folder[1024], path[1200];
  snprintf(folder, sizeof folder, "%s", path_of("empty"));
  CHECK(mkdir(folder, 0777) == 0);
  permc_context *c = load_expression("sort");
  permc_value **arguments = NULL, **results = NULL;
  size_t count = 0, result_count = 0;
  permc_files files = {.memory = 1 << 19, .folder = folder};
  REQUIRE(c && permc_use_files(c, &files) &&
          permc_read_random(c, "-e", "[2^18]u32", 1, &arguments, &count));
  CHECK(permc_run(c, "-e", NULL, arguments, count, &results, &result_count));
  CHECK(result_count == 1 && !permc_value_data(results[0], 0));
  int unnamed = unnamed_create(folder);
  CHECK((rmdir(folder) == 0) ==
        (unnamed >= 0));  // the result is there, with a name if it needs one
  CHECK(unnamed < 0 || (close(unnamed) == 0 && mkdir(folder, 0777) == 0));
  permc_values_free(results, result_count);
  CHECK(permc_run(c, "-e", NULL, arguments, count, &results, &result_count));
  snprintf(path, sizeof path, "%s/sorted.npy", folder);
  CHECK(permc_write_file(c, path, results[0]));
  CHECK(!permc_gather(c, results[0]));
  CHECK_STR(permc_message(c),
            "permc: a result has 1 MiB, and there are 512 KiB of memory; write it to "
            "a .npy\n");
  files.memory = 1 << 20;
  CHECK(permc_use_files(c, &files));
  CHECK(permc_gather(c, results[0]) && permc_value_data(results[0], 0));
  permc_values_free(results, result_count);
  CHECK(remove(path) == 0 && rmdir(folder) == 0);
  CHECK(!permc_run(c, "-e", NULL, arguments, count, &results, &result_count));
  CHECK_CONTAINS(permc_message(c), "empty: No such file or directory");
  permc_values_free(arguments, count);
  permc_context_free(c);
}

// KiB that a process has at most which sorts 2^24 keys by a network and so much memory.
static long peak_of(uint64_t memory) {
  struct rusage used = {0};
  pid_t child = fork();
  if (child == 0) {
    permc_context *c = load_expression("sort_network");
    permc_value **arguments = NULL, **results = NULL;
    size_t count = 0, result_count = 0;
    permc_files files = {.memory = memory, .folder = path_of(".")};
    _exit(!c || !permc_use_files(c, &files) ||
          !permc_read_random(c, "-e", "[2^24]u32", 1, &arguments, &count) ||
          !permc_run(c, "-e", "portable", arguments, count, &results, &result_count));
  }
  int status;
  CHECK(wait4(child, &status, 0, &used) == child && status == 0);
  return used.ru_maxrss;
}

// The plan takes as much by more memory, so that the rest is that of arrays.
TEST(arrays_fit_the_memory) {
#if SANITIZED
  SKIP("sanitizers have memory of their own");
#endif
  long little = peak_of(1 << 23), more = peak_of(1 << 25);
  CHECK(more - little <= ((1 << 25) - (1 << 23)) / 1024);
}

// Their last bytes, whatever the lengths of their headers.
static bool same_ends(const char *a, const char *b, long bytes) {
  FILE *x = fopen(a, "r"), *y = fopen(b, "r");
  bool same = x && y && fseek(x, -bytes, SEEK_END) == 0 && fseek(y, -bytes, SEEK_END) == 0;
  for (; same && bytes > 0; bytes--)
    same = getc(x) == getc(y) && !feof(x);
  if (x)
    fclose(x);
  if (y)
    fclose(y);
  return same;
}

// The file of a result becomes the first output, and stays apart from the others; or none, where
// the run's folder has gone before, was moved away, or its files have other names, or are links.
TEST(outputs_are_files_of_their_own) {
  static const char *const changes[] = {
      NULL, "rm -r run", "mv run moved", "mkdir moved && ln run/f* moved",
      "mkdir moved && mv run/f* moved && ln -s $PWD/moved/f* run"};
  char one[1200], two[1200], folder[1200], command[1400];
  snprintf(one, sizeof one, "%s", path_of("one.npy"));
  snprintf(two, sizeof two, "%s", path_of("two.npy"));
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    bool resume = changes[i];
    permc_context *c = load_expression("bitrev");
    permc_value **arguments = NULL, **results = NULL;
    size_t count = 0, result_count = 0;
    struct stat first, second;
    snprintf(folder, sizeof folder, "%s", path_of(resume ? "run" : "."));
    permc_files files = {.memory = 1 << 17, .folder = folder, .resume = resume};
    remove_run();
    REQUIRE(c && permc_use_files(c, &files) &&
            permc_read_random(c, "-e", "[2^16]u32", 1, &arguments, &count) &&
            permc_run(c, "-e", "portable", arguments, count, &results, &result_count));
    snprintf(command, sizeof command, "cd %s && %s", path_of("."), resume ? changes[i] : "");
    CHECK(!resume || system(command) == 0);
    CHECK(permc_write_file(c, one, results[0]) && permc_write_file(c, two, results[0]));
    REQUIRE(stat(one, &first) == 0 && stat(two, &second) == 0);
    CHECK(first.st_ino != second.st_ino && first.st_nlink == 1 && second.st_nlink == 1);
    snprintf(command, sizeof command, "rm -rf %s", path_of("moved"));
    CHECK(system(command) == 0);
    permc_values_free(results, result_count);
    permc_values_free(arguments, count);
    permc_context_free(c);
    CHECK(same_ends(one, two, 1 << 18));
    CHECK(remove(one) == 0 && remove(two) == 0);
  }
}

// A run of which a check fails would fail again: nothing is kept.
static void fail_check(const char *expression, const char *types, const char *message) {
  permc_context *c = load_expression(expression);
  permc_value **arguments = NULL, **results = NULL;
  size_t count = 0, result_count = 0;
  permc_files files = {.memory = 1 << 17, .folder = path_of("run"), .resume = true};
  remove_run();
  REQUIRE(c && permc_use_files(c, &files) &&
          permc_read_random(c, "-e", types, 1, &arguments, &count));
  CHECK(!permc_run(c, "-e", "portable", arguments, count, &results, &result_count));
  CHECK_CONTAINS(permc_message(c), message);
  CHECK(access(path_of("run"), F_OK) != 0);
  permc_values_free(arguments, count);
  permc_context_free(c);
}

TEST(a_check_that_fails) {
  fail_check("\\xs -> gather xs xs", "[2^13]u32", "is outside of an array of 8192 elements");
  fail_check("\\xs -> sort_ragged (map (\\i -> i64 xs[0] % 2 + 9000 * i) (iota 9)) xs", "[2^13]u32",
             "row 0 has 9000 elements, and may have at most 8192");
  fail_check("\\xs -> sort_ragged (map (\\i -> i64 xs[0] % 2 + 5000 * (i % 2)) (iota 9)) xs",
             "[2^14]u32", "row 1 has -5000 elements");
}

TEST_MAIN()
