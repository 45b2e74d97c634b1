// permc run: loads a program, reads its arguments, runs it, writes its results.
#include "runtime/measure/measure.h"
#include "tool/cli/program.h"
#include "tool/verbs/verbs.h"

#include <inttypes.h>
#include <unistd.h>

typedef struct run_state {
  const cli_arguments *args;
  permc_context *context;
  const char *entry;
  permc_value **arguments, **results;
  size_t argument_count, result_count;
  double read_seconds, write_seconds;
} run_state;

static bool read_files(run_state *s, size_t parameters) {
  size_t count;
  const char **paths = cli_values(s->args, "-i", &count);
  if (!paths)
    return false;
  if (count == 0 && parameters > 0) {
    paths[count++] = "-";
    if (isatty(STDIN_FILENO))
      cli_error("reading the argument%s of %s : %s from standard input", parameters == 1 ? "" : "s",
                s->entry, permc_entry_type(s->context, s->entry));
  }
  bool good =
      count == 0 || cli_report(s->context, permc_read_files(s->context, s->entry, paths, count,
                                                            &s->arguments, &s->argument_count));
  free(paths);
  return good;
}

static bool read_arguments(run_state *s) {
  const char *types = cli_value(s->args, "--random");
  size_t parameters = permc_parameter_count(s->context, s->entry);
  if (parameters == (size_t)-1)
    return cli_report(s->context, false);
  double start = bench_now();
  bool good = types ? cli_report(s->context, permc_read_random(s->context, s->entry, types,
                                                               cli_number(s->args, "--seed", 1),
                                                               &s->arguments, &s->argument_count))
                    : read_files(s, parameters);
  s->read_seconds = bench_now() - start;
  return good;
}

static bool write_results(run_state *s) {
  size_t count;
  const char **paths = cli_values(s->args, "-o", &count);
  double start = bench_now();
  bool good = paths != NULL;
  if (good && count > s->result_count) {
    cli_error("%s has %zu result%s, but -o was given %zu times", s->entry, s->result_count,
              s->result_count == 1 ? "" : "s", count);
    good = false;
  }
  for (size_t i = 0; good && i < s->result_count; i++)
    good = cli_report(s->context,
                      permc_write_file(s->context, i < count ? paths[i] : "-", s->results[i]));
  free(paths);
  s->write_seconds = bench_now() - start;
  return good;
}

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

static bool run_program(run_state *s) {
  const cli_arguments *args = s->args;
  bool good =
      cli_load(s->context, cli_operand(args, 0), cli_value(args, "-e")) && read_arguments(s) &&
      cli_report(s->context,
                 permc_run_consume(s->context, s->entry, cli_value(args, "--backend"), s->arguments,
                                   s->argument_count, &s->results, &s->result_count)) &&
      write_results(s);
  if (good && cli_is_given(args, "--time"))
    print_times(s);
  return good;
}

cli_status verb_run(const cli_arguments *args) {
  run_state s = {.args = args, .entry = cli_entry(args)};
  if (cli_is_given(args, "--seed") && !cli_is_given(args, "--random"))
    return cli_usage_error("run: --seed needs --random: it is the seed of random arguments");
  s.context = cli_context_new();
  if (!s.context)
    return CLI_WRONG;
  cli_status status = cli_use_options(args, s.context);
  if (status == CLI_OK && !run_program(&s))
    status = CLI_WRONG;
  permc_values_free(s.arguments, s.argument_count);
  permc_values_free(s.results, s.result_count);
  permc_context_free(s.context);
  return status;
}
