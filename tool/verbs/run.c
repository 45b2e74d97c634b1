// permc run: load, read, run, write.
#include "tool/cli.h"

#include <inttypes.h>
#include <unistd.h>

typedef struct run_state {
  const cli_arguments *given;
  permc_context *context;
  const char *entry;
  size_t parameters;
  permc_value **arguments, **results;
  size_t argument_count, result_count;
  double read_seconds, write_seconds;
  cli_status status;  // what a stage that fails leaves behind
} run_state;

static bool fail(run_state *s, cli_status status) {
  s->status = status;
  return false;
}

// ---- stages ----------------------------------------------------------------------------------

static bool check_options(run_state *s) {
  const cli_arguments *given = s->given;
  uint64_t seed;
  if (given->operand_count == 0 && !cli_count(given, "-e"))
    return fail(s, cli_usage_error("run: FILE or -e EXPR is missing (see permc help run)"));
  if (cli_count(given, "--random") && cli_count(given, "-i"))
    return fail(s, cli_usage_error("run: --random and -i exclude each other"));
  if (cli_count(given, "--seed") && !cli_count(given, "--random"))
    return fail(s, cli_usage_error("run: --seed goes with --random"));
  if (cli_count(given, "--seed") && !cli_number(cli_value(given, "--seed"), &seed))
    return fail(s, cli_usage_error("run: --seed is not a number from 0 to 2^64-1: '%s'",
                                   cli_value(given, "--seed")));
  s->entry = cli_value(given, "--entry");
  if (s->entry && cli_count(given, "-e"))
    return fail(s, cli_usage_error("run: --entry and -e exclude each other"));
  if (!s->entry)
    s->entry = cli_count(given, "-e") ? "-e" : "main";
  return true;
}

static bool load(run_state *s) {
  const cli_arguments *given = s->given;
  const char *expression = cli_value(given, "-e");
  permc_allow_extern(s->context, cli_count(given, "--allow-extern") > 0);
  if (!cli_use_cpu_options(given, s->context))
    return fail(s, CLI_USAGE);
  if (given->operand_count && !cli_report(s->context, permc_load(s->context, given->operands[0])))
    return fail(s, CLI_WRONG);
  if (expression && !cli_report(s->context, permc_define(s->context, expression)))
    return fail(s, CLI_WRONG);
  s->parameters = permc_parameter_count(s->context, s->entry);
  if (s->parameters == (size_t)-1) {
    cli_report(s->context, false);
    return fail(s, CLI_WRONG);
  }
  return true;
}

static bool read_files(run_state *s) {
  size_t count;
  const char **paths = cli_values(s->given, "-i", &count);
  if (!paths)
    return false;
  if (count == 0 && s->parameters > 0) {
    paths[count++] = "-";
    if (isatty(STDIN_FILENO))
      cli_error("reading the argument%s of %s : %s from standard input",
                s->parameters == 1 ? "" : "s", s->entry, permc_entry_type(s->context, s->entry));
  }
  bool ok = true;
  if (count > 0)
    ok = cli_report(s->context, permc_read_files(s->context, s->entry, paths, count, &s->arguments,
                                                 &s->argument_count));
  free(paths);
  return ok;
}

static bool read_arguments(run_state *s) {
  const char *types = cli_value(s->given, "--random");
  uint64_t seed = 1;
  double start = cli_seconds();
  bool ok;
  if (types) {
    if (cli_count(s->given, "--seed"))
      cli_number(cli_value(s->given, "--seed"), &seed);
    ok = cli_report(s->context, permc_read_random(s->context, s->entry, types, seed, &s->arguments,
                                                  &s->argument_count));
  } else {
    ok = read_files(s);
  }
  s->read_seconds = cli_seconds() - start;
  return ok || fail(s, CLI_WRONG);
}

static bool execute(run_state *s) {
  bool ok = permc_run_consume(s->context, s->entry, cli_value(s->given, "--backend"), s->arguments,
                              s->argument_count, &s->results, &s->result_count);
  return cli_report(s->context, ok) || fail(s, CLI_WRONG);
}

static bool write_results(run_state *s) {
  size_t count;
  const char **paths = cli_values(s->given, "-o", &count);
  double start = cli_seconds();
  bool ok = paths != NULL;
  if (ok && count > s->result_count) {
    cli_error("%s has %zu result%s, but -o was given %zu times", s->entry, s->result_count,
              s->result_count == 1 ? "" : "s", count);
    ok = false;
  }
  for (size_t i = 0; ok && i < s->result_count; i++)
    ok = cli_report(s->context,
                    permc_write_file(s->context, i < count ? paths[i] : "-", s->results[i]));
  free(paths);
  s->write_seconds = cli_seconds() - start;
  return ok || fail(s, CLI_WRONG);
}

// ---- the verb --------------------------------------------------------------------------------

static void print_times(const run_state *s) {
  permc_times times = permc_last_times(s->context);
  cli_print_time(NULL, "read", s->read_seconds);
  cli_print_time(NULL, "load", times.load);
  cli_print_time(NULL, "elaborate", times.elaborate);
  cli_print_time(NULL, "run", times.run);
  if (times.units)
    fprintf(stderr, "permc: %-9s %" PRIu64 " time units\n", "machine", times.units);
  cli_print_time(NULL, "write", s->write_seconds);
}

cli_status cli_run(const cli_arguments *given) {
  run_state s = {.given = given, .status = CLI_OK};
  if (!check_options(&s))
    return s.status;
  s.context = cli_context_new();
  if (!s.context) {
    cli_error("out of memory");
    return CLI_WRONG;
  }
  if (load(&s) && read_arguments(&s) && execute(&s) && write_results(&s) &&
      cli_count(given, "--time"))
    print_times(&s);
  permc_values_free(s.arguments, s.argument_count);
  permc_values_free(s.results, s.result_count);
  permc_context_free(s.context);
  return s.status;
}
