// An explanation as one JSON object. Vectors are strings in hexadecimal, times are in seconds.
//
//   {"entry": "main", "type": "[2^n]i32 -> [2^n]i32", "sizes": {"n": 24},
//    "arguments": [{"type": "i32", "dims": [16777216]}], "results": [...],
//    "auto": {"backend": "portable", "cached": "cpu", "on_gpu": "cuda", "often": "cpu",
//             "compiles": true,
//             "why": "the passes take 11 s less when compiled; compiling takes 2.6 s",
//             "predicted": {"interp": 640, "portable": 24, "cpu": 13, "cuda": 0.9},
//             "planning": 0.005, "look": 0.03, "compile": {"cpu": 2.6, "cuda": 1.4}},
//    "target": {"name": "avx512", "tuned": false, "line_bytes": 128, ...}, "strategy": "free",
//    "columns": 300, "static_columns": 300, "maps": 0, "moving_steps": 574, "permutations": 0,
//    "pass_count": 14, "copies": 0, "exchanges": 70, "bytes_read": ..., "bytes_written": ...,
//    "seconds": ..., "temporaries": 1, "temporary_bytes": ..., "peak_bytes": ...,
//    "passes": [{"stage": 0, "n": 24, "loops": [], "kind": "work", "padding": "none", "ops": 45,
//                "columns": 45, "static_columns": 45, "maps": 0, "phases": 10, "exchanges": 9,
//                "tile": ["0x1", ...], "bytes_read": ..., "bytes_written": ..., "seconds": ...,
//                "bound": "work",
//                "loads": [{"array": 0, "role": "argument", "number": 0, "coalesced": true,
//                           "missing_dimensions": 0}], "stores": [...],
//                "boundaries": [{"reason": "tile", "before": 0,
//                                "first": "sort xs at sort.perm:2:9", "second": ..., "why": "...",
//                                "without": "...", "needed_dimensions": 16,
//                                "held_dimensions": 15}],
//                "permutations": [...]}, ...],
//    "rules": [{"name": "bmmc-bmmc", "times": 3, "bytes": ..., "operations": ..., "law": "..."}],
//    "planning_seconds": ...}
#include "tool/reports/explain.h"
#include "tool/reports/json.h"

#include <inttypes.h>

// ---- the program -----------------------------------------------------------------------------

static json_t *json_of_numbers(const uint64_t *values, uint32_t count) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; i++)
    json_array_append_new(list, report_count(values[i]));
  return list;
}

static json_t *json_of_shape(const trace_step *s) {
  return json_pack("{s:s, s:o}", "type", scalar_types[s->type].name, "dims",
                   json_of_numbers(s->dims, s->rank));
}

static void add_program(json_t *to, const explanation *e) {
  const trace *t = &e->pipeline->trace;
  json_t *sizes = json_object(), *arguments = json_array(), *results = json_array();
  for (size_t i = 0; i < e->request->size_count; i++)
    json_object_set_new(sizes, e->request->sizes[i].name, json_integer(e->request->sizes[i].value));
  for (size_t i = 0; i < t->steps.count; i++)
    if (t->steps.items[i].op == TRACE_ARGUMENT)
      json_array_append_new(arguments, json_of_shape(&t->steps.items[i]));
  for (size_t i = 0; i < trace_returned(t); i++)
    json_array_append_new(results, json_of_shape(&t->steps.items[t->results.items[i]]));
  json_object_set_new(to, "entry", report_string(e->entry));
  json_object_set_new(to, "type", report_string(e->type));
  json_object_set_new(to, "sizes", sizes);
  json_object_set_new(to, "arguments", arguments);
  json_object_set_new(to, "results", results);
}

// Its fields are numbers.
static json_t *json_of_target(const target *t, bool tuned) {
  json_t *to = json_pack("{s:o, s:b}", "name", report_string(t->name), "tuned", tuned);
  for (size_t i = 0; i < target_plan_field_count(); i++) {
    FREED_BY(text_free) text field = {0};
    target_print_field(&field, t, i);
    json_object_set_new(to, target_field_at(i).name,
                        json_loads(text_content(&field), JSON_DECODE_ANY, NULL));
  }
  return to;
}

// The times are with planning; compiling comes on top where the code is not in the cache.
static json_t *json_of_choice(const explained_choice *choice, const cost_model *m) {
  return json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:{s:o, s:o, s:o, s:o}, s:o, s:o, s:{s:o, s:o}}",
                   "backend", choice->begins, "cached", choice->cached, "on_gpu", choice->on_gpu,
                   "often", choice->often, "compiles", choice->compiles, "why", choice->why,
                   "predicted", "interp", report_number(m->interp), "portable",
                   report_number(m->portable), "cpu", report_number(m->compiled), "cuda",
                   report_number(m->cuda_cached - m->planning), "planning",
                   report_number(m->planning), "look", report_number(m->text), "compile", "cpu",
                   report_number(m->compile), "cuda", report_number(m->cuda - m->cuda_cached));
}

static void add_counts(json_t *to, const explanation *e) {
  const plan_facts *f = &e->facts;
  json_object_set_new(to, "columns", report_count(f->columns));
  json_object_set_new(to, "static_columns", report_count(f->static_columns));
  json_object_set_new(to, "maps", report_count(f->maps));
  json_object_set_new(to, "moving_steps", report_count(e->moving_steps));
  json_object_set_new(to, "permutations", report_count(f->permutations));
  json_object_set_new(to, "pass_count", report_count(f->passes));
  json_object_set_new(to, "copies", report_count(f->copies));
  json_object_set_new(to, "exchanges", report_count(f->exchanges));
  json_object_set_new(to, "bytes_read", report_count(f->bytes_read));
  json_object_set_new(to, "bytes_written", report_count(f->bytes_written));
  json_object_set_new(to, "seconds", report_number(f->seconds));
  json_object_set_new(to, "temporaries", report_count(f->temporaries));
  json_object_set_new(to, "temporary_bytes", report_count(f->temporary_bytes));
  json_object_set_new(to, "peak_bytes", report_count(e->peak_bytes));
}

// ---- passes ----------------------------------------------------------------------------------

static json_t *json_of_moves(const plan *p, const plan_pass *pass, const plan_move *moves,
                             uint32_t count) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; i++) {
    const net_array *a = &p->arrays.items[moves[i].array];
    json_array_append_new(
        list, json_pack("{s:o, s:s, s:o, s:b, s:i}", "array", report_count(moves[i].array), "role",
                        net_role_names[a->role], "number", report_count(a->number), "coalesced",
                        moves[i].coalesced, "missing_dimensions",
                        plan_missing_dimensions(p, pass, &moves[i])));
  }
  return list;
}

static json_t *json_of_tile(const plan_pass *pass) {
  json_t *list = json_array();
  for (int i = 0; i < pass->tile.dimension; i++)
    json_array_append_new(list, json_sprintf("0x%" PRIx64, pass->tile.basis[i]));
  return list;
}

static json_t *json_of_text(const char *shown) {
  return shown ? report_string(shown) : json_null();
}

// Why the pass is apart from those before it; or why it only moves elements.
static json_t *json_of_boundaries(const explanation *e, size_t pass, bool permutation) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < e->boundary_count; i++) {
    const explained_boundary *b = &e->boundaries[i];
    if (b->at.pass != pass || b->at.permutation != permutation)
      continue;
    json_t *to = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "reason",
                           net_reasons[b->at.reason].name, "before", report_count(b->at.before),
                           "first", json_of_text(b->first), "second", json_of_text(b->second),
                           "why", json_of_text(b->why), "without", json_of_text(b->remedy));
    if (b->at.reason == NET_REASON_TILE) {
      json_object_set_new(to, "needed_dimensions", json_integer(b->at.needed));
      json_object_set_new(to, "held_dimensions", json_integer(b->at.held));
    }
    json_array_append_new(list, to);
  }
  return list;
}

static json_t *json_of_array_number(net_id id) {
  return id == NET_NONE ? json_null() : report_count(id);
}

static json_t *json_of_routine(const plan *p, const net_routine *r) {
  json_t *pairs = json_array();
  for (uint32_t i = 0; i < r->pair_count; i++)
    json_array_append_new(pairs,
                          json_pack("{s:o, s:o}", "from", json_of_array_number(r->pairs[i].from),
                                    "to", json_of_array_number(r->pairs[i].to)));
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "name", net_routine_names[r->kind],
                   "rows", report_count(r->rows), "length", report_count(r->length), "bits",
                   report_count(plan_routine_bits(p, r)), "digits",
                   report_count(plan_routine_digits(p, r)), "descending", r->descending, "arrays",
                   pairs);
}

static json_t *json_of_pass(const explanation *e, size_t number) {
  const plan *p = e->pipeline->plan;
  static const char *const kinds[] = {"work", "move", "copy", "routine"};
  static const char *const bounds[] = {"memory", "work", "start"};
  const plan_pass *pass = &p->passes.items[number];
  const net_stage *s = plan_stage_of(p, pass);
  plan_pass_facts f = plan_pass_facts_of(p, number);
  json_t *to = json_object();
  json_object_set_new(to, "stage", report_count(pass->stage));
  json_object_set_new(to, "n", json_integer(s->n));
  json_object_set_new(to, "loops", json_of_numbers(s->extents, s->loop_count));
  json_object_set_new(to, "kind", json_string(kinds[f.kind]));
  json_object_set_new(to, "strategy", report_string(p->strategy[pass->stage]));
  json_object_set_new(to, "padding", json_string(plan_padding_names[p->padding[pass->stage]]));
  json_object_set_new(to, "ops", report_count(pass->op_count));
  json_object_set_new(to, "columns", report_count(f.columns));
  json_object_set_new(to, "static_columns", report_count(f.static_columns));
  json_object_set_new(to, "maps", report_count(f.maps));
  json_object_set_new(to, "phases", report_count(pass->phase_count));
  json_object_set_new(to, "exchanges", report_count(f.exchanges));
  json_object_set_new(to, "tile", json_of_tile(pass));
  json_object_set_new(to, "bytes_read", report_count(f.bytes_read));
  json_object_set_new(to, "bytes_written", report_count(f.bytes_written));
  json_object_set_new(to, "seconds", report_number(pass->seconds));
  json_object_set_new(to, "bound", json_string(bounds[f.bound]));
  json_object_set_new(to, "loads", json_of_moves(p, pass, pass->loads, pass->load_count));
  json_object_set_new(to, "stores", json_of_moves(p, pass, pass->stores, pass->store_count));
  if (s->routine)
    json_object_set_new(to, "routine", json_of_routine(p, s->routine));
  json_object_set_new(to, "boundaries", json_of_boundaries(e, number, false));
  json_object_set_new(to, "permutations", json_of_boundaries(e, number, true));
  return to;
}

// ---- ranks -----------------------------------------------------------------------------------

static json_t *json_of_traffic(const share_traffic *t) {
  static const char *const names[] = {
      [SHARE_TO_PEER] = "peers", [SHARE_OVER_NETWORK] = "network", [SHARE_TO_ITSELF] = "itself"};
  json_t *to = json_object();
  for (int d = 0; d < SHARE_DISTANCES; d++)
    json_object_set_new(to, names[d],
                        json_pack("{s:o, s:o}", "messages", report_count(t[d].messages), "bytes",
                                  report_count(t[d].bytes)));
  return to;
}

static json_t *json_of_cost(const share_cost *c, const char *kind) {
  json_t *to = json_object();
  if (kind)
    json_object_set_new(to, "kind", json_string(kind));
  if (kind && !strcmp(kind, share_kind_names[SHARE_EXCHANGE]))
    json_object_set_new(to, "rho", json_integer(c->rho));
  json_object_set_new(to, "rounds", report_count(c->rounds));
  json_object_set_new(to, "all", json_of_traffic(c->all));
  json_object_set_new(to, "most", json_of_traffic(c->most));
  json_object_set_new(to, "seconds", report_number(c->seconds));
  return to;
}

// What they send: all of them, and the one that sends the most.
static json_t *json_of_ranks(const explanation *e) {
  const shares *s = e->pipeline->shares;
  size_t count = s->net->stages.count;
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, json_of_cost(&e->costs[i], share_kind_names[s->stages[i].kind]));
  return json_pack("{s:o, s:o, s:o, s:o}", "count", report_count(f2_unit(s->p)), "peers",
                   report_count(f2_unit(shares_peer_bits(e->pipeline->target, s->p))), "stages",
                   list, "sum", json_of_cost(&e->costs[count], NULL));
}

// ---- rules -----------------------------------------------------------------------------------

// The rules that fired.
static json_t *json_of_rules(const rule_log *log) {
  json_t *list = json_array();
  for (rule_id rule = 0; rule < RULE_COUNT; rule++) {
    const rule_firings *f = &log->of[rule];
    if (f->times)
      json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o, s:s}", "name", rules[rule].name,
                                            "times", report_count(f->times), "bytes",
                                            report_count(f->bytes), "operations",
                                            report_count(f->operations), "law", rules[rule].law));
  }
  return list;
}

// ---- the whole -------------------------------------------------------------------------------

void report_explain_json(text *out, const explanation *e, bool show_rules) {
  const plan *p = e->pipeline->plan;
  json_t *to = json_object(), *passes = json_array();
  for (size_t i = 0; i < p->passes.count; i++)
    json_array_append_new(passes, json_of_pass(e, i));
  add_program(to, e);
  if (!e->request->target)
    json_object_set_new(to, "auto", json_of_choice(&e->choice, &e->pipeline->model));
  json_object_set_new(to, "target", json_of_target(p->target, e->pipeline->tuned));
  add_counts(to, e);
  json_object_set_new(to, "passes", passes);
  if (e->costs)
    json_object_set_new(to, "ranks", json_of_ranks(e));
  if (show_rules)
    json_object_set_new(to, "rules", json_of_rules(&e->pipeline->rules));
  json_object_set_new(to, "planning_seconds", report_number(e->planning_seconds));
  report_print_json(out, to, 9, 0);
}
