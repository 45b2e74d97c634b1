// The source of a program for a processor: its passes, and a table of what a call does.
// See making.h.
#include "runtime/ahead/making.h"
#include "runtime/cpu/cpu.h"

#include <stdlib.h>

// ---- memory ------------------------------------------------------------------------------------

// The workspace: addresses of arrays and roots, roots, scratch memory, arrays.
typedef struct workspace {
  uint64_t scratch_at, scratch_bytes, arrays_at, bytes;
  text routines;  // their tables
} workspace;

static bool is_sort(const net_routine *r) { return r->kind == NET_SORT || r->kind == NET_PLACES; }

// False: memory is out.
static bool lay_out(ahead_making *m, ahead_plan *s, workspace *w) {
  const plan *p = s->plan;
  storage_pass *passes = calloc(p->passes.count + 1, sizeof *passes);
  bool good = passes != NULL, again = false;
  for (uint32_t i = 0; good && i < p->passes.count; i++) {
    const net_routine *r = plan_routine_of(p, &p->passes.items[i]);
    const c_pass_facts *f = &s->code->facts[i];
    passes[i].in_place = !r && f->in_place;
    good = !r || ahead_add_routine(&w->routines, p, r, i, &passes[i].bytes);
    again |= plan_code_of(p, i) != i;
    m->has_routines |= r != NULL;
    m->has_sorts |= r && is_sort(r);
    w->scratch_bytes = f->scratch_bytes > w->scratch_bytes ? f->scratch_bytes : w->scratch_bytes;
  }
  good = good && ahead_place_arrays(s, passes);
  free(passes);
  size_t roots = 0;
  while (s->code->roots[roots].m)
    roots++;
  w->scratch_at = ahead_aligned((p->arrays.count * (again ? 2 : 1) + roots) * sizeof(void *));
  good = good && ahead_place_roots(s, &w->scratch_at);
  w->arrays_at = w->scratch_at + ahead_aligned(w->scratch_bytes);
  w->bytes = w->arrays_at + s->layout.workspace_bytes;
  return good;
}

// ---- steps -------------------------------------------------------------------------------------

// Returns how many numbers: 0 of a step with its own code.
static uint32_t write_instead(text *out, const plan *p, uint32_t step) {
  const plan_pass *code = &p->passes.items[plan_code_of(p, step)], *own = &p->passes.items[step];
  plan_access to = {0}, from = {0};
  uint32_t count = 0;
  if (code == own)
    return 0;
  text_printf(out, "static const uint32_t instead_%u[] = {", step);
  for (; plan_access_next(code, &to) && plan_access_next(own, &from); count += 2)
    text_printf(out, "%u, %u, ", (unsigned)to.array, (unsigned)from.array);
  text_string(out, "0};\n");
  return count;
}

static void write_steps(text *out, const ahead_plan *s) {
  const plan *p = s->plan;
  FREED_BY(text_free) text steps = {0};
  for (uint32_t i = 0; i < p->passes.count; i++) {
    bool routine = plan_routine_of(p, &p->passes.items[i]);
    uint32_t count = routine ? 0 : write_instead(out, p, i);
    if (routine)
      text_printf(&steps, "  {NULL, 0, &routine_%u, blocks_%u, NULL, 0},\n", i, i);
    else
      text_printf(&steps, "  {permc_pass_%u, UINT64_C(%llu), NULL, NULL, ", plan_code_of(p, i),
                  number(cpu_item_count(p, i)));
    if (count)
      text_printf(&steps, "instead_%u, %u},\n", i, count);
    else if (!routine)
      text_string(&steps, "NULL, 0},\n");
  }
  text_printf(out, "static const permc_step steps[%zu] = {\n", p->passes.count + 1);
  text_add(out, text_content(&steps), steps.length);
  text_string(out, "  {NULL, 0, NULL, NULL, NULL, 0}\n};\n");
  out->failed |= steps.failed;
}

// ---- foreign functions -------------------------------------------------------------------------

static const char *const c_types[SCALAR_COUNT] = {
    [SCALAR_BOOL] = "bool",           [SCALAR_I8] = "int8_t",    [SCALAR_I16] = "int16_t",
    [SCALAR_I32] = "int32_t",         [SCALAR_I64] = "int64_t",  [SCALAR_U8] = "uint8_t",
    [SCALAR_U16] = "uint16_t",        [SCALAR_U32] = "uint32_t", [SCALAR_U64] = "uint64_t",
    [SCALAR_F32] = "float",           [SCALAR_F64] = "double",   [SCALAR_C64] = "float _Complex",
    [SCALAR_C128] = "double _Complex"};

static void declare_externs(ahead_making *m, const plan *p) {
  for (size_t i = 0; i < p->net->externs.count; i++) {
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

static void write_program(text *out, const ahead_making *m, const ahead_plan *s,
                          const workspace *w) {
  ahead_write_places(out, s);
  ahead_write_tables(out, s);
  ahead_write_roots(out, s);
  text_add(out, text_content(&w->routines), w->routines.length);
  write_steps(out, s);
  ahead_write_checks(out, s);
  write_foreign(out, s->plan);
  uint32_t copies = ahead_write_copies(out, s);
  text_printf(out,
              "const permc_program %s_program = {\n"
              "  %zu, %zu, %u, %zu, %u, %u,\n"
              "  places, steps, tables, roots, roots_at, foreign, checks, copies,\n"
              "  UINT64_C(%llu), UINT64_C(%llu), UINT64_C(%llu), UINT64_C(%llu), UINT64_C(%llu)\n"
              "};\n",
              m->request->name, s->plan->arrays.count, s->plan->passes.count, s->root_count,
              s->trace->checks.count, copies, s->checked_after, number(w->scratch_at),
              number(w->scratch_bytes), number(w->arrays_at), number(s->layout.temporaries_at),
              number(w->bytes));
}

bool ahead_add_host_source(ahead_making *m, ahead_plan *s) {
  workspace w = {0};
  text *out = ahead_add_file(m->library, "%s_program.c", m->request->name);
  if (!out || !lay_out(m, s, &w) || w.routines.failed) {
    text_free(&w.routines);
    return context_no_memory(m->context);
  }
  declare_externs(m, s->plan);
  ahead_write_head(out, m);
  for (uint32_t i = 0; i < s->code->pass_count; i++)
    if (plan_code_of(s->plan, i) == i)
      text_printf(out, "static permc_pass permc_pass_%u;\n", i);
  text_add(out, text_content(&s->code->head), s->code->head.length);
  c_code_file(out, s->code, 0, s->code->pass_count, false);
  write_program(out, m, s, &w);
  text_free(&w.routines);
  m->workspace_bytes = w.bytes;
  m->has_roots = s->root_count > 0;
  return true;
}
