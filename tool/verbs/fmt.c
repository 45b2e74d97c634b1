// permc fmt: rewrites programs in the canonical layout, in place and atomically.
#include "tool/cli/program.h"
#include "tool/verbs/verbs.h"

typedef enum fmt_result { FMT_SAME, FMT_DIFFERENT, FMT_FAILED } fmt_result;

static fmt_result format_file(permc_context *context, const char *path, bool check) {
  bool is_stdin = strcmp(path, "-") == 0;
  const char *why = "", *name = is_stdin ? "standard input" : path;
  size_t length;
  FREED char *before = cli_read_file(path, CLI_LARGEST_PROGRAM, &length, &why);
  if (!before) {
    cli_error("%s: %s", name, why);
    return FMT_FAILED;
  }
  FREED char *after = permc_format(context, name, before, length);
  if (after || !cli_refuse_data(path))
    cli_report(context, after != NULL);
  fmt_result result = FMT_FAILED;
  if (after) {
    text content = {.data = after, .length = strlen(after)};
    bool same = content.length == length && memcmp(after, before, length) == 0;
    bool write = !check && (!same || is_stdin);
    result = write && !cli_write_file(path, &content) ? FMT_FAILED
             : same                                   ? FMT_SAME
                                                      : FMT_DIFFERENT;
  }
  return result;
}

cli_status verb_fmt(const cli_arguments *args) {
  bool check = cli_is_given(args, "--check");
  cli_status status = CLI_OK;
  permc_context *context = cli_context_new();
  if (!context)
    return CLI_WRONG;
  cli_files files = {0};
  if (!cli_find_programs(args, &files))
    status = CLI_WRONG;
  for (size_t i = 0; i < files.count; i++) {
    fmt_result result = format_file(context, files.items[i], check);
    if (check && result == FMT_DIFFERENT)
      puts(files.items[i]);
    if (result == FMT_FAILED || (check && result == FMT_DIFFERENT))
      status = CLI_WRONG;
  }
  permc_context_free(context);
  return status;
}
