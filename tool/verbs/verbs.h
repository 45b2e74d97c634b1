// The door of the verbs: in comes a parsed command line (tool/cli/options.h), out go text for
// people and an exit status. Each verb has a file, named after it; verbs.c is the table of them
// all.
//
//   const cli_verb *verb = cli_verb_named(cli_verbs, "fmt");
//   cli_arguments args = {.verb = verb, .verbs = cli_verbs, .memory = &memory};
//   if (cli_parse(&args, 1, words) == CLI_OK)            // "sort.perm"
//     return verb->run(&args);                           // verb_fmt in fmt.c
//
// Reading order: verbs.c, fmt.c, check.c, run.c, explain.c, draw.c, build.c, test.c, tune.c,
// bench.c, banks.c, schedule.c, machine.c, paper.c, cache.c, doctor.c, help.c.
#ifndef PERMC_TOOL_VERBS_VERBS_H
#define PERMC_TOOL_VERBS_VERBS_H

#include "tool/cli/options.h"

extern const cli_verb cli_verbs[];  // ends with a row without a name

cli_status verb_run(const cli_arguments *args);
cli_status verb_check(const cli_arguments *args);
cli_status verb_explain(const cli_arguments *args);
cli_status verb_draw(const cli_arguments *args);
cli_status verb_build(const cli_arguments *args);
cli_status verb_test(const cli_arguments *args);
cli_status verb_bench(const cli_arguments *args);
cli_status verb_tune(const cli_arguments *args);
cli_status verb_machine(const cli_arguments *args);
cli_status verb_fmt(const cli_arguments *args);
cli_status verb_schedule(const cli_arguments *args);
cli_status verb_banks(const cli_arguments *args);
cli_status verb_paper(const cli_arguments *args);
cli_status verb_cache(const cli_arguments *args);
cli_status verb_doctor(const cli_arguments *args);
cli_status verb_help(const cli_arguments *args);

void print_help(FILE *to, const cli_verb *verbs);  // `permc help`
// That is no verb; perhaps a function of the language. `next`: the word behind it, or NULL.
cli_status report_unknown_verb(const cli_arguments *args, const char *word, const char *next);
void print_verb_help(FILE *to, const cli_verb *verb);  // `permc help VERB`
void print_targets(void);                              // `permc explain --target help`

#endif
