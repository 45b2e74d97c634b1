// Random arguments: of the types that are given, or of the shapes that an entry has at given sizes.
#include "runtime/pipeline.h"

// ---- by types -----------------------------------------------------------------------------------

typedef struct type_reader {
  permc_context *context;
  const char *start, *at;
  uint64_t state;
  unsigned depth;  // open parentheses
} type_reader;

static void skip_space(type_reader *r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n')
    r->at++;
}

static bool bad_type(type_reader *r) {
  context_error(
      r->context,
      "random types: '%.99s' is wrong at '%.99s'; write types such as [1024]i32 or [8](u32, f64)",
      r->start, r->at);
  return false;
}

// One type: its arrays are appended to v.
static bool random_type(type_reader *r, uint64_t *dims, uint32_t rank, permc_value *v) {
  skip_space(r);
  if (*r->at == '[') {
    char *end;
    r->at++;
    skip_space(r);
    if (*r->at < '0' || *r->at > '9' || rank == VALUE_MAX_RANK)
      return bad_type(r);
    dims[rank] = strtoull(r->at, &end, 10);
    r->at = end;
    skip_space(r);
    if (*r->at != ']')
      return bad_type(r);
    r->at++;
    return random_type(r, dims, rank + 1, v);
  }
  if (*r->at == '(') {
    enum { DEEPEST = 64 };
    if (++r->depth > DEEPEST)
      return bad_type(r);
    do {
      r->at++;
      if (!random_type(r, dims, rank, v))
        return false;
      skip_space(r);
    } while (*r->at == ',');
    if (*r->at != ')')
      return bad_type(r);
    r->at++;
    r->depth--;
    return true;
  }
  size_t length = strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789");
  scalar_type t = scalar_named(r->at, length);
  if (t == SCALAR_COUNT)
    return bad_type(r);
  array *more = realloc(v->components, (v->count + 1) * sizeof *more);
  if (!more)
    return false;
  v->components = more;
  if (!array_random(&more[v->count], t, rank, dims, &r->state)) {
    context_error(r->context, "random data of '%s' does not fit into memory", r->start);
    return false;
  }
  v->count++;
  r->at += length;
  return true;
}

bool permc_read_random(permc_context *c, const char *entry, const char *types, uint64_t seed,
                       permc_value ***arguments, size_t *count) {
  context_clear(c);
  *count = 0;
  size_t wanted = permc_parameter_count(c, entry);
  *arguments = wanted == (size_t)-1 ? NULL : calloc(wanted + 1, sizeof **arguments);
  if (!*arguments)
    return false;
  type_reader r = {c, types, types, seed, 0};
  bool good = true;
  for (skip_space(&r); good && *r.at; skip_space(&r)) {
    if (*count == wanted) {
      context_error(c, "'%s' has %zu parameter%s, but there are more random types", entry, wanted,
                    wanted == 1 ? "" : "s");
      good = false;
      break;
    }
    uint64_t dims[VALUE_MAX_RANK];
    permc_value *v = (*arguments)[*count] = calloc(1, sizeof *v);
    good = v && random_type(&r, dims, 0, v);
    if (v)
      ++*count;
  }
  if (good && *count < wanted) {
    context_error(c, "'%s' has %zu parameter%s, but %zu random type%s given", entry, wanted,
                  wanted == 1 ? "" : "s", *count, *count == 1 ? " is" : "s are");
    good = false;
  }
  if (good)
    return true;
  permc_values_free(*arguments, *count);
  *arguments = NULL;
  *count = 0;
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

static bool all_given(permc_context *c, const binding *b, const sized_job *j) {
  if (b->size_names.count == 0 && type_has_arrays(b->scheme->type)) {
    context_error(c, "'%s' has no size names: give the types of its arguments instead", b->name);
    return false;
  }
  for (size_t i = 0; i < b->size_names.count; i++) {
    bool given = false;
    for (size_t k = 0; k < j->size_count; k++)
      given |= !strcmp(j->sizes[k].name, b->size_names.items[i]);
    if (!given) {
      context_error(c, "the size '%s' of '%s' is not given", b->size_names.items[i], b->name);
      return false;
    }
  }
  return true;
}

static bool shapes_of(permc_context *c, binding *b, arena *memory, const sized_job *j,
                      leaf_shapes *leaves) {
  const char **names = NEW_ARRAY(memory, const char *, j->size_count + 1);
  int64_t *values = NEW_ARRAY(memory, int64_t, j->size_count + 1);
  for (size_t i = 0; i < j->size_count; i++) {
    names[i] = j->sizes[i].name;
    values[i] = j->sizes[i].value;
  }
  entry_types types = entry_types_start(c, b);
  entry_types_finish(c, &types);
  return shapes_at_sizes(&c->program.diagnostics, memory, &c->limits, b, types.instance, names,
                         values, j->size_count, 0, leaves);
}

// Takes as many leaves as the parameter's type has.
static permc_value *random_value(permc_context *c, sized_job *j, size_t count,
                                 const leaf_shape *leaves) {
  permc_value *v = calloc(1, sizeof *v);
  if (v)
    v->components = calloc(count ? count : 1, sizeof *v->components);
  bool good = v && v->components;
  for (size_t i = 0; good && i < count; i++) {
    good =
        array_random(&v->components[i], leaves[i].type, leaves[i].rank, leaves[i].dims, &j->state);
    v->count += good;
  }
  if (good)
    return v;
  context_error(c, "random arguments of '%s' do not fit into memory", j->entry);
  permc_value_free(v);
  return NULL;
}

static bool run_sized(permc_context *c, void *with) {
  sized_job *j = with;
  binding *b = context_entry(c, j->entry);
  size_t wanted = b ? permc_parameter_count(c, j->entry) : 0;
  *j->arguments = b ? calloc(wanted + 1, sizeof **j->arguments) : NULL;
  leaf_shapes leaves = {0};
  if (!*j->arguments || !all_given(c, b, j) || !shapes_of(c, b, &c->program.memory, j, &leaves))
    return false;
  size_t next = 0;
  for (type *t = type_prune(b->scheme->type); t->kind == TYPE_FUNCTION;
       t = type_prune(t->parts[1])) {
    size_t leaf = context_leaf_count(t->parts[0]);
    permc_value *v = random_value(c, j, leaf, leaves.items + next);
    if (!v)
      return false;
    (*j->arguments)[(*j->count)++] = v;
    next += leaf;
  }
  return true;
}

bool permc_read_random_at(permc_context *c, const char *entry, const permc_size *sizes,
                          size_t size_count, uint64_t seed, permc_value ***arguments,
                          size_t *count) {
  context_clear(c);
  *arguments = NULL;
  *count = 0;
  sized_job j = {entry, sizes, size_count, seed, arguments, count};
  if (context_run_job(c, run_sized, &j))
    return true;
  permc_values_free(*arguments, *count);
  *arguments = NULL;
  *count = 0;
  return false;
}
