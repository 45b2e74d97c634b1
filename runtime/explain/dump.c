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

// NULL, or why the program cannot be drawn so.
static const char *add_picture(text *out, permc_context *c, const pipeline *p, const draw_row *row,
                               bool svg) {
  draw_picture picture = {.svg = svg};
  const char *problem = row->draw(&picture, &c->program.memory, p);
  if (!problem && svg)
    svg_write(out, &picture.body, picture.width, picture.height);
  else if (!problem)
    text_add(out, text_content(&picture.body), picture.body.length);
  out->failed = out->failed || picture.body.failed;
  text_free(&picture.body);
  return problem;
}

// The usual picture is that of the passes if the program has no such picture.
static bool print_picture(text *out, permc_context *c, const pipeline *p,
                          const explain_product *product) {
  bool usual = !*product->picture;
  const draw_row *row = usual ? draw_usual(p->net) : draw_named(product->picture);
  const char *problem = add_picture(out, c, p, row, product->svg);
  if (!problem)
    return true;
  if (!usual || add_picture(out, c, p, draw_named("passes"), product->svg))
    return context_error(c, "%s is not %s: %s", p->entry->name, row->what, problem);
  diag_report(&c->program.diagnostics, DIAG_NOTE, SPAN_NONE,
              "these are the passes, as %s is not %s: %s", p->entry->name, row->what, problem);
  return true;
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
    {"passes", STAGE_PLAN, .picture = "passes"},
    {"passes.svg", STAGE_PLAN, .picture = "passes", .svg = true},
};

bool explain_product_print(text *out, permc_context *c, const pipeline *p,
                           const explain_product *product) {
  return product->picture ? print_picture(out, c, p, product) : product->print(out, c, p);
}

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
