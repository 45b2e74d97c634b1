// The entry point: arguments from the outside, the result to the outside.
#include "lang/elaborate/elaborate.h"

typedef struct builder {
  elaborator *e;
  const leaf_shape *leaves;
  size_t count, next;
} builder;

static uint64_t count_elements(const leaf_shape *l, uint32_t depth) {
  uint64_t count = 1;
  for (uint32_t i = depth; i < l->rank; i++)
    count *= l->dims[i];
  return count;
}

// The elements from number `first` on as a static scalar, or a list of such, or of lists.
static value *static_value(elaborator *e, const leaf_shape *l, type *t, uint32_t depth,
                           uint64_t first) {
  t = type_prune(t);
  if (depth == l->rank) {
    scalar_bits bits = {{0}};
    size_t size = scalar_types[l->type].size;
    memcpy(&bits, (const char *)l->data + first * size, size);
    return make_scalar(e, l->type, bits);
  }
  uint64_t length = l->dims[depth], step = count_elements(l, depth + 1);
  value *v = make_parts(e, VALUE_LIST, (uint32_t)length);
  v->u.parts.element = t->parts[0];
  for (uint64_t i = 0; i < length; i++)
    v->u.parts.items[i] = static_value(e, l, t->parts[0], depth + 1, first + i * step);
  return v;
}

static bool holds_scalars(type *t) {
  for (t = type_prune(t); t->kind == TYPE_ARRAY;)
    t = type_prune(t->parts[0]);
  return t->kind != TYPE_TUPLE;
}

// The value of an argument: its type's structure around the leaves that the caller gave.
static value *build_argument(builder *b, type *t, uint32_t depth) {
  t = type_prune(t);
  if (depth == 0 && holds_scalars(t) && b->leaves[b->next].data)
    return static_value(b->e, &b->leaves[b->next++], t, 0, 0);
  if (t->kind == TYPE_ARRAY) {
    uint64_t length = b->leaves[b->next].dims[depth];
    return make_array(b->e, length, build_argument(b, t->parts[0], depth + 1));
  }
  if (t->kind == TYPE_TUPLE) {
    value *v = make_parts(b->e, VALUE_TUPLE, t->count);
    for (uint32_t i = 0; i < t->count; i++)
      v->u.parts.items[i] = build_argument(b, t->parts[i], depth);
    return v;
  }
  const leaf_shape *l = &b->leaves[b->next];
  trace_step s = {
      .op = TRACE_ARGUMENT, .type = l->type, .rank = l->rank, .batch = 1, .number = b->next++};
  s.dims = NEW_ARRAY(b->e->memory, uint64_t, l->rank);
  if (l->rank)
    memcpy(s.dims, l->dims, l->rank * sizeof *s.dims);
  return make_leaf(b->e, emit(b->e, s));
}

static value_id result_leaf(elaborator *e, value_id leaf, void *with) {
  (void)with;
  vec_push(e->memory, &e->out->results, leaf);
  return (value_id)e->out->results.count - 1;
}

static value *run_entry(elaborator *e, binding *entry, type **instance, const leaf_shape *leaves,
                        size_t count) {
  value *f = make_function(e, entry->code->call_arity);
  f->u.function.code = entry->code;
  type_env *env = NEW(e->memory, type_env);
  env->of = entry->scheme->all;
  size_t variables = env->of->variables.count;
  env->instance = NEW_ARRAY(e->memory, type *, variables);
  for (size_t i = 0; i < variables; i++)
    env->instance[i] = close_type(e, instance[i], NULL);
  f->u.function.types = env;
  builder b = {e, leaves, count, 0};
  type *t = close_type(e, entry->scheme->type, env);
  e->where = entry->where;
  value *v = f->u.function.arity ? f : call_function(e, &f->u.function);
  for (; t->kind == TYPE_FUNCTION; t = t->parts[1]) {
    value *argument = build_argument(&b, t->parts[0], 0);
    e->where = entry->where;
    v = apply(e, v, argument);
  }
  // What cannot be data is of the body's making.
  e->where = entry->code->equations.items[0].alternatives[0].body->where;
  return map_leaves(e, as_data(e, v), result_leaf, NULL);
}

elaborator elaborator_create(diagnostics *d, arena *memory, const limits *l, trace *out) {
  elaborator e = {.d = d, .memory = memory, .out = out, .limits = *l, .batch = 1};
  e.stack = __builtin_frame_address(0);
  return e;
}

bool elaborate(diagnostics *d, arena *memory, const limits *l, bool allow_extern, binding *entry,
               type **instance, const leaf_shape *leaves, size_t leaf_count, trace *out,
               value **result) {
  elaborator e = elaborator_create(d, memory, l, out);
  e.allow_extern = allow_extern;
  if (setjmp(e.failure))
    return false;
  *result = run_entry(&e, entry, instance, leaves, leaf_count);
  return true;
}
