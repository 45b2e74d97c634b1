// Random ops: any, and those that rules look for.
#include "tests/nets/make.h"

random_frame random_directions(random_state *r, int n) {
  random_frame f = {.vectors = random_matrix(r, n)};
  if (random_chance(r, 2))
    f.vectors = f2_identity(n);
  f2_inverse(f.vectors, &f.inverse);
  return f;
}

void random_basis(random_state *r, random_frame *f) {
  f2_matrix mix = f2_identity(f->vectors.columns);
  f2_matrix low = random_matrix(r, 2);
  for (int i = 0; i < 2; i++)
    mix.row[i] = low.row[i];
  f->vectors = f2_multiply(f->vectors, mix);
  f2_inverse(f->vectors, &f->inverse);
}

// The node, for elements whose numbers differ by `by`; some constants are others.
static net_id random_moved(random_op *o, net_id id, uint64_t by) {
  net_id operands[3];
  if (id == NET_NONE)
    return NET_NONE;
  net_node node = o->stage->nodes.items[id];
  for (uint32_t i = 0; i < node.operand_count; i++)
    operands[i] = random_moved(o, node.operands[i], by);
  node.number ^= node.kind == NET_ELEMENT ? by : 0;
  if (node.kind == NET_CONSTANT && random_chance(o->random, 4))
    node.constant = random_element(o->random, node.type);
  node.operands = operands;
  return net_node_add(o->memory, o->stage, &node);
}

void random_op_add(random_op *o, const random_frame *f) {
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
static net_id random_step(random_op *o, const random_frame *f, const net_form *live, net_id from,
                          net_id *other) {
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
      net_node leaf = {NET_ELEMENT, .type = type, .value = from, .number = j};
      net_id choice[3] = {random_node(o, SCALAR_BOOL, 2)};
      for (int k = 1; k < 3; k++, leaf.number = count - 1 - j)
        choice[k] = random_chance(o->random, 3) ? random_leaf(o, type)
                                                : net_node_add(o->memory, o->stage, &leaf);
      op.outputs[i].elements[j] = random_inner(o, (net_node){NET_SELECT, .type = type}, 3, choice);
    }
  }
  vec_push(o->memory, &o->stage->ops, op);
  *other = op.outputs[op.output_count - 1].value;
  return op.outputs[0].value;
}

// Beside each other: what was made where the form is 0, and elsewhere what is kept.
static void random_join(random_op *o, net_row half, net_id made, net_id kept) {
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
    net_node leaf = {NET_ELEMENT, .type = type, .value = i == 1 ? made : kept};
    choice[i] = net_node_add(o->memory, o->stage, &leaf);
  }
  join.outputs = NEW(o->memory, net_output);
  join.outputs->value = net_value_add(o->memory, o->stage, type);
  join.outputs->elements = NEW(o->memory, net_id);
  join.outputs->elements[0] = random_inner(o, (net_node){NET_SELECT, .type = type}, 3, choice);
  vec_push(o->memory, &o->stage->ops, join);
}

// Ops on the part of the indices where a form is 0, one after the other, and what they make beside
// something else (the rule in-place). Or ops that are made everywhere, of which two values are
// wanted on that part, and two of another op elsewhere.
void random_part(random_op *o, const random_frame *f) {
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

// Element j of a comparator of x and y, or of what is like one for numbers without order. `way` 0: up;
// 1: down; 2: the smaller one, and both together; 3: a copy.
static net_id compared_element(random_op *o, uint32_t way, uint64_t j, net_id x, net_id y) {
  scalar_type type = o->stage->nodes.items[x].type;
  bool bits = CLASS_OF(type) & CLASS_BITS, complex = scalar_types[type].kind == KIND_COMPLEX;
  net_id both[2] = {x, y}, low, high;
  net_node node = {NET_SCALAR, .type = type, .scalar = OP_ADD};
  if (way == 3)
    return j & 1 ? y : x;
  if (bits || complex) {
    node.kind = bits ? NET_MIN : NET_SCALAR;
    low = random_inner(o, node, 2, both);
    node.kind = bits ? NET_MAX : NET_SCALAR;
    node.scalar = OP_SUB;
    high = random_inner(o, node, 2, both);
  } else {
    net_node less = {NET_SCALAR, .type = SCALAR_BOOL, .scalar = OP_LT};
    net_id c = random_inner(o, less, 2, both);
    node.kind = NET_SELECT;
    low = random_inner(o, node, 3, (net_id[]){c, x, y});
    high = random_inner(o, node, 3, (net_id[]){c, y, x});
  }
  node = (net_node){NET_SCALAR, .type = type, .scalar = bits ? OP_XOR : OP_MUL};
  if (way == 2)
    return j & 1 ? random_inner(o, node, 2, (net_id[]){low, y}) : low;
  return (j & 1) == way ? low : high;
}

// An op of comparators in direction 0; without directions, of each element and the constant.
static net_id random_comparators(random_op *o, const random_frame *f, uint32_t count,
                                 const net_form *live, net_id from, net_id constant) {
  net_op op = {.k = o->k, .origin = random_below(o->random, 100), .live_count = count};
  scalar_type type = o->stage->values.items[from];
  uint32_t way =
      random_chance(o->random, 2) ? random_below(o->random, 2) : random_below(o->random, 4);
  op.directions = NEW_ARRAY(o->memory, uint64_t, op.k);
  op.coordinates = NEW_ARRAY(o->memory, net_form, op.k);
  op.live = NEW_ARRAY(o->memory, net_form, count);
  if (count)
    memcpy(op.live, live, count * sizeof *live);
  for (uint32_t i = 0; i < op.k; i++) {
    op.directions[i] = f2_column(f->vectors, (int)i);
    op.coordinates[i] = (net_form){f->inverse.row[i], random_chance(o->random, 8)};
  }
  op.output_count = 1 + random_chance(o->random, 5);
  op.outputs = NEW_ARRAY(o->memory, net_output, op.output_count);
  for (uint32_t i = 0; i < op.output_count; i++) {
    op.outputs[i].value = net_value_add(o->memory, o->stage, type);
    op.outputs[i].elements = NEW_ARRAY(o->memory, net_id, UINT64_C(1) << op.k);
    for (uint64_t j = 0; j < UINT64_C(1) << op.k; j++) {
      net_node x = {NET_ELEMENT, .type = type, .value = from, .number = op.k ? j & ~1U : j};
      net_id both[2] = {net_node_add(o->memory, o->stage, &x), constant};
      x.number |= 1;
      if (op.k)
        both[1] = net_node_add(o->memory, o->stage, &x);
      op.outputs[i].elements[j] =
          compared_element(o, i ? (way + 1) % 4 : way, op.k ? j : 1 - i, both[0], both[1]);
    }
  }
  vec_push(o->memory, &o->stage->ops, op);
  return op.outputs[0].value;
}

// The stage's op of that number, made where the forms are 0: what it makes there.
static net_id random_again(random_op *o, size_t number, uint32_t count, const net_form *live) {
  net_op op = o->stage->ops.items[number];
  op.live = NEW_ARRAY(o->memory, net_form, count);
  op.live_count = count;
  memcpy(op.live, live, count * sizeof *live);
  net_output *outputs = NEW_ARRAY(o->memory, net_output, op.output_count);
  for (uint32_t i = 0; i < op.output_count; i++) {
    outputs[i] = op.outputs[i];
    outputs[i].value =
        net_value_add(o->memory, o->stage, o->stage->values.items[op.outputs[i].value]);
  }
  op.outputs = outputs;
  vec_push(o->memory, &o->stage->ops, op);
  return op.outputs[0].value;
}

// Comparators on one half of the indices, or of a part of them, and other ones on the other half,
// one column after the other, and what both make beside each other (the rule two-parts). By chance
// an op is done again elsewhere, and something reads what is made in one half.
void random_halves(random_op *o, const random_frame *f) {
  net_form live[2][2] = {{{f->inverse.row[o->k], false}}, {{f->inverse.row[o->k], true}}};
  net_id from = random_below(o->random, (uint32_t)o->stage->values.count), made[2] = {from, from};
  net_node number = {NET_CONSTANT, .type = o->stage->values.items[from]};
  bool within = o->k + 1 < (uint32_t)o->stage->n && random_chance(o->random, 3);
  for (int side = 0; side < 2 && within; side++)
    live[side][1] = (net_form){f->inverse.row[o->k + 1], false};
  for (uint32_t columns = 1 + random_below(o->random, 3); columns > 0; columns--) {
    number.constant = random_element(o->random, number.type);
    net_id constant = net_node_add(o->memory, o->stage, &number);
    uint32_t first = random_below(o->random, 2);
    for (uint32_t i = 0; i < 2; i++)
      made[i ^ first] =
          random_comparators(o, f, 1 + within, live[i ^ first], made[i ^ first], constant);
    size_t last = o->stage->ops.count;
    uint32_t side = random_below(o->random, 2);
    if (random_chance(o->random, 3))
      random_comparators(o, f, 1 + within, live[side], made[side], constant);
    if (random_chance(o->random, 4))
      made[side] = random_again(o, last - 1 - random_below(o->random, 2), 1 + within, live[side]);
    if (random_chance(o->random, 6))
      random_again(o, last - 1 - random_below(o->random, 2), within, live[side] + 1);
  }
  net_row row = {live[0][0], 1 + random_below(o->random, 2)};
  random_join(o, row, made[0], made[1]);
  if (random_chance(o->random, 2))
    random_comparators(o, f, 0, live[0], (net_id)o->stage->values.count - 1,
                       net_node_add(o->memory, o->stage, &number));
}

// The node where element i is element i ^ turn.
static net_id turned_node(random_op *o, net_id id, uint64_t turn) {
  net_node node = o->stage->nodes.items[id];
  net_id operands[3];
  for (uint32_t i = 0; i < node.operand_count; i++)
    operands[i] = turned_node(o, node.operands[i], turn);
  node.operands = operands;
  if (node.kind == NET_ELEMENT)
    node.number ^= turn;
  return net_node_add(o->memory, o->stage, &node);
}

// Comparators that do on one half of the indices what they do on the other half, with their elements
// in another order (the rule turned-half); by chance only nearly so.
void random_turned(random_op *o, const random_frame *f) {
  net_id from = random_below(o->random, (uint32_t)o->stage->values.count);
  net_node number = {NET_CONSTANT, .type = o->stage->values.items[from]};
  number.constant = random_element(o->random, number.type);
  random_comparators(o, f, 0, NULL, from, net_node_add(o->memory, o->stage, &number));
  net_op *op = &o->stage->ops.items[o->stage->ops.count - 1];
  uint64_t elements = UINT64_C(1) << op->k,
           turn = 1 + random_below(o->random, (uint32_t)elements - 1);
  uint64_t read = random_chance(o->random, 4) ? 0 : turn;
  f2_space all = live_all(o->stage->n);
  net_domain half = net_domain_on(
      live_where(all, (net_form){f->inverse.row[op->k], random_chance(o->random, 2)}));
  for (uint32_t i = 0; i < op->output_count; i++) {
    net_id *made = NEW_ARRAY(o->memory, net_id, elements);
    for (uint64_t j = 0; j < elements; j++)
      made[j] =
          net_domain_choose(o->memory, o->stage, op, j, &half, all, op->outputs[i].elements[j],
                            turned_node(o, op->outputs[i].elements[j ^ turn], read));
    op->outputs[i].elements = made;
  }
}

// An op of two outputs, of the first and the second element of each pair, and one that reads both
// (the rule one-output).
void random_sides(random_op *o, const random_frame *f) {
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
