// Random arguments: of the types that are given, or of the shapes that an entry has at given sizes.
#include "runtime/arguments/arguments.h"

// ---- by types -----------------------------------------------------------------------------------

bool permc_read_random(permc_context *c, const char *entry, const char *types, uint64_t seed,
                       permc_value ***arguments, size_t *count) {
  context_begin_call(c);
  if (!values_of_types(c, entry, "random types", types, arguments, count))
    return false;
  bool good = true;
  for (size_t i = 0; i < *count; i++)
    for (size_t k = 0; k < (*arguments)[i]->count && good; k++) {
      array *a = &(*arguments)[i]->components[k], shape = *a;
      good = array_random(a, shape.type, shape.rank, shape.dims, &seed);
    }
  if (good)
    return true;
  values_drop(arguments, count);
  return context_error(c, "random data of '%s' does not fit into memory", types);
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
    good =
        array_random(&v->components[i], leaves[i].type, leaves[i].rank, leaves[i].dims, &j->state);
  if (good)
    return v;
  context_error(c, "random arguments of '%s' do not fit into memory", j->entry);
  permc_value_free(v);
  return NULL;
}

static bool run_sized(permc_context *c, void *with) {
  sized_job *j = with;
  binding *b = context_entry(c, j->entry);
  if (!b)
    return false;
  *j->arguments = calloc(permc_parameter_count(c, j->entry) + 1, sizeof **j->arguments);
  if (!*j->arguments)
    context_error(c, "out of memory");
  argument_shapes shapes;
  if (!*j->arguments || !shapes_at(c, b, j->sizes, j->size_count, &c->program.memory, &shapes))
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
  *arguments = NULL;
  *count = 0;
  sized_job j = {entry, sizes, size_count, seed, arguments, count};
  if (context_run_job(c, run_sized, &j))
    return true;
  values_drop(arguments, count);
  return false;
}
