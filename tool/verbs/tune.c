// permc tune: measures how a program could be planned otherwise, and stores the best.
#include "tool/cli.h"

typedef struct tune_state {
  const cli_arguments *given;
  permc_context *context;
  const char *entry;
  permc_value **arguments;
  size_t argument_count;
  uint64_t seed;
} tune_state;

static const char *wrong_options(const cli_arguments *given) {
  static const char *const excluding[][2] = {{"--entry", "-e"},
                                             {"--size", "--arguments"},
                                             {"--size", "-i"},
                                             {"--arguments", "-i"},
                                             {"--dry-run", "--forget"}};
  static char message[80];
  if (given->operand_count == 0 && !cli_count(given, "-e"))
    return "FILE or -e EXPR is missing (see permc help tune)";
  for (size_t i = 0; i < sizeof excluding / sizeof *excluding; i++)
    if (cli_count(given, excluding[i][0]) && cli_count(given, excluding[i][1])) {
      snprintf(message, sizeof message, "%s and %s exclude each other", excluding[i][0],
               excluding[i][1]);
      return message;
    }
  return NULL;
}

static bool load(const tune_state *s) {
  const char *expression = cli_value(s->given, "-e");
  permc_context *c = s->context;
  permc_allow_extern(c, cli_count(s->given, "--allow-extern") > 0);
  return (!s->given->operand_count || cli_report(c, permc_load(c, s->given->operands[0]))) &&
         (!expression || cli_report(c, permc_define(c, expression)));
}

// *status is left as it is unless the command line is wrong.
static bool read_arguments(tune_state *s, cli_status *status) {
  permc_context *c = s->context;
  const char *types = cli_value(s->given, "--arguments");
  permc_value ***to = &s->arguments;
  size_t *count = &s->argument_count, path_count = 0, size_count = 0;
  const char **paths = cli_values(s->given, "-i", &path_count);
  permc_size *sizes = NULL;
  bool good = paths != NULL;
  if (good && !types && !path_count) {
    cli_status of_sizes = cli_sizes(s->given, &sizes, &size_count);
    good = of_sizes == CLI_OK;
    *status = good ? *status : of_sizes;
  }
  if (good && types)
    good = cli_report(c, permc_read_random(c, s->entry, types, s->seed, to, count));
  else if (good && path_count)
    good = cli_report(c, permc_read_files(c, s->entry, paths, path_count, to, count));
  else if (good)
    good = cli_report(c, permc_read_random_at(c, s->entry, sizes, size_count, s->seed, to, count));
  cli_sizes_free(sizes, size_count);
  free(paths);
  return good;
}

static cli_status tune(tune_state *s) {
  cli_status status = CLI_WRONG;
  permc_tune_options options = {.dry_run = cli_count(s->given, "--dry-run") > 0,
                                .forget = cli_count(s->given, "--forget") > 0};
  char *report = NULL;
  if (!cli_use_cpu_options(s->given, s->context))
    return CLI_USAGE;
  if (!load(s) || !read_arguments(s, &status))
    return status;
  bool good =
      cli_report(s->context, permc_tune(s->context, s->entry, cli_value(s->given, "--backend"),
                                        s->arguments, s->argument_count, &options, &report));
  if (good)
    fputs(report, stdout);
  free(report);
  return good ? CLI_OK : CLI_WRONG;
}

cli_status cli_tune(const cli_arguments *given) {
  tune_state s = {.given = given, .entry = cli_value(given, "--entry"), .seed = 1};
  const char *wrong = wrong_options(given), *seed = cli_value(given, "--seed");
  if (wrong)
    return cli_usage_error("tune: %s", wrong);
  if (seed && !cli_number(seed, &s.seed))
    return cli_usage_error("tune: --seed is not a number from 0 to 2^64-1: '%s'", seed);
  if (!s.entry)
    s.entry = cli_count(given, "-e") ? "-e" : "main";
  s.context = cli_context_new();
  if (!s.context) {
    cli_error("out of memory");
    return CLI_WRONG;
  }
  cli_status status = tune(&s);
  permc_values_free(s.arguments, s.argument_count);
  permc_context_free(s.context);
  return status;
}
