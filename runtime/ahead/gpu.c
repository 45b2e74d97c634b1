// The source of a program for GPUs: machine code of its kernels, and a table of what is
// launched. See making.h.
#include "runtime/ahead/making.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cuda/code.h"
#include "runtime/gpu/launch_table.h"

#include <stdio.h>
#include <stdlib.h>

// A GPU of any kind: what a block may have on all of them, and an H200's multiprocessors.
static const cuda_machine machine = {132, 99 << 10};

// Those that are tried: of each generation the first.
static const int architectures[] = {80, 90, 100, 120};

typedef struct gpu_source {
  ahead_making *making;
  ahead_plan *plan;
  launch_table table;
  storage_pass *passes;
  cache cache;
  uint64_t *tables_at, head_at, block_bytes;
  text *out;
} gpu_source;

// ---- where all is ------------------------------------------------------------------------------

// False: reported.
static bool describe_passes(gpu_source *g) {
  permc_context *c = g->making->context;
  const plan *p = g->plan->plan;
  launch_options o = {.code = g->plan->code, .machine = machine};
  error failure = {0};
  if (!launch_table_make(&g->table, p, &o, &failure))
    return context_error(c, "%s", failure.message);
  for (uint32_t i = 0; i < p->passes.count; i++) {
    const net_routine *r = plan_routine_of(p, &p->passes.items[i]);
    if (r && !g->table.passes[i].count)
      return context_error(
          c,
          "the routine %s of this program has no kernels before its call, so that a "
          "library for CUDA cannot have it; --target c can",
          net_routine_names[r->kind]);
  }
  launch_table_describe(&g->table, g->plan->code->facts, g->passes);
  return true;
}

// The block: tables of roots in reverse (kernels/text/host.h), addresses, tables.
static bool place_block(gpu_source *g) {
  const plan *p = g->plan->plan;
  if (!ahead_place_roots(g->plan, &g->head_at))
    return false;
  for (uint32_t i = 0; i < g->plan->root_count; i++)
    g->plan->roots_at[i] =
        g->head_at - g->plan->roots_at[i] - permc_root_room(&g->plan->code->roots[i]);
  g->block_bytes =
      g->head_at + ahead_aligned((2 + (uint64_t)g->plan->root_count) * sizeof(uint64_t));
  for (size_t a = 0; a < p->arrays.count; a++)
    if (g->plan->layout.places[a].home == HOME_TABLE) {
      g->tables_at[a] = g->block_bytes;
      g->block_bytes += ahead_aligned(cpu_array_bytes(&p->arrays.items[a]));
    }
  return true;
}

// ---- machine code ------------------------------------------------------------------------------

static void write_image(gpu_source *g, size_t of, int architecture, const cuda_code *code) {
  text_printf(g->out, "static const uint64_t code_%zu_%d[] = {", of, architecture);
  ahead_write_words(g->out, code->cubin, code->size);
  text_string(g->out, "\n};\n");
}

// The text of a module as a file, and its machine code in the source. False: reported.
static bool add_module(gpu_source *g, size_t of) {
  ahead_making *m = g->making;
  const text *t = &g->table.modules.items[of];
  text images = {0};
  int made = 0;
  FREED_BY(cuda_code_free) cuda_code code = {0};
  char why[NVRTC_WHY];
  bool compiles = nvrtc_find(why, sizeof why);
  text_printf(&images, "static const permc_image images_%zu[] = {", of);
  for (size_t i = 0; i < sizeof architectures / sizeof *architectures && compiles; i++) {
    cuda_code_source made_of = {&g->cache, cuda_code_options[0], architectures[i]};
    if (cuda_code_make(&code, t, &made_of, false)) {
      write_image(g, of, architectures[i], &code);
      text_printf(&images, "{%d, code_%zu_%d}, ", architectures[i], of, architectures[i]);
      made++;
    }
  }
  text_printf(g->out, "%s{0, NULL}};\n", text_content(&images));
  text_free(&images);
  text *file = ahead_add_file(m->library, "%s_%zu.cu", m->request->name, of + 1);
  if (file)
    text_add(file, t->data, t->length);
  bool good = made || !compiles || context_error(m->context, "%s", code.message);
  return (file || context_no_memory(m->context)) && good;
}

// ---- launches ----------------------------------------------------------------------------------

static void write_matrices(gpu_source *g) {
  for (uint32_t i = 0; i < g->plan->plan->passes.count; i++) {
    const permc_runtime_matrix *m = g->plan->code->facts[i].matrix;
    if (!m)
      continue;
    text_printf(g->out, "static const uint64_t matrix_%u[] = {", i);
    ahead_write_words(g->out, (const unsigned char *)m, sizeof *m);
    text_string(g->out, "\n};\n");
  }
}

static void write_kernels(text *out, const launch_table *t) {
  text_string(out, "static const permc_kernel kernels[] = {\n");
  for (const permc_kernel *k = t->kernels.items; k < t->kernels.items + t->kernels.count; k++)
    text_printf(out, "  {%u, %u, \"%s\"},\n", k->module, k->shared_bytes, k->name);
  text_string(out, "  {0, 0, NULL}\n};\n");
}

// Temporaries are a part of the workspace.
static void write_launches(gpu_source *g) {
  const launch_table *t = &g->table;
  uint64_t at = g->plan->layout.temporaries_at;
  text_string(g->out, "static const permc_launch launches[] = {\n");
  for (size_t i = 0; i < t->launches.count; i++) {
    const permc_launch *l = &t->launches.items[i];
    text_printf(g->out, "  {%u, %u, UINT64_C(%llu), %u, %u, UINT64_C(%llu), UINT64_C(%llu)},\n",
                l->kernel, l->threads, number(l->blocks), l->first_parameter, l->parameter_count,
                number(l->clear_bytes ? at + l->clear_at : 0), number(l->clear_bytes));
  }
  text_string(g->out, "  {0, 0, 0, 0, 0, 0, 0}\n};\n");
}

static void write_parameters(gpu_source *g, uint32_t pass) {
  static const char *const kinds[] = {"PERMC_IS_FIRST",  "PERMC_IS_ARRAY", "PERMC_IS_TEMPORARY",
                                      "PERMC_IS_NUMBER", "PERMC_IS_BLOCK", "PERMC_IS_DATA"};
  const launch_table *t = &g->table;
  const launch_pass *p = &t->passes[pass];
  for (uint32_t i = p->first; i < p->first + p->count; i++)
    for (uint32_t k = 0; k < t->launches.items[i].parameter_count; k++) {
      const permc_parameter *of = &t->parameters.items[t->launches.items[i].first_parameter + k];
      bool temporary = of->kind == PERMC_IS_TEMPORARY;
      char data[32] = "NULL";
      if (of->data)
        snprintf(data, sizeof data, "matrix_%u", pass);
      text_printf(g->out, "  {%s, UINT64_C(%llu), %s},\n", kinds[of->kind],
                  number(of->value + (temporary ? g->plan->layout.temporaries_at : 0)), data);
    }
}

// ---- the source --------------------------------------------------------------------------------

static void write_table_facts(gpu_source *g) {
  const plan *p = g->plan->plan;
  size_t count = p->arrays.count;
  text_string(g->out, "static const uint64_t table_bytes[] = {");
  for (size_t a = 0; a < count; a++)
    text_printf(g->out, "UINT64_C(%llu), ", number(cpu_array_bytes(&p->arrays.items[a])));
  text_string(g->out, "0};\n");
  ahead_write_numbers(g->out, "tables_at", count, g->tables_at);
}

static void write_program(gpu_source *g) {
  const ahead_plan *s = g->plan;
  const launch_table *t = &g->table;
  uint32_t passes = (uint32_t)s->plan->passes.count, checked_after = 0;
  text *out = g->out;
  ahead_write_places(out, s);
  ahead_write_tables(out, s);
  write_table_facts(g);
  ahead_write_roots(out, s);
  write_kernels(out, t);
  text_string(out, "static const permc_parameter parameters[] = {\n");
  for (uint32_t i = 0; i < passes; i++)
    write_parameters(g, i);
  text_string(out, "  {0, 0, NULL}\n};\n");
  write_launches(g);
  text_string(out, "static const permc_image *const modules[] = {");
  for (size_t i = 0; i < t->modules.count; i++)
    text_printf(out, "images_%zu, ", i);
  text_string(out, "NULL};\n");
  ahead_write_checks(out, s);
  uint32_t copies = ahead_write_copies(out, s);
  for (uint32_t i = 0; i < s->checked_after; i++)
    checked_after += t->passes[i].count;
  text_printf(
      out,
      "const permc_program %s_program = {\n"
      "  %zu, %zu, %zu, %zu, %u, %zu, %u, %u,\n"
      "  places, launches, parameters, kernels, modules, tables, table_bytes, tables_at,\n"
      "  roots, roots_at, checks, copies, UINT64_C(%llu), UINT64_C(%llu), UINT64_C(%llu)\n};\n",
      g->making->request->name, s->plan->arrays.count, t->launches.count, t->kernels.count,
      t->modules.count, s->root_count, s->trace->checks.count, copies, checked_after,
      number(g->head_at), number(g->block_bytes), number(s->layout.workspace_bytes));
}

static bool make_source(gpu_source *g) {
  permc_context *c = g->making->context;
  if (!describe_passes(g))
    return false;
  if (!ahead_place_arrays(g->plan, g->passes) || !place_block(g))
    return context_no_memory(c);
  ahead_write_head(g->out, g->making);
  for (size_t i = 0; i < g->table.modules.count; i++)
    if (!add_module(g, i))
      return false;
  write_matrices(g);
  write_program(g);
  return true;
}

bool ahead_add_gpu_source(ahead_making *m, ahead_plan *s) {
  size_t count = s->plan->passes.count, arrays = s->plan->arrays.count;
  text out = {0};
  gpu_source g = {.making = m, .plan = s, .out = &out};
  g.passes = calloc(count + 1, sizeof *g.passes);
  g.tables_at = calloc(arrays + 1, sizeof *g.tables_at);
  cache_open(&g.cache);
  bool good = g.passes && g.tables_at ? make_source(&g) : context_no_memory(m->context);
  text *file = good ? ahead_add_file(m->library, "%s_program.c", m->request->name) : NULL;
  if (file)
    *file = out;
  else
    text_free(&out);
  m->workspace_bytes = s->layout.workspace_bytes;
  launch_table_free(&g.table);
  free(g.passes);
  free(g.tables_at);
  return good && (file || context_no_memory(m->context));
}
