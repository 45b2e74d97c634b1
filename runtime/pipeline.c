// The pipeline. See pipeline.h.
#include "runtime/pipeline.h"
#include "core/clock.h"

#include "core/units.h"
#include "fusion/loops/loops.h"
#include "fusion/lower/lower.h"
#include "fusion/shares/cost.h"
#include "runtime/compiled/compiler.h"
#include "runtime/lines.h"
#include "runtime/system/profiler.h"
#include "runtime/tuned/tuned.h"

#include <unistd.h>

// ---- the arguments ---------------------------------------------------------------------------

// The elements of arguments that may be places, for elaboration to look at: of schedules, and of
// all where the program is for this run alone. Not where a strategy is asked for that permutes by
// any places.
static void show_places(const permc_context *c, const pipeline_request *r, array_shapes *shapes) {
  size_t next = 0;
  for (size_t i = 0; i < r->argument_count; i++)
    for (size_t k = 0; k < r->arguments[i]->count; k++, next++) {
      const array *a = &r->arguments[i]->components[k];
      bool integers = CLASS_OF(a->type) & CLASS_INTEGER && a->rank == 1;
      bool strategy = c->strategy && plan_strategy_permutes(c->strategy);
      if (integers && !strategy && (a->permutation || !r->often))
        shapes->items[next].places = a->data;
    }
}

static bool find_shapes(permc_context *c, const pipeline_request *r, binding *entry, pipeline *p) {
  arena *memory = &p->memory;
  if (r->types && r->size_count)
    return context_error(
        c, "sizes and the types of arguments exclude each other: the types say the sizes");
  if (r->types)
    return values_of_types(c, entry->name, "argument types", r->types, &p->typed,
                           &p->typed_count) &&
           shapes_of_values(c, entry, p->typed, p->typed_count, memory, &p->shapes);
  if (r->arguments)
    return shapes_of_values(c, entry, r->arguments, r->argument_count, memory, &p->shapes) &&
           (show_places(c, r, &p->shapes.arrays), true);
  if (r->some_sizes)
    return shapes_at_some(c, entry, r->sizes, r->size_count, r->other, &r->guess, memory,
                          &p->shapes);
  return shapes_at(c, entry, r->sizes, r->size_count, memory, &p->shapes);
}

// An argument whose elements are known, and needed before the program runs, becomes static.
// `wanted`: its number among the arguments' arrays.
static bool make_static(pipeline *p, uint32_t wanted) {
  array_shape *s = wanted < p->shapes.arrays.count ? &p->shapes.arrays.items[wanted] : NULL;
  if (!s || !s->known || s->data)
    return false;
  s->data = s->known;
  p->has_static = true;
  return true;
}

// Whether nothing is wrong with a product; if something is, it is a fault of permc.
static bool verified(permc_context *c, const char *what, const char *wrong) {
  if (wrong)
    context_error_of(c, PERMC_ERROR_PROGRAM, "the %s is wrong (please report this): %s", what,
                     wrong);
  return !wrong;
}

static bool read_target(permc_context *c, arena *memory, const char *path, const target **out) {
  size_t length;
  const char *wrong = "";
  const char *lines = read_source(memory, path, &length, &wrong);
  if (lines) {
    *out = target_read(memory, lines, &wrong);
    if (!*out)
      context_error_of(c, PERMC_ERROR_FILE, "%s: %s", path, wrong);
    return *out != NULL;
  }
  if (access(path, F_OK) == 0)
    return context_error_of(c, PERMC_ERROR_FILE, "%s: %s", path, wrong);
  FREED_BY(text_free) text known = {0};
  for (size_t i = 0; i < target_count(); i++)
    text_printf(&known, "%s%s", i ? ", " : "", target_at(i)->name);
  context_error(c, "there is no target '%s', nor a file of that name (known targets: %s)", path,
                text_content(&known));
  return false;
}

// What was asked for; else what the backend runs on, and of one that makes no plan the processor.
static bool find_target(permc_context *c, const pipeline_request *r, pipeline *p,
                        const backend *b) {
  const char *name = r->target ? r->target : b->target ? b->target : "";
  const char *isa = c->isa ? c->isa : compiler_widest_isa();
  if (r->target && p->own)
    return true;
  p->own = target_named(*name ? name : isa);
  if (!p->own && !*name)
    p->own = target_named(compiler_widest_isa());
  return p->own || read_target(c, &p->memory, name, &p->own);
}

// The Trace for that backend, unless there is one; again, where its target sorts otherwise, or with
// another argument static, where elaboration asks for it. What was made of the one before goes.
static bool make_trace(permc_context *c, const pipeline_request *r, pipeline *p, const backend *b) {
  diagnostics *d = &c->program.diagnostics;
  unsigned errors = d->errors;
  size_t start = d->rendered.length;
  bool may_call_extern = c->allow_extern || r->last != STAGE_PROGRAM;
  const target *before = p->own;
  if (!find_target(c, r, p, b))
    return false;
  if (before && (before == p->own || !p->trace.asks_networks))
    return true;
  const trace empty = {
      .wants_laws = r->laws, .wants_steps = !p->own->lane_bytes, .networks = &p->own->networks};
  p->trace = empty;
  while (!elaborate(d, &p->memory, &c->limits, may_call_extern, p->entry, p->shapes.instance,
                    p->shapes.arrays.items, p->shapes.arrays.count, &p->trace, &p->result)) {
    if (!d->can_be_static)
      return false;
    if (!make_static(p, d->wanted)) {
      text example = {.memory = &p->memory};
      entry_print_example(&example, p->entry, d->wanted);
      diag_report(d, DIAG_HINT, p->entry->where,
                  "give its value in place of its type, such as --arguments '%s'",
                  text_content(&example));
      return false;
    }
    d->errors = errors;
    d->wants_static = d->can_be_static = false;
    context_truncate_messages(c, start);
    p->trace = empty;
  }
  p->net = NULL;
  p->shares = NULL;
  p->steps = NULL;
  p->plan = NULL;
  machine_speed speed = speed_of_machine(r->shows_times);
  p->model = model_of_trace(&p->trace, &speed, context_threads(c));
  return verified(c, "compiled program", trace_verify(&p->memory, &p->trace));
}

// ---- the Net ---------------------------------------------------------------------------------

// NULL, or what of the trace's results the net does not have, with as many elements.
static const char *results_problem(arena *a, const trace *t, const net *n) {
  size_t found = 0;
  for (size_t i = 0; i < n->arrays.count; i++) {
    const net_array *r = &n->arrays.items[i];
    if (r->role != NET_RESULT)
      continue;
    found++;
    if (r->number >= t->results.count)
      return arena_printf(a, "there is a result %u", (unsigned)r->number);
    const trace_step *s = &t->steps.items[t->results.items[r->number]];
    if (trace_step_count(s) != r->count || s->type != r->type)
      return arena_printf(a, "result %u is not that of the program", (unsigned)r->number);
  }
  return found == t->results.count ? NULL : "a result is missing";
}

// Takes off the checks that are proven; whether there are any.
static bool drop_proven_checks(arena *scratch, pipeline *p) {
  trace *t = &p->trace;
  size_t first = trace_returned(t), count = 0;
  for (size_t i = 0; i < t->checks.count; i++) {
    if (t->checks.items[i].kind == CHECK_PADDING &&
        plan_proves_padding(scratch, p->net, (uint32_t)(first + i)))
      continue;
    t->checks.items[count] = t->checks.items[i];
    t->results.items[first + count++] = t->results.items[first + i];
  }
  size_t proven = t->checks.count - count;
  t->proven_checks += proven;
  t->checks.count -= proven;
  t->results.count -= proven;
  return proven > 0;
}

typedef bool net_step(permc_context *c, arena *scratch, pipeline *p);

static bool lower_trace(permc_context *c, arena *scratch, pipeline *p) {
  p->rules = (rule_log){.memory = &p->memory};
  p->net = lower(scratch, &p->trace, &p->rules);
  return verified(c, "net", net_verify(scratch, p->net)) &&
         verified(c, "net", results_problem(scratch, &p->trace, p->net));
}

static bool rewrite_net(permc_context *c, arena *scratch, pipeline *p) {
  rules_apply(scratch, p->net, &p->rules);
  if (drop_proven_checks(scratch, p))
    return lower_trace(c, scratch, p) && rewrite_net(c, scratch, p);
  return verified(c, "rewritten net", net_verify(scratch, p->net));
}

// Lowering and rewriting leave much behind that nobody needs: it goes with an arena of its own.
static bool run_net_step(permc_context *c, pipeline *p, net_step *step) {
  jmp_buf failure, *outer = p->memory.failure;
  arena scratch = {.failure = &failure, .limit = p->memory.limit};
  p->memory.failure = &failure;
  if (setjmp(failure)) {
    p->memory.at_limit = p->memory.at_limit || scratch.at_limit;
    arena_free(&scratch);
    p->memory.failure = outer;
    longjmp(*outer, 1);
  }
  bool good = step(c, &scratch, p);
  p->net = good ? net_copy(&p->memory, p->net) : NULL;
  p->memory.failure = outer;
  arena_free(&scratch);
  return good;
}

// The Net, unless there is one.
static bool make_net(permc_context *c, pipeline *p) {
  return p->net || (run_net_step(c, p, lower_trace) && run_net_step(c, p, rewrite_net));
}

// ---- shares ----------------------------------------------------------------------------------

// For ranks: the Net in shares, unless there are some.
static bool make_shares(permc_context *c, const pipeline_request *r, pipeline *p) {
  if (!r->ranks || p->shares)
    return true;
  p->shares = shares_of_ranks(&p->memory, p->net, shares_bits(r->ranks));
  return verified(c, "net in shares", shares_verify(&p->memory, p->shares));
}

// The Net with routines for scatters to places that are checked.
static bool lower_sorting_places(permc_context *c, arena *scratch, pipeline *p) {
  trace sorting = p->trace;
  rule_log none = {.memory = scratch};
  sorting.sorts_places = true;
  p->net = lower(scratch, &sorting, &none);
  rules_apply(scratch, p->net, &none);
  return verified(c, "net that sorts places", net_verify(scratch, p->net));
}

// *sorts: it, or NULL where it has no more routines than the Net.
static bool make_net_of_sorts(permc_context *c, pipeline *p, const net **sorts) {
  net *own = p->net;
  bool any = false, good = true;
  for (size_t i = 0; i < p->trace.steps.count && !any; i++)
    any = trace_is_checked_permute(&p->trace, &p->trace.steps.items[i]);
  if (any)
    good = run_net_step(c, p, lower_sorting_places);
  *sorts = any ? p->net : NULL;
  p->net = own;
  return good;
}

// For arrays in files: the Net in steps, unless there are some.
static bool make_steps(permc_context *c, const pipeline_request *r, pipeline *p) {
  const char *wrong;
  const net *sorts;
  char memory[NUMBER_SPACE];
  if (!r->memory || p->steps)
    return true;
  if (!make_net_of_sorts(c, p, &sorts))
    return false;
  p->steps = external_make(&p->memory, p->net, sorts, p->target, r->memory, &wrong);
  if (!p->steps)
    return context_error_of(c, PERMC_ERROR_MEMORY, "this does not run in %s of memory: %s",
                            show_bytes(memory, r->memory), wrong);
  return verified(c, "net in steps", external_verify(&p->memory, p->steps));
}

// Whether the plan has the stages that the shares are of, or each rank executes all of it.
static const char *plan_problem(pipeline *p) {
  const char *problem = plan_verify(&p->memory, p->plan);
  const shares *s = p->shares;
  if (!problem && p->steps && p->plan->net->stages.count != p->steps->net->stages.count)
    return "it has other stages than the steps";
  if (problem || !s || p->plan->net->stages.count == s->net->stages.count)
    return problem;
  for (size_t i = 0; i < s->net->stages.count; i++)
    if (s->stages[i].kind != SHARE_WHOLE)
      return "it has other stages than the net in shares";
  return NULL;
}

// ---- the Plan --------------------------------------------------------------------------------

// Whether the plan is for the machine at hand. `device`: its name, NULL for the processor.
static bool is_at_hand(permc_context *c, const pipeline_request *r, const backend *b,
                       char space[BACKEND_WHY], const char **device) {
  *device = b->name_device ? space : NULL;
  return !r->target && b->at_hand && (!b->name_device || b->name_device(c, space));
}

// The target with tiles as large as the device has room for. (Of few elements, and where they save
// no pass, tiles are smaller: target_for.)
static const target *with_tile_of_device(permc_context *c, pipeline *p) {
  const backend *b = p->backend;
  uint64_t bytes = b->tile_bytes ? b->tile_bytes(c) : 0;
  if (bytes <= p->own->tile_bytes)
    return p->own;
  target *t = NEW(&p->memory, target);
  *t = *p->own;
  t->tile_bytes = bytes;
  return t;
}

// What to plan for, as it was tuned.
static void choose_target(permc_context *c, const pipeline_request *r, pipeline *p) {
  char space[BACKEND_WHY];
  const char *device;
  p->tuned = false;
  p->target = p->own;
  if (!is_at_hand(c, r, p->backend, space, &device))
    return;
  p->target = tuned_target(&p->memory, p->net, p->own, device, c->trial, &p->tuned);
  if (p->target == p->own)
    p->target = with_tile_of_device(c, p);
}

// Arrays between passes of a stage with fewer elements than it: what is neither written nor read.
static void log_live_arrays(pipeline *p, const plan_pass *pass) {
  const plan *made = p->plan;
  uint64_t all = net_stage_elements(plan_stage_of(made, pass));
  for (uint32_t i = 0; i < pass->store_count; i++) {
    net_id number = pass->stores[i].array;
    const net_array *a = &made->arrays.items[number];
    if (number >= made->net->arrays.count && made->padding[pass->stage] != PADDING_FREE &&
        a->count < all)
      rule_fired(&p->rules, RULE_LIVE_ARRAYS, NET_NONE,
                 2 * (all - a->count) * scalar_types[a->type].size, 0);
  }
}

// The planner's own rules, in the log of those that fired.
static void log_plan(pipeline *p) {
  for (rule_id rule = 0; rule < RULE_COUNT; rule++)
    p->rules.of[rule].times += p->plan->fired[rule];
  for (size_t i = 0; i < p->plan->net->stages.count; i++)
    if (p->plan->padding[i] == PADDING_FREE)
      rule_fired(&p->rules, RULE_FREE_PADDING, NET_NONE, 0, 0);
  for (size_t i = 0; i < p->plan->passes.count; i++) {
    plan_look_back one;
    log_live_arrays(p, &p->plan->passes.items[i]);
    if (plan_look_back_from(&p->memory, p->plan, (uint32_t)i, &one))
      rule_fired(&p->rules, RULE_LOOK_BACK, NET_NONE, 0, 0);
  }
}

// Whether arrays are to lie in the slabs of several GPUs: of less than that each, the first one has
// all.
static bool is_for_peers(const permc_context *c, const pipeline *p) {
  const uint64_t least = UINT64_C(1) << 21;
  uint64_t most = 0;
  for (size_t i = 0; i < p->net->arrays.count; i++) {
    const net_array *a = &p->net->arrays.items[i];
    uint64_t bytes = a->count * scalar_types[a->type].size;
    most = bytes > most ? bytes : most;
  }
  return p->backend == &cuda_backend && c->peer_count > 1 && !p->shares &&
         most / c->peer_count >= least;
}

// On several GPUs, each pass of the Plan is shared by its blocks; or there are passes that keep to
// the slab of a GPU in what they load: whatever sends less.
static bool plan_for_peers(permc_context *c, pipeline *p, const plan_strategy *strategy) {
  int bits = shares_bits(c->peer_count);
  if (!is_for_peers(c, p))
    return true;
  net *n = shares_of_peers(&p->memory, shares_for_peers(&p->memory, p->net, bits));
  if (!verified(c, "net of several GPUs", net_verify(&p->memory, n)))
    return false;
  plan *other = plan_make(&p->memory, n, p->target, strategy);
  shares_peers_overlap(&p->memory, p->plan, bits);
  shares_peers_overlap(&p->memory, other, bits);
  if (shares_peers_seconds(other, bits) < shares_peers_seconds(p->plan, bits))
    p->plan = other;
  return true;
}

// The Plan for the backend's target, unless there is one. The next run may have another matrix: on
// a GPU, one kernel that gets its matrix when it runs serves both.
static bool make_plan(permc_context *c, const pipeline_request *r, pipeline *p) {
  bool runtime_matrix = !c->strategy && p->has_static && p->backend == &cuda_backend && !p->shares;
  const target *before = p->target;
  choose_target(c, r, p);
  if (!make_steps(c, r, p))
    return false;
  bool first = !p->plan;
  const plan_strategy *strategy = runtime_matrix ? plan_strategy_named("online") : c->strategy;
  if (first || p->target != before) {
    const net *n = p->shares ? p->shares->net : p->steps ? p->steps->net : p->net;
    p->plan = plan_make(&p->memory, n, p->target, strategy);
    if (!plan_for_peers(c, p, strategy))
      return false;
  }
  if (first)
    log_plan(p);
  if (r->last == STAGE_PROGRAM && profiler_wants_names())
    p->plan->lines = lines_of_passes(c, &p->memory, &p->trace, p->plan);
  c->passes = p->plan->passes.count;
  return true;
}

// The Net of a Trace with loops that are planned once, unless there is one; where there are no such
// loops, or no memory for them, nothing.
static bool make_loops(permc_context *c, const pipeline_request *r, pipeline *p) {
  jmp_buf failure;
  const char *wrong = NULL;
  if (r->laws || p->net)
    return true;
  arena_free(&p->loops);
  p->loops = (arena){.failure = &failure, .limit = p->memory.limit};
  rule_log log = {.memory = &p->loops};
  if (setjmp(failure)) {
    arena_free(&p->loops);
    return true;
  }
  bool parts = p->own->lane_bytes && !r->ranks && !r->memory;
  net *made = loops_net(&p->loops, &p->trace, p->own, parts, &log, &wrong);
  p->loops.failure = NULL;
  if (wrong) {
    verified(c, "loop", wrong);
    arena_free(&p->loops);
    return false;
  }
  if (made) {
    p->net = made;
    p->rules = log;
    p->rules.memory = &p->memory;
  } else {
    arena_free(&p->loops);
  }
  return !made || verified(c, "net of loops", net_verify(&p->memory, made));
}

// The Net and the Plan, and what they say of the time that the program takes.
static bool make_products(permc_context *c, const pipeline_request *r, pipeline *p) {
  double start = clock_seconds();
  context_begin_stage(c, "planning", "");
  if (!make_loops(c, r, p) || !make_net(c, p) || !make_shares(c, r, p) || !make_plan(c, r, p) ||
      !verified(c, "plan", plan_problem(p)))
    return false;
  p->program.plan = p->plan;
  c->times.plan += clock_seconds() - start;
  if (p->target->lane_bytes)
    model_add_plan(&p->model, &p->memory, p->plan, context_threads(c),
                   context_gpu(c)->open != NULL);
  return true;
}

// ---- the backend -----------------------------------------------------------------------------

static const backend *const backends[] = {&auto_backend, &interp_backend, &cpu_backend,
                                          &portable_backend, &cuda_backend};

static const backend *backend_named(const char *name) {
  for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
    if (!strcmp(backends[i]->name, name))
      return backends[i];
  return NULL;
}

static bool is_auto(const pipeline_request *r) {
  return !r->backend || !strcmp(r->backend, "auto");
}

const backend *pipeline_backend(permc_context *c, const char *name) {
  const backend *found = backend_named(name ? name : "auto");
  if (found && c->untrusted && (found == &cpu_backend || found == &cuda_backend)) {
    context_error_of(
        c, PERMC_ERROR_MISSING,
        "the backend %s compiles programs, and one that is not trusted is not compiled; "
        "take auto, portable or interp",
        name);
    return NULL;
  }
  if (found)
    return found;
  FREED_BY(text_free) text known = {0};
  for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
    text_printf(&known, "%s%s", i ? ", " : "", backends[i]->name);
  context_error_of(c, PERMC_ERROR_MISSING, "there is no backend '%s' (known backends: %s)", name,
                   text_content(&known));
  return NULL;
}

// The one on the processor that plans: a program that runs often is compiled before it runs, and so
// is one for a bank layout, which only compiled code has.
static const backend *choose_planner(const permc_context *c, const pipeline_request *r) {
  if (c->untrusted && r->last == STAGE_PROGRAM)
    return &portable_backend;
  return r->last != STAGE_PROGRAM || r->often || c->layout ? &cpu_backend : &auto_backend;
}

// For ranks and files: what compiles, where that is worth it, as far as the Trace says.
static const backend *choose_executor(const permc_context *c, const pipeline_request *r,
                                      const cost_model *m) {
  const double worth_compiling = 1;  // second by interp
  bool compiles = r->often || m->interp >= worth_compiling;
  return compiles && !c->untrusted ? &cpu_backend : &portable_backend;
}

const backend *pipeline_auto(const permc_context *c, const pipeline_request *r,
                             const cost_model *m) {
  if ((r->ranks || r->memory) && r->last == STAGE_PROGRAM)
    return choose_executor(c, r, m);
  const backend *planner = choose_planner(c, r);
  bool planned = c->strategy || c->layout || r->last != STAGE_PROGRAM || r->often;
  return !planned && model_prefers_interp(m) ? &interp_backend : planner;
}

static const backend *choose_backend(permc_context *c, const pipeline_request *r, pipeline *p) {
  const backend *b = is_auto(r) ? pipeline_auto(c, r, &p->model) : backend_named(r->backend);
  bool apart = (r->ranks || r->memory) && r->last == STAGE_PROGRAM;
  if (!apart || b->executor || (r->ranks && b->devices))
    return b;
  context_error_of(c, PERMC_ERROR_MISSING,
                   "the backend %s does not run on %s; portable, cpu%s and auto do", b->name,
                   r->ranks ? "ranks" : "arrays in files (--memory)", r->ranks ? ", cuda" : "");
  return NULL;
}

// Whether the results stay within the limit.
static bool check_results(permc_context *c, const trace *t) {
  uint64_t bytes = 0;
  char size[NUMBER_SPACE], limit[NUMBER_SPACE];
  for (size_t i = 0; i < trace_returned(t); i++) {
    const trace_step *s = &t->steps.items[t->results.items[i]];
    bytes += trace_step_count(s) * scalar_types[s->type].size;
  }
  return bytes <= c->limits.results ||
         context_error_of(c, PERMC_ERROR_MEMORY,
                          "the results have %s, and the limit is %s (--limit results=BYTES)",
                          show_bytes(size, bytes), show_bytes(limit, c->limits.results));
}

// The text for the backend's compiler.
static backend_status make_text(permc_context *c, const pipeline_request *r, pipeline *p,
                                char why[BACKEND_WHY]) {
  enum { LEAST_ROOT_BITS = 4, BYTES_OF_ROOT = 8, ROOTS_PART = 64 };  // of the memory, each table
  c_options options = backend_text_options(p->backend, c);
  uint64_t roots = r->memory / ROOTS_PART / BYTES_OF_ROOT;
  int bits = roots ? f2_msb(roots) : 0;
  if (r->memory)
    options.root_bits = bits < LEAST_ROOT_BITS ? LEAST_ROOT_BITS : (uint32_t)bits;
  options.apart = p->shares != NULL;  // a kernel of several passes has all their items
  const char *problem = p->target->lane_bytes ? NULL : c_missing_on_gpu(p->plan);
  if (!problem && c_emit(&p->code, p->plan, &options, &problem))
    return BACKEND_READY;
  snprintf(why, BACKEND_WHY, "%s", problem ? problem : "");
  if (!problem)
    context_no_memory(c);
  return problem ? BACKEND_MISSING : BACKEND_FAILED;
}

// Whether another backend has the program now, because this one, which `auto` has taken, lacks what
// it needs.
static bool fall_back(permc_context *c, const pipeline_request *r, pipeline *p, const char *why) {
  const backend *b = p->backend;
  if (r->last != STAGE_PROGRAM)
    return context_error(c, "%s", why);
  if (!is_auto(r))
    return context_error_of(c, PERMC_ERROR_MISSING,
                            "the backend %s cannot run this: %s; the backend auto, which is the "
                            "default, takes one that can",
                            b->name, why);
  if (b != &cuda_backend)
    context_warn_uncompiled(c, why);
  b->release(&p->program);
  p->program.state = NULL;
  p->backend = b == &cuda_backend ? choose_planner(c, r) : &portable_backend;
  return true;
}

// Strategies and layouts that were asked for and have nothing to apply to.
static void warn_of_choices(permc_context *c, const pipeline *p) {
  bool used = !c->strategy;
  uint64_t exchanges = 0;
  for (size_t i = 0; p->plan && i < p->plan->net->stages.count; i++)
    used = used || !strcmp(p->plan->strategy[i], c->strategy->name);
  for (size_t i = 0; p->plan && i < p->plan->passes.count; i++)
    exchanges += plan_pass_facts_of(p->plan, i).exchanges;
  if (!used)
    context_warn_once(c, WARNING_NO_STRATEGY, "the strategy %s applies to no part of this program",
                      c->strategy->name);
  if (c->layout && (exchanges == 0 || p->backend == &portable_backend))
    context_warn_once(c, WARNING_NO_LAYOUT, "the layout %s applies to nothing: %s", c->layout->name,
                      exchanges ? "the backend portable has none" : "there are no exchanges");
}

// ---- the whole -------------------------------------------------------------------------------

// The products in their order, each from the one before it.
static bool run_pipeline(permc_context *c, const pipeline_request *r, pipeline *p) {
  arena *memory = &p->memory;
  bool runs = r->last == STAGE_PROGRAM;
  double start = clock_seconds();
  context_begin_stage(c, "elaborating", "");

  // The loaded program and the arguments to a Trace.
  binding *entry = p->entry = context_entry(c, r->entry);
  const backend *asked = is_auto(r) ? &auto_backend : backend_named(r->backend);
  if (!entry || !find_shapes(c, r, entry, p) || !make_trace(c, r, p, asked) ||
      (runs && !check_results(c, &p->trace)))
    return false;
  c->times = (permc_times){.load = c->times.load, .elaborate = clock_seconds() - start};
  if (r->last != STAGE_TRACE && !(p->backend = choose_backend(c, r, p)))
    return false;
  bool may_use_gpu =
      runs && is_auto(r) && !r->ranks && !r->memory && !c->trial && !c->untrusted && !c->gpu_failed;

  // The Trace to what a backend executes. Where `auto` finds that one lacks what it needs, or with
  // the Plan that another is faster, that has its place.
  for (backend_status status = BACKEND_MISSING; p->backend && status != BACKEND_READY;) {
    char why[BACKEND_WHY] = "";
    const backend *b = p->backend;
    if (!make_trace(c, r, p, b))
      return false;
    p->program =
        (backend_program){c,    memory, &p->trace,   NULL, &p->code, is_auto(r) ? &p->model : NULL,
                          NULL, {0},    r->ranks > 0};
    start = clock_seconds();
    status = runs && b->open ? b->open(c, why) : BACKEND_READY;
    if (b->open && status == BACKEND_READY)
      c->times.start = clock_seconds() - start;
    // The Trace to a Net, the Net to a Plan.
    if (status == BACKEND_READY && b->target) {
      if (!make_products(c, r, p))
        return false;
      if (may_use_gpu && b != &cuda_backend && model_prefers_gpu(&p->model)) {
        may_use_gpu = false;
        p->backend = &cuda_backend;
        status = BACKEND_MISSING;
        continue;
      }
    }

    // The Plan to a text, and what the backend makes of it.
    start = clock_seconds();
    p->program.progress = context_begin_stage(c, "compiling", "texts");
    bool has_text = runs ? b->stream_bytes > 0 : r->last == STAGE_TEXT;
    if (status == BACKEND_READY && has_text)
      status = make_text(c, r, p, why);
    if (status == BACKEND_READY && runs) {
      status = b->prepare(&p->program, why);
      c->times.compile += clock_seconds() - start;
      c_code_free(&p->code);
    }
    if (status == BACKEND_FAILED || (status == BACKEND_MISSING && !fall_back(c, r, p, why)))
      return false;
  }
  if (p->backend)
    warn_of_choices(c, p);
  c->predicted = !p->plan                          ? p->model.interp
                 : p->backend == &cpu_backend      ? p->model.compiled
                 : p->backend == &portable_backend ? p->model.portable
                                                   : plan_facts_of(p->plan).seconds;
  return true;
}

bool pipeline_make(permc_context *c, const pipeline_request *r, pipeline *p) {
  jmp_buf failure;
  *p = (pipeline){.memory = {.failure = &failure, .limit = 2 * c->limits.memory}};
  c->times = (permc_times){.load = c->times.load};
  bool good = false;
  if (!setjmp(failure))
    good = run_pipeline(c, r, p);
  else
    context_report_memory(c, &p->memory, p->entry);
  p->memory.failure = NULL;
  return good;
}

void pipeline_free(pipeline *p) {
  if (p->backend)
    p->backend->release(&p->program);
  c_code_free(&p->code);
  permc_values_free(p->typed, p->typed_count);
  arena_free(&p->loops);
  arena_free(&p->memory);
  *p = (pipeline){0};
}

typedef struct pipeline_job {
  const pipeline_request *request;
  pipeline pipeline;  // not on the stack of the job, from which failures of memory jump
  pipeline_use *use;
  void *with;
} pipeline_job;

static bool run_job(permc_context *c, void *with) {
  pipeline_job *j = with;
  pipeline *p = &j->pipeline;
  jmp_buf failure;
  if (!pipeline_make(c, j->request, p))
    return false;
  p->memory.failure = &failure;
  if (!setjmp(failure))
    return j->use(c, p, j->with);
  context_report_memory(c, &p->memory, p->entry);
  return false;
}

bool pipeline_with(permc_context *c, const pipeline_request *r, pipeline_use *use, void *with) {
  pipeline_job j = {.request = r, .use = use, .with = with};
  bool good = context_run_job(c, run_job, &j);
  pipeline_free(&j.pipeline);
  return good;
}
