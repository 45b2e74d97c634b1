// An entry to an explanation, and the API of both. See explain.h.
#include "runtime/explain/explain.h"

#include "runtime/cpu/cpu.h"

// ---- counts ----------------------------------------------------------------------------------

static bool is_identity(const trace_step *s) {
  bool identity = s->number == 0;
  for (uint32_t i = 0; UINT64_C(1) << i < s->dims[0]; i++)
    identity = identity && s->rows[i] == UINT64_C(1) << i;
  return identity;
}

// Whether the step, taken literally, puts elements into another order (trace.h).
static bool moves(const trace_step *s) {
  switch (s->op) {
  case TRACE_SPLIT:
    return s->number != s->dims[0];
  case TRACE_STITCH:
    return s->number != s->dims[0] / 2;
  case TRACE_PAIR:
  case TRACE_UNPAIR:
    return s->number != 1;
  case TRACE_BMMC:
    return !is_identity(s);
  case TRACE_TRANSPOSE:
    return s->dims[0] > 1 && s->dims[1] > 1;
  default:
    return false;
  }
}

// ---- explanations ----------------------------------------------------------------------------

typedef struct explain_job {
  const pipeline_request *request;
  const char *type;
  explain_use *use;
  void *with;
} explain_job;

static bool explain_products(permc_context *c, pipeline *p, void *with) {
  const explain_job *j = with;
  explanation e = {.entry = p->entry->name,
                   .type = j->type,
                   .request = j->request,
                   .pipeline = p,
                   .facts = plan_facts_of(p->plan),
                   .peak_bytes = cpu_peak_bytes(p->plan),
                   .planning_seconds = c->times.plan};
  for (size_t i = 0; i < p->trace.steps.count; i++)
    e.moving_steps += moves(&p->trace.steps.items[i]);
  return j->use(c, &e, j->with);
}

bool explain_entry(permc_context *c, const pipeline_request *r, explain_use *use, void *with) {
  context_begin_call(c);
  explain_job j = {r, permc_entry_type(c, r->entry), use, with};
  return j.type && pipeline_with(c, r, explain_products, &j);
}

// ---- the API ---------------------------------------------------------------------------------

typedef struct print_job {
  const explain_product *product;
  bool rules;
  text out;
} print_job;

static bool print_explanation(permc_context *c, const explanation *e, void *with) {
  print_job *j = with;
  explain_text(&j->out, c, e, j->rules);
  return true;
}

static bool print_product(permc_context *c, pipeline *p, void *with) {
  print_job *j = with;
  return j->product->print(&j->out, c, p);
}

bool permc_explain(permc_context *c, const char *entry, const permc_size *sizes, size_t size_count,
                   const permc_explain_options *options, char **out) {
  static const permc_explain_options usual = {0};
  const permc_explain_options *o = options ? options : &usual;
  pipeline_request r = {.entry = entry,
                        .last = STAGE_PLAN,
                        .types = o->types,
                        .sizes = sizes,
                        .size_count = size_count,
                        .target = o->target};
  print_job j = {.rules = o->rules};
  bool good;
  context_begin_call(c);
  *out = NULL;
  if (o->dump) {
    j.product = explain_product_named(c, o->dump);
    if (!j.product)
      return false;
    r.last = j.product->stage;
    r.backend = j.product->backend;
    good = pipeline_with(c, &r, print_product, &j);
  } else {
    good = explain_entry(c, &r, print_explanation, &j);
  }
  if (good && j.out.failed)
    good = context_error(c, "out of memory");
  if (good)
    *out = j.out.data;
  else
    text_free(&j.out);
  return good;
}
