// Folds of ranges: loops in scalar code, which compute their elements. See lower.h.
//
//   xs = values * gather columns v            t = turn (max begin 0) (min end 5)
//   fold begin end start xs +                 fold + t start (values_t * v_(columns_t))
//
// Elements of other steps than those of scalar code and gathers are read in memory.
#include "fusion/lower/lowering.h"

enum { MOST_DEEP = 16, MOST_STEPS = 64 };

typedef struct numbering {
  net_id number;  // a turn
  uint32_t steps;
} numbering;

// Where all axes are 0.
static int64_t map_start(const net_map *m) {
  static const uint64_t zeros[MAX_AXES];
  return net_map_at(m, zeros, 0);
}

// Of what is in memory, by its number among all, or computed of that.
static net_id read_element(lowering *l, const lowered *v, net_id number) {
  const net_node *node = v->kind == LOWERED_EXPRESSION ? &l->pool.nodes.items[v->node] : NULL;
  const storage *held = node && node->kind == NET_ELEMENT ? &l->storages.items[node->value] : NULL;
  int64_t stride = 0, offset = node ? map_start(&node->map) : 0;
  bool there = held && held->in_memory && held->padding_start == UINT64_MAX;
  if (!(there || (node && node->kind == NET_INDEX)) ||
      !map_plain(&node->map, v->axes, 0, v->axes->count, &stride))
    return NET_NONE;
  net_node gather = {.kind = NET_GATHER, .type = node->type, .number = there ? held->array : 0};
  if (stride != 1)
    number = pool_scalar(l, OP_MUL, SCALAR_I64, number, pool_constant(l, SCALAR_I64, stride));
  if (offset)
    number = pool_scalar(l, OP_ADD, SCALAR_I64, number, pool_constant(l, SCALAR_I64, offset));
  return there ? pool_operation(l, gather, 1, &number) : number;
}

static net_id element_of_step(lowering *l, numbering *n, value_id id, uint32_t depth);

static net_id element_of_gather(lowering *l, numbering *n, const trace_step *s, uint32_t depth) {
  const trace_step *of = operand_step(l, s, 1);
  if (of->batch != 1 || of->rank != 1)
    return NET_NONE;
  net_id place = element_of_step(l, n, s->operands[0], depth);
  if (place == NET_NONE)
    return NET_NONE;
  lowered from = lower_operand(l, s, 1);
  gathered g = make_gatherable(l, &from, of);
  int64_t first = map_start(&l->pool.nodes.items[from.node].map);
  bool whole = g.stride == 1 && !first && l->net->arrays.items[g.array].count == of->dims[0];
  net_id address = add_address(l, place, of->dims[0], g.stride, &(net_map){.offset = first}, whole);
  net_node gather = {.kind = NET_GATHER, .type = s->type, .number = g.array};
  return pool_operation(l, gather, 1, &address);
}

static net_id element_of_scalar(lowering *l, numbering *n, const trace_step *s, uint32_t depth) {
  net_node node = {.kind = s->op == TRACE_SCALAR   ? NET_SCALAR
                           : s->op == TRACE_SELECT ? NET_SELECT
                                                   : NET_CONVERT,
                   .type = s->type,
                   .scalar = s->scalar};
  net_id operands[3];
  for (uint32_t i = 0; i < s->operand_count; i++) {
    const trace_step *o = operand_step(l, s, i);
    if (o->batch != s->batch && o->op != TRACE_CONSTANT)
      return NET_NONE;
    operands[i] = element_of_step(l, n, s->operands[i], depth);
    if (operands[i] == NET_NONE)
      return NET_NONE;
  }
  return pool_operation(l, node, s->operand_count, operands);
}

// The element of the step's value with that number, all instances row by row; NET_NONE: it has to be
// stored first.
static net_id element_of_step(lowering *l, numbering *n, value_id id, uint32_t depth) {
  const trace_step *s = &l->trace->steps.items[id];
  net_id there = read_element(l, &l->values[id], n->number);
  if (there != NET_NONE || depth == MOST_DEEP || ++n->steps > MOST_STEPS)
    return there;
  switch (s->op) {
  case TRACE_CONSTANT:
    return l->values[id].node;
  case TRACE_RESHAPE:
    return element_of_step(l, n, s->operands[0], depth + 1);
  case TRACE_SCALAR:
  case TRACE_SELECT:
  case TRACE_CONVERT:
    return element_of_scalar(l, n, s, depth + 1);
  case TRACE_GATHER:
    return element_of_gather(l, n, s, depth + 1);
  default:
    return NET_NONE;
  }
}

// xs as an array, row by row; what the rows' elements are numbered from, over the axes of the batch.
static net_id row_start(lowering *l, const trace_step *of, value_id id, const axes *batch,
                        net_id *array) {
  lowered xs = l->values[id];
  if (xs.kind != LOWERED_EXPRESSION)
    join_parts(l, of, &xs, false);
  make_plain(l, &xs, NET_REASON_PLACED);
  l->values[id] = xs;
  *array = array_of_element(l, xs.node);
  lowered row = expression(l, batch, pool_index(l, &(net_map){0}));
  uint32_t outer = cut_axes(l, &row, of->batch);
  net_map base = map_numbered(l->memory, &(net_map){0}, row.axes, 0, outer, (int64_t)of->dims[0]);
  return pool_index(l, &base);
}

static net_id add_choice(lowering *l, scalar_op op, net_id x, int64_t y) {
  net_id other = pool_constant(l, SCALAR_I64, y);
  return pool_select(l, pool_scalar(l, op, SCALAR_BOOL, x, other), x, other);
}

// Only elements of xs: where a check finds a wrong number, nothing else may happen.
lowered lower_fold(lowering *l, const trace_step *s) {
  const trace_step *of = operand_step(l, s, 3);
  if (!trace_step_count(s))
    return zeros_of_step(l, s);
  lowered v[3];
  for (uint32_t i = 0; i < 3; i++)
    v[i] = l->values[s->operands[i]];
  axes shared = agree_on_batch(l, v, 3, s->batch);
  net_id ends[] = {add_choice(l, OP_GT, v[0].node, 0),
                   add_choice(l, OP_LT, v[1].node, (int64_t)of->dims[0])};
  net_node turn = {.kind = NET_TURN, .type = SCALAR_I64}, gather = {.kind = NET_GATHER};
  numbering n = {pool_operation(l, turn, 2, ends), 0};
  net_id x = of->batch == 1 ? element_of_step(l, &n, s->operands[3], 0) : NET_NONE, array;
  if (x == NET_NONE) {
    net_id start = row_start(l, of, s->operands[3], &shared, &array);
    for (int i = 0; i < 2 && of->batch > 1; i++)
      ends[i] = pool_scalar(l, OP_ADD, SCALAR_I64, ends[i], start);
    n.number = pool_operation(l, turn, 2, ends);
    gather.type = s->type;
    gather.number = array;
    x = pool_operation(l, gather, 1, &n.number);
  }
  net_node fold = {.kind = NET_FOLD, .type = s->type, .scalar = s->scalar};
  net_id folded = pool_operation(l, fold, 3, (net_id[]){n.number, v[2].node, x});
  return expression(l, &shared, place(l, &shared, 1, &folded, shared.count));
}
