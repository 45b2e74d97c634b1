// A call of a program (program_text.h) on one processor. Part of each library made ahead of time
// for C. PERMC_ERROR is the library's error.

static const void **permc_root_list(const permc_program *p, void *workspace) {
  return (const void **)workspace + p->array_count;
}

// The tables of roots; scratch memory is 0 at first.
static void permc_prepare(const permc_program *p, void *workspace) {
  uint32_t i;
  for (i = 0; i < p->root_count; i++) {
    char *table = (char *)workspace + p->roots_at[i];
    permc_fill_roots(&p->roots[i], table);
    permc_root_list(p, workspace)[i] = table;
  }
  memset((char *)workspace + p->scratch_at, 0, (size_t)p->scratch_bytes);
}

static void permc_place_arrays(const permc_program *p, const void *const *arguments,
                               void *const *results, void *workspace) {
  void **arrays = (void **)workspace;
  uint32_t a;
  for (a = 0; a < p->array_count; a++) {
    permc_place at = p->places[a];
    const void *given = at.home == PERMC_ARGUMENT ? arguments[at.at]
                        : at.home == PERMC_TABLE  ? p->tables[at.at]
                                                  : NULL;
    arrays[a] = given                        ? (void *)(uintptr_t)given
                : at.home == PERMC_RESULT    ? results[at.at]
                : at.home == PERMC_PART      ? (char *)arrays[at.at] + at.offset
                : at.home == PERMC_WORKSPACE ? (char *)workspace + p->arrays_at + at.at
                                             : NULL;
  }
}

// The arrays of a step, as its code numbers them.
static void *const *permc_arrays_of_step(const permc_program *p, const permc_step *s,
                                         void *workspace) {
  void *const *arrays = (void *const *)workspace;
  void **own = (void **)workspace + p->array_count + p->root_count;
  uint32_t i;
  if (!s->instead)
    return arrays;
  for (i = 0; i < s->instead_count; i += 2)
    own[s->instead[i]] = arrays[s->instead[i + 1]];
  return own;
}

// 0: a routine had too little memory.
static int permc_run_steps(const permc_program *p, uint32_t first, uint32_t last, void *workspace) {
  void *const *arrays = (void *const *)workspace;
  char *temporaries = (char *)workspace + p->arrays_at + p->temporaries_at;
  permc_imports imports;
  uint32_t i;
  imports.foreign = p->foreign;
  imports.roots = (const void *const *)permc_root_list(p, workspace);
  for (i = first; i < last; i++)
    if (!p->steps[i].routine)
      p->steps[i].code(permc_arrays_of_step(p, &p->steps[i], workspace), 0, p->steps[i].items,
                       (char *)workspace + p->scratch_at, &imports);
    else if (!PERMC_RUN_ROUTINE(p->steps[i].routine, p->steps[i].blocks, arrays, temporaries))
      return 0;
  return 1;
}

static int permc_run(const permc_program *p, const void *const *arguments, void *const *results,
                     void *workspace, PERMC_ERROR *error) {
  void *const *arrays = (void *const *)workspace;
  uint32_t i;
  permc_place_arrays(p, arguments, results, workspace);
  if (!permc_run_steps(p, 0, p->checked_after, workspace))
    return permc_refuse(error, PERMC_MEMORY, "out of memory");
  for (i = 0; i < p->check_count; i++)
    if (!permc_check_data(&p->checks[i], arrays[p->checks[i].array], error))
      return PERMC_DATA;
  if (!permc_run_steps(p, p->checked_after, p->step_count, workspace))
    return permc_refuse(error, PERMC_MEMORY, "out of memory");
  for (i = 0; i < p->copy_count; i++)
    memcpy(results[p->copies[i].result], arrays[p->copies[i].array], (size_t)p->copies[i].bytes);
  return PERMC_OK;
}

// In the caller's workspace, or in one of its own.
static int permc_call(const permc_program *p, const void *const *arguments, void *const *results,
                      void *workspace, PERMC_ERROR *error) {
  char *memory;
  int code;
  if (workspace && (uintptr_t)workspace % PERMC_ALIGNED)
    return permc_refuse(error, PERMC_ALIGNMENT, "the workspace is not at a multiple of 256 bytes");
  if (workspace)
    return permc_run(p, arguments, results, workspace, error);
  memory = (char *)malloc((size_t)p->workspace_bytes + PERMC_ALIGNED);
  if (!memory)
    return permc_refuse(error, PERMC_MEMORY, "out of memory");
  workspace = memory + PERMC_ALIGNED - (uintptr_t)memory % PERMC_ALIGNED;
  permc_prepare(p, workspace);
  code = permc_run(p, arguments, results, workspace, error);
  free(memory);
  return code;
}
