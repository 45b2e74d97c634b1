// permc test: find the files, run their tests on several threads, report in the files' order.
#include "runtime/measure/measure.h"
#include "runtime/system/pool.h"
#include "tool/cli/program.h"
#include "tool/testing/case.h"
#include "tool/verbs/verbs.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
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

static void report_out_of_memory(void) {
  cli_out_of_memory();
  session.wrong = true;
}

static void report_unreadable(const char *path) {
  cli_error("%s: %s", path, strerror(errno));
  session.wrong = true;
}

static void add_file(const char *path) {
  test_session *s = &session;
  if (s->file_count == s->file_capacity) {
    size_t capacity = s->file_capacity ? 2 * s->file_capacity : 64;
    test_file *grown = realloc(s->files, capacity * sizeof *grown);
    if (!grown) {
      report_out_of_memory();
      return;
    }
    s->files = grown;
    s->file_capacity = capacity;
  }
  char *copy = strdup(path);
  if (copy)
    s->files[s->file_count++] = (test_file){.path = copy, .options = &s->options};
  else
    report_out_of_memory();
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int by_bytes(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

// Programs below a directory, in the order of their names. Directories that are symbolic links are
// not entered: they could lead back.
static void add_directory(const char *path) {
  struct dirent **entries;
  int count = scandir(path, &entries, is_visible, by_bytes);
  if (count < 0) {
    report_unreadable(path);
    return;
  }
  for (int i = 0; i < count; i++) {
    text child = {0};
    struct stat status;
    size_t length = strlen(path);
    text_printf(&child, "%s%s%s", path, length && path[length - 1] == '/' ? "" : "/",
                entries[i]->d_name);
    if (child.failed)
      report_out_of_memory();
    else if (lstat(child.data, &status) == 0 && S_ISDIR(status.st_mode))
      add_directory(child.data);
    else if (cli_ends_with(entries[i]->d_name, ".perm"))
      add_file(child.data);
    text_free(&child);
    free(entries[i]);
  }
  free(entries);
}

static void add_path(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0)
    report_unreadable(path);
  else if (S_ISDIR(status.st_mode))
    add_directory(path);
  else
    add_file(path);
}

// ---- progress and reports --------------------------------------------------------------------

static void erase_progress(void) {
  if (session.terminal)
    fputs("\r\033[K", stderr);
}

static void show_progress(const char *path) {
  double now = bench_now();
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
      puts("permc: out of memory: the report above is incomplete");
    fflush(stdout);
  }
}

// ---- threads ---------------------------------------------------------------------------------

static void *run_next_files(void *unused) {
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
  while (threads && started < jobs &&
         pthread_create(&threads[started], NULL, run_next_files, NULL) == 0)
    started++;
  if (started == 0)
    run_next_files(NULL);
  for (size_t i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
  free(threads);
  erase_progress();
}

// ---- the verb --------------------------------------------------------------------------------

static cli_status read_options(const cli_arguments *args) {
  test_options *options = &session.options;
  permc_context *probe = cli_context_new();
  cli_status status = probe ? cli_use_options(args, probe) : CLI_WRONG;
  permc_context_free(probe);
  options->args = args;
  options->backend = cli_value(args, "--backend");
  options->only = cli_value(args, "--only");
  options->tags = cli_values(args, "--tag", &options->tag_count);
  options->excluded = cli_values(args, "--exclude", &options->excluded_count);
  return status == CLI_OK && !(options->tags && options->excluded) ? CLI_WRONG : status;
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
    cli_error(filtered ? "no test matches --only, --tag and --exclude" : "no tests found");
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

cli_status verb_test(const cli_arguments *args) {
  size_t jobs = (size_t)cli_number(args, "--jobs", pool_processors());
  cli_status status = read_options(args);
  pthread_mutex_init(&session.lock, NULL);
  session.terminal = isatty(STDERR_FILENO);
  if (status == CLI_OK) {
    for (size_t i = 0; i < args->operand_count; i++)
      add_path(args->operands[i]);
    open_files();
    session.done = calloc(session.file_count + 1, sizeof *session.done);
    if (session.done)
      run_files(jobs < session.file_count ? jobs : session.file_count ? session.file_count : 1);
    else
      report_out_of_memory();
    status = print_summary();
  }
  close_files();
  return status;
}
