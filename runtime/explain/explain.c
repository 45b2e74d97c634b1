// An entry to an explanation, and the API of both. See explain.h.
#include "runtime/explain/explain.h"

#include "core/units.h"
#include "runtime/cpu/cpu.h"

#include <inttypes.h>
#include <stdio.h>

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

static void count_group(const net_stage *s, const net_op *op, uint32_t *depth,
                        explained_groups *g) {
  uint32_t count = net_op_nodes(s, op, s->walk), choices = 0, deepest = 0;
  for (uint32_t i = 0; i < count; i++) {  // operands precede their node
    const net_node *node = &s->nodes.items[s->walk[i]];
    net_extremum of = net_extremum_of(s, node);
    bool choice = net_is_extremum(&of);
    uint32_t *own = &depth[s->walk[i]];
    *own = 0;
    for (uint32_t k = 0; k < node->operand_count; k++)
      *own = depth[node->operands[k]] > *own ? depth[node->operands[k]] : *own;
    *own += choice;
    choices += choice;
    deepest = *own > deepest ? *own : deepest;
  }
  g->columns++;
  g->elements = UINT64_C(1) << op->k > g->elements ? UINT64_C(1) << op->k : g->elements;
  g->comparators += (choices + 1) / 2;
  g->layers += deepest;
}

static explained_groups count_groups(const net *n, arena *memory) {
  explained_groups g = {0};
  for (size_t i = 0; i < n->stages.count; i++) {
    const net_stage *s = &n->stages.items[i];
    uint32_t *depth = NEW_ARRAY(memory, uint32_t, s->nodes.count + 1);
    for (size_t k = 0; k < s->ops.count; k++)
      if (s->ops.items[k].k > 1)
        count_group(s, &s->ops.items[k], depth, &g);
  }
  return g;
}

// ---- auto ------------------------------------------------------------------------------------

// In the words of a clause.
static void explain_gain(explained_choice *choice, const cost_model *m) {
  char saved[NUMBER_SPACE], wanted[NUMBER_SPACE], least[NUMBER_SPACE];
  double gain = m->portable - m->compiled;
  choice->compiles = gain > m->compile;
  if (gain > m->text)
    choice->cached = "cpu";
  show_seconds(saved, gain);
  show_seconds(wanted, m->compile);
  show_seconds(least, m->text);
  if (gain <= 0)
    snprintf(choice->why, sizeof choice->why,
             "the passes take no less when compiled, and looking for the code takes %s", least);
  else if (choice->compiles)
    snprintf(choice->why, sizeof choice->why,
             "the passes take %s less when compiled; compiling takes %s", saved, wanted);
  else if (gain > m->text)
    snprintf(choice->why, sizeof choice->why,
             "the passes take %s less when compiled; compiling takes %s, looking for the code %s",
             saved, wanted, least);
  else
    snprintf(choice->why, sizeof choice->why,
             "the passes take %s less when compiled, but looking for the code takes %s", saved,
             least);
}

static explained_choice explain_choice(const permc_context *c, const pipeline_request *request,
                                       const pipeline *p) {
  const cost_model *m = &p->model;
  pipeline_request r = {
      .last = STAGE_PROGRAM, .ranks = request->ranks, .memory = request->memory, .often = true};
  const char *often = pipeline_auto(c, &r, m)->name;
  r.often = false;
  const backend *b = pipeline_auto(c, &r, m);
  char own[NUMBER_SPACE], planning[NUMBER_SPACE];
  explained_choice choice = {b->name, b->name, b->name, often, false, ""};
  if (b == &interp_backend) {
    snprintf(choice.why, sizeof choice.why, "interp takes %s, and what is planned at least %s",
             show_seconds(own, m->interp), show_seconds(planning, model_least_planned(m)));
    return choice;
  }
  if (b == &auto_backend) {
    choice.begins = choice.cached = "portable";
    explain_gain(&choice, m);
  } else if ((r.ranks || r.memory) && !c->untrusted) {
    snprintf(choice.why, sizeof choice.why,
             "on ranks and files what takes interp 1 s is compiled, and this takes %s",
             show_seconds(own, m->interp));
    return choice;
  } else {
    snprintf(choice.why, sizeof choice.why, "%s",
             c->untrusted ? "a program that is not trusted is not compiled"
                          : "only compiled code has bank layouts");
  }
  choice.on_gpu = !c->untrusted && model_prefers_gpu(m) ? "cuda" : choice.cached;
  return choice;
}

// ---- explanations ----------------------------------------------------------------------------

typedef struct explain_job {
  const pipeline_request *request;
  const char *type;
  explain_use *use;
  void *with;
} explain_job;

// Whether the target has so many ranks.
static bool has_ranks(permc_context *c, const target *t, uint64_t ranks) {
  return ranks <= (uint64_t)t->peers * t->nodes ||
         context_error(
             c, "target '%s' has %" PRIu32 " hosts of %" PRIu32 " ranks, not %" PRIu64 " ranks",
             t->name, t->nodes, t->peers, ranks);
}

// As the disk moves them, or the processor works on them, whichever takes longer
// (fusion/external/external.h).
static bool explain_steps(permc_context *c, pipeline *p, uint64_t memory,
                          const explained_step **out) {
  const external *e = p->steps;
  explained_step *steps = NEW_ARRAY(&p->memory, explained_step, e->steps.count + 1);
  error why = {0};
  for (size_t i = 0; i < e->steps.count; i++) {
    explained_step *s = &steps[i];
    if (!external_measure(e, i, memory, &s->amount, &why))
      return context_error_of(c, PERMC_ERROR_MEMORY, "%s", why.message);
    for (size_t k = 0; k < p->plan->passes.count && !e->steps.items[i].routine; k++)
      if (p->plan->passes.items[k].stage == e->steps.items[i].stage)
        s->seconds += p->plan->passes.items[k].seconds;
    double moved = external_seconds(p->target, s->amount.moved, s->amount.parts);
    s->seconds = moved > s->seconds ? moved : s->seconds;
  }
  *out = steps;
  return true;
}

// Where no target is named, passes take what they take compiled, on this machine.
static void predict_passes(const pipeline_request *r, const pipeline *p) {
  for (size_t i = 0; !r->target && !r->ranks && !r->memory && i < p->plan->passes.count; i++)
    p->plan->passes.items[i].seconds = p->model.passes[i].compiled;
}

// What the C compiler would take, by the text that it would get: the Plan does not say what of it are
// loops.
static void predict_compilation(const permc_context *c, pipeline *p) {
  const double most = 4;  // times what a compiler gets
  c_options options = backend_text_options(&cpu_backend, c);
  const char *problem = NULL;
  FREED_BY(c_code_free) c_code code = {0};
  if (!p->target->lane_bytes || p->model.bytes > most * (double)C_CODE_MOST_BYTES)
    return;
  if (c_emit(&code, p->plan, &options, &problem))
    p->model.compile = model_compile_seconds(c_code_bytes_of_passes(&code), code.headers,
                                             code.lanes_alone, context_threads(c)) *
                       p->model.speed.cycle / speed_usual.cycle;
}

static bool explain_products(permc_context *c, pipeline *p, void *with) {
  const explain_job *j = with;
  predict_passes(j->request, p);
  predict_compilation(c, p);
  if (!has_ranks(c, p->target, j->request->ranks))
    return false;
  explanation e = {.entry = p->entry->name,
                   .type = j->type,
                   .request = j->request,
                   .pipeline = p,
                   .choice = explain_choice(c, j->request, p),
                   .facts = plan_facts_of(p->plan),
                   .groups = count_groups(p->plan->net, &c->memory),
                   .peak_bytes = cpu_peak_bytes(&p->memory, p->plan),
                   .planning_seconds = c->times.plan};
  e.boundaries = explain_boundaries(c, &p->memory, p, &e.boundary_count);
  if (p->shares)
    e.costs = shares_costs(&p->memory, p->shares, p->plan, p->target);
  if (p->steps && !explain_steps(c, p, j->request->memory, &e.steps))
    return false;
  for (size_t i = 0; i < p->trace.steps.count; i++)
    e.moving_steps += moves(&p->trace.steps.items[i]) && !p->trace.steps.items[i].shadow;
  return j->use(c, &e, j->with);
}

bool explain_entry(permc_context *c, const pipeline_request *r, explain_use *use, void *with) {
  context_begin_call(c);
  explain_job j = {r, context_entry_type(c, r->entry), use, with};
  if (r->ranks && shares_bits(r->ranks) < 0)
    return context_error(c, "the number of ranks is a power of two up to 2^20, not %" PRIu32,
                         r->ranks);
  if (r->ranks && r->memory)
    return context_error(c,
                         "a run on ranks has its arrays in memory; leave out --memory, or --ranks");
  return j.type && pipeline_with(c, r, explain_products, &j);
}

// ---- the API ---------------------------------------------------------------------------------

typedef struct print_job {
  const explain_product *product;
  bool page, rules;
  text out;
} print_job;

static bool print_explanation(permc_context *c, const explanation *e, void *with) {
  print_job *j = with;
  (j->page ? explain_page : explain_text)(&j->out, c, e, j->rules);
  return true;
}

static bool print_product(permc_context *c, pipeline *p, void *with) {
  print_job *j = with;
  return explain_product_print(&j->out, c, p, j->product);
}

bool permc_explain(permc_context *c, const char *entry, const permc_size *sizes, size_t size_count,
                   const permc_explain_options *options, char **out) {
  static const permc_explain_options usual = {0};
  const permc_explain_options *o = options ? options : &usual;
  pipeline_request r = {.entry = entry,
                        .last = STAGE_PLAN,
                        .shows_times = true,
                        .types = o->types,
                        .arguments = o->arguments,
                        .argument_count = o->argument_count,
                        .sizes = sizes,
                        .size_count = size_count,
                        .target = o->target,
                        .ranks = o->ranks,
                        .memory = o->memory};
  print_job j = {.page = o->dump && !strcmp(o->dump, "html"), .rules = o->rules};
  bool good;
  context_begin_call(c);
  if (!context_given(c, out, "where the text goes") || !context_given_sizes(c, sizes, size_count))
    return false;
  *out = NULL;
  if (o->dump && !j.page) {
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
    good = context_no_memory(c);
  if (good)
    *out = j.out.data;
  else
    text_free(&j.out);
  return good;
}
