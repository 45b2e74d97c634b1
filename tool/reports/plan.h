// The plan for GPUs of what a command line names: for verbs that look at plans without a device.
//
//   report_plan p;
//   cli_status status = report_plan_make(args, cli_operand(args, 0), &p);
//   if (status == CLI_OK)
//     plan_print(&out, p.pipeline.plan);
//   report_plan_free(&p);
#ifndef PERMC_TOOL_REPORTS_PLAN_H
#define PERMC_TOOL_REPORTS_PLAN_H

#include "runtime/pipeline.h"
#include "tool/cli/program.h"

typedef struct report_plan {
  cli_session session;
  pipeline pipeline;  // as far as its plan
  const char *title;  // the expression, or the name of the entry
} report_plan;

// Of -e EXPR, --entry NAME or main, in the scope of `file` (NULL: of the library alone), at --size
// or for --arguments, by --strategy: options that the verb has. CLI_OK, or reported. Free it with
// report_plan_free in any case.
cli_status report_plan_make(const cli_arguments *args, const char *file, report_plan *out);
void report_plan_free(report_plan *p);

#endif
