// See io.h.
#include "tool/cli/io.h"
#include "runtime/values/value.h"
#include "tool/cli/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <unistd.h>

// ---- messages --------------------------------------------------------------------------------

static text kept;
static bool keeping;

void cli_keep_messages(void) { keeping = true; }
const char *cli_kept_messages(void) { return text_content(&kept); }

static void print_message(const char *message) {
  if (keeping)
    text_string(&kept, message);
  if (!keeping || kept.failed)
    fputs(message, stderr);
}

void cli_name_kept(unsigned rank) {
  const char *own = text_content(&kept);
  text named = {0};
  text_printf(&named, "permc: rank %u: %s", rank, diag_unprefixed(own));
  if (*own && !named.failed) {
    text_free(&kept);
    kept = named;
  } else {
    text_free(&named);
  }
}

void cli_end_keeping(bool show) {
  keeping = false;
  if (show)
    print_message(text_content(&kept));
  text_free(&kept);
}

static void (*report_elsewhere)(const permc_context *context, const char *words);

void cli_report_by(void (*report)(const permc_context *context, const char *words)) {
  report_elsewhere = report;
}

static void print_error(const char *format, va_list arguments) {
  cli_progress_clear();
  FREED_BY(text_free) text message = {0};
  text_message(&message, format, arguments);
  print_message("permc: ");
  print_message(message.failed ? "out of memory" : text_content(&message));
  print_message("\n");
}

cli_status cli_error(const char *format, ...) {
  FREED_BY(text_free) text words = {0};
  WITH_ARGUMENTS(format, report_elsewhere ? text_message(&words, format, arguments)
                                          : print_error(format, arguments));
  if (report_elsewhere)
    report_elsewhere(NULL, text_content(&words));
  return CLI_WRONG;
}

cli_status cli_usage_error(const char *format, ...) {
  WITH_ARGUMENTS(format, print_error(format, arguments));
  return CLI_USAGE;
}

cli_status cli_out_of_memory(void) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&said))
    cli_error("out of memory");
  return CLI_WRONG;
}

bool cli_report(const permc_context *context, bool good) {
  const char *message = permc_message(context);
  cli_progress_clear();
  if (*message && report_elsewhere)
    report_elsewhere(context, message);
  else if (*message)
    print_message(message);
  else if (!good)
    cli_error("failed without a message (please report this)");
  return good;
}

static bool quiet;

void cli_be_quiet(void) { quiet = true; }

bool cli_report_reading(const permc_context *context, bool good) {
  return (good && quiet) || cli_report(context, good);
}

void cli_print_time(const char *file, const char *stage, double seconds) {
  fprintf(stderr, "permc: %s%s%-9s %.6f s\n", file ? file : "", file ? ": " : "", stage, seconds);
}

// ---- files -----------------------------------------------------------------------------------

char *cli_read_file(const char *path, size_t most, size_t *length, const char **why) {
  bool is_stdin = strcmp(path, "-") == 0;
  FILE *from = is_stdin ? stdin : fopen(path, "rb");
  *length = 0;
  if (!from) {
    *why = strerror(errno);
    return NULL;
  }
  text all = {0};
  char buffer[65536];
  size_t count;
  errno = 0;
  while (all.length <= most && (count = fread(buffer, 1, sizeof buffer, from)) > 0 && !all.failed)
    text_add(&all, buffer, count);
  int failure = all.failed          ? ENOMEM
                : all.length > most ? EFBIG
                : ferror(from)      ? (errno ? errno : EIO)
                                    : 0;
  text_add(&all, "", 0);
  if (!is_stdin)
    fclose(from);
  if (failure) {
    *why = failure == EFBIG ? "it is larger than 64 MiB" : error_of_reading(failure);
    text_free(&all);
    return NULL;
  }
  *length = all.length;
  return all.data;
}

bool cli_write_file(const char *path, const text *content) {
  error e = {0};
  if (content->failed)
    return cli_out_of_memory() == CLI_OK;
  output_file *to = output_open(path, &e);
  if (to) {
    fwrite(text_content(content), 1, content->length, output_stream(to));
    output_sync(to);
    if (output_commit(to, &e))  // reports a failed write
      return true;
  }
  cli_error("%s", e.message);
  return false;
}

// What is left must not fail, and be reported, a second time.
static void drop_stdout(void) {
  __fpurge(stdout);
  clearerr(stdout);
}

cli_status cli_print_text(text *content) {
  bool failed = content->failed, printed = true;
  errno = 0;
  if (!failed)
    printed = fwrite(text_content(content), 1, content->length, stdout) == content->length;
  int reason = errno;
  text_free(content);
  if (!printed && reason != EPIPE) {
    cli_error("standard output: %s", strerror(reason ? reason : EIO));
    drop_stdout();
  }
  return failed ? cli_out_of_memory() : printed ? CLI_OK : CLI_WRONG;
}

bool cli_check_output(const char *path) {
  error e;
  bool good = output_check(path, &e);
  if (!good)
    cli_error("%s", e.message);
  return good;
}

bool cli_check_picture(const char *path, bool as_text) {
  const char *folder = strrchr(path, '/'), *ending = strrchr(folder ? folder : path, '.');
  if (!ending || !strcmp(ending, ".svg") || (as_text && !strcmp(ending, ".txt")))
    return cli_check_output(path);
  cli_error("%s: a picture is written as SVG%s: give it a name that ends in .svg%s", path,
            as_text ? " or as text" : "", as_text ? " or .txt" : "");
  return false;
}

// Standard output is a pipe that nobody reads any more.
static bool reader_is_gone;

bool cli_print_value(const permc_value *v, bool whole) {
  error e = {0};
  output_file *to = reader_is_gone ? NULL : output_open("-", &e);
  cli_progress_clear();
  if (to) {
    whole = whole || !isatty(STDOUT_FILENO);
    value_write(output_stream(to), whole ? FORMAT_TEXT : FORMAT_SUMMARY, v, &e);
    if (output_commit(to, &e))  // reports a failed write
      return true;
    reader_is_gone = errno == EPIPE;
  }
  if (!reader_is_gone)
    cli_error("%s", e.message);
  return reader_is_gone;
}

bool cli_flush_stdout(void) {
  bool failed = ferror(stdout) != 0;
  errno = 0;
  if (fflush(stdout) != 0)
    failed = true;
  if (!failed && !reader_is_gone)
    return true;
  if (reader_is_gone || errno == EPIPE) {
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  cli_error("standard output: %s", errno ? strerror(errno) : "cannot write");
  drop_stdout();
  return false;
}
