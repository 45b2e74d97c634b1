// permc fmt: rewrite programs in the canonical layout, in place and atomically.
#include "runtime/values/value.h"
#include "tool/cli.h"

typedef enum fmt_result { FMT_SAME, FMT_DIFFERENT, FMT_FAILED } fmt_result;

static bool write_text(const char *path, const char *content) {
  value_error error = {""};
  output_file *to = output_open(path, &error);
  bool ok = to != NULL;
  if (ok) {
    fputs(content, output_stream(to));  // commit reports a failed write
    ok = output_commit(to, &error);
  }
  if (!ok)
    cli_error("%s", error.message);
  return ok;
}

static fmt_result format_file(permc_context *context, const char *path, bool check) {
  const char *why = "", *name = strcmp(path, "-") == 0 ? "standard input" : path;
  size_t length;
  char *before = cli_read_file(path, &length, &why);
  if (!before) {
    cli_error("%s: %s", name, why);
    return FMT_FAILED;
  }
  char *after = permc_format(context, name, before, length);
  cli_report(context, after != NULL);
  fmt_result result = FMT_FAILED;
  if (after) {
    bool same = strlen(after) == length && memcmp(after, before, length) == 0;
    bool write = !check && (!same || strcmp(path, "-") == 0);
    result = write && !write_text(path, after) ? FMT_FAILED : same ? FMT_SAME : FMT_DIFFERENT;
  }
  free(before);
  free(after);
  return result;
}

cli_status cli_fmt(const cli_arguments *given) {
  bool check = cli_count(given, "--check") > 0;
  cli_status status = CLI_OK;
  permc_context *context = cli_context_new();
  if (!context) {
    cli_error("out of memory");
    return CLI_WRONG;
  }
  for (size_t i = 0; i < given->operand_count; i++) {
    fmt_result result = format_file(context, given->operands[i], check);
    if (check && result == FMT_DIFFERENT)
      puts(given->operands[i]);
    if (result == FMT_FAILED || (check && result == FMT_DIFFERENT))
      status = CLI_WRONG;
  }
  permc_context_free(context);
  return status;
}
