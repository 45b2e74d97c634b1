// The products of the pipeline as text, one row each. See explain.h.
#include "runtime/explain/explain.h"

static bool print_tree(text *out, permc_context *c, const pipeline *p) {
  (void)p;
  tree_print(out, &c->program.program);
  return true;
}

static bool print_types(text *out, permc_context *c, const pipeline *p) {
  (void)p;
  types_print(out, &c->program.program);
  return true;
}

static bool print_trace(text *out, permc_context *c, const pipeline *p) {
  (void)c;
  text_string(out, trace_legend);
  trace_print(out, &p->trace);
  return true;
}

static bool print_net(text *out, permc_context *c, const pipeline *p) {
  (void)c;
  text_string(out, net_legend);
  net_print(out, p->net);
  return true;
}

static bool print_plan(text *out, permc_context *c, const pipeline *p) {
  (void)c;
  text_string(out, net_legend);
  text_string(out, plan_legend);
  plan_print(out, p->plan);
  return true;
}

static const explain_product products[] = {
    {"tree", STAGE_TRACE, NULL, print_tree},   {"types", STAGE_TRACE, NULL, print_types},
    {"trace", STAGE_TRACE, NULL, print_trace}, {"net", STAGE_PLAN, NULL, print_net},
    {"plan", STAGE_PLAN, NULL, print_plan},    {"c", STAGE_TEXT, "cpu", explain_code},
    {"cuda", STAGE_TEXT, "cuda", explain_code}};

const explain_product *explain_product_named(permc_context *c, const char *name) {
  text known = {0};
  for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
    if (!strcmp(products[i].name, name))
      return text_free(&known), &products[i];
    text_printf(&known, "%s%s", i ? ", " : "", products[i].name);
  }
  context_error(c, "--dump has no form '%s'; it has %s", name, text_content(&known));
  text_free(&known);
  return NULL;
}
