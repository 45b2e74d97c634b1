// Closed types: those of a program at one size, without variables. Equal ones are one pointer.
#include "core/hash.h"
#include "lang/elaborate/elaborator.h"

static bool same_type(const type *a, const type *b) {
  if (a->kind != b->kind || a->count != b->count)
    return false;
  if (a->kind == TYPE_SCALAR && a->scalar != b->scalar)
    return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (a->parts[i] != b->parts[i])
      return false;
  return true;
}

static type **find_type(type_table *table, const type *t) {
  uint64_t hash = hash_bytes(t->parts, t->count * sizeof *t->parts) + 31 * t->kind + t->scalar;
  size_t i = (size_t)hash & (table->size - 1);
  while (table->slots[i] && !same_type(table->slots[i], t))
    i = (i + 1) & (table->size - 1);
  return &table->slots[i];
}

static void grow_types(elaborator *e) {
  type_table old = e->closed, *table = &e->closed;
  table->size = old.size ? 2 * old.size : 64;
  table->slots = NEW_ARRAY(e->memory, type *, table->size);
  for (size_t i = 0; i < old.size; i++)
    if (old.slots[i])
      *find_type(table, old.slots[i]) = old.slots[i];
}

// Closed types are equal exactly when they are the same pointer.
static type *intern_type(elaborator *e, type t) {
  if (2 * e->closed.count >= e->closed.size)
    grow_types(e);
  type **slot = find_type(&e->closed, &t);
  if (*slot)
    return *slot;
  *slot = NEW(e->memory, type);
  **slot = t;
  e->closed.count++;
  return *slot;
}

static type *find_instance(const type *t, const type_env *env) {
  for (; env; env = env->outer)
    if (env->of == t->owner)
      return env->instance[t->index];
  return NULL;
}

type *close_type(elaborator *e, type *t, const type_env *env) {
  t = type_prune(t);
  if (t->kind == TYPE_VARIABLE) {
    type *known = t->owner ? find_instance(t, env) : NULL;
    // What nothing determines does not matter.
    return known ? known : intern_type(e, (type){.kind = TYPE_SCALAR, .scalar = SCALAR_I64});
  }
  type closed = {.kind = t->kind,
                 .scalar = t->kind == TYPE_SCALAR ? t->scalar : SCALAR_BOOL,
                 .count = t->count};
  if (t->count)
    closed.parts = NEW_ARRAY(e->memory, type *, t->count);
  for (uint32_t i = 0; i < t->count; i++)
    closed.parts[i] = close_type(e, t->parts[i], env);
  return intern_type(e, closed);
}
