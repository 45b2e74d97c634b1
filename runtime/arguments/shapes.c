// Shapes of arguments, from types in words and from sizes. See arguments.h.
#include "runtime/arguments/arguments.h"

#include <errno.h>

// ---- types -----------------------------------------------------------------------------------

typedef struct type_reader {
  permc_context *context;
  const char *what, *start, *at;
  unsigned depth;  // open parentheses
} type_reader;

static void skip_space(type_reader *r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n')
    r->at++;
}

static bool bad_type(type_reader *r) {
  return context_error(r->context,
                       "%s: '%.99s' is wrong at '%.99s'; write types such as [1024]i32, [2^10]f64 "
                       "or [8](u32, f64)",
                       r->what, r->start, r->at);
}

static bool read_digits(type_reader *r, uint64_t *number) {
  char *end;
  skip_space(r);
  if (*r->at < '0' || *r->at > '9')
    return bad_type(r);
  errno = 0;
  *number = strtoull(r->at, &end, 10);
  if (errno)
    return bad_type(r);
  r->at = end;
  skip_space(r);
  return true;
}

// "1000" or "2^10".
static bool read_length(type_reader *r, uint64_t *length) {
  uint64_t base, exponent;
  if (!read_digits(r, &base))
    return false;
  *length = base;
  if (*r->at != '^')
    return true;
  const char *power = r->at++;
  if (!read_digits(r, &exponent))
    return false;
  *length = 1;
  for (uint64_t i = 0; i < exponent && *length && base != 1; i++)
    if (__builtin_mul_overflow(*length, base, length)) {
      r->at = power;
      return bad_type(r);
    }
  return true;
}

static bool read_leaf(type_reader *r, const uint64_t *dims, uint32_t rank, permc_value *v) {
  size_t length = strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789");
  array shape = {.type = scalar_named(r->at, length), .rank = rank};
  if (shape.type == SCALAR_COUNT)
    return bad_type(r);
  memcpy(shape.dims, dims, rank * sizeof *dims);
  array *more = realloc(v->components, (v->count + 1) * sizeof *more);
  if (!more)
    return context_error(r->context, "out of memory");
  v->components = more;
  v->components[v->count++] = shape;
  r->at += length;
  return true;
}

// One type: its arrays are appended to v.
static bool read_type(type_reader *r, uint64_t *dims, uint32_t rank, permc_value *v) {
  skip_space(r);
  if (*r->at == '[') {
    if (rank == VALUE_MAX_RANK)
      return bad_type(r);
    r->at++;
    if (!read_length(r, &dims[rank]))
      return false;
    if (*r->at != ']')
      return bad_type(r);
    r->at++;
    return read_type(r, dims, rank + 1, v);
  }
  if (*r->at != '(')
    return read_leaf(r, dims, rank, v);
  enum { DEEPEST = 64 };
  if (++r->depth > DEEPEST)
    return bad_type(r);
  do {
    r->at++;
    if (!read_type(r, dims, rank, v))
      return false;
    skip_space(r);
  } while (*r->at == ',');
  if (*r->at != ')')
    return bad_type(r);
  r->at++;
  r->depth--;
  return true;
}

static bool read_types(type_reader *r, const char *entry, size_t wanted, permc_value **values,
                       size_t *count) {
  for (skip_space(r); *r->at; skip_space(r)) {
    uint64_t dims[VALUE_MAX_RANK];
    if (*count == wanted)
      return context_error(r->context, "'%s' has %zu parameter%s, but there are more %s", entry,
                           wanted, wanted == 1 ? "" : "s", r->what);
    permc_value *v = values[*count] = calloc(1, sizeof *v);
    if (!v)
      return context_error(r->context, "out of memory");
    ++*count;
    if (!read_type(r, dims, 0, v))
      return false;
  }
  if (*count == wanted)
    return true;
  context_error(r->context, "'%s' has %zu parameter%s, but %zu %.*s%s given", entry, wanted,
                wanted == 1 ? "" : "s", *count, (int)strlen(r->what) - (*count == 1), r->what,
                *count == 1 ? " is" : " are");
  return false;
}

bool values_of_types(permc_context *c, const char *entry, const char *what, const char *types,
                     permc_value ***values, size_t *count) {
  size_t wanted = permc_parameter_count(c, entry);
  *count = 0;
  *values = NULL;
  if (wanted == (size_t)-1)
    return false;
  *values = calloc(wanted + 1, sizeof **values);
  if (!*values)
    return context_error(c, "out of memory");
  type_reader r = {c, what, types, types, 0};
  if (read_types(&r, entry, wanted, *values, count))
    return true;
  values_drop(values, count);
  return false;
}

bool shapes_of_types(permc_context *c, binding *entry, const char *types, arena *memory,
                     argument_shapes *out) {
  permc_value **values;
  size_t count;
  if (!values_of_types(c, entry->name, "argument types", types, &values, &count))
    return false;
  bool good = shapes_of_values(c, entry, values, count, memory, out);
  permc_values_free(values, count);
  return good;
}

// ---- sizes -----------------------------------------------------------------------------------

bool size_is_given(const char *name, const permc_size *sizes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(sizes[i].name, name))
      return true;
  return false;
}

static bool has_size(const binding *b, const char *name) {
  for (size_t i = 0; i < b->size_names.count; i++)
    if (!strcmp(b->size_names.items[i], name))
      return true;
  return false;
}

// Whether there is an array of which the signature does not say how long it is.
static bool has_open_length(const type_expr *written, type *t) {
  t = type_prune(t);
  if (t->kind == TYPE_ARRAY) {
    bool along = written && written->kind == TYPE_EXPR_ARRAY && written->size;
    return !along || has_open_length(written->parts[0], t->parts[0]);
  }
  bool tuple = written && written->kind == TYPE_EXPR_TUPLE;
  for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->count; i++)
    if (has_open_length(tuple ? written->parts[i] : NULL, t->parts[i]))
      return true;
  return false;
}

static bool all_lengths_follow(permc_context *c, const binding *b) {
  const type_expr *written = b->signature;
  for (type *t = type_prune(b->scheme->type); t->kind == TYPE_FUNCTION;
       t = type_prune(t->parts[1])) {
    if (has_open_length(written ? written->parts[0] : NULL, t->parts[0]))
      return context_error(c,
                           "'%s' has lengths without size names; give argument types instead: "
                           "--arguments '[2^24]i32'",
                           b->name);
    written = written ? written->parts[1] : NULL;
  }
  return true;
}

static bool report_no_size(permc_context *c, const binding *b, const char *name) {
  text known = {0};
  for (size_t i = 0; i < b->size_names.count; i++)
    text_printf(&known, "%s'%s'", i ? ", " : "; it has ", b->size_names.items[i]);
  context_error(c, "'%s' has no size named '%s'%s", b->name, name, text_content(&known));
  text_free(&known);
  return false;
}

static bool check_sizes(permc_context *c, const binding *b, const permc_size *sizes, size_t count) {
  if (!all_lengths_follow(c, b))
    return false;
  for (size_t i = 0; i < count; i++)
    if (!has_size(b, sizes[i].name))
      return report_no_size(c, b, sizes[i].name);
  for (size_t i = 0; i < b->size_names.count; i++)
    if (!size_is_given(b->size_names.items[i], sizes, count))
      return context_error(c, "the size '%s' of '%s' is not given", b->size_names.items[i],
                           b->name);
  return true;
}

bool shapes_at_some(permc_context *c, binding *entry, const permc_size *sizes, size_t count,
                    int64_t other, arena *memory, argument_shapes *out) {
  const char **names = NEW_ARRAY(memory, const char *, count + 1);
  int64_t *values = NEW_ARRAY(memory, int64_t, count + 1);
  for (size_t i = 0; i < count; i++) {
    names[i] = sizes[i].name;
    values[i] = sizes[i].value;
  }
  entry_types types = entry_types_start(c, entry);
  entry_types_finish(c, &types);
  *out = (argument_shapes){.instance = types.instance};
  return shapes_at_sizes(&c->program.diagnostics, memory, &c->limits, entry, types.instance, names,
                         values, count, other, &out->arrays);
}

bool shapes_at(permc_context *c, binding *entry, const permc_size *sizes, size_t count,
               arena *memory, argument_shapes *out) {
  return check_sizes(c, entry, sizes, count) &&
         shapes_at_some(c, entry, sizes, count, 0, memory, out);
}
