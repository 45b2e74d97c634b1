// Random Nets that net_verify accepts, for tests, and what they compute.
//
//   random_state random = {seed};
//   net *t = random_net(&memory, &random);              // or random_net_of: with routines, too
//   evaluation *e = net_evaluate(&memory, t, seed);     // the elements of all arrays
//
// The evaluator is literal: every op on every coset, one scalar at a time. It knows of each element
// whether it is defined: what an op makes where it is not alive is not, nor what is computed from
// that. Results must be equal wherever they are defined.
#ifndef PERMC_TESTS_UNIT_NET_RANDOM_H
#define PERMC_TESTS_UNIT_NET_RANDOM_H

#include "tests/test.h"

#include "fusion/net/net.h"

#ifndef RANDOM_NET_BITS
#define RANDOM_NET_BITS 5  // stages have fewer index bits than that
#endif

// ---- numbers ---------------------------------------------------------------------------------

typedef struct random_state {
  uint64_t seed;
} random_state;

// splitmix64 (Steele, Lea and Flood, 2014).
static inline uint64_t random_word(random_state *r) {
  uint64_t x = r->seed += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}
static inline uint32_t random_below(random_state *r, uint32_t bound) {
  return (uint32_t)(random_word(r) >> 33) % bound;
}
static inline bool random_chance(random_state *r, uint32_t one_in) {
  return random_below(r, one_in) == 0;
}

static inline f2_matrix random_matrix(random_state *r, int n) {
  for (;;) {
    f2_matrix m = f2_zero(n, n);
    for (int i = 0; i < n; i++)
      m.row[i] = random_word(r) & f2_mask(n);
    if (f2_rank(m) == n)
      return m;
  }
}

// Small numbers mostly, so that equal ones and overflows are met.
static inline scalar_bits random_bits(random_state *r, scalar_type type) {
  static const double reals[] = {0, -0.0, 1, -1, 0.5, 2, 1e30, -3.25};
  scalar_bits bits = {{0}};
  double real = reals[random_below(r, 8)], imaginary = reals[random_below(r, 8)];
  switch (scalar_types[type].kind) {
  case KIND_BOOL:
    bits.b = random_chance(r, 2);
    break;
  case KIND_SIGNED:
  case KIND_UNSIGNED:
    if (random_chance(r, 4))
      return random_chance(r, 2) ? scalar_minval(type) : scalar_maxval(type);
    return scalar_from_i64(type, (int64_t)random_below(r, 7) - 2);
  case KIND_FLOAT:
    if (random_chance(r, 8))
      return scalar_maxval(type);  // NaN
    scalar_convert(SCALAR_F64, type, 1, &real, &bits);
    break;
  case KIND_COMPLEX:
    bits.c128[0] = real;
    bits.c128[1] = imaginary;
    if (type == SCALAR_C64) {
      bits = (scalar_bits){{0}};
      bits.c64[0] = (float)real;
      bits.c64[1] = (float)imaginary;
    }
    break;
  }
  return bits;
}

// ---- nodes -----------------------------------------------------------------------------------

typedef struct random_op {
  arena *memory;
  random_state *random;
  net *net;
  net_stage *stage;
  size_t defined;  // values below this number may be read
  uint32_t k;
  bool first;  // only element 0 is read
  const uint64_t *directions;
  f2_matrix inverse;  // rows k ...: forms that do not change in a coset
} random_op;

static const scalar_type random_types[] = {SCALAR_I32, SCALAR_I32, SCALAR_BOOL, SCALAR_U8,
                                           SCALAR_F32, SCALAR_I64, SCALAR_C64,  SCALAR_F16};
static inline scalar_type random_type(random_state *r) { return random_types[random_below(r, 8)]; }

static inline net_id random_node(random_op *o, scalar_type type, int depth);

static inline net_id random_inner(random_op *o, net_node node, uint32_t count,
                                  const net_id *operands) {
  node.operand_count = count;
  node.operands = (net_id *)operands;
  return net_node_add(o->memory, o->stage, &node);
}

static inline net_map random_map(arena *a, random_state *r, const net_stage *s, uint64_t mask) {
  net_map m = {.offset = (int64_t)random_below(r, 9) - 4,
               .loop_count = s->loop_count,
               .row_count = random_below(r, 3)};
  m.strides = NEW_ARRAY(a, int64_t, m.loop_count);
  m.rows = NEW_ARRAY(a, net_row, m.row_count);
  for (uint32_t l = 0; l < m.loop_count; l++)
    m.strides[l] = (int64_t)random_below(r, 5) - 2;
  for (uint32_t i = 0; i < m.row_count; i++)
    m.rows[i] =
        (net_row){{random_word(r) & mask, random_chance(r, 3)}, (int64_t)random_below(r, 9) - 4};
  return m;
}

static inline net_id random_index(random_op *o) {
  net_node node = {NET_INDEX, .type = SCALAR_I64};
  node.map = random_map(o->memory, o->random, o->stage, f2_mask(o->stage->n));
  for (uint32_t i = 0; i < node.map.row_count; i++) {
    uint64_t choice = random_word(o->random), mask = 0;
    for (int row = (int)o->k; row < o->stage->n; row++)
      mask ^= choice >> row & 1 ? o->inverse.row[row] : 0;
    node.map.rows[i].form.mask = mask;
  }
  return net_node_add(o->memory, o->stage, &node);
}

static inline net_id random_leaf(random_op *o, scalar_type type) {
  for (int attempt = 0; attempt < 6 && o->defined > 0; attempt++) {
    net_id value = random_below(o->random, (uint32_t)o->defined);
    if (o->stage->values.items[value] == type)
      return net_node_add(
          o->memory, o->stage,
          &(net_node){NET_ELEMENT, .type = type, .value = value,
                      .number = o->first ? 0 : random_below(o->random, 1U << o->k)});
  }
  if (type == SCALAR_I64 && random_chance(o->random, 2))
    return random_index(o);
  return net_node_add(
      o->memory, o->stage,
      &(net_node){NET_CONSTANT, .type = type, .constant = random_bits(o->random, type)});
}

// A comparison that chooses between what it compares, often.
static inline net_id random_select(random_op *o, scalar_type type, int depth) {
  static const scalar_op orders[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_TOTAL_LE, OP_EQ};
  net_id a = random_node(o, type, depth - 1), b = random_node(o, type, depth - 1), c;
  if (random_chance(o->random, 3) || scalar_types[type].kind == KIND_COMPLEX)
    c = random_node(o, SCALAR_BOOL, depth - 1);
  else
    c = random_inner(
        o,
        (net_node){NET_SCALAR, .type = SCALAR_BOOL, .scalar = orders[random_below(o->random, 6)]},
        2, (net_id[]){a, b});
  if (random_chance(o->random, 3))
    c = random_inner(o, (net_node){NET_SCALAR, .type = SCALAR_BOOL, .scalar = OP_COMPLEMENT}, 1,
                     &c);
  bool turned = random_chance(o->random, 2);
  return random_inner(o, (net_node){NET_SELECT, .type = type}, 3,
                      (net_id[]){c, turned ? b : a, turned ? a : b});
}

static inline net_id random_binary(random_op *o, scalar_op op, scalar_type from, net_id x,
                                   net_id y) {
  return random_inner(o, (net_node){NET_SCALAR, .type = scalar_result_of(op, from), .scalar = op},
                      2, (net_id[]){x, y});
}

// As tuples are compared, and the like.
static inline net_id random_logic(random_op *o, int depth) {
  static const scalar_op orders[] = {OP_LE, OP_TOTAL_LE, OP_LT, OP_EQ};
  scalar_type type = random_chance(o->random, 3) ? SCALAR_F32 : SCALAR_I32;
  net_id x = random_node(o, type, depth - 2), y = random_node(o, type, depth - 2), parts[4];
  for (int i = 0; i < 4; i++) {
    bool turned = random_chance(o->random, 2);
    parts[i] = random_chance(o->random, 5) ? random_node(o, SCALAR_BOOL, depth - 2)
                                           : random_binary(o, orders[random_below(o->random, 4)],
                                                           type, turned ? y : x, turned ? x : y);
    if (random_chance(o->random, 3))
      parts[i] = random_inner(
          o, (net_node){NET_SCALAR, .type = SCALAR_BOOL, .scalar = OP_COMPLEMENT}, 1, &parts[i]);
  }
  bool outer = random_chance(o->random, 2), inner = random_chance(o->random, 4);
  net_id pair = random_binary(o, inner == outer ? OP_AND : OP_OR, SCALAR_BOOL, parts[0], parts[1]);
  net_id three = random_binary(o, outer ? OP_AND : OP_OR, SCALAR_BOOL, pair, parts[2]);
  return random_binary(o, outer ? OP_OR : OP_AND, SCALAR_BOOL, parts[3], three);
}

static inline net_id random_index_term(random_op *o) {
  if (random_chance(o->random, 3))
    return net_node_add(o->memory, o->stage,
                        &(net_node){NET_CONSTANT, .type = SCALAR_I64,
                                    .constant = random_bits(o->random, SCALAR_I64)});
  return random_index(o);
}

static inline net_id random_arithmetic(random_op *o, bool compare) {
  static const scalar_op sums[] = {OP_ADD, OP_SUB, OP_MUL};
  static const scalar_op orders[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE, OP_TOTAL_LE};
  net_id x = random_index_term(o), y = random_index_term(o);
  if (random_chance(o->random, 2))
    x = random_binary(o, sums[random_below(o->random, 3)], SCALAR_I64, x, random_index_term(o));
  if (random_chance(o->random, 3))
    y = random_inner(o, (net_node){NET_SCALAR, .type = SCALAR_I64, .scalar = OP_NEG}, 1, &y);
  return random_binary(
      o, compare ? orders[random_below(o->random, 7)] : sums[random_below(o->random, 3)],
      SCALAR_I64, x, y);
}

static inline net_id random_scalar(random_op *o, scalar_type type, int depth) {
  for (int attempt = 0; attempt < 200; attempt++) {
    scalar_op op = random_below(o->random, SCALAR_OP_COUNT);
    scalar_type from = random_chance(o->random, 2) ? type : random_type(o->random);
    if (!(scalar_ops[op].operands & CLASS_OF(from)) || scalar_result_of(op, from) != type)
      continue;
    net_id operands[2] = {random_node(o, from, depth - 1), 0};
    if (scalar_ops[op].arity == 2)
      operands[1] = random_node(o, op == OP_POWI ? SCALAR_I64 : from, depth - 1);
    return random_inner(o, (net_node){NET_SCALAR, .type = type, .scalar = op},
                        (uint32_t)scalar_ops[op].arity, operands);
  }
  return random_leaf(o, type);
}

static inline net_id random_node(random_op *o, scalar_type type, int depth) {
  net_id operands[2];
  uint32_t choice = depth <= 0 ? 0 : random_below(o->random, 14);
  if (choice < 3)
    return random_leaf(o, type);
  if (choice < 6)
    return random_select(o, type, depth);
  if (choice == 6 && (CLASS_OF(type) & CLASS_BITS)) {
    operands[0] = random_node(o, type, depth - 1);
    operands[1] = random_node(o, type, depth - 1);
    return random_inner(
        o, (net_node){random_chance(o->random, 2) ? NET_MIN : NET_MAX, .type = type}, 2, operands);
  }
  if (choice == 7 && scalar_types[type].kind != KIND_COMPLEX) {
    scalar_type from = random_chance(o->random, 3)   ? type
                       : random_chance(o->random, 2) ? SCALAR_U8
                                                     : SCALAR_F32;
    operands[0] = random_node(o, from, depth - 1);
    return random_inner(o, (net_node){NET_CONVERT, .type = type}, 1, operands);
  }
  if (choice == 8 && type == SCALAR_C64) {
    operands[0] = random_node(o, SCALAR_I64, depth - 1);
    return random_inner(
        o, (net_node){NET_ROOT, .type = type, .number = 1 + random_below(o->random, 8)}, 1,
        operands);
  }
  if (choice == 9 && type == SCALAR_F32) {
    operands[0] = random_node(o, SCALAR_F32, depth - 1);
    operands[1] = random_node(o, SCALAR_I32, depth - 1);
    return random_inner(o, (net_node){NET_EXTERN, .type = type}, 2, operands);
  }
  if (choice >= 10 && type == SCALAR_BOOL)
    return random_chance(o->random, 2) ? random_logic(o, depth) : random_arithmetic(o, true);
  if (choice >= 10 && type == SCALAR_I64)
    return random_arithmetic(o, false);
  return random_scalar(o, type, depth);
}

// ---- ops -------------------------------------------------------------------------------------

typedef struct random_frame {
  f2_matrix vectors, inverse;  // directions are the first columns, coordinates the first rows
} random_frame;

static inline random_frame random_directions(random_state *r, int n) {
  random_frame f = {.vectors = random_matrix(r, n)};
  if (random_chance(r, 2))
    f.vectors = f2_identity(n);
  f2_inverse(f.vectors, &f.inverse);
  return f;
}

// The same span of the first two directions, numbered otherwise.
static inline void random_basis(random_state *r, random_frame *f) {
  f2_matrix mix = f2_identity(f->vectors.columns);
  f2_matrix low = random_matrix(r, 2);
  for (int i = 0; i < 2; i++)
    mix.row[i] = low.row[i];
  f->vectors = f2_multiply(f->vectors, mix);
  f2_inverse(f->vectors, &f->inverse);
}

// The node, for elements whose numbers differ by `by`; some constants are others.
static inline net_id random_moved(random_op *o, net_id id, uint64_t by) {
  net_id operands[3];
  if (id == NET_NONE)
    return NET_NONE;
  net_node node = o->stage->nodes.items[id];
  for (uint32_t i = 0; i < node.operand_count; i++)
    operands[i] = random_moved(o, node.operands[i], by);
  node.number ^= node.kind == NET_ELEMENT ? by : 0;
  if (node.kind == NET_CONSTANT && random_chance(o->random, 4))
    node.constant = random_bits(o->random, node.type);
  node.operands = operands;
  return net_node_add(o->memory, o->stage, &node);
}

static inline void random_op_add(random_op *o, const random_frame *f) {
  net_op op = {.k = o->k, .origin = random_below(o->random, 100)};
  op.directions = NEW_ARRAY(o->memory, uint64_t, op.k);
  op.coordinates = NEW_ARRAY(o->memory, net_form, op.k);
  for (uint32_t i = 0; i < op.k; i++) {
    op.directions[i] = f2_column(f->vectors, (int)i);
    op.coordinates[i] = (net_form){f->inverse.row[i], random_chance(o->random, 3)};
  }
  if (random_chance(o->random, 4) && o->k < (uint32_t)o->stage->n) {
    op.live = NEW(o->memory, net_form);
    op.live[op.live_count++] = (net_form){f->inverse.row[o->k], random_chance(o->random, 2)};
  }
  o->directions = op.directions;
  o->inverse = f->inverse;
  o->defined = o->stage->values.count;
  o->first = random_chance(o->random, 3);
  op.output_count = 1 + random_below(o->random, 2);
  op.outputs = NEW_ARRAY(o->memory, net_output, op.output_count);
  uint64_t count = UINT64_C(1) << op.k;
  for (uint32_t i = 0; i < op.output_count; i++) {
    scalar_type type = random_type(o->random);
    op.outputs[i] =
        (net_output){net_value_add(o->memory, o->stage, type), NEW_ARRAY(o->memory, net_id, count)};
    uint64_t alike = random_chance(o->random, 3) ? count / 2 : 0;  // halves, but for their numbers
    for (uint64_t j = 0; j < count; j++)
      op.outputs[i].elements[j] = alike && j >= alike
                                      ? random_moved(o, op.outputs[i].elements[j - alike], alike)
                                  : j > 0 && random_chance(o->random, 6) ? NET_NONE
                                                                         : random_node(o, type, 3);
  }
  vec_push(o->memory, &o->stage->ops, op);
}

// An op of one output of that type and, by chance, another of it; alive where the form is 0 (NULL:
// everywhere). It reads `from`.
static inline net_id random_step(random_op *o, const random_frame *f, const net_form *live,
                                 net_id from, net_id *other) {
  net_op op = {.k = o->k, .origin = random_below(o->random, 100), .live_count = live != NULL};
  op.directions = NEW_ARRAY(o->memory, uint64_t, op.k);
  op.coordinates = NEW_ARRAY(o->memory, net_form, op.k);
  op.live = NEW(o->memory, net_form);
  if (live)
    op.live[0] = *live;
  for (uint32_t i = 0; i < op.k; i++) {
    op.directions[i] = f2_column(f->vectors, (int)i);
    op.coordinates[i] = (net_form){f->inverse.row[i], false};
  }
  scalar_type type = o->stage->values.items[from];
  o->directions = op.directions;
  o->inverse = f->inverse;
  o->defined = o->stage->values.count;
  op.output_count = 1 + random_below(o->random, 2);
  op.outputs = NEW_ARRAY(o->memory, net_output, op.output_count);
  uint64_t count = UINT64_C(1) << op.k;
  for (uint32_t i = 0; i < op.output_count; i++) {
    op.outputs[i].value = net_value_add(o->memory, o->stage, type);
    op.outputs[i].elements = NEW_ARRAY(o->memory, net_id, count);
    for (uint64_t j = 0; j < count; j++) {
      net_node element = {NET_ELEMENT, .type = type, .value = from, .number = j};
      net_id choice[3] = {random_node(o, SCALAR_BOOL, 2)};
      for (int k = 1; k < 3; k++, element.number = count - 1 - j)
        choice[k] = random_chance(o->random, 3) ? random_leaf(o, type)
                                                : net_node_add(o->memory, o->stage, &element);
      op.outputs[i].elements[j] = random_inner(o, (net_node){NET_SELECT, .type = type}, 3, choice);
    }
  }
  vec_push(o->memory, &o->stage->ops, op);
  *other = op.outputs[op.output_count - 1].value;
  return op.outputs[0].value;
}

// Beside each other: what was made where the form is 0, and elsewhere what is kept.
static inline void random_join(random_op *o, net_row half, net_id made, net_id kept) {
  scalar_type type = o->stage->values.items[kept];
  net_op join = {.output_count = 1, .origin = random_below(o->random, 100)};
  net_node index = {NET_INDEX, .type = SCALAR_I64};
  index.map = (net_map){.loop_count = o->stage->loop_count, .row_count = 1};
  index.map.strides = NEW_ARRAY(o->memory, int64_t, index.map.loop_count);
  index.map.rows = NEW(o->memory, net_row);
  index.map.rows[0] = half;
  net_node one = {NET_CONSTANT, .type = SCALAR_I64, .constant.i64 = 1};
  net_id sides[2] = {net_node_add(o->memory, o->stage, &index),
                     net_node_add(o->memory, o->stage, &one)};
  net_id choice[3] = {
      random_inner(o, (net_node){NET_SCALAR, .type = SCALAR_BOOL, .scalar = OP_LT}, 2, sides)};
  for (int i = 1; i < 3; i++) {
    net_node element = {NET_ELEMENT, .type = type, .value = i == 1 ? made : kept};
    choice[i] = net_node_add(o->memory, o->stage, &element);
  }
  join.outputs = NEW(o->memory, net_output);
  join.outputs->value = net_value_add(o->memory, o->stage, type);
  join.outputs->elements = NEW(o->memory, net_id);
  join.outputs->elements[0] = random_inner(o, (net_node){NET_SELECT, .type = type}, 3, choice);
  vec_push(o->memory, &o->stage->ops, join);
}

// Ops on the part of the indices where a form is 0, one after the other, and what they make beside
// something else (the rule in-place). Or ops that are made everywhere, of which two values are wanted
// on that part, and two of another op elsewhere.
static inline void random_part(random_op *o, const random_frame *f) {
  net_form half = {f->inverse.row[o->k], random_chance(o->random, 2)};
  bool two = random_chance(o->random, 2);
  net_id from = random_below(o->random, (uint32_t)o->stage->values.count), kept[2] = {from, from};
  if (two)
    kept[0] = random_step(o, f, NULL, from, &kept[1]);
  net_id other, made = random_step(o, f, two ? NULL : &half, from, &other);
  if (!two && random_chance(o->random, 2))
    kept[0] = other;
  for (uint32_t i = random_below(o->random, 3); i > 0; i--)
    made = random_step(o, f, two ? NULL : &half, made, &other);
  net_row row = {half, 1 + random_below(o->random, 2)};
  random_join(o, row, made, kept[0]);
  if (two && !random_chance(o->random, 4))
    random_join(o, row, other, kept[1]);
}

// An op of two outputs, of the first and the second element of each pair, and one that reads both (the
// rule one-output).
static inline void random_sides(random_op *o, const random_frame *f) {
  random_op_add(o, f);
  net_op *op = &o->stage->ops.items[o->stage->ops.count - 1];
  net_id first = op->outputs[0].value, second;
  scalar_type type = o->stage->values.items[first];
  uint64_t count = UINT64_C(1) << op->k;
  net_output *outputs = NEW_ARRAY(o->memory, net_output, op->output_count + 1);
  memcpy(outputs + 1, op->outputs, op->output_count * sizeof *outputs);
  second = net_value_add(o->memory, o->stage, type);
  for (uint32_t i = 0; i < 2; i++) {
    outputs[i] = (net_output){i ? second : first, NEW_ARRAY(o->memory, net_id, count)};
    for (uint64_t j = 0; j < count; j++)
      outputs[i].elements[j] = (j & 1) == i ? random_node(o, type, 2) : NET_NONE;
  }
  op->outputs = outputs;
  op->output_count++;
  net_op reader = *op;
  reader.output_count = 1;
  reader.outputs = NEW(o->memory, net_output);
  *reader.outputs =
      (net_output){net_value_add(o->memory, o->stage, type), NEW_ARRAY(o->memory, net_id, count)};
  for (uint64_t j = 0; j < count; j++) {
    net_node a = {NET_ELEMENT, .type = type, .value = first, .number = j & ~UINT64_C(1)};
    net_node b = {NET_ELEMENT, .type = type, .value = second, .number = j | 1};
    net_id choice[3] = {random_node(o, SCALAR_BOOL, 2)};
    choice[1] = net_node_add(o->memory, o->stage, &a);
    choice[2] = net_node_add(o->memory, o->stage, &b);
    reader.outputs->elements[j] = random_inner(o, (net_node){NET_SELECT, .type = type}, 3, choice);
  }
  vec_push(o->memory, &o->stage->ops, reader);
}

// ---- stages ----------------------------------------------------------------------------------

// All elements of an array of 2^n x loops elements, each once.
static inline net_map random_address(arena *a, random_state *r, const net_stage *s) {
  f2_matrix m = random_chance(r, 2) ? random_matrix(r, s->n) : f2_identity(s->n);
  net_map map = {.loop_count = s->loop_count, .row_count = (uint32_t)s->n};
  map.strides = NEW_ARRAY(a, int64_t, map.loop_count);
  map.rows = NEW_ARRAY(a, net_row, map.row_count);
  for (uint32_t i = 0; i < map.row_count; i++)
    map.rows[i] = (net_row){{m.row[i], random_chance(r, 3)}, INT64_C(1) << i};
  int64_t stride = INT64_C(1) << s->n;
  for (uint32_t l = map.loop_count; l-- > 0; stride *= (int64_t)s->extents[l])
    map.strides[l] = stride;
  return map;
}

static inline uint64_t stage_points(const net_stage *s) {
  uint64_t points = UINT64_C(1) << s->n;
  for (uint32_t l = 0; l < s->loop_count; l++)
    points *= s->extents[l];
  return points;
}

static inline void random_load(arena *a, random_state *r, net *t, net_stage *s, net_id from) {
  net_load load = {.array = from, .padding_start = UINT64_MAX, .map = random_address(a, r, s)};
  scalar_type type = t->arrays.items[from].type;
  load.value = net_value_add(a, s, type);
  if (random_chance(r, 4)) {
    load.padding_start = random_below(r, (uint32_t)t->arrays.items[from].count + 1);
    load.padding_value = random_bits(r, type);
    if (random_chance(r, 2))  // as a window, that begins before the array or ends behind it
      load.map.offset = (int64_t)random_below(r, 7) - 3;
  }
  net_row fixed = {{0}, 0};  // a bit of the address that is not of the index
  if (s->n > 0 && random_chance(r, 3))
    fixed = load.map.rows[--load.map.row_count];
  vec_push(a, &s->loads, load);
  for (uint32_t copies = random_below(r, 3); copies > 0; copies--) {
    load.value = net_value_add(a, s, type);
    if (fixed.weight && random_chance(r, 2))
      load.map.offset ^= fixed.weight;
    else if (load.map.row_count > 0 && random_chance(r, 2)) {  // the same where a form is 0
      load.map = net_map_copy(a, &load.map);
      load.map.rows[random_below(r, load.map.row_count)].form.mask ^=
          random_chance(r, 2) ? f2_unit((int)random_below(r, (uint32_t)s->n))
                              : random_word(r) & f2_mask(s->n);
    }
    vec_push(a, &s->loads, load);
  }
}

// A form that is 0 where the op that makes the value is alive; false if it is everywhere.
static inline bool form_of(const net_stage *s, net_id value, net_form *form) {
  for (size_t i = 0; i < s->ops.count; i++)
    for (uint32_t k = 0; k < s->ops.items[i].output_count; k++)
      if (s->ops.items[i].outputs[k].value == value) {
        if (s->ops.items[i].live_count > 0)
          *form = *s->ops.items[i].live;
        for (uint64_t j = 0; j < UINT64_C(1) << s->ops.items[i].k; j++)
          if (s->ops.items[i].outputs[k].elements[j] == NET_NONE) {
            *form = s->ops.items[i].coordinates[0];
            form->constant ^= !(j & 1);
          }
        return form->mask != 0;
      }
  return false;
}

static inline void random_store(arena *a, random_state *r, net *t, net_stage *s, net_role role,
                                uint32_t number) {
  net_id value = (net_id)s->values.count - 1 - random_below(r, (uint32_t)s->values.count) / 2;
  net_store store = {.value = value, .padding_start = UINT64_MAX, .map = random_address(a, r, s)};
  store.array = net_array_add(a, t, s->values.items[value], stage_points(s), role, number);
  if (random_chance(r, 20) && role == NET_TEMPORARY)
    store.padding_start = random_below(r, (uint32_t)stage_points(s));
  net_form half = {0, false};
  bool partly = form_of(s, value, &half);
  if (s->n > 0 && (partly || random_chance(r, 3))) {  // two halves, of two values
    if (!partly)
      half = (net_form){1 + random_word(r) % f2_mask(s->n), random_chance(r, 2)};
    store.live = NEW_ARRAY(a, net_form, 2);
    store.live_count = 1;
    store.live[0] = half;
    vec_push(a, &s->stores, store);
    store.live++;
    store.live[0] = (net_form){half.mask, !half.constant};
    for (net_id v = 0; v < s->values.count; v++)
      if (s->values.items[v] == s->values.items[value] && v != value && random_chance(r, 2))
        store.value = v;
  }
  vec_push(a, &s->stores, store);
}

static inline void random_stage(arena *a, random_state *r, net *t, net_stage *s, bool last) {
  random_op o = {.memory = a, .random = r, .net = t, .stage = s};
  size_t arrays = t->arrays.count;
  for (uint32_t i = 0; i < 1 + random_below(r, 3); i++)
    random_load(a, r, t, s, random_below(r, (uint32_t)arrays));
  random_frame frame = random_directions(r, s->n);
  for (uint32_t i = random_below(r, 7); i > 0; i--) {
    uint32_t most = s->n < 2 ? (uint32_t)s->n : 2;
    o.k = random_below(r, most + 1);
    if (random_chance(r, 3))
      frame = random_directions(r, s->n);
    if (s->n >= 2 && random_chance(r, 4))
      random_basis(r, &frame);
    if (o.k < (uint32_t)s->n && random_chance(r, 4))
      random_part(&o, &frame);
    else if (o.k > 0 && random_chance(r, 5))
      random_sides(&o, &frame);
    else
      random_op_add(&o, &frame);
  }
  for (uint32_t i = 0; i < (last ? 2U : 1U); i++)
    random_store(a, r, t, s, last ? NET_RESULT : NET_TEMPORARY, i);
}

// ---- routines --------------------------------------------------------------------------------

static inline uint64_t random_divisor(random_state *r, uint64_t n) {
  uint64_t d = 1 + random_below(r, (uint32_t)n);
  while (n % d)
    d--;
  return d;
}

// [p][q] to [q][p], if the array has such lengths.
static inline bool random_transpose(arena *a, random_state *r, net_routine *o) {
  uint64_t p = random_divisor(r, o->length), q = o->length / p;
  *o = (net_routine){.kind = NET_TRANSPOSE, .rows = 1, .length = o->length, .dimension_count = 2};
  o->dimensions = NEW_ARRAY(a, net_dimension, 2);
  o->dimensions[0] = (net_dimension){q, 1, p};
  o->dimensions[1] = (net_dimension){p, q, 1};
  return p > 1 && q > 1;
}

// In order, with rows of none; a table.
static inline net_id random_offsets(arena *a, random_state *r, net *t, const net_routine *o) {
  uint32_t each = 1 + random_below(r, 5);
  int64_t *table = NEW_ARRAY(a, int64_t, o->rows * each);
  for (uint64_t i = 0; i < o->rows * each; i++) {
    int64_t least = i % each ? table[i - 1] : 0;
    table[i] = least + (int64_t)random_below(r, (uint32_t)(o->length - (uint64_t)least) + 1);
  }
  net_id offsets = net_array_add(a, t, SCALAR_I64, o->rows * each, NET_TABLE, 0);
  t->arrays.items[offsets].table = table;
  return offsets;
}

// A stage that sorts an array, with a payload or their index, says where its elements go, or transposes it.
static inline void random_routine(arena *a, random_state *r, net *t, uint64_t points) {
  net_id keys = random_below(r, (uint32_t)t->arrays.count);
  scalar_type type = t->arrays.items[keys].type, index = SCALAR_I64;
  net_routine *o = NEW(a, net_routine);
  if (t->arrays.items[keys].count != points)
    return;
  *o = (net_routine){.kind = random_chance(r, 3) ? NET_PLACES : NET_SORT,
                     .rows = random_divisor(r, points),
                     .descending = random_chance(r, 2)};
  o->length = points / o->rows;
  if (!(CLASS_ORD & CLASS_OF(type)) || random_chance(r, 3)) {
    o->length = points;
    if (!random_transpose(a, r, o))
      return;
  } else if (random_chance(r, 2)) {
    o->ragged = true;
    o->offsets = random_offsets(a, r, t, o);
  }
  bool payload = o->kind == NET_SORT && random_chance(r, 2);
  o->pair_count = 1 + payload;
  o->pairs = NEW_ARRAY(a, net_routine_pair, o->pair_count);
  o->pairs[0].from = keys;
  o->pairs[0].to =
      net_array_add(a, t, o->kind == NET_PLACES ? index : type, points, NET_TEMPORARY, 0);
  if (payload)
    o->pairs[1] = (net_routine_pair){random_chance(r, 2) ? keys : NET_NONE, 0};
  if (payload)
    o->pairs[1].to =
        net_array_add(a, t, o->pairs[1].from == keys ? type : index, points, NET_TEMPORARY, 0);
  vec_push(a, &t->stages, ((net_stage){.routine = o}));
}

// ---- evaluation ------------------------------------------------------------------------------

typedef struct element {
  scalar_bits bits;
  bool defined;
} element;

typedef struct evaluation {
  element **arrays;  // by array, by element
  bool garbage;      // something undefined was stored
} evaluation;

typedef struct evaluator {
  arena *memory;
  const net *net;
  const net_stage *stage;
  const uint64_t *o;
  element **values;  // of one iteration of the loops: by value, by index
  element *nodes;
  evaluation *result;
} evaluator;

static inline element evaluate_scalar(const net_node *node, const element *operands,
                                      scalar_type from) {
  element out = {.defined = true};
  int64_t order;
  switch (node->kind) {
  case NET_SCALAR:
    scalar_apply(node->scalar, from, 1, &operands[0].bits, &operands[1].bits, &out.bits);
    break;
  case NET_MIN:
  case NET_MAX: {
    bool le = false;
    scalar_apply(OP_LE, from, 1, &operands[0].bits, &operands[1].bits, &le);
    out.bits = operands[le == (node->kind == NET_MIN) ? 0 : 1].bits;
    break;
  }
  case NET_SELECT:
    out.bits = operands[operands[0].bits.b ? 1 : 2].bits;
    break;
  case NET_CONVERT:
    scalar_convert(from, node->type, 1, &operands[0].bits, &out.bits);
    break;
  case NET_ROOT:
    order = (int64_t)node->number;
    out.bits = scalar_root(node->type, operands[0].bits.i64, order);
    break;
  default:
    out.bits.f32 = operands[0].bits.f32 * 2 + (float)operands[1].bits.i32;
    break;
  }
  return out;
}

// An element of an array, or its writing.
static inline element evaluate_access(evaluator *e, const net_node *node, const element *operands) {
  uint64_t address = (uint64_t)operands[0].bits.i64;
  bool inside = address < e->net->arrays.items[node->number].count;
  element *of = inside ? &e->result->arrays[node->number][address] : NULL;
  if (node->kind == NET_GATHER)
    return of ? *of : (element){.defined = true};
  if (of)
    *of = operands[1];
  return (element){.defined = true};
}

// At the coset of x: base is the index of element 0.
static inline element evaluate_node(evaluator *e, const net_op *op, uint64_t base,
                                    const net_node *node) {
  element operands[3] = {{.defined = true}};
  bool defined = true;
  if (node->kind == NET_ELEMENT) {
    for (uint32_t i = 0; i < op->k; i++)
      base ^= node->number >> i & 1 ? op->directions[i] : 0;
    return e->values[node->value][base];
  }
  if (node->kind == NET_CONSTANT)
    return (element){node->constant, true};
  if (node->kind == NET_INDEX)
    return (element){{.i64 = net_map_at(&node->map, e->o, base)}, true};
  for (uint32_t i = 0; i < node->operand_count; i++) {
    operands[i] = e->nodes[node->operands[i]];
    bool chosen = node->kind != NET_SELECT || i == 0 || i == (operands[0].bits.b ? 1U : 2U);
    defined = defined && (operands[i].defined || !chosen);
  }
  if (!defined)
    return (element){.defined = false};
  if (net_node_has_array(node->kind))
    return evaluate_access(e, node, operands);
  return evaluate_scalar(node, operands, e->stage->nodes.items[node->operands[0]].type);
}

static inline bool all_zero(uint32_t count, const net_form *forms, uint64_t x) {
  bool zero = true;
  for (uint32_t i = 0; i < count; i++)
    zero = zero && !net_form_at(forms[i], x);
  return zero;
}

static inline void evaluate_coset(evaluator *e, const net_op *op, uint64_t base, uint32_t nodes,
                                  const net_id *order) {
  for (uint32_t i = 0; i < nodes; i++)
    e->nodes[order[i]] = evaluate_node(e, op, base, &e->stage->nodes.items[order[i]]);
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
      uint64_t x = base;
      for (uint32_t d = 0; d < op->k; d++)
        x ^= j >> d & 1 ? op->directions[d] : 0;
      net_id id = op->outputs[i].elements[j];
      if (id != NET_NONE)
        e->values[op->outputs[i].value][x] = e->nodes[id];
    }
}

static inline void evaluate_op(evaluator *e, const net_op *op, net_id *order) {
  uint32_t nodes = net_op_nodes(e->stage, op, order);
  for (uint64_t x = 0; x < UINT64_C(1) << e->stage->n; x++)
    if (all_zero(op->k, op->coordinates, x) && all_zero(op->live_count, op->live, x))
      evaluate_coset(e, op, x, nodes, order);
}

static inline void evaluate_iteration(evaluator *e, evaluation *result) {
  const net_stage *s = e->stage;
  uint64_t size = UINT64_C(1) << s->n;
  net_id *order = NEW_ARRAY(e->memory, net_id, s->nodes.count);
  for (size_t v = 0; v < s->values.count; v++)
    e->values[v] = NEW_ARRAY(e->memory, element, size);
  for (size_t i = 0; i < s->loads.count; i++)
    for (uint64_t x = 0; x < size; x++) {
      const net_load *load = &s->loads.items[i];
      uint64_t address = (uint64_t)net_map_at(&load->map, e->o, x);
      e->values[load->value][x] = address < load->padding_start
                                      ? result->arrays[load->array][address]
                                      : (element){load->padding_value, true};
    }
  for (size_t i = 0; i < s->ops.count; i++)
    evaluate_op(e, &s->ops.items[i], order);
  for (size_t i = 0; i < s->stores.count; i++)
    for (uint64_t x = 0; x < size; x++) {
      const net_store *store = &s->stores.items[i];
      uint64_t address = (uint64_t)net_map_at(&store->map, e->o, x);
      if (address >= store->padding_start || !all_zero(store->live_count, store->live, x))
        continue;
      result->arrays[store->array][address] = e->values[store->value][x];
      result->garbage = result->garbage || !e->values[store->value][x].defined;
    }
}

static inline void evaluate_stage(arena *a, const net *t, const net_stage *s, evaluation *result) {
  uint64_t loops = stage_points(s) >> s->n, *o = NEW_ARRAY(a, uint64_t, s->loop_count);
  evaluator e = {a,
                 t,
                 s,
                 o,
                 NEW_ARRAY(a, element *, s->values.count),
                 NEW_ARRAY(a, element, s->nodes.count),
                 result};
  for (uint64_t i = 0; i < loops; i++) {
    net_loop_indices(s, i, o);
    evaluate_iteration(&e, result);
  }
}

// Whether i and j are of one row, of those that the offsets cut a row into.
static inline bool in_one_row(const element *offsets, uint64_t count, uint64_t i, uint64_t j) {
  for (uint64_t k = 0; k + 1 < count; k++) {
    uint64_t begin = (uint64_t)offsets[k].bits.i64, end = (uint64_t)offsets[k + 1].bits.i64;
    if (i >= begin && i < end)
      return j >= begin && j < end;
  }
  return false;
}

// Whether key i of a row goes before key j.
static inline bool goes_before(const net_routine *r, scalar_type type, const element *keys,
                               uint64_t i, uint64_t j) {
  uint8_t up, down;
  scalar_apply(OP_TOTAL_LE, type, 1, &keys[i].bits, &keys[j].bits, &up);
  scalar_apply(OP_TOTAL_LE, type, 1, &keys[j].bits, &keys[i].bits, &down);
  return up && down ? i < j : r->descending ? !up : up;
}

// Whether a place is outside of an array, or another one is equal to it.
static inline bool is_wrong_place(const net_routine *r, scalar_type type, const element *places,
                                  uint64_t i) {
  uint64_t place, other, equal = 0;
  scalar_convert(type, SCALAR_U64, 1, &places[i].bits, &place);
  for (uint64_t j = 0; j < r->length && r->distinct; j++) {
    scalar_convert(type, SCALAR_U64, 1, &places[j].bits, &other);
    equal += other == place;
  }
  return place >= r->limit || equal > 1;
}

static inline void evaluate_wrong(const net *t, const net_routine *r, evaluation *result) {
  const element *places = result->arrays[r->pairs[0].from];
  scalar_type type = t->arrays.items[r->pairs[0].from].type;
  element *to = result->arrays[r->pairs[0].to];
  uint64_t i = 0, count = r->rows * r->length;
  while (i < count && !is_wrong_place(r, type, places + i / r->length * r->length, i % r->length))
    i++;
  to[0] = (element){{.i64 = i < count ? (int64_t)i : INT64_MAX}, true};
  to[1] = (element){{{0}}, true};
  if (i < count)
    scalar_convert(type, SCALAR_I64, 1, &places[i].bits, &to[1].bits);
}

static inline void evaluate_transpose(const net_routine *r, evaluation *result) {
  for (uint64_t i = 0; i < r->length; i++) {
    uint64_t rest = i, from = 0, to = 0;
    for (uint32_t d = 0; d < r->dimension_count; d++) {
      from += rest % r->dimensions[d].extent * r->dimensions[d].from;
      to += rest % r->dimensions[d].extent * r->dimensions[d].to;
      rest /= r->dimensions[d].extent;
    }
    result->arrays[r->pairs[0].to][to] = result->arrays[r->pairs[0].from][from];
  }
}

// Key by key: its place is how many go before it.
static inline void evaluate_routine(const net *t, const net_routine *r, evaluation *result) {
  const element *keys = result->arrays[r->pairs[0].from];
  scalar_type type = t->arrays.items[r->pairs[0].from].type;
  net_id last = r->pairs[r->pair_count - 1].to;  // of counts
  element *counts = last == NET_NONE ? NULL : result->arrays[last];
  uint64_t cuts = r->ragged ? t->arrays.items[r->offsets].count / r->rows : 0;
  for (uint64_t row = 0; row < r->rows; row++, keys += r->length)
    for (uint64_t i = 0; i < r->length; i++) {
      const element *offsets = cuts ? result->arrays[r->offsets] + row * cuts : NULL;
      uint64_t place = 0, key = 0;
      for (uint64_t j = 0; j < r->length; j++)
        place +=
            j != i &&
            (cuts && !in_one_row(offsets, cuts, i, j) ? j < i : goes_before(r, type, keys, j, i));
      if (r->kind == NET_COUNT || r->counts)
        scalar_convert(type, SCALAR_U64, 1, &keys[i].bits, &key);
      if ((r->kind == NET_COUNT || r->counts) && key < r->limit)
        counts[row * r->limit + key].bits.i64++;
      for (uint32_t k = 0; k < r->pair_count - r->counts; k++) {
        net_routine_pair p = r->pairs[k];
        if (p.to == NET_NONE)
          continue;
        element *to = result->arrays[p.to];
        uint64_t width = t->arrays.items[p.to].count / (r->rows * r->length);
        element number = {scalar_from_i64(t->arrays.items[p.to].type,
                                          (int64_t)(r->kind == NET_PLACES ? place : i)),
                          keys[i].defined};
        if (r->kind == NET_PLACES)
          to[row * r->length + i] = number;
        bool moves = r->kind == NET_SORT || r->kind == NET_PERMUTE;
        uint64_t at = r->back ? i : place, of = r->back ? place : i;
        for (uint64_t x = 0; moves && x < width; x++)
          to[(row * r->length + at) * width + x] =
              p.from == NET_NONE ? number
                                 : result->arrays[p.from][(row * r->length + of) * width + x];
      }
    }
  for (uint64_t k = 0; (r->kind == NET_COUNT || r->counts) && k < r->rows * r->limit; k++)
    counts[k].defined = true;
}

// The elements of the arguments are random, by the seed.
static inline evaluation *net_evaluate(arena *a, const net *t, uint64_t seed) {
  evaluation *result = NEW(a, evaluation);
  random_state r = {seed};
  result->arrays = NEW_ARRAY(a, element *, t->arrays.count);
  for (size_t i = 0; i < t->arrays.count; i++) {
    const net_array *given = &t->arrays.items[i];
    result->arrays[i] = NEW_ARRAY(a, element, given->count);
    for (uint64_t x = 0; x < given->count && given->role == NET_ARGUMENT; x++)
      result->arrays[i][x] = (element){random_bits(&r, given->type), true};
    size_t size = scalar_types[given->type].size;
    for (uint64_t x = 0; x < given->count && given->role == NET_TABLE; x++) {
      result->arrays[i][x].defined = true;
      memcpy(&result->arrays[i][x].bits, (const char *)given->table + x * size, size);
    }
  }
  for (size_t i = 0; i < t->stages.count; i++)
    if (t->stages.items[i].routine && t->stages.items[i].routine->kind == NET_WRONG)
      evaluate_wrong(t, t->stages.items[i].routine, result);
    else if (t->stages.items[i].routine && t->stages.items[i].routine->kind == NET_TRANSPOSE)
      evaluate_transpose(t->stages.items[i].routine, result);
    else if (t->stages.items[i].routine)
      evaluate_routine(t, t->stages.items[i].routine, result);
    else
      evaluate_stage(a, t, &t->stages.items[i], result);
  return result;
}

// ---- nets that store nothing undefined -------------------------------------------------------

static inline net *random_attempt(arena *a, random_state *r, bool routines) {
  static scalar_type parameters[2] = {SCALAR_F32, SCALAR_I32};
  net *t = NEW(a, net);
  vec_push(a, &t->externs, ((c_function){"m\\\"", "foreign", 2, parameters, SCALAR_F32, NULL}));
  uint32_t stages = 1 + random_below(r, 2), loops = random_below(r, 3);
  net_stage shape = {.n = (int)random_below(r, RANDOM_NET_BITS), .loop_count = loops};
  shape.extents = NEW_ARRAY(a, uint64_t, loops);
  for (uint32_t l = 0; l < loops; l++)
    shape.extents[l] = 1 + random_below(r, 3);
  for (uint32_t i = 0; i < 1 + random_below(r, 3); i++)
    net_array_add(a, t, random_type(r), stage_points(&shape), NET_ARGUMENT, i);
  for (uint32_t i = 0; i < stages; i++) {
    net_stage s = shape;
    if (routines)
      random_routine(a, r, t, stage_points(&s));
    random_stage(a, r, t, &s, i + 1 == stages);
    vec_push(a, &t->stages, s);
  }
  return t;
}

static inline net *random_net_of(arena *a, random_state *r, bool routines) {
  for (;;) {
    net *t = random_attempt(a, r, routines);
    if (!net_verify(a, t) && !net_evaluate(a, t, 0)->garbage)
      return t;
  }
}

static inline net *random_net(arena *a, random_state *r) { return random_net_of(a, r, false); }

static inline size_t array_with(const net *t, net_role role, uint32_t number) {
  size_t i = 0;
  while (t->arrays.items[i].role != role || t->arrays.items[i].number != number)
    i++;
  return i;
}

static inline bool same_element(const element *expected, const element *found) {
  return !expected->defined ||
         (found->defined && memcmp(&expected->bits, &found->bits, sizeof found->bits) == 0);
}

// Whether `found`, of net u, has every element of the results that `expected`, of t, defines.
static inline bool same_results(const net *t, const evaluation *expected, const net *u,
                                const evaluation *found) {
  for (size_t i = 0; i < t->arrays.count; i++) {
    const net_array *result = &t->arrays.items[i];
    if (result->role != NET_RESULT)
      continue;
    const element *other = found->arrays[array_with(u, NET_RESULT, result->number)];
    for (uint64_t x = 0; x < result->count; x++)
      if (!same_element(&expected->arrays[i][x], &other[x]))
        return false;
  }
  return true;
}

#endif
