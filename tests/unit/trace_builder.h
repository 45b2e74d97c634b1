// Traces made by hand, for tests: one call per step, shapes worked out from the operands.
//
//   builder b;
//   builder_start(&b);
//   value_id xs = add_argument(&b, 0, SCALAR_U32, 1, (uint64_t[]){4});
//   value_id ys = add_move(&b, TRACE_SPLIT, xs, 1);
//   add_result(&b, add_move(&b, TRACE_STITCH, ys, 1));
//   ... &b.trace ...
//   builder_free(&b);
#ifndef PERMC_TESTS_TRACE_BUILDER_H
#define PERMC_TESTS_TRACE_BUILDER_H

#include "lang/trace.h"
#include <stdio.h>

typedef struct builder {
  arena memory;
  jmp_buf failure;
  trace trace;
} builder;

// Out of memory ends the test program.
static inline void builder_start(builder *b) {
  memset(b, 0, sizeof *b);
  if (setjmp(b->failure)) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  b->memory.failure = &b->failure;
}

static inline void builder_free(builder *b) { arena_free(&b->memory); }

static inline const trace_step *step_of(const builder *b, value_id id) {
  return &b->trace.steps.items[id];
}

static inline value_id add_step(builder *b, trace_step s, const value_id *operands,
                                uint32_t operand_count, const uint64_t *dims) {
  s.operand_count = operand_count;
  s.operands = NEW_ARRAY(&b->memory, value_id, operand_count + 1);
  for (uint32_t i = 0; i < operand_count; i++)
    s.operands[i] = operands[i];
  uint64_t *copy = NEW_ARRAY(&b->memory, uint64_t, s.rank + 1);
  for (uint32_t i = 0; i < s.rank; i++)
    copy[i] = dims[i];
  s.dims = copy;
  vec_push(&b->memory, &b->trace.steps, s);
  return (value_id)(b->trace.steps.count - 1);
}

static inline void add_result(builder *b, value_id id) {
  vec_push(&b->memory, &b->trace.results, id);
}

static inline value_id add_argument(builder *b, uint64_t number, scalar_type type, uint32_t rank,
                                    const uint64_t *dims) {
  return add_step(
      b,
      (trace_step){.op = TRACE_ARGUMENT, .type = type, .rank = rank, .batch = 1, .number = number},
      NULL, 0, dims);
}

static inline value_id add_constant(builder *b, scalar_type type, scalar_bits bits) {
  return add_step(b, (trace_step){.op = TRACE_CONSTANT, .type = type, .batch = 1, .constant = bits},
                  NULL, 0, NULL);
}

static inline value_id add_table(builder *b, uint64_t number, scalar_type type, uint64_t length,
                                 const void *table) {
  return add_step(
      b,
      (trace_step){
          .op = TRACE_TABLE, .type = type, .rank = 1, .batch = 1, .number = number, .table = table},
      NULL, 0, &length);
}

static inline value_id add_instance(builder *b, uint64_t batch, uint64_t modulus) {
  return add_step(
      b, (trace_step){.op = TRACE_INSTANCE, .type = SCALAR_I64, .batch = batch, .number = modulus},
      NULL, 0, NULL);
}

static inline value_id add_iota(builder *b, uint64_t length) {
  return add_step(b, (trace_step){.op = TRACE_IOTA, .type = SCALAR_I64, .batch = 1, .rank = 1},
                  NULL, 0, &length);
}

static inline uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// The batch of a step on these operands (0 if one of them is empty).
static inline uint64_t batch_of(const builder *b, const value_id *operands, uint32_t count) {
  uint64_t batch = 1;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t own = step_of(b, operands[i])->batch;
    batch = batch == 0 || own == 0 ? 0 : larger(batch, own);
  }
  return batch;
}

static inline value_id add_unary(builder *b, scalar_op op, value_id x) {
  scalar_type type = scalar_result_of(op, step_of(b, x)->type);
  return add_step(
      b,
      (trace_step){.op = TRACE_SCALAR, .type = type, .scalar = op, .batch = step_of(b, x)->batch},
      &x, 1, NULL);
}

static inline value_id add_binary(builder *b, scalar_op op, value_id x, value_id y) {
  value_id operands[2] = {x, y};
  scalar_type type = scalar_result_of(op, step_of(b, x)->type);
  return add_step(
      b,
      (trace_step){
          .op = TRACE_SCALAR, .type = type, .scalar = op, .batch = batch_of(b, operands, 2)},
      operands, 2, NULL);
}

static inline value_id add_select(builder *b, value_id condition, value_id x, value_id y) {
  value_id operands[3] = {condition, x, y};
  return add_step(b,
                  (trace_step){.op = TRACE_SELECT,
                               .type = step_of(b, x)->type,
                               .batch = batch_of(b, operands, 3)},
                  operands, 3, NULL);
}

static inline value_id add_convert(builder *b, value_id x, scalar_type to) {
  return add_step(b, (trace_step){.op = TRACE_CONVERT, .type = to, .batch = step_of(b, x)->batch},
                  &x, 1, NULL);
}

static inline value_id add_root(builder *b, value_id k, scalar_type type, uint64_t order) {
  trace_step s = {.op = TRACE_ROOT, .type = type, .batch = step_of(b, k)->batch, .number = order};
  return add_step(b, s, &k, 1, NULL);
}

static inline value_id add_reshape(builder *b, value_id x, uint64_t batch, uint32_t rank,
                                   const uint64_t *dims) {
  return add_step(
      b,
      (trace_step){.op = TRACE_RESHAPE, .type = step_of(b, x)->type, .rank = rank, .batch = batch},
      &x, 1, dims);
}

static inline value_id add_broadcast(builder *b, value_id x, uint64_t batch) {
  const trace_step *o = step_of(b, x);
  return add_step(
      b, (trace_step){.op = TRACE_BROADCAST, .type = o->type, .rank = o->rank, .batch = batch}, &x,
      1, o->dims);
}

// SPLIT and PAIR on [2^k]s; STITCH; TRANSPOSE; ELEMENT `number`.
static inline value_id add_move(builder *b, trace_op op, value_id x, uint64_t number) {
  const trace_step *o = step_of(b, x);
  uint64_t dims[32] = {0};
  for (uint32_t i = 0; i < o->rank; i++)
    dims[i] = o->dims[i];
  trace_step s = {.op = op, .type = o->type, .rank = o->rank, .batch = o->batch, .number = number};
  switch (op) {
  case TRACE_SPLIT:
    s.batch *= 2, dims[0] /= 2;
    break;
  case TRACE_STITCH:
    s.batch /= 2, dims[0] *= 2;
    break;
  case TRACE_PAIR:
    s.batch *= dims[0] / 2, dims[0] = 2;
    break;
  case TRACE_TRANSPOSE:
    dims[0] = o->dims[1], dims[1] = o->dims[0];
    break;
  default:
    s.rank--;
    return add_step(b, s, &x, 1, o->dims + 1);
  }
  return add_step(b, s, &x, 1, dims);
}

static inline value_id add_unpair(builder *b, value_id x, uint64_t length, uint64_t mask) {
  const trace_step *o = step_of(b, x);
  uint64_t dims[32] = {length};
  for (uint32_t i = 1; i < o->rank; i++)
    dims[i] = o->dims[i];
  trace_step s = {.op = TRACE_UNPAIR,
                  .type = o->type,
                  .rank = o->rank,
                  .batch = o->batch / (length / 2),
                  .number = mask};
  return add_step(b, s, &x, 1, dims);
}

static inline value_id add_bmmc(builder *b, value_id x, const uint64_t *rows, uint64_t constant) {
  const trace_step *o = step_of(b, x);
  trace_step s = {
      .op = TRACE_BMMC, .type = o->type, .rank = o->rank, .batch = o->batch, .number = constant};
  s.rows = NEW_ARRAY(&b->memory, uint64_t, 64);
  for (uint32_t i = 0; o->dims[0] >> (i + 1) != 0; i++)
    s.rows[i] = rows[i];
  return add_step(b, s, &x, 1, o->dims);
}

static inline value_id add_slice(builder *b, value_id x, uint64_t start, uint64_t length) {
  const trace_step *o = step_of(b, x);
  uint64_t dims[32] = {length};
  for (uint32_t i = 1; i < o->rank; i++)
    dims[i] = o->dims[i];
  trace_step s = {
      .op = TRACE_SLICE, .type = o->type, .rank = o->rank, .batch = o->batch, .number = start};
  return add_step(b, s, &x, 1, dims);
}

static inline value_id add_concat(builder *b, value_id x, value_id y) {
  value_id operands[2] = {x, y};
  const trace_step *o = step_of(b, x);
  uint64_t dims[32] = {o->dims[0] + step_of(b, y)->dims[0]};
  for (uint32_t i = 1; i < o->rank; i++)
    dims[i] = o->dims[i];
  trace_step s = {
      .op = TRACE_CONCAT, .type = o->type, .rank = o->rank, .batch = batch_of(b, operands, 2)};
  return add_step(b, s, operands, 2, dims);
}

// GATHER of x, and SCATTER of y into x, at the places.
static inline value_id add_gather(builder *b, value_id places, value_id x) {
  value_id operands[2] = {places, x};
  const trace_step *o = step_of(b, x);
  uint64_t dims[32] = {step_of(b, places)->dims[0]};
  for (uint32_t i = 1; i < o->rank; i++)
    dims[i] = o->dims[i];
  trace_step s = {
      .op = TRACE_GATHER, .type = o->type, .rank = o->rank, .batch = batch_of(b, operands, 2)};
  return add_step(b, s, operands, 2, dims);
}

static inline value_id add_scatter(builder *b, value_id places, value_id y, value_id x) {
  value_id operands[3] = {places, y, x};
  const trace_step *o = step_of(b, x);
  trace_step s = {
      .op = TRACE_SCATTER, .type = o->type, .rank = o->rank, .batch = batch_of(b, operands, 3)};
  return add_step(b, s, operands, 3, o->dims);
}

// Places of keys, counts of them, or the first wrong one; keys are below `number`.
static inline value_id add_keyed(builder *b, trace_op op, value_id keys, scalar_op order,
                                 uint64_t number) {
  const trace_step *o = step_of(b, keys);
  uint64_t dims[1] = {op == TRACE_WRONG ? 2 : op == TRACE_COUNT ? number : o->dims[0]};
  trace_step s = {.op = op, .type = SCALAR_I64, .rank = 1, .scalar = order, .number = number};
  s.batch = op == TRACE_WRONG ? 1 : o->batch;
  return add_step(b, s, &keys, 1, dims);
}

// An array of `count` elements of shape [length] in front of the operand's shape: PACK, REPLICATE.
static inline value_id add_outer(builder *b, trace_op op, const value_id *operands, uint32_t count,
                                 uint64_t length) {
  const trace_step *o = step_of(b, operands[0]);
  uint64_t dims[32] = {length};
  for (uint32_t i = 0; i < o->rank; i++)
    dims[i + 1] = o->dims[i];
  trace_step s = {
      .op = op, .type = o->type, .rank = o->rank + 1, .batch = batch_of(b, operands, count)};
  return add_step(b, s, operands, count, dims);
}

static inline value_id add_pack(builder *b, const value_id *operands, uint32_t count) {
  return add_outer(b, TRACE_PACK, operands, count, count);
}

static inline value_id add_replicate(builder *b, value_id x, uint64_t length) {
  return add_outer(b, TRACE_REPLICATE, &x, 1, length);
}

// column mask cswap: a compare-exchange of x and x xor mask, the smaller at the smaller index.
static inline value_id add_column(builder *b, value_id xs, uint64_t mask) {
  uint64_t length = step_of(b, xs)->dims[0];
  value_id pairs = add_move(b, TRACE_PAIR, xs, mask);
  value_id x = add_move(b, TRACE_ELEMENT, pairs, 0), y = add_move(b, TRACE_ELEMENT, pairs, 1);
  value_id order = add_binary(b, OP_TOTAL_LE, x, y);
  value_id sorted[2] = {add_select(b, order, x, y), add_select(b, order, y, x)};
  return add_unpair(b, add_pack(b, sorted, 2), length, mask);
}

// Bitonic sort, as in the language's manual, of every instance.
//   bitonic n xs = two (clean (n-1)) (vcolumn (two (bitonic (n-1)) xs))
//   clean n xs = two (clean (n-1)) (column (2^(n-1)) cswap xs)
static inline value_id add_clean(builder *b, value_id xs) {
  uint64_t length = step_of(b, xs)->dims[0];
  if (length < 2)
    return xs;
  value_id halves = add_move(b, TRACE_SPLIT, add_column(b, xs, length / 2), length / 2);
  return add_move(b, TRACE_STITCH, add_clean(b, halves), length / 2);
}

static inline value_id add_bitonic(builder *b, value_id xs) {
  uint64_t length = step_of(b, xs)->dims[0];
  if (length < 2)
    return xs;
  value_id halves = add_bitonic(b, add_move(b, TRACE_SPLIT, xs, length / 2));
  value_id column = add_column(b, add_move(b, TRACE_STITCH, halves, length / 2), length - 1);
  return add_move(b, TRACE_STITCH, add_clean(b, add_move(b, TRACE_SPLIT, column, length / 2)),
                  length / 2);
}

// The sorter of the BMMC paper, section 7.1.
//   sort n xs = merge n (parm 1 (sort (n-1)) xs);  merge n xs = parm (2^(n-1)) (merge (n-1))
//   (vcolumn n xs) vcolumn n xs = parm 3 (vcolumn (n-1)) xs
static inline value_id add_vcolumn(builder *b, value_id xs) {
  if (step_of(b, xs)->dims[0] == 2)
    return add_column(b, xs, 1);
  return add_move(b, TRACE_STITCH, add_vcolumn(b, add_move(b, TRACE_SPLIT, xs, 3)), 3);
}

static inline value_id add_merge(builder *b, value_id xs) {
  uint64_t length = step_of(b, xs)->dims[0];
  if (length < 2)
    return xs;
  value_id halves = add_move(b, TRACE_SPLIT, add_vcolumn(b, xs), length / 2);
  return add_move(b, TRACE_STITCH, add_merge(b, halves), length / 2);
}

static inline value_id add_paper_sort(builder *b, value_id xs) {
  if (step_of(b, xs)->dims[0] < 2)
    return xs;
  value_id halves = add_paper_sort(b, add_move(b, TRACE_SPLIT, xs, 1));
  return add_merge(b, add_move(b, TRACE_STITCH, halves, 1));
}

#endif
