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
  cuda_code own = {0}, *code = made ? &made[k->module] : &own;
  bool good = *m || cuda_code_load(m, d, code, &t->modules.items[k->module], s, failure);
  cuda_code_free(&own);
  return good && (c->kernels[number].function ||
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

static cuda_address address_of(const launch_table *t, uint64_t array, const launch_place *at) {
  uint64_t offset =
      t->parts > 1 ? cpu_array_bytes(&t->plan->arrays.items[array]) / t->parts * at->part : 0;
  return at->arrays[array] + offset;
}

static bool launch(const launch_table *t, const table_code *c, cuda_device *d,
                   const permc_launch *l, const launch_place *at) {
  enum { MOST_PARAMETERS = 512 };  // CUDA allows 4096 bytes of them
  const permc_parameter *of = &t->parameters.items[l->first_parameter];
  const cuda_kernel *kernel = &c->kernels[l->kernel];
  uint64_t values[MOST_PARAMETERS], last = at->last ? at->last : l->blocks;
  void *parameters[MOST_PARAMETERS];
  if (l->parameter_count > MOST_PARAMETERS)
    return cuda_refuse(d, "%s has too many arrays", kernel->name);
  for (uint32_t i = 0; i < l->parameter_count; i++) {
    values[i] = of[i].kind == PERMC_IS_ARRAY       ? address_of(t, of[i].value, at)
                : of[i].kind == PERMC_IS_TEMPORARY ? at->temporaries + of[i].value
                : of[i].kind == PERMC_IS_BLOCK     ? at->block
                                                   : of[i].value;
    parameters[i] = of[i].kind == PERMC_IS_DATA ? (void *)(uintptr_t)of[i].data : &values[i];
  }
  if (l->clear_bytes && !at->cleared &&
      !cuda_clear(d, at->temporaries + l->clear_at, l->clear_bytes))
    return false;
  bool good = true;
  for (values[0] = at->first; values[0] < last && good; values[0] += CUDA_MOST_BLOCKS) {
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
    good = launch(t, c, d, &t->launches.items[i], at);
  return good;
}
