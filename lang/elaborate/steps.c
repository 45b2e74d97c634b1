// Steps of the Trace: what follows from a step's operands is worked out here.
#include "lang/elaborate/elaborator.h"
#include <inttypes.h>

span own_place(const elaborator *e) {
  return e->d->sources.items[e->where.file].library ? e->caller : e->where;
}

const trace_step *step_at(const elaborator *e, value_id id) { return &e->out->steps.items[id]; }

static void find_dependences(const elaborator *e, trace_step *s) {
  s->known = s->op != TRACE_ARGUMENT && s->op != TRACE_EXTERN;
  s->fixed = s->op != TRACE_ARGUMENT && s->op != TRACE_INSTANCE && s->op != TRACE_BROADCAST;
  for (uint32_t i = 0; i < s->operand_count && (s->known || s->fixed); i++) {
    const trace_step *o = step_at(e, s->operands[i]);
    s->known &= o->known;
    s->fixed &= o->fixed;
  }
  s->of_int = s->operand_count ? dynamic_operand(e, s)->of_int
                               : s->op == TRACE_ARGUMENT && s->type == SCALAR_I64 && !s->rank;
}

value_id append_step(elaborator *e, trace_step *s) {
  if (e->out->steps.count >= e->limits.operations)
    fail_limit(e, "operations", 0,
               "this program does more than %" PRIu64
               " operations at this size, which is the limit",
               e->limits.operations);
  if (!trace_size_fits(s))
    fail(e, "this needs an array of 2^63 bytes or more");
  find_dependences(e, s);
  s->where = e->where;
  s->caller = own_place(e);
  vec_push(e->memory, &e->out->steps, *s);
  return (value_id)e->out->steps.count - 1;
}

// Where one has no instances, the step has none.
static uint64_t common_batch(const elaborator *e, const trace_step *s) {
  uint64_t common = 1;
  for (uint32_t i = 0; i < s->operand_count; i++) {
    uint64_t batch = step_at(e, s->operands[i])->batch;
    common = !common || !batch ? 0 : batch > common ? batch : common;
  }
  return common;
}

static uint64_t batch_of_result(const elaborator *e, const trace_step *s, const trace_step *last) {
  switch (s->op) {
  case TRACE_INSTANCE:
  case TRACE_BROADCAST:
    return s->batch;
  case TRACE_RESHAPE:
    return s->batch == OWN_BATCH ? last->batch : s->batch;
  case TRACE_SPLIT:
    return 2 * last->batch;
  case TRACE_STITCH:
    return last->batch / 2;
  case TRACE_PAIR:
    return last->batch * (last->dims[0] / 2);
  case TRACE_UNPAIR:
    return last->batch / (s->dims[0] / 2);
  case TRACE_WRONG:
    return 1;
  default:
    return common_batch(e, s);
  }
}

static scalar_type type_of_result(const trace_step *s, const trace_step *first,
                                  const trace_step *last) {
  switch (s->op) {
  case TRACE_CONVERT:
  case TRACE_ROOT:
  case TRACE_EXTERN:
    return s->type;
  case TRACE_SCALAR:
    return scalar_result_of(s->scalar, first->type);
  case TRACE_INSTANCE:
  case TRACE_IOTA:
  case TRACE_PLACES:
  case TRACE_COUNT:
  case TRACE_WRONG:
    return SCALAR_I64;
  default:
    return last ? last->type : s->type;
  }
}

// The outer dimensions of the result: their number, and them, where they are not those given. `*drop`
// is how many of the last operand's dimensions they replace; its others follow.
static uint32_t outer_dims(const trace_step *s, const trace_step *first, const trace_step *last,
                           uint64_t outer[2], uint32_t *drop) {
  *drop = 1;
  switch (s->op) {
  case TRACE_ARGUMENT:
  case TRACE_TABLE:
    return s->rank;
  case TRACE_RESHAPE:
    *drop = (uint32_t)s->number;
    return s->rank;
  case TRACE_IOTA:
  case TRACE_SLICE:
  case TRACE_UNPAIR:
    return 1;
  case TRACE_REPLICATE:
    *drop = 0;
    return 1;
  case TRACE_BROADCAST:
  case TRACE_BMMC:
  case TRACE_SCATTER:
  case TRACE_GROUP:
    *drop = 0;
    return 0;
  case TRACE_ELEMENT:
  case TRACE_FOLD:
    return 0;
  case TRACE_PACK:
    *drop = 0;
    outer[0] = s->operand_count;
    return s->operand_count ? 1 : s->rank;
  case TRACE_SPLIT:
    outer[0] = last->dims[0] / 2;
    return 1;
  case TRACE_STITCH:
    outer[0] = last->dims[0] * 2;
    return 1;
  case TRACE_PAIR:
  case TRACE_WRONG:
    outer[0] = 2;
    return 1;
  case TRACE_TRANSPOSE:
    outer[0] = last->dims[1];
    outer[1] = last->dims[0];
    return *drop = 2;
  case TRACE_CONCAT:
    outer[0] = first->dims[0] + last->dims[0];
    return 1;
  case TRACE_GATHER:
  case TRACE_PLACES:
    outer[0] = first->dims[0];
    return 1;
  case TRACE_COUNT:
    outer[0] = s->number;
    return 1;
  default:  // scalar code
    *drop = last ? last->rank : 0;
    return 0;
  }
}

void derive_step(elaborator *e, trace_step *s, uint32_t count, const value_id *operands) {
  const trace_step *first = count ? step_at(e, operands[0]) : NULL;
  const trace_step *last = count ? step_at(e, operands[count - 1]) : NULL;
  uint64_t outer[2] = {0};
  uint32_t drop;
  s->operand_count = count;
  s->operands = copy_operands(e, count, operands);
  s->type = type_of_result(s, first, last);
  s->batch = batch_of_result(e, s, last);
  uint32_t outers = outer_dims(s, first, last, outer, &drop), rest = last ? last->rank - drop : 0;
  const uint64_t *lead = s->dims ? s->dims : outer;
  s->rank = outers + rest;
  if (s->rank > MOST_DIMENSIONS)
    fail(e, "arrays have at most 16 dimensions");
  s->dims = s->rank ? NEW_ARRAY(e->memory, uint64_t, s->rank) : NULL;
  for (uint32_t i = 0; i < s->rank; i++)
    s->dims[i] = i < outers ? lead[i] : last->dims[i - outers + drop];
  if (s->op == TRACE_RESHAPE)
    s->number = 0;
  if (s->op == TRACE_BMMC) {
    size_t n = (size_t)__builtin_ctzll(s->dims[0]);
    s->rows = memcpy(NEW_ARRAY(e->memory, uint64_t, n), s->rows, n * sizeof *s->rows);
  }
}

value_id emit(elaborator *e, trace_step s, uint32_t count, const value_id *operands) {
  derive_step(e, &s, count, operands);
  return append_step(e, &s);
}

value_id *copy_operands(elaborator *e, uint32_t count, const value_id *ids) {
  value_id *copy = NEW_ARRAY(e->memory, value_id, count);
  if (count)
    memcpy(copy, ids, count * sizeof *ids);
  return copy;
}

uint64_t times_batch(elaborator *e, uint64_t factor) {
  uint64_t product;
  if (__builtin_mul_overflow(e->batch, factor, &product) || product > UINT64_C(1) << 62)
    fail(e, "parm, column and map are nested too deeply here: more than 2^62 repetitions");
  return product;
}

// Whether the step's operands may be looked at: the steps of a call that is recorded must not
// depend on how its arguments were made, as it will be copied for others.
static bool is_own(const elaborator *e, value_id id) { return id >= e->own_from; }

value_id move_step(elaborator *e, value_id id, void *with) {
  trace_step s = *(const trace_step *)with;
  const trace_step *from = step_at(e, id);
  if (s.op == TRACE_SLICE && s.dims[0] == from->dims[0])
    return id;
  if (s.op == TRACE_SLICE && from->op == TRACE_SLICE && is_own(e, id)) {  // a part of a part
    s.number += from->number;
    id = from->operands[0];
  }
  return emit(e, s, 1, &id);
}

// ---- parts of one step -------------------------------------------------------------------------

// The step whose outermost dimension the steps are parts or elements of, all of them in their
// order. NO_STEP: there is none.
static value_id whole_of_parts(const elaborator *e, const value_id *ids, uint32_t count) {
  const trace_step *first = step_at(e, ids[0]);
  if (first->op != TRACE_SLICE && first->op != TRACE_ELEMENT)
    return NO_STEP;
  const trace_step *whole = step_at(e, first->operands[0]);
  uint64_t length = first->op == TRACE_SLICE ? first->dims[0] : 1;
  if (whole->batch != first->batch || whole->dims[0] != count * length)
    return NO_STEP;
  for (uint32_t i = 0; i < count; i++) {
    const trace_step *s = step_at(e, ids[i]);
    if (!is_own(e, ids[i]) || s->op != first->op || s->operands[0] != first->operands[0] ||
        s->number != i * length)
      return NO_STEP;
  }
  return first->operands[0];
}

value_id emit_elements(elaborator *e, value_id id, uint64_t batch, uint32_t rank,
                       const uint64_t *dims) {
  trace_step s = {.op = TRACE_RESHAPE, .batch = batch, .rank = rank, .dims = (uint64_t *)dims};
  s.number = step_at(e, id)->rank;
  return emit(e, s, 1, &id);
}

value_id emit_concat(elaborator *e, value_id x, value_id y) {
  value_id both[] = {x, y}, whole = whole_of_parts(e, both, 2);
  trace_step s = {.op = TRACE_CONCAT};
  derive_step(e, &s, 2, both);
  return whole == NO_STEP ? append_step(e, &s) : emit_elements(e, whole, s.batch, s.rank, s.dims);
}

value_id batch_of_rows(elaborator *e, const value_id *rows, uint32_t count) {
  trace_step row = *step_at(e, rows[0]);
  uint64_t inner = times_batch(e, count);
  value_id whole = whole_of_parts(e, rows, count);
  if (whole == NO_STEP)
    whole = emit(e, (trace_step){.op = TRACE_PACK}, count, rows);
  return emit_elements(e, whole, inner, row.rank, row.dims);
}
