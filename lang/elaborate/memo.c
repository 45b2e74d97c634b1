// Memoised calls: see memo.h.
//
// The key describes the call: the function, its types, and each argument; a dynamic one is its
// number in order of first appearance with its type, shape and how much smaller than the current
// batch its batch is. Steps that depend on nothing but constants are shared, not copied: they are
// the same values at every place. Calls outside of every parm, column and map share nothing with
// calls inside, since only outside an array of constants becomes the elements of a map without a
// broadcast, which would not grow with the batch.
#include "lang/elaborate/memo.h"

__extension__ typedef unsigned __int128 uint128;

typedef struct memo_entry {
  uint64_t hash;
  const char *key;
  size_t key_length;
  value_id first, last;  // steps [first, last)
  size_t first_check, last_check;
  value_id *parameters;
  uint32_t parameter_count;
  uint64_t batch;
  value *result;
  bool fixed;         // the result depends on no dynamic value and no batch: it serves as it is
  uint32_t finished;  // how many calls had finished with this one
} memo_entry;

struct memo_call {
  memo_entry entry;
  bool decided;  // by elements of its arguments
  memo_call *outer;
};

// Larger calls are not memoised: their keys and results would cost more than they save. A value
// that shares parts is as large as its tree, which may be exponential: looking at it takes steps.
// Fixed results are not copied.
enum {
  LONGEST_KEY = 1 << 14,
  LARGEST_RESULT = 1 << 16,
  VALUES_OF_STEP = 16,
  LARGEST_FIXED_RESULT = 1 << 22,
  DEEPEST_VALUE = 64
};

struct memo_table {
  VEC(memo_entry *) entries;
  hash_table table;
  char key[LONGEST_KEY];  // of the call that is being looked up
  size_t key_length;
  VEC(value_id) dynamic;  // its dynamic values
  uint32_t finished;      // calls
};

// ---- keys ------------------------------------------------------------------------------------

typedef struct key_writer {
  elaborator *e;
  memo_table *table;
  unsigned depth;
  bool impossible;
} key_writer;

static void write_bytes(key_writer *k, const void *bytes, size_t count) {
  k->impossible |= k->table->key_length + count > LONGEST_KEY;
  if (k->impossible)
    return;
  if (count > 0)  // of no bytes there is no address
    memcpy(k->table->key + k->table->key_length, bytes, count);
  k->table->key_length += count;
}

static void write_number(key_writer *k, uint64_t n) { write_bytes(k, &n, sizeof n); }

static void write_pointer(key_writer *k, const void *p) { write_bytes(k, &p, sizeof p); }

static void write_step(key_writer *k, value_id id) {
  const value_id *known = k->table->dynamic.items;
  size_t i = 0;
  while (i < k->table->dynamic.count && known[i] != id)
    i++;
  write_number(k, i);
  if (i < k->table->dynamic.count)
    return;
  vec_push(k->e->memory, &k->table->dynamic, id);
  const trace_step *s = &k->e->out->steps.items[id];
  if (!s->batch) {
    k->impossible = true;
    return;
  }
  write_number(k, k->e->batch / s->batch);
  write_number(k, (uint64_t)s->type << 32 | s->rank);
  write_bytes(k, s->dims, s->rank * sizeof *s->dims);
}

static void write_value(key_writer *k, value *v);

static void write_values(key_writer *k, value *const *items, size_t count) {
  for (size_t i = 0; i < count && !k->impossible; i++)
    write_value(k, items[i]);
}

static void write_types(key_writer *k, const type_env *env) {
  for (; env; env = env->outer)
    for (size_t i = 0; i < env->of->variables.count; i++)
      write_pointer(k, env->instance[i]);
}

static void write_guards(key_writer *k, const branch *g) {
  for (; g && !k->impossible; g = g->outer) {
    write_number(k, g->taken ? 2 : 1);
    write_value(k, g->value);
  }
  write_number(k, 0);
}

static void write_closure(key_writer *k, const closure *f) {
  write_pointer(k, f->code  ? (const void *)f->code
                   : f->row ? (const void *)f->row
                            : (const void *)f->foreign);
  write_number(k, f->given);
  write_types(k, f->types);
  if (f->row)
    for (size_t i = 0; i < f->row->scheme->all->variables.count; i++)
      write_pointer(k, f->instance[i]);
  if (f->code)
    write_values(k, f->captures, f->code->captures.count);
  write_guards(k, f->guards);
  write_values(k, f->arguments, f->given);
}

static void write_value(key_writer *k, value *v) {
  // A function may hold itself (a local recursive one): such calls are not memoised.
  if (++k->depth > DEEPEST_VALUE)
    k->impossible = true;
  if (v->kind == VALUE_THUNK && v->u.thunk.result)
    v = v->u.thunk.result;
  size_t count;
  value *const *parts = value_parts(v, &count);
  // The kind, which is 0 for scalars, and above it the scalar's type.
  write_number(k, v->kind == VALUE_SCALAR ? (uint64_t)v->u.scalar.type << 32 : (uint64_t)v->kind);
  switch (v->kind) {
  case VALUE_SCALAR:
    write_bytes(k, v->u.scalar.bits.bytes, scalar_types[v->u.scalar.type].size);
    break;
  case VALUE_DYNAMIC:
    write_step(k, v->u.step);
    break;
  case VALUE_ARRAY:
  case VALUE_TUPLE:
  case VALUE_LIST:
    write_number(k, v->kind == VALUE_ARRAY ? v->u.array.length : count);
    write_number(k, v->kind == VALUE_ARRAY && v->u.array.listed);
    k->impossible |= count > LONGEST_KEY / sizeof(uint64_t);
    write_values(k, parts, count);
    if (v->kind == VALUE_LIST && !v->u.parts.count && v->u.parts.like && !k->impossible)
      write_value(k, v->u.parts.like);
    break;
  case VALUE_FUNCTION:
    if (!k->impossible)
      write_closure(k, &v->u.function);
    break;
  case VALUE_THUNK:
    k->impossible = true;
    break;
  }
  k->depth--;
}

// ---- table -----------------------------------------------------------------------------------

// The place of the entry with that key, or NULL.
static memo_entry **find_entry(const memo_table *t, const memo_entry *wanted) {
  uint32_t id;
  for (size_t tried = 0; (id = hash_next(&t->table, wanted->hash, &tried)) != HASH_NONE;) {
    const memo_entry *have = t->entries.items[id];
    if (have->key_length == wanted->key_length && !memcmp(have->key, wanted->key, have->key_length))
      return &t->entries.items[id];
  }
  return NULL;
}

// ---- copying ---------------------------------------------------------------------------------

typedef struct copier {
  elaborator *e;
  const memo_entry *from;
  const value_id *parameters;
  value_id *renamed;  // of the steps from->first ...
  bool *relative;     // copied, because they depend on a parameter or the batch
} copier;

static bool renamed_step(copier *c, value_id id, value_id *to) {
  *to = id;
  for (uint32_t i = 0; i < c->from->parameter_count; i++)
    if (c->from->parameters[i] == id) {
      *to = c->parameters[i];
      return true;
    }
  if (id < c->from->first || id >= c->from->last)
    return false;
  *to = c->renamed[id - c->from->first];
  return c->relative[id - c->from->first];
}

// Steps that depend on the batch where they stand are copied.
static bool depends_on_batch(trace_op op) { return op == TRACE_INSTANCE || op == TRACE_BROADCAST; }

// All batches scale as the one of the call does: also those of calls in it that stand where their
// arguments are (elaborate.c), at a batch that is as many times smaller.
static uint64_t scaled_batch(const copier *c, uint64_t batch) {
  return batch ? (uint64_t)((uint128)batch * c->e->batch / c->from->batch) : 0;
}

static void copy_step(copier *c, value_id id) {
  elaborator *e = c->e;
  trace_step s = e->out->steps.items[id];
  value_id *renamed = NEW_ARRAY(e->memory, value_id, s.operand_count);
  bool relative = depends_on_batch(s.op);
  for (uint32_t i = 0; i < s.operand_count; i++)
    if (renamed_step(c, s.operands[i], &renamed[i]))
      relative = true;
  c->relative[id - c->from->first] = relative;
  c->renamed[id - c->from->first] = id;
  if (!relative)
    return;
  s.operands = renamed;
  s.batch = scaled_batch(c, s.batch);
  c->renamed[id - c->from->first] = append_step(e, &s);
}

static value *copy_value(copier *c, value *v);

static value **copy_values(copier *c, value **items, size_t count) {
  value **copies = NEW_ARRAY(c->e->memory, value *, count);
  for (size_t i = 0; i < count; i++)
    copies[i] = copy_value(c, items[i]);
  return copies;
}

static const branch *copy_guards(copier *c, const branch *g) {
  if (!g)
    return NULL;
  branch *n = NEW(c->e->memory, branch);
  *n = *g;
  n->value = copy_value(c, g->value);
  n->outer = copy_guards(c, g->outer);
  return n;
}

static value *copy_value(copier *c, value *v) {
  if (v->kind == VALUE_THUNK)
    v = v->u.thunk.result;
  // What only a call around this one found to be fixed is not: it may be a step of this one.
  if (v->kind == VALUE_SCALAR || (v->fixed && v->fixed < c->from->finished))
    return v;
  value *n = copy_of_value(c->e, v);
  switch (v->kind) {
  case VALUE_DYNAMIC:
    renamed_step(c, v->u.step, &n->u.step);
    break;
  case VALUE_ARRAY:
    n->u.array.element = copy_value(c, v->u.array.element);
    break;
  case VALUE_TUPLE:
  case VALUE_LIST:
    n->u.parts.items = copy_values(c, v->u.parts.items, v->u.parts.count);
    break;
  case VALUE_FUNCTION:
    if (v->u.function.code)
      n->u.function.captures =
          copy_values(c, v->u.function.captures, v->u.function.code->captures.count);
    n->u.function.arguments = copy_values(c, v->u.function.arguments, v->u.function.given);
    n->u.function.guards = copy_guards(c, v->u.function.guards);
    break;
  default:
    break;
  }
  return n;
}

// The look at a result. left: how many values it may have.
typedef struct copyable {
  uint32_t fixed;  // of its call's number, if the call is fixed
  unsigned left;
} copyable;

// Whether copy_value can copy it: no unforced binding, no function that holds itself, not too
// large.
static bool is_copyable(copyable *c, value *v, unsigned depth);

static bool are_copyable(copyable *c, value *const *items, size_t count, unsigned depth) {
  for (size_t i = 0; i < count; i++)
    if (!is_copyable(c, items[i], depth))
      return false;
  return true;
}

static bool are_parts_copyable(copyable *c, const value *v, unsigned depth) {
  const closure *f = &v->u.function;
  size_t count;
  value *const *parts = value_parts(v, &count);
  if (v->kind == VALUE_THUNK)
    return v->u.thunk.result && is_copyable(c, v->u.thunk.result, depth);
  if (v->kind == VALUE_FUNCTION)
    return are_copyable(c, f->captures, f->code ? f->code->captures.count : 0, depth) &&
           are_copyable(c, f->arguments, f->given, depth);
  return are_copyable(c, parts, count, depth);
}

static bool is_copyable(copyable *c, value *v, unsigned depth) {
  if (v->fixed)
    return true;
  if (depth > DEEPEST_VALUE || !c->left)
    return false;
  c->left--;
  bool good = are_parts_copyable(c, v, depth + 1);
  v->fixed = good ? c->fixed : 0;
  return good;
}

static value *copy_call(elaborator *e, const memo_entry *from, const value_id *parameters) {
  size_t count = from->last - from->first;
  copier c = {.e = e,
              .from = from,
              .parameters = parameters,
              .renamed = NEW_ARRAY(e->memory, value_id, count),
              .relative = NEW_ARRAY(e->memory, bool, count)};
  for (value_id id = from->first; id < from->last; id++)
    copy_step(&c, id);
  for (size_t i = from->first_check; i < from->last_check; i++) {
    trace_check check = e->out->checks.items[i];
    bool relative = renamed_step(&c, check.shadow, &check.shadow);
    renamed_step(&c, check.guarded, &check.guarded);
    if (relative)
      vec_push(e->memory, &e->out->checks, check);
  }
  return copy_value(&c, from->result);
}

static bool is_fixed(const elaborator *e, const memo_entry *entry) {
  bool fixed = entry->parameter_count == 0;
  for (value_id id = entry->first; id < e->out->steps.count && fixed; id++)
    fixed = !depends_on_batch(e->out->steps.items[id].op);
  return fixed;
}

// ---- interface -------------------------------------------------------------------------------

static memo_call *new_memo_call(elaborator *e, const memo_table *t, uint64_t hash) {
  memo_call *made = NEW(e->memory, memo_call);
  made->entry = (memo_entry){.hash = hash,
                             .key = arena_copy(e->memory, t->key, t->key_length),
                             .key_length = t->key_length,
                             .first = (value_id)e->out->steps.count,
                             .first_check = e->out->checks.count,
                             .parameters = NEW_ARRAY(e->memory, value_id, t->dynamic.count),
                             .parameter_count = (uint32_t)t->dynamic.count,
                             .batch = e->batch};
  if (t->dynamic.count)
    memcpy(made->entry.parameters, t->dynamic.items, t->dynamic.count * sizeof *t->dynamic.items);
  return made;
}

value *memo_replay(elaborator *e, const closure *f, memo_call **call) {
  *call = NULL;
  if (!e->batch)
    return NULL;
  if (!e->ledger->memo)
    e->ledger->memo = NEW(e->memory, memo_table);
  memo_table *t = e->ledger->memo;
  t->key_length = t->dynamic.count = 0;
  key_writer k = {.e = e, .table = t};
  write_number(&k, e->batch == 1);
  write_closure(&k, f);
  write_guards(&k, f->code->indexes ? e->guards : NULL);
  if (k.impossible)
    return NULL;
  uint64_t hash = hash_bytes(t->key, t->key_length);
  const memo_entry wanted = {.hash = hash, .key = t->key, .key_length = t->key_length};
  memo_entry *const *found = find_entry(t, &wanted), *known = found ? *found : NULL;
  if (known && known->first >= e->memo_from)
    return known->fixed ? known->result : copy_call(e, known, t->dynamic.items);
  *call = new_memo_call(e, t, hash);
  (*call)->outer = e->recording;
  e->recording = *call;
  e->own_from = (*call)->entry.first;
  return NULL;
}

void memo_look_at(elaborator *e, value_id id) {
  bool moves = !e->out->steps.items[id].fixed;  // with the batch
  for (memo_call *c = e->recording; c; c = c->outer) {
    c->decided |= moves && c->entry.batch != 1;
    for (uint32_t i = 0; i < c->entry.parameter_count && !c->decided; i++)
      c->decided = c->entry.parameters[i] == id;
  }
}

void memo_finish(elaborator *e, memo_call *call, value *result) {
  if (!call)
    return;
  if (call->decided)
    return;
  e->ledger->kept++;
  call->entry.fixed = is_fixed(e, &call->entry);
  unsigned most = call->entry.fixed ? LARGEST_FIXED_RESULT : LARGEST_RESULT;
  call->entry.finished = ++e->ledger->memo->finished;
  copyable c = {call->entry.fixed ? call->entry.finished : 0, most};
  bool good = is_copyable(&c, result, 0);
  e->ledger->steps += (most - c.left) / VALUES_OF_STEP;
  if (!good)
    return;
  call->entry.result = result;
  call->entry.last = (value_id)e->out->steps.count;
  call->entry.last_check = e->out->checks.count;
  // Calls inside of this one were entered since: there may be many.
  memo_entry **known = find_entry(e->ledger->memo, &call->entry);
  if (known && (*known)->first < e->memo_from)
    *known = &call->entry;
  if (known)
    return;
  hash_add(e->memory, &e->ledger->memo->table, call->entry.hash,
           (uint32_t)e->ledger->memo->entries.count);
  vec_push(e->memory, &e->ledger->memo->entries, &call->entry);
}
