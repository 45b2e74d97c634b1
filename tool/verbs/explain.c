// permc explain: how a program will run at given sizes.
#include "fusion/target/target.h"
#include "tool/cli.h"

// ---- targets ---------------------------------------------------------------------------------

static void print_target(const target *t) {
  text fields = {0};
  for (size_t i = 0; i < target_field_count(); i++) {
    text_printf(&fields, "%s%s = ",
                i == 0  ? "  "
                : i % 4 ? ", "
                        : ",\n  ",
                target_field_at(i).name);
    target_print_field(&fields, t, i);
  }
  printf("%s\n%s\n\n", t->name, text_content(&fields));
  text_free(&fields);
}

static cli_status print_targets(void) {
  for (size_t i = 0; i < target_count(); i++)
    print_target(target_at(i));
  puts("A file can be given instead, with lines such as:\n"
       "  base = avx2            # what is not said below is as there\n"
       "  tile_bytes = 65536\n");
  for (size_t i = 0; i < target_field_count(); i++)
    printf("%-24s %s\n", target_field_at(i).name, target_field_at(i).summary);
  return CLI_OK;
}

// ---- what is asked for -----------------------------------------------------------------------

static const char *check_options(const cli_arguments *given) {
  static const char *const excluding[][2] = {{"--entry", "-e"},       {"--size", "--arguments"},
                                             {"--dump", "--json"},    {"--dump", "--rules"},
                                             {"--machine", "--dump"}, {"--machine", "--rules"}};
  if (given->operand_count == 0 && !cli_count(given, "-e"))
    return "FILE or -e EXPR is missing (see permc help explain)";
  for (size_t i = 0; i < sizeof excluding / sizeof *excluding; i++)
    if (cli_count(given, excluding[i][0]) && cli_count(given, excluding[i][1])) {
      static char message[80];
      snprintf(message, sizeof message, "%s and %s exclude each other", excluding[i][0],
               excluding[i][1]);
      return message;
    }
  return NULL;
}

static bool load(const cli_arguments *given, permc_context *context) {
  const char *expression = cli_value(given, "-e");
  if (given->operand_count && !cli_report(context, permc_load(context, given->operands[0])))
    return false;
  return !expression || cli_report(context, permc_define(context, expression));
}

static cli_status explain(const cli_arguments *given, const permc_size *sizes, size_t count) {
  permc_context *context = cli_context_new();
  const char *entry = cli_value(given, "--entry");
  permc_explain_options options = {.target = cli_value(given, "--target"),
                                   .types = cli_value(given, "--arguments"),
                                   .json = cli_count(given, "--json") > 0,
                                   .rules = cli_count(given, "--rules") > 0,
                                   .dump = cli_value(given, "--dump"),
                                   .machine = cli_count(given, "--machine") > 0};
  char *out = NULL;
  if (!context) {
    cli_error("out of memory");
    return CLI_WRONG;
  }
  if (!cli_use_planning(given, context)) {
    permc_context_free(context);
    return CLI_USAGE;
  }
  if (!entry)
    entry = cli_count(given, "-e") ? "-e" : "main";
  bool good = load(given, context) &&
              cli_report(context, permc_explain(context, entry, sizes, count, &options, &out));
  if (good)
    fputs(out, stdout);
  free(out);
  permc_context_free(context);
  return good ? CLI_OK : CLI_WRONG;
}

// ---- the verb --------------------------------------------------------------------------------

cli_status cli_explain(const cli_arguments *given) {
  const char *name = cli_value(given, "--target");
  if (name && !strcmp(name, "help"))
    return print_targets();
  const char *wrong = check_options(given);
  if (wrong)
    return cli_usage_error("explain: %s", wrong);
  size_t count;
  permc_size *sizes = NULL;
  cli_status status = cli_sizes(given, &sizes, &count);
  if (status == CLI_OK)
    status = explain(given, sizes, count);
  cli_sizes_free(sizes, count);
  return status;
}
