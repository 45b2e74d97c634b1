// The products of the pipeline as text, one row each. See explain.h.
#include "core/svg.h"
#include "runtime/draw/draw.h"
#include "runtime/explain/explain.h"

static bool print_trace(text *out, permc_context *c, const pipeline *p) {
  (void)c;
  text_string(out, trace_legend);
  trace_print(out, &p->trace);
  return true;
}

static bool print_net(text *out, permc_context *c, const pipeline *p) {
  (void)c;
  text_string(out, net_legend);
  if (p->steps)
    external_print(out, p->steps);
  else
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

// ---- pictures (runtime/draw) -------------------------------------------------------------------

static bool print_picture(text *out, permc_context *c, const pipeline *p,
                          const explain_product *product) {
  const draw_row *row = *product->picture ? draw_named(product->picture) : draw_usual(p->net);
  draw_picture picture = {.svg = product->svg};
  const char *problem = row->draw(&picture, &c->program.memory, p);
  if (!problem && picture.svg)
    svg_write(out, &picture.body, picture.width, picture.height);
  else if (!problem)
    text_add(out, text_content(&picture.body), picture.body.length);
  out->failed = out->failed || picture.body.failed;
  text_free(&picture.body);
  return !problem || context_error(c, "%s is not %s: %s", p->entry->name, row->what, problem);
}

static const explain_product products[] = {
    {"trace", STAGE_TRACE, .print = print_trace},
    {"net", STAGE_PLAN, .print = print_net},
    {"plan", STAGE_PLAN, .print = print_plan},
    {"c", STAGE_TEXT, .backend = "cpu", .print = explain_code},
    {"cuda", STAGE_TEXT, .backend = "cuda", .print = explain_code},
    {"picture", STAGE_PLAN, .picture = ""},
    {"picture.svg", STAGE_PLAN, .picture = "", .svg = true},
    {"network", STAGE_PLAN, .picture = "network"},
    {"network.svg", STAGE_PLAN, .picture = "network", .svg = true},
    {"matrix", STAGE_PLAN, .picture = "matrix"},
    {"matrix.svg", STAGE_PLAN, .picture = "matrix", .svg = true},
};

bool explain_product_print(text *out, permc_context *c, const pipeline *p,
                           const explain_product *product) {
  return product->picture ? print_picture(out, c, p, product) : product->print(out, c, p);
}

const explain_product *explain_product_named(permc_context *c, const char *name) {
  FREED_BY(text_free) text known = {0};
  for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
    if (!strcmp(products[i].name, name))
      return &products[i];
    text_printf(&known, "%s%s", i ? ", " : "", products[i].name);
  }
  context_error(c, "--dump has no form '%s'; it has %s", name, text_content(&known));
  return NULL;
}
