// permc draw: a picture of a program at given sizes.
#include "tool/cli/program.h"
#include "tool/verbs/verbs.h"

// NULL: reported.
static char *make_picture(const cli_arguments *args, permc_context *c, const cli_sizes *sizes,
                          permc_explain_options *options) {
  const char *what = cli_value(args, "--what"), *path = cli_value(args, "-o");
  char name[32], *out = NULL;
  snprintf(name, sizeof name, "%s%s", what ? what : "picture",
           path && cli_ends_with(path, ".svg") ? ".svg" : "");
  options->dump = name;
  cli_report(c, permc_explain(c, cli_entry(args), sizes->first, sizes->count, options, &out));
  return out;
}

static cli_status write_picture(const cli_arguments *args, char *picture) {
  text all = {.data = picture, .length = strlen(picture)};
  const char *path = cli_value(args, "-o");
  if (!path)
    return cli_print_text(&all);
  bool written = cli_write_file(path, &all);
  text_free(&all);
  return written ? CLI_OK : CLI_WRONG;
}

static cli_status draw_at_sizes(const cli_arguments *args, const cli_sizes *sizes) {
  permc_context *c = cli_context_new();
  permc_explain_options options = {.target = cli_value(args, "--target"),
                                   .types = cli_value(args, "--arguments")};
  permc_value **arguments = NULL;
  char *picture = NULL;
  if (!c)
    return CLI_WRONG;
  cli_status status = cli_use_options(args, c);
  if (status == CLI_OK) {
    if (cli_load(c, cli_operand(args, 0), cli_value(args, "-e")) &&
        cli_read_given(c, args, &arguments, &options.argument_count)) {
      options.arguments = arguments;
      picture = make_picture(args, c, sizes, &options);
    }
    permc_values_free(arguments, options.argument_count);
    status = picture ? write_picture(args, picture) : CLI_WRONG;
  }
  permc_context_free(c);
  return status;
}

cli_status verb_draw(const cli_arguments *args) {
  const char *path = cli_value(args, "-o");
  if (path && !cli_check_picture(path, true))
    return CLI_WRONG;
  cli_sizes sizes;
  cli_status status = cli_read_sizes(args, 1, &sizes);
  if (status == CLI_OK)
    status = draw_at_sizes(args, &sizes);
  cli_sizes_free(&sizes);
  return status;
}
