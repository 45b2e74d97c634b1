// The invariants of net.h, each as a sentence.
//
// A check_ function returns NULL or what is wrong with its object, without the object's place.
#include "fusion/net/net.h"

#include <inttypes.h>

enum { NOT_DEFINED = 0, DEFINED_BY_LOAD = 1, DEFINED_BY_OP = 2 };
enum { MOST_ELEMENTS = 20 };  // 2^20 elements of an op

// What is checked here and in routine.c, all fields of it: one that is added does not compile here
// (-Wmissing-field-initializers) until there is a check of it, or a reason why there is none.
#define ALL_FIELDS(type, ...) _Static_assert(sizeof((type){__VA_ARGS__}) > 0, #type)
ALL_FIELDS(net_array, 0, 0, 0, 0, 0, 0, 0, 0, 0);
ALL_FIELDS(net_map, 0, 0, 0, 0, 0);
ALL_FIELDS(net_node, 0, 0, 0, 0, 0, 0, 0, {0}, {{0}});
ALL_FIELDS(net_output, 0, 0);
ALL_FIELDS(net_op, 0, 0, 0, 0, 0, 0, 0, 0);
ALL_FIELDS(net_load, 0, 0, {0}, 0, {{0}});
ALL_FIELDS(net_store, 0, 0, {0}, 0, 0, 0);
ALL_FIELDS(net_routine, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
ALL_FIELDS(net_stage, 0, 0, 0, 0, 0, 0, 0, 0, {0}, {0}, {0}, {0}, {0}, {0}, 0, 0, 0);

// Returns what is wrong, if something is; of items 0 ... count - 1 with the item's name.
#define CHECK(check)                                                                               \
  do {                                                                                             \
    const char *wrong = (check);                                                                   \
    if (wrong)                                                                                     \
      return wrong;                                                                                \
  } while (0)
#define CHECK_EACH(memory, count, name, check)                                                     \
  for (size_t i = 0; i < (count); i++) {                                                           \
    const char *wrong = check;                                                                     \
    if (wrong)                                                                                     \
      return arena_printf(memory, name "%zu: %s", i, wrong);                                       \
  }

typedef struct checker {
  arena *memory;
  const net *net;
  const net_stage *stage;
  bool empty;             // a loop of no iterations: nothing is executed
  uint64_t *spans;        // by loop: one more than its last index
  uint32_t *defined;      // by value: how; op i defines as DEFINED_BY_OP + i
  const net_output **by;  // by value: the op's output, if defined by one
  const net_id *turns;    // by node: see net_turns_of
  bool *uniform;          // by node
  uint64_t *stored;       // by array: points stored so far (UINT64_MAX: unknown)
  bool *written;          // by array: by an earlier stage
} checker;

// ---- arrays and foreign functions ------------------------------------------------------------

static bool is_part_of(const net *t, const net_array *part, size_t id) {
  const net_array *whole = &t->arrays.items[part->part_of - 1];
  return part->role == NET_TEMPORARY && part->part_of <= id && whole->type == part->type &&
         !whole->part_of && part->part_at <= whole->count &&
         part->count <= whole->count - part->part_at;
}

static const char *check_array(arena *a, const net *t, size_t id) {
  const net_array *array = &t->arrays.items[id];
  uint64_t bytes = 0;
  if ((unsigned)array->type >= SCALAR_COUNT)
    return "there is no such element type";
  if (__builtin_mul_overflow(array->count, scalar_types[array->type].size, &bytes) ||
      bytes > INT64_MAX)
    return "its size overflows";
  if ((unsigned)array->role >= NET_ROLES)
    return "there is no such role";
  if ((array->role == NET_TABLE) != (array->table != NULL))
    return "a table, and nothing else, has elements";
  if (array->part_of && !is_part_of(t, array, id))
    return "it is no part of an array before it";
  for (size_t i = 0; i < id && array->role != NET_TEMPORARY; i++)
    if (t->arrays.items[i].role == array->role && t->arrays.items[i].number == array->number)
      return arena_printf(a, "it is %s %" PRIu32 ", as a%zu is", net_role_names[array->role],
                          array->number, i);
  return NULL;
}

static const char *check_extern_row(const c_function *e) {
  if (!e->name || !e->library)
    return "it has no name or no library";
  if ((unsigned)e->result >= SCALAR_COUNT)
    return "there is no such element type";
  for (uint32_t i = 0; i < e->arity; i++)
    if ((unsigned)e->parameters[i] >= SCALAR_COUNT)
      return "there is no such element type";
  return NULL;
}

// ---- forms and maps --------------------------------------------------------------------------

static bool is_in_space(const checker *c, uint64_t mask) {
  return (mask & ~f2_mask(c->stage->n)) == 0;
}

static const char *check_live(const checker *c, uint32_t count, const net_form *forms) {
  for (uint32_t i = 0; i < count; i++)
    if (!is_in_space(c, forms[i].mask))
      return arena_printf(c->memory, "live form %" PRIu32 " has a bit beyond x%d", i,
                          c->stage->n - 1);
  return NULL;
}

static const char *check_map(const checker *c, const net_map *m) {
  if (m->loop_count != c->stage->loop_count)
    return arena_printf(c->memory, "its map has %" PRIu32 " strides, the stage %" PRIu32 " loops",
                        m->loop_count, c->stage->loop_count);
  for (uint32_t r = 0; r < m->row_count; r++)
    if (!is_in_space(c, m->rows[r].form.mask))
      return arena_printf(c->memory, "row %" PRIu32 " of its map has a bit beyond x%d", r,
                          c->stage->n - 1);
  return net_map_is_canonical(m) ? NULL : "its map is not canonical";
}

// Addresses on `alive` are in the array, or, as unsigned numbers, from `start` on.
static const char *check_addresses(const checker *c, const net_map *m, uint64_t start,
                                   f2_space alive, net_id array) {
  uint64_t count = c->net->arrays.items[array].count;
  int64_t low = 0, high = 0;
  if (c->empty || live_is_empty(alive))
    return NULL;
  if (!live_map_range(c->memory, m, c->spans, alive, &low, &high))
    return "its addresses overflow";
  if (start <= count)
    return NULL;
  if (low < 0)
    return arena_printf(c->memory, "its least address is %" PRId64, low);
  if ((uint64_t)high < count)
    return NULL;
  return arena_printf(c->memory, "its addresses go to %" PRId64 ", a%" PRIu32 " has %" PRIu64, high,
                      array, count);
}

// ---- nodes -----------------------------------------------------------------------------------

static scalar_type operand_type(const checker *c, const net_node *node, uint32_t i) {
  return c->stage->nodes.items[node->operands[i]].type;
}

static const char *check_operand(const checker *c, const net_node *node, uint32_t i,
                                 scalar_type expected) {
  scalar_type found = operand_type(c, node, i);
  if (found == expected)
    return NULL;
  return arena_printf(c->memory, "operand %" PRIu32 " is %s, not %s", i, scalar_types[found].name,
                      scalar_types[expected].name);
}

static const char *check_element_node(const checker *c, const net_node *node) {
  if (node->value >= c->stage->values.count)
    return arena_printf(c->memory, "there is no v%" PRIu32, node->value);
  scalar_type type = c->stage->values.items[node->value];
  if (type != node->type)
    return arena_printf(c->memory, "v%" PRIu32 " is %s, not %s", node->value,
                        scalar_types[type].name, scalar_types[node->type].name);
  return node->map.loop_count == 0 && node->map.row_count == 0 && node->map.offset == 0
             ? NULL
             : "an element node has no map";
}

static const char *check_constant(const net_node *node) {
  for (size_t i = scalar_types[node->type].size; i < sizeof node->constant; i++)
    if (node->constant.bytes[i] != 0)
      return "bytes beyond the constant's type are not 0";
  return NULL;
}

static const char *check_scalar(const checker *c, const net_node *node) {
  if ((unsigned)node->scalar >= SCALAR_OP_COUNT)
    return "there is no such scalar operation";
  const scalar_op_row *row = &scalar_ops[node->scalar];
  if (node->operand_count != (uint32_t)row->arity)
    return arena_printf(c->memory, "%s takes %d operands", row->name, row->arity);
  scalar_type type = operand_type(c, node, 0);
  if (!(row->operands & CLASS_OF(type)))
    return arena_printf(c->memory, "%s has no meaning for %s", row->name, scalar_types[type].name);
  if (scalar_result_of(node->scalar, type) != node->type)
    return arena_printf(c->memory, "%s of %s does not give %s", row->name, scalar_types[type].name,
                        scalar_types[node->type].name);
  return row->arity == 2 ? check_operand(c, node, 1, node->scalar == OP_POWI ? SCALAR_I64 : type)
                         : NULL;
}

static const char *check_convert(const checker *c, const net_node *node) {
  bool from_complex = scalar_types[operand_type(c, node, 0)].kind == KIND_COMPLEX;
  return from_complex && scalar_types[node->type].kind != KIND_COMPLEX
             ? "a complex number has no conversion to a real type"
             : NULL;
}

static const char *check_call(const checker *c, const net_node *node) {
  if (node->number >= c->net->externs.count)
    return "there is no such foreign function";
  const c_function *e = &c->net->externs.items[node->number];
  if (node->operand_count != e->arity)
    return arena_printf(c->memory, "%s takes %" PRIu32 " operands", e->name, e->arity);
  if (node->type != e->result)
    return arena_printf(c->memory, "%s gives %s", e->name, scalar_types[e->result].name);
  for (uint32_t i = 0; i < e->arity; i++)
    CHECK(check_operand(c, node, i, e->parameters[i]));
  return NULL;
}

static const char *check_node_array(const checker *c, const net_node *node, scalar_type type) {
  if (node->number >= c->net->arrays.count)
    return arena_printf(c->memory, "there is no a%" PRIu64, node->number);
  scalar_type found = c->net->arrays.items[node->number].type;
  return found == type ? NULL
                       : arena_printf(c->memory, "a%" PRIu64 " is %s, not %s", node->number,
                                      scalar_types[found].name, scalar_types[type].name);
}

static const char *check_fold(scalar_op op, scalar_type type) {
  return (unsigned)op < SCALAR_OP_COUNT && scalar_folds(op, type)
             ? NULL
             : "it folds by no operation of its type";
}

// Whether it has one value for all indices.
static bool is_uniform(const checker *c, const net_node *node) {
  bool same = node->kind != NET_ELEMENT && !net_node_is(node->kind, NET_HAS_EFFECT) &&
              (node->kind != NET_INDEX || net_map_is_constant(&node->map));
  for (uint32_t i = 0; i < node->operand_count; i++)
    same = same && c->uniform[node->operands[i]];
  return same;
}

// In a turn are its numbers, what is the same for all indices, and what is made of both.
static const char *check_turn(const checker *c, size_t id) {
  const net_node *node = &c->stage->nodes.items[id];
  bool in_turn = c->turns[id] != NET_NONE && node->kind != NET_TURN;
  c->uniform[id] = is_uniform(c, node);
  for (uint32_t i = 0; i < node->operand_count; i++) {
    net_id turn = c->turns[node->operands[i]], own = c->turns[id];
    bool uniform = c->uniform[node->operands[i]];
    if (node->kind == NET_FOLD)
      own = i == 0 || (i == 2 && !uniform) ? node->operands[0] : NET_NONE;
    else if (node->kind == NET_TURN || (in_turn && uniform))
      own = NET_NONE;
    if (turn != own)
      return arena_printf(c->memory, "operand %" PRIu32 " is of another turn, or of none", i);
  }
  return in_turn && net_node_is(node->kind, NET_HAS_EFFECT) ? "a turn has effects" : NULL;
}

// What the kind's row says of the types.
static const char *check_types(const checker *c, const net_node *node) {
  const net_node_row *row = &net_nodes[node->kind];
  if (!(row->types & CLASS_OF(node->type)))
    return arena_printf(c->memory, "%s has no meaning for %s", row->name,
                        scalar_types[node->type].name);
  for (uint32_t i = 0; row->operands && row->operands[i]; i++)
    if (row->operands[i] != 'x')
      CHECK(check_operand(c, node, i,
                          row->operands[i] == 'b'   ? SCALAR_BOOL
                          : row->operands[i] == 'i' ? SCALAR_I64
                                                    : node->type));
  return NULL;
}

static const char *check_kind(const checker *c, const net_node *node) {
  switch (node->kind) {
  case NET_ELEMENT:
    return check_element_node(c, node);
  case NET_INDEX:
    return check_map(c, &node->map);
  case NET_CONSTANT:
    return check_constant(node);
  case NET_SCALAR:
    return check_scalar(c, node);
  case NET_MIN:
  case NET_MAX:
  case NET_SELECT:
    return NULL;
  case NET_CONVERT:
    return check_convert(c, node);
  case NET_ROOT:
    return node->number && node->number <= INT64_MAX ? NULL
                                                     : "the order of the root is not positive";
  case NET_EXTERN:
    return check_call(c, node);
  case NET_GATHER:
    return check_node_array(c, node, node->type);
  case NET_SCATTER:
    return check_node_array(c, node, operand_type(c, node, 1));
  case NET_GROUP:
    CHECK(check_node_array(c, node, operand_type(c, node, 1)));
    return check_fold(node->scalar, operand_type(c, node, 1));
  case NET_TURN:
    return NULL;
  case NET_FOLD:
    return c->stage->nodes.items[node->operands[0]].kind == NET_TURN
               ? check_fold(node->scalar, node->type)
               : "it does not fold a turn";
  }
  return "there is no such kind of node";
}

static const char *check_node(const checker *c, size_t id) {
  const net_node *node = &c->stage->nodes.items[id];
  if ((unsigned)node->kind >= NET_NODE_KINDS)
    return "there is no such kind of node";
  if ((unsigned)node->type >= SCALAR_COUNT)
    return "there is no such element type";
  const char *operands = net_nodes[node->kind].operands;
  if (operands && node->operand_count != strlen(operands))
    return arena_printf(c->memory, "it has %" PRIu32 " operands, not %zu", node->operand_count,
                        strlen(operands));
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (node->operands[i] >= id)
      return arena_printf(c->memory, "operand node %" PRIu32 " does not precede it",
                          node->operands[i]);
  CHECK(check_types(c, node));
  CHECK(check_turn(c, id));
  return check_kind(c, node);
}

// ---- ops -------------------------------------------------------------------------------------

static const char *define_value(const checker *c, net_id value, uint32_t how,
                                const net_output *by) {
  if (value >= c->stage->values.count)
    return arena_printf(c->memory, "there is no v%" PRIu32, value);
  if (c->defined[value] != NOT_DEFINED)
    return arena_printf(c->memory, "v%" PRIu32 " is defined before", value);
  c->defined[value] = how;
  c->by[value] = by;
  return NULL;
}

// Coordinates that are dual to the directions show that these are independent.
static const char *check_directions(const checker *c, const net_op *op) {
  for (uint32_t i = 0; i < op->k; i++) {
    if (!is_in_space(c, op->directions[i]))
      return arena_printf(c->memory, "direction %" PRIu32 " has a bit beyond x%d", i,
                          c->stage->n - 1);
    if (op->directions[i] >> net_share_bits(c->stage))
      return arena_printf(c->memory, "direction %" PRIu32 " has a bit that numbers shares", i);
    if (!is_in_space(c, op->coordinates[i].mask))
      return arena_printf(c->memory, "coordinate %" PRIu32 " has a bit beyond x%d", i,
                          c->stage->n - 1);
    for (uint32_t l = 0; l < op->k; l++)
      if (f2_dot(op->coordinates[i].mask, op->directions[l]) != (i == l))
        return arena_printf(c->memory, "coordinate %" PRIu32 " %s with direction %" PRIu32, i,
                            i == l ? "does not change" : "changes", l);
  }
  for (uint32_t i = 0; i < op->live_count; i++)
    for (uint32_t l = 0; l < op->k; l++)
      if (f2_dot(op->live[i].mask, op->directions[l]))
        return arena_printf(c->memory, "live form %" PRIu32 " changes with direction %" PRIu32, i,
                            l);
  return NULL;
}

// A node that the op evaluates.
static const char *check_use(const checker *c, const net_op *op, const net_node *node) {
  if (node->kind == NET_ELEMENT && c->defined[node->value] == NOT_DEFINED)
    return arena_printf(c->memory, "v%" PRIu32 " is not defined before", node->value);
  if (node->kind == NET_ELEMENT && node->number >> op->k != 0)
    return arena_printf(c->memory, "it has no element %" PRIu64, node->number);
  if (node->kind == NET_INDEX)
    for (uint32_t r = 0; r < node->map.row_count; r++)
      for (uint32_t l = 0; l < op->k; l++)
        if (f2_dot(node->map.rows[r].form.mask, op->directions[l]))
          return arena_printf(c->memory, "an index changes with direction %" PRIu32, l);
  return NULL;
}

static const char *check_elements(const checker *c, const net_op *op, const net_output *output) {
  bool alive = false;
  if (output->value >= c->stage->values.count)
    return arena_printf(c->memory, "there is no v%" PRIu32, output->value);
  for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
    net_id id = output->elements[j];
    if (id == NET_NONE)
      continue;
    alive = true;
    if (id >= c->stage->nodes.count)
      return arena_printf(c->memory, "there is no node %" PRIu32, id);
    scalar_type found = c->stage->nodes.items[id].type,
                type = c->stage->values.items[output->value];
    if (c->turns[id] != NET_NONE)
      return arena_printf(c->memory, "element %" PRIu64 " of v%" PRIu32 " is of a turn", j,
                          output->value);
    if (found != type)
      return arena_printf(c->memory, "element %" PRIu64 " of v%" PRIu32 " is %s, not %s", j,
                          output->value, scalar_types[found].name, scalar_types[type].name);
  }
  return alive ? NULL : arena_printf(c->memory, "all of v%" PRIu32 " is dead", output->value);
}

static const char *check_op(const checker *c, uint32_t number) {
  const net_op *op = &c->stage->ops.items[number];
  if (op->k > (uint32_t)c->stage->n || op->k > MOST_ELEMENTS)
    return arena_printf(c->memory, "2^%" PRIu32 " elements are too many", op->k);
  if (op->output_count == 0)
    return "it makes no value";
  CHECK(check_live(c, op->live_count, op->live));
  CHECK(check_directions(c, op));
  for (uint32_t i = 0; i < op->output_count; i++)
    CHECK(check_elements(c, op, &op->outputs[i]));
  uint32_t count = net_op_nodes(c->stage, op, c->stage->walk);
  for (uint32_t i = 0; i < count; i++)
    CHECK(check_use(c, op, &c->stage->nodes.items[c->stage->walk[i]]));
  for (uint32_t i = 0; i < op->output_count; i++)
    CHECK(define_value(c, op->outputs[i].value, DEFINED_BY_OP + number, &op->outputs[i]));
  return NULL;
}

// ---- loads and stores ------------------------------------------------------------------------

static const char *check_ends(const checker *c, net_id value, net_id array) {
  if (value >= c->stage->values.count)
    return arena_printf(c->memory, "there is no v%" PRIu32, value);
  if (array >= c->net->arrays.count)
    return arena_printf(c->memory, "there is no a%" PRIu32, array);
  scalar_type from = c->stage->values.items[value], to = c->net->arrays.items[array].type;
  return from == to ? NULL
                    : arena_printf(c->memory, "v%" PRIu32 " is %s, a%" PRIu32 " %s", value,
                                   scalar_types[from].name, array, scalar_types[to].name);
}

static const char *check_load(const checker *c, const net_load *load) {
  CHECK(check_ends(c, load->value, load->array));
  CHECK(check_map(c, &load->map));
  CHECK(check_addresses(c, &load->map, load->padding_start, live_all(c->stage->n), load->array));
  return define_value(c, load->value, DEFINED_BY_LOAD, NULL);
}

// The value is made everywhere where it is stored.
static const char *check_made(const checker *c, const net_store *store, f2_space alive) {
  uint32_t how = c->defined[store->value];
  if (how == NOT_DEFINED)
    return arena_printf(c->memory, "v%" PRIu32 " is not defined", store->value);
  if (how == DEFINED_BY_LOAD || live_is_empty(alive))
    return NULL;
  const net_op *op = &c->stage->ops.items[how - DEFINED_BY_OP];
  if (!live_within(alive, live_of_op(c->stage, op)))
    return arena_printf(c->memory, "v%" PRIu32 " is dead at some of its indices", store->value);
  for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
    if (c->by[store->value]->elements[j] == NET_NONE &&
        !live_is_empty(live_element(alive, op->k, op->coordinates, j)))
      return arena_printf(c->memory, "element %" PRIu64 " of v%" PRIu32 " is dead", j,
                          store->value);
  return NULL;
}

static void count_points(const checker *c, const net_store *store, f2_space alive) {
  uint64_t points = c->empty ? 0 : live_points(alive), *sum = &c->stored[store->array];
  bool known = store->padding_start == UINT64_MAX && !net_stage_overlaps(c->stage);
  for (uint32_t l = 0; l < c->stage->loop_count; l++)
    known = !__builtin_mul_overflow(points, c->stage->extents[l], &points) && known;
  if (points && (!known || __builtin_add_overflow(*sum, points, sum)))
    *sum = UINT64_MAX;
}

static const char *check_store(const checker *c, const net_store *store) {
  CHECK(check_ends(c, store->value, store->array));
  CHECK(check_map(c, &store->map));
  CHECK(check_live(c, store->live_count, store->live));
  f2_space alive = live_set(c->stage->n, store->live_count, store->live);
  CHECK(check_addresses(c, &store->map, store->padding_start, alive, store->array));
  CHECK(check_made(c, store, alive));
  if (!net_stage_overlaps(c->stage) &&
      live_map_injective(c->memory, &store->map, c->spans, alive) == LIVE_NO)
    return "two of its indices have one address";
  count_points(c, store, alive);
  return NULL;
}

// ---- stages ----------------------------------------------------------------------------------

static const char *check_shares(const checker *c) {
  const net_stage *s = c->stage;
  if (s->shares < 0 || s->shares > s->n)
    return arena_printf(c->memory, "%d of its %d index bits number shares", s->shares, s->n);
  if (s->shares && s->loop_count)
    return "its index bits number shares, and it has loops";
  if (s->share_turns && (s->shares || s->loop_count <= s->share_outer))
    return s->shares ? "bits and turns of a loop number its shares"
                     : "its shares have turns, and it has no such loop";
  return NULL;
}

static const char *check_space(const checker *c) {
  const net_stage *s = c->stage;
  if (s->n < 0 || s->n > LIVE_MAX)
    return arena_printf(c->memory, "it has %d index bits", s->n);
  CHECK(check_shares(c));
  uint64_t points = UINT64_C(1) << s->n;
  for (uint32_t l = 0; l < s->loop_count && !c->empty; l++)
    if (__builtin_mul_overflow(points, s->extents[l], &points) || points > INT64_MAX)
      return "its index space is too large";
  for (size_t v = 0; v < s->values.count; v++)
    if ((unsigned)s->values.items[v] >= SCALAR_COUNT)
      return arena_printf(c->memory, "v%zu: there is no such element type", v);
  return NULL;
}

static const char *check_stage(const checker *c) {
  const net_stage *s = c->stage;
  CHECK(check_space(c));
  if (s->nodes.count != s->node_table.count)
    return "nodes were added by another than net_node_add";
  CHECK_EACH(c->memory, s->nodes.count, "node ", check_node(c, i))
  CHECK_EACH(c->memory, s->loads.count, "load ", check_load(c, &s->loads.items[i]))
  CHECK_EACH(c->memory, s->ops.count, "op ", check_op(c, (uint32_t)i))
  for (size_t v = 0; v < s->values.count; v++)
    if (c->defined[v] == NOT_DEFINED)
      return arena_printf(c->memory, "v%zu is never defined", v);
  CHECK_EACH(c->memory, s->stores.count, "store ", check_store(c, &s->stores.items[i]))
  return NULL;
}

// ---- accesses of arrays ----------------------------------------------------------------------

// What has it, in a message.
static const char *access_name(arena *a, const net_access *at) {
  static const char *const names[] = {"load", "node", "store"};
  return at->by == NET_BY_ROUTINE ? "" : arena_printf(a, "%s %zu: ", names[at->by], at->number);
}

// What is read is there, what is written is not given; what a routine writes, nobody else does.
static const char *check_accesses(checker *c) {
  for (net_access at = {0}; net_access_next(c->stage, &at);) {
    const net_array *array = &c->net->arrays.items[at.array];
    net_id whole = NET_WHOLE_OF(c->net->arrays.items, at.array);
    bool given = net_array_is_given(&c->net->arrays.items[whole]);
    const char *wrong = NULL;
    if (!at.writes && !given && !c->written[whole] && !c->empty)
      wrong = "not written before";
    else if (at.writes && (given || array->part_of))
      wrong = array->role == NET_TABLE ? "a table" : "an argument";
    if (wrong)
      return arena_printf(c->memory, "%sa%" PRIu32 " is %s", access_name(c->memory, &at), at.array,
                          wrong);
  }
  for (net_access at = {0}; net_access_next(c->stage, &at);) {
    if (!at.writes)
      continue;
    if (at.by == NET_BY_ROUTINE && c->written[at.array])
      return arena_printf(c->memory, "a%" PRIu32 " is written before", at.array);
    if (at.by != NET_BY_STORE)
      c->stored[at.array] =
          at.by == NET_BY_NODE ? UINT64_MAX : c->net->arrays.items[at.array].count;
    c->written[at.array] = true;
  }
  return NULL;
}

static const char *check_numbered_stage(checker *c, size_t number) {
  const net_stage *s = c->stage = &c->net->stages.items[number];
  c->empty = false;
  c->spans = NEW_ARRAY(c->memory, uint64_t, s->loop_count);
  for (uint32_t l = 0; l < s->loop_count; l++) {
    c->empty = c->empty || s->extents[l] == 0;
    c->spans[l] = s->extents[l] ? net_loop_index(s, l, s->extents[l] - 1) + 1 : 0;
  }
  c->defined = NEW_ARRAY(c->memory, uint32_t, s->values.count);
  c->by = NEW_ARRAY(c->memory, const net_output *, s->values.count);
  c->turns = net_turns_of(c->memory, s);
  c->uniform = NEW_ARRAY(c->memory, bool, s->nodes.count);
  const char *wrong = s->routine ? net_routine_problem(c->memory, c->net, s) : check_stage(c);
  if (!wrong)
    wrong = check_accesses(c);
  return wrong ? arena_printf(c->memory, "stage %zu: %s", number, wrong) : NULL;
}

// ---- the whole -------------------------------------------------------------------------------

// An array is read after all of it is written.
static const char *check_order(arena *a, const net *t) {
  size_t *last = NEW_ARRAY(a, size_t, t->arrays.count);  // 1 + the last stage that writes it
  for (size_t i = 0; i < t->stages.count; i++)
    for (net_access at = {0}; net_access_next(&t->stages.items[i], &at);)
      last[at.array] = at.writes ? i + 1 : last[at.array];
  for (size_t i = 0; i < t->stages.count; i++)
    for (net_access at = {0}; net_access_next(&t->stages.items[i], &at);) {
      net_id whole = NET_WHOLE_OF(t->arrays.items, at.array);
      if (at.writes || last[whole] <= i)
        continue;
      return arena_printf(a, "stage %zu: %sa%" PRIu32 " is written by stage %zu", i,
                          access_name(a, &at), at.array, last[whole] - 1);
    }
  return NULL;
}

// Every element of a result is stored, none of any array twice, as far as their number tells.
static const char *check_counts(const checker *c) {
  for (size_t id = 0; id < c->net->arrays.count; id++) {
    const net_array *array = &c->net->arrays.items[id];
    if (c->stored[id] != UINT64_MAX && c->stored[id] > array->count)
      return arena_printf(c->memory, "a%zu: %" PRIu64 " elements are stored, it has %" PRIu64, id,
                          c->stored[id], array->count);
    if (array->role == NET_RESULT && c->stored[id] < array->count)
      return arena_printf(c->memory, "a%zu: %" PRIu64 " of its %" PRIu64 " elements are stored", id,
                          c->stored[id], array->count);
  }
  return NULL;
}

const char *net_verify(arena *a, const net *t) {
  checker c = {.memory = a, .net = t};
  c.stored = NEW_ARRAY(a, uint64_t, t->arrays.count);
  c.written = NEW_ARRAY(a, bool, t->arrays.count);
  CHECK_EACH(a, t->arrays.count, "a", check_array(a, t, i))
  CHECK_EACH(a, t->externs.count, "e", check_extern_row(&t->externs.items[i]))
  for (size_t i = 0; i < t->stages.count; i++)
    CHECK(check_numbered_stage(&c, i));
  CHECK(check_order(a, t));
  return check_counts(&c);
}
