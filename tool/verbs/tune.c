// permc tune: measures how a program could be planned otherwise, and stores the best.
#include "tool/cli/program.h"
#include "tool/cli/progress.h"
#include "tool/verbs/verbs.h"

static bool tune(cli_session *s, void *with) {
  (void)with;
  cli_data data = {.types = cli_value(s->args, "--arguments"),
                   .sizes = s->sizes.first,
                   .size_count = s->sizes.count,
                   .seed = cli_number(s->args, "--seed", 1)};
  data.paths = cli_values(s->args, "-i", &data.path_count);
  permc_tune_options options = {.dry_run = cli_is_given(s->args, "--dry-run"),
                                .forget = cli_is_given(s->args, "--forget")};
  FREED char *report = NULL;
  cli_progress_work("tuning", "", 0, 0);
  bool good =
      cli_read_data(s->context, s->entry, &data, &s->arguments, &s->argument_count) &&
      cli_report(s->context, permc_tune(s->context, s->entry, cli_value(s->args, "--backend"),
                                        s->arguments, s->argument_count, &options, &report));
  cli_progress_clear();
  if (good)
    fputs(report, stdout);
  return good;
}

cli_status verb_tune(const cli_arguments *args) { return cli_with_program(args, tune, NULL); }
