// Checking and printing of Traces. See trace.h.
#include "lang/trace.h"

#include "core/f2.h"
#include "core/number.h"

#include <inttypes.h>

const char *const trace_op_names[TRACE_OP_COUNT] = {
#define ROW(id, name) name,
    TRACE_OPS(ROW)
#undef ROW
};

// ---- verification -------------------------------------------------------------------------------
//
// A checker returns NULL or what is wrong with the step, without its number.

typedef struct checker {
  arena *memory;
  const trace *trace;
  const trace_step *step;
} checker;

static const trace_step *operand_step(const checker *c, uint32_t number) {
  return &c->trace->steps.items[c->step->operands[number]];
}

uint64_t trace_step_count(const trace_step *s) { return s->batch * product_of(s->dims, s->rank); }

uint32_t trace_first_moved(trace_op op) {
  return op == TRACE_SELECT || op == TRACE_GATHER || op == TRACE_SCATTER ? 1 : 0;
}

bool trace_size_fits(const trace_step *s) {
  uint64_t bytes = scalar_types[s->type].size;
  bool empty = s->batch == 0, overflow = __builtin_mul_overflow(bytes, s->batch, &bytes);
  for (uint32_t i = 0; i < s->rank; i++) {
    empty |= s->dims[i] == 0;
    overflow |= __builtin_mul_overflow(bytes, s->dims[i], &bytes);
  }
  return empty || (!overflow && bytes <= INT64_MAX);
}

bool trace_is_checked_permute(const trace *t, const trace_step *s) {
  bool checked = false;
  for (size_t i = 0; i < t->steps.count && s->op == TRACE_SCATTER && s->batch == 1; i++) {
    const trace_step *w = &t->steps.items[i];
    checked = checked ||
              (w->op == TRACE_WRONG && w->scalar == OP_NE && w->operands[0] == s->operands[0] &&
               w->number == s->dims[0] && t->steps.items[w->operands[0]].dims[0] == s->dims[0]);
  }
  return checked;
}

// What each step's elements are: of an argument, by its number, or one of these.
#define CONSTANTS (UINT32_MAX - 1)

static uint32_t step_origin(const trace_step *s, const uint32_t *origins) {
  switch (s->op) {
  case TRACE_ARGUMENT:
    return (uint32_t)s->number;
  case TRACE_SCALAR:
  case TRACE_CONVERT:
  case TRACE_ROOT:
  case TRACE_EXTERN:
  case TRACE_INSTANCE:
  case TRACE_IOTA:
  case TRACE_PLACES:
  case TRACE_COUNT:
  case TRACE_WRONG:
  case TRACE_GROUP:
  case TRACE_FOLD:
    return TRACE_COMPUTED;
  default:
    break;
  }
  uint32_t origin = CONSTANTS;
  for (uint32_t i = trace_first_moved(s->op); i < s->operand_count; i++) {
    uint32_t other = origins[s->operands[i]];
    if (origin == CONSTANTS)
      origin = other;
    else if (other != CONSTANTS && other != origin)
      return TRACE_COMPUTED;
  }
  return origin;
}

bool trace_find_origins(const trace *t, uint32_t *origins) {
  FREED uint32_t *steps = malloc((t->steps.count + 1) * sizeof *steps);
  for (size_t i = 0; steps && i < t->steps.count; i++)
    steps[i] = step_origin(&t->steps.items[i], steps);
  for (size_t i = 0; steps && i < t->results.count; i++) {
    origins[i] = steps[t->results.items[i]];
    if (origins[i] == CONSTANTS)
      origins[i] = TRACE_COMPUTED;
  }
  return steps != NULL;
}

static bool same_dims(const uint64_t *a, const uint64_t *b, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (a[i] != b[i])
      return false;
  return true;
}

// Instance i of the step reads instance i / (batch / operand's batch).
static const char *check_batch(const checker *c, uint32_t number) {
  uint64_t whole = c->step->batch, part = operand_step(c, number)->batch;
  if (whole == 0 || (part != 0 && whole % part == 0))
    return NULL;
  return arena_printf(c->memory,
                      "the batch of operand %" PRIu32 ", %" PRIu64 ", does not divide %" PRIu64,
                      number, part, whole);
}

static const char *check_type(const checker *c, uint32_t number, scalar_type expected) {
  scalar_type found = operand_step(c, number)->type;
  if (found == expected)
    return NULL;
  return arena_printf(c->memory, "operand %" PRIu32 " is %s, not %s", number,
                      scalar_types[found].name, scalar_types[expected].name);
}

static const char *check_scalar_operands(const checker *c) {
  for (uint32_t i = 0; i < c->step->operand_count; i++) {
    if (operand_step(c, i)->rank != 0)
      return arena_printf(c->memory, "operand %" PRIu32 " has rank %" PRIu32 ", not 0", i,
                          operand_step(c, i)->rank);
  }
  return c->step->rank == 0 ? NULL : "the result's rank is not 0";
}

static const char *check_scalar(const checker *c) {
  const trace_step *s = c->step;
  if ((unsigned)s->scalar >= SCALAR_OP_COUNT)
    return "there is no such scalar operation";
  const scalar_op_row *row = &scalar_ops[s->scalar];
  if (s->operand_count != (uint32_t)row->arity)
    return arena_printf(c->memory, "%s takes %d operands", row->name, row->arity);
  scalar_type type = operand_step(c, 0)->type;
  if (!(row->operands & CLASS_OF(type)))
    return arena_printf(c->memory, "%s has no meaning for %s", row->name, scalar_types[type].name);
  const char *wrong = NULL;
  if (row->arity == 2)
    wrong = check_type(c, 1, s->scalar == OP_POWI ? SCALAR_I64 : type);
  if (!wrong && scalar_result_of(s->scalar, type) != s->type)
    wrong = arena_printf(c->memory, "%s of %s does not give %s", row->name, scalar_types[type].name,
                         scalar_types[s->type].name);
  return wrong ? wrong : check_scalar_operands(c);
}

static const char *check_select(const checker *c) {
  const char *wrong = check_type(c, 0, SCALAR_BOOL);
  if (!wrong)
    wrong = check_type(c, 1, c->step->type);
  if (!wrong)
    wrong = check_type(c, 2, c->step->type);
  return wrong ? wrong : check_scalar_operands(c);
}

static const char *check_root(const checker *c) {
  if (operand_step(c, 0)->type != SCALAR_I64 || scalar_types[c->step->type].kind != KIND_COMPLEX)
    return "it makes a complex number of an i64";
  if (c->step->number == 0 || c->step->number > INT64_MAX)
    return "the order of the root is not positive";
  return check_scalar_operands(c);
}

static const char *check_convert(const checker *c) {
  bool from_complex = scalar_types[operand_step(c, 0)->type].kind == KIND_COMPLEX;
  if (from_complex && scalar_types[c->step->type].kind != KIND_COMPLEX)
    return "a complex number has no conversion to a real type";
  return check_scalar_operands(c);
}

static const char *check_extern(const checker *c) {
  const trace_step *s = c->step;
  if (s->number >= c->trace->externs.count)
    return "there is no such foreign function";
  const c_function *e = &c->trace->externs.items[s->number];
  if (s->operand_count != e->arity)
    return arena_printf(c->memory, "%s takes %" PRIu32 " operands", e->name, e->arity);
  if (s->type != e->result)
    return arena_printf(c->memory, "%s gives %s", e->name, scalar_types[e->result].name);
  for (uint32_t i = 0; i < e->arity; i++) {
    const char *wrong = check_type(c, i, e->parameters[i]);
    if (wrong)
      return wrong;
  }
  return check_scalar_operands(c);
}

static const char *check_instance(const checker *c) {
  if (c->step->type != SCALAR_I64 || c->step->rank != 0)
    return "the result is not an i64 of rank 0";
  return c->step->number != 0 || c->step->batch == 0 ? NULL : "the modulus is 0";
}

static const char *check_reshape(const checker *c) {
  // (trace_size_fits holds for both, so that these are exact.)
  uint64_t before = trace_step_count(operand_step(c, 0)), after = trace_step_count(c->step);
  return before == after
             ? NULL
             : arena_printf(c->memory, "%" PRIu64 " elements become %" PRIu64, before, after);
}

// [length]s -> [result]s, with the s of both equal. The outer dimensions are checked by the caller.
static const char *check_rows(const checker *c, uint32_t number) {
  const trace_step *o = operand_step(c, number);
  if (c->step->rank == 0 || o->rank != c->step->rank)
    return arena_printf(c->memory, "ranks %" PRIu32 " and %" PRIu32 " are not equal and at least 1",
                        o->rank, c->step->rank);
  return same_dims(o->dims + 1, c->step->dims + 1, o->rank - 1) ? NULL
                                                                : "the trailing dimensions differ";
}

// SPLIT, STITCH, PAIR and UNPAIR: `whole` is the side with [2^k]s, `part` the other.
static const char *check_halves(const checker *c) {
  trace_op op = c->step->op;
  bool pairs = op == TRACE_PAIR || op == TRACE_UNPAIR,
       apart = op == TRACE_SPLIT || op == TRACE_PAIR;
  const trace_step *whole = apart ? operand_step(c, 0) : c->step,
                   *part = apart ? c->step : operand_step(c, 0);
  const char *wrong = check_rows(c, 0);
  if (wrong)
    return wrong;
  uint64_t length = whole->dims[0], mask = c->step->number;
  if (!is_power_of_two(length) || length < 2)
    return arena_printf(c->memory, "%" PRIu64 " is not a power of two of at least 2", length);
  if (mask == 0 || mask >= length)
    return arena_printf(c->memory, "the mask %" PRIu64 " is not in 1 ... %" PRIu64, mask,
                        length - 1);
  if (part->dims[0] != (pairs ? 2 : length / 2))
    return arena_printf(c->memory, "the parts have %" PRIu64 " elements", part->dims[0]);
  uint64_t batch = 0;
  if (__builtin_mul_overflow(whole->batch, pairs ? length / 2 : 2, &batch) || batch != part->batch)
    return arena_printf(c->memory, "batch %" PRIu64 " does not become %" PRIu64,
                        operand_step(c, 0)->batch, c->step->batch);
  return NULL;
}

static const char *check_bmmc(const checker *c) {
  const trace_step *s = c->step;
  const char *wrong = check_rows(c, 0);
  if (wrong)
    return wrong;
  if (s->dims[0] != operand_step(c, 0)->dims[0] || !is_power_of_two(s->dims[0]))
    return arena_printf(c->memory,
                        "%" PRIu64 " elements become %" PRIu64 ", or are no power of two",
                        operand_step(c, 0)->dims[0], s->dims[0]);
  uint32_t n = (uint32_t)__builtin_ctzll(s->dims[0]);
  if (s->number >= s->dims[0])
    return arena_printf(c->memory, "the constant %" PRIu64 " is not below %" PRIu64, s->number,
                        s->dims[0]);
  if (n > 0 && s->rows == NULL)
    return "it has no rows";
  f2_matrix a = {.rows = (int)n, .columns = (int)n};
  for (uint32_t i = 0; i < n; i++) {
    if (s->rows[i] >= s->dims[0])
      return arena_printf(c->memory, "row %" PRIu32 ", %" PRIu64 ", is not below %" PRIu64, i,
                          s->rows[i], s->dims[0]);
    a.row[i] = s->rows[i];
  }
  uint64_t dependent = f2_dependent_rows(a);
  if (dependent)
    return arena_printf(c->memory, "row %d is a sum of earlier rows",
                        63 - __builtin_clzll(dependent));
  return NULL;
}

static const char *check_element(const checker *c) {
  const trace_step *s = c->step, *o = operand_step(c, 0);
  if (o->rank != s->rank + 1 || !same_dims(o->dims + 1, s->dims, s->rank))
    return "the result does not have the shape of the operand's elements";
  if (s->number >= o->dims[0])
    return arena_printf(c->memory, "element %" PRIu64 " of %" PRIu64, s->number, o->dims[0]);
  return NULL;
}

static const char *check_pack(const checker *c) {
  const trace_step *s = c->step;
  if (s->rank == 0 || s->dims[0] != s->operand_count)
    return arena_printf(c->memory, "the result does not hold %" PRIu32 " elements",
                        s->operand_count);
  for (uint32_t i = 0; i < s->operand_count; i++) {
    const trace_step *o = operand_step(c, i);
    if (o->rank != s->rank - 1 || !same_dims(o->dims, s->dims + 1, o->rank))
      return arena_printf(c->memory, "operand %" PRIu32 " does not have the shape of an element",
                          i);
  }
  return NULL;
}

static const char *check_transpose(const checker *c) {
  const trace_step *s = c->step, *o = operand_step(c, 0);
  if (s->rank < 2 || o->rank != s->rank || !same_dims(o->dims + 2, s->dims + 2, s->rank - 2) ||
      o->dims[0] != s->dims[1] || o->dims[1] != s->dims[0])
    return "the result is not the operand with its two outermost dimensions swapped";
  return NULL;
}

static const char *check_slice(const checker *c) {
  const trace_step *s = c->step, *o = operand_step(c, 0);
  const char *wrong = check_rows(c, 0);
  if (wrong)
    return wrong;
  if (s->number > o->dims[0] || s->dims[0] > o->dims[0] - s->number)
    return arena_printf(c->memory, "%" PRIu64 " elements from %" PRIu64 " on, of %" PRIu64,
                        s->dims[0], s->number, o->dims[0]);
  return NULL;
}

static const char *check_concat(const checker *c) {
  uint64_t length = 0;
  for (uint32_t i = 0; i < 2; i++) {
    const char *wrong = check_rows(c, i);
    if (wrong)
      return wrong;
    if (__builtin_add_overflow(length, operand_step(c, i)->dims[0], &length))
      return "the length overflows";
  }
  return length == c->step->dims[0] ? NULL : "the length is not the sum of the operands' lengths";
}

static const char *check_iota(const checker *c) {
  const trace_step *s = c->step;
  return s->type == SCALAR_I64 && s->rank == 1 && s->batch == 1
             ? NULL
             : "the result is not one array of i64";
}

static const char *check_replicate(const checker *c) {
  const trace_step *s = c->step, *o = operand_step(c, 0);
  return s->rank == o->rank + 1 && same_dims(s->dims + 1, o->dims, o->rank)
             ? NULL
             : "the result's elements do not have the operand's shape";
}

// The places of a gather or a scatter: `count` integers.
static const char *check_places(const checker *c, uint64_t count) {
  const trace_step *o = operand_step(c, 0);
  if (!(CLASS_INTEGER & CLASS_OF(o->type)) || o->rank != 1 || o->dims[0] != count)
    return arena_printf(c->memory, "the places are not %" PRIu64 " integers", count);
  return NULL;
}

static const char *check_moved(const checker *c, uint32_t number) {
  const char *wrong = check_type(c, number, c->step->type);
  return wrong ? wrong : check_rows(c, number);
}

static const char *check_gather(const checker *c) {
  const char *wrong = check_moved(c, 1);
  return wrong ? wrong : check_places(c, c->step->dims[0]);
}

static const char *check_scatter(const checker *c) {
  const char *wrong = check_moved(c, 1);
  if (!wrong)
    wrong = check_moved(c, 2);
  if (!wrong && operand_step(c, 2)->dims[0] != c->step->dims[0])
    wrong = "the result does not have the length of what it changes";
  return wrong ? wrong : check_places(c, operand_step(c, 1)->dims[0]);
}

static const char *check_group(const checker *c) {
  const trace_step *s = c->step;
  return s->rank == 1 && scalar_folds(s->scalar, s->type) ? check_scatter(c)
                                                          : "it folds by no operation of its type";
}

static const char *check_keys(const checker *c, scalar_class types) {
  const trace_step *o = operand_step(c, 0);
  if (!(types & CLASS_OF(o->type)) || o->rank != 1)
    return "the operand is not one list of keys";
  return c->step->type == SCALAR_I64 && c->step->rank == 1 ? NULL
                                                           : "the result is not one list of i64";
}

static const char *check_sorted(const checker *c) {
  const trace_step *s = c->step;
  const char *wrong = check_keys(c, s->number ? CLASS_INTEGER : CLASS_ORD);
  if (!wrong && s->dims[0] != operand_step(c, 0)->dims[0])
    wrong = "there is not one place for each key";
  if (!wrong && s->scalar != OP_LE && s->scalar != OP_GE)
    wrong = "it has no order";
  if (!wrong && s->operand_count != 1 && s->operand_count != 2)
    wrong = "it has not one operand, or two";
  const trace_step *o = !wrong && s->operand_count == 2 ? operand_step(c, 1) : NULL;
  if (o && (o->type != SCALAR_I64 || o->rank != 1 || !o->dims[0]))
    wrong = "the offsets are not a list of i64";
  return wrong;
}

static const char *check_wrong(const checker *c) {
  const trace_step *s = c->step, *o = operand_step(c, 0);
  if (!(CLASS_INTEGER & CLASS_OF(o->type)) || o->rank != 1)
    return "the operand is not one list of places";
  if (s->scalar != OP_LT && s->scalar != OP_NE)
    return "it does not say what places must be";
  return s->type == SCALAR_I64 && s->rank == 1 && s->batch == 1 && s->dims[0] == 2
             ? NULL
             : "the result is not two i64";
}

static const char *check_count(const checker *c) {
  const char *wrong = check_keys(c, CLASS_INTEGER);
  return wrong || c->step->dims[0] == c->step->number ? wrong
                                                      : "there is not one count for each key";
}

static const char *check_fold(const checker *c) {
  const trace_step *s = c->step, *xs = operand_step(c, 3);
  for (uint32_t i = 0; i < 3; i++) {
    const char *wrong = check_type(c, i, i < 2 ? SCALAR_I64 : s->type);
    wrong = wrong || !operand_step(c, i)->rank ? wrong : "an operand is not one number";
    if (wrong)
      return wrong;
  }
  if (xs->rank != 1 || s->rank || xs->type != s->type)
    return "it does not make an element of a list";
  return scalar_folds(s->scalar, s->type) ? NULL : "it folds by no operation of its type";
}

static const char *check_broadcast(const checker *c) {
  const trace_step *s = c->step, *o = operand_step(c, 0);
  return s->rank == o->rank && same_dims(s->dims, o->dims, s->rank) ? NULL : "the shape changes";
}

static const char *check_argument(const checker *c) {
  return c->step->batch == 1 ? NULL : "the batch is not 1";
}

static const char *check_constant(const checker *c) {
  return c->step->batch == 1 && c->step->rank == 0 ? NULL : "the result is not one scalar";
}

static const char *check_table(const checker *c) {
  return !c->step->table ? "it has no elements" : check_argument(c);
}

enum { ANY_COUNT = -1 };

static const struct {
  const char *(*check)(const checker *);
  int operands;        // ANY_COUNT: the checker looks
  bool same_type;      // the operands' types are the result's
  bool changes_batch;  // else those of the operands divide it
} checks[TRACE_OP_COUNT] = {
    [TRACE_ARGUMENT] = {check_argument, 0, false, false},
    [TRACE_CONSTANT] = {check_constant, 0, false, false},
    [TRACE_TABLE] = {check_table, 0, false, false},
    [TRACE_SCALAR] = {check_scalar, ANY_COUNT, false, false},
    [TRACE_SELECT] = {check_select, 3, false, false},
    [TRACE_CONVERT] = {check_convert, 1, false, false},
    [TRACE_ROOT] = {check_root, 1, false, false},
    [TRACE_EXTERN] = {check_extern, ANY_COUNT, false, false},
    [TRACE_INSTANCE] = {check_instance, 0, false, false},
    [TRACE_BROADCAST] = {check_broadcast, 1, true, false},
    [TRACE_RESHAPE] = {check_reshape, 1, true, true},
    [TRACE_SPLIT] = {check_halves, 1, true, true},
    [TRACE_STITCH] = {check_halves, 1, true, true},
    [TRACE_PAIR] = {check_halves, 1, true, true},
    [TRACE_UNPAIR] = {check_halves, 1, true, true},
    [TRACE_BMMC] = {check_bmmc, 1, true, false},
    [TRACE_ELEMENT] = {check_element, 1, true, false},
    [TRACE_PACK] = {check_pack, ANY_COUNT, true, false},
    [TRACE_TRANSPOSE] = {check_transpose, 1, true, false},
    [TRACE_SLICE] = {check_slice, 1, true, false},
    [TRACE_CONCAT] = {check_concat, 2, true, false},
    [TRACE_IOTA] = {check_iota, 0, false, false},
    [TRACE_REPLICATE] = {check_replicate, 1, true, false},
    [TRACE_GATHER] = {check_gather, 2, false, false},
    [TRACE_SCATTER] = {check_scatter, 3, false, false},
    [TRACE_PLACES] = {check_sorted, ANY_COUNT, false, false},
    [TRACE_GROUP] = {check_group, 3, false, false},
    [TRACE_FOLD] = {check_fold, 4, false, false},
    [TRACE_COUNT] = {check_count, 1, false, false},
    [TRACE_WRONG] = {check_wrong, 1, false, true},
};

static const char *check_step(const checker *c, size_t id) {
  const trace_step *s = c->step;
  if ((unsigned)s->type >= SCALAR_COUNT)
    return "there is no such element type";
  if (!trace_size_fits(s))
    return "the size of the result overflows";
  if (checks[s->op].operands != ANY_COUNT && s->operand_count != (uint32_t)checks[s->op].operands)
    return arena_printf(c->memory, "it has %" PRIu32 " operands, not %d", s->operand_count,
                        checks[s->op].operands);
  for (uint32_t i = 0; i < s->operand_count; i++) {
    if (s->operands[i] >= id)
      return arena_printf(c->memory, "operand %%%" PRIu32 " does not precede it", s->operands[i]);
    const char *wrong = checks[s->op].same_type ? check_type(c, i, s->type) : NULL;
    if (wrong)
      return wrong;
  }
  const char *wrong = checks[s->op].check(c);
  for (uint32_t i = 0; i < s->operand_count && !wrong && !checks[s->op].changes_batch; i++)
    wrong = check_batch(c, i);
  return wrong;
}

const char *trace_verify(arena *a, const trace *t) {
  for (size_t id = 0; id < t->steps.count; id++) {
    const trace_step *s = &t->steps.items[id];
    if ((unsigned)s->op >= TRACE_OP_COUNT)
      return arena_printf(a, "step %%%zu: there is no such operation", id);
    checker c = {a, t, s};
    const char *wrong = check_step(&c, id);
    if (wrong)
      return arena_printf(a, "step %%%zu (%s): %s", id, trace_op_names[s->op], wrong);
  }
  for (size_t i = 0; i < t->results.count; i++) {
    value_id id = t->results.items[i];
    if (id >= t->steps.count)
      return arena_printf(a, "result %zu: there is no step %%%" PRIu32, i, id);
    if (t->steps.items[id].batch != 1)
      return arena_printf(a, "result %zu: the batch of %%%" PRIu32 " is not 1", i, id);
  }
  return NULL;
}

// ---- printing -----------------------------------------------------------------------------------

void trace_print_constant(text *out, scalar_type type, const scalar_bits *v) {
  int64_t whole;
  uint64_t natural;
  double parts[2];
  int digits = scalar_types[type].size == 2 ? 5 : type == SCALAR_F32 || type == SCALAR_C64 ? 9 : 17;
  switch (scalar_types[type].kind) {
  case KIND_BOOL:
    text_string(out, v->b ? "true" : "false");
    break;
  case KIND_SIGNED:
    scalar_convert(type, SCALAR_I64, 1, v, &whole);
    text_printf(out, "%" PRId64, whole);
    break;
  case KIND_UNSIGNED:
    scalar_convert(type, SCALAR_U64, 1, v, &natural);
    text_printf(out, "%" PRIu64, natural);
    break;
  case KIND_FLOAT:
    scalar_convert(type, SCALAR_F64, 1, v, parts);
    text_printf(out, "%.*g", digits, parts[0]);
    break;
  case KIND_COMPLEX:
    scalar_convert(type, SCALAR_C128, 1, v, parts);
    text_printf(out, "%.*g%+.*gi", digits, parts[0], digits, parts[1]);
    break;
  }
}

static void print_rows(text *out, const trace_step *s) {
  text_string(out, " [");
  for (uint32_t i = 0; s->rank > 0 && i < 63 && s->dims[0] >> (i + 1) != 0; i++)
    text_printf(out, i ? " %" PRIu64 : "%" PRIu64, s->rows[i]);
  text_printf(out, "] %" PRIu64, s->number);
}

// Its number and its first elements.
static void print_table(text *out, const trace_step *s) {
  enum { SHOWN = 4 };
  size_t size = scalar_types[s->type].size;
  uint64_t count = trace_step_count(s);
  text_printf(out, " %" PRIu64 ":", s->number);
  for (uint64_t i = 0; i < count && i < SHOWN; i++) {
    scalar_bits element = {{0}};
    memcpy(&element, (const char *)s->table + i * size, size);
    text_string(out, " ");
    trace_print_constant(out, s->type, &element);
  }
  text_string(out, count > SHOWN ? " ..." : "");
}

// ": rotation by 5".
static void print_known_places(text *out, const trace_places *p) {
  if (!p || (!p->is_permutation && !p->is_recognised))
    return;
  text_string(out, ": ");
  if (p->is_recognised && movement_is_simple(&p->moves))
    movement_print(out, &p->moves);
  else
    text_string(out, p->is_permutation ? "permutation" : "places");
}

static void print_operation(text *out, const trace *t, const trace_step *s) {
  text_string(out, trace_op_names[s->op]);
  if (s->op == TRACE_SCALAR)
    text_printf(out, " %s", scalar_ops[s->scalar].name);
  if (s->op == TRACE_EXTERN)
    text_printf(out, " %s", s->number < t->externs.count ? t->externs.items[s->number].name : "?");
  for (uint32_t i = 0; i < s->operand_count; i++)
    text_printf(out, " %%%" PRIu32, s->operands[i]);
  switch (s->op) {
  case TRACE_ARGUMENT:
    text_printf(out, " %" PRIu64, s->number);
    print_known_places(out, s->places);
    break;
  case TRACE_CONSTANT:
    text_string(out, " "), trace_print_constant(out, s->type, &s->constant);
    break;
  case TRACE_TABLE:
    print_table(out, s);
    break;
  case TRACE_INSTANCE:
    text_printf(out, " mod %" PRIu64, s->number);
    break;
  case TRACE_ROOT:
    text_printf(out, " of %" PRIu64, s->number);
    break;
  case TRACE_SPLIT:
  case TRACE_STITCH:
  case TRACE_PAIR:
  case TRACE_UNPAIR:
    text_printf(out, " m=%" PRIu64, s->number);
    break;
  case TRACE_BMMC:
    print_rows(out, s);
    break;
  case TRACE_ELEMENT:
    text_printf(out, " [%" PRIu64 "]", s->number);
    break;
  case TRACE_SLICE:
    text_printf(out, " [%" PRIu64 "...]", s->number);
    break;
  case TRACE_PLACES:
    text_string(out, s->scalar == OP_GE ? " descending" : "");
    if (s->number)
      text_printf(out, " below %" PRIu64, s->number);
    break;
  case TRACE_GROUP:
  case TRACE_FOLD:
    text_printf(out, " %s", scalar_ops[s->scalar].name);
    break;
  case TRACE_WRONG:
    text_printf(out, " below %" PRIu64 "%s", s->number, s->scalar == OP_NE ? " distinct" : "");
    break;
  default:
    break;
  }
}

static void print_padding(text *out, size_t start, size_t width) {
  size_t used = out->length - start;
  text_printf(out, "%*s", (int)(used < width ? width - used : 1), "");
}

const char trace_legend[] =
    "# Trace: steps in their order; %8 is the value that step 8 makes.\n"
    "#   8  [2]u32    at the end of a line: the value is a batch of 8 equal arrays of this type.\n"
    "#                An operand of a smaller batch is repeated, each of its arrays as often\n"
    "#   split m      each array becomes two halves: elements whose index has an even, and an "
    "odd,\n"
    "#                number of the bits of m; stitch is the inverse\n"
    "#   pair m       each array becomes pairs of the elements with indices x and x xor m; unpair\n"
    "#                is the inverse\n"
    "#   bmmc A c     element x moves to index A x xor c over F_2; the rows of A as numbers\n"
    "#   table n      elements that are known; only the first are shown\n"
    "#   element [k]  element k of each array; pack: the operands are the elements of an array\n"
    "#   gather p x   the elements of x at the places p; scatter p v x: x with those of v there\n"
    "#   places k     where each of the keys k goes when they are put in order; count k: how many "
    "of\n"
    "#                0, 1, ... there are; wrong p: the first of p that is no place, and what it "
    "is\n"
    "#   group p v x  x, whose elements an operation has made of themselves and those of v at p\n"
    "#   fold b e s x from s on, by an operation with the elements of x from b to e - 1\n"
    "#   reshape      the same elements in the same order: nothing moves\n"
    "#   total_le     <= in the order in which NaN has a place\n";

void trace_print(text *out, const trace *t) {
  for (size_t id = 0; id < t->steps.count; id++) {
    const trace_step *s = &t->steps.items[id];
    size_t start = out->length;
    text_printf(out, "%%%zu", id);
    print_padding(out, start, 6);
    print_operation(out, t, s);
    print_padding(out, start, 32);
    text_printf(out, "%8" PRIu64 "  ", s->batch);
    for (uint32_t i = 0; i < s->rank; i++)
      text_printf(out, "[%" PRIu64 "]", s->dims[i]);
    text_printf(out, "%s\n", scalar_types[s->type].name);
  }
  text_string(out, "results");
  for (size_t i = 0; i < t->results.count; i++)
    text_printf(out, "%s %%%" PRIu32, i == trace_returned(t) ? "\nchecks" : "",
                t->results.items[i]);
  text_string(out, "\n");
}
