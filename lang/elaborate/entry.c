// The entry point: arguments from the outside, the result to the outside.
#include "lang/elaborate/elaborator.h"

#include "core/number.h"

typedef struct builder {
  elaborator *e;
  const array_shape *shapes;
  size_t count, next;
} builder;

static uint64_t count_elements(const array_shape *l, uint32_t depth) {
  return product_of(l->dims + depth, l->rank - depth);
}

// The elements from number `first` on as a static scalar, or a list of such, or of lists.
static value *static_value(elaborator *e, const array_shape *l, type *t, uint32_t depth,
                           uint64_t first) {
  enum { LARGEST_ABSENT = 1 << 12 };  // elements of a row that there is not
  t = type_prune(t);
  if (depth == l->rank) {
    scalar_bits bits = {{0}};
    size_t size = scalar_types[l->type].size;
    if (count_elements(l, 0))
      memcpy(&bits, (const char *)l->data + first * size, size);
    if (l->type == SCALAR_BOOL)  // what is not 0 is true
      bits.u8 = bits.u8 != 0;
    return make_scalar(e, l->type, bits);
  }
  uint64_t length = l->dims[depth], step = count_elements(l, depth + 1);
  value *v = make_parts(e, VALUE_LIST, (uint32_t)length);
  v->u.parts.element = t->parts[0];
  if (!length && step <= LARGEST_ABSENT)
    v->u.parts.like = static_value(e, l, t->parts[0], depth + 1, 0);
  for (uint64_t i = 0; i < length; i++)
    v->u.parts.items[i] = static_value(e, l, t->parts[0], depth + 1, first + i * step);
  return v;
}

static bool holds_scalars(type *t) {
  for (t = type_prune(t); t->kind == TYPE_ARRAY;)
    t = type_prune(t->parts[0]);
  return t->kind != TYPE_TUPLE;
}

// The value of an argument: its type's structure around the shapes that the caller gave.
static value *build_argument(builder *b, type *t, uint32_t depth) {
  t = type_prune(t);
  if (depth == 0 && holds_scalars(t) && b->shapes[b->next].data)
    return static_value(b->e, &b->shapes[b->next++], t, 0, 0);
  if (t->kind == TYPE_ARRAY) {
    uint64_t length = b->shapes[b->next].dims[depth];
    return make_array(b->e, length, build_argument(b, t->parts[0], depth + 1));
  }
  if (t->kind == TYPE_TUPLE) {
    value *v = make_parts(b->e, VALUE_TUPLE, t->count);
    for (uint32_t i = 0; i < t->count; i++)
      v->u.parts.items[i] = build_argument(b, t->parts[i], depth);
    return v;
  }
  const array_shape *l = &b->shapes[b->next];
  trace_step s = {.op = TRACE_ARGUMENT, .type = l->type, .rank = l->rank, .number = b->next++};
  if (l->permutation || l->places) {
    s.places = NEW(b->e->memory, trace_places);
    *s.places = (trace_places){.is_permutation = l->permutation, .elements = l->places};
  }
  s.dims = (uint64_t *)l->dims;
  return make_dynamic(b->e, emit(b->e, s, 0, NULL));
}

static value_id add_result(elaborator *e, value_id id, void *with) {
  ++*(size_t *)with;
  vec_push(e->memory, &e->out->results, id);
  return id;
}

// The arrays of the result go to e->out->results, those of a tuple's components apart.
static result_parts add_results(elaborator *e, value *v) {
  v = as_data(e, v);
  bool tuple = v->kind == VALUE_TUPLE;
  result_parts r = {.count = tuple ? v->u.parts.count : 1};
  r.arrays = NEW_ARRAY(e->memory, size_t, r.count);
  for (uint32_t i = 0; i < r.count; i++)
    map_steps(e, tuple ? v->u.parts.items[i] : v, add_result, &r.arrays[i]);
  return r;
}

static span place_of_body(const binding *entry) {
  return entry->code->equations.items[0].alternatives[0].body->where;
}

static result_parts run_entry(elaborator *e, binding *entry, type **instance,
                              const array_shape *shapes, size_t count) {
  value *f = make_function(e, entry->code->call_arity);
  f->u.function.code = entry->code;
  type_env *env = NEW(e->memory, type_env);
  env->of = entry->scheme->all;
  size_t variables = env->of->variables.count;
  env->instance = NEW_ARRAY(e->memory, type *, variables);
  for (size_t i = 0; i < variables; i++)
    env->instance[i] = close_type(e, instance[i], NULL);
  f->u.function.types = env;
  builder b = {e, shapes, count, 0};
  type *t = close_type(e, entry->scheme->type, env);
  e->where = entry->where;
  value *v = f->u.function.arity ? f : call_function(e, &f->u.function);
  for (; t->kind == TYPE_FUNCTION; t = t->parts[1]) {
    value *argument = build_argument(&b, t->parts[0], 0);
    e->where = entry->where;
    v = apply(e, v, argument);
  }
  // What cannot be data is of the body's making.
  e->where = place_of_body(entry);
  result_parts parts = add_results(e, v);
  if (e->out->wants_laws) {
    parts.count = 0;
    e->out->results.count = e->out->checks.count = 0;
    add_laws(e);
    return parts;
  }
  add_checks(e);
  share_work(e);
  add_place_checks(e);
  return parts;
}

elaborator elaborator_create(diagnostics *d, arena *memory, const limits *l, trace *out) {
  elaborator e = {.d = d,
                  .memory = memory,
                  .out = out,
                  .limits = *l,
                  .batch = 1,
                  .together = eval_together,
                  .comprehension = eval_comprehension};
  e.ledger = NEW(memory, ledger);
  e.stack = __builtin_frame_address(0);
  return e;
}

bool elaborate(diagnostics *d, arena *memory, const limits *l, bool allow_extern, binding *entry,
               type **instance, const array_shape *shapes, size_t shape_count, trace *out,
               result_parts *result) {
  elaborator e = elaborator_create(d, memory, l, out);
  e.allow_extern = allow_extern;
  if (setjmp(e.ledger->failure))
    return false;
  result_parts parts = run_entry(&e, entry, instance, shapes, shape_count);
  if (result)
    *result = parts;
  return true;
}
