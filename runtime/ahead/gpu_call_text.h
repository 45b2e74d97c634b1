// Loading a program on a GPU, and calls of it, by CUDA's driver. Part of each library made ahead of
// time for CUDA. PERMC_ERROR is the library's error; PERMC_MOST_ARRAYS and PERMC_MOST_PARAMETERS
// are the most of any program.

// CUDA's functions, as its header has them; addresses of a device are numbers.
typedef struct permc_attribute {
  int id;
  union {
    int number;
    char bytes[64];
    uint64_t aligned;
  } value;
} permc_attribute;
typedef struct permc_config {
  unsigned blocks[3], threads[3], shared_bytes;
  void *stream;
  permc_attribute *attributes;
  unsigned attribute_count;
} permc_config;
int cuGetErrorName(int status, const char **name);
int cuDriverGetVersion(int *version);
int cuCtxGetDevice(int *device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream);
int cuMemFreeAsync(uint64_t address, void *stream);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuMemsetD8Async(uint64_t address, unsigned char byte, size_t count, void *stream);
int cuStreamSynchronize(void *stream);
int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuLaunchKernelEx(const permc_config *config, void *function, void **parameters, void **extra);

enum {
  PERMC_CAPABILITY_MAJOR = 75,
  PERMC_CAPABILITY_MINOR = 76,
  PERMC_DYNAMIC_SHARED = 8,
  PERMC_OVERLAPPING = 6,
  PERMC_OVERLAPPING_DRIVER = 12030
};
#define PERMC_MOST_BLOCKS UINT64_C(2147483647)

static int permc_cuda(PERMC_ERROR *e, int status, const char *call) {
  const char *name = NULL;
  if (status == 0)
    return 1;
  permc_refuse(e, PERMC_DEVICE, "");
  if (e && (cuGetErrorName(status, &name) != 0 || !name))
    snprintf(e->message, sizeof e->message, "%s: error %d", call, status);
  else if (e)
    snprintf(e->message, sizeof e->message, "%s: %s", call, name);
  return 0;
}
#define PERMC_CUDA(e, function, ...) permc_cuda(e, function(__VA_ARGS__), #function)

// ---- loading -----------------------------------------------------------------------------------

// The capability of the device of the context that is current, as 90; 0: failed.
static int permc_capability(PERMC_ERROR *e) {
  int device = 0, major = 0, minor = 0;
  if (!PERMC_CUDA(e, cuCtxGetDevice, &device) ||
      !PERMC_CUDA(e, cuDeviceGetAttribute, &major, PERMC_CAPABILITY_MAJOR, device) ||
      !PERMC_CUDA(e, cuDeviceGetAttribute, &minor, PERMC_CAPABILITY_MINOR, device))
    return 0;
  return 10 * major + minor;
}

// Machine code runs on GPUs of its generation that are as new.
static const void *permc_image_for(const permc_image *images, int capability) {
  const void *best = NULL;
  for (; images->architecture; images++)
    if (images->architecture / 10 == capability / 10 && images->architecture <= capability)
      best = images->code;
  return best;
}

static int permc_load_kernels(const permc_program *p, int capability, permc_loaded *l,
                              PERMC_ERROR *e) {
  uint32_t i;
  for (i = 0; i < p->module_count; i++) {
    const void *image = permc_image_for(p->modules[i], capability);
    if (!image)
      return permc_refuse(e, PERMC_DEVICE, "the library has no code for this GPU"), 0;
    if (!PERMC_CUDA(e, cuModuleLoadData, &l->modules[i], image))
      return 0;
  }
  for (i = 0; i < p->kernel_count; i++)
    if (!PERMC_CUDA(e, cuModuleGetFunction, &l->functions[i], l->modules[p->kernels[i].module],
                    p->kernels[i].name) ||
        !PERMC_CUDA(e, cuFuncSetAttribute, l->functions[i], PERMC_DYNAMIC_SHARED,
                    (int)p->kernels[i].shared_bytes))
      return 0;
  return 1;
}

// On the host: tables of roots, addresses, tables.
static char *permc_make_block(const permc_program *p, uint64_t address) {
  char *block = (char *)calloc(1, (size_t)p->block_bytes);
  uint64_t *head;
  uint32_t i;
  if (!block)
    return NULL;
  head = (uint64_t *)(void *)(block + p->head_at);
  head[1] = address + p->head_at + 2 * sizeof *head;
  for (i = 0; i < p->root_count; i++) {
    head[2 + i] = address + p->roots_at[i];
    permc_fill_roots(&p->roots[i], block + p->roots_at[i]);
  }
  for (i = 0; i < p->array_count; i++)
    if (p->tables[i])
      memcpy(block + p->tables_at[i], p->tables[i], (size_t)p->table_bytes[i]);
  return block;
}

static int permc_load_block(const permc_program *p, permc_loaded *l, PERMC_ERROR *e) {
  char *block;
  int good;
  if (!PERMC_CUDA(e, cuMemAlloc_v2, &l->block, (size_t)p->block_bytes))
    return 0;
  block = permc_make_block(p, l->block);
  if (!block)
    return permc_refuse(e, PERMC_MEMORY, "out of memory"), 0;
  good = PERMC_CUDA(e, cuMemcpyHtoD_v2, l->block, block, (size_t)p->block_bytes);
  free(block);
  return good;
}

static void permc_unload(const permc_program *p, permc_loaded *l) {
  uint32_t i;
  for (i = 0; l->modules && i < p->module_count; i++)
    if (l->modules[i])
      cuModuleUnload(l->modules[i]);
  if (l->block)
    cuMemFree_v2(l->block);
  free(l->modules);
  free(l->functions);
}

static int permc_load(const permc_program *p, int capability, permc_loaded *l, PERMC_ERROR *e) {
  l->modules = (void **)calloc(p->module_count + 1, sizeof *l->modules);
  l->functions = (void **)calloc(p->kernel_count + 1, sizeof *l->functions);
  if (!l->modules || !l->functions)
    return permc_refuse(e, PERMC_MEMORY, "out of memory"), 0;
  return permc_load_kernels(p, capability, l, e) && permc_load_block(p, l, e);
}

// ---- calls -------------------------------------------------------------------------------------

// One call: where its arrays are.
typedef struct permc_call_state {
  const permc_program *program;
  const permc_loaded *loaded;
  int overlapping;
  uint64_t workspace;
  void *stream;
  PERMC_ERROR *error;
  uint64_t arrays[PERMC_MOST_ARRAYS];
} permc_call_state;

static void permc_place_arrays(permc_call_state *c, const void *const *arguments,
                               void *const *results) {
  const permc_program *p = c->program;
  uint32_t a;
  for (a = 0; a < p->array_count; a++) {
    permc_place at = p->places[a];
    c->arrays[a] = at.home == PERMC_ARGUMENT    ? (uint64_t)(uintptr_t)arguments[at.at]
                   : at.home == PERMC_RESULT    ? (uint64_t)(uintptr_t)results[at.at]
                   : at.home == PERMC_TABLE     ? c->loaded->block + p->tables_at[a]
                   : at.home == PERMC_WORKSPACE ? c->workspace + at.at
                                                : 0;
  }
}

static int permc_launch_once(permc_call_state *c, const permc_launch *l, uint64_t first,
                             void **parameters) {
  uint64_t left = l->blocks - first;
  permc_attribute overlapping;
  permc_config config;
  memset(&overlapping, 0, sizeof overlapping);
  memset(&config, 0, sizeof config);
  overlapping.id = PERMC_OVERLAPPING;
  overlapping.value.number = 1;
  config.blocks[0] = (unsigned)(left < PERMC_MOST_BLOCKS ? left : PERMC_MOST_BLOCKS);
  config.blocks[1] = config.blocks[2] = config.threads[1] = config.threads[2] = 1;
  config.threads[0] = l->threads;
  config.shared_bytes = c->program->kernels[l->kernel].shared_bytes;
  config.stream = c->stream;
  config.attributes = &overlapping;
  config.attribute_count = (unsigned)c->overlapping;
  return PERMC_CUDA(c->error, cuLaunchKernelEx, &config, c->loaded->functions[l->kernel],
                    parameters, NULL);
}

static int permc_launch_kernel(permc_call_state *c, const permc_launch *l) {
  void *parameters[PERMC_MOST_PARAMETERS];
  uint64_t values[PERMC_MOST_PARAMETERS], first;
  uint32_t i;
  for (i = 0; i < l->parameter_count; i++) {
    const permc_parameter *of = &c->program->parameters[l->first_parameter + i];
    values[i] = of->kind == PERMC_IS_ARRAY       ? c->arrays[of->value]
                : of->kind == PERMC_IS_TEMPORARY ? c->workspace + of->value
                : of->kind == PERMC_IS_BLOCK     ? c->loaded->block + c->program->head_at
                                                 : of->value;
    parameters[i] = of->kind == PERMC_IS_DATA ? (void *)(uintptr_t)of->data : &values[i];
  }
  if (l->clear_bytes && !PERMC_CUDA(c->error, cuMemsetD8Async, c->workspace + l->clear_at, 0,
                                    (size_t)l->clear_bytes, c->stream))
    return 0;
  for (first = 0; first < l->blocks; first += PERMC_MOST_BLOCKS) {
    values[0] = first;
    if (!permc_launch_once(c, l, first, parameters))
      return 0;
  }
  return 1;
}

static int permc_launch_all(permc_call_state *c, uint32_t first, uint32_t last) {
  uint32_t i;
  for (i = first; i < last; i++)
    if (!permc_launch_kernel(c, &c->program->launches[i]))
      return 0;
  return 1;
}

// Waits for what is to be checked.
static int permc_check_array(permc_call_state *c, const permc_check *k) {
  size_t bytes = (size_t)k->count * (k->rule.kind == CHECK_PADDING ? 1 : 8);
  void *found = malloc(bytes + 1);
  int good;
  if (!found)
    return permc_refuse(c->error, PERMC_MEMORY, "out of memory");
  good = PERMC_CUDA(c->error, cuMemcpyDtoHAsync_v2, found, c->arrays[k->array], bytes, c->stream) &&
         PERMC_CUDA(c->error, cuStreamSynchronize, c->stream);
  good = !good ? PERMC_DEVICE : permc_check_data(k, found, c->error) ? PERMC_OK : PERMC_DATA;
  free(found);
  return good;
}

static int permc_run(permc_call_state *c) {
  const permc_program *p = c->program;
  uint32_t i;
  if (!permc_launch_all(c, 0, p->checked_after))
    return PERMC_DEVICE;
  for (i = 0; i < p->check_count; i++) {
    int code = permc_check_array(c, &p->checks[i]);
    if (code != PERMC_OK)
      return code;
  }
  if (!permc_launch_all(c, p->checked_after, p->launch_count))
    return PERMC_DEVICE;
  return PERMC_OK;
}

static int permc_copy_results(permc_call_state *c, void *const *results) {
  const permc_program *p = c->program;
  uint32_t i;
  for (i = 0; i < p->copy_count; i++)
    if (!PERMC_CUDA(c->error, cuMemcpyDtoDAsync_v2,
                    (uint64_t)(uintptr_t)results[p->copies[i].result],
                    c->arrays[p->copies[i].array], (size_t)p->copies[i].bytes, c->stream))
      return PERMC_DEVICE;
  return PERMC_OK;
}

// In the caller's workspace, or in one that is taken and given back in the order of the stream.
static int permc_call(permc_call_state *c, const void *const *arguments, void *const *results,
                      void *workspace) {
  uint64_t own = 0;
  int code;
  c->workspace = (uint64_t)(uintptr_t)workspace;
  if (c->workspace % PERMC_ALIGNED)
    return permc_refuse(c->error, PERMC_ALIGNMENT,
                        "the workspace is not at a multiple of 256 bytes");
  if (!workspace && c->program->workspace_bytes &&
      !PERMC_CUDA(c->error, cuMemAllocAsync, &own, (size_t)c->program->workspace_bytes, c->stream))
    return PERMC_DEVICE;
  c->workspace = workspace ? c->workspace : own;
  permc_place_arrays(c, arguments, results);
  code = permc_run(c);
  if (code == PERMC_OK)
    code = permc_copy_results(c, results);
  if (own && !PERMC_CUDA(code == PERMC_OK ? c->error : NULL, cuMemFreeAsync, own, c->stream) &&
      code == PERMC_OK)
    code = PERMC_DEVICE;
  return code;
}
