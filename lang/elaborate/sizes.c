// Sizes: what a signature says of lengths, against the arrays of a call; and for `check` the other
// way round, the shapes that a signature has at given sizes.
//
//   f : [m][2^n]a -> [2^(n+1)]a      called with an array of shape [3][8]: m = 3, n = 3; the result
//                                    must have 16 elements
#include "lang/elaborate/elaborate.h"
#include <inttypes.h>

static bool is_power_of_two(uint64_t n) { return n && !(n & (n - 1)); }

static void fail_length(elaborator *e, uint64_t length, const char *who) {
  uint64_t below = 1;
  while (2 * below < length)
    below *= 2;
  if (!length)
    fail_hint(e, "the shortest array of length 2^n has 1 element (n = 0)",
              "%s needs a length that is a power of two, but this array is empty", who);
  fail_hint(e, "padded fills up with a value of your choice: padded maxval sort xs",
            "%s needs a length that is a power of two, but this array has %" PRIu64
            " elements; the nearest are %" PRIu64 " and %" PRIu64,
            who, length, below, 2 * below);
}

uint64_t power_length(elaborator *e, uint64_t length, const char *who) {
  if (!is_power_of_two(length))
    fail_length(e, length, who);
  return (uint64_t)__builtin_ctzll(length);
}

typedef struct sizer {
  elaborator *e;
  frame *frame;
  const binding *binding;
  bool check;   // second round: all names are bound, every size is compared
  bool result;  // of the result, not an argument
} sizer;

static const char *quoted(elaborator *e, const char *name) {
  return arena_printf(e->memory, "'%s'", name);
}

static void bind_size(sizer *s, const expr *slot_name, int64_t n) {
  value **slot = &s->frame->slots[slot_name->u.name.index];
  if (!*slot)
    *slot = make_integer(s->e, n);
}

// The name that this size binds, if it is one of the function's own.
static const expr *own_name(const expr *size, bool *power) {
  const expr *name = size_name(size, power);
  bool own =
      name && name->u.name.kind == REF_SLOT && name->u.name.target && name->u.name.target->is_size;
  return own ? name : NULL;
}

static void size_dimension(sizer *s, const type_expr *t, uint64_t length) {
  if (!s->check) {
    bool power;
    const expr *name = own_name(t->size, &power);
    if (!name)
      return;
    uint64_t n = power ? power_length(s->e, length, quoted(s->e, s->binding->name)) : length;
    bind_size(s, name, (int64_t)n);
    return;
  }
  span where = s->e->where;
  value *v = eval_expr(s->e, s->frame, t->size);
  s->e->where = where;
  int64_t wanted = static_integer(s->e, v, "a size");
  if (wanted >= 0 && (uint64_t)wanted == length)
    return;
  const source *file = &s->e->d->sources.items[t->size->where.file];
  const char *const words[3][2] = {
      {"needs", "but this array has"}, {"must return", "but returns"}, {"must have", "but has"}};
  int row = !s->result ? 0 : s->binding->kind == BINDING_VALUE ? 2 : 1;
  fail(s->e, "'%s' %s %" PRId64 " elements ([%.*s]), %s %" PRIu64, s->binding->name, words[row][0],
       wanted, (int)(t->size->where.end - t->size->where.start), file->text + t->size->where.start,
       words[row][1], length);
}

static void size_value(sizer *s, const type_expr *t, value *v) {
  v = force(s->e, v);
  if (t->kind == TYPE_EXPR_ARRAY) {
    uint64_t length = length_of(s->e, v);
    if (t->size)
      size_dimension(s, t, length);
    // No rows have every length: [] is a [0][4]int.
    if (v->kind == VALUE_ARRAY && (length || !s->result))
      size_value(s, t->parts[0], v->u.array.element);
    for (uint32_t i = 0;
         v->kind == VALUE_LIST && t->parts[0]->kind != TYPE_EXPR_NAME && i < v->u.parts.count; i++)
      size_value(s, t->parts[0], v->u.parts.items[i]);
  }
  if (t->kind == TYPE_EXPR_TUPLE)
    for (uint32_t i = 0; i < t->count; i++)
      size_value(s, t->parts[i], v->u.parts.items[i]);
}

// Binds the size names of a signature from the arguments, then compares all sizes.
void size_arguments(elaborator *e, frame *f, const binding *b, value **arguments) {
  sizer s = {e, f, b, false, false};
  for (int round = 0; round < 2; round++) {
    s.check = round == 1;
    const type_expr *t = b->signature;
    for (uint32_t i = 0; i < b->code->call_arity && t->kind == TYPE_EXPR_FUNCTION;
         i++, t = t->parts[1])
      size_value(&s, t->parts[0], arguments[i]);
  }
  for (size_t i = 0; i < b->size_names.count; i++)
    if (!f->slots[b->first_size_slot + i])
      f->slots[b->first_size_slot + i] = make_integer(e, 0);
}

void size_result(elaborator *e, frame *f, const binding *b, value *result) {
  const type_expr *t = b->signature;
  for (uint32_t i = 0; i < b->code->call_arity && t->kind == TYPE_EXPR_FUNCTION; i++)
    t = t->parts[1];
  if (t->kind == TYPE_EXPR_FUNCTION)
    return;
  sizer s = {e, f, b, true, true};
  size_value(&s, t, result);
}

// ---- shapes for check ------------------------------------------------------------------------

typedef struct shaper {
  elaborator *e;
  frame *frame;
  int64_t other;
  uint64_t dims[64];
  leaf_shapes *out;
} shaper;

static void shape_leaf(shaper *s, type *t, uint32_t depth) {
  uint64_t *dims = NEW_ARRAY(s->e->memory, uint64_t, depth);
  memcpy(dims, s->dims, depth * sizeof *dims);
  leaf_shape l = {closed_scalar(t), depth, dims, NULL};
  vec_push(s->e->memory, s->out, l);
}

// The written type and the inferred one side by side; a type name may stand for more structure.
static void shape_parameter(shaper *s, const type_expr *written, type *t, uint32_t depth) {
  if (t->kind == TYPE_ARRAY) {
    if (depth >= 16)
      fail(s->e, "arrays have at most 16 dimensions");
    const expr *size = written && written->kind == TYPE_EXPR_ARRAY ? written->size : NULL;
    int64_t length = s->other < 62 ? (int64_t)1 << s->other : s->other;
    if (size)
      length = static_integer(s->e, eval_expr(s->e, s->frame, (expr *)size), "a size");
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
    shape_leaf(s, t, depth);
  }
}

static void set_sizes(elaborator *e, frame *f, const binding *b, const char *const *names,
                      const int64_t *sizes, size_t count, int64_t other) {
  for (size_t i = 0; i < b->size_names.count; i++) {
    int64_t n = other;
    for (size_t k = 0; k < count; k++)
      if (!strcmp(names[k], b->size_names.items[i]))
        n = sizes[k];
    f->slots[b->first_size_slot + i] = make_integer(e, n);
  }
}

bool shapes_at_sizes(diagnostics *d, arena *memory, const limits *l, binding *entry,
                     type **instance, const char *const *names, const int64_t *sizes, size_t count,
                     int64_t other, leaf_shapes *out) {
  trace nothing = {0};
  elaborator e = elaborator_create(d, memory, l, &nothing);
  e.where = entry->where;
  if (setjmp(e.failure))
    return false;
  frame f = {.slots = NEW_ARRAY(e.memory, value *, entry->code->slot_count),
             .slot_count = entry->code->slot_count};
  // Closed as elaboration will close them: both must see the same leaves.
  size_t variables = entry->scheme->all->variables.count;
  type_env env = {.of = entry->scheme->all, .instance = NEW_ARRAY(memory, type *, variables)};
  for (size_t i = 0; i < variables; i++)
    env.instance[i] = close_type(&e, instance[i], NULL);
  f.types = &env;
  if (entry->signature)
    set_sizes(&e, &f, entry, names, sizes, count, other);
  shaper s = {.e = &e, .frame = &f, .other = other, .out = out};
  const type_expr *written = entry->signature;
  for (type *t = close_type(&e, entry->scheme->type, &env); t->kind == TYPE_FUNCTION;
       t = t->parts[1]) {
    shape_parameter(&s, written ? written->parts[0] : NULL, t->parts[0], 0);
    written = written ? written->parts[1] : NULL;
  }
  return true;
}
