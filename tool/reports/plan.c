// See plan.h.
#include "tool/reports/plan.h"

// The printed plan; NULL: reported.
static char *print_plan(const cli_arguments *args, permc_context *c, const char *file,
                        cli_status *status) {
  permc_explain_options options = {
      .target = "gpu", .types = cli_value(args, "--arguments"), .dump = "plan"};
  cli_sizes sizes;
  char *out = NULL;
  *status = cli_read_sizes(args, 1, &sizes);
  if (*status == CLI_OK)
    *status = cli_use_options(args, c);
  if (*status == CLI_OK &&
      !(cli_load(c, file, cli_value(args, "-e")) &&
        cli_report(c, permc_explain(c, cli_entry(args), sizes.first, sizes.count, &options, &out))))
    *status = CLI_WRONG;
  cli_sizes_free(&sizes);
  return out;
}

const plan *cli_gpu_plan(arena *a, const cli_arguments *args, const char *file, const char **title,
                         cli_status *status) {
  const char *entry = cli_entry(args), *wrong;
  permc_context *c = cli_context_new();
  *title = strcmp(entry, "-e") ? entry : cli_value(args, "-e");
  *status = CLI_WRONG;
  char *printed = c ? print_plan(args, c, file, status) : NULL;
  permc_context_free(c);
  const plan *p = printed ? plan_read(a, printed, &wrong) : NULL;
  if (printed && !p) {
    cli_error("the plan cannot be read back (please report this): %s", wrong);
    *status = CLI_WRONG;
  }
  free(printed);
  return p;
}
