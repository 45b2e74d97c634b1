// The source of a program at one size for GPUs: machine code of its kernels, and a table of what is
// launched. See making.h.
#include "runtime/ahead/making.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cuda/code.h"
#include "runtime/gpu/routine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A GPU of any kind: what a block may have on all of them, and an H200's multiprocessors.
static const cuda_machine machine = {132, 99 << 10};

// Those that are tried: of each generation the first.
static const int architectures[] = {80, 90, 100, 120};

// Addresses that stand for places in the workspace; those of arrays are their numbers and 1.
#define TEMPORARIES (UINT64_C(1) << 60)

typedef struct gpu_source {
  ahead_making *making;
  ahead_plan *plan;
  cuda_routine **routines;  // by pass
  storage_pass *passes;
  cache cache;
  uint32_t modules, kernels, launches, parameters, checked_after;
  text kernel_rows, launch_rows, parameter_rows, module_rows;
  uint64_t *tables_at, block_bytes;
  text *out;
} gpu_source;

static unsigned long long number(uint64_t n) { return n; }

static const plan_pass *pass_at(const gpu_source *g, uint32_t i) {
  return &g->plan->plan->passes.items[i];
}

// ---- where all is ------------------------------------------------------------------------------

// False: reported.
static bool describe_passes(gpu_source *g) {
  permc_context *c = g->making->context;
  const plan *p = g->plan->plan;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    const net_routine *r = plan_routine_of(p, pass_at(g, i));
    error failure = {0};
    if (r && !cuda_routine_describe(&g->routines[i], &machine, p, pass_at(g, i), &failure))
      return context_error(c, "%s", failure.message);
    if (r && !g->routines[i])
      return context_error(c,
                           "the routine %s of this program is the host's, so that a library for "
                           "CUDA cannot have it; --target c can",
                           net_routine_names[r->kind]);
    cuda_describe_pass(g->passes, p, i, &g->plan->code->facts[i], g->routines[i]);
  }
  return true;
}

// The block: addresses, tables of roots, tables.
static bool place_block(gpu_source *g) {
  const plan *p = g->plan->plan;
  size_t roots = 0;
  while (g->plan->code->roots[roots].m)
    roots++;
  g->block_bytes = ahead_aligned((2 + roots) * sizeof(uint64_t));
  if (!ahead_place_roots(g->plan, &g->block_bytes))
    return false;
  for (size_t a = 0; a < p->arrays.count; a++)
    if (g->plan->layout.places[a].home == HOME_TABLE) {
      g->tables_at[a] = g->block_bytes;
      g->block_bytes += ahead_aligned(cpu_array_bytes(&p->arrays.items[a]));
    }
  return true;
}

// ---- machine code ------------------------------------------------------------------------------

static void write_image(gpu_source *g, int architecture, const cuda_code *code) {
  text_printf(g->out, "static const uint64_t code_%u_%d[] = {", g->modules, architecture);
  ahead_write_words(g->out, code->cubin, code->size);
  text_string(g->out, "\n};\n");
}

// The text as a file, and its machine code in the source. Takes over the text. False: reported.
static bool add_module(gpu_source *g, text *t) {
  ahead_making *m = g->making;
  text images = {0};
  int made = 0;
  cuda_code code = {0};
  char why[NVRTC_WHY];
  bool compiles = nvrtc_find(why, sizeof why);
  text_printf(&images, "static const permc_image images_%u[] = {", g->modules);
  for (size_t i = 0; i < sizeof architectures / sizeof *architectures && compiles; i++) {
    text copy = {0};
    text_add(&copy, text_content(t), t->length);
    cuda_code_source made_of = {&g->cache, cuda_code_options[0], architectures[i]};
    if (cuda_code_make(&code, &copy, &made_of, false)) {
      write_image(g, architectures[i], &code);
      text_printf(&images, "{%d, code_%u_%d}, ", architectures[i], g->modules, architectures[i]);
      made++;
    }
    text_free(&copy);
  }
  text_printf(g->out, "%s{0, NULL}};\n", text_content(&images));
  text_free(&images);
  text *file =
      ahead_add_file(m->library, "%s_%zu_%u.cu", m->request->name, m->size_count + 1, ++g->modules);
  if (file)
    *file = *t;
  else
    text_free(t);
  bool good = made || !compiles || context_error(m->context, "%s", code.message);
  cuda_code_free(&code);
  return (file || context_no_memory(m->context)) && good;
}

static uint32_t add_kernel(gpu_source *g, const char *name, uint64_t shared_bytes) {
  text_printf(&g->kernel_rows, "  {%u, %llu, \"permc_pass_%s\"},\n", g->modules,
              number(shared_bytes), name);
  return g->kernels++;
}

// ---- launches ----------------------------------------------------------------------------------

static void add_parameter(gpu_source *g, const char *kind, uint64_t value, const char *data) {
  text_printf(&g->parameter_rows, "  {%s, UINT64_C(%llu), %s},\n", kind, number(value), data);
  g->parameters++;
}

static void add_launch(gpu_source *g, uint32_t kernel, uint32_t threads, uint64_t blocks,
                       uint32_t first_parameter, uint64_t clear_at, uint64_t clear_bytes) {
  text_printf(&g->launch_rows,
              "  {%u, %u, UINT64_C(%llu), %u, %u, UINT64_C(%llu), UINT64_C(%llu)},\n", kernel,
              threads, number(blocks), first_parameter, g->parameters - first_parameter,
              number(clear_at), number(clear_bytes));
  g->launches++;
}

static void write_matrix(gpu_source *g, uint32_t pass, char name[32]) {
  const permc_runtime_matrix *m = g->plan->code->facts[pass].matrix;
  snprintf(name, 32, m ? "matrix_%u" : "NULL", pass);
  if (!m)
    return;
  text_printf(g->out, "static const uint64_t %s[] = {", name);
  ahead_write_words(g->out, (const unsigned char *)m, sizeof *m);
  text_string(g->out, "\n};\n");
}

static void launch_pass(gpu_source *g, uint32_t i, uint32_t kernel) {
  const plan *p = g->plan->plan;
  const plan_pass *pass = pass_at(g, i);
  const c_pass_facts *f = &g->plan->code->facts[i];
  uint32_t first = g->parameters, count;
  net_id *arrays = calloc(plan_pass_most_arrays(pass) + 1, sizeof *arrays);
  char matrix[32];
  if (!arrays) {
    g->launch_rows.failed = true;
    return;
  }
  bool loops = p->net->stages.items[pass->stage].loop_count > 0;
  uint64_t items = f->one  ? f->one->blocks
                   : loops ? cpu_item_count(p, i)
                           : plan_live_blocks(p, pass);
  count = f->one ? f->one->array_count : plan_pass_arrays(pass, arrays);
  add_parameter(g, "PERMC_IS_FIRST", 0, "NULL");
  for (uint32_t k = 0; k < count; k++)
    add_parameter(g, "PERMC_IS_ARRAY", f->one ? f->one->arrays[k] : arrays[k], "NULL");
  add_parameter(g, "PERMC_IS_BLOCK", 0, "NULL");
  write_matrix(g, i, matrix);
  if (f->matrix)
    add_parameter(g, "PERMC_IS_DATA", 0, matrix);
  uint64_t state = f->one ? g->plan->layout.temporaries_at : 0;
  if (f->one)
    add_parameter(g, "PERMC_IS_TEMPORARY", state, "NULL");
  add_launch(g, kernel, f->threads, items, first, state, f->one ? f->one->state_bytes : 0);
  free(arrays);
}

// A number of 8 bytes of a routine's launch: an address that stands for something, or itself.
static void add_routine_parameter(gpu_source *g, bool is_address, uint64_t value) {
  uint64_t at = g->plan->layout.temporaries_at;
  if (is_address && value >= TEMPORARIES)
    add_parameter(g, "PERMC_IS_TEMPORARY", at + value - TEMPORARIES, "NULL");
  else if (is_address && value)
    add_parameter(g, "PERMC_IS_ARRAY", value - 1, "NULL");
  else
    add_parameter(g, "PERMC_IS_NUMBER", value, "NULL");
}

static bool launch_routine(gpu_source *g, uint32_t i) {
  cuda_routine *r = g->routines[i];
  size_t arrays = g->plan->plan->arrays.count;
  cuda_address *addresses = calloc(arrays + 1, sizeof *addresses);
  text t = {0};
  uint32_t count;
  uint64_t state_bytes, values[LAUNCH_PARAMETERS];
  if (!addresses)
    return context_no_memory(g->making->context);
  for (size_t a = 0; a < arrays; a++)
    addresses[a] = a + 1;
  const routine_launch *launches = cuda_routine_launches(r, addresses, TEMPORARIES, &count);
  uint64_t state = cuda_routine_state(r, &state_bytes);
  for (uint32_t k = 0; k < count; k++) {
    const routine_launch *l = &launches[k];
    uint32_t first = g->parameters, parameters = cuda_routine_parameters(r, l, values);
    uint32_t kernel = add_kernel(g, l->kernel, l->shared_bytes);
    add_parameter(g, "PERMC_IS_FIRST", 0, "NULL");
    for (uint32_t j = 1; j < parameters; j++)
      add_routine_parameter(g, j <= l->array_count, values[j]);
    bool clears = k == 0 && state_bytes;
    add_launch(g, kernel, l->threads, l->blocks, first,
               clears ? g->plan->layout.temporaries_at + state - TEMPORARIES : 0,
               clears ? state_bytes : 0);
  }
  free(addresses);
  cuda_routine_write(r, &t);
  return add_module(g, &t);
}

// The kernels of passes are the first module; each routine has one.
static bool add_launches(gpu_source *g) {
  const plan *p = g->plan->plan;
  const c_code *code = g->plan->code;
  uint32_t *kernels = calloc(p->passes.count + 1, sizeof *kernels);
  bool good = kernels || context_no_memory(g->making->context), any = false;
  for (uint32_t i = 0; good && i < p->passes.count; i++) {
    char name[16];
    snprintf(name, sizeof name, "%u", i);
    bool own = !g->routines[i] && code->facts[i].kernel == i && code->facts[i].threads;
    any = any || own;
    if (own)
      kernels[i] = add_kernel(g, name, code->facts[i].scratch_bytes);
  }
  if (good && any) {
    text t = {0};
    c_code_file(&t, code, 0, code->pass_count, true);
    good = add_module(g, &t);
  }
  for (uint32_t i = 0; good && i < p->passes.count; i++) {
    uint32_t routine = pass_at(g, i)->keys_for;
    bool made = routine && cuda_routine_makes_keys(g->routines[routine]);
    if (g->routines[i])
      good = launch_routine(g, i);
    else if (code->facts[i].threads && !made)
      launch_pass(g, i, kernels[code->facts[i].kernel]);
    if (i < g->plan->checked_after)
      g->checked_after = g->launches;
  }
  free(kernels);
  return good;
}

// ---- the source --------------------------------------------------------------------------------

static void write_rows(text *out, const char *row, const char *name, const text *rows,
                       const char *end) {
  text_printf(out, "static const permc_%s %s[] = {\n%s  %s\n};\n", row, name, text_content(rows),
              end);
}

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
  text *out = g->out;
  ahead_write_places(out, s);
  ahead_write_tables(out, s);
  write_table_facts(g);
  ahead_write_roots(out, s);
  write_rows(out, "kernel", "kernels", &g->kernel_rows, "{0, 0, NULL}");
  write_rows(out, "parameter", "parameters", &g->parameter_rows, "{0, 0, NULL}");
  write_rows(out, "launch", "launches", &g->launch_rows, "{0, 0, 0, 0, 0, 0, 0}");
  text_string(out, "static const permc_image *const modules[] = {");
  for (uint32_t i = 0; i < g->modules; i++)
    text_printf(out, "images_%u, ", i);
  text_string(out, "NULL};\n");
  ahead_write_checks(out, s);
  uint32_t copies = ahead_write_copies(out, s);
  text_printf(out,
              "const permc_program %s_program_%zu = {\n"
              "  %zu, %u, %u, %u, %u, %zu, %u, %u,\n"
              "  places, launches, parameters, kernels, modules, tables, table_bytes, tables_at,\n"
              "  roots, roots_at, checks, copies, UINT64_C(%llu), UINT64_C(%llu)\n};\n",
              g->making->request->name, g->making->size_count + 1, s->plan->arrays.count,
              g->launches, g->kernels, g->modules, s->root_count, s->trace->checks.count, copies,
              g->checked_after, number(g->block_bytes), number(s->layout.workspace_bytes));
}

static bool make_source(gpu_source *g) {
  permc_context *c = g->making->context;
  if (!describe_passes(g))
    return false;
  if (!ahead_place_arrays(g->plan, g->passes) || !place_block(g))
    return context_no_memory(c);
  ahead_write_head(g->out, g->making);
  if (!add_launches(g))
    return false;
  write_program(g);
  return true;
}

bool ahead_add_gpu_source(ahead_making *m, ahead_plan *s) {
  size_t count = s->plan->passes.count, arrays = s->plan->arrays.count;
  text out = {0};
  gpu_source g = {.making = m, .plan = s, .out = &out};
  g.routines = calloc(count + 1, sizeof(cuda_routine *));
  g.passes = calloc(count + 1, sizeof *g.passes);
  g.tables_at = calloc(arrays + 1, sizeof *g.tables_at);
  cache_open(&g.cache);
  bool good =
      (g.routines && g.passes && g.tables_at) ? make_source(&g) : context_no_memory(m->context);
  text *file =
      good ? ahead_add_file(m->library, "%s_%zu.c", m->request->name, m->size_count + 1) : NULL;
  if (file)
    *file = out;
  else
    text_free(&out);
  ahead_size *size = &m->sizes[m->size_count];
  size->workspace_bytes = s->layout.workspace_bytes;
  m->most_arrays = arrays > m->most_arrays ? arrays : m->most_arrays;
  for (uint32_t i = 0; i < count && g.routines; i++)
    cuda_routine_free(g.routines[i]);
  free(g.routines);
  free(g.passes);
  free(g.tables_at);
  text_free(&g.kernel_rows);
  text_free(&g.launch_rows);
  text_free(&g.parameter_rows);
  return good && (file || context_no_memory(m->context));
}
