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
  cli_session *s = &out->session;
  cli_status status = cli_open(s, args, file);
  out->pipeline = (pipeline){.plan = NULL};
  out->title = strcmp(s->entry, "-e") ? s->entry : cli_value(args, "-e");
  if (status != CLI_OK)
    return status;
  pipeline_request r = {.entry = s->entry,
                        .last = STAGE_PLAN,
                        .types = cli_value(args, "--arguments"),
                        .sizes = s->sizes.first,
                        .size_count = s->sizes.count,
                        .target = "gpu"};
  context_begin_call(s->context);
  plan_job job = {&r, &out->pipeline};
  return cli_report(s->context, context_run_job(s->context, make_pipeline, &job)) ? CLI_OK
                                                                                  : CLI_WRONG;
}

void report_plan_free(report_plan *p) {
  pipeline_free(&p->pipeline);
  cli_close(&p->session);
}
