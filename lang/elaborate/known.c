// What depends on no argument is known while elaborating, however it was made: steps of constants
// are executed where a static value is asked for, and where static lists are given to what is built
// in.
//
//   reverse [1, 2, 3]     concat and bmmc write steps on packed lists, and are given a list back:
//   [xs[i] | i <- reverse [1, 2, 3]]     ... so that each i is static
//   xs[sum (iota 100)]    the index is a step; it is executed, with those that it is made of
#include "lang/elaborate/elaborator.h"
#include "lang/elaborate/memo.h"
#include "lang/execute/execute.h"

// More is not looked for: elements of steps, for each value that is asked for.
enum { MOST_KNOWN = 1 << 20, STEP_COST = 64 };

static const void *data_of(const elaborator *e, value_id id) {
  return id < e->ledger->known.count ? e->ledger->known.items[id] : NULL;
}

// The data of a step that is found out to be none while a level is open.
static const char unknown;

static void set_data(elaborator *e, value_id id, const void *data) {
  while (e->ledger->known.count <= id)
    vec_push(e->memory, &e->ledger->known, NULL);
  e->ledger->known.items[id] = data;
}

static const void *execute(elaborator *e, const trace_step *s) {
  step_watch watch = {.interrupted = e->limits.interrupted};
  const void **in = NEW_ARRAY(e->memory, const void *, s->operand_count);
  void *out = arena_alloc(e->memory, trace_step_count(s) * scalar_types[s->type].size + 1);
  for (uint32_t i = 0; i < s->operand_count; i++)
    in[i] = data_of(e, s->operands[i]);
  return execute_step(&watch, e->out, s, in, out, NULL, NULL) ? out : NULL;
}

// Whether the places, or keys, of the step are wrong: an error of the run then, if it has results
// of it.
bool has_wrong_places(elaborator *e, const trace_step *s) {
  trace_step wrong;
  if (!find_place_check(e, s, &wrong))
    return false;
  const int64_t *first = execute(e, &wrong);
  return !first || *first != INT64_MAX;
}

// Whether it is an element of a function that is elaborated for all, even if there is one of them.
static bool is_in_open_level(const elaborator *e, value_id id) {
  bool number = step_at(e, id)->op == TRACE_INSTANCE;
  for (const open_level *l = e->levels; l; l = l->outer)
    if (id >= l->first && (id < l->last || number))
      return true;
  return false;
}

typedef struct visit {
  value_id id;
  uint32_t next;  // operand
} visit;

const void *known_data(elaborator *e, value_id id, bool inside) {
  VEC(visit) visits = {0};
  uint64_t cost = 0;
  vec_push(e->memory, &visits, ((visit){id, 0}));
  memo_look_at(e, id);
  while (visits.count) {
    visit *v = &visits.items[visits.count - 1];
    const trace_step *s = step_at(e, v->id);
    bool hidden = data_of(e, v->id) == &unknown || is_in_open_level(e, v->id);
    if (hidden && !inside) {
      for (size_t i = 0; i < visits.count; i++) {
        set_data(e, visits.items[i].id, &unknown);
        vec_push(e->memory, &e->ledger->unknown, visits.items[i].id);
      }
      return NULL;
    } else if (data_of(e, v->id) && data_of(e, v->id) != &unknown) {
      visits.count--;
    } else if (v->next < s->operand_count) {
      value_id operand = s->operands[v->next++];
      memo_look_at(e, operand);
      vec_push(e->memory, &visits, ((visit){operand, 0}));
    } else {
      uint64_t count = trace_step_count(s);
      cost += count + STEP_COST;
      const void *data =
          count > MOST_KNOWN || cost > MOST_KNOWN || has_wrong_places(e, s) ? NULL : execute(e, s);
      if (!data)
        return NULL;
      set_data(e, v->id, data);
    }
  }
  return data_of(e, id);
}

static value *scalar_of(elaborator *e, value_id id, uint64_t index) {
  const trace_step *s = step_at(e, id);
  size_t size = scalar_types[s->type].size;
  scalar_bits bits = {.bytes = {0}};
  memcpy(&bits, (const char *)data_of(e, id) + index * size, size);
  return make_scalar(e, s->type, bits);
}

value *static_scalar(elaborator *e, value *v) {
  if (v->kind != VALUE_DYNAMIC)
    return v;
  const trace_step *s = step_at(e, v->u.step);
  return s->known && s->batch == 1 && !s->rank && known_data(e, v->u.step, false)
             ? scalar_of(e, v->u.step, 0)
             : v;
}

int64_t static_integer(elaborator *e, value *v, const char *what) {
  v = static_scalar(e, v);
  if (v->kind != VALUE_SCALAR)
    fail_dynamic(e, v, what);
  return v->u.scalar.bits.i64;
}

static bool stays_static(const value *v) {
  uint32_t left = MOST_STATIC;
  return is_static(v, &left);
}

// Whether the arrays inside are known, and there are elements, but not too many.
static bool is_known(elaborator *e, const value *v) {
  size_t count;
  value *const *parts = value_parts(v, &count);
  if (v->kind == VALUE_DYNAMIC) {
    const trace_step *s = step_at(e, v->u.step);
    uint64_t elements = trace_step_count(s);
    return s->known && !s->trusted && s->batch == 1 && elements && elements <= MOST_STATIC &&
           known_data(e, v->u.step, false);
  }
  for (size_t i = 0; i < count; i++)
    if (!is_known(e, parts[i]))
      return false;
  return v->kind == VALUE_ARRAY || v->kind == VALUE_TUPLE;
}

// Element `index` of what is inside of an array.
static value *known_element(elaborator *e, const value *v, uint64_t index) {
  if (v->kind == VALUE_DYNAMIC)
    return scalar_of(e, v->u.step, index);
  bool list = v->kind == VALUE_ARRAY;
  value *n = list ? make_parts(e, VALUE_LIST, (uint32_t)v->u.array.length)
                  : make_parts(e, VALUE_TUPLE, v->u.parts.count);
  for (uint32_t i = 0; i < n->u.parts.count; i++)
    n->u.parts.items[i] = list ? known_element(e, v->u.array.element, index * v->u.array.length + i)
                               : known_element(e, v->u.parts.items[i], index);
  return n;
}

// Element `index`, with known scalars in the place of known steps.
static value *listed_element(elaborator *e, value *v, uint64_t index) {
  size_t count;
  value **parts, *const *from = value_parts(v, &count);
  if (v->kind == VALUE_DYNAMIC) {
    value *x = move_value(e, v, (trace_step){.op = TRACE_ELEMENT, .number = index});
    return step_at(e, v->u.step)->known ? static_scalar(e, x) : x;
  }
  value *n = copy_with_parts(e, v, &parts);
  for (size_t i = 0; i < count; i++)
    parts[i] = listed_element(e, from[i], index);
  return n;
}

value *as_list(elaborator *e, value *v) {
  if (v->kind != VALUE_ARRAY || !v->u.array.listed)
    return v;
  if (v->u.array.length > UINT32_MAX)
    fail(e, "this list has more than 2^32 elements");
  value *list = make_parts(e, VALUE_LIST, (uint32_t)v->u.array.length);
  for (uint32_t i = 0; i < list->u.parts.count; i++)
    list->u.parts.items[i] = listed_element(e, v->u.array.element, i);
  return list;
}

// Whether there are static lists, and nothing that is not known, among the arguments of a call.
static bool has_static_lists(elaborator *e, const closure *c, bool *functions) {
  bool lists = false;
  *functions = false;
  for (uint32_t i = 0; i < c->given; i++) {
    const value *a = c->arguments[i];
    *functions |= a->kind == VALUE_FUNCTION;
    if (a->kind != VALUE_FUNCTION && !stays_static(a) && !is_known(e, a))
      return false;
    lists |= a->kind == VALUE_LIST && a->u.parts.count;
  }
  return lists;
}

void forget_steps(elaborator *e, size_t first, uint64_t tables) {
  e->out->steps.count = first;
  ledger *l = e->ledger;
  l->tables = tables;
  l->known.count = l->known.count < first ? l->known.count : first;
  l->ranges_found = l->ranges_found < first ? l->ranges_found : first;
}

value *run_builtin(elaborator *e, const closure *c) {
  size_t first = e->out->steps.count;
  uint64_t tables = e->ledger->tables;
  value *v = c->row->run(e, c->row, c->arguments, c->instance);
  bool functions;
  if (v->kind != VALUE_ARRAY || !has_static_lists(e, c, &functions) || !is_known(e, v))
    return v;
  v = known_element(e, v, 0);
  if (!functions)  // nobody else has seen these steps
    forget_steps(e, first, tables);
  return v;
}
