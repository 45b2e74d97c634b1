// permc check: loads each file and elaborates its entry points, or one for given arguments.
#include "runtime/context/context.h"
#include "tool/cli/program.h"
#include "tool/reports/json.h"
#include "tool/reports/messages.h"
#include "tool/verbs/verbs.h"

static json_t *found;  // with --json: what the messages were

static void add_messages(const permc_context *context, const char *words) {
  if (context)
    report_messages_json(found, &context->program.diagnostics);
  else
    report_words_json(found, words);
}

// For the arguments of -i or --arguments.
static bool check_arguments(cli_session *s) {
  return cli_read_given(s) &&
         cli_report(s->context,
                    permc_check_arguments(s->context, s->entry, cli_value(s->args, "--arguments"),
                                          s->arguments, s->argument_count));
}

static bool check_entries(cli_session *s) {
  const char *entry = cli_is_given(s->args, "-e") ? "-e" : cli_value(s->args, "--entry");
  return cli_report(s->context, permc_check(s->context, entry, s->sizes.first, s->sizes.count));
}

// `path` may be NULL: an expression alone.
static cli_status check_file(const cli_arguments *args, const char *path, bool several) {
  FREED_BY(text_free) text reported = {0};
  FREED_BY(cli_close) cli_session s = {0};
  cli_status status = cli_begin(&s, args);
  if (s.context && found)
    s.context->program.diagnostics.reported = &reported;
  if (status == CLI_OK && !cli_load(s.context, path, cli_value(args, "-e")))
    status = CLI_WRONG;
  double loaded = s.context ? permc_last_times(s.context).load : 0;
  bool given = cli_is_given(args, "-i") || cli_is_given(args, "--arguments");
  if (status == CLI_OK && !(given ? check_arguments : check_entries)(&s))
    status = CLI_WRONG;
  if (s.context && cli_is_given(args, "--time")) {
    const char *file = several ? path : NULL;
    cli_print_time(file, "load", loaded);
    cli_print_time(file, "elaborate", permc_last_times(s.context).elaborate);
  }
  return status;
}

cli_status verb_check(const cli_arguments *args) {
  cli_status status = CLI_OK;
  cli_files files = {0};
  if (cli_is_given(args, "--json")) {
    found = json_array();
    cli_report_by(add_messages);
  }
  if (!cli_find_programs(args, &files))
    status = CLI_WRONG;
  bool alone = !args->operand_count;
  for (size_t i = 0; status != CLI_USAGE && i < files.count + alone; i++) {
    cli_status one = check_file(args, alone ? NULL : files.items[i], files.count > 1);
    status = one == CLI_OK ? status : one;
  }
  if (!found || status == CLI_USAGE)
    return status;
  cli_report_by(NULL);
  text out = {0};
  report_print_json(&out, json_pack("{s:o}", "diagnostics", found), 9, 0);
  found = NULL;
  cli_status printed = cli_print_text(&out);
  return status == CLI_OK ? printed : status;
}
