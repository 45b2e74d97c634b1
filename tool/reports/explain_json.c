// An explanation as one JSON object. Vectors are strings in hexadecimal, times are in seconds.
//
//   {"entry": "main", "type": "[2^n]i32 -> [2^n]i32", "sizes": {"n": 24},
//    "arguments": [{"type": "i32", "dims": [16777216]}], "results": [...],
//    "target": {"name": "avx512", "tuned": false, "line_bytes": 128, ...}, "strategy": "free",
//    "columns": 300, "static_columns": 300, "maps": 0, "moving_steps": 574, "permutations": 0,
//    "pass_count": 14, "copies": 0, "exchanges": 70, "bytes_read": ..., "bytes_written": ...,
//    "seconds": ..., "temporaries": 1, "temporary_bytes": ..., "peak_bytes": ...,
//    "passes": [{"stage": 0, "n": 24, "loops": [], "kind": "work", "padding": "none", "ops": 45,
//                "columns": 45, "static_columns": 45, "maps": 0, "phases": 10, "exchanges": 9,
//                "tile": ["0x1", ...], "bytes_read": ..., "bytes_written": ..., "seconds": ...,
//                "bound": "work",
//                "loads": [{"array": 0, "role": "argument", "number": 0, "coalesced": true,
//                           "missing_dimensions": 0}], "stores": [...]}, ...],
//    "rules": [{"name": "bmmc-bmmc", "times": 3, "bytes": ..., "operations": ..., "law": "..."}],
//    "planning_seconds": ...}
#include "tool/reports/explain.h"
#include "tool/reports/json_text.h"

#include <inttypes.h>

// ---- names and values ------------------------------------------------------------------------

// The name of a member, after a comma unless it is the first.
static void name(text *out, const char *member) {
  bool first = out->length > 0 && out->data[out->length - 1] == '{';
  text_string(out, first ? "" : ", ");
  json_write_string(out, member);
  text_string(out, ": ");
}

static void comma(text *out) {
  if (out->length && out->data[out->length - 1] != '[')
    text_string(out, ", ");
}

static void member_string(text *out, const char *member, const char *x) {
  name(out, member);
  json_write_string(out, x);
}

static void member_number(text *out, const char *member, uint64_t x) {
  name(out, member);
  text_printf(out, "%" PRIu64, x);
}

static void member_real(text *out, const char *member, double x) {
  name(out, member);
  text_printf(out, "%.9g", x);
}

static void member_numbers(text *out, const char *member, const uint64_t *values, uint32_t count) {
  name(out, member);
  text_string(out, "[");
  for (uint32_t i = 0; i < count; i++)
    text_printf(out, "%s%" PRIu64, i ? ", " : "", values[i]);
  text_string(out, "]");
}

// ---- the program -----------------------------------------------------------------------------

static void write_shape(text *out, const trace_step *s) {
  comma(out);
  text_string(out, "{");
  member_string(out, "type", scalar_types[s->type].name);
  member_numbers(out, "dims", s->dims, s->rank);
  text_string(out, "}");
}

static void write_program(text *out, const explanation *e) {
  const trace *t = &e->pipeline->trace;
  member_string(out, "entry", e->entry);
  member_string(out, "type", e->type);
  name(out, "sizes");
  text_string(out, "{");
  for (size_t i = 0; i < e->request->size_count; i++)
    member_number(out, e->request->sizes[i].name, (uint64_t)e->request->sizes[i].value);
  text_string(out, "}");
  name(out, "arguments");
  text_string(out, "[");
  for (size_t i = 0; i < t->steps.count; i++)
    if (t->steps.items[i].op == TRACE_ARGUMENT)
      write_shape(out, &t->steps.items[i]);
  text_string(out, "]");
  name(out, "results");
  text_string(out, "[");
  for (size_t i = 0; i < t->results.count; i++)
    write_shape(out, &t->steps.items[t->results.items[i]]);
  text_string(out, "]");
}

static void write_target(text *out, const target *t, bool tuned) {
  name(out, "target");
  text_string(out, "{");
  member_string(out, "name", t->name);
  name(out, "tuned");
  text_string(out, tuned ? "true" : "false");
  for (size_t i = 0; i < target_field_count(); i++) {
    name(out, target_field_at(i).name);
    target_print_field(out, t, i);
  }
  text_string(out, "}");
}

// ---- counts ----------------------------------------------------------------------------------

static void write_counts(text *out, const explanation *e) {
  const plan_facts *f = &e->facts;
  member_number(out, "columns", f->columns);
  member_number(out, "static_columns", f->static_columns);
  member_number(out, "maps", f->maps);
  member_number(out, "moving_steps", e->moving_steps);
  member_number(out, "permutations", f->permutations);
  member_number(out, "pass_count", f->passes);
  member_number(out, "copies", f->copies);
  member_number(out, "exchanges", f->exchanges);
  member_number(out, "bytes_read", f->bytes_read);
  member_number(out, "bytes_written", f->bytes_written);
  member_real(out, "seconds", f->seconds);
  member_number(out, "temporaries", f->temporaries);
  member_number(out, "temporary_bytes", f->temporary_bytes);
  member_number(out, "peak_bytes", e->peak_bytes);
}

// ---- passes ----------------------------------------------------------------------------------

static void write_moves(text *out, const plan *p, const plan_pass *pass, const char *member,
                        const plan_move *moves, uint32_t count) {
  static const char *const roles[] = {"argument", "result", "temporary"};
  name(out, member);
  text_string(out, "[");
  for (uint32_t i = 0; i < count; i++) {
    const net_array *a = &p->arrays.items[moves[i].array];
    comma(out);
    text_string(out, "{");
    member_number(out, "array", moves[i].array);
    member_string(out, "role", roles[a->role]);
    member_number(out, "number", a->number);
    name(out, "coalesced");
    text_string(out, moves[i].coalesced ? "true" : "false");
    member_number(out, "missing_dimensions", (uint64_t)plan_missing_dimensions(p, pass, &moves[i]));
    text_string(out, "}");
  }
  text_string(out, "]");
}

static void write_pass(text *out, const plan *p, size_t number) {
  static const char *const kinds[] = {"work", "move", "copy"};
  static const char *const bounds[] = {"memory", "work", "start"};
  const plan_pass *pass = &p->passes.items[number];
  const net_stage *s = &p->net->stages.items[pass->stage];
  plan_pass_facts f = plan_pass_facts_of(p, number);
  comma(out);
  text_string(out, "{");
  member_number(out, "stage", pass->stage);
  member_number(out, "n", (uint64_t)s->n);
  member_numbers(out, "loops", s->extents, s->loop_count);
  member_string(out, "kind", kinds[f.kind]);
  member_string(out, "strategy", p->strategy[pass->stage]);
  member_string(out, "padding", plan_padding_names[p->padding[pass->stage]]);
  member_number(out, "ops", pass->op_count);
  member_number(out, "columns", f.columns);
  member_number(out, "static_columns", f.static_columns);
  member_number(out, "maps", f.maps);
  member_number(out, "phases", pass->phase_count);
  member_number(out, "exchanges", f.exchanges);
  name(out, "tile");
  text_string(out, "[");
  for (int i = 0; i < pass->tile.dimension; i++)
    text_printf(out, "%s\"0x%" PRIx64 "\"", i ? ", " : "", pass->tile.basis[i]);
  text_string(out, "]");
  member_number(out, "bytes_read", f.bytes_read);
  member_number(out, "bytes_written", f.bytes_written);
  member_real(out, "seconds", pass->seconds);
  member_string(out, "bound", bounds[f.bound]);
  write_moves(out, p, pass, "loads", pass->loads, pass->load_count);
  write_moves(out, p, pass, "stores", pass->stores, pass->store_count);
  text_string(out, "}");
}

static void write_passes(text *out, const plan *p) {
  name(out, "passes");
  text_string(out, "[");
  for (size_t i = 0; i < p->passes.count; i++)
    write_pass(out, p, i);
  text_string(out, "]");
}

// ---- rules -----------------------------------------------------------------------------------

static void write_rule(text *out, const rule_log *log, rule_id rule) {
  rule_firing all = {.rule = rule};
  uint64_t times = 0;
  for (size_t i = 0; i < log->firings.count; i++)
    if (log->firings.items[i].rule == rule) {
      times++;
      all.bytes += log->firings.items[i].bytes;
      all.operations += log->firings.items[i].operations;
    }
  if (!times)
    return;
  comma(out);
  text_string(out, "{");
  member_string(out, "name", rules[rule].name);
  member_number(out, "times", times);
  member_number(out, "bytes", all.bytes);
  member_number(out, "operations", all.operations);
  member_string(out, "law", rules[rule].law);
  text_string(out, "}");
}

static void write_rules(text *out, const rule_log *log) {
  name(out, "rules");
  text_string(out, "[");
  for (rule_id rule = 0; rule < RULE_COUNT; rule++)
    write_rule(out, log, rule);
  text_string(out, "]");
}

// ---- the whole -------------------------------------------------------------------------------

void report_explain_json(text *out, const explanation *e, bool show_rules) {
  text_string(out, "{");
  write_program(out, e);
  write_target(out, e->pipeline->plan->target, e->pipeline->tuned);
  write_counts(out, e);
  write_passes(out, e->pipeline->plan);
  if (show_rules)
    write_rules(out, &e->pipeline->rules);
  member_real(out, "planning_seconds", e->planning_seconds);
  text_string(out, "}\n");
}
