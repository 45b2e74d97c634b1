// See launch_table.h.
#include "runtime/gpu/launch_table.h"
#include "runtime/cpu/cpu.h"
#include "runtime/gpu/routine.h"

static uint32_t add_kernel(launch_table *t, uint32_t module, uint64_t shared_bytes,
                           const char *name) {
  vec_push(&t->memory, &t->kernels, ((permc_kernel){module, (uint32_t)shared_bytes, name}));
  return (uint32_t)t->kernels.count - 1;
}

static void add_parameter(launch_table *t, int kind, uint64_t value, const void *data) {
  vec_push(&t->memory, &t->parameters, ((permc_parameter){kind, value, data}));
}

// Its parameters are those from `first` on.
static void add_launch(launch_table *t, launch_pass *pass, permc_launch l, size_t first,
                       launch_way way) {
  l.first_parameter = (uint32_t)first;
  l.parameter_count = (uint32_t)(t->parameters.count - first);
  pass->first = pass->count++ ? pass->first : (uint32_t)t->launches.count;
  vec_push(&t->memory, &t->launches, l);
  vec_push(&t->memory, &t->ways, way);
}

// ---- routines -----------------------------------------------------------------------------------

void launch_table_add(launch_table *t, launch_pass *pass, text code, uint32_t count,
                      const routine_launch *launches, const permc_parameter *arrays) {
  vec_push(&t->memory, &t->modules, code);
  for (const routine_launch *l = launches; l < launches + count; l++) {
    const char *name = arena_printf(&t->memory, "permc_pass_%s", l->kernel);
    uint32_t kernel = add_kernel(t, (uint32_t)t->modules.count - 1, l->shared_bytes, name);
    size_t first = t->parameters.count;
    add_parameter(t, PERMC_IS_FIRST, 0, NULL);
    for (uint32_t i = 0; i < l->array_count; i++) {
      bool none = l->arrays[i] == LAUNCH_NOTHING;
      permc_parameter of =
          none ? (permc_parameter){PERMC_IS_NUMBER, 0, NULL} : arrays[l->arrays[i]];
      add_parameter(t, of.kind, of.value, of.data);
    }
    for (uint32_t i = 0; i < l->number_count; i++)
      add_parameter(t, PERMC_IS_NUMBER, l->numbers[i], NULL);
    add_launch(t, pass, (permc_launch){kernel, l->threads, l->blocks, 0, 0, 0, 0}, first,
               (launch_way){l->scope, l->meets});
  }
}

// Whether the parts have rows of their own, of all arrays; or as many keys each of the one row.
static bool can_be_divided(const net_routine *r, const plan_pass *pass, uint32_t parts,
                           bool by_shares) {
  bool sorts = r->kind == NET_SORT || r->kind == NET_PLACES;
  bool by_rows = (sorts || r->kind == NET_COUNT) && r->rows % parts == 0;
  bool has_shares = by_shares && plan_routine_has_shares(r, parts);
  return (by_rows || has_shares) && !r->ragged && !pass->keys_from;
}

static void add_routine(launch_table *t, uint32_t number, const routine_kernels *k) {
  launch_pass *pass = &t->passes[number];
  if (!k->launch_count)
    return;
  for (const routine_kernels *part = k; part; part = part->next)
    launch_table_add(t, pass, part->code, part->launch_count, part->launches, part->arrays);
  permc_launch *l = &t->launches.items[pass->first];
  l->clear_at = k->clear_at;
  l->clear_bytes = k->clear_bytes;
  pass->bytes = k->bytes;
  memcpy(pass->shared, k->shared, sizeof pass->shared);
}

// ---- the Plan's kernels ---------------------------------------------------------------------------

// The items up to the last that has something to do.
static uint64_t items_to_launch(const plan *p, uint32_t number) {
  const plan_pass *pass = &p->passes.items[number];
  bool loops = plan_stage_of(p, pass)->loop_count > 0;
  return loops ? cpu_item_count(p, number) : plan_live_blocks(p, pass);
}

static void add_pass(launch_table *t, uint32_t number, const c_pass_facts *f) {
  const plan_pass *pass = &t->plan->passes.items[number];
  launch_pass *l = &t->passes[number];
  uint32_t count = f->one ? f->one->array_count : 0;
  const net_id *arrays = f->one ? f->one->arrays : plan_pass_arrays(&t->memory, pass, &count);
  size_t first = t->parameters.count;
  add_parameter(t, PERMC_IS_FIRST, 0, NULL);
  for (uint32_t i = 0; i < count; i++)
    add_parameter(t, PERMC_IS_ARRAY, arrays[i], NULL);
  add_parameter(t, PERMC_IS_BLOCK, 0, NULL);
  if (f->matrix)
    add_parameter(t, PERMC_IS_DATA, 0, f->matrix);
  if (f->one)
    add_parameter(t, PERMC_IS_TEMPORARY, 0, NULL);
  l->bytes = f->one ? f->one->state_bytes : 0;
  add_launch(t, l,
             (permc_launch){.kernel = t->passes[f->kernel].kernel,
                            .threads = f->threads,
                            .blocks = f->one ? f->one->blocks : items_to_launch(t->plan, number),
                            .clear_bytes = l->bytes},
             first, (launch_way){LAUNCH_OWN, false});
}

// Those of the passes first ... last - 1 are a module, if there are any.
static void add_module(launch_table *t, const c_code *code, uint32_t first, uint32_t last,
                       bool whole) {
  uint32_t number = (uint32_t)t->modules.count, kernels = (uint32_t)t->kernels.count;
  for (uint32_t i = first; i < last; i++) {
    const c_pass_facts *f = &code->facts[i];
    char name[C_PASS_NAME];
    if (!f->threads || f->kernel != i)
      continue;
    c_pass_name(t->plan, i, name);
    t->passes[i].kernel =
        add_kernel(t, number, f->scratch_bytes, arena_copy(&t->memory, name, strlen(name)));
  }
  if (kernels == t->kernels.count)
    return;
  vec_push(&t->memory, &t->modules, (text){0});
  c_code_file(&t->modules.items[number], code, first, last, whole);
  if (t->modules.items[number].failed)
    arena_fail(&t->memory);
}

static void add_plan_modules(launch_table *t, const c_code *code, uint64_t file_bytes) {
  enum { MOST_FILES = 32 };
  uint32_t first[MOST_FILES + 1] = {0, code->pass_count};
  size_t files = file_bytes ? c_code_split(code, file_bytes, MOST_FILES, first) : 1;
  for (size_t i = 0; i < files; i++)
    add_module(t, code, first[i], first[i + 1], !file_bytes);
  t->plan_modules = (uint32_t)t->modules.count;
}

// ---- the whole ------------------------------------------------------------------------------------

static void add_passes(launch_table *t, const launch_options *o) {
  const plan *p = t->plan;
  routine_kernels *routines = NEW_ARRAY(&t->memory, routine_kernels, p->passes.count + 1);
  for (uint32_t i = 0; i < p->passes.count; i++) {
    const plan_pass *pass = &p->passes.items[i];
    const net_routine *r = plan_routine_of(p, pass);
    if (r && (!o->by_rows || can_be_divided(r, pass, t->parts, o->by_shares)))
      routine_describe(&routines[i], &t->memory, &o->machine, p, pass, t->parts);
    t->passes[i].makes_keys = routines[i].makes_keys;
  }
  if (o->code)
    add_plan_modules(t, o->code, o->file_bytes);
  for (uint32_t i = 0; i < p->passes.count; i++) {
    uint32_t keys_for = p->passes.items[i].keys_for;
    if (plan_routine_of(p, &p->passes.items[i]))
      add_routine(t, i, &routines[i]);
    else if (o->code && o->code->facts[i].threads && !(keys_for && routines[keys_for].makes_keys))
      add_pass(t, i, &o->code->facts[i]);
  }
}

bool launch_table_make(launch_table *t, const plan *p, const launch_options *o, error *failure) {
  jmp_buf no_memory;
  *t = (launch_table){.memory.failure = &no_memory, .plan = p, .parts = o->parts ? o->parts : 1};
  if (setjmp(no_memory))
    return error_no_memory(failure);
  t->passes = NEW_ARRAY(&t->memory, launch_pass, p->passes.count + 1);
  add_passes(t, o);
  for (size_t i = 0; i < t->launches.count; i++)
    t->starts += t->launches.items[i].clear_bytes ? 2 : 1;
  return true;
}

void launch_table_free(launch_table *t) {
  for (size_t i = 0; i < t->modules.count; i++)
    text_free(&t->modules.items[i]);
  arena_free(&t->memory);
  *t = (launch_table){0};
}

// With passes before it, where its routine makes the keys; with later ones, where its kernel's
// blocks look back.
void launch_table_describe(const launch_table *t, const c_pass_facts *facts, storage_pass *passes) {
  for (uint32_t i = 0; i < t->plan->passes.count; i++) {
    uint32_t keys = t->plan->passes.items[i].keys_from;
    uint32_t first = keys && t->passes[i].makes_keys ? keys - 1 : i;
    uint32_t last = facts[i].one ? facts[i].one->last : i;
    passes[i].in_place = facts[i].in_place;
    passes[i].bytes = t->passes[i].bytes;
    for (uint32_t k = first; k <= last; k++)
      if (passes[k].earlier < k - first)
        passes[k].earlier = k - first;
  }
}
