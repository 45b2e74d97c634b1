// The types of an entry's parameters, made equal to those of values. See arguments.h.
#include "runtime/arguments/arguments.h"

entry_types entry_types_start(permc_context *c, binding *entry) {
  entry_types t = {.entry = entry};
  t.rest = scheme_instantiate(&c->memory, entry->scheme, 0, &t.instance);
  return t;
}

// The type of one array of `rank` more dimensions, or of a tuple of such arrays.
static type *type_of_arrays(arena *a, const array *components, size_t count, uint32_t depth) {
  type **parts = NEW_ARRAY(a, type *, count);
  for (size_t i = 0; i < count; i++) {
    parts[i] = type_scalar(a, components[i].type);
    for (uint32_t r = depth; r < components[i].rank; r++)
      parts[i] = type_array(a, parts[i]);
  }
  return count == 1 ? parts[0] : type_tuple(a, parts, (uint32_t)count);
}

typedef struct fitter {
  permc_context *context;
  const array *components;
  size_t count, next;
  bool alone;     // the parameter's type has one leaf, which may become a tuple
  bool inferred;  // it is written in no signature
  const char *wrong;
} fitter;

// depth: dimensions of the parameter's type around `wanted`
static const char *why_unequal(const fitter *f, type *wanted, type *found, uint32_t depth) {
  permc_context *c = f->context;
  if (wanted->kind == TYPE_SCALAR && found->kind == TYPE_SCALAR)
    return type_scalar_hint(&c->memory, wanted->scalar, found->scalar, f->inferred);
  for (size_t i = 0; wanted->kind == TYPE_VARIABLE && i < wanted->fields.count; i++)
    if (found->kind != TYPE_TUPLE || wanted->fields.items[i].index >= found->count)
      return arena_printf(&c->memory, "it has no component .%u; the first is .0",
                          wanted->fields.items[i].index);
  if (wanted->kind != TYPE_VARIABLE || wanted->constraint.kind == CONSTRAINT_NONE)
    return found->kind != TYPE_ARRAY ? "it has another type"
           : depth                   ? "it has a dimension too many: map f xss is f of each row"
                                     : "one number is expected, and not an array";
  const char *hint =
      found->kind != TYPE_ARRAY ? type_conversion_hint(wanted->constraint, found)
      : depth                   ? "; map f xss works on each row"
      : type_prune(found->parts[0])->kind == TYPE_ARRAY
          ? "; map (map f) xss works on each element"
          : "; map f xs works on each element, zip_with f xs ys on those of two arrays";
  return arena_printf(&c->memory, "%s is not %s%s", context_shown_type(c, found),
                      type_constraint_name(wanted->constraint), hint);
}

// A type variable takes all that is left of the value; everything else is one array a scalar.
static void fit(fitter *f, type *t, uint32_t depth) {
  arena *a = &f->context->memory;
  t = type_prune(t);
  if (f->wrong)
    return;
  if (t->kind == TYPE_ARRAY) {
    fit(f, t->parts[0], depth + 1);
  } else if (t->kind == TYPE_TUPLE) {
    for (uint32_t i = 0; i < t->count; i++)
      fit(f, t->parts[i], depth);
  } else if (f->next == f->count) {
    f->wrong = "it has too few components";
  } else {
    bool open = t->kind == TYPE_VARIABLE && t->constraint.kind != CONSTRAINT_SCALAR && f->alone;
    size_t taken = open ? f->count - f->next : 1;
    for (size_t i = 0; i < taken; i++)
      if (f->components[f->next + i].rank < depth)
        f->wrong = !f->components[f->next + i].rank
                       ? "it is one number, and an array is expected: [3] is an array, and "
                         "[1000]f64 the type of one"
                       : arena_printf(a, "it has %u dimension%s, and at least %u are expected",
                                      f->components[f->next + i].rank,
                                      f->components[f->next + i].rank == 1 ? "" : "s", depth);
    if (f->wrong)
      return;
    type *found = type_of_arrays(a, f->components + f->next, taken, depth);
    if (!type_unify(a, t, found))
      f->wrong = why_unequal(f, t, found, depth);
    f->next += taken;
  }
}

// All arrays under one array dimension have its length.
static bool same_lengths(fitter *f, type *t, uint32_t depth) {
  t = type_prune(t);
  if (t->kind == TYPE_ARRAY) {
    size_t first = f->next;
    if (!same_lengths(f, t->parts[0], depth + 1))
      return false;
    for (size_t i = first + 1; i < f->next; i++)
      if (f->components[i].dims[depth] != f->components[first].dims[depth])
        return false;
    return true;
  }
  if (t->kind == TYPE_TUPLE) {
    for (uint32_t i = 0; i < t->count; i++)
      if (!same_lengths(f, t->parts[i], depth))
        return false;
    return true;
  }
  f->next++;
  return true;
}

void entry_note_literal(permc_context *c, type *wanted) {
  const expr *literal = type_literal(wanted);
  if (literal)
    diag_report(&c->program.diagnostics, DIAG_NOTE, literal->where,
                "the argument's type follows from this literal, which is %s",
                context_shown_type(c, literal->type));
}

bool entry_types_fit(permc_context *c, entry_types *t, const permc_value *v, size_t number) {
  type *f = type_prune(t->rest);
  const char *wanted = context_shown_type(c, f->parts[0]);
  if (!v) {  // permc_value_new failed and its caller did not look
    c->code = PERMC_ERROR_ARGUMENT;
    diag_report(&c->program.diagnostics, DIAG_ERROR, t->entry->where,
                "argument %zu of '%s' must be %s, but it is NULL", number + 1, t->entry->name,
                wanted);
    return false;
  }
  fitter job = {.context = c,
                .components = v->components,
                .count = v->count,
                .alone = context_array_count(f->parts[0]) == 1,
                .inferred = !t->entry->signature && !type_literal(f->parts[0])};
  fit(&job, f->parts[0], 0);
  if (!job.wrong && job.next < job.count)
    job.wrong = "it has too many components";
  job.next = 0;
  if (!job.wrong && !same_lengths(&job, f->parts[0], 0))
    job.wrong = "its components have different lengths";
  t->rest = f->parts[1];
  if (!job.wrong)
    return true;
  text shapes = {.memory = &c->memory};
  value_print_shapes(&shapes, v);
  c->code = PERMC_ERROR_ARGUMENT;
  diag_report(&c->program.diagnostics, DIAG_ERROR, t->entry->where,
              "argument %zu of '%s' must be %s, but the data is %s", number + 1, t->entry->name,
              wanted, text_content(&shapes));
  entry_note_literal(c, f->parts[0]);
  diag_report(&c->program.diagnostics, DIAG_HINT, t->entry->where, "%s", job.wrong);
  return false;
}

void entry_types_finish(permc_context *c, entry_types *t) {
  for (size_t i = 0; i < t->entry->scheme->all->variables.count; i++)
    type_set_default(&c->memory, t->instance[i]);
}

// A copy of integers that elaboration may need: few, such as a matrix, that are in the host's
// memory. Else NULL.
static const void *copy_known(arena *memory, const permc_value *v) {
  enum { MOST_ELEMENTS = 4096 };
  const array *a = &v->components[0];
  uint64_t count = array_count(a);
  if (v->count != 1 || a->type != SCALAR_I64 || count > MOST_ELEMENTS || (count && !a->data) ||
      array_device(a) != ARRAY_HOST)
    return NULL;
  void *copy = arena_alloc(memory, array_bytes(a) + 1);
  if (count)
    memcpy(copy, a->data, array_bytes(a));
  return copy;
}

bool shapes_of_values(permc_context *c, binding *entry, permc_value *const *values, size_t count,
                      arena *memory, argument_shapes *out) {
  size_t parameters = context_parameter_count(c, entry->name);
  if (parameters != count)
    return context_error_of(c, PERMC_ERROR_ARGUMENT,
                            "'%s' has %zu parameter%s, but is given %zu argument%s", entry->name,
                            parameters, parameters == 1 ? "" : "s", count, count == 1 ? "" : "s");
  entry_types types = entry_types_start(c, entry);
  *out = (argument_shapes){.instance = types.instance};
  for (size_t i = 0; i < count; i++) {
    if (!entry_types_fit(c, &types, values[i], i))
      return false;
    for (size_t k = 0; k < values[i]->count; k++) {
      const array *a = &values[i]->components[k];
      uint64_t *dims = NEW_ARRAY(memory, uint64_t, a->rank + 1);
      memcpy(dims, a->dims, a->rank * sizeof *dims);
      array_shape shape = {a->type,        a->rank, dims, NULL, copy_known(memory, values[i]),
                           a->permutation, NULL};
      vec_push(memory, &out->arrays, shape);
    }
  }
  entry_types_finish(c, &types);
  return true;
}
