// Tables of verbs and options, and a command line parsed by them.
//
//   permc run sort.perm -i keys.npy --seed=3
//         |   |         |           '------- an option with its value
//         |   |         '------------------- likewise
//         |   '----------------------------- an operand
//         '--------------------------------- a verb: a row of cli_verbs (tool/verbs/verbs.c)
//
//   cli_arguments a = {.verb = verb, .verbs = cli_verbs, .memory = &memory};
//   cli_parse(&a, 4, words);                       // "sort.perm" "-i" "keys.npy" "--seed=3"
//   cli_value(&a, "-i")                            // "keys.npy"
//   cli_number(&a, "--seed", 1)                    // 3
//   cli_value(&a, "--backend")                     // NULL: not given
//
// The parser and `permc help` (tool/verbs/help.c) read the same rows, and docs/pages.sh makes
// docs/command-line.md and the manual page of that help.
#ifndef PERMC_TOOL_CLI_OPTIONS_H
#define PERMC_TOOL_CLI_OPTIONS_H

#include "tool/cli/io.h"
#include <stdint.h>

// ---- tables ----------------------------------------------------------------------------------

typedef struct cli_option {
  const char *name;      // "--entry", "-e"; NULL ends a table
  const char *argument;  // "NAME"; "auto|interp" allows only these words; NULL: a switch
  bool repeats;          // may be given more than once
  bool number;           // its values are numbers, from `least` to `most`
  bool bytes;            // ... of bytes: "64MiB" as well
  uint64_t least, most;
  void (*list)(void);  // prints what it can be, when its value is `help`; NULL: `help` is a value
  const char *help;    // one line
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
  // "--size --arguments, -e --entry FILE": of each group at most one is given. FILE: an operand.
  const char *exclusive;
  const char *required;  // "FILE -e": at least one of these is given. NULL: none has to be
  cli_status (*run)(const cli_arguments *args);
} cli_verb;

// ---- the parsed command line -----------------------------------------------------------------

typedef struct cli_choice {
  const cli_option *option;
  const char *value;  // NULL for a switch
} cli_choice;

struct cli_arguments {
  const cli_verb *verb, *verbs;  // the verb, and the table that it is a row of
  const char **operands;
  size_t operand_count;
  cli_choice *options;  // in the order of the command line
  size_t option_count;
  const char **values;  // theirs, those of one option beside each other
  arena *memory;        // for what lasts as long as this; of one thread
  bool help;            // --help was among them: the rest was not parsed
  void (*list)(void);   // of an option with the value `help`, or NULL
};

// The verb of that name, or NULL.
const cli_verb *cli_verb_named(const cli_verb *verbs, const char *name);
// Reports that there is no such verb.
cli_status cli_unknown_verb(const cli_verb *verbs, const char *word);
// Parses what follows the verb; a->memory, verb and verbs are there. CLI_OK, or reported: the
// command line does not fit the tables.
cli_status cli_parse(cli_arguments *a, int argc, char **argv);

bool cli_has_option(const cli_arguments *a, const char *name);    // whether the verb has it
bool cli_is_given(const cli_arguments *a, const char *name);      // false if the verb has it not
const char *cli_value(const cli_arguments *a, const char *name);  // the first; NULL if not given
uint64_t cli_number(const cli_arguments *a, const char *name, uint64_t otherwise);
// All values of a repeated option.
const char *const *cli_values(const cli_arguments *a, const char *name, size_t *count);
// The file that the verb works on, or NULL.
const char *cli_operand(const cli_arguments *a, size_t index);

// The files among the operands, and the programs (*.perm) below folders among them, by name.
typedef VEC(const char *) cli_files;
// False: some cannot be read, reported; the others are there.
bool cli_find_programs(const cli_arguments *a, cli_files *out);

// ---- words -----------------------------------------------------------------------------------

// "1024" or "2^10", without a sign, and nothing after it.
bool cli_read_number(const char *word, uint64_t *number);
// The same, and "1KiB", "64MiB", "2GiB", "1TiB".
bool cli_read_bytes(const char *word, uint64_t *bytes);
bool cli_ends_with(const char *word, const char *ending);
// Reports that no `what` has the name closest->word, and what is near it, or else where the names
// are listed.
cli_status cli_unknown_name(const cli_arguments *a, const char *what, const text_closest *closest,
                            const char *listed);

#endif
