// What programs promise:
//
//   associative op xs     is op, and the promise that (x op y) op z = x op (y op z) for elements such
//                         as those of xs
//
// A run takes the promise at its word. Where laws are wanted (`permc test`), it is tried on small
// values, all at once, as map would do it:
//
//   trial      0      1      2      3      4      5  ...        the sums of their ranks increase
//   x          0      0      0      1      0      0
//   y          0      0      1      0      0      0
//   z          0      1      0      0     -1      2
//
// Numbers are ranked 0, 1, -1, 2, -2, ...; floats are not looked at: their operators are
// associative within rounding at best. Where an index is outside, what op makes is nothing.
#include "lang/elaborate/elaborator.h"

#include "core/number.h"

enum { MOST_LAWS = 64, MOST_TRIALS = 1 << 12, LEAST_TRIALS = 1 << 6, MOST_VALUES = 16 };
enum { MOST_OPERANDS = 3 };

typedef struct law {
  value *operator;
  uint64_t operands;
  uint64_t components, scalars;  // of an operand: its arrays, and all its scalars
  bool exact;                    // no floats
  uint64_t trials;
  uint32_t values;         // that each scalar takes
  unsigned char *ranks;    // trials x operands x scalars
  uint64_t operand, next;  // while tables are made: which, and its next scalar
} law;

// ---- where -----------------------------------------------------------------------------------

static bool same_function(const closure *a, const closure *b) {
  return a->code == b->code && a->row == b->row && a->foreign == b->foreign &&
         a->captures == b->captures && a->given == b->given &&
         (!a->given || !memcmp(a->arguments, b->arguments, a->given * sizeof(value *)));
}

// Where the program gives the operator to a function of the library; else, where it calls that.
static span place_of_operator(const elaborator *e, const closure *operator, const char ** name) {
  const active_call *c = e->calls;
  while (c && c->outer && e->d->sources.items[c->where.file].library)
    c = c->outer;
  *name = c && c->closure->code ? c->name : NULL;
  for (uint32_t i = 0; c && i < c->closure->given; i++) {
    const value *given = c->closure->arguments[i];
    if (given->kind == VALUE_FUNCTION && same_function(&given->u.function, operator) &&
        c->closure->places)
      return c->closure->places[i];
  }
  return c ? c->where : e->where;
}

static bool is_known(const elaborator *e, const closure *operator) {
  for (size_t i = 0; i < e->ledger->promised.count; i++)
    if (same_function(e->ledger->promised.items[i], operator))
      return true;
  return e->ledger->promised.count >= MOST_LAWS;
}

// ---- trials ----------------------------------------------------------------------------------

// How many values each scalar takes so that there are at most so many trials; 1: draw them.
static uint32_t values_for(uint64_t digits, uint64_t most, uint64_t *trials) {
  for (uint32_t values = MOST_VALUES; values > 1; values--) {
    uint64_t count = 1;
    for (uint64_t i = 0; i < digits && count <= most; i++)
      count *= values;
    *trials = count;
    if (count <= most)
      return values;
  }
  *trials = most;
  return 1;
}

static uint32_t sum_of_ranks(uint64_t number, uint64_t digits, uint32_t values) {
  uint32_t sum = 0;
  for (uint64_t i = 0; i < digits; i++, number /= values)
    sum += (uint32_t)(number % values);
  return sum;
}

// All of them, those of small ranks first.
static void list_trials(law *l, uint64_t digits) {
  uint64_t next = 0;
  for (uint32_t sum = 0; next < l->trials; sum++)
    for (uint64_t number = 0; number < l->trials; number++) {
      if (sum_of_ranks(number, digits, l->values) != sum)
        continue;
      uint64_t rest = number;
      for (uint64_t i = digits; i-- > 0; rest /= l->values)
        l->ranks[next * digits + i] = (unsigned char)(rest % l->values);
      next++;
    }
}

// Large elements: the first has zeros, each is larger than the one before it, as a rule.
static void draw_trials(law *l, uint64_t digits) {
  uint64_t seed = 0;
  for (uint64_t t = 0; t < l->trials; t++)
    for (uint64_t i = 0; i < digits; i++) {
      seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      l->ranks[t * digits + i] = (unsigned char)((seed >> 33) % (1 + t * MOST_VALUES / l->trials));
    }
}

static void find_trials(elaborator *e, law *l) {
  uint64_t digits = l->operands * l->scalars, most = MOST_TRIALS / (e->batch ? e->batch : 1);
  if (l->scalars > MOST_VALUES)
    most = most * MOST_VALUES / l->scalars;
  l->values = values_for(digits, most < LEAST_TRIALS ? LEAST_TRIALS : most, &l->trials);
  l->ranks = NEW_ARRAY(e->memory, unsigned char, l->trials *digits);
  if (l->values > 1)
    list_trials(l, digits);
  else
    draw_trials(l, digits);
}

static int64_t value_of_rank(scalar_type t, unsigned rank) {
  if (scalar_types[t].kind == KIND_BOOL)
    return rank & 1;
  if (scalar_types[t].kind == KIND_UNSIGNED)
    return rank;
  return rank & 1 ? (int64_t)(rank / 2 + 1) : -(int64_t)(rank / 2);
}

// ---- elements ----------------------------------------------------------------------------------

static value_id measure_component(elaborator *e, value_id id, void *with) {
  law *l = with;
  const trace_step *s = &e->out->steps.items[id];
  l->components++;
  l->scalars += product_of(s->dims, s->rank);
  l->exact = l->exact && (scalar_types[s->type].kind == KIND_BOOL ||
                          scalar_types[s->type].kind == KIND_SIGNED ||
                          scalar_types[s->type].kind == KIND_UNSIGNED);
  return id;
}

// The component of an operand in all trials: a table.
static value_id make_table(elaborator *e, value_id id, void *with) {
  law *l = with;
  trace_step like = e->out->steps.items[id];
  uint64_t count = product_of(like.dims, like.rank), size = scalar_types[like.type].size;
  char *table = arena_alloc(e->memory, l->trials * count * size + 1);
  for (uint64_t t = 0; t < l->trials; t++)
    for (uint64_t i = 0; i < count; i++) {
      unsigned rank = l->ranks[(t * l->operands + l->operand) * l->scalars + l->next + i];
      scalar_bits bits = scalar_from_i64(like.type, value_of_rank(like.type, rank));
      memcpy(table + (t * count + i) * size, &bits, size);
    }
  l->next += count;
  uint64_t dims[1 + MOST_DIMENSIONS] = {l->trials};
  for (uint32_t i = 0; i < like.rank; i++)
    dims[i + 1] = like.dims[i];
  trace_step s = {.op = TRACE_TABLE,
                  .type = like.type,
                  .rank = like.rank + 1,
                  .dims = dims,
                  .number = e->ledger->tables++,
                  .table = table};
  return emit(e, s, 0, NULL);
}

static value *operand_values(elaborator *e, law *l, value *element, uint64_t operand) {
  l->operand = operand;
  l->next = 0;
  return map_steps(e, element, make_table, l);
}

static value *apply_both_ways(elaborator *e, value *operands, void *with) {
  const law *l = with;
  value *op = l->operator, ** x = operands->u.parts.items;
  value *both = make_parts(e, VALUE_TUPLE, 2), **side = both->u.parts.items;
  side[0] = apply(e, apply(e, op, apply(e, apply(e, op, x[0]), x[1])), x[2]);
  side[1] = apply(e, apply(e, op, x[0]), apply(e, apply(e, op, x[1]), x[2]));
  return both;
}

typedef VEC(value_id) value_ids;

static value_id collect(elaborator *e, value_id id, void *with) {
  vec_push(e->memory, (value_ids *)with, id);
  return id;
}

// ---- laws --------------------------------------------------------------------------------------

// All arrays of what the operands are, then of both sides. False: sides that cannot be compared.
static bool collect_results(elaborator *e, law *l, value *element, value_ids *operands,
                            value_ids *sides) {
  value *all = make_parts(e, VALUE_TUPLE, (uint32_t)l->operands);
  for (uint64_t i = 0; i < l->operands; i++) {
    all->u.parts.items[i] = operand_values(e, l, element, i);
    map_steps(e, all->u.parts.items[i], collect, &operands[i]);
  }
  value *both = map_elements(e, make_array(e, l->trials, all), apply_both_ways, l);
  for (int i = 0; i < 2; i++)
    map_steps(e, both->u.array.element->u.parts.items[i], collect, &sides[i]);
  l->exact = true;
  for (size_t i = 0; i < sides[0].count; i++)
    measure_component(e, sides[0].items[i], l);
  return l->exact && sides[0].count == sides[1].count;
}

// The places, or keys, that trials need to be right, a row for each, of the steps from `first` on.
static void collect_places(elaborator *e, const law *l, value_id first, trace_law *t,
                           value_ids *rows) {
  uint64_t all = e->batch * l->trials;
  for (value_id id = first, end = (value_id)e->out->steps.count; id < end; id++) {
    checked_places p;
    if (!places_of_step(e, step_at(e, id), &p) || step_at(e, p.places)->trusted)
      continue;
    const trace_step *s = step_at(e, p.places);
    uint64_t dims[] = {l->trials, trace_step_count(s) / all};
    if (s->batch % all)
      continue;  // no trial's own
    vec_push(e->memory, &t->lengths, p.length);
    vec_push(e->memory, rows, emit_elements(e, p.places, e->batch, 2, dims));
  }
}

static void add_law(elaborator *e, law *l, value *element) {
  value_ids operands[MOST_OPERANDS] = {0}, sides[2] = {0}, places = {0};
  value_id first = (value_id)e->out->steps.count;
  trace_law t = {.operands = (uint32_t)l->operands,
                 .components = (uint32_t)l->components,
                 .trials = l->trials};
  if (!collect_results(e, l, element, operands, sides))
    return;
  t.sides = (uint32_t)sides[0].count;
  collect_places(e, l, first, &t, &places);
  t.where = place_of_operator(e, &l->operator->u.function, &t.name);
  for (uint64_t k = 0; k < t.components; k++)
    for (uint32_t i = 0; i < t.operands; i++)
      vec_push(e->memory, &e->ledger->law_results, operands[i].items[k]);
  for (uint32_t k = 0; k < t.sides; k++)
    for (int i = 0; i < 2; i++)
      vec_push(e->memory, &e->ledger->law_results, sides[i].items[k]);
  for (size_t i = 0; i < places.count; i++)
    vec_push(e->memory, &e->ledger->law_results, places.items[i]);
  vec_push(e->memory, &e->out->laws, t);
}

// Tries the law on operands that are like x.
static void try_law(elaborator *e, law l, value *x) {
  vec_push(e->memory, &e->ledger->promised, &l.operator->u.function);
  l.exact = true;
  value *element = lift(e, as_data(e, x));
  map_steps(e, element, measure_component, &l);
  if (!l.exact || !l.scalars || l.scalars > MOST_TRIALS)
    return;
  find_trials(e, &l);
  add_law(e, &l, element);
}

static bool tries_laws(const elaborator *e, const value *operator) {
  return e->out->wants_laws && e->batch && !e->trial && !is_known(e, &operator->u.function);
}

void promise_associative(elaborator *e, value *operator, value * elements) {
  law l = {.operator= operator, .operands = 3 };
  if (tries_laws(e, operator) && length_of(elements))
    try_law(e, l, element_at(e, elements, 0));
}

// As rows, one for each triple of each instance. (At the end: a call that is replayed for another
// batch has what it promises there already.)
void add_laws(elaborator *e) {
  trace *t = e->out;
  for (size_t i = 0; i < e->ledger->law_results.count; i++) {
    const trace_step *s = &t->steps.items[e->ledger->law_results.items[i]];
    uint64_t dims[] = {s->batch * s->dims[0], product_of(s->dims, s->rank) / s->dims[0]};
    value_id rows = emit_elements(e, e->ledger->law_results.items[i], 1, s->rank > 1 ? 2 : 1, dims);
    vec_push(e->memory, &t->results, rows);
  }
}
