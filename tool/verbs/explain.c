// permc explain: how a program will run at given sizes.
#include "fusion/target/target.h"
#include "tool/cli/program.h"
#include "tool/verbs/verbs.h"

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

void print_targets(void) {
  for (size_t i = 0; i < target_count(); i++)
    print_target(target_at(i));
  puts("A file can be given instead, with lines such as:\n"
       "  base = avx2            # what is not said below is as there\n"
       "  tile_bytes = 65536\n");
  for (size_t i = 0; i < target_field_count(); i++)
    printf("%-24s %s\n", target_field_at(i).name, target_field_at(i).summary);
}

static cli_status explain_at_sizes(const cli_arguments *args, const cli_sizes *sizes) {
  permc_context *context = cli_context_new();
  permc_explain_options options = {.target = cli_value(args, "--target"),
                                   .types = cli_value(args, "--arguments"),
                                   .json = cli_is_given(args, "--json"),
                                   .rules = cli_is_given(args, "--rules"),
                                   .dump = cli_value(args, "--dump"),
                                   .machine = cli_is_given(args, "--machine")};
  char *out = NULL;
  if (!context)
    return CLI_WRONG;
  cli_status status = cli_use_options(args, context);
  if (status == CLI_OK &&
      !(cli_load(context, cli_operand(args, 0), cli_value(args, "-e")) &&
        cli_report(context, permc_explain(context, cli_entry(args), sizes->first, sizes->count,
                                          &options, &out))))
    status = CLI_WRONG;
  if (status == CLI_OK)
    fputs(out, stdout);
  free(out);
  permc_context_free(context);
  return status;
}

cli_status verb_explain(const cli_arguments *args) {
  cli_sizes sizes;
  cli_status status = cli_read_sizes(args, 1, &sizes);
  if (status == CLI_OK)
    status = explain_at_sizes(args, &sizes);
  cli_sizes_free(&sizes);
  return status;
}
