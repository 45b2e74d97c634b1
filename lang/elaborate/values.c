// Values, their structure, and the steps that make arrays of lists.
#include "lang/elaborate/elaborator.h"
#include <inttypes.h>

// ---- values ----------------------------------------------------------------------------------

// Programs compute millions of static numbers: the others are no larger than they must be.
static size_t value_bytes(value_kind kind) {
  return kind == VALUE_FUNCTION ? sizeof(value)
         : kind == VALUE_THUNK  ? offsetof(value, u) + sizeof(thunk)
                                : offsetof(value, u) + sizeof(((value *)0)->u.parts);
}
_Static_assert(sizeof(((value *)0)->u.parts) >= sizeof(((value *)0)->u.scalar),
               "the largest of them");

value *make_value(elaborator *e, value_kind kind) {
  value *v = arena_alloc(e->memory, value_bytes(kind));
  v->kind = kind;
  return v;
}

value *copy_of_value(elaborator *e, const value *v) {
  size_t bytes = value_bytes(v->kind);
  value *n = memcpy(arena_alloc(e->memory, bytes), v, bytes);
  n->fixed = 0;
  return n;
}

value *make_function(elaborator *e, uint32_t arity) {
  value *v = make_value(e, VALUE_FUNCTION);
  v->u.function.arity = arity;
  return v;
}

value *make_scalar(elaborator *e, scalar_type t, scalar_bits bits) {
  value *v = make_value(e, VALUE_SCALAR);
  v->u.scalar.type = t;
  v->u.scalar.bits = bits;
  return v;
}

value *make_integer(elaborator *e, int64_t i) {
  return make_scalar(e, SCALAR_I64, (scalar_bits){.i64 = i});
}

value *make_bool(elaborator *e, bool b) {
  scalar_bits bits = {.bytes = {0}};
  bits.b = b;
  return make_scalar(e, SCALAR_BOOL, bits);
}

value *make_parts(elaborator *e, value_kind kind, uint32_t count) {
  value *v = make_value(e, kind);
  v->u.parts.count = count;
  v->u.parts.items = NEW_ARRAY(e->memory, value *, count);
  return v;
}

value *make_empty(elaborator *e, type *element, value *like) {
  value *v = make_parts(e, VALUE_LIST, 0);
  v->u.parts.element = element;
  v->u.parts.like = like;
  return v;
}

value *make_scalars(elaborator *e, type *t, scalar_bits (*bits)(scalar_type)) {
  t = type_prune(t);
  if (t->kind != TYPE_TUPLE)
    return make_scalar(e, closed_scalar(t), bits(closed_scalar(t)));
  value *v = make_parts(e, VALUE_TUPLE, t->count);
  for (uint32_t i = 0; i < t->count; i++)
    v->u.parts.items[i] = make_scalars(e, t->parts[i], bits);
  return v;
}

static scalar_bits zero_of(scalar_type t) {
  (void)t;
  return (scalar_bits){{0}};
}

value *absent_element(elaborator *e, const value *list) {
  type *t = list->u.parts.element;
  return list->u.parts.like || type_has_arrays(t) || !type_is_first_order(t)
             ? list->u.parts.like
             : make_scalars(e, t, zero_of);
}

value *make_array(elaborator *e, uint64_t length, value *element) {
  value *v = make_value(e, VALUE_ARRAY);
  v->u.array.length = length;
  v->u.array.element = element;
  return v;
}

value *make_dynamic(elaborator *e, value_id id) {
  value *v = make_value(e, VALUE_DYNAMIC);
  v->u.step = id;
  return v;
}

// ---- dynamic values --------------------------------------------------------------------------

value *as_dynamic(elaborator *e, value *v) {
  if (v->kind == VALUE_DYNAMIC)
    return v;
  trace_step s = {.op = TRACE_CONSTANT, .type = v->u.scalar.type, .constant = v->u.scalar.bits};
  return make_dynamic(e, emit(e, s, 0, NULL));
}

// ---- structure -------------------------------------------------------------------------------

value *const *value_parts(const value *v, size_t *count) {
  bool many = v->kind == VALUE_TUPLE || v->kind == VALUE_LIST;
  *count = many ? v->u.parts.count : v->kind == VALUE_ARRAY;
  return many ? v->u.parts.items : &v->u.array.element;
}

value *copy_with_parts(elaborator *e, const value *v, value ***parts) {
  value *n = copy_of_value(e, v);
  if (v->kind != VALUE_ARRAY)
    n->u.parts.items = NEW_ARRAY(e->memory, value *, v->u.parts.count);
  *parts = v->kind == VALUE_ARRAY ? &n->u.array.element : n->u.parts.items;
  return n;
}

value *map_steps(elaborator *e, value *v, step_map *f, void *with) {
  size_t count;
  value **mapped;
  if (v->kind == VALUE_FUNCTION)
    fail(e, "a function cannot be an element of an array");
  v = v->kind == VALUE_SCALAR ? as_dynamic(e, v) : v->kind == VALUE_LIST ? as_array(e, v) : v;
  if (v->kind == VALUE_DYNAMIC)
    return make_dynamic(e, f(e, v->u.step, with));
  value *n = copy_with_parts(e, v, &mapped), *const *parts = value_parts(v, &count);
  for (size_t i = 0; i < count; i++)
    mapped[i] = map_steps(e, parts[i], f, with);
  return n;
}

// Lists of at least so many elements that are all static are tables: data of the program, of which
// the steps and the generated text do not grow. (A shorter one may become part of scalar code.)
enum { TABLE_LEAST = 65 };

static value *pack_items(elaborator *e, value **items, uint32_t count);

static value *pack_table(elaborator *e, value **items, uint32_t count) {
  scalar_type t = items[0]->u.scalar.type;
  size_t size = scalar_types[t].size;
  char *table = arena_alloc(e->memory, count * size);
  for (uint32_t i = 0; i < count; i++)
    memcpy(table + i * size, &items[i]->u.scalar.bits, size);
  trace_step s = {.op = TRACE_TABLE,
                  .type = t,
                  .rank = 1,
                  .dims = (uint64_t[]){count},
                  .number = e->ledger->tables++,
                  .table = table};
  return make_dynamic(e, emit(e, s, 0, NULL));
}

bool is_static(const value *v, uint32_t *left) {
  bool parts = v->kind == VALUE_TUPLE || v->kind == VALUE_LIST;
  if (!parts)
    return v->kind == VALUE_SCALAR && (*left)-- > 0;
  for (uint32_t i = 0; i < v->u.parts.count; i++)
    if (!is_static(v->u.parts.items[i], left))
      return false;
  return true;
}

bool are_static(value *const *items, uint32_t count) {
  uint32_t left = UINT32_MAX, i = 0;
  while (i < count && is_static(items[i], &left))
    i++;
  return i == count;
}

// Static rows of one length, as a table in two dimensions. NULL: they are not.
static value *pack_static_rows(elaborator *e, value **rows, uint32_t count) {
  uint32_t length = rows[0]->kind == VALUE_LIST ? rows[0]->u.parts.count : 0, total;
  for (uint32_t i = 0; i < count; i++)
    if (rows[i]->kind != VALUE_LIST || rows[i]->u.parts.count != length)
      return NULL;
  if (__builtin_mul_overflow(length, count, &total) || total < TABLE_LEAST ||
      !are_static(rows, count))
    return NULL;
  value **items = NEW_ARRAY(e->memory, value *, total);
  for (uint32_t i = 0; i < count; i++)
    memcpy(items + (size_t)i * length, rows[i]->u.parts.items, length * sizeof *items);
  trace_step apart = {.op = TRACE_RESHAPE,
                      .batch = OWN_BATCH,
                      .number = 1,
                      .rank = 2,
                      .dims = (uint64_t[]){count, length}};
  return make_array(e, length, move_value(e, pack_items(e, items, total), apart));
}

static value *pack_scalars(elaborator *e, value **items, uint32_t count) {
  if (count >= TABLE_LEAST && are_static(items, count))  // scalars, as the first is one
    return pack_table(e, items, count);
  value_id *ids = NEW_ARRAY(e->memory, value_id, count);
  for (uint32_t i = 0; i < count; i++)
    ids[i] = as_dynamic(e, items[i])->u.step;
  return make_dynamic(e, emit(e, (trace_step){.op = TRACE_PACK}, count, ids));
}

// What an array of these items is inside.
static value *pack_items(elaborator *e, value **items, uint32_t count) {
  value *table = pack_static_rows(e, items, count);
  if (table)
    return table;
  for (uint32_t i = 0; i < count; i++)
    if (items[i]->kind == VALUE_LIST)
      items[i] = as_array(e, items[i]);
  size_t width;
  value **packed;
  const value *first = items[0];
  if (first->kind == VALUE_FUNCTION)
    fail(e, "a function cannot be an element of an array here");
  for (uint32_t i = 1; first->kind == VALUE_ARRAY && i < count; i++)
    if (items[i]->u.array.length != first->u.array.length)
      fail_hint(e,
                "rows of unequal length are one array and offsets, where each begins and the last "
                "ends: sort_ragged [0, 2, 3] [1, 2, 3]",
                "the elements of an array must have equal lengths: %" PRIu64 " and %" PRIu64,
                first->u.array.length, items[i]->u.array.length);
  if (first->kind == VALUE_SCALAR || first->kind == VALUE_DYNAMIC)
    return pack_scalars(e, items, count);
  value *n = copy_with_parts(e, first, &packed), **same = NEW_ARRAY(e->memory, value *, count);
  value_parts(first, &width);
  for (size_t k = 0; k < width; k++) {  // of each item the part of that number
    for (uint32_t i = 0; i < count; i++)
      same[i] = value_parts(items[i], &width)[k];
    packed[k] = pack_items(e, same, count);
  }
  return n;
}

// What an array of no elements is inside, where these are of type t and would look like `like`
// (NULL: their lengths are not known, and count as 0). The dimensions so far: dims[0] = 0, ...
static value *empty_inside(elaborator *e, type *t, const value *like, uint64_t *dims,
                           uint32_t depth) {
  t = type_prune(t);
  if (t->kind == TYPE_ARRAY) {
    if (depth == MOST_DIMENSIONS)
      fail(e, "arrays have at most 16 dimensions");
    const value *inner = !like                       ? NULL
                         : like->kind == VALUE_ARRAY ? like->u.array.element
                         : like->u.parts.count       ? like->u.parts.items[0]
                                                     : like->u.parts.like;
    dims[depth] = like ? length_of(like) : 0;
    uint64_t length = dims[depth];
    return make_array(e, length, empty_inside(e, t->parts[0], inner, dims, depth + 1));
  }
  if (t->kind == TYPE_TUPLE) {
    value *v = make_parts(e, VALUE_TUPLE, t->count);
    for (uint32_t i = 0; i < t->count; i++)
      v->u.parts.items[i] =
          empty_inside(e, t->parts[i], like ? like->u.parts.items[i] : NULL, dims, depth);
    return v;
  }
  scalar_type s = closed_scalar(t);
  if (s == SCALAR_COUNT)
    fail(e, "a function cannot be an element of an array here");
  trace_step step = {.op = TRACE_PACK, .type = s, .rank = depth, .dims = dims};
  return make_dynamic(e, emit(e, step, 0, NULL));
}

value *as_array(elaborator *e, value *v) {
  if (v->kind == VALUE_ARRAY)
    return v;
  if (!v->u.parts.count) {
    uint64_t dims[MOST_DIMENSIONS] = {0};
    return make_array(e, 0, empty_inside(e, v->u.parts.element, v->u.parts.like, dims, 1));
  }
  value **items = NEW_ARRAY(e->memory, value *, v->u.parts.count);
  memcpy(items, v->u.parts.items, v->u.parts.count * sizeof *items);
  uint32_t same = 1;  // of a static replicate all are one value
  while (same < v->u.parts.count && items[same] == items[0])
    same++;
  if ((same > 1 || v->u.parts.repeats) && same == v->u.parts.count &&
      items[0]->kind == VALUE_SCALAR)
    return replicate_value(e, same, items[0]);
  return make_array(e, v->u.parts.count, pack_items(e, items, v->u.parts.count));
}

value *as_data(elaborator *e, value *v) {
  value **parts;
  if (v->kind == VALUE_FUNCTION)
    fail(e, "this is a function, but data is needed: an argument may be missing");
  if (v->kind != VALUE_TUPLE)
    return v->kind == VALUE_LIST ? as_array(e, v) : v;
  value *n = copy_with_parts(e, v, &parts);
  for (uint32_t i = 0; i < v->u.parts.count; i++)
    parts[i] = as_data(e, v->u.parts.items[i]);
  return n;
}

// What was not known because a level was open may be now: it is looked at again.
static void forget_unknown(elaborator *e) {
  for (size_t i = 0; i < e->ledger->unknown.count; i++)
    if (e->ledger->unknown.items[i] < e->ledger->known.count)
      e->ledger->known.items[e->ledger->unknown.items[i]] = NULL;
  e->ledger->unknown.count = 0;
}

value *attempt(elaborator *e, trial *here, trial_function *f, void *with) {
  const elaborator before = *e;
  size_t lengths = e->ledger->lengths.count;
  value *volatile found = NULL;
  here->outer = before.trial;
  e->trial = here;
  if (!setjmp(here->failed)) {
    found = as_data(e, f(e, with));
  } else {
    for (value *v = e->running; v != before.running; v = v->u.thunk.outer)
      v->u.thunk.running = false;
    e->ledger->lengths.count = lengths;
    e->d->wants_static = e->d->can_be_static = e->d->wants_extern = false;
    forget_unknown(e);
  }
  *e = before;
  return found;
}

// f(e, with) for no instances; NULL also where it is being tried.
static value *try_value(elaborator *e, const void *what, trial_function *f, void *with) {
  for (const trial *t = e->trial; t; t = t->outer)
    if (t->what == what)
      return NULL;
  trial here = {.what = what};
  uint64_t batch = e->batch;
  e->batch = 0;
  value *found = attempt(e, &here, f, with);
  e->batch = batch;
  return found;
}

value *make_empty_like(elaborator *e, type *element, const void *what, trial_function *f,
                       void *with) {
  bool has_lengths = type_has_arrays(element) && type_is_first_order(element);
  return make_empty(e, element, has_lengths ? try_value(e, what, f, with) : NULL);
}

bool is_data(const value *v, bool with_static) {
  size_t count, i = 0;
  value *const *parts = value_parts(v, &count);
  if (v->kind == VALUE_SCALAR || v->kind == VALUE_FUNCTION || v->kind == VALUE_THUNK)
    return with_static && v->kind == VALUE_SCALAR;
  while (i < count && is_data(parts[i], with_static))
    i++;
  return i == count;
}

static bool is_scalar(const value *v) {
  return v->kind == VALUE_SCALAR || v->kind == VALUE_DYNAMIC;
}

bool same_structure(const value *a, const value *b) {
  size_t count, other;
  value *const *x = value_parts(a, &count), *const *y = value_parts(b, &other);
  if (is_scalar(a) && is_scalar(b))
    return true;
  bool same = a->kind == b->kind && a->kind != VALUE_FUNCTION && count == other &&
              (a->kind != VALUE_ARRAY || a->u.array.length == b->u.array.length);
  for (size_t i = 0; same && i < count; i++)
    same = same_structure(x[i], y[i]);
  return same;
}

uint64_t length_of(const value *array) {
  return array->kind == VALUE_LIST ? array->u.parts.count : array->u.array.length;
}

// ---- moves -----------------------------------------------------------------------------------

value *move_value(elaborator *e, value *v, trace_step s) { return map_steps(e, v, move_step, &s); }

value *move_element(elaborator *e, value *array, trace_step s) {
  return move_value(e, as_array(e, array)->u.array.element, s);
}

value *enter_level(elaborator *e, value *array, trace_step s, uint64_t times, open_level *level) {
  uint64_t inner = times_batch(e, times);
  array = lift(e, array);
  *level =
      (open_level){.first = (value_id)e->out->steps.count, .batch = e->batch, .outer = e->levels};
  e->levels = level;
  value *element = move_element(e, array, s);
  level->last = (value_id)e->out->steps.count;
  e->batch = inner;
  return element;
}

void leave_level(elaborator *e) {
  e->batch = e->levels->batch;
  e->levels = e->levels->outer;
  forget_unknown(e);
}

static value_id lift_step(elaborator *e, value_id id, void *with) {
  (void)with;
  trace_step s = {.op = TRACE_BROADCAST, .batch = e->batch};
  return step_at(e, id)->batch == e->batch ? id : emit(e, s, 1, &id);
}

value *lift(elaborator *e, value *v) { return map_steps(e, v, lift_step, NULL); }

value *replicate_value(elaborator *e, uint64_t n, value *x) {
  trace_step s = {.op = TRACE_REPLICATE, .dims = &n};
  return make_array(e, n, move_value(e, as_data(e, x), s));
}

value *element_at(elaborator *e, value *array, uint64_t index) {
  if (array->kind == VALUE_LIST)
    return array->u.parts.items[index];
  return move_element(e, array, (trace_step){.op = TRACE_ELEMENT, .number = index});
}

value *as_rows(elaborator *e, value *v) {
  v = as_array(e, v);
  return v->u.array.element->kind == VALUE_LIST
             ? make_array(e, v->u.array.length, as_array(e, v->u.array.element))
             : v;
}

value *join_rows(elaborator *e, value *list) {
  value *rows = as_rows(e, list), *inner = rows->u.array.element;
  uint64_t length;
  if (__builtin_mul_overflow(rows->u.array.length, inner->u.array.length, &length))
    fail(e, "the joined array has more than 2^64 elements");
  trace_step s = {.op = TRACE_RESHAPE, .batch = OWN_BATCH, .number = 2, .rank = 1, .dims = &length};
  return make_array(e, length, move_value(e, inner->u.array.element, s));
}

value *map_elements(elaborator *e, value *xs, element_function *f, void *with) {
  uint64_t length = xs->u.array.length;
  trace_step in = {.op = TRACE_RESHAPE, .batch = times_batch(e, length), .number = 1};
  trace_step out = {.op = TRACE_RESHAPE, .batch = e->batch, .rank = 1, .dims = &length};
  open_level level;
  value *element = enter_level(e, xs, in, length, &level);
  value *result = lift(e, as_data(e, f(e, element, with)));
  leave_level(e);
  return make_array(e, length, move_value(e, result, out));
}
