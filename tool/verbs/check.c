// permc check: loads each file and elaborates its entry points, or one for given arguments.
#include "tool/cli/program.h"
#include "tool/verbs/verbs.h"

// For the arguments of -i or --arguments.
static bool check_arguments(const cli_arguments *args, permc_context *c) {
  permc_value **values;
  size_t count;
  if (!cli_read_given(c, args, &values, &count))
    return false;
  const char *types = cli_value(args, "--arguments");
  bool good = cli_report(c, permc_check_arguments(c, cli_entry(args), types, values, count));
  permc_values_free(values, count);
  return good;
}

// `path` may be NULL: an expression alone.
static cli_status check_file(const cli_arguments *args, const char *path, const cli_sizes *sizes,
                             bool several) {
  const char *expression = cli_value(args, "-e");
  const char *entry = expression ? "-e" : cli_value(args, "--entry");  // NULL: all
  permc_context *context = cli_context_new();
  if (!context)
    return CLI_WRONG;
  cli_status status = cli_use_options(args, context);
  bool good = status == CLI_OK && cli_load(context, path, expression);
  double loaded = permc_last_times(context).load;
  if (good && (cli_is_given(args, "-i") || cli_is_given(args, "--arguments")))
    good = check_arguments(args, context);
  else if (good)
    good = cli_report(context, permc_check(context, entry, sizes->first, sizes->count));
  if (cli_is_given(args, "--time")) {
    const char *file = several ? path : NULL;
    cli_print_time(file, "load", loaded);
    cli_print_time(file, "elaborate", permc_last_times(context).elaborate);
  }
  permc_context_free(context);
  return status == CLI_OK && !good ? CLI_WRONG : status;
}

cli_status verb_check(const cli_arguments *args) {
  cli_sizes sizes;
  cli_status status = cli_read_sizes(args, 1, &sizes);
  cli_files files;
  if (!cli_find_programs(args, &files) && status == CLI_OK)
    status = CLI_WRONG;
  bool alone = !args->operand_count;
  for (size_t i = 0; status != CLI_USAGE && i < files.count + alone; i++) {
    const char *path = alone ? NULL : files.paths[i];
    cli_status one = check_file(args, path, &sizes, files.count > 1);
    status = one == CLI_OK ? status : one;
  }
  cli_files_free(&files);
  cli_sizes_free(&sizes);
  return status;
}
