// Values, and the steps that make them of others without looking at elements: packing, moving, map.
#include "lang/elaborate/elaborator.h"
#include <inttypes.h>
#include <stdio.h>

enum { MOST_DIMENSIONS = 16 };

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

static value *zero_value(elaborator *e, type *t) {
  t = type_prune(t);
  if (t->kind != TYPE_TUPLE)
    return make_scalar(e, closed_scalar(t), (scalar_bits){{0}});
  value *v = make_parts(e, VALUE_TUPLE, t->count);
  for (uint32_t i = 0; i < t->count; i++)
    v->u.parts.items[i] = zero_value(e, t->parts[i]);
  return v;
}

value *absent_element(elaborator *e, const value *list) {
  type *t = list->u.parts.element;
  return list->u.parts.like || type_has_arrays(t) || !type_is_first_order(t) ? list->u.parts.like
                                                                             : zero_value(e, t);
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

// ---- steps -----------------------------------------------------------------------------------

span own_place(const elaborator *e) {
  return e->d->sources.items[e->where.file].library ? e->caller : e->where;
}

static bool is_fixed(const elaborator *e, const trace_step *s) {
  bool fixed = s->op != TRACE_ARGUMENT && s->op != TRACE_INSTANCE && s->op != TRACE_BROADCAST;
  for (uint32_t i = 0; fixed && i < s->operand_count; i++)
    fixed = e->out->steps.items[s->operands[i]].fixed;
  return fixed;
}

value_id emit(elaborator *e, trace_step s) {
  if (e->out->steps.count >= e->limits.operations)
    fail_limit(e, "operations", 0,
               "this program does more than %" PRIu64
               " operations at this size, which is the limit",
               e->limits.operations);
  if (!trace_size_fits(&s))
    fail(e, "this needs an array of 2^63 bytes or more");
  s.fixed = is_fixed(e, &s);
  s.where = e->where;
  s.caller = own_place(e);
  vec_push(e->memory, &e->out->steps, s);
  return (value_id)e->out->steps.count - 1;
}

const trace_step *step_of(const elaborator *e, const value *v) {
  return &e->out->steps.items[v->u.step];
}

const bool *needed_steps(const elaborator *e) {
  const trace *t = e->out;
  bool *needed = NEW_ARRAY(e->memory, bool, t->steps.count);
  for (size_t i = 0; i < t->results.count; i++)
    needed[t->results.items[i]] = true;
  for (size_t id = t->steps.count; id-- > 0;)
    for (uint32_t i = 0; needed[id] && i < t->steps.items[id].operand_count; i++)
      needed[t->steps.items[id].operands[i]] = true;
  return needed;
}

value_id *copy_operands(elaborator *e, uint32_t count, const value_id *ids) {
  value_id *copy = NEW_ARRAY(e->memory, value_id, count);
  if (count)
    memcpy(copy, ids, count * sizeof *ids);
  return copy;
}

// Where one has no instances, the step has none.
uint64_t common_batch(uint64_t a, uint64_t b) { return !a || !b ? 0 : a > b ? a : b; }

uint64_t times_batch(elaborator *e, uint64_t factor) {
  uint64_t product;
  if (__builtin_mul_overflow(e->batch, factor, &product) || product > UINT64_C(1) << 62)
    fail(e, "parm, column and map are nested too deeply here: more than 2^62 repetitions");
  return product;
}

value *as_dynamic(elaborator *e, value *v) {
  if (v->kind == VALUE_DYNAMIC)
    return v;
  trace_step s = {
      .op = TRACE_CONSTANT, .type = v->u.scalar.type, .batch = 1, .constant = v->u.scalar.bits};
  return make_dynamic(e, emit(e, s));
}

// ---- structure -------------------------------------------------------------------------------

value *map_steps(elaborator *e, value *v, step_map *f, void *with) {
  switch (v->kind) {
  case VALUE_SCALAR:
    return map_steps(e, as_dynamic(e, v), f, with);
  case VALUE_DYNAMIC:
    return make_dynamic(e, f(e, v->u.step, with));
  case VALUE_ARRAY:
    return make_array(e, v->u.array.length, map_steps(e, v->u.array.element, f, with));
  case VALUE_TUPLE: {
    value *t = make_parts(e, VALUE_TUPLE, v->u.parts.count);
    for (uint32_t i = 0; i < v->u.parts.count; i++)
      t->u.parts.items[i] = map_steps(e, v->u.parts.items[i], f, with);
    return t;
  }
  case VALUE_LIST:
    return map_steps(e, as_array(e, v), f, with);
  default:
    fail(e, "a function cannot be an element of an array");
  }
}

// Whether the step's operands may be looked at: the steps of a call that is recorded must not
// depend on how its arguments were made, as it will be copied for others.
static bool is_own(const elaborator *e, value_id id) { return id >= e->own_from; }

value_id move_step(elaborator *e, value_id id, void *with) {
  const move *m = with;
  const trace_step *from = &e->out->steps.items[id];
  uint64_t number = m->number;
  if (m->op == TRACE_SLICE && m->lead[0] == from->dims[0])
    return id;
  if (m->op == TRACE_SLICE && from->op == TRACE_SLICE && is_own(e, id)) {  // a part of a part
    number += from->number;
    id = from->operands[0];
    from = &e->out->steps.items[id];
  }
  trace_step s = {.op = m->op, .type = from->type, .number = number, .operand_count = 1};
  s.batch = m->set_batch ? m->batch : from->batch;
  s.rank = from->rank - m->drop + m->lead_count;
  if (s.rank > MOST_DIMENSIONS)
    fail(e, "arrays have at most 16 dimensions");
  s.dims = NEW_ARRAY(e->memory, uint64_t, s.rank);
  for (uint32_t i = 0; i < m->lead_count; i++)
    s.dims[i] = m->lead[i];
  for (uint32_t i = m->drop; i < from->rank; i++)
    s.dims[i - m->drop + m->lead_count] = from->dims[i];
  s.operands = copy_operands(e, 1, &id);
  if (m->rows) {
    size_t n = (size_t)__builtin_ctzll(s.dims[0]);
    s.rows = NEW_ARRAY(e->memory, uint64_t, n);
    memcpy(s.rows, m->rows, n * sizeof *s.rows);
  }
  return emit(e, s);
}

static value_id lift_step(elaborator *e, value_id id, void *with) {
  (void)with;
  move m = {.op = TRACE_BROADCAST, .set_batch = true, .batch = e->batch};
  return e->out->steps.items[id].batch == e->batch ? id : move_step(e, id, &m);
}

value *lift(elaborator *e, value *v) { return map_steps(e, v, lift_step, NULL); }

value *replicate_value(elaborator *e, uint64_t n, value *x) {
  move m = {.op = TRACE_REPLICATE, .lead = {n}, .lead_count = 1};
  return make_array(e, n, map_steps(e, as_data(e, x), move_step, &m));
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
  trace_step s = {
      .op = TRACE_TABLE, .type = t, .rank = 1, .batch = 1, .number = e->tables++, .table = table};
  s.dims = NEW(e->memory, uint64_t);
  s.dims[0] = count;
  return make_dynamic(e, emit(e, s));
}

// Whether they are static scalars, or tuples and lists of such.
static bool are_static(value *const *items, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const value *v = items[i];
    bool parts = v->kind == VALUE_TUPLE || v->kind == VALUE_LIST;
    if (v->kind != VALUE_SCALAR && !(parts && are_static(v->u.parts.items, v->u.parts.count)))
      return false;
  }
  return true;
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
  move apart = {.op = TRACE_RESHAPE, .drop = 1, .lead = {count, length}, .lead_count = 2};
  return make_array(e, length, map_steps(e, pack_items(e, items, total), move_step, &apart));
}

static value *pack_scalars(elaborator *e, value **items, uint32_t count) {
  if (count >= TABLE_LEAST && are_static(items, count))  // scalars, as the first is one
    return pack_table(e, items, count);
  value_id *ids = NEW_ARRAY(e->memory, value_id, count);
  uint64_t batch = 1;
  for (uint32_t i = 0; i < count; i++) {
    ids[i] = as_dynamic(e, items[i])->u.step;
    uint64_t b = e->out->steps.items[ids[i]].batch;
    if (b > batch || !b)
      batch = batch ? b : 0;
  }
  const trace_step *first = &e->out->steps.items[ids[0]];
  trace_step s = {.op = TRACE_PACK,
                  .type = first->type,
                  .rank = first->rank + 1,
                  .batch = batch,
                  .operand_count = count,
                  .operands = ids};
  s.dims = NEW_ARRAY(e->memory, uint64_t, s.rank);
  s.dims[0] = count;
  if (first->rank)
    memcpy(s.dims + 1, first->dims, first->rank * sizeof *s.dims);
  return make_dynamic(e, emit(e, s));
}

// Element number i of each of the items, packed.
static value *pack_children(elaborator *e, value **items, uint32_t count, uint32_t child) {
  value **children = NEW_ARRAY(e->memory, value *, count);
  for (uint32_t i = 0; i < count; i++) {
    const value *v = items[i];
    children[i] = v->kind == VALUE_TUPLE ? v->u.parts.items[child] : v->u.array.element;
  }
  return pack_items(e, children, count);
}

// The step whose outermost dimension the steps are parts or elements of, all of them in their
// order.
// NO_STEP: there is none.
static value_id whole_of_parts(const elaborator *e, const value_id *ids, uint32_t count) {
  const trace_step *steps = e->out->steps.items, *first = &steps[ids[0]];
  if (first->op != TRACE_SLICE && first->op != TRACE_ELEMENT)
    return NO_STEP;
  const trace_step *whole = &steps[first->operands[0]];
  uint64_t length = first->op == TRACE_SLICE ? first->dims[0] : 1;
  if (whole->batch != first->batch || whole->dims[0] != count * length)
    return NO_STEP;
  for (uint32_t i = 0; i < count; i++) {
    const trace_step *s = &steps[ids[i]];
    if (!is_own(e, ids[i]) || s->op != first->op || s->operands[0] != first->operands[0] ||
        s->number != i * length)
      return NO_STEP;
  }
  return first->operands[0];
}

static value_id reshape_step(elaborator *e, value_id id, uint64_t batch, uint32_t rank,
                             const uint64_t *dims) {
  trace_step s = {.op = TRACE_RESHAPE,
                  .type = e->out->steps.items[id].type,
                  .rank = rank,
                  .batch = batch,
                  .operand_count = 1,
                  .operands = copy_operands(e, 1, &id),
                  .dims = NEW_ARRAY(e->memory, uint64_t, rank)};
  if (rank)
    memcpy(s.dims, dims, rank * sizeof *dims);
  return emit(e, s);
}

value_id rejoined_step(elaborator *e, uint32_t count, const value_id *ids, uint64_t batch,
                       uint32_t rank, const uint64_t *dims) {
  value_id whole = whole_of_parts(e, ids, count);
  return whole == NO_STEP ? NO_STEP : reshape_step(e, whole, batch, rank, dims);
}

value_id batch_of_rows(elaborator *e, const value_id *rows, uint32_t count) {
  trace_step s = e->out->steps.items[rows[0]];
  uint64_t inner = times_batch(e, count);
  value_id whole = rejoined_step(e, count, rows, inner, s.rank, s.dims);
  if (whole != NO_STEP)
    return whole;
  trace_step pack = {.op = TRACE_PACK,
                     .type = s.type,
                     .rank = s.rank + 1,
                     .batch = e->batch,
                     .operand_count = count,
                     .operands = copy_operands(e, count, rows),
                     .dims = NEW_ARRAY(e->memory, uint64_t, s.rank + 1)};
  pack.dims[0] = count;
  if (s.rank)
    memcpy(pack.dims + 1, s.dims, s.rank * sizeof *s.dims);
  return reshape_step(e, emit(e, pack), inner, s.rank, s.dims);
}

// What an array of these items is inside.
static value *pack_items(elaborator *e, value **items, uint32_t count) {
  value *table = pack_static_rows(e, items, count);
  if (table)
    return table;
  for (uint32_t i = 0; i < count; i++)
    if (items[i]->kind == VALUE_LIST)
      items[i] = as_array(e, items[i]);
  const value *first = items[0];
  if (first->kind == VALUE_TUPLE) {
    value *t = make_parts(e, VALUE_TUPLE, first->u.parts.count);
    for (uint32_t k = 0; k < first->u.parts.count; k++)
      t->u.parts.items[k] = pack_children(e, items, count, k);
    return t;
  }
  if (first->kind == VALUE_ARRAY) {
    for (uint32_t i = 1; i < count; i++)
      if (items[i]->u.array.length != first->u.array.length)
        fail(e, "the elements of an array must have equal lengths: %" PRIu64 " and %" PRIu64,
             first->u.array.length, items[i]->u.array.length);
    return make_array(e, first->u.array.length, pack_children(e, items, count, 0));
  }
  if (first->kind == VALUE_FUNCTION)
    fail(e, "a function cannot be an element of an array here");
  return pack_scalars(e, items, count);
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
  trace_step step = {.op = TRACE_PACK, .type = s, .rank = depth, .batch = 1};
  step.dims = NEW_ARRAY(e->memory, uint64_t, depth);
  memcpy(step.dims, dims, depth * sizeof *dims);
  return make_dynamic(e, emit(e, step));
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
  return make_array(e, v->u.parts.count, pack_items(e, items, v->u.parts.count));
}

value *as_data(elaborator *e, value *v) {
  switch (v->kind) {
  case VALUE_LIST:
    return as_array(e, v);
  case VALUE_TUPLE: {
    value *t = make_parts(e, VALUE_TUPLE, v->u.parts.count);
    for (uint32_t i = 0; i < v->u.parts.count; i++)
      t->u.parts.items[i] = as_data(e, v->u.parts.items[i]);
    return t;
  }
  case VALUE_FUNCTION:
    fail(e, "this is a function, but data is needed: an argument may be missing");
  default:
    return v;
  }
}

// f(e, with) for no instances; NULL, and no message, where it fails, is no data, or is being tried.
static value *try_value(elaborator *e, const void *what, trial_function *f, void *with) {
  for (const trial *t = e->trial; t; t = t->outer)
    if (t->what == what)
      return NULL;
  trial here = {.what = what, .outer = e->trial};
  const elaborator before = *e;
  value *volatile found = NULL;
  e->trial = &here;
  e->batch = 0;
  if (!setjmp(here.failed)) {
    found = as_data(e, f(e, with));
  } else {
    for (value *v = e->running; v != before.running; v = v->u.thunk.outer)
      v->u.thunk.running = false;
    e->running = before.running;
    e->lengths.count = before.lengths.count;
    e->d->wants_static = e->d->wants_extern = false;
  }
  e->trial = here.outer;
  e->batch = before.batch;
  e->memo_from = before.memo_from;
  e->own_from = before.own_from;
  e->depth = before.depth;
  e->calls = before.calls;
  e->branches = before.branches;
  e->where = before.where;
  e->caller = before.caller;
  e->places = before.places;
  e->asks_for_matrix = before.asks_for_matrix;
  return found;
}

value *make_empty_like(elaborator *e, type *element, const void *what, trial_function *f,
                       void *with) {
  bool has_lengths = type_has_arrays(element) && type_is_first_order(element);
  return make_empty(e, element, has_lengths ? try_value(e, what, f, with) : NULL);
}

bool is_dynamic_data(const value *v) {
  if (v->kind == VALUE_ARRAY)
    return is_dynamic_data(v->u.array.element);
  if (v->kind != VALUE_TUPLE && v->kind != VALUE_LIST)
    return v->kind == VALUE_DYNAMIC;
  uint32_t i = 0;
  while (i < v->u.parts.count && is_dynamic_data(v->u.parts.items[i]))
    i++;
  return i == v->u.parts.count;
}

bool same_structure(const value *a, const value *b) {
  if ((a->kind == VALUE_SCALAR || a->kind == VALUE_DYNAMIC) &&
      (b->kind == VALUE_SCALAR || b->kind == VALUE_DYNAMIC))
    return true;
  if (a->kind != b->kind)
    return false;
  if (a->kind == VALUE_ARRAY)
    return a->u.array.length == b->u.array.length &&
           same_structure(a->u.array.element, b->u.array.element);
  if (a->kind == VALUE_FUNCTION || a->u.parts.count != b->u.parts.count)
    return false;
  for (uint32_t i = 0; i < a->u.parts.count; i++)
    if (!same_structure(a->u.parts.items[i], b->u.parts.items[i]))
      return false;
  return true;
}

uint64_t length_of(const value *array) {
  return array->kind == VALUE_LIST ? array->u.parts.count : array->u.array.length;
}

value *element_at(elaborator *e, value *array, uint64_t index) {
  if (array->kind == VALUE_LIST)
    return array->u.parts.items[index];
  return move_element(e, array, (move){.op = TRACE_ELEMENT, .number = index, .drop = 1});
}

// ---- moves -----------------------------------------------------------------------------------

value *move_element(elaborator *e, value *array, move m) {
  return map_steps(e, as_array(e, array)->u.array.element, move_step, &m);
}

move keep_length(trace_op op, uint64_t number, uint64_t length) {
  return (move){.op = op, .number = number, .drop = 1, .lead = {length}, .lead_count = 1};
}

value *map_elements(elaborator *e, value *xs, element_function *f, void *with) {
  uint64_t length = xs->u.array.length, outer = e->batch, inner = times_batch(e, length);
  move in = {.op = TRACE_RESHAPE, .set_batch = true, .batch = inner, .drop = 1};
  move out = {
      .op = TRACE_RESHAPE, .set_batch = true, .batch = outer, .lead = {length}, .lead_count = 1};
  value *element = move_element(e, lift(e, xs), in);
  e->batch = inner;
  value *result = lift(e, as_data(e, f(e, element, with)));
  e->batch = outer;
  return make_array(e, length, map_steps(e, result, move_step, &out));
}
