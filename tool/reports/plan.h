// The plan for GPUs of what a command line names: for verbs that look at plans without a device.
#ifndef PERMC_TOOL_REPORTS_PLAN_H
#define PERMC_TOOL_REPORTS_PLAN_H

#include "fusion/plan/plan.h"
#include "tool/cli.h"

// Whether it is the name of a program, not of data: it ends in .perm.
bool cli_is_program(const char *word);

// Of -e EXPR, --entry NAME or main, in the scope of `file` (NULL: of the library alone), at --size
// or for --arguments, by --strategy: options that the verb has. *title: the expression, or the name
// of the entry. NULL: reported, and *status says what is wrong.
const plan *cli_gpu_plan(arena *a, const cli_arguments *given, const char *file, const char **title,
                         cli_status *status);

#endif
