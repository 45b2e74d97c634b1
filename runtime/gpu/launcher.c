#include "runtime/gpu/launcher.h"
#include "runtime/cuda/device.h"

bool table_code_new(table_code *c, const launch_table *t) {
  c->modules = calloc(t->modules.count + 1, sizeof(cuda_module *));
  c->kernels = calloc(t->kernels.count + 1, sizeof *c->kernels);
  return c->modules && c->kernels;
}

static bool load_kernel(table_code *c, cuda_device *d, const launch_table *t, uint32_t number,
                        cuda_code *made, const cuda_code_source *s, error *failure) {
  const permc_kernel *k = &t->kernels.items[number];
  cuda_module **m = &c->modules[k->module];
  FREED_BY(cuda_code_free) cuda_code own = {0};
  cuda_code *code = made ? &made[k->module] : &own;
  return (*m || cuda_code_load(m, d, code, &t->modules.items[k->module], s, failure)) &&
         (c->kernels[number].function ||
          cuda_kernel_find(d, *m, k->name, k->shared_bytes, &c->kernels[number]));
}

bool table_code_load(table_code *c, cuda_device *d, const launch_table *t, uint32_t pass,
                     cuda_code *made, const cuda_code_source *s, error *failure) {
  const launch_pass *p = &t->passes[pass];
  bool good = true;
  for (uint32_t i = p->first; i < p->first + p->count && good; i++)
    good = load_kernel(c, d, t, t->launches.items[i].kernel, made, s, failure);
  return good;
}

void table_code_free(table_code *c, cuda_device *d, const launch_table *t) {
  for (size_t i = 0; c->modules && i < t->modules.count; i++)
    cuda_module_free(d, c->modules[i]);
  free(c->modules);
  free(c->kernels);
  *c = (table_code){0};
}

// Of an array, or of the device's part of it.
static cuda_address address_of(const launch_table *t, launch_scope scope, const permc_parameter *of,
                               const launch_place *at) {
  bool shared = of->kind == PERMC_IS_SHARED;
  uint64_t part = scope == LAUNCH_OWN ? at->part : 0;
  if (!part)
    return shared ? at->shared[of->value] : at->arrays[of->value];
  uint64_t bytes =
      shared ? at->shared_bytes[of->value] : cpu_array_bytes(&t->plan->arrays.items[of->value]);
  return (shared ? at->shared : at->arrays)[of->value] + bytes / t->parts * part;
}

bool table_launch_one(const launch_table *t, const table_code *c, cuda_device *d, uint32_t launch,
                      const launch_place *at) {
  const permc_launch *l = &t->launches.items[launch];
  launch_scope scope = t->ways.items[launch].scope;
  enum { MOST_PARAMETERS = 512 };  // CUDA allows 4096 bytes of them
  const permc_parameter *of = &t->parameters.items[l->first_parameter];
  const cuda_kernel *kernel = &c->kernels[l->kernel];
  uint64_t values[MOST_PARAMETERS], first = at->first, last = at->last ? at->last : l->blocks;
  void *parameters[MOST_PARAMETERS];
  if (l->parameter_count > MOST_PARAMETERS)
    return cuda_refuse(d, "%s has too many arrays", kernel->name);
  for (uint32_t i = 0; i < l->parameter_count; i++) {
    bool is_array = of[i].kind == PERMC_IS_ARRAY || of[i].kind == PERMC_IS_SHARED;
    values[i] = is_array                           ? address_of(t, scope, &of[i], at)
                : of[i].kind == PERMC_IS_TEMPORARY ? at->temporaries + of[i].value
                : of[i].kind == PERMC_IS_BLOCK     ? at->block
                                                   : of[i].value;
    parameters[i] = of[i].kind == PERMC_IS_DATA ? (void *)(uintptr_t)of[i].data : &values[i];
  }
  if (l->clear_bytes && !at->cleared &&
      !cuda_clear(d, at->temporaries + l->clear_at, l->clear_bytes))
    return false;
  bool good = true;
  if (scope == LAUNCH_SHARED) {
    first = l->blocks * at->part / t->parts;
    last = l->blocks * (at->part + 1) / t->parts;
  }
  for (values[0] = first; values[0] < last && good; values[0] += CUDA_MOST_BLOCKS) {
    uint64_t left = last - values[0];
    cuda_grid grid = {.blocks = left < CUDA_MOST_BLOCKS ? left : CUDA_MOST_BLOCKS,
                      .threads = l->threads,
                      .overlapping = !at->alone};
    good = cuda_launch(d, kernel, grid, parameters);
  }
  return good;
}

bool table_launch(const launch_table *t, const table_code *c, cuda_device *d, uint32_t pass,
                  const launch_place *at) {
  const launch_pass *p = &t->passes[pass];
  bool good = true;
  for (uint32_t i = p->first; i < p->first + p->count && good; i++)
    good = table_launch_one(t, c, d, i, at);
  return good;
}
