// permc check: load each file and elaborate its entry points.
#include "tool/cli.h"

static bool check_file(const cli_arguments *given, const char *path, const permc_size *sizes,
                       size_t count) {
  permc_context *context = cli_context_new();
  if (!context) {
    cli_error("out of memory");
    return false;
  }
  bool ok = cli_report(context, permc_load(context, path));
  double loaded = permc_last_times(context).load;
  ok = ok && cli_report(context, permc_check(context, NULL, sizes, count));
  if (cli_count(given, "--time")) {
    const char *of = given->operand_count > 1 ? path : NULL;
    cli_print_time(of, "load", loaded);
    cli_print_time(of, "elaborate", permc_last_times(context).elaborate);
  }
  permc_context_free(context);
  return ok;
}

static cli_status check_files(const cli_arguments *given, const permc_size *sizes, size_t count) {
  bool ok = true;
  for (size_t i = 0; i < given->operand_count; i++)
    ok = check_file(given, given->operands[i], sizes, count) && ok;
  return ok ? CLI_OK : CLI_WRONG;
}

cli_status cli_check(const cli_arguments *given) {
  size_t count;
  permc_size *sizes;
  cli_status status = cli_sizes(given, &sizes, &count);
  if (status == CLI_OK)
    status = check_files(given, sizes, count);
  cli_sizes_free(sizes, count);
  return status;
}
