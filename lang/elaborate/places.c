// Places that are data: the steps of gather and scatter; those that find places by keys, and count
// keys; and the checks that places are places, and keys what they are said to be.
//
//   gather [2, 0, 5] [10, 11, 12]       place 5, of number 2, is outside: an error
//   scatter [1, 0, 1] [7, 8, 9] xs      place 1 occurs twice, first as number 0: an error
//
// The steps themselves take any numbers (trace.h). For all places that results depend on there is a
// result more, the check: which is the first wrong one, by its number among them all, and what it
// is (TRACE_WRONG). Where that is a routine without kernels it is made of steps as the program's
// are:
//
//   places      2  0  5                                   1  0  1
//   outside     .  .  x                                   .  .  .
//   written     to an array, each number to its place      0 -> 1 (or 2 -> 1), 1 -> 0
//   read again  what lies there now                        0  1  0 (or 2  1  2)
//   other       not what was written: the lesser of both   .  .  0 (or 0  .  .)
//   first       the least number of all, by a tree: 2      0
#include "lang/elaborate/elaborator.h"
#include <inttypes.h>

// ---- gather, scatter -------------------------------------------------------------------------

typedef struct placing {
  trace_op op;
  value_id places;
  VEC(value_id) bases;  // scatter: what is changed, array by array, the first at the end
} placing;

static value_id placed_step(elaborator *e, value_id id, void *with) {
  placing *p = with;
  bool scatters = p->op == TRACE_SCATTER;
  value_id operands[] = {p->places, id, scatters ? p->bases.items[--p->bases.count] : NO_STEP};
  return emit(e, (trace_step){.op = p->op}, scatters ? 3 : 2, operands);
}

static value_id collect_base(elaborator *e, value_id id, void *with) {
  placing *p = with;
  vec_push(e->memory, &p->bases, id);
  return id;
}

static value_id places_of(elaborator *e, value *list) {
  return as_dynamic(e, as_array(e, list)->u.array.element)->u.step;
}

value *run_gather(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)row, (void)instance;
  placing p = {.op = TRACE_GATHER, .places = places_of(e, a[0])};
  value *xs = as_array(e, a[1]);
  return make_array(e, length_of(a[0]), map_steps(e, xs->u.array.element, placed_step, &p));
}

// An index as the places of a gather: a list of one.
static value *list_of_one(elaborator *e, value *index) {
  value *list = make_parts(e, VALUE_LIST, 1);
  list->u.parts.items[0] = index;
  return list;
}

// The same places, or keys, as a step of its own, which says something of them.
static value *same_places(elaborator *e, value *list, trace_step s) {
  value_id places = places_of(e, list);
  s.op = TRACE_RESHAPE;
  s.batch = OWN_BATCH;
  return make_array(e, length_of(list), make_dynamic(e, emit(e, s, 1, &places)));
}

value *bounded_index(elaborator *e, value *index, uint64_t bound) {
  return element_at(e, same_places(e, list_of_one(e, index), (trace_step){.bound = bound}), 0);
}

value *element_at_data(elaborator *e, value *array, value *index, bool inside) {
  value *list = list_of_one(e, index);
  if (inside)
    list = run_trusted(e, NULL, &list, NULL);
  return element_at(e, run_gather(e, NULL, (value *[]){list, array}, NULL), 0);
}

value *run_scatter(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)instance;
  uint64_t count = length_of(a[0]), length = length_of(a[2]);
  if (length_of(a[1]) != count)
    fail(e,
         "%s needs one place for each element, but the lengths of these arrays are %" PRIu64
         " and %" PRIu64,
         row->name, count, length_of(a[1]));
  placing p = {.op = TRACE_SCATTER, .places = places_of(e, a[0])};
  value *from = as_array(e, a[1]), *to = as_array(e, a[2]);
  if (!same_structure(from->u.array.element, to->u.array.element))
    fail(e, "%s needs two arrays whose elements have the same shape", row->name);
  map_steps(e, to->u.array.element, collect_base, &p);
  for (size_t i = 0; i < p.bases.count / 2; i++) {  // taken from the end
    value_id base = p.bases.items[i];
    p.bases.items[i] = p.bases.items[p.bases.count - 1 - i];
    p.bases.items[p.bases.count - 1 - i] = base;
  }
  return make_array(e, length, map_steps(e, from->u.array.element, placed_step, &p));
}

// ---- keys --------------------------------------------------------------------------------------

// A step of keys, which are below `number`, or any if that is 0; of all, or in rows of these
// offsets.
static value_id emit_keyed(elaborator *e, trace_op op, value_id keys, value_id offsets,
                           scalar_op order, uint64_t number) {
  return emit(e, (trace_step){.op = op, .scalar = order, .number = number},
              offsets == NO_STEP ? 1 : 2, (value_id[]){keys, offsets});
}

// The places of a list of elements: by their components, the last first, each time stably.
//   keys (1, 5) (0, 5) (1, 4)     by the second: 1 2 0, so that the first become 1 1 0, whose places
//                                 are 1 2 0: those of the elements are 2 0 1
static value_id emit_places(elaborator *e, value *element, value_id offsets, scalar_op order,
                            value_id before) {
  if (element->kind == VALUE_TUPLE) {
    for (uint32_t i = element->u.parts.count; i-- > 0;)
      before = emit_places(e, element->u.parts.items[i], offsets, order, before);
    return before;
  }
  value_id keys = as_dynamic(e, element)->u.step;
  placing moved = {.op = TRACE_SCATTER, .places = before}, after = {.op = TRACE_GATHER};
  if (before == NO_STEP)
    return emit_keyed(e, TRACE_PLACES, keys, offsets, order, 0);
  vec_push(e->memory, &moved.bases, keys);
  after.places = before;
  keys = placed_step(e, keys, &moved);
  return placed_step(e, emit_keyed(e, TRACE_PLACES, keys, offsets, order, 0), &after);
}

value *run_trusted(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)row, (void)instance;
  return same_places(e, a[0], (trace_step){.trusted = true});
}

value *run_sorted_places(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)instance;
  value *keys = ordered_keys(e, a[0]);
  value_id places =
      emit_places(e, keys->u.array.element, NO_STEP, (scalar_op)row->operation, NO_STEP);
  return make_array(e, length_of(keys), make_dynamic(e, places));
}

// 2^x of something, `what`, where x is the first argument.
static uint64_t power_of(elaborator *e, const builtin *row, value *exponent, const char *what) {
  enum { MOST_BITS = 62 };
  int64_t x = static_integer(e, exponent, arena_printf(e->memory, "the exponent of %s", row->name));
  if (x >= 0 && x <= MOST_BITS)
    return UINT64_C(1) << x;
  e->where = e->places[0];
  fail(e, "there can be 2^0 to 2^%d %s, but not 2^%" PRId64, MOST_BITS, what, x);
}

value *run_checked_power(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)instance;
  return make_integer(e, (int64_t)power_of(e, row, a[0], "elements"));
}

// The keys need to be below 2^r.
value *run_checked_keys(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)instance;
  uint64_t bound = power_of(e, row, a[0], "keys");
  return same_places(e, a[1], (trace_step){.scalar = OP_LT, .bound = bound});
}

value *run_bucket_places(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)instance;
  uint64_t number = power_of(e, row, a[0], "keys");
  value_id places = emit_keyed(e, TRACE_PLACES, places_of(e, a[1]), NO_STEP, OP_LE, number);
  return make_array(e, length_of(a[1]), make_dynamic(e, places));
}

value *run_count_keys(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)instance;
  uint64_t number = power_of(e, row, a[0], "keys");
  value_id counts = emit_keyed(e, TRACE_COUNT, places_of(e, a[1]), NO_STEP, OP_LE, number);
  return make_array(e, number, make_dynamic(e, counts));
}

// ---- steps of checks -------------------------------------------------------------------------

static value_id emit_constant(elaborator *e, scalar_type t, int64_t i) {
  return emit(e, (trace_step){.op = TRACE_CONSTANT, .type = t, .constant = scalar_from_i64(t, i)},
              0, NULL);
}

// The elements of lists: a list of `length`; or scalars, each an instance, if rank is 0.
static value_id emit_reshape(elaborator *e, value_id id, uint64_t batch, uint32_t rank,
                             uint64_t length) {
  return emit_elements(e, id, batch, rank, &length);
}

static value_id emit_convert(elaborator *e, value_id id, scalar_type to) {
  trace_step s = {.op = TRACE_CONVERT, .type = to};
  return step_at(e, id)->type == to ? id : emit(e, s, 1, &id);
}

static value_id emit_scalar(elaborator *e, scalar_op op, value_id x, value_id y) {
  return emit(e, (trace_step){.op = TRACE_SCALAR, .scalar = op}, 2, (value_id[]){x, y});
}

static value_id emit_choice(elaborator *e, value_id condition, value_id yes, value_id no) {
  return emit(e, (trace_step){.op = TRACE_SELECT}, 3, (value_id[]){condition, yes, no});
}

static value_id emit_number(elaborator *e, uint64_t batch, uint64_t modulus) {
  return emit(e, (trace_step){.op = TRACE_INSTANCE, .batch = batch, .number = modulus}, 0, NULL);
}

static value_id emit_copies(elaborator *e, uint64_t count, value_id of) {
  return emit(e, (trace_step){.op = TRACE_REPLICATE, .dims = &count}, 1, &of);
}

static value_id emit_element(elaborator *e, value_id list, uint64_t index) {
  return emit(e, (trace_step){.op = TRACE_ELEMENT, .number = index}, 1, &list);
}

static value_id emit_least(elaborator *e, value_id x, value_id y) {
  return emit_choice(e, emit_scalar(e, OP_LT, x, y), x, y);
}

// The least of `count` numbers, each an instance: of neighbours first.
static value_id emit_minimum(elaborator *e, value_id x, uint64_t count) {
  uint64_t full = 1;
  while (full < count)
    full *= 2;
  x = emit_reshape(e, x, 1, 1, count);
  if (full > count) {
    value_id none = emit_copies(e, full - count, emit_constant(e, SCALAR_I64, INT64_MAX));
    x = emit(e, (trace_step){.op = TRACE_CONCAT}, 2, (value_id[]){x, none});
  }
  for (uint64_t pairs = full / 2; pairs; pairs /= 2) {
    x = emit_reshape(e, x, pairs, 1, 2);
    value_id first = emit_element(e, x, 0), second = emit_element(e, x, 1);
    x = emit_reshape(e, emit_least(e, first, second), 1, 1, pairs);
  }
  return emit_element(e, x, 0);
}

// ---- numbers that are checked ----------------------------------------------------------------

// The numbers where none is wrong, else zeros: rows that are folded are no longer than all elements then.
static value_id emit_right(elaborator *e, value_id numbers, value_id found) {
  const trace_step s = *step_at(e, numbers);
  value_id first = emit_element(e, found, 0), none = emit_constant(e, SCALAR_I64, INT64_MAX);
  value_id all = emit_reshape(e, numbers, s.batch * s.dims[0], 0, 0);
  value_id right =
      emit_choice(e, emit_scalar(e, OP_EQ, first, none), all, emit_constant(e, SCALAR_I64, 0));
  return emit_reshape(e, right, s.batch, 1, s.dims[0]);
}

// A list as it is, once more, so that who needs it needs the check that these numbers are from 0 to
// `most`.
static value_id emit_guarded(elaborator *e, value_id list, check_kind kind, value_id numbers,
                             uint64_t most) {
  trace_step same = {.op = TRACE_RESHAPE, .batch = OWN_BATCH, .trusted = step_at(e, list)->trusted};
  trace_check c = {.kind = kind,
                   .shadow = numbers,
                   .found = NO_STEP,
                   .length = most + 1,
                   .inner = step_at(e, numbers)->dims[0],
                   .where = own_place(e)};
  if (kind == CHECK_ENDS && c.inner) {
    c.found = emit_row_check(e, &c);
    list = emit_right(e, list, c.found);
  }
  c.guarded = emit(e, same, 1, &list);
  e->out->steps.items[c.guarded].known = false;  // before the run nobody checks them
  if (c.inner)
    vec_push(e->memory, &e->out->checks, c);
  return c.guarded;
}

value *run_checked_rows(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)instance;
  int64_t most = static_integer(e, a[0], arena_printf(e->memory, "the bound of %s", row->name));
  value_id list = places_of(e, a[1]);
  if (most < 0)
    fail(e, "the bound of %s must not be negative, but this is %" PRId64, row->name, most);
  list = emit_guarded(e, list, (check_kind)row->operation, list, (uint64_t)most);
  return make_array(e, length_of(a[1]), make_dynamic(e, list));
}

// ---- rows of unequal length ------------------------------------------------------------------

// How many elements each row has.
static value_id emit_lengths(elaborator *e, value_id offsets) {
  uint64_t batch = step_at(e, offsets)->batch, rows = step_at(e, offsets)->dims[0] - 1;
  value_id ends[2];
  for (uint64_t i = 0; i < 2; i++) {
    trace_step part = {.op = TRACE_SLICE, .number = i, .dims = &rows};
    ends[i] = emit_reshape(e, emit(e, part, 1, &offsets), batch * rows, 0, 0);
  }
  return emit_reshape(e, emit_scalar(e, OP_SUB, ends[1], ends[0]), batch, 1, rows);
}

value *run_ragged_places(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)instance;
  value *keys = ordered_keys(e, a[1]);
  value_id offsets = places_of(e, a[0]);
  if (!length_of(a[0]))
    fail(e, "%s needs offsets: one more than there are rows", row->name);
  offsets = emit_guarded(e, offsets, CHECK_ROWS, emit_lengths(e, offsets), length_of(keys));
  value_id places =
      emit_places(e, keys->u.array.element, offsets, (scalar_op)row->operation, NO_STEP);
  return make_array(e, length_of(keys), make_dynamic(e, places));
}

// ---- the checks ------------------------------------------------------------------------------

// What each number reads where all have written theirs.
static value_id emit_owners(elaborator *e, const checked_places *l, uint64_t count) {
  scalar_type t = count <= INT32_MAX ? SCALAR_I32 : SCALAR_I64;
  uint64_t batch = step_at(e, l->places)->batch;
  value_id numbers = emit_convert(e, emit_number(e, count, count), t);
  value_id written[] = {l->places, emit_reshape(e, numbers, 1, 1, count), emit_constant(e, t, -1)};
  written[2] = emit_copies(e, l->length, written[2]);
  value_id read[] = {l->places, emit(e, (trace_step){.op = TRACE_SCATTER}, 3, written)};
  value_id owners = emit(e, (trace_step){.op = TRACE_GATHER}, 2, read);
  return emit_convert(e, emit_reshape(e, owners, batch * count, 0, 0), SCALAR_I64);
}

// The first wrong place's number among all, or INT64_MAX.
static value_id emit_first_wrong(elaborator *e, const checked_places *l) {
  const trace_step s = *step_at(e, l->places);
  uint64_t count = s.dims[0], all = s.batch * count;
  value_id none = emit_constant(e, SCALAR_I64, INT64_MAX), number = emit_number(e, all, all);
  value_id place = emit_convert(e, emit_reshape(e, l->places, all, 0, 0), SCALAR_U64);
  value_id inside = emit_scalar(e, OP_LT, place, emit_constant(e, SCALAR_U64, (int64_t)l->length));
  value_id good = none;
  if (l->distinct) {
    value_id own = emit_number(e, all, count), owner = emit_owners(e, l, count);
    value_id first =
        emit_scalar(e, OP_ADD, emit_scalar(e, OP_SUB, number, own), emit_least(e, own, owner));
    good = emit_choice(e, emit_scalar(e, OP_EQ, own, owner), none, first);
  }
  return emit_minimum(e, emit_choice(e, inside, good, number), all);
}

// The first wrong one and what it is, by scalar code.
static value_id emit_wrong_by_steps(elaborator *e, const checked_places *l) {
  const trace_step s = *step_at(e, l->places);
  trace_step pack = {.op = TRACE_PACK}, pick = {.op = TRACE_GATHER, .shadow = true};
  value_id first = emit_first_wrong(e, l);
  value_id found[] = {emit(e, pack, 1, &first),
                      emit_reshape(e, l->places, 1, 1, s.batch * s.dims[0])};
  value_id place = emit_element(e, emit(e, pick, 2, found), 0);
  return emit(e, pack, 2, (value_id[]){first, emit_convert(e, place, SCALAR_I64)});
}

// The first wrong one and what it is.
static value_id emit_wrong(elaborator *e, const checked_places *l) {
  return e->out->wants_steps ? emit_wrong_by_steps(e, l) : emit(e, wrong_step(l), 1, &l->places);
}

value_id emit_row_check(elaborator *e, const trace_check *c) {
  return emit_wrong(e, &(checked_places){.places = c->shadow, .length = c->length});
}

static void add_place_check(elaborator *e, const checked_places *l) {
  const trace_step s = *step_at(e, l->places);
  value_id check = emit_wrong(e, l);
  trace_check c = {.kind = l->kind,
                   .shadow = check,
                   .guarded = NO_STEP,
                   .length = l->length,
                   .inner = s.dims[0],
                   .is_unsigned = scalar_types[s.type].kind == KIND_UNSIGNED};
  vec_push(e->memory, &e->out->checks, c);
  vec_push(e->memory, &e->out->results, check);
}

// How many elements the places are a permutation of: they are an argument that is one, an affine map
// of their numbers, those of sorted keys, or such places at such places (emit_places). 0: unknown.
static uint64_t permuted_elements(const elaborator *e, value_id places) {
  f2_affine map;
  const trace_step *s = step_at(e, places);
  if (s->rank == 1 && s->batch == 1 && trace_find_permutation(e->out, places, s->dims[0], &map))
    return s->dims[0];
  while (s->op == TRACE_GATHER && step_at(e, s->operands[1])->op == TRACE_PLACES &&
         step_at(e, s->operands[1])->dims[0] == s->dims[0])
    s = step_at(e, s->operands[0]);
  return s->op == TRACE_PLACES || trace_is_permutation(s) ? s->dims[0] : 0;
}

// Whether numbers of the type can be 0 ... count - 1; a negative one looks like a large place else.
static bool holds_places(scalar_type t, uint64_t count) {
  size_t bits = 8 * scalar_types[t].size - (scalar_types[t].kind != KIND_UNSIGNED);
  return bits >= 63 || count <= UINT64_C(1) << bits;
}

// Finds out what the places of a gather or a scatter do, if they are an argument that is there, as
// many as it moves elements.
static void recognise_places(const elaborator *e, const trace_step *s) {
  const trace_step *p = s->operand_count ? step_at(e, s->operands[0]) : NULL;
  bool gathers = s->op == TRACE_GATHER;
  if ((!gathers && s->op != TRACE_SCATTER) || p->op != TRACE_ARGUMENT || !p->places ||
      !p->places->elements || p->places->is_recognised || p->rank != 1 ||
      p->dims[0] != (gathers ? step_at(e, s->operands[1])->dims[0] : s->dims[0]) ||
      !holds_places(p->type, p->dims[0]))
    return;
  place_list list = {p->places->elements, scalar_types[p->type].size, p->dims[0]};
  p->places->moves = recognise_movement(&list);
  p->places->is_recognised = true;
  p->places->is_permutation |= movement_is_simple(&p->places->moves);
}

// What is known of the steps' integers where the checks find nothing. limits: the least bound that
// each list is checked for, where that has to be done.
typedef struct checked_ranges {
  uint64_t *limits;
  number_range *ranges;
} checked_ranges;

static checked_ranges find_checked_ranges(const elaborator *e, const bool *needed) {
  const trace *t = e->out;
  checked_ranges r = {NEW_ARRAY(e->memory, uint64_t, t->steps.count),
                      NEW_ARRAY(e->memory, number_range, t->steps.count)};
  checked_places l;
  for (size_t id = 0; id < t->steps.count; id++) {
    const trace_step *s = &t->steps.items[id];
    if (!needed[id] || s->shadow || !places_of_step(e, s, &l) || step_at(e, l.places)->trusted)
      continue;
    uint64_t *limit = &r.limits[l.places];
    *limit = !*limit || l.length < *limit ? l.length : *limit;
  }
  trace_find_ranges(t, 0, r.limits, r.ranges);
  return r;
}

// Whether none can be wrong, if no other is.
static bool are_right(const elaborator *e, const checked_places *l, const checked_ranges *known) {
  const trace_step *s = step_at(e, l->places);
  uint64_t count = permuted_elements(e, l->places);
  number_range r = known->ranges[l->places];
  bool inside = trace_is_below(r, l->length) && known->limits[l->places] != l->length;
  return trace_step_count(s) == 0 || s->trusted || (count && count <= l->length) ||
         (inside && !l->distinct);
}

// Whether the places of a step are checked by another of `lists`: equal, but for being distinct.
static checked_places *find_list(checked_places *lists, size_t count, const checked_places *l) {
  for (size_t i = count; i-- > 0;)
    if (lists[i].places == l->places && lists[i].length == l->length)
      return &lists[i];
  return NULL;
}

void add_place_checks(elaborator *e) {
  trace *t = e->out;
  VEC(checked_places) lists = {0};
  VEC(span) where = {0};
  const bool *needed = trace_find_needed(e->memory, t);
  checked_ranges known = {NULL, NULL};
  for (size_t id = 0; id < t->steps.count; id++) {
    const trace_step *s = &t->steps.items[id];
    checked_places l, *equal;
    if (needed[id])
      recognise_places(e, s);
    if (!needed[id] || s->shadow || !places_of_step(e, s, &l))
      continue;
    if (!known.ranges)
      known = find_checked_ranges(e, needed);
    if (are_right(e, &l, &known))
      continue;
    equal = find_list(lists.items, lists.count, &l);
    if (equal) {
      equal->distinct |= l.distinct;
      continue;
    }
    vec_push(e->memory, &lists, l);
    vec_push(e->memory, &where, s->caller);
  }
  for (size_t i = 0; i < lists.count; i++) {
    add_place_check(e, &lists.items[i]);
    t->checks.items[t->checks.count - 1].where = where.items[i];
  }
}
