// Random arguments: of the types that are given, or of the shapes that an entry has at given sizes.
#include "runtime/arguments/arguments.h"
#include "runtime/system/memory.h"

// Of large arrays each rank draws its part when it needs it (runtime/ranks), or each step of a run
// on files.
static bool draw(const permc_context *c, array *a, scalar_type t, uint32_t rank,
                 const uint64_t *dims, uint64_t *state) {
  uint64_t bytes;
  bool apart = (c->ranks || c->file_memory) &&
               array_bytes_of(scalar_types[t].size, rank, dims, &bytes) && bytes >= VALUES_APART;
  return (apart ? array_random_apart : array_random)(a, t, rank, dims, state);
}

// ---- by types -----------------------------------------------------------------------------------

typedef struct typed_job {
  const char *entry, *types;
  uint64_t seed;
  permc_value ***arguments;
  size_t *count;
} typed_job;

static bool run_typed(permc_context *c, void *with) {
  typed_job *j = with;
  if (!values_of_types(c, j->entry, "random types", j->types, j->arguments, j->count))
    return false;
  bool good = true;
  uint64_t bytes = 0;
  for (size_t i = 0; i < *j->count && good; i++)
    for (size_t k = 0; k < (*j->arguments)[i]->count && good; k++) {
      array *a = &(*j->arguments)[i]->components[k], shape = *a;
      good = a->data || draw(c, a, shape.type, shape.rank, shape.dims, &j->seed);
      if (!good && !array_bytes_of(scalar_types[shape.type].size, shape.rank, shape.dims, &bytes))
        bytes = 0;  // more than can be counted
    }
  if (good)
    return true;
  char why[MEMORY_WHY];
  bool known = !memory_suffices((double)bytes, 0, why);
  context_error_of(c, PERMC_ERROR_MEMORY, "random data of '%s' does not fit into memory%s%s",
                   j->types, known ? ": an array takes " : "", known ? why : "");
  diag_report(&c->program.diagnostics, DIAG_HINT, SPAN_NONE,
              "take fewer elements; permc run --memory BYTES keeps large arrays in files");
  return false;
}

bool permc_read_random(permc_context *c, const char *entry, const char *types, uint64_t seed,
                       permc_value ***arguments, size_t *count) {
  context_begin_call(c);
  if (!context_results(c, arguments, count))
    return false;
  typed_job j = {entry, types, seed, arguments, count};
  if (context_run_here(c, run_typed, &j))
    return true;
  values_drop(arguments, count);
  return false;
}

// ---- by sizes --------------------------------------------------------------------------

typedef struct sized_job {
  const char *entry;
  const permc_size *sizes;
  size_t size_count;
  uint64_t state;
  permc_value ***arguments;
  size_t *count;
} sized_job;

// Takes as many leaves as the parameter's type has.
static permc_value *random_value(permc_context *c, sized_job *j, size_t count,
                                 const array_shape *leaves) {
  permc_value *v = value_new(count);
  bool good = v != NULL;
  for (size_t i = 0; good && i < count; i++)
    good = draw(c, &v->components[i], leaves[i].type, leaves[i].rank, leaves[i].dims, &j->state);
  if (good && leaves->known)
    memcpy(v->components[0].data, leaves->known, array_bytes(&v->components[0]));
  if (good)
    return v;
  context_error_of(c, PERMC_ERROR_MEMORY, "random arguments of '%s' do not fit into memory",
                   j->entry);
  permc_value_free(v);
  return NULL;
}

static bool run_sized(permc_context *c, void *with) {
  sized_job *j = with;
  binding *b = context_entry(c, j->entry);
  if (!b)
    return false;
  *j->arguments = calloc(context_parameter_count(c, j->entry) + 1, sizeof **j->arguments);
  if (!*j->arguments)
    context_no_memory(c);
  argument_shapes shapes;
  if (!*j->arguments || !shapes_at(c, b, j->sizes, j->size_count, &c->memory, &shapes))
    return false;
  size_t next = 0;
  for (type *t = type_prune(b->scheme->type); t->kind == TYPE_FUNCTION;
       t = type_prune(t->parts[1])) {
    size_t arrays = context_array_count(t->parts[0]);
    permc_value *v = random_value(c, j, arrays, shapes.arrays.items + next);
    if (!v)
      return false;
    (*j->arguments)[(*j->count)++] = v;
    next += arrays;
  }
  return true;
}

bool permc_read_random_at(permc_context *c, const char *entry, const permc_size *sizes,
                          size_t size_count, uint64_t seed, permc_value ***arguments,
                          size_t *count) {
  context_begin_call(c);
  if (!context_results(c, arguments, count) || !context_given_sizes(c, sizes, size_count))
    return false;
  sized_job j = {entry, sizes, size_count, seed, arguments, count};
  if (context_run_job(c, run_sized, &j))
    return true;
  values_drop(arguments, count);
  return false;
}
