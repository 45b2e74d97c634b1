// The plan for GPUs of what a command line names: for verbs that look at plans without a device.
#ifndef PERMC_TOOL_REPORTS_PLAN_H
#define PERMC_TOOL_REPORTS_PLAN_H

#include "fusion/plan/plan.h"
#include "tool/cli/program.h"

// Of -e EXPR, --entry NAME or main, in the scope of `file` (NULL: of the library alone), at --size
// or for --arguments, by --strategy: options that the verb has. *title: the expression, or the name
// of the entry. NULL: reported, and *status says what is wrong.
const plan *cli_gpu_plan(arena *a, const cli_arguments *args, const char *file, const char **title,
                         cli_status *status);

#endif
