// Closed types: those of a program at one size, without variables. Equal ones are one pointer.
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

// Closed types are equal exactly when they are the same pointer.
static type *intern_type(elaborator *e, type t) {
  uint64_t hash = hash_bytes(t.parts, t.count * sizeof *t.parts) + 31 * t.kind + t.scalar;
  uint32_t id;
  for (size_t tried = 0; (id = hash_next(&e->ledger->closed.table, hash, &tried)) != HASH_NONE;)
    if (same_type(e->ledger->closed.types.items[id], &t))
      return e->ledger->closed.types.items[id];
  type *own = NEW(e->memory, type);
  *own = t;
  hash_add(e->memory, &e->ledger->closed.table, hash, (uint32_t)e->ledger->closed.types.count);
  vec_push(e->memory, &e->ledger->closed.types, own);
  return own;
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
