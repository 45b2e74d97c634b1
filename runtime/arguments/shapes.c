// Shapes of arguments, from types in words and from sizes. See arguments.h.
#include "lang/syntax/hints.h"
#include "runtime/arguments/arguments.h"

#include <ctype.h>
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
  context_error(r->context,
                "%s: '%.99s' %s%.99s%s; write types such as [1024]i32, [2^10]f64 or "
                "[8](u32, f64), or values such as 5 or [4, 1, 2]",
                r->what, r->start, *r->at ? "is wrong at '" : "ends too early", r->at,
                *r->at ? "'" : "");
  size_t length = strcspn(r->at, " \t\n,)[");
  const char *hint = hint_for(HINT_TYPE, arena_copy(&r->context->memory, r->at, length));
  if (hint)
    diag_report(&r->context->program.diagnostics, DIAG_HINT, SPAN_NONE, "%s", hint);
  return false;
}

#define TOO_LONG "a length is less than 2^64"

static bool bad_length(type_reader *r, const char *hint) {
  bad_type(r);
  diag_report(&r->context->program.diagnostics, DIAG_HINT, SPAN_NONE, "%s", hint);
  return false;
}

static bool read_digits(type_reader *r, uint64_t *number) {
  char *end;
  skip_space(r);
  if (isalpha((unsigned char)*r->at) || *r->at == ']')
    return bad_length(r, "a length is a number here");
  if (*r->at < '0' || *r->at > '9')
    return bad_type(r);
  errno = 0;
  *number = strtoull(r->at, &end, 10);
  if (errno)
    return bad_length(r, TOO_LONG);
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
      return bad_length(r, TOO_LONG);
    }
  return true;
}

static bool read_leaf(type_reader *r, const uint64_t *dims, uint32_t rank, permc_value *v) {
  size_t length = strcspn(r->at, " \t\n,)");
  array shape = {.type = scalar_named(r->at, length), .rank = rank};
  if (shape.type == SCALAR_COUNT)
    return bad_type(r);
  memcpy(shape.dims, dims, rank * sizeof *dims);
  r->at += length;
  return value_append(v, &shape, NULL) || context_no_memory(r->context);
}

// One type: its arrays are appended to v.
static bool read_type(type_reader *r, uint64_t *dims, uint32_t rank, permc_value *v) {
  skip_space(r);
  if (*r->at == '[') {
    if (rank == VALUE_MAX_RANK)
      return context_error(r->context, "%s: arrays have at most %d dimensions", r->what,
                           VALUE_MAX_RANK);
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

// Behind the brackets that s begins with, one group after the other; where they do not close, s.
static const char *skip_brackets(const char *s) {
  const char *end = s;
  for (unsigned depth = 0; *end && (*end == '[' || depth); end++)
    depth += *end == '[' ? 1 : *end == ']' ? (unsigned)-1 : 0;
  return end > s && end[-1] == ']' ? end : s;
}

// "[5]" and "[2^10][8]", which are lengths without an element type.
static bool is_only_lengths(const char *s, const char *end) {
  for (size_t length; s < end; s += length + 2)
    if (!(length = strspn(s + 1, "0123456789^ ")) || s[length + 1] != ']')
      return false;
  return true;
}

// The length of the value that stands here instead of a type; 0: there is none.
static size_t value_length(const char *s) {
  static const char *const words[] = {"true", "false", "nan",  "inf",
                                      "f16.", "bf16.", "f32.", "f64."};
  const char *end = skip_brackets(s);
  bool number = strchr("+-.0123456789", *s) != NULL;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    number = number || !strncmp(s, words[i], strlen(words[i]));
  bool list = end > s && (!*end || strchr(" \t\n", *end));
  return list ? (size_t)(end - s) : number ? strcspn(s, " \t\n") : 0;
}

static bool read_types(type_reader *r, const char *entry, size_t wanted, permc_value **values,
                       size_t *count) {
  type *rest = type_prune(context_entry(r->context, entry)->scheme->type);
  for (skip_space(r); *r->at; skip_space(r)) {
    uint64_t dims[VALUE_MAX_RANK];
    if (*count == wanted)
      return context_error(r->context, "'%s' has %zu parameter%s, but there are more %s", entry,
                           wanted, wanted == 1 ? "" : "s", r->what);
    size_t length = value_length(r->at);
    if (length && *r->at == '[' && is_only_lengths(r->at, r->at + length))
      return context_error(r->context,
                           "%s: '%.*s' has no element type: write %.*sf64 for an array of that "
                           "shape, or a value with the type of its elements, [5i64]",
                           r->what, (int)length, r->at, (int)length, r->at);
    type *t = type_prune(rest->parts[0]);
    while (length && *r->at != '[' && t->kind == TYPE_ARRAY)  // a number is no array
      t = type_prune(t->parts[0]);
    permc_value *v =
        length ? value_of_text(r->context, r->what, r->at, length, t) : calloc(1, sizeof *v);
    if (!v)
      return length ? false : context_no_memory(r->context);
    values[(*count)++] = v;
    r->at += length;
    if (!length && !read_type(r, dims, 0, v))
      return false;
    rest = type_prune(rest->parts[1]);
  }
  if (*count == wanted)
    return true;
  context_error(r->context, "'%s' has %zu parameter%s, but %zu %.*s%s given", entry, wanted,
                wanted == 1 ? "" : "s", *count, (int)strlen(r->what) - (*count == 1), r->what,
                *count == 1 ? " is" : " are");
  diag_report(&r->context->program.diagnostics, DIAG_HINT, SPAN_NONE,
              "it is of type %s; the next is %s",
              context_shown_type(r->context, context_entry(r->context, entry)->scheme->type),
              context_shown_type(r->context, rest->parts[0]));
  return false;
}

bool values_of_types(permc_context *c, const char *entry, const char *what, const char *types,
                     permc_value ***values, size_t *count) {
  *count = 0;
  *values = NULL;
  if (!types)
    return context_error(c, "the %s are NULL", what);
  size_t wanted = context_parameter_count(c, entry);
  if (wanted == (size_t)-1)
    return false;
  *values = calloc(wanted + 1, sizeof **values);
  if (!*values)
    return context_no_memory(c);
  type_reader r = {c, what, types, types, 0};
  if (read_types(&r, entry, wanted, *values, count))
    return true;
  if (c->code == PERMC_OK)
    c->code = PERMC_ERROR_ARGUMENT;
  values_drop(values, count);
  return false;
}

// ---- sizes -----------------------------------------------------------------------------------

bool size_is_given(const char *name, const permc_size *sizes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(sizes[i].name, name))
      return true;
  return false;
}

const char *entry_integer_name(const binding *b, size_t parameter) {
  type *t = type_prune(b->scheme->type);
  for (size_t i = 0; i < parameter; i++)
    t = type_prune(t->parts[1]);
  t = type_prune(t->parts[0]);
  for (size_t i = 0; t->kind == TYPE_SCALAR && t->scalar == SCALAR_I64 && b->code &&
                     parameter < b->code->arity && i < b->code->equations.count;
       i++) {
    const pattern *p = b->code->equations.items[i].patterns[parameter];
    if (p->kind == PATTERN_NAME)
      return p->name;
  }
  return NULL;
}

// All names of sizes and of integers, one after the other: NULL behind the last.
static const char *size_at(const binding *b, size_t i) {
  if (i < b->size_names.count)
    return b->size_names.items[i];
  i -= b->size_names.count;
  for (size_t k = 0; b->code && k < b->code->arity; k++) {
    const char *name = entry_integer_name(b, k);
    if (name && i-- == 0)
      return name;
  }
  return NULL;
}

bool entry_has_size(const binding *b, const char *name) {
  const char *one;
  for (size_t i = 0; (one = size_at(b, i)); i++)
    if (!strcmp(one, name))
      return true;
  return false;
}

void entry_list_sizes(text *out, const binding *b) {
  const char *one;
  for (size_t i = 0; (one = size_at(b, i)); i++)
    text_printf(out, "%s'%s'", i ? ", " : "", one);
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

static void print_example(text *out, type *t) {
  static const scalar_type order[] = {SCALAR_I32, SCALAR_F32, SCALAR_C64, SCALAR_BOOL};
  t = type_prune(t);
  if (t->kind == TYPE_ARRAY) {
    text_string(out, "[2^3]");
    print_example(out, t->parts[0]);
    return;
  }
  for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->count; i++) {
    text_string(out, i ? ", " : "(");
    print_example(out, t->parts[i]);
  }
  scalar_type s = closed_scalar(t);
  bool any = t->kind == TYPE_VARIABLE && t->constraint.kind == CONSTRAINT_NONE;
  for (size_t i = sizeof order / sizeof *order; t->kind == TYPE_VARIABLE && i-- > 0;)
    if (any || t->constraint.allowed & CLASS_OF(order[i]))
      s = order[i];
  text_string(out, t->kind == TYPE_TUPLE ? ")" : s < SCALAR_COUNT ? scalar_types[s].name : "i64");
}

void entry_print_example(text *out, const binding *b, uint32_t known) {
  uint32_t first = 0;
  for (type *t = type_prune(b->scheme->type); t->kind == TYPE_FUNCTION;
       t = type_prune(t->parts[1])) {
    type *parameter = type_prune(t->parts[0]);
    text_string(out, first ? " " : "");
    if (closed_scalar(parameter) == SCALAR_I64)
      text_string(out, "3");
    else if (first == known)
      text_string(out, "[1, 2, 4]");
    else
      print_example(out, parameter);
    first += (uint32_t)context_array_count(parameter);
  }
}

static bool all_lengths_follow(permc_context *c, const binding *b) {
  const type_expr *written = b->signature;
  for (type *t = type_prune(b->scheme->type); t->kind == TYPE_FUNCTION;
       t = type_prune(t->parts[1])) {
    if (has_open_length(written ? written->parts[0] : NULL, t->parts[0])) {
      text example = {.memory = &c->memory};
      entry_print_example(&example, b, UINT32_MAX);
      return context_error(c,
                           "'%s' has lengths without size names; give argument types instead: "
                           "--arguments '%s'",
                           b->name, text_content(&example));
    }
    written = written ? written->parts[1] : NULL;
  }
  return true;
}

static bool report_no_size(permc_context *c, const binding *b, const char *name) {
  FREED_BY(text_free) text known = {0};
  entry_list_sizes(&known, b);
  context_error(c, "'%s' has no size named '%s'%s%s", b->name, name,
                known.length ? "; it has " : "", text_content(&known));
  return false;
}

static bool check_sizes(permc_context *c, const binding *b, const permc_size *sizes, size_t count) {
  if (!all_lengths_follow(c, b))
    return false;
  for (size_t i = 0; i < count; i++)
    if (!entry_has_size(b, sizes[i].name))
      return report_no_size(c, b, sizes[i].name);
  FREED_BY(text_free) text options = {0};
  const char *first = NULL;
  for (size_t i = 0; i < b->size_names.count; i++)
    if (!size_is_given(b->size_names.items[i], sizes, count)) {
      first = first ? first : b->size_names.items[i];
      text_printf(&options, " --size %s=3", b->size_names.items[i]);
    }
  if (first) {
    context_error(c, "the size '%s' of '%s' is not given", first, b->name);
    diag_report(&c->program.diagnostics, DIAG_HINT, SPAN_NONE,
                "give each size by its name, such as%s", text_content(&options));
  }
  return !first;
}

// Integers among the parameters have the values that are given for their names, else *guess.
static void set_known_integers(const binding *b, const permc_size *sizes, size_t count,
                               const int64_t *guess, arena *memory, array_shapes *arrays) {
  size_t next = 0, number = 0;
  for (type *t = type_prune(b->scheme->type); t->kind == TYPE_FUNCTION;
       t = type_prune(t->parts[1]), number++) {
    array_shape *s = &arrays->items[next];
    const char *name = entry_integer_name(b, number);
    const int64_t *value = s->type == SCALAR_I64 && !s->rank ? guess : NULL;
    for (size_t i = 0; name && i < count; i++)
      if (!strcmp(name, sizes[i].name))
        value = &sizes[i].value;
    size_t parts = context_array_count(t->parts[0]);
    if (value && parts == 1)
      s->known = arena_copy(memory, (const char *)value, sizeof *value);
    next += parts;
  }
}

bool shapes_at_some(permc_context *c, binding *entry, const permc_size *sizes, size_t count,
                    int64_t other, const int64_t *guess, arena *memory, argument_shapes *out) {
  const char **names = NEW_ARRAY(memory, const char *, count + 1);
  int64_t *values = NEW_ARRAY(memory, int64_t, count + 1);
  for (size_t i = 0; i < count; i++) {
    names[i] = sizes[i].name;
    values[i] = sizes[i].value;
  }
  entry_types types = entry_types_start(c, entry);
  entry_types_finish(c, &types);
  *out = (argument_shapes){.instance = types.instance};
  if (!shapes_at_sizes(&c->program.diagnostics, memory, &c->limits, entry, types.instance, names,
                       values, count, other, &out->arrays))
    return false;
  set_known_integers(entry, sizes, count, guess, memory, &out->arrays);
  return true;
}

bool shapes_at(permc_context *c, binding *entry, const permc_size *sizes, size_t count,
               arena *memory, argument_shapes *out) {
  return check_sizes(c, entry, sizes, count) &&
         shapes_at_some(c, entry, sizes, count, 0, NULL, memory, out);
}
