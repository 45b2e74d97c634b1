// Values as embedders see them (permc.h).
#include "core/units.h"
#include "runtime/arguments/arguments.h"
#include "runtime/ranks/ranks.h"
#include <errno.h>
#include <inttypes.h>

permc_value *value_new(size_t component_count) {
  permc_value *v = calloc(1, sizeof *v);
  if (!v || !(v->components = calloc(component_count + 1, sizeof *v->components)))
    return free(v), NULL;
  v->count = component_count;
  return v;
}

bool value_append(permc_value *v, const array *component, const char *name) {
  array *components = realloc(v->components, (v->count + 2) * sizeof *components);
  if (!components)
    return false;
  v->components = components;
  char **names = v->names ? realloc(v->names, (v->count + 1) * sizeof *names) : NULL;
  if (v->names && !names)
    return false;
  v->names = names;
  if (names)
    names[v->count] = NULL;
  v->components[v->count++] = *component;
  return permc_value_set_name(v, v->count - 1, name) || (v->count--, false);
}

permc_value *permc_value_new(const char *element, uint32_t rank, const uint64_t *dims,
                             const void *data) {
  scalar_type t = element ? scalar_named(element, strlen(element)) : SCALAR_COUNT;
  permc_value *v = value_new(1);
  if (!v || t == SCALAR_COUNT || (rank && !dims) || !array_create(v->components, t, rank, dims))
    return permc_value_free(v), NULL;
  if (data && array_bytes(v->components))
    memcpy(v->components->data, data, array_bytes(v->components));
  return v;
}

permc_value *permc_value_like(const permc_value *like) {
  permc_value *v = like ? value_new(like->count) : NULL;
  bool good = v != NULL;
  for (size_t k = 0; good && k < like->count; k++) {
    const array *a = &like->components[k];
    good = array_create(&v->components[k], a->type, a->rank, a->dims);
  }
  if (!good)
    permc_value_free(v), v = NULL;
  return v;
}

// Whether the strides are those of row-major memory, where they matter.
static bool are_row_major(const permc_memory *m, size_t size) {
  uint64_t stride = size;
  bool empty = false;
  for (uint32_t i = 0; i < m->rank; i++)
    empty = empty || m->dims[i] == 0;
  for (uint32_t i = m->rank; i-- > 0 && !empty; stride *= m->dims[i])
    if (m->dims[i] > 1 && m->strides && m->strides[i] != (int64_t)stride)
      return false;
  return true;
}

// Of an element, or of its two parts if it is complex; on a GPU, of what one access has.
static uint64_t alignment_of(const permc_memory *m, scalar_type t) {
  return m->device == PERMC_HOST ? scalar_types[scalar_real_of(t)].size : 16;
}

// `part`: what of the array the memory has; NULL: all.
static permc_code check_memory(const permc_memory *m, scalar_type t, const array_part *part,
                               permc_error *e) {
  uint64_t bytes;
  if (t == SCALAR_COUNT)
    return failure_set(e, PERMC_ERROR_ARGUMENT, "there is no element type '%.40s'",
                       m->type ? m->type : "NULL");
  if (m->rank > VALUE_MAX_RANK || (m->rank && !m->dims))
    return failure_set(e, PERMC_ERROR_ARGUMENT, "arrays have at most %d dimensions",
                       VALUE_MAX_RANK);
  if (!array_bytes_of(scalar_types[t].size, m->rank, m->dims, &bytes))
    return failure_set(e, PERMC_ERROR_ARGUMENT, "the array is too large for any memory");
  uint64_t all = bytes / scalar_types[t].size;
  if (part && (part->first > all || part->count > all - part->first))
    return failure_set(e, PERMC_ERROR_ARGUMENT,
                       "the array has %llu elements, and no part of %llu from element %llu on",
                       (unsigned long long)all, (unsigned long long)part->count,
                       (unsigned long long)part->first);
  if (part && m->device != PERMC_HOST)
    return failure_set(e, PERMC_ERROR_DEVICE, "parts of arrays are in the memory of the host");
  bytes = part ? part->count * scalar_types[t].size : bytes;
  if (m->device < PERMC_HOST)
    return failure_set(e, PERMC_ERROR_DEVICE, "there is no device %d", (int)m->device);
  if (bytes && !m->data)
    return failure_set(e, PERMC_ERROR_ARGUMENT, "the array has no memory");
  if (!are_row_major(m, scalar_types[t].size))
    return failure_set(e, PERMC_ERROR_LAYOUT,
                       "the array is not row-major without gaps (C order): it must be copied");
  if ((uintptr_t)m->data > UINTPTR_MAX - bytes)
    return failure_set(e, PERMC_ERROR_ARGUMENT, "the array goes beyond the end of memory");
  if (bytes && (uintptr_t)m->data % alignment_of(m, t))
    return failure_set(e, PERMC_ERROR_LAYOUT, "the address %p is no multiple of %d", m->data,
                       (int)alignment_of(m, t));
  return PERMC_OK;
}

static permc_value *no_value(permc_error *e) {
  return failure_set(e, PERMC_ERROR_MEMORY, "out of memory"), NULL;
}

// The array of the description, without data.
static permc_value *borrow(const permc_memory *m, const array_part *part, permc_error *e) {
  if (!m)
    return failure_set(e, PERMC_ERROR_ARGUMENT, "the memory is NULL"), NULL;
  scalar_type t = m->type ? scalar_named(m->type, strlen(m->type)) : SCALAR_COUNT;
  if (check_memory(m, t, part, e) != PERMC_OK)
    return NULL;
  permc_value *v = value_new(1);
  if (!v)
    return no_value(e);
  v->components[0] = (array){.type = t, .rank = m->rank};
  if (m->rank)
    memcpy(v->components[0].dims, m->dims, m->rank * sizeof *m->dims);
  return v;
}

permc_value *permc_value_borrow(const permc_memory *m, permc_error *e) {
  permc_value *v = borrow(m, NULL, e);
  array_owner *owner = v ? malloc(sizeof *owner) : NULL;
  if (!owner)
    return v ? permc_value_free(v), no_value(e) : NULL;
  *owner = (array_owner){m->device, m->read_only, m->release, m->with};
  v->components[0].data = m->data;
  v->components[0].owner = owner;
  return v;
}

typedef struct borrowed_part {
  array_part part;  // first: array_own takes it for an array_part
  void (*release)(void *with);
  void *with;
} borrowed_part;

static void release_part(void *with) {
  FREED borrowed_part *b = with;
  if (b->release)
    b->release(b->with);
}

permc_value *permc_value_borrow_part(const permc_memory *m, uint64_t first, uint64_t count,
                                     permc_error *e) {
  array_part part = {.first = first, .count = count, .data = m ? m->data : NULL};
  permc_value *v = borrow(m, &part, e);
  array_owner *owner = v ? malloc(sizeof *owner) : NULL;
  borrowed_part *b = owner ? malloc(sizeof *b) : NULL;
  if (!b) {
    free(owner);
    return v ? permc_value_free(v), no_value(e) : NULL;
  }
  *b = (borrowed_part){part, m->release, m->with};
  *owner = (array_owner){ARRAY_IN_PART, m->read_only, release_part, b};
  v->components[0].owner = owner;
  return v;
}

// A part that is given twice is one value, of which there can be no two.
static void drop_doubles(permc_value **parts, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i && parts[i]; k++)
      if (parts[k] == parts[i])
        parts[i] = NULL;
}

permc_value *permc_value_tuple(permc_value **parts, size_t count) {
  size_t total = 0, next = 0;
  bool good = parts != NULL;
  count = parts ? count : 0;
  drop_doubles(parts, count);
  for (size_t i = 0; i < count; i++) {
    good = good && parts[i];
    total += parts[i] ? parts[i]->count : 0;
  }
  permc_value *v = good ? value_new(total) : NULL;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; v && k < parts[i]->count; k++) {
      good = good && permc_value_set_name(v, next, permc_value_name(parts[i], k));
      v->components[next++] = parts[i]->components[k];
      parts[i]->components[k] = (array){0};
    }
    permc_value_free(parts[i]);
  }
  if (!good)
    permc_value_free(v), v = NULL;
  return v;
}

void permc_value_free(permc_value *v) {
  if (!v)
    return;
  for (size_t i = 0; i < v->count; i++) {
    array_destroy(&v->components[i]);
    if (v->names)
      free(v->names[i]);
  }
  free(v->names);
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

size_t permc_value_components(const permc_value *v) { return v ? v->count : 0; }

static const array *component_of(const permc_value *v, size_t number) {
  return number < permc_value_components(v) ? &v->components[number] : NULL;
}

const char *permc_value_type(const permc_value *v, size_t component) {
  const array *a = component_of(v, component);
  return a ? scalar_types[a->type].name : NULL;
}

uint32_t permc_value_rank(const permc_value *v, size_t component) {
  const array *a = component_of(v, component);
  return a ? a->rank : 0;
}

const uint64_t *permc_value_dims(const permc_value *v, size_t component) {
  const array *a = component_of(v, component);
  return a ? a->dims : NULL;
}

const void *permc_value_data(const permc_value *v, size_t component) {
  const array *a = component_of(v, component);
  return a ? a->data : NULL;
}

const void *permc_value_part(const permc_value *v, size_t component, uint64_t *first,
                             uint64_t *count) {
  const array *a = component_of(v, component);
  array_part own = a ? array_own(a) : (array_part){0};
  if (first)
    *first = own.first;
  if (count)
    *count = own.count;
  return own.data;
}

const char *permc_value_name(const permc_value *v, size_t component) {
  return component_of(v, component) && v->names ? v->names[component] : NULL;
}

bool permc_value_set_name(permc_value *v, size_t component, const char *name) {
  if (!component_of(v, component))
    return false;
  char *copy = name && *name ? strdup(name) : NULL;
  if (!v->names && copy)
    v->names = calloc(v->count, sizeof *v->names);
  if ((name && *name && !copy) || (copy && !v->names))
    return free(copy), false;
  if (v->names) {
    free(v->names[component]);
    v->names[component] = copy;
  }
  return true;
}

// ---- writing -----------------------------------------------------------------------------------

static bool is_in_files(const permc_value *v) {
  bool any = false;
  for (size_t i = 0; i < v->count; i++)
    any = any || array_device(&v->components[i]) == ARRAY_IN_FILE;
  return any;
}

static bool fits_memory(const permc_context *c, const permc_value *v, error *why) {
  uint64_t bytes = 0;
  char has[NUMBER_SPACE], most[NUMBER_SPACE];
  for (size_t i = 0; i < v->count; i++)
    bytes += array_bytes(&v->components[i]);
  return !is_in_files(v) || bytes <= c->file_memory ||
         error_set(why, SPAN_NONE,
                   "a result has %s, and there are %s of memory; write it to a .npy",
                   show_bytes(has, bytes), show_bytes(most, c->file_memory));
}

permc_code value_load(const permc_context *c, permc_value *v, error *why) {
  bool good = true;
  if (!fits_memory(c, v, why))
    return PERMC_ERROR_ARGUMENT;
  for (size_t i = 0; i < v->count && good; i++)
    good = array_load(&v->components[i], why);
  return good ? PERMC_OK : PERMC_ERROR_FILE;
}

// Not a failure of the stream, which is told by closing: that knows the file's name.
static permc_code write_value(output_file *o, value_format format, const permc_value *v,
                              error *why) {
  if (value_write(output_stream(o), format, v, why) || ferror(output_stream(o)))
    return PERMC_OK;
  return why->number == ENOMEM ? PERMC_ERROR_MEMORY : PERMC_ERROR_ARGUMENT;
}

// A .npy of a value in files: its own file, or a copy piece by piece. Other formats, and what is no
// regular file, of what is brought to memory.
static permc_code write_files(permc_context *c, output_file *o, value_format format, permc_value *v,
                              error *why) {
  bool became;
  permc_code code;
  if (format == FORMAT_NPY && output_descriptor(o) >= 0)
    return value_file_becomes(v, o, &became, why) &&
                   (became || npy_write_apart(o, v, c->file_memory, why))
               ? PERMC_OK
               : PERMC_ERROR_FILE;
  code = value_load(c, v, why);
  return code == PERMC_OK ? write_value(o, format, v, why) : code;
}

static bool is_shared(const permc_context *c) { return c->ranks && !ranks_are_here(c->ranks); }

// By this process alone, of a value that it has.
static permc_code write_alone(permc_context *c, output_file *o, value_format format, permc_value *v,
                              error *why) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < v->count; i++)
    bytes += array_bytes(&v->components[i]);
  bool as_it_is = format == FORMAT_NPY || format == FORMAT_BINARY;
  output_watch(o, context_begin_stage(c, "writing", "bytes"), as_it_is ? bytes : 0);
  permc_code code = c->file_memory && is_in_files(v) ? write_files(c, o, format, v, why)
                                                     : write_value(o, format, v, why);
  if (code == PERMC_OK && !output_close(o, why))
    code = PERMC_ERROR_FILE;
  context_end_stages(c);
  return code;
}

// Writes a file that has yet to get its name: *made, also where that fails, or NULL.
static bool write_one(permc_context *c, const char *path, permc_value *v, output_file **made) {
  error why = {0};
  value_format format;
  bool shared = is_shared(c), in_files = c->file_memory && is_in_files(v);
  for (size_t i = 0; i < v->count && !shared && !in_files; i++)
    if (array_device(&v->components[i]) != ARRAY_HOST ||
        (!v->components[i].data && array_bytes(&v->components[i])))
      return context_error_of(c, PERMC_ERROR_DEVICE,
                              "%s: the value is not in the memory of the host", path);
  if (!value_format_of(path, &format, &why))
    return context_error_of(c, PERMC_ERROR_FILE, "%s", why.message);
  if (shared)
    return ranks_write(c->ranks, path, format, v, made, &why) ||
           context_error_of(c, PERMC_ERROR_RANKS, "%s", why.message);
  *made = output_open(path, &why);
  permc_code code = *made ? write_alone(c, *made, format, v, &why) : PERMC_ERROR_FILE;
  return code == PERMC_OK || context_error_of(c, code, "%s", why.message);
}

static bool commit_all(permc_context *c, output_file **made, size_t count) {
  error why = {0};
  if (is_shared(c))
    return ranks_commit(c->ranks, made, count, &why) ||
           context_error_of(c, PERMC_ERROR_RANKS, "%s", why.message);
  return outputs_commit(made, count, &why) ||
         context_error_of(c, PERMC_ERROR_FILE, "%s", why.message);
}

bool permc_write_files(permc_context *c, const char *const *paths, permc_value *const *values,
                       size_t count) {
  context_begin_call(c);
  if (!context_given_list(c, paths, count, "paths") ||
      !context_given_list(c, values, count, "values"))
    return false;
  if (!count)
    return true;
  FREED output_file **made = calloc(count + 1, sizeof *made);
  bool good = made ? true : context_no_memory(c);
  for (size_t i = 0; i < count && good; i++)
    good = context_given(c, paths[i], "the path") && context_given(c, values[i], "the value") &&
           write_one(c, paths[i], values[i], &made[i]);
  good = good && commit_all(c, made, count);
  for (size_t i = 0; i < count && made; i++)
    output_discard(made[i]);
  return good;
}

bool permc_write_file(permc_context *c, const char *path, const permc_value *v) {
  permc_value *one = (permc_value *)(uintptr_t)v;  // rank 0 may have to have all of it
  return permc_write_files(c, &path, &one, 1);
}

// ---- counted results ---------------------------------------------------------------------------

// What the integer is, for all ranks: the one that has it tells the others.
static bool read_count(permc_context *c, const permc_value *count, int64_t *number) {
  const array *a = &count->components[0];
  bool apart = array_device(a) == ARRAY_IN_PART;
  bool has = apart ? array_own(a).count > 0 : !is_shared(c) || ranks_own(c->ranks) == 0;
  uint64_t bits = 0, told = 0, first;
  scalar_bits found = {0};
  error why = {0};
  if (has && !array_fetch(a, 0, 1, &found, &why))
    return context_error_of(c, PERMC_ERROR_FILE, "%s", why.message);
  if (has)
    scalar_convert(a->type, SCALAR_I64, 1, &found, &bits);
  if (!is_shared(c))
    told = bits;
  else if (!ranks_place(c->ranks, "writing what is counted", &bits, 1, &first, &told, &why))
    return context_error_of(c, PERMC_ERROR_RANKS, "%s", why.message);
  memcpy(number, &told, sizeof told);
  return true;
}

static bool is_integer(const permc_value *v) {
  return v->count == 1 && v->components[0].rank == 0 &&
         CLASS_OF(v->components[0].type) & CLASS_INTEGER;
}

bool permc_keep_first(permc_context *c, permc_value *v, const permc_value *count) {
  int64_t number;
  context_begin_call(c);
  if (!context_given(c, v, "the value") || !context_given(c, count, "the count"))
    return false;
  if (!is_integer(count))
    return context_error(c, "the count is no integer");
  if (!read_count(c, count, &number))
    return false;
  for (size_t i = 0; i < v->count; i++) {
    const array *a = &v->components[i];
    if (!a->rank)
      return context_error(c, "the value is no array, of which there could be first elements");
    if (number < 0)
      return context_error(c, "the count is %" PRId64 ", which is negative", number);
    if ((uint64_t)number > a->dims[0])
      return context_error(c, "the count is %" PRId64 ", but there are only %" PRIu64 " elements",
                           number, a->dims[0]);
  }
  for (size_t i = 0; i < v->count; i++)
    array_keep_first(&v->components[i], (uint64_t)number);
  return true;
}

// ---- files of results, before a run ------------------------------------------------------------

typedef VEC(array) array_ranks;

// The arrays that a value of type t is made of: their ranks, without data. False: it depends on the
// arguments.
static bool list_ranks(arena *memory, type *t, uint32_t rank, array_ranks *out) {
  t = type_prune(t);
  if (t->kind == TYPE_ARRAY)
    return list_ranks(memory, t->parts[0], rank + 1, out);
  bool known = t->kind != TYPE_VARIABLE || t->constraint.kind != CONSTRAINT_NONE;
  for (uint32_t i = 0; t->kind == TYPE_TUPLE && known && i < t->count; i++)
    known = list_ranks(memory, t->parts[i], rank, out);
  if (known && t->kind != TYPE_TUPLE)
    vec_push(memory, out, (array){.rank = rank});
  return known;
}

typedef struct outputs_job {
  binding *entry;
  permc_value *const *arguments;
  size_t argument_count;
  const char *const *paths;
  size_t count;
} outputs_job;

static bool is_array_of(permc_context *c, type *t) {
  array_ranks arrays = {0};
  bool known = list_ranks(&c->memory, t, 0, &arrays), good = true;
  for (size_t i = 0; i < arrays.count && known; i++)
    good = good && arrays.items[i].rank;
  return good;
}

// Whether result `counter`, from 1 on, can count elements of result `number`.
static bool check_counter(permc_context *c, const outputs_job *j, size_t number, size_t counter,
                          type *const *results, size_t count) {
  const char *word = j->paths[number];
  if (counter > count)
    return context_error(c, "-o %s: %s has %zu result%s; an array of pairs is one", word,
                         j->entry->name, count, count == 1 ? "" : "s");
  type *counts = type_prune(results[counter - 1]);
  if (counts->kind != TYPE_VARIABLE &&
      (counts->kind != TYPE_SCALAR || !(CLASS_OF(counts->scalar) & CLASS_INTEGER)))
    return context_error(c, "-o %s: result %zu is no integer, which could count elements", word,
                         counter);
  return is_array_of(c, results[number]) ||
         context_error(c, "-o %s: result %zu is no array, of which there could be first elements",
                       word, number + 1);
}

// results: of the entry, where they are known, or NULL.
static bool check_output(permc_context *c, const outputs_job *j, size_t number,
                         type *const *results, size_t count) {
  const char *path, *other;
  size_t counter, none;
  error why;
  value_format format;
  array_ranks arrays = {0};
  if (!output_parse(j->paths[number], &path, &counter, &why) ||
      !value_format_of(path, &format, &why) || !output_check(path, &why))
    return context_error_of(c, PERMC_ERROR_FILE, "%s", why.message);
  if (results && counter && !check_counter(c, j, number, counter, results, count))
    return false;
  if (results && list_ranks(&c->memory, results[number], 0, &arrays) &&
      !value_suits(format, arrays.items, arrays.count, &why))
    return context_error_of(c, PERMC_ERROR_FILE, "%s: %s", path, why.message);
  for (size_t i = 0; i < number; i++)
    if (output_parse(j->paths[i], &other, &none, &why) && output_same(other, path))
      return context_error(c, "-o %s and -o %s are one file; give each result a file of its own",
                           j->paths[i], j->paths[number]);
  return true;
}

static bool check_outputs(permc_context *c, void *with) {
  const outputs_job *j = with;
  entry_types t = entry_types_start(c, j->entry);
  for (size_t i = 0; i < j->argument_count; i++)
    if (!entry_types_fit(c, &t, j->arguments[i], i))
      return false;
  type *result = type_prune(t.rest);
  while (result->kind == TYPE_FUNCTION)
    result = type_prune(result->parts[1]);
  bool several = result->kind == TYPE_TUPLE,
       known = result->kind != TYPE_VARIABLE || result->constraint.kind == CONSTRAINT_SCALAR;
  size_t results = several ? result->count : 1;
  if (known && j->count > results)
    return context_error(c, "%s has %zu result%s, but -o was given %zu times; leave out %s",
                         j->entry->name, results, results == 1 ? "" : "s", j->count,
                         j->count - results == 1 ? "one" : "some");
  for (size_t i = 0; i < j->count; i++)
    if (!check_output(c, j, i, several ? result->parts : known ? &result : NULL, results))
      return false;
  return true;
}

bool permc_check_outputs(permc_context *c, const char *entry, permc_value *const *arguments,
                         size_t argument_count, const char *const *paths, size_t count) {
  context_begin_call(c);
  if (!context_given_list(c, paths, count, "paths") ||
      !context_given_list(c, arguments, argument_count, "arguments"))
    return false;
  for (size_t i = 0; i < count; i++)
    if (!context_given(c, paths[i], "a path"))
      return false;
  outputs_job j = {context_entry(c, entry), arguments, argument_count, paths, count};
  return j.entry && context_run_here(c, check_outputs, &j);
}
