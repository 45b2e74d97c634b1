// Memory that runs out (memory_failure.h) in runs beyond one device, and system calls that fail in
// these: on files, alone or to be gone on with; on ranks that are threads of one context; on ranks
// with a context each, as processes have. A failure is one line that says why, leaves no file, and
// ends all ranks.
//
//   memory_failure_beyond_test files system      two of the lists below
#include "tests/unit/memory_failure.h"

#include "runtime/context/context.h"
#include "runtime/external/run.h"
#include "runtime/ranks/ranks.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>

// ---- system calls that fail --------------------------------------------------------------------

static atomic_ullong failed_numbers;  // bit n: errno n was a cause

static bool call_fails(int number) {
  bool fails = next_fails(SYSTEM, number);
  if (fails)
    atomic_fetch_or(&failed_numbers, 1ULL << number);
  return fails;
}

#define WRAP_CALL(result, name, parameters, arguments, number)                                     \
  result __real_##name parameters;                                                                 \
  result __wrap_##name parameters;                                                                 \
  result __wrap_##name parameters {                                                                \
    return call_fails(number) ? (result)-1 : __real_##name arguments;                              \
  }
WRAP_CALL(int, mkostemp, (char *path, int flags), (path, flags), EMFILE)
WRAP_CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), EACCES)
WRAP_CALL(int, fallocate, (int f, int mode, off_t at, off_t size), (f, mode, at, size), ENOSPC)
WRAP_CALL(int, ftruncate, (int f, off_t size), (f, size), EIO)
WRAP_CALL(int, fstat, (int f, struct stat *s), (f, s), EIO)
WRAP_CALL(int, flock, (int f, int how), (f, how), ENOLCK)
WRAP_CALL(int, dup, (int f), (f), EMFILE)
WRAP_CALL(int, msync, (void *at, size_t size, int how), (at, size, how), EIO)
WRAP_CALL(int, fdatasync, (int f), (f), EIO)
WRAP_CALL(ssize_t, pread, (int f, void *to, size_t size, off_t at), (f, to, size, at), EIO)
WRAP_CALL(ssize_t, pwrite, (int f, const void *from, size_t size, off_t at), (f, from, size, at),
          ENOSPC)
WRAP_CALL(ssize_t, write, (int f, const void *from, size_t size), (f, from, size), ENOSPC)
WRAP_CALL(int, linkat, (int a, const char *from, int b, const char *to, int how),
          (a, from, b, to, how), EMLINK)
WRAP_CALL(int, rename, (const char *from, const char *to), (from, to), EACCES)
WRAP_CALL(off_t, lseek, (int f, off_t at, int from), (f, at, from), EIO)

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path) { return call_fails(EMFILE) ? NULL : __real_opendir(path); }

int __real_posix_fallocate(int f, off_t at, off_t size);
int __wrap_posix_fallocate(int f, off_t at, off_t size);
int __wrap_posix_fallocate(int f, off_t at, off_t size) {
  return call_fails(ENOSPC) ? ENOSPC : __real_posix_fallocate(f, at, size);
}

// Those with arguments that need not be there.
#define WRAP_VARIADIC(name, parameters, last, rest, number)                                        \
  int __real_##name(parameters, ...);                                                              \
  int __wrap_##name(parameters, ...);                                                              \
  int __wrap_##name(parameters, ...) {                                                             \
    va_list list;                                                                                  \
    va_start(list, last);                                                                          \
    int more = va_arg(list, int);                                                                  \
    va_end(list);                                                                                  \
    return call_fails(number) ? -1 : __real_##name(rest, more);                                    \
  }
#define PARAMETERS(...) __VA_ARGS__
WRAP_VARIADIC(open, PARAMETERS(const char *path, int flags), flags, PARAMETERS(path, flags), EMFILE)
WRAP_VARIADIC(openat, PARAMETERS(int folder, const char *path, int flags), flags,
              PARAMETERS(folder, path, flags), EMFILE)
WRAP_VARIADIC(fcntl, PARAMETERS(int f, int what), what, PARAMETERS(f, what), EMFILE)

// ---- what is said, and what is left ------------------------------------------------------------

static char folder[300];  // of all files

static const char *path_of(const char *name) {
  static char paths[4][400];
  static atomic_uint next;
  char *path = paths[atomic_fetch_add(&next, 1) % 4];
  snprintf(path, sizeof *paths, "%s/%s", folder, name);
  return path;
}

static void make_folder(void) {
  const char *of = getenv("PERMC_TMP");
  snprintf(folder, sizeof folder, "%s/beyond", of ? of : "/tmp");
  mkdir(folder, 0777);
  unlink(path_of("in.npy"));  // of ranks, and of a test that was run here before
  external_remove(path_of("run"), -1);
}

static int count_files(const char *path) {
  int count = 0;
  DIR *all = opendir(path);
  for (struct dirent *e; all && (e = readdir(all));)
    count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  if (all)
    closedir(all);
  return count;
}

static bool names_cause(const char *message) {
  unsigned long long numbers = atomic_exchange(&failed_numbers, 0);
  bool named = tried == SYSTEM && (numbers & 1ULL << ENOSPC) && strstr(message, "the disk is full");
  for (int n = 1; n < 64 && tried == SYSTEM; n++)
    named = named || ((numbers & 1ULL << n) && strstr(message, strerror(n)));
  return named ||
         (tried == MEMORY &&
          (strstr(message, "out of memory") || strstr(message, "there is no memory") ||
           strstr(message, strerror(ENOMEM)) || strstr(message, "no thread could be started")));
}

static const char *check_cause(const session *s) {
  bool named = names_cause(*s->error.message ? s->error.message : permc_message(s->context));
  return named ? NULL : "the message does not name the cause";
}

static void drop_results(session *s) {
  permc_values_free(s->results, s->result_count);
  s->results = NULL;
  s->result_count = 0;
}

// ... and no file is left, but what is in the folder of a run that can go on.
static const char *check_files(session *s) {
  const char *problem = check_cause(s);
  bool can_go_on = access(path_of("run"), F_OK) == 0;
  drop_results(s);
  if (!strncmp(current->call, "permc_run", 9) &&
      !strcmp(permc_message(s->context), "permc: out of memory\n") &&
      permc_last_code(s->context) != PERMC_ERROR_MEMORY)
    return "memory is out, and the code says something else";
  return problem ? problem : count_files(folder) > can_go_on ? "a file is left" : NULL;
}

// ---- runs of one context -----------------------------------------------------------------------

// Nothing fails from here on, until it is counted again.
static int pause_failures(void) { return atomic_exchange(&counting, NOTHING); }

static bool load_result(permc_value *v) {
  error failure = {0};
  bool good = true;
  for (size_t i = 0; i < v->count && good; i++)
    good = array_load(&v->components[i], &failure);
  return good;
}

static bool run_whole(session *s) {
  return permc_run(s->context, "-e", "portable", s->arguments, s->argument_count, &s->expected,
                   &s->expected_count);
}

// The results in memory; their files go.
static bool run_and_compare(session *s) {
  drop_results(s);
  bool good = permc_run(s->context, "-e", "portable", s->arguments, s->argument_count, &s->results,
                        &s->result_count);
  int before = pause_failures();
  for (size_t i = 0; good && i < s->result_count; i++)
    good = load_result(s->results[i]);
  good = good && are_expected(s, s->results, s->result_count);
  if (good)
    drop_results(s);
  atomic_store(&counting, before);
  return good;
}

// Steps of stages, each of the routines, and results in memory beside those in files.
static const struct {
  example program;
  uint64_t memory;
} file_programs[] = {
    {{"sort", "[2^12]u32"}, 1 << 15},
    {{"map sort", "[40][100]f32"}, 1 << 13},
    {{"argsort", "[2^11]u16"}, 1 << 15},
    {{"\\xs -> sort_ragged (map (\\i -> i64 xs[0] % 2 + 300 * i) (iota 6)) xs", "[2^12]u32"},
     1 << 16},
    {{"ranks", "[2^11]u32"}, 1 << 15},
    {{"\\xs -> permute (ranks (map (+ 1) xs)) (reverse xs)", "[2^11]u32"}, 1 << 15},
    {{"bucket 4 (\\x -> x & 15)", "[2^11]u32"}, 1 << 15},
    {{"histogram 4 (\\x -> x & 15)", "[2^12]u8"}, 1 << 12},
    {{"\\xs -> gather (map (\\x -> x & 1023) xs) xs", "[2^11]u32"}, 1 << 15},
    {{"\\p v xs -> scatter (map (\\i -> 3 * i + i64 p[0] % 2) (iota 100)) v xs",
      "[1]u8 [100]u32 [2^11]u32"},
     1 << 15},
    {{"transpose", "[70][150]u16"}, 1 << 16},
    {{"fft", "[2^9]c64"}, 1 << 12},
    {{"scan (+)", "[2^11]i64"}, 1 << 13},
    {{"zip_with (+)", "[999]u8 [999]u8"}, 1 << 12},
    {{"\\xs -> (sort xs, sum xs)", "[2^11]u32"}, 1 << 14},
};

static uint64_t memory_of(const session *s) {
  size_t i = 0;
  while (&file_programs[i].program != s->program)
    i++;
  return file_programs[i].memory;
}

static bool use_files(session *s) {
  permc_files files = {.memory = memory_of(s), .folder = folder};
  return permc_use_files(s->context, &files);
}

static bool use_resumed_files(session *s) {
  permc_files files = {.memory = memory_of(s), .folder = path_of("run"), .resume = true};
  return permc_use_files(s->context, &files);
}

// All of it is gone on with, if there is something to go on with; then it goes.
static bool run_resumed(session *s) {
  bool good = run_and_compare(s);
  int before = pause_failures();
  if (good) {
    permc_remove_files(s->context);
    good = access(path_of("run"), F_OK) != 0;
  }
  atomic_store(&counting, before);
  return good;
}

static bool gather_result(session *s) {
  int before = pause_failures();
  drop_results(s);
  permc_files files = {.memory = UINT64_C(1) << 30, .folder = folder};
  bool good = permc_run(s->context, "-e", "portable", s->arguments, s->argument_count, &s->results,
                        &s->result_count) &&
              permc_use_files(s->context, &files);
  atomic_store(&counting, before);
  for (size_t i = 0; good && i < s->result_count; i++)
    good = permc_gather(s->context, s->results[i]);
  pause_failures();
  good = good && are_expected(s, s->results, s->result_count);
  if (good) {
    drop_results(s);
    good = use_files(s);
  }
  atomic_store(&counting, before);
  return good;
}

static bool is_expected_file(session *s, const char *path) {
  permc_value **read = NULL;
  size_t count = 0;
  permc_context *c = permc_context_new();
  bool good = permc_define(c, "id") && permc_read_files(c, "-e", &path, 1, &read, &count) &&
              count == 1 && values_equal(read[0], s->expected[0]);
  permc_values_free(read, count);
  permc_context_free(c);
  return good;
}

static bool write_result(session *s) {
  int before = pause_failures();
  drop_results(s);
  bool good = permc_run(s->context, "-e", "portable", s->arguments, s->argument_count, &s->results,
                        &s->result_count);
  atomic_store(&counting, before);
  good = good && permc_write_file(s->context, path_of("out.npy"), s->results[0]);
  pause_failures();
  if (good) {
    drop_results(s);
    good = is_expected_file(s, path_of("out.npy")) && remove(path_of("out.npy")) == 0;
  }
  atomic_store(&counting, before);
  return good;
}

static const call file_calls[] = {
    {"the program is loaded", load_source},
    {"permc_read_random", read_program_arguments},
    {"permc_run", run_whole},
    {"permc_use_files", use_files},
    {"permc_run, on files", run_and_compare},
    {"permc_gather", gather_result},
    {"permc_write_file", write_result},
    {"permc_use_files, to be resumed", use_resumed_files},
    {"permc_run, on files, resumed", run_resumed},
};

static const call_list files_list = {file_calls, COUNT_OF(file_calls), 3, 3, check_files};

static void try_example(const example *p, const call_list *l, uint64_t seed) {
  share_trial();
  make_folder();
  random_state = seed;
  try_calls(p, l);
}

TEST(files) {
  for (size_t i = 0; i < COUNT_OF(file_programs); i += test_step(1))
    try_example(&file_programs[i].program, &files_list, i);
  print_part();
}

TEST(system_calls) {
  tried = SYSTEM;
  for (size_t i = 0; i < COUNT_OF(file_programs); i += test_step(1))
    try_example(&file_programs[i].program, &files_list, i);
  print_part();
  tried = MEMORY;
}

// ---- ranks of one context ----------------------------------------------------------------------

static bool use_ranks(session *s, uint32_t count) {
  permc_ranks wanted = {.transport = "threads", .count = count, .timeout = 20};
  return permc_use_ranks(s->context, &wanted);
}

static bool use_2_ranks(session *s) { return use_ranks(s, 2); }
static bool use_4_ranks(session *s) { return use_ranks(s, 4); }

// A rank that fails is named, and nobody waits for it.
static const char *check_rank(session *s) {
  const char *problem = check_cause(s), *message = permc_message(s->context);
  drop_results(s);
  return problem                           ? problem
         : strstr(message, "did not come") ? "a rank was waited for"
         : strstr(message, "ended before") ? "a rank has not said why"
         : permc_last_code(s->context) == PERMC_ERROR_RANKS && !strstr(message, "rank ") &&
                 strcmp(message, "permc: out of memory\n") != 0
             ? "the message names no rank"
             : NULL;
}

static const call rank_calls[] = {
    {"the program is loaded", load_source},
    {"permc_read_random", read_program_arguments},
    {"permc_run", run_whole},
    {"permc_use_ranks, 2", use_2_ranks},
    {"permc_run, on 2 ranks", run_and_compare},
    {"permc_use_ranks, 4", use_4_ranks},
    {"permc_run, on 4 ranks", run_and_compare},
};

static const example rank_programs[] = {
    {"sort", "[1000]u32"},
    {"map sort", "[3][100]u16"},
    {"argsort", "[500]u16"},
    {"ranks", "[700]i64"},
    {"\\xs -> permute (ranks (map (+ 1) xs)) (reverse xs)", "[512]u32"},
    {"histogram 4 (\\x -> x & 15)", "[600]u8"},
    {"bucket 4 (\\x -> x & 15)", "[512]u32"},
    {"\\xs -> gather (map (\\x -> x & 255) xs) xs", "[512]u32"},
    {"transpose", "[7][15]u64"},
    {"fft", "[256]c64"},
    {"scan (+)", "[1000]i32"},
    {"\\xs -> (sum xs, maximum xs, map (\\x -> x * x) xs)", "[256]u32"},
};
TEST(ranks) {
  const call_list l = {rank_calls, COUNT_OF(rank_calls), 3, 5, check_rank};
  for (size_t i = 0; i < COUNT_OF(rank_programs); i += test_step(1))
    try_example(&rank_programs[i], &l, i);
  print_part();
}

// ---- ranks with a context each -----------------------------------------------------------------

enum { MOST_RANKS = 4 };

typedef struct rank_job {
  permc_context *context;
  const char *in, *out;
  bool good;
  char message[600];
} rank_job;
static rank_job jobs[MOST_RANKS];

// Before anything fails: they need not meet for it.
static bool open_rank(rank_job *j, const example *p, transport_group *group, uint32_t rank,
                      uint32_t count) {
  error failure = {0};
  ranks_options o = {
      .kind = &transport_threads, .count = count, .timeout = 20, .group = group, .rank = rank};
  *j = (rank_job){
      .context = permc_context_new(), .in = path_of("in.npy"), .out = path_of("out.npy")};
  if (!j->context || !permc_define(j->context, p->source))
    return false;
  j->context->ranks = ranks_open(&o, &failure);
  j->context->end_ranks = ranks_close;
  return j->context->ranks;
}

static void *run_rank(void *with) {
  rank_job *j = with;
  permc_context *c = j->context;
  permc_value **arguments = NULL, **results = NULL;
  size_t argument_count = 0, result_count = 0;
  j->good =
      permc_read_files(c, "-e", &j->in, 1, &arguments, &argument_count) &&
      permc_run_consume(c, "-e", "portable", arguments, argument_count, &results, &result_count) &&
      permc_write_file(c, j->out, results[0]);
  snprintf(j->message, sizeof j->message, "%s", permc_message(c));
  if (!j->good)
    permc_fail_ranks(c, j->message);
  permc_values_free(arguments, argument_count);
  permc_values_free(results, result_count);
  return NULL;
}

// All of them have a message if one has; the first is what the session has.
static bool join_ranks(session *s, uint32_t count, transport_group *group) {
  bool good = true, all = true;
  for (uint32_t r = 0; r < count; r++) {
    good = good && jobs[r].good;
    all = all && !jobs[r].good;
  }
  for (uint32_t r = 0; r < count; r++)
    permc_context_free(jobs[r].context);
  transport_group_free(group);
  if (!good)
    s->error = (permc_error){PERMC_ERROR_RANKS, ""};
  if (!good && !all)
    snprintf(s->error.message, sizeof s->error.message, "some ranks have gone on");
  for (uint32_t r = 0; r < count && !*s->error.message; r++)
    if (!jobs[r].good)
      snprintf(s->error.message, sizeof s->error.message, "%.200s", jobs[r].message);
  return good;
}

static bool run_apart(session *s, uint32_t count) {
  int before = pause_failures();
  pthread_t threads[MOST_RANKS];
  transport_group *group = transport_group_make(count);
  bool good = group;
  for (uint32_t r = 0; r < count; r++)
    good = open_rank(&jobs[r], s->program, group, r, count) && good;
  atomic_store(&counting, before);
  for (uint32_t r = 0; r < count; r++)
    good = __real_pthread_create(&threads[r], NULL, run_rank, &jobs[r]) == 0 && good;
  for (uint32_t r = 0; r < count; r++)
    pthread_join(threads[r], NULL);
  pause_failures();
  good = join_ranks(s, count, group) && good;
  good = good && is_expected_file(s, path_of("out.npy")) && remove(path_of("out.npy")) == 0;
  atomic_store(&counting, before);
  return good;
}

static bool run_2_apart(session *s) { return run_apart(s, 2); }
static bool run_4_apart(session *s) { return run_apart(s, 4); }

static bool write_input(session *s) {
  return permc_write_file(s->context, path_of("in.npy"), s->arguments[0]);
}

// One rank may say why in its own words; all others name it.
static const char *check_apart(session *s) {
  const char *problem = check_cause(s);
  int own = 0;
  for (int r = 0; r < MOST_RANKS && *jobs[r].message; r++) {
    const char *message = jobs[r].message, *end = strchr(message, '\n');
    own += strncmp(message, "permc: rank ", 12) != 0;
    if (!end || end[1])
      problem = "a rank has not one line";
    if (strstr(message, "did not come") || strstr(message, "ended before"))
      problem = "a rank was waited for";
  }
  if (own > 1 && atomic_load(&only_one))
    problem = "several ranks name none";
  problem = problem ? problem : count_files(folder) > 1 ? "a file is left" : NULL;
  for (int r = 0; problem && r < MOST_RANKS; r++)
    printf("rank %d: %s", r, *jobs[r].message ? jobs[r].message : "no message\n");
  return problem;
}

static const call apart_calls[] = {
    {"the program is loaded", load_source},
    {"permc_read_random", read_program_arguments},
    {"permc_run", run_whole},
    {"permc_write_file", write_input},
    {"2 ranks", run_2_apart},
    {"4 ranks", run_4_apart},
};

TEST(ranks_apart) {
  const call_list l = {apart_calls, COUNT_OF(apart_calls), 4, 5, check_apart};
  for (size_t i = 0; i < COUNT_OF(rank_programs); i += 4)
    try_example(&rank_programs[i], &l, i);
  print_part();
}

int main(int count, char **arguments) { return memory_failure_main(count, arguments); }
