// permc run: loads a program, reads its arguments, runs it, writes its results.
#include "core/clock.h"
#include "core/error.h"
#include "runtime/values/value.h"
#include "tool/cli/program.h"
#include "tool/cli/progress.h"
#include "tool/verbs/verbs.h"

#include <unistd.h>

typedef struct run_state {
  cli_session session;
  permc_value **results;
  size_t result_count;
  double start, read_seconds, write_seconds;
} run_state;

static bool is_one_of_several(const run_state *s) {
  uint32_t processes;
  permc_rank(s->session.context, &processes);
  return processes > 1;
}

// Launchers give it to one rank alone.
static bool may_read(const run_state *s, const char *const *paths, size_t count) {
  for (size_t i = 0; i < count && is_one_of_several(s); i++)
    if (!strcmp(paths[i], "-") || !strncmp(paths[i], "-:", 2)) {
      cli_error("standard input is that of one rank; give all a file, by -i FILE");
      return false;
    }
  return true;
}

static bool read_files(run_state *s, size_t parameters) {
  static const char *const standard_input[] = {"-"};
  size_t count;
  const char *const *paths = cli_values(s->session.args, "-i", &count);
  if (count == 0 && parameters > 0) {
    paths = standard_input;
    count = 1;
    if (isatty(STDIN_FILENO) && !is_one_of_several(s))
      cli_error("reading the argument%s of %s : %s from standard input", parameters == 1 ? "" : "s",
                s->session.entry, permc_entry_type(s->session.context, s->session.entry));
  }
  return may_read(s, paths, count) &&
         (count == 0 || cli_read_files(s->session.context, s->session.entry, paths, count,
                                       &s->session.arguments, &s->session.argument_count));
}

static bool read_arguments(run_state *s) {
  const char *types = cli_value(s->session.args, "--random");
  size_t parameters = permc_parameter_count(s->session.context, s->session.entry);
  if (parameters == (size_t)-1)
    return cli_report(s->session.context, false);
  double start = clock_seconds();
  bool good = types
                  ? cli_report(s->session.context,
                               permc_read_random(s->session.context, s->session.entry, types,
                                                 cli_number(s->session.args, "--seed", 1),
                                                 &s->session.arguments, &s->session.argument_count))
                  : read_files(s, parameters);
  s->read_seconds = clock_seconds() - start;
  return good;
}

static bool check_outputs(const run_state *s) {
  size_t count;
  const char *const *paths = cli_values(s->session.args, "-o", &count);
  return cli_report(s->session.context,
                    permc_check_outputs(s->session.context, s->session.entry, s->session.arguments,
                                        s->session.argument_count, paths, count));
}

// To memory, for print_result.
static bool gather_result(run_state *s, size_t i) {
  bool good = permc_gather(s->session.context, s->results[i]);
  const char *why = diag_unprefixed(permc_message(s->session.context));
  if (good || s->result_count == 1 || permc_last_code(s->session.context) != PERMC_ERROR_ARGUMENT)
    return cli_report(s->session.context, good);
  cli_error("result %zu of %zu, which has no -o: %.*s", i + 1, s->result_count,
            (int)strcspn(why, "\n"), why);
  return false;
}

// By rank 0, if there are several processes.
static bool print_result(run_state *s, permc_value *v) {
  return permc_rank(s->session.context, NULL) != 0 ||
         cli_print_value(v, cli_is_given(s->session.args, "--full"));
}

static bool is_printed(const char *const *paths, size_t count, size_t result) {
  return result >= count || strcmp(paths[result], "-") == 0;
}

// A result that another one counts becomes as long as that says.
static bool keep_first(run_state *s, const char *word, size_t result, size_t counter) {
  if (counter > s->result_count)
    return cli_error("-o %s: there are %zu results", word, s->result_count), false;
  if (permc_keep_first(s->session.context, s->results[result], s->results[counter - 1]))
    return true;
  const char *why = diag_unprefixed(permc_message(s->session.context));
  cli_error("-o %s: %.*s", word, (int)strcspn(why, "\n"), why);
  return false;
}

// The files of -o, and as many elements for them as they are to get. NULL: an error was shown.
static const char *const *find_outputs(run_state *s, size_t *count) {
  size_t counter;
  const char *const *words = cli_values(s->session.args, "-o", count);
  const char **paths = NEW_ARRAY(s->session.args->memory, const char *, *count + 1);
  error why;
  for (size_t i = 0; i < *count; i++)
    if (!output_parse(words[i], &paths[i], &counter, &why) ||
        (counter && i < s->result_count && !keep_first(s, words[i], i, counter)))
      return NULL;
  return paths;
}

// All files or none, and then what is printed.
static bool write_results(run_state *s) {
  size_t count, written = 0;
  arena *memory = s->session.args->memory;
  double start = clock_seconds();
  const char *const *paths = find_outputs(s, &count);
  const char **names = NEW_ARRAY(memory, const char *, s->result_count);
  permc_value **files = NEW_ARRAY(memory, permc_value *, s->result_count);
  bool good = paths != NULL;
  for (size_t i = 0; good && i < s->result_count; i++)
    if (!is_printed(paths, count, i)) {
      names[written] = paths[i];
      files[written++] = s->results[i];
    }
  for (size_t i = 0; good && i < s->result_count; i++)
    good = !is_printed(paths, count, i) || gather_result(s, i);
  good = good && cli_report(s->session.context,
                            permc_write_files(s->session.context, names, files, written));
  for (size_t i = 0; good && i < s->result_count; i++)
    good = !is_printed(paths, count, i) || print_result(s, s->results[i]);
  s->write_seconds = clock_seconds() - start;
  return good;
}

static void print_times(const run_state *s) {
  permc_times times = permc_last_times(s->session.context);
  cli_print_time(NULL, "read", s->read_seconds);
  cli_print_time(NULL, "load", times.load);
  cli_print_time(NULL, "elaborate", times.elaborate);
  if (times.start > 0)
    cli_print_time(NULL, "start", times.start);
  cli_print_time(NULL, "plan", times.plan);
  cli_print_time(NULL, "compile", times.compile);
  cli_print_time(NULL, "run", times.run);
  cli_print_time(NULL, "write", s->write_seconds);
  cli_print_time(NULL, "total", clock_seconds() - s->start);
}

static bool prepare(run_state *s) {
  return cli_load(s->session.context, cli_operand(s->session.args, 0),
                  cli_value(s->session.args, "-e")) &&
         check_outputs(s) && read_arguments(s) && check_outputs(s);
}

static bool run_entry(run_state *s) {
  return cli_report(s->session.context,
                    permc_run_consume(s->session.context, s->session.entry,
                                      cli_backend(s->session.args), s->session.arguments,
                                      s->session.argument_count, &s->results, &s->result_count));
}

// With --resume what was done is kept, but where writing fails as it would again: a file of that
// ending cannot hold the result.
static bool end_run(run_state *s) {
  bool good = write_results(s);
  if (cli_is_given(s->session.args, "--resume") &&
      (good || permc_last_code(s->session.context) == PERMC_ERROR_ARGUMENT))
    permc_remove_files(s->session.context);
  return good;
}

// A step that all ranks make: what they say alike, for their program or files are wrong, is said
// once, and so is what ends all.
static bool run_step(run_state *s, bool (*step)(run_state *s), bool first) {
  if (!is_one_of_several(s))
    return step(s);
  cli_keep_messages();
  bool good = step(s) && (!first || cli_meet_ranks(s->session.context));
  if (good)
    cli_end_keeping(true);
  else
    cli_end_ranks(s->session.context);
  return good;
}

static bool run_program(run_state *s) {
  const cli_arguments *args = s->session.args;
  bool good =
      run_step(s, prepare, true) && run_step(s, run_entry, false) && run_step(s, end_run, false);
  if (good && cli_is_given(args, "--time"))
    print_times(s);
  return good;
}

cli_status verb_run(const cli_arguments *args) {
  run_state s = {.start = clock_seconds()};
  if (cli_is_given(args, "--seed") && !cli_is_given(args, "--random"))
    return cli_usage_error("run: --seed needs --random: it is the seed of random arguments");
  cli_status status = cli_begin(&s.session, args);
  if (status == CLI_OK)
    status = cli_use_files(args, s.session.context);
  if (status == CLI_OK)
    status = cli_use_ranks(args, s.session.context);
  if (status == CLI_OK && !run_program(&s))
    status = CLI_WRONG;
  permc_values_free(s.results, s.result_count);
  cli_progress_work("compiling for the next run", "", 0, 0);  // if that is going on
  cli_close(&s.session);
  return status;
}
