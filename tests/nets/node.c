// Random numbers, and random nodes of ops.
#include "tests/nets/make.h"

f2_matrix random_matrix(random_state *r, int n) {
  for (;;) {
    f2_matrix m = f2_zero(n, n);
    for (int i = 0; i < n; i++)
      m.row[i] = random_word(r) & f2_mask(n);
    if (f2_rank(m) == n)
      return m;
  }
}

scalar_bits random_element(random_state *r, scalar_type type) {
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

static const scalar_type random_types[] = {SCALAR_I32, SCALAR_I32, SCALAR_BOOL, SCALAR_U8,
                                           SCALAR_F32, SCALAR_I64, SCALAR_C64,  SCALAR_F16};
scalar_type random_type(random_state *r) { return random_types[random_below(r, 8)]; }

net_id random_inner(random_op *o, net_node node, uint32_t count, const net_id *operands) {
  node.operand_count = count;
  node.operands = (net_id *)operands;
  return net_node_add(o->memory, o->stage, &node);
}

net_map random_map(arena *a, random_state *r, const net_stage *s, uint64_t mask) {
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
  net_map_normalise(&m);
  return m;
}

static net_id random_index(random_op *o) {
  net_node node = {NET_INDEX, .type = SCALAR_I64};
  node.map = random_map(o->memory, o->random, o->stage, f2_mask(o->stage->n));
  for (uint32_t i = 0; i < node.map.row_count; i++) {
    uint64_t choice = random_word(o->random), mask = 0;
    for (int row = (int)o->k; row < o->stage->n; row++)
      mask ^= choice >> row & 1 ? o->inverse.row[row] : 0;
    node.map.rows[i].form.mask = mask;
  }
  net_map_normalise(&node.map);
  return net_node_add(o->memory, o->stage, &node);
}

net_id random_leaf(random_op *o, scalar_type type) {
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
      &(net_node){NET_CONSTANT, .type = type, .constant = random_element(o->random, type)});
}

// A comparison that chooses between what it compares, often.
static net_id random_select(random_op *o, scalar_type type, int depth) {
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

static net_id random_binary(random_op *o, scalar_op op, scalar_type from, net_id x, net_id y) {
  return random_inner(o, (net_node){NET_SCALAR, .type = scalar_result_of(op, from), .scalar = op},
                      2, (net_id[]){x, y});
}

// As tuples are compared, and the like.
static net_id random_logic(random_op *o, int depth) {
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

static net_id random_index_term(random_op *o) {
  if (random_chance(o->random, 3))
    return net_node_add(o->memory, o->stage,
                        &(net_node){NET_CONSTANT, .type = SCALAR_I64,
                                    .constant = random_element(o->random, SCALAR_I64)});
  return random_index(o);
}

static net_id random_arithmetic(random_op *o, bool compare) {
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

static net_id random_scalar(random_op *o, scalar_type type, int depth) {
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

net_id random_node(random_op *o, scalar_type type, int depth) {
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
