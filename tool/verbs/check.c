// permc check: loads each file and elaborates its entry points.
#include "tool/cli/program.h"
#include "tool/verbs/verbs.h"

static bool check_file(const cli_arguments *args, const char *path, const cli_sizes *sizes) {
  permc_context *context = cli_context_new();
  if (!context)
    return false;
  bool good = cli_load(context, path, NULL);
  double loaded = permc_last_times(context).load;
  good = good && cli_report(context, permc_check(context, NULL, sizes->first, sizes->count));
  if (cli_is_given(args, "--time")) {
    const char *file = args->operand_count > 1 ? path : NULL;
    cli_print_time(file, "load", loaded);
    cli_print_time(file, "elaborate", permc_last_times(context).elaborate);
  }
  permc_context_free(context);
  return good;
}

cli_status verb_check(const cli_arguments *args) {
  cli_sizes sizes;
  cli_status status = cli_read_sizes(args, 1, &sizes);
  bool read = status == CLI_OK;
  for (size_t i = 0; read && i < args->operand_count; i++)
    if (!check_file(args, args->operands[i], &sizes))
      status = CLI_WRONG;
  cli_sizes_free(&sizes);
  return status;
}
