#include "tool/reports/plan.h"

bool cli_is_program(const char *word) {
  size_t length = strlen(word);
  return length > 5 && !strcmp(word + length - 5, ".perm");
}

static bool load(permc_context *c, const char *file, const char *expression) {
  if (file && !cli_report(c, permc_load(c, file)))
    return false;
  return !expression || cli_report(c, permc_define(c, expression));
}

// The printed plan; NULL: reported.
static char *print_plan(const cli_arguments *given, permc_context *c, const char *entry,
                        cli_status *status) {
  permc_explain_options options = {
      .target = "gpu", .types = cli_value(given, "--arguments"), .dump = "plan"};
  permc_size *sizes = NULL;
  size_t count = 0;
  char *out = NULL;
  *status = cli_sizes(given, &sizes, &count);
  if (*status == CLI_OK && !cli_report(c, permc_explain(c, entry, sizes, count, &options, &out)))
    *status = CLI_WRONG;
  cli_sizes_free(sizes, count);
  return out;
}

const plan *cli_gpu_plan(arena *a, const cli_arguments *given, const char *file, const char **title,
                         cli_status *status) {
  const char *expression = cli_value(given, "-e"), *entry = cli_value(given, "--entry"), *wrong;
  permc_context *c = cli_context_new();
  char *printed = NULL;
  if (!entry)
    entry = expression ? "-e" : "main";
  *title = strcmp(entry, "-e") ? entry : expression;
  *status = CLI_WRONG;
  if (!c)
    cli_error("out of memory");
  else if (!cli_use_planning(given, c))
    *status = CLI_USAGE;
  else if (load(c, file, expression))
    printed = print_plan(given, c, entry, status);
  permc_context_free(c);
  const plan *p = printed ? plan_read(a, printed, &wrong) : NULL;
  if (printed && !p) {
    cli_error("the plan cannot be read back (please report this): %s", wrong);
    *status = CLI_WRONG;
  }
  free(printed);
  return p;
}
