// The command line of permc: verbs and their options are rows of one table.
//
//   permc run sort.perm -i keys.npy -o sorted.npy
//         |   |         '--------------------- options: rows of the verb's table
//         |   '------------------------------- operands
//         '----------------------------------- verb: a row of cli_verbs
//
// Dispatch (tool/cli.c), parsing (tool/options.c), `permc help` (verbs/help.c) and the test that
// compares the help with docs/permc.1 and docs/reference.md all read the same rows. Each verb has a
// file: verbs/run.c, verbs/check.c, verbs/explain.c, verbs/test.c, verbs/bench.c, verbs/tune.c,
// verbs/machine.c, verbs/fmt.c, verbs/banks.c, verbs/paper.c.
#ifndef PERMC_TOOL_CLI_H
#define PERMC_TOOL_CLI_H

#include "core/text.h"
#include "runtime/permc.h"
#include <stdint.h>
#include <stdio.h>

typedef enum cli_status {
  CLI_OK = 0,
  CLI_WRONG = 1,  // the program, the data or a file is wrong
  CLI_USAGE = 2,  // the command line is wrong
  CLI_INTERRUPTED = 130
} cli_status;

// ---- tables ----------------------------------------------------------------------------------

typedef struct cli_option {
  const char *name;      // "--entry", "-e"; NULL ends a table
  const char *argument;  // "NAME"; "auto|interp" allows only these words; NULL: a switch
  bool repeats;          // may be given more than once
  const char *help;      // one line
} cli_option;

typedef struct cli_arguments cli_arguments;

typedef struct cli_verb {
  const char *name;
  const char *operands;  // "FILE...", as in the usage line
  size_t least, most;    // how many operands
  const char *summary;   // one line, for the list of verbs
  const char *details;   // a few lines for `permc help VERB`
  const char *example;   // a command line
  const cli_option *options;
  cli_status (*run)(const cli_arguments *given);
} cli_verb;

extern const cli_verb cli_verbs[];  // ends with a row without a name
const cli_verb *cli_verb_named(const char *name);

// ---- the parsed command line -----------------------------------------------------------------

typedef struct cli_given {
  const cli_option *option;
  const char *value;  // NULL for a switch
} cli_given;

struct cli_arguments {
  const cli_verb *verb;
  const char **operands;
  size_t operand_count;
  cli_given *options;  // in the order of the command line
  size_t option_count;
  bool help;  // --help was among them
};

// Parses what follows the verb. Prints one line and gives false when it does not fit the tables.
bool cli_parse(cli_arguments *into, const cli_verb *verb, int argc, char **argv);
void cli_arguments_free(cli_arguments *a);

// `name` must be a row of the verb's table.
size_t cli_count(const cli_arguments *a, const char *name);
const char *cli_value(const cli_arguments *a, const char *name);  // the first; NULL if not given
// All values of a repeated option; the caller frees the list. NULL: no memory.
const char **cli_values(const cli_arguments *a, const char *name, size_t *count);

// The values of --size NAME=SIZE. cli_sizes_free frees them, also after a failure, which is
// reported.
cli_status cli_sizes(const cli_arguments *a, permc_size **sizes, size_t *count);
void cli_sizes_free(permc_size *sizes, size_t count);

// A decimal number without a sign, and nothing after it.
bool cli_number(const char *digits, uint64_t *number);
// "1024" or "2^10".
bool cli_magnitude(const char *word, uint64_t *number);
// --strategy and --layout, as far as given, go to the context. False: a usage error, reported.
bool cli_use_planning(const cli_arguments *given, permc_context *context);
// Whether it is `--strategy help` or `--layout help`, which lists them.
bool cli_lists_names(const cli_arguments *given);
// --threads, --target-isa, --strategy, --layout, --strict-fp and --fast-fp, as far as given, go to
// the context. False: a value is wrong, reported.
bool cli_use_cpu_options(const cli_arguments *given, permc_context *context);
// The name of `candidates` closest to `word`, or NULL if none is near. `next` walks the candidates.
const char *cli_closest(const char *word, const char *(*next)(const void *state, size_t i),
                        const void *state);

// ---- verbs -----------------------------------------------------------------------------------

int cli_main(int argc, char **argv);
void cli_help(FILE *to);
void cli_help_verb(FILE *to, const cli_verb *verb);
cli_status cli_run(const cli_arguments *given);
cli_status cli_check(const cli_arguments *given);
cli_status cli_explain(const cli_arguments *given);
cli_status cli_test(const cli_arguments *given);
cli_status cli_bench(const cli_arguments *given);
cli_status cli_tune(const cli_arguments *given);
cli_status cli_machine(const cli_arguments *given);
cli_status cli_fmt(const cli_arguments *given);
cli_status cli_banks(const cli_arguments *given);
cli_status cli_paper(const cli_arguments *given);

// ---- shared by the verbs ---------------------------------------------------------------------

// Each prints one line, "permc: ..." , to stderr.
void cli_error(const char *format, ...) PRINTF_LIKE(1, 2);
cli_status cli_usage_error(const char *format, ...) PRINTF_LIKE(1, 2);
// Prints what the last call on the context had to say. False: passes `ok` on.
bool cli_report(const permc_context *context, bool ok);
// Whether all of standard output arrived; prints one line if not (once).
bool cli_flush_stdout(void);

// A context that the signals of Ctrl-C and kill interrupt for good, whatever it does or begins.
// NULL when memory is out.
permc_context *cli_context_new(void);

double cli_seconds(void);  // a clock that only goes forward
// One line of --time, such as "permc: load      0.0012 s"; `of` is a file or NULL.
void cli_print_time(const char *of, const char *stage, double seconds);

// The whole of a file ("-": standard input), 0-terminated; the caller frees it. NULL: *why is a
// text.
char *cli_read_file(const char *path, size_t *length, const char **why);

#endif
