// From a command line to a context with its program, settings and arguments.
//
//   permc tune sort.perm --entry rows --size n=20 --strategy tile
//
//   cli_use_options(args, c)                        // permc_use_strategy(c, "tile")
//   cli_load(c, "sort.perm", NULL)
//   cli_entry(args)                                 // "rows"
//   cli_read_sizes(args, 1, &sizes)                 // sizes.first[0] is {"n", 20}
//   cli_read_data(c, "rows", &data, ...)            // random arguments of these sizes
#ifndef PERMC_TOOL_CLI_PROGRAM_H
#define PERMC_TOOL_CLI_PROGRAM_H

#include "tool/cli/options.h"

// A context that cli_interrupt_contexts ends, whatever it does. NULL: no memory, reported.
permc_context *cli_context_new(void);
void cli_interrupt_contexts(void);  // for a signal handler

// The options of the verb that are settings of a context, as far as given: --threads, --target-isa,
// --strategy, --layout, --limit, --strict-fp, --fast-fp, --compile-seconds, --compile-memory,
// --devices and --allow-extern. CLI_USAGE: a value is wrong, reported.
cli_status cli_use_options(const cli_arguments *a, permc_context *context);
// What --backend says; with --devices cuda, if it says nothing.
const char *cli_backend(const cli_arguments *a);
// Of --memory and --resume, and the first -o: where files are. CLI_USAGE: a file is wanted for
// --resume.
cli_status cli_use_files(const cli_arguments *a, permc_context *context);
// The ranks of --ranks and --transport, or those that mpirun or its like has started. CLI_USAGE:
// --ranks is no power of two; CLI_WRONG: the others cannot be reached; reported.
cli_status cli_use_ranks(const cli_arguments *a, permc_context *context);
// Before all ranks run: what this one has kept of messages (io.h) is shown, but what all say alike
// by rank 0 alone. False: another cannot go on, which is kept as a message.
bool cli_meet_ranks(permc_context *context);
// This rank cannot go on, or another cannot, by what is kept of messages: all end, and one of them
// says why.
void cli_end_ranks(permc_context *context);
int cli_launched_rank(void);  // which of several a launcher has started this as; -1: it is alone
// Whether mpirun has started this with others, and the verb is one for all of them together, or
// none (NULL).
bool cli_is_one_of_several(const cli_verb *verb);
// Ends the keeping of what is wrong with the command line (io.h): what all say alike rank 0 says.
// Where others do not come in a moment, each says it.
void cli_say_once(void);
void cli_list_strategies(void);  // --strategy help
void cli_list_layouts(void);     // --layout help

// Connects the processes that torchrun has started: sets carry and `with` of ranks, of which all
// else is set. False: why->message says why not.
typedef bool cli_connect(permc_ranks *ranks, permc_error *why);
void cli_connect_by(cli_connect *connect);  // NULL: nothing does, and such ranks are refused

// Whether a file that is no program is one of data, by its name: keys.txt, data.csv:price; reported.
bool cli_refuse_data(const char *file);
// Loads a file, then defines an expression in its scope; each may be NULL. False: reported.
bool cli_load(permc_context *context, const char *file, const char *expression);
// The name of --entry, else "-e" where an expression is given, else "main".
const char *cli_entry(const cli_arguments *a);

// Values of --size NAME=SIZE, or NAME=FIRST..LAST where a range may have more than one size.
typedef struct cli_sizes {
  size_t count;
  permc_size *first;
  int64_t *last;
} cli_sizes;
// `longest`: most sizes of a range; *sizes is empty. CLI_OK, or reported.
cli_status cli_read_sizes(const cli_arguments *a, int64_t longest, cli_sizes *sizes);

// Where arguments come from: random data of `types`, or files, or random data at sizes.
typedef struct cli_data {
  const char *types;
  const char *const *paths;
  size_t path_count;
  const permc_size *sizes;
  size_t size_count;
  uint64_t seed;
} cli_data;
bool cli_read_data(permc_context *context, const char *entry, const cli_data *data,
                   permc_value ***arguments, size_t *count);  // false: reported

// permc_read_files, and where a file is not there the name that is nearest. False: reported.
bool cli_read_files(permc_context *context, const char *entry, const char *const *paths,
                    size_t path_count, permc_value ***arguments, size_t *count);

// What a verb on a program works with, all by its options:
//
//   cli_session s;
//   cli_status status = cli_open(&s, args, cli_operand(args, 0));   // CLI_OK: the program is there
//   if (status == CLI_OK && cli_read_given(&s)) ...
//   cli_close(&s);                                                  // in any case
typedef struct cli_session {
  const cli_arguments *args;
  permc_context *context;
  const char *entry;        // cli_entry
  cli_sizes sizes;          // of --size, one of each name
  permc_value **arguments;  // as far as they were read
  size_t argument_count;
} cli_session;
// All but program and arguments. CLI_OK, or reported.
cli_status cli_begin(cli_session *s, const cli_arguments *a);
// Also the program: `file` (NULL: none) and -e.
cli_status cli_open(cli_session *s, const cli_arguments *a, const char *file);
void cli_close(cli_session *s);
// The arguments of -i; none where it is not given. False: reported.
bool cli_read_given(cli_session *s);
// Works on the program of the first operand and -e, in a session that is then closed. `work` gives
// false where it has reported what is wrong.
typedef bool cli_work(cli_session *s, void *with);
cli_status cli_with_program(const cli_arguments *a, cli_work *work, void *with);
// What permc_explain says, for the session's entry, --target, --arguments or -i. NULL: reported.
char *cli_explain(cli_session *s, permc_explain_options o);
// Prints what is out, or writes it to the file of -o, and frees it. False: reported, or it is NULL.
bool cli_put_out(const cli_session *s, char *out);

#endif
