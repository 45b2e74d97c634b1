// See io.h.
#include "tool/cli/io.h"
#include "runtime/values/value.h"

#include <errno.h>
#include <stdio_ext.h>

// ---- messages --------------------------------------------------------------------------------

static void print_error(const char *format, va_list arguments) {
  flockfile(stderr);
  fputs("permc: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  funlockfile(stderr);
}

void cli_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_error(format, arguments);
  va_end(arguments);
}

cli_status cli_usage_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_error(format, arguments);
  va_end(arguments);
  return CLI_USAGE;
}

cli_status cli_out_of_memory(void) {
  cli_error("out of memory");
  return CLI_WRONG;
}

bool cli_report(const permc_context *context, bool good) {
  const char *message = permc_message(context);
  if (*message)
    fputs(message, stderr);
  else if (!good)
    cli_error("failed without a message (please report this)");
  return good;
}

void cli_print_time(const char *file, const char *stage, double seconds) {
  fprintf(stderr, "permc: %s%s%-9s %.6f s\n", file ? file : "", file ? ": " : "", stage, seconds);
}

// ---- files -----------------------------------------------------------------------------------

char *cli_read_file(const char *path, size_t *length, const char **why) {
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
  while ((count = fread(buffer, 1, sizeof buffer, from)) > 0 && !all.failed)
    text_add(&all, buffer, count);
  int failure = all.failed ? ENOMEM : ferror(from) ? (errno ? errno : EIO) : 0;
  text_add(&all, "", 0);
  if (!is_stdin)
    fclose(from);
  if (failure) {
    *why = strerror(failure);
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
    if (output_commit(to, &e))  // reports a failed write
      return true;
  }
  cli_error("%s", e.message);
  return false;
}

cli_status cli_print_text(text *content) {
  bool failed = content->failed;
  if (!failed)
    fwrite(text_content(content), 1, content->length, stdout);
  text_free(content);
  return failed ? cli_out_of_memory() : CLI_OK;
}

bool cli_flush_stdout(void) {
  bool failed = ferror(stdout) != 0;
  errno = 0;
  if (fflush(stdout) != 0)
    failed = true;
  if (!failed)
    return true;
  cli_error("standard output: %s", errno ? strerror(errno) : "cannot write");
  __fpurge(stdout);  // what is left must not fail, and be reported, a second time
  clearerr(stdout);
  return false;
}
