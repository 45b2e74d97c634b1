// See plan.h.
#include "tool/reports/plan.h"

typedef struct plan_job {
  const pipeline_request *request;
  pipeline *out;
} plan_job;

static bool make_pipeline(permc_context *c, void *with) {
  const plan_job *j = with;
  return pipeline_make(c, j->request, j->out);
}

cli_status report_plan_make(const cli_arguments *args, const char *file, report_plan *out) {
  const char *expression = cli_value(args, "-e"), *entry = cli_entry(args);
  cli_sizes sizes;
  *out = (report_plan){cli_context_new(), {.plan = NULL}, strcmp(entry, "-e") ? entry : expression};
  if (!out->context)
    return CLI_WRONG;
  cli_status status = cli_read_sizes(args, 1, &sizes);
  if (status == CLI_OK)
    status = cli_use_options(args, out->context);
  if (status == CLI_OK && !cli_load(out->context, file, expression))
    status = CLI_WRONG;
  if (status == CLI_OK) {
    pipeline_request r = {.entry = entry,
                          .last = STAGE_PLAN,
                          .types = cli_value(args, "--arguments"),
                          .sizes = sizes.first,
                          .size_count = sizes.count,
                          .target = "gpu"};
    context_begin_call(out->context);
    plan_job job = {&r, &out->pipeline};
    if (!cli_report(out->context, context_run_job(out->context, make_pipeline, &job)))
      status = CLI_WRONG;
  }
  cli_sizes_free(&sizes);
  return status;
}

void report_plan_free(report_plan *p) {
  pipeline_free(&p->pipeline);
  permc_context_free(p->context);
}
