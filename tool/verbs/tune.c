// permc tune: measures how a program could be planned otherwise, and stores the best.
#include "tool/cli/program.h"
#include "tool/cli/progress.h"
#include "tool/verbs/verbs.h"

static cli_status tune_on_data(const cli_arguments *args, permc_context *c, const cli_data *data) {
  permc_tune_options options = {.dry_run = cli_is_given(args, "--dry-run"),
                                .forget = cli_is_given(args, "--forget")};
  const char *entry = cli_entry(args);
  permc_value **arguments = NULL;
  size_t count = 0;
  char *report = NULL;
  cli_status status = cli_use_options(args, c);
  if (status != CLI_OK)
    return status;
  cli_progress_work("tuning", "", 0, 0);
  bool good = cli_load(c, cli_operand(args, 0), cli_value(args, "-e")) &&
              cli_read_data(c, entry, data, &arguments, &count) &&
              cli_report(c, permc_tune(c, entry, cli_value(args, "--backend"), arguments, count,
                                       &options, &report));
  cli_progress_clear();
  if (good)
    fputs(report, stdout);
  free(report);
  permc_values_free(arguments, count);
  return good ? CLI_OK : CLI_WRONG;
}

cli_status verb_tune(const cli_arguments *args) {
  cli_data data = {.types = cli_value(args, "--arguments"), .seed = cli_number(args, "--seed", 1)};
  cli_sizes sizes;
  cli_status status = cli_read_sizes(args, 1, &sizes);
  const char **paths = cli_values(args, "-i", &data.path_count);
  permc_context *context = cli_context_new();
  data.paths = paths;
  data.sizes = sizes.first;
  data.size_count = sizes.count;
  if (status == CLI_OK)
    status = paths && context ? tune_on_data(args, context, &data) : CLI_WRONG;
  permc_context_free(context);
  free(paths);
  cli_sizes_free(&sizes);
  return status;
}
