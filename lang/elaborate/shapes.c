// For `check`: the shapes that the parameters of a signature have at given sizes.
//
//   f : [m][2^n]i32 -> ...   at m = 3, n = 4: one array, i32 [3][16]
#include "lang/elaborate/elaborator.h"
#include <inttypes.h>

typedef struct shaper {
  elaborator *e;
  activation *activation;
  int64_t other;
  uint64_t dims[64];
  array_shapes *out;
} shaper;

static void add_shape(shaper *s, type *t, uint32_t depth) {
  uint64_t *dims = NEW_ARRAY(s->e->memory, uint64_t, depth);
  memcpy(dims, s->dims, depth * sizeof *dims);
  array_shape l = {closed_scalar(t), depth, dims, NULL, NULL, false, NULL};
  vec_push(s->e->memory, s->out, l);
}

// The written type and the inferred one side by side; a type name may stand for more structure.
static void shape_parameter(shaper *s, const type_expr *written, type *t, uint32_t depth) {
  if (t->kind == TYPE_ARRAY) {
    if (depth >= 16)
      fail(s->e, "arrays have at most 16 dimensions");
    const expr *size = written && written->kind == TYPE_EXPR_ARRAY ? written->size : NULL;
    int64_t length = s->other < 0 ? ~s->other : s->other < 62 ? (int64_t)1 << s->other : s->other;
    if (size)
      length = static_integer(s->e, eval_expr(s->e, s->activation, (expr *)size), "a size");
    if (length < 0) {
      s->e->where = size->where;
      fail(s->e, "an array cannot have %" PRId64 " elements", length);
    }
    s->dims[depth] = (uint64_t)length;
    shape_parameter(s, written && written->kind == TYPE_EXPR_ARRAY ? written->parts[0] : NULL,
                    t->parts[0], depth + 1);
  } else if (t->kind == TYPE_TUPLE) {
    bool along = written && written->kind == TYPE_EXPR_TUPLE;
    for (uint32_t i = 0; i < t->count; i++)
      shape_parameter(s, along ? written->parts[i] : NULL, t->parts[i], depth);
  } else {
    add_shape(s, t, depth);
  }
}

static void set_sizes(elaborator *e, activation *act, const binding *b, const char *const *names,
                      const int64_t *sizes, size_t count, int64_t other) {
  for (size_t i = 0; i < b->size_names.count; i++) {
    int64_t n = other;
    for (size_t k = 0; k < count; k++)
      if (!strcmp(names[k], b->size_names.items[i]))
        n = sizes[k];
    act->slots[b->first_size_slot + i] = make_integer(e, n);
  }
}

bool shapes_at_sizes(diagnostics *d, arena *memory, const limits *l, binding *entry,
                     type **instance, const char *const *names, const int64_t *sizes, size_t count,
                     int64_t other, array_shapes *out) {
  trace nothing = {0};
  elaborator e = elaborator_create(d, memory, l, &nothing);
  e.where = entry->where;
  if (setjmp(e.ledger->failure))
    return false;
  activation act = {.code = entry->code,
                    .slots = NEW_ARRAY(e.memory, value *, entry->code->slot_count),
                    .slot_count = entry->code->slot_count};
  // Closed as elaboration will close them: both must see the same shapes.
  size_t variables = entry->scheme->all->variables.count;
  type_env env = {.of = entry->scheme->all, .instance = NEW_ARRAY(memory, type *, variables)};
  for (size_t i = 0; i < variables; i++)
    env.instance[i] = close_type(&e, instance[i], NULL);
  act.types = &env;
  if (entry->signature)
    set_sizes(&e, &act, entry, names, sizes, count, other);
  shaper s = {.e = &e, .activation = &act, .other = other, .out = out};
  const type_expr *written = entry->signature;
  for (type *t = close_type(&e, entry->scheme->type, &env); t->kind == TYPE_FUNCTION;
       t = t->parts[1]) {
    shape_parameter(&s, written ? written->parts[0] : NULL, t->parts[0], 0);
    written = written ? written->parts[1] : NULL;
  }
  return true;
}
