// What is done to each element of a list of the program, elaborated once.
//
//   [xs[p[i]] | i <- 0..m-1]      written out: element 0 of p, of xs; element 1 of p, of xs; ...
//                                 once: for an i that is an element of iota m
//
// Elaborating the body with such an i is tried. It stays written out where
//
//   the body needs to know i       a length, a mask, the end of a recursion, a choice of functions
//   no result depends on data      a static list stays one
//   i is an error for some         an index outside, an int that overflows: it is reported as such
//   there are few elements
//
// The result is an array that is `listed`: who needs its elements one by one makes a list of it
// again, as zip with numbers and mapi do where these have to be known.
#include "lang/elaborate/elaborator.h"

// Of the list; of all that it makes; where i chooses between branches, one of which is code for each
// when it is written out.
enum { LEAST_COUNT = 8, LEAST_ELEMENTS = 32, LEAST_CHOSEN = 257 };
// A recursion that i ends does not end in a trial: calls inside of each other; and trials.
enum { MOST_CALLS = 500, MOST_IN_VAIN = 16 };

// ---- generators ------------------------------------------------------------------------------

// Whether the list is first, first + step, ...
static bool find_progression(const value *list, generator *g) {
  value *const *items = list->u.parts.items;
  uint32_t count = list->u.parts.count;
  for (uint32_t i = 0; i < count; i++)
    if (items[i]->kind != VALUE_SCALAR || items[i]->u.scalar.type != SCALAR_I64)
      return false;
  if (count < 2 ||
      __builtin_sub_overflow(items[1]->u.scalar.bits.i64, items[0]->u.scalar.bits.i64, &g->step))
    return false;
  for (uint32_t i = 0; i < count; i++) {
    int64_t n = items[i]->u.scalar.bits.i64, next;
    if (i + 1 < count &&
        (__builtin_add_overflow(n, g->step, &next) || items[i + 1]->u.scalar.bits.i64 != next))
      return false;
  }
  g->first = items[0]->u.scalar.bits.i64;
  return g->step != 0;
}

generator generator_of(value *list) {
  generator g = {.list = list, .count = length_of(list), .type = SCALAR_I64};
  if (list->kind == VALUE_LIST && find_progression(list, &g))
    g.list = NULL;
  return g;
}

value *generated(elaborator *e, const generator *g, uint64_t k) {
  return g->list ? element_at(e, g->list, k)
                 : convert(e, g->type, make_integer(e, g->first + g->step * (int64_t)k));
}

typedef struct number_call {
  const generator *of;
  element_function *function;
  void *with;
} number_call;

static value *apply_to_number(elaborator *e, value *i, void *with) {
  const number_call *c = with;
  if (c->of->step != 1)
    i = scalar_operation(e, OP_MUL, i, make_integer(e, c->of->step));
  if (c->of->first)
    i = scalar_operation(e, OP_ADD, i, make_integer(e, c->of->first));
  return c->function(e, convert(e, c->of->type, i), c->with);
}

value *map_generator(elaborator *e, const generator *g, element_function *f, void *with) {
  if (g->list)
    return map_elements(e, as_array(e, g->list), f, with);
  trace_step numbers = {.op = TRACE_IOTA, .dims = (uint64_t[]){g->count}};
  value *array = make_array(e, g->count, make_dynamic(e, emit(e, numbers, 0, NULL)));
  return map_elements(e, array, apply_to_number, &(number_call){g, f, with});
}

// ---- errors before the run -------------------------------------------------------------------

// Whether numbers in these ranges cannot be wrong for the operation, and their result is no int that
// overflows.
static bool is_safe(const trace_step *s, scalar_type t, number_range b, number_range result) {
  switch (s->scalar) {
  case OP_DIV:
  case OP_MOD:
    return b.least > 0;
  case OP_SHL:
  case OP_SHR:
    return b.least >= 0;
  case OP_POWI:
    return false;
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_NEG:
  case OP_ABS:
    return t != SCALAR_I64 || (result.least > INT64_MIN && result.most < INT64_MAX);
  default:
    return true;
  }
}

// The number of an operand that instance i of a step of so many has.
static scalar_bits number_at(const elaborator *e, value_id id, uint64_t i, uint64_t batch) {
  const trace_step *s = step_at(e, id);
  size_t size = scalar_types[s->type].size;
  scalar_bits bits = {.bytes = {0}};
  memcpy(&bits, (const char *)e->ledger->known.items[id] + i / (batch / s->batch) * size, size);
  return bits;
}

// Whether static numbers in the place of the operands would be an error.
static bool is_static_error(elaborator *e, const trace_step *s) {
  scalar_type t = step_at(e, s->operands[0])->type;
  const char *hint;
  for (uint32_t i = 0; i < s->operand_count; i++)
    if (!known_data(e, s->operands[i], true))
      return true;
  for (uint64_t i = 0; i < s->batch; i++) {
    scalar_bits a = number_at(e, s->operands[0], i, s->batch), b = {.bytes = {0}};
    if (s->operand_count == 2)
      b = number_at(e, s->operands[1], i, s->batch);
    if (scalar_static_error(s->scalar, t, &a, &b, &hint))
      return true;
  }
  return false;
}

const number_range *find_ranges(elaborator *e) {
  while (e->ledger->ranges.count < e->out->steps.count)
    vec_push(e->memory, &e->ledger->ranges, ((number_range){0, 0}));
  trace_find_ranges(e->out, e->ledger->ranges_found, NULL, e->ledger->ranges.items);
  e->ledger->ranges_found = e->out->steps.count;
  return e->ledger->ranges.items;
}

// Whether a step from `first` on that depends on no argument would be an error if its numbers were
// static.
static bool have_static_errors(elaborator *e, size_t first) {
  trace *t = e->out;
  size_t count = t->steps.count;
  const number_range *r = find_ranges(e);
  for (size_t id = first; id < count; id++) {
    const trace_step s = t->steps.items[id];
    checked_places l;
    if (s.shadow)
      continue;
    if (places_of_step(e, &s, &l) && step_at(e, l.places)->known) {
      bool inside = trace_is_below(r[l.places], l.length);
      if (!inside && (!known_data(e, l.places, true) || has_wrong_places(e, &s)))
        return true;
    } else if (s.known && s.op == TRACE_SCALAR) {
      scalar_type of = step_at(e, s.operands[0])->type;
      bool integers = CLASS_OF(of) & CLASS_INTEGER;
      if (integers && !is_safe(&s, of, r[s.operands[s.operand_count - 1]], r[id]) &&
          is_static_error(e, &s))
        return true;
    }
  }
  return false;
}

// ---- the trial -------------------------------------------------------------------------------

static uint64_t product_within(uint64_t a, uint64_t b) {
  uint64_t n;
  return __builtin_mul_overflow(a, b, &n) ? UINT64_MAX : n;
}

// How many elements would be written out one by one.
static uint64_t written_elements(const value *v) {
  size_t count;
  value *const *parts = value_parts(v, &count);
  uint64_t most = 1;
  for (size_t i = 0; i < count; i++) {
    uint64_t inside = written_elements(parts[i]);
    most = inside > most ? inside : most;
  }
  return is_list(v) ? product_within(v->u.array.length, most) : most;
}

// Whether a condition is made of i alone.
static bool is_choice(const elaborator *e, size_t first) {
  for (size_t id = first; id < e->out->steps.count; id++) {
    const trace_step *s = &e->out->steps.items[id];
    if (s->op == TRACE_SELECT && step_at(e, s->operands[0])->known)
      return true;
  }
  return false;
}

static bool depends_on_arguments(const elaborator *e, const value *v) {
  size_t count, i = 0;
  value *const *parts = value_parts(v, &count);
  while (i < count && !depends_on_arguments(e, parts[i]))
    i++;
  return v->kind == VALUE_DYNAMIC ? !step_at(e, v->u.step)->known : i < count;
}

bool is_list(const value *v) {
  return v->kind == VALUE_LIST || (v->kind == VALUE_ARRAY && v->u.array.listed);
}

value *as_listed(elaborator *e, value *array) {
  value *v = make_array(e, array->u.array.length, array->u.array.element);
  v->u.array.listed = array->u.array.length > 0;
  return v;
}

static value *try_mapped(elaborator *e, void *with) {
  const number_call *c = with;
  return map_generator(e, c->of, c->function, c->with);
}

value *map_counted(elaborator *e, const generator *g, element_function *f, void *with) {
  bool items = g->list && g->list->kind == VALUE_LIST;
  if (g->count < LEAST_COUNT || e->ledger->counted_in_vain > MOST_IN_VAIN || e->out->wants_laws ||
      (items && !are_static(g->list->u.parts.items, g->list->u.parts.count)))
    return NULL;
  const elaborator before = *e;
  const ledger noted = *e->ledger;
  size_t first = e->out->steps.count, checks = e->out->checks.count;
  if (!e->counted) {  // all elements one by one would take more steps
    e->limits.steps = noted.steps + (e->limits.steps - noted.steps) / LEAST_ELEMENTS;
    if (e->limits.calls > e->depth + MOST_CALLS)
      e->limits.calls = e->depth + MOST_CALLS;
  }
  e->counted = product_within(e->counted ? e->counted : 1, g->count);
  trial here = {.counted = true};
  value *v = attempt(e, &here, try_mapped, &(number_call){g, f, with});
  uint64_t least = is_choice(e, first) ? LEAST_CHOSEN : LEAST_ELEMENTS;
  bool good = v && product_within(written_elements(v->u.array.element), e->counted) >= least &&
              depends_on_arguments(e, v) && !have_static_errors(e, first);
  *e = before;
  if (good)
    return as_listed(e, v);
  e->ledger->steps = noted.steps;
  if (e->ledger->kept == noted.kept && e->out->checks.count == checks)
    forget_steps(e, first, noted.tables);
  return NULL;
}
