// permc test: find the files, run their tests on several threads, report in the files' order.
#include "tool/cli.h"
#include "tool/testing/case.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct test_session {
  test_options options;
  test_file *files;
  size_t file_count, file_capacity;
  bool wrong;  // a PATH that cannot be read

  pthread_mutex_t lock;  // of all below
  size_t next;           // file to start
  bool *done;            // per file
  size_t printed;        // files reported
  size_t total, finished, failed;
  bool terminal;      // there is a progress line
  double last_shown;  // when it was written
} test_session;

// The one session: progress callbacks find it here.
static test_session session;

// ---- finding files ---------------------------------------------------------------------------

static void out_of_memory(void) {
  cli_error("out of memory");
  session.wrong = true;
}

static void add_file(const char *path) {
  test_session *s = &session;
  if (s->file_count == s->file_capacity) {
    size_t capacity = s->file_capacity ? 2 * s->file_capacity : 64;
    test_file *grown = realloc(s->files, capacity * sizeof *grown);
    if (!grown) {
      out_of_memory();
      return;
    }
    s->files = grown;
    s->file_capacity = capacity;
  }
  char *copy = strdup(path);
  if (copy)
    s->files[s->file_count++] = (test_file){.path = copy, .options = &s->options};
  else
    out_of_memory();
}

static bool is_program(const char *name) {
  size_t length = strlen(name);
  return length > 5 && strcmp(name + length - 5, ".perm") == 0;
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int by_bytes(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

// Programs below a directory, in the order of their names. Directories that are symbolic links are
// not entered: they could lead back.
static void add_directory(const char *path) {
  struct dirent **entries;
  int count = scandir(path, &entries, visible, by_bytes);
  if (count < 0) {
    cli_error("%s: %s", path, strerror(errno));
    session.wrong = true;
    return;
  }
  for (int i = 0; i < count; i++) {
    text child = {0};
    struct stat status;
    size_t length = strlen(path);
    text_printf(&child, "%s%s%s", path, length && path[length - 1] == '/' ? "" : "/",
                entries[i]->d_name);
    if (child.failed) {
      cli_error("out of memory");
      session.wrong = true;
    } else if (lstat(child.data, &status) == 0 && S_ISDIR(status.st_mode)) {
      add_directory(child.data);
    } else if (is_program(entries[i]->d_name)) {
      add_file(child.data);
    }
    text_free(&child);
    free(entries[i]);
  }
  free(entries);
}

static void add_path(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0) {
    cli_error("%s: %s", path, strerror(errno));
    session.wrong = true;
  } else if (S_ISDIR(status.st_mode)) {
    add_directory(path);
  } else {
    add_file(path);
  }
}

// ---- progress and reports --------------------------------------------------------------------

static void erase_progress(void) {
  if (session.terminal)
    fputs("\r\033[K", stderr);
}

static void show_progress(const char *path) {
  double now = cli_seconds();
  if (!session.terminal || now - session.last_shown < 0.05)
    return;
  session.last_shown = now;
  fprintf(stderr, "\r\033[K%zu of %zu tests, %zu failed  %.40s", session.finished, session.total,
          session.failed, path);
}

static void on_test(test_file *file) {
  pthread_mutex_lock(&session.lock);
  session.finished++;
  show_progress(file->path);
  pthread_mutex_unlock(&session.lock);
}

// Prints the reports of files that are done and have none before them that is not. Under the lock.
static void print_reports(void) {
  test_session *s = &session;
  for (; s->printed < s->file_count && s->done[s->printed]; s->printed++) {
    const test_file *file = &s->files[s->printed];
    s->failed += file->failed;
    if (!file->report.length && !file->report.failed)
      continue;
    erase_progress();
    fputs(text_content(&file->report), stdout);
    if (file->report.failed)
      puts("permc: out of memory: the report above is cut off");
    fflush(stdout);
  }
}

// ---- threads ---------------------------------------------------------------------------------

static void *work(void *unused) {
  (void)unused;
  test_session *s = &session;
  pthread_mutex_lock(&s->lock);
  while (s->next < s->file_count) {
    size_t mine = s->next++;
    pthread_mutex_unlock(&s->lock);
    test_file_run(&s->files[mine]);
    pthread_mutex_lock(&s->lock);
    s->done[mine] = true;
    print_reports();
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

static void run_files(size_t jobs) {
  pthread_t *threads = calloc(jobs, sizeof *threads);
  size_t started = 0;
  while (threads && started < jobs && pthread_create(&threads[started], NULL, work, NULL) == 0)
    started++;
  if (started == 0)
    work(NULL);
  for (size_t i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
  free(threads);
  erase_progress();
}

// The processors that this process may use.
static size_t processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return (size_t)CPU_COUNT(&set);
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? (size_t)count : 1;
}

// ---- the verb --------------------------------------------------------------------------------

static bool read_options(const cli_arguments *given, size_t *jobs) {
  test_options *options = &session.options;
  uint64_t number = processors();
  if (cli_count(given, "--jobs") &&
      (!cli_number(cli_value(given, "--jobs"), &number) || number == 0 || number > 4096)) {
    cli_usage_error("test: --jobs is a number from 1 to 4096, not '%s'",
                    cli_value(given, "--jobs"));
    return false;
  }
  *jobs = (size_t)number;
  options->backend = cli_value(given, "--backend");
  options->only = cli_value(given, "--only");
  options->tags = cli_values(given, "--tag", &options->tag_count);
  options->excluded = cli_values(given, "--exclude", &options->excluded_count);
  options->allow_extern = cli_count(given, "--allow-extern") > 0;
  options->given = given;
  permc_context *probe = cli_context_new();
  bool good = probe && cli_use_cpu_options(given, probe);
  permc_context_free(probe);
  if (!good)
    return false;
  return options->tags && options->excluded;
}

static void open_files(void) {
  for (size_t i = 0; i < session.file_count; i++) {
    test_file *file = &session.files[i];
    test_file_open(file);
    file->progress = on_test;
    session.total += file->tests;
  }
}

static cli_status print_summary(void) {
  size_t passed = 0, failed = 0;
  for (size_t i = 0; i < session.file_count; i++) {
    passed += session.files[i].passed;
    failed += session.files[i].failed;
  }
  bool filtered =
      session.options.only || session.options.tag_count || session.options.excluded_count;
  bool none = passed + failed == 0;
  if (none && !session.wrong)
    cli_error(filtered ? "no test was found that --only, --tag and --exclude select"
                       : "no test was found");
  printf("%zu passed, %zu failed, 0 skipped\n", passed, failed);  // as all tests of permc end
  return failed || none || session.wrong ? CLI_WRONG : CLI_OK;
}

static void close_files(void) {
  for (size_t i = 0; i < session.file_count; i++) {
    free((char *)(uintptr_t)session.files[i].path);
    test_file_close(&session.files[i]);
  }
  free(session.files);
  free(session.done);
  free(session.options.tags);
  free(session.options.excluded);
}

cli_status cli_test(const cli_arguments *given) {
  size_t jobs;
  cli_status status = CLI_USAGE;
  pthread_mutex_init(&session.lock, NULL);
  session.terminal = isatty(STDERR_FILENO);
  if (read_options(given, &jobs)) {
    for (size_t i = 0; i < given->operand_count; i++)
      add_path(given->operands[i]);
    open_files();
    session.done = calloc(session.file_count + 1, sizeof *session.done);
    if (session.done)
      run_files(jobs < session.file_count ? jobs : session.file_count ? session.file_count : 1);
    else
      out_of_memory();
    status = print_summary();
  }
  close_files();
  return status;
}
