// The source of a program at one size, for C: its passes, and a table of what a call does. See
// making.h.
#include "core/number.h"
#include "runtime/ahead/making.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/roots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TABLE_BYTES (UINT64_C(1) << 24)

// A call of the plan: where all is, in what order.
typedef struct size_plan {
  const plan *plan;
  const trace *trace;
  const c_code *code;
  array_layout layout;
  uint32_t checked_after;  // passes, after which the checks are looked at; 0: there are none
  bool copies;             // results are in the workspace until the checks are passed
  uint64_t scratch_bytes;
  // In the workspace, which begins with addresses:
  uint64_t *roots_at, scratch_at, arrays_at, workspace_bytes;
  uint32_t root_count;
} size_plan;

static unsigned long long number(uint64_t n) { return n; }

static uint64_t aligned(uint64_t bytes) {
  return divide_up(bytes, LAYOUT_ALIGNMENT) * LAYOUT_ALIGNMENT;
}

// ---- where all is ------------------------------------------------------------------------------

static net_id array_of_result(const plan *p, size_t result) {
  for (net_id a = 0; a < p->arrays.count; a++)
    if (p->arrays.items[a].role == NET_RESULT && p->arrays.items[a].number == result)
      return a;
  return NET_NONE;
}

// Passes up to the last that makes something to be checked.
static uint32_t find_checked_after(const plan *p, const trace *t, const uint32_t *last) {
  uint32_t after = 0;
  for (size_t i = 0; i < t->checks.count; i++) {
    net_id a = array_of_result(p, trace_returned(t) + i);
    if (a != NET_NONE && last[a] + 1 > after)
      after = last[a] + 1;
  }
  return after;
}

// Whether a pass before the checks writes to memory of the caller.
static bool writes_before_checks(const size_plan *s, const uint32_t *first) {
  for (size_t a = 0; a < s->plan->arrays.count; a++)
    if (s->layout.places[a].home == HOME_RESULT && first[a] < s->checked_after)
      return true;
  return false;
}

static bool make_layout(size_plan *s, const layout_pass *passes, const uint32_t *first) {
  size_t returned = trace_returned(s->trace);
  if (!array_layout_make(s->plan, passes, returned, &s->layout))
    return false;
  s->copies = writes_before_checks(s, first);
  if (!s->copies)
    return true;
  free(s->layout.places);
  return array_layout_make(s->plan, passes, 0, &s->layout);
}

// False: memory is out, or *why.
static bool lay_out(size_plan *s, const char **why) {
  const plan *p = s->plan;
  layout_pass *passes = calloc(p->passes.count + 1, sizeof *passes);
  uint32_t *first = calloc(2 * p->arrays.count + 1, sizeof *first);
  bool good = passes && first;
  *why = NULL;
  for (uint32_t i = 0; good && i < p->passes.count; i++) {
    const net_routine *r = plan_routine_of(p, &p->passes.items[i]);
    passes[i] = (layout_pass){!r && s->code->facts[i].in_place, i, 0};
    good = !r || ahead_routine_bytes(r, &passes[i].bytes, why);
    uint64_t scratch = s->code->facts[i].scratch_bytes;
    s->scratch_bytes = scratch > s->scratch_bytes ? scratch : s->scratch_bytes;
  }
  if (good) {
    *why = NULL;
    cpu_array_lifetimes(p, first, first + p->arrays.count);
    s->checked_after = find_checked_after(p, s->trace, first + p->arrays.count);
    good = make_layout(s, passes, first);
  }
  free(passes);
  free(first);
  return good;
}

static bool place_workspace(size_plan *s) {
  const permc_root_table *roots = s->code->roots;
  while (roots[s->root_count].m)
    s->root_count++;
  s->roots_at = calloc(s->root_count + 1, sizeof *s->roots_at);
  uint64_t at = aligned((s->plan->arrays.count + s->root_count) * sizeof(void *));
  for (uint32_t i = 0; i < s->root_count && s->roots_at; i++) {
    s->roots_at[i] = at;
    at += aligned(roots_bytes(&roots[i]));
  }
  s->scratch_at = at;
  s->arrays_at = at + aligned(s->scratch_bytes);
  s->workspace_bytes = s->arrays_at + s->layout.workspace_bytes;
  return s->roots_at != NULL;
}

// ---- tables ------------------------------------------------------------------------------------

static const char *const homes[] = {[HOME_NONE] = "PERMC_NOWHERE",
                                    [HOME_ARGUMENT] = "PERMC_ARGUMENT",
                                    [HOME_TABLE] = "PERMC_TABLE",
                                    [HOME_RESULT] = "PERMC_RESULT",
                                    [HOME_WORKSPACE] = "PERMC_WORKSPACE"};

static void write_places(text *out, const size_plan *s) {
  text_printf(out, "\nstatic const permc_place places[%zu] = {\n", s->plan->arrays.count + 1);
  for (size_t a = 0; a < s->plan->arrays.count; a++) {
    array_place place = s->layout.places[a];
    text_printf(out, "  {%s, UINT64_C(%llu)},\n", homes[place.home],
                number(place.home == HOME_TABLE ? a : place.at));
  }
  text_string(out, "  {PERMC_NOWHERE, 0}\n};\n");
}

// Words of 8 bytes; the last may have less.
static void write_words(text *out, const unsigned char *bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; i += 8) {
    uint64_t word = 0;
    memcpy(&word, bytes + i, count - i < 8 ? count - i : 8);
    text_printf(out, "%s0x%llx", i == 0 ? "\n  " : i % 48 == 0 ? ",\n  " : ", ", number(word));
  }
}

static void write_tables(text *out, const size_plan *s) {
  const plan *p = s->plan;
  for (size_t a = 0; a < p->arrays.count; a++) {
    const net_array *of = &p->arrays.items[a];
    if (s->layout.places[a].home != HOME_TABLE || !of->count)
      continue;
    text_printf(out, "static const uint64_t table_%zu[] = {", a);
    write_words(out, of->table, cpu_array_bytes(of));
    text_string(out, "\n};\n");
  }
  text_printf(out, "static const void *const tables[%zu] = {", p->arrays.count + 1);
  for (size_t a = 0; a < p->arrays.count; a++)
    if (s->layout.places[a].home == HOME_TABLE && p->arrays.items[a].count)
      text_printf(out, "table_%zu, ", a);
    else
      text_string(out, "NULL, ");
  text_string(out, "NULL};\n");
}

static void write_list(text *out, const char *name, uint32_t which, const uint64_t *words,
                       uint64_t count) {
  text_printf(out, "static const uint64_t %s_%u[] = {", name, which);
  write_words(out, (const unsigned char *)words, count * sizeof *words);
  text_string(out, count ? "};\n" : "0};\n");
}

static uint64_t count_weights(const permc_root_table *t) {
  uint64_t rows = t->constant, count = 0;
  for (uint64_t i = 0; i < t->bits; i++)
    rows |= t->vectors[i];
  while (count < 64 && rows >> count)
    count++;
  return count;
}

static void write_roots(text *out, const size_plan *s) {
  const permc_root_table *roots = s->code->roots;
  for (uint32_t i = 0; i < s->root_count; i++)
    if (roots[i].vectors) {
      write_list(out, "vectors", i, roots[i].vectors, roots[i].bits);
      write_list(out, "weights", i, roots[i].weights, count_weights(&roots[i]));
    }
  text_printf(out, "static const permc_root_table roots[%u] = {\n", s->root_count + 1);
  for (uint32_t i = 0; i < s->root_count; i++) {
    const permc_root_table *t = &roots[i];
    text_printf(out, "  {UINT64_C(%llu), %llu, %llu, UINT64_C(%llu), UINT64_C(%llu), ",
                number(t->m), number(t->part_bytes), number(t->bits), number(t->offset),
                number(t->constant));
    if (t->vectors)
      text_printf(out, "vectors_%u, weights_%u},\n", i, i);
    else
      text_string(out, "NULL, NULL},\n");
  }
  text_string(out, "  {0, 0, 0, 0, 0, NULL, NULL}\n};\n");
  write_list(out, "roots_at", 0, s->roots_at, s->root_count);
}

static void write_steps(text *out, const size_plan *s) {
  const plan *p = s->plan;
  for (uint32_t i = 0; i < p->passes.count; i++)
    if (plan_routine_of(p, &p->passes.items[i]))
      ahead_write_routine(out, p, plan_routine_of(p, &p->passes.items[i]), i);
  text_printf(out, "static const permc_step steps[%zu] = {\n", p->passes.count + 1);
  for (uint32_t i = 0; i < p->passes.count; i++)
    if (plan_routine_of(p, &p->passes.items[i]))
      text_printf(out, "  {NULL, 0, &routine_%u},\n", i);
    else
      text_printf(out, "  {permc_pass_%u, UINT64_C(%llu), NULL},\n", i,
                  number(cpu_item_count(p, i)));
  text_string(out, "  {NULL, 0, NULL}\n};\n");
}

static void write_checks(text *out, const size_plan *s) {
  static const char *const kinds[CHECK_KINDS] = {[CHECK_PADDING] = "PERMC_PADDING",
                                                 [CHECK_PLACES] = "PERMC_PLACE",
                                                 [CHECK_KEYS] = "PERMC_KEY",
                                                 [CHECK_ROWS] = "PERMC_ROW",
                                                 [CHECK_OFFSETS] = "PERMC_OFFSET"};
  const trace *t = s->trace;
  text_printf(out, "static const permc_check checks[%zu] = {\n", t->checks.count + 1);
  for (size_t i = 0; i < t->checks.count; i++) {
    const trace_check *k = &t->checks.items[i];
    net_id a = array_of_result(s->plan, trace_returned(t) + i);
    text_printf(out, "  {%s, %d, %u, UINT64_C(%llu), UINT64_C(%llu), UINT64_C(%llu)},\n",
                kinds[k->kind], k->is_unsigned, (unsigned)a, number(s->plan->arrays.items[a].count),
                number(k->length), number(k->inner));
  }
  text_string(out, "  {0, 0, 0, 0, 0, 0}\n};\n");
}

// Returns how many there are.
static uint32_t write_copies(text *out, const size_plan *s) {
  uint32_t count = 0;
  text_string(out, "static const permc_copy copies[] = {");
  for (net_id a = 0; a < s->plan->arrays.count && s->copies; a++) {
    const net_array *of = &s->plan->arrays.items[a];
    if (of->role != NET_RESULT || of->number >= trace_returned(s->trace) || !of->count)
      continue;
    text_printf(out, "{%u, %u, UINT64_C(%llu)}, ", a, of->number, number(cpu_array_bytes(of)));
    count++;
  }
  text_string(out, "{0, 0, 0}};\n");
  return count;
}

// ---- foreign functions -------------------------------------------------------------------------

static const char *const c_types[SCALAR_COUNT] = {
    [SCALAR_BOOL] = "bool",           [SCALAR_I8] = "int8_t",    [SCALAR_I16] = "int16_t",
    [SCALAR_I32] = "int32_t",         [SCALAR_I64] = "int64_t",  [SCALAR_U8] = "uint8_t",
    [SCALAR_U16] = "uint16_t",        [SCALAR_U32] = "uint32_t", [SCALAR_U64] = "uint64_t",
    [SCALAR_F32] = "float",           [SCALAR_F64] = "double",   [SCALAR_C64] = "float _Complex",
    [SCALAR_C128] = "double _Complex"};

static void declare_externs(ahead_making *m, const plan *p) {
  for (size_t i = 0; i < p->net->externs.count && m->size_count == 0; i++) {
    const c_function *e = &p->net->externs.items[i];
    text_printf(&m->externs, "%s %s(", c_types[e->result], e->name);
    for (uint32_t k = 0; k < e->arity; k++)
      text_printf(&m->externs, "%s%s", k ? ", " : "", c_types[e->parameters[k]]);
    text_printf(&m->externs, "%s);\n", e->arity ? "" : "void");
  }
}

static void write_foreign(text *out, const plan *p) {
  text_printf(out, "static const permc_foreign foreign[%zu] = {", p->net->externs.count + 1);
  for (size_t i = 0; i < p->net->externs.count; i++)
    text_printf(out, "{(void (*)(void))%s, NULL}, ", p->net->externs.items[i].name);
  text_string(out, "{NULL, NULL}};\n");
}

// ---- the source --------------------------------------------------------------------------------

static void write_program(text *out, const ahead_making *m, const size_plan *s) {
  write_places(out, s);
  write_tables(out, s);
  write_roots(out, s);
  write_steps(out, s);
  write_checks(out, s);
  write_foreign(out, s->plan);
  uint32_t copies = write_copies(out, s);
  text_printf(out,
              "const permc_program %s_program_%zu = {\n"
              "  %zu, %zu, %u, %zu, %u, %u,\n"
              "  places, steps, tables, roots, roots_at_0, foreign, checks, copies,\n"
              "  UINT64_C(%llu), UINT64_C(%llu), UINT64_C(%llu), UINT64_C(%llu), UINT64_C(%llu)\n"
              "};\n",
              m->request->name, m->size_count + 1, s->plan->arrays.count, s->plan->passes.count,
              s->root_count, s->trace->checks.count, copies, s->checked_after,
              number(s->scratch_at), number(s->scratch_bytes), number(s->arrays_at),
              number(s->layout.temporaries_at), number(s->workspace_bytes));
}

static void write_source(text *out, const ahead_making *m, const size_plan *s) {
  text_printf(out, "// %s\n// at %s. Written by permc %s.\n#include \"%s_private.h\"\n\n", m->title,
              m->request->types[m->size_count], PERMC_VERSION, m->request->name);
  for (uint32_t i = 0; i < s->code->pass_count; i++)
    text_printf(out, "static permc_pass permc_pass_%u;\n", i);
  text_add(out, text_content(&s->code->head), s->code->head.length);
  c_code_file(out, s->code, 0, s->code->pass_count, false);
  write_program(out, m, s);
}

static bool check_bounds(permc_context *c, const size_plan *s) {
  char why[200];
  uint64_t bytes = 0;
  for (size_t a = 0; a < s->plan->arrays.count; a++)
    if (s->plan->arrays.items[a].role == NET_TABLE)
      bytes += cpu_array_bytes(&s->plan->arrays.items[a]);
  if (bytes > MOST_TABLE_BYTES)
    return context_error(c,
                         "the program has %llu bytes of constant arrays, and a library at most "
                         "%llu; make them arguments",
                         number(bytes), number(MOST_TABLE_BYTES));
  return c_code_is_bounded(s->code, why, sizeof why) || context_error(c, "%s", why);
}

static bool add_source(ahead_making *m, size_plan *s) {
  const char *why = NULL;
  ahead_size *size = &m->sizes[m->size_count];
  if (!check_bounds(m->context, s))
    return false;
  text *out = ahead_add_file(m->library, "%s_%zu.c", m->request->name, m->size_count + 1);
  if (!out || !lay_out(s, &why) || !place_workspace(s))
    return why ? context_error(m->context, "%s", why) : context_no_memory(m->context);
  declare_externs(m, s->plan);
  write_source(out, m, s);
  size->workspace_bytes = s->workspace_bytes;
  size->has_roots = s->root_count > 0;
  return true;
}

bool ahead_add_size(ahead_making *m, const pipeline *p) {
  explain_lines lines;
  c_comments comments = explain_comments(m->context, p, &lines);
  c_options options = backend_text_options(p->backend, m->context);
  c_code code = {0};
  const char *problem = NULL;
  options.comments = &comments;
  if (!c_emit(&code, p->plan, &options, &problem)) {
    bool good = problem ? context_error(m->context, "%s", problem) : context_no_memory(m->context);
    c_code_free(&code);
    return good;
  }
  size_plan s = {.plan = p->plan, .trace = &p->trace, .code = &code};
  bool good = add_source(m, &s);
  free(s.layout.places);
  free(s.roots_at);
  c_code_free(&code);
  return good;
}
