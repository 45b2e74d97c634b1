// permc test: find the files, run their tests on several threads, report in the files' order.
#include "runtime/system/pool.h"
#include "tool/cli/program.h"
#include "tool/cli/progress.h"
#include "tool/testing/case.h"
#include "tool/verbs/verbs.h"

#include <pthread.h>

typedef struct test_session {
  test_options options;
  cli_files found;
  test_file *files;
  size_t file_count;
  bool wrong;  // a PATH that cannot be read

  pthread_mutex_t lock;  // of all below
  size_t next;           // file to start
  bool *done;            // per file
  size_t printed;        // files reported
  size_t total, finished;
} test_session;

// The one session: progress callbacks find it here.
static test_session session;

// ---- progress and reports --------------------------------------------------------------------

static void on_test(test_file *file) {
  (void)file;
  pthread_mutex_lock(&session.lock);
  cli_progress_work("testing", "tests", ++session.finished, session.total);
  pthread_mutex_unlock(&session.lock);
}

// Prints the reports of files that are done and have none before them that is not. Under the lock.
static void print_reports(void) {
  test_session *s = &session;
  for (; s->printed < s->file_count && s->done[s->printed]; s->printed++) {
    const test_file *file = &s->files[s->printed];
    if (!file->report.length && !file->report.failed)
      continue;
    cli_progress_clear();
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
  FREED pthread_t *threads = calloc(jobs, sizeof *threads);
  size_t started = 0;
  while (threads && started < jobs &&
         pthread_create(&threads[started], NULL, run_next_files, NULL) == 0)
    started++;
  if (started == 0)
    run_next_files(NULL);
  for (size_t i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
}

// ---- the verb --------------------------------------------------------------------------------

static cli_status read_options(const cli_arguments *args) {
  test_options *options = &session.options;
  cli_session probe;
  cli_status status = cli_begin(&probe, args);
  cli_close(&probe);
  if (status != CLI_OK)
    return status;
  options->args = args;
  options->backend = cli_value(args, "--backend");
  options->only = cli_value(args, "--only");
  options->tags = cli_values(args, "--tag", &options->tag_count);
  options->excluded = cli_values(args, "--exclude", &options->excluded_count);
  return CLI_OK;
}

static void report_out_of_memory(void) {
  cli_out_of_memory();
  session.wrong = true;
}

static void open_files(const cli_arguments *args) {
  session.wrong = !cli_find_programs(args, &session.found);
  session.files = calloc(session.found.count + 1, sizeof *session.files);
  if (!session.files) {
    report_out_of_memory();
    return;
  }
  session.file_count = session.found.count;
  for (size_t i = 0; i < session.file_count; i++) {
    test_file *file = &session.files[i];
    *file = (test_file){.path = session.found.items[i], .options = &session.options};
    test_file_open(file);
    file->progress = on_test;
    session.total += file->tests;
  }
}

// A file without tests may be no program, or one whose mistakes hide them.
static void load_files_without_tests(void) {
  for (size_t i = 0; i < session.file_count; i++) {
    const test_file *file = &session.files[i];
    if (file->tests || file->failed)
      continue;
    cli_session s;
    if (cli_open(&s, session.options.args, file->path) != CLI_OK ||
        (permc_entry_count(s.context) &&
         !cli_report(s.context, permc_check(s.context, NULL, NULL, 0))))
      session.wrong = true;
    cli_close(&s);
  }
}

static cli_status print_summary(void) {
  size_t passed = 0, failed = 0, skipped = 0;
  for (size_t i = 0; i < session.file_count; i++) {
    passed += session.files[i].passed;
    failed += session.files[i].failed;
    skipped += session.files[i].skipped;
  }
  bool filtered =
      session.options.only || session.options.tag_count || session.options.excluded_count;
  bool none = passed + failed + skipped == 0;
  if (!filtered)
    load_files_without_tests();
  if (none && !session.wrong)
    cli_error(filtered ? "no test matches --only, --tag and --exclude"
                       : "no tests found: a test is a line such as -- input { [3, 1] } output { "
                         "[1, 3] } below a line -- == in a file *.perm");
  if (skipped)
    printf("skipped: %zu test%s of C functions; --allow-extern runs them\n", skipped,
           skipped == 1 ? "" : "s");
  printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
  return failed || none || session.wrong ? CLI_WRONG : CLI_OK;
}

static void close_files(void) {
  for (size_t i = 0; i < session.file_count; i++)
    test_file_close(&session.files[i]);
  free(session.files);
  free(session.done);
}

cli_status verb_test(const cli_arguments *args) {
  size_t jobs = (size_t)cli_number(args, "--jobs", pool_processors());
  cli_status status = read_options(args);
  pthread_mutex_init(&session.lock, NULL);
  if (status == CLI_OK) {
    open_files(args);
    cli_progress_work("testing", "tests", 0, session.total);
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
