// Values as embedders see them (permc.h).
#include "runtime/arguments/arguments.h"

permc_value *value_new(size_t component_count) {
  permc_value *v = calloc(1, sizeof *v);
  if (!v || !(v->components = calloc(component_count + 1, sizeof *v->components)))
    return free(v), NULL;
  v->count = component_count;
  return v;
}

permc_value *permc_value_new(const char *element, uint32_t rank, const uint64_t *dims,
                             const void *data) {
  scalar_type t = scalar_named(element, strlen(element));
  permc_value *v = value_new(1);
  if (!v || t == SCALAR_COUNT || !array_create(v->components, t, rank, dims))
    return permc_value_free(v), NULL;
  if (array_bytes(v->components))  // data may be NULL otherwise
    memcpy(v->components->data, data, array_bytes(v->components));
  return v;
}

permc_value *permc_value_tuple(permc_value **parts, size_t count) {
  size_t total = 0, next = 0;
  bool good = true;
  for (size_t i = 0; i < count; i++) {
    good = good && parts[i];
    total += parts[i] ? parts[i]->count : 0;
  }
  permc_value *v = good ? value_new(total) : NULL;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; v && k < parts[i]->count; k++) {
      v->components[next++] = parts[i]->components[k];
      parts[i]->components[k] = (array){0};
    }
    permc_value_free(parts[i]);
  }
  return v;
}

void permc_value_free(permc_value *v) {
  if (!v)
    return;
  for (size_t i = 0; i < v->count; i++)
    array_destroy(&v->components[i]);
  free(v->components);
  free(v);
}

void permc_values_free(permc_value **values, size_t count) {
  for (size_t i = 0; values && i < count; i++)
    permc_value_free(values[i]);
  free(values);
}

void values_drop(permc_value ***values, size_t *count) {
  permc_values_free(*values, *count);
  *values = NULL;
  *count = 0;
}

size_t permc_value_components(const permc_value *v) { return v->count; }

const char *permc_value_type(const permc_value *v, size_t component) {
  return scalar_types[v->components[component].type].name;
}

uint32_t permc_value_rank(const permc_value *v, size_t component) {
  return v->components[component].rank;
}

const uint64_t *permc_value_dims(const permc_value *v, size_t component) {
  return v->components[component].dims;
}

const void *permc_value_data(const permc_value *v, size_t component) {
  return v->components[component].data;
}

bool permc_write_file(permc_context *c, const char *path, const permc_value *v) {
  context_begin_call(c);
  error why = {0};
  output_file *o = output_open(path, &why);
  bool good =
      o && value_write(output_stream(o), value_format_of(path), v->components, v->count, &why);
  // What went wrong with the stream is told by commit, which knows the file's name.
  if (good || (o && ferror(output_stream(o))))
    good = output_commit(o, &why);
  else if (o)
    output_discard(o);
  if (!good)
    context_error(c, "%s", why.message);
  return good;
}
