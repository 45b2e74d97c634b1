// permc check: load each file and elaborate its entry points.
#include "runtime/cli.h"

// "n=30". The name is the caller's to free.
static bool parse_size(const char *given, permc_size *size) {
  const char *equals = strchr(given, '=');
  uint64_t value = 0;
  if (!equals || equals == given || !cli_number(equals + 1, &value) || value > INT64_MAX) {
    cli_usage_error("check: --size is NAME=SIZE, such as n=30, not '%s'", given);
    return false;
  }
  *size = (permc_size){strndup(given, (size_t)(equals - given)), (int64_t)value};
  return size->name != NULL;
}

static bool parse_sizes(const char **given, size_t count, permc_size *sizes) {
  for (size_t i = 0; i < count; i++)
    if (!parse_size(given[i], &sizes[i]))
      return false;
  return true;
}

static bool check_file(const cli_arguments *given, const char *path, const permc_size *sizes,
                       size_t count) {
  permc_context *context = permc_context_new();
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
  const char **texts = cli_values(given, "--size", &count);
  permc_size *sizes = calloc(count + 1, sizeof *sizes);
  cli_status status = CLI_USAGE;
  if (!texts || !sizes)
    status = CLI_WRONG;
  else if (parse_sizes(texts, count, sizes))
    status = check_files(given, sizes, count);
  for (size_t i = 0; sizes && i < count; i++)
    free((char *)sizes[i].name);
  free(texts);
  free(sizes);
  return status;
}
