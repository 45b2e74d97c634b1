// Maps, and the building of Nets: nodes are shared through a hash table. See net.h.
#include "fusion/net/net.h"
#include "core/number.h"

// ---- maps ------------------------------------------------------------------------------------

// Sums wrap: an address that overflows is one that net_verify has refused.
int64_t net_map_at(const net_map *m, const uint64_t *o, uint64_t x) {
  uint64_t sum = (uint64_t)m->offset;
  for (uint32_t l = 0; l < m->loop_count; l++)
    sum += (uint64_t)m->strides[l] * o[l];
  for (uint32_t r = 0; r < m->row_count; r++)
    if (net_form_at(m->rows[r].form, x))
      sum += (uint64_t)m->rows[r].weight;
  return (int64_t)sum;
}

bool net_map_bits(const net_map *m, int n, int bits, f2_affine *address) {
  uint64_t offset = (uint64_t)m->offset, changed = 0;
  if (bits > F2_MAX || offset >> bits)
    return false;
  *address = (f2_affine){f2_zero(bits, n), offset};
  for (uint32_t r = 0; r < m->row_count; r++) {
    uint64_t by_row = offset ^ (offset + (uint64_t)m->rows[r].weight);
    if (by_row & changed || by_row >> bits)
      return false;
    changed |= by_row;
    address->c ^= m->rows[r].form.constant ? by_row : 0;
    for (; by_row; by_row &= by_row - 1)
      address->a.row[f2_lsb(by_row)] = m->rows[r].form.mask;
  }
  return true;
}

net_map net_map_new(arena *a, uint32_t loops, uint32_t rows) {
  return (net_map){0, loops, rows, NEW_ARRAY(a, int64_t, loops + 1),
                   NEW_ARRAY(a, net_row, rows + 1)};
}

static bool is_before(net_row a, net_row b) {
  return a.weight != b.weight ? (uint64_t)a.weight < (uint64_t)b.weight : a.form.mask < b.form.mask;
}

// -2^63 has no positive weight: there the form has no constant.
static bool has_flipped_weight(net_row row) {
  return row.weight < 0 && (row.weight != INT64_MIN || row.form.constant);
}

// w f as w - w (f ^ 1).
static bool flip_row(int64_t *offset, net_row *row) {
  bool wraps = __builtin_add_overflow(*offset, row->weight, offset);
  wraps |= __builtin_sub_overflow(0, row->weight, &row->weight);
  row->form.constant = !row->form.constant;
  return !wraps;
}

// Into canonical rows, behind which there is room for one.
static bool add_row(net_map *m, net_row row) {
  bool fits = true;
  uint32_t at = 0;
  while (at < m->row_count && m->rows[at].form.mask != row.form.mask)
    at++;
  if (at < m->row_count) {
    if (m->rows[at].form.constant != row.form.constant)
      fits = flip_row(&m->offset, &row);
    fits &= !__builtin_add_overflow(m->rows[at].weight, row.weight, &row.weight);
    memmove(&m->rows[at], &m->rows[at + 1], (--m->row_count - at) * sizeof row);
  }
  if (row.form.mask == 0 || row.weight == 0)
    return !(row.form.constant && __builtin_add_overflow(m->offset, row.weight, &m->offset)) & fits;
  if (has_flipped_weight(row))
    fits &= flip_row(&m->offset, &row);
  for (at = m->row_count++; at > 0 && is_before(row, m->rows[at - 1]); at--)
    m->rows[at] = m->rows[at - 1];
  m->rows[at] = row;
  return fits;
}

bool net_map_normalise(net_map *m) {
  bool fits = true;
  uint32_t count = m->row_count;
  m->row_count = 0;
  for (uint32_t r = 0; r < count; r++)
    fits &= add_row(m, m->rows[r]);
  return fits;
}

bool net_map_is_canonical(const net_map *m) {
  for (uint32_t r = 0; r < m->row_count; r++)
    if (!m->rows[r].weight || has_flipped_weight(m->rows[r]) || !m->rows[r].form.mask ||
        (r && !is_before(m->rows[r - 1], m->rows[r])) ||
        net_map_row(m, m->rows[r].form.mask) != &m->rows[r])
      return false;
  return true;
}

const net_row *net_map_row(const net_map *m, uint64_t mask) {
  for (uint32_t r = 0; r < m->row_count; r++)
    if (m->rows[r].form.mask == mask)
      return &m->rows[r];
  return NULL;
}

bool net_map_equal(const net_map *a, const net_map *b) {
  if (a->offset != b->offset || a->loop_count != b->loop_count || a->row_count != b->row_count)
    return false;
  for (uint32_t l = 0; l < a->loop_count; l++)
    if (a->strides[l] != b->strides[l])
      return false;
  for (uint32_t r = 0; r < a->row_count; r++)
    if (a->rows[r].weight != b->rows[r].weight ||
        live_vector(a->rows[r].form) != live_vector(b->rows[r].form))
      return false;
  return true;
}

bool net_map_is_constant(const net_map *m) {
  bool constant = m->row_count == 0;
  for (uint32_t l = 0; l < m->loop_count; l++)
    constant = constant && m->strides[l] == 0;
  return constant;
}

static void *array_copy(arena *a, const void *items, size_t size, size_t count) {
  void *copy = arena_alloc(a, size * (count + 1));
  if (count)
    memcpy(copy, items, size * count);
  return copy;
}
#define COPY(a, items, count) array_copy(a, items, sizeof *(items), count)

net_map net_map_copy(arena *a, const net_map *m) {
  net_map copy = *m;
  copy.strides = COPY(a, m->strides, m->loop_count);
  copy.rows = COPY(a, m->rows, m->row_count);
  return copy;
}

net_map net_map_sum(arena *a, const net_map *x, int64_t factor, const net_map *y) {
  uint32_t loops = x->loop_count > y->loop_count ? x->loop_count : y->loop_count;
  net_map sum = net_map_new(a, loops, x->row_count + y->row_count);
  sum.offset = (int64_t)((uint64_t)x->offset + (uint64_t)factor * (uint64_t)y->offset);
  for (uint32_t l = 0; l < loops; l++)
    sum.strides[l] =
        (int64_t)((l < x->loop_count ? (uint64_t)x->strides[l] : 0) +
                  (uint64_t)factor * (l < y->loop_count ? (uint64_t)y->strides[l] : 0));
  if (x->row_count)
    memcpy(sum.rows, x->rows, x->row_count * sizeof *sum.rows);
  for (uint32_t i = 0; i < y->row_count; i++)
    sum.rows[x->row_count + i] =
        (net_row){y->rows[i].form, (int64_t)((uint64_t)factor * (uint64_t)y->rows[i].weight)};
  net_map_normalise(&sum);
  return sum;
}

bool net_map_apply(arena *a, scalar_op op, const net_map *x, const net_map *y, net_map *out) {
  const net_map none = {0}, *factor = net_map_is_constant(x) ? x : y;
  switch (op) {
  case OP_NEG:
    *out = net_map_sum(a, &none, -1, x);
    return true;
  case OP_ADD:
  case OP_SUB:
    *out = net_map_sum(a, x, op == OP_ADD ? 1 : -1, y);
    return true;
  case OP_MUL:
    if (!net_map_is_constant(factor))
      return false;
    *out = net_map_sum(a, &none, factor->offset, factor == x ? y : x);
    return true;
  default:
    return false;
  }
}

net_map net_map_at_element(arena *a, const net_map *m, uint32_t k, const uint64_t *directions,
                           const net_form *coordinates, uint64_t j) {
  net_map r = net_map_copy(a, m);
  for (uint32_t i = 0; i < m->row_count; i++)
    for (uint32_t d = 0; d < k; d++)
      if (f2_dot(m->rows[i].form.mask, directions[d])) {
        r.rows[i].form = net_form_sum(r.rows[i].form, coordinates[d]);
        r.rows[i].form.constant ^= f2_bit(j, (int)d);
      }
  net_map_normalise(&r);
  return r;
}

net_map net_stage_map(arena *a, const net_stage *s, f2_affine address) {
  net_map m = net_map_new(a, s->loop_count, (uint32_t)address.a.rows);
  int64_t stride = 1;
  for (int i = 0; i < address.a.rows; i++, stride *= 2)
    m.rows[i] = (net_row){{address.a.row[i], f2_bit(address.c, i)}, stride};
  for (uint32_t i = s->loop_count; i-- > 0; stride *= (int64_t)net_loop_indices_end(s, i))
    m.strides[i] = stride;
  net_map_normalise(&m);
  return m;
}

void net_loop_indices(const net_stage *s, uint64_t number, uint64_t *indices) {
  for (uint32_t l = s->loop_count; l-- > 0; number /= s->extents[l])
    indices[l] = net_loop_index(s, l, number % s->extents[l]);
}

bool net_map_lies_within(const net_stage *s, const net_map *m, uint64_t count) {
  __extension__ typedef __int128 wide;
  wide low = m->offset, high = low;
  for (uint32_t l = 0; l < m->loop_count; l++) {
    uint64_t turns = s->extents[l], last = turns ? net_loop_index(s, l, turns - 1) : 0;
    *(m->strides[l] < 0 ? &low : &high) += (wide)m->strides[l] * (wide)last;
  }
  for (uint32_t r = 0; r < m->row_count; r++)
    *(m->rows[r].weight < 0 ? &low : &high) += m->rows[r].weight;
  return low >= 0 && high < (wide)count;
}

bool net_loop_overlaps(const net_stage *s, uint32_t loop) {
  uint64_t turns = s->extents[loop];
  return s->paces && turns && s->paces[loop].last != (turns - 1) * s->paces[loop].step;
}

bool net_stage_overlaps(const net_stage *s) {
  for (uint32_t l = 0; l < s->loop_count; l++)
    if (net_loop_overlaps(s, l))
      return true;
  return false;
}

uint64_t net_share_count(const net_stage *s) {
  if (!s->share_turns)
    return f2_unit(s->shares);
  uint64_t outer = product_of(s->extents, s->share_outer);
  return (outer ? outer : 1) * net_shares_of_loop(s);
}

uint64_t net_stage_elements(const net_stage *s) {
  return f2_unit(s->n) * product_of(s->extents, s->loop_count);
}

bool net_output_scatters(const net_stage *s, const net_op *op, const net_output *output) {
  for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
    if (output->elements[j] != NET_NONE &&
        net_node_scatters(s->nodes.items[output->elements[j]].kind))
      return true;
  return false;
}

bool net_stage_scatters(const net_stage *s) {
  return net_stage_has(s, NET_SCATTER) || net_stage_has(s, NET_GROUP);
}

bool net_stage_has(const net_stage *s, net_node_kind kind) {
  for (size_t i = 0; i < s->nodes.count; i++)
    if (s->nodes.items[i].kind == kind)
      return true;
  return false;
}

bool net_stage_acts(const net_stage *s) {
  bool acts = s->routine || s->stores.count > 0;
  for (size_t i = 0; i < s->ops.count && !acts; i++)
    for (uint32_t o = 0; o < s->ops.items[i].output_count && !acts; o++)
      acts = net_output_scatters(s, &s->ops.items[i], &s->ops.items[i].outputs[o]);
  return acts;
}

bool net_load_equal(const net_load *a, const net_load *b) {
  bool padded = a->padding_start != UINT64_MAX;
  return a->array == b->array && a->padding_start == b->padding_start &&
         !(padded && memcmp(&a->padding_value, &b->padding_value, sizeof a->padding_value)) &&
         net_map_equal(&a->map, &b->map);
}

bool net_forms_equal(uint32_t a_count, const net_form *a, uint32_t b_count, const net_form *b) {
  uint32_t i = 0;
  while (i < a_count && i < b_count && a[i].mask == b[i].mask && a[i].constant == b[i].constant)
    i++;
  return i == a_count && i == b_count;
}

bool net_store_equal(const net_store *a, const net_store *b) {
  return a->value == b->value && a->padding_start == b->padding_start &&
         net_forms_equal(a->live_count, a->live, b->live_count, b->live) &&
         net_map_equal(&a->map, &b->map);
}

// ---- nodes -----------------------------------------------------------------------------------

const net_node_row net_nodes[NET_NODE_KINDS] = {
#define ROW(id, ...) [NET_##id] = {__VA_ARGS__},
    NET_NODES(ROW)
#undef ROW
};

// The fields that its kind has; the rest are zero. Operands and map are still the caller's.
static net_node used_fields(const net_node *node) {
  const net_node_row *row = &net_nodes[node->kind];
  net_node used = {.kind = node->kind, .type = node->type};
  if (row->fields & NET_HAS_SCALAR)
    used.scalar = node->scalar;
  if (row->fields & NET_HAS_VALUE)
    used.value = node->value;
  if (row->fields & NET_HAS_NUMBER)
    used.number = node->number;
  if (!row->operands || *row->operands) {
    used.operand_count = node->operand_count;
    used.operands = node->operands;
  }
  if (row->fields & NET_HAS_MAP)
    used.map = node->map;
  if (row->fields & NET_HAS_CONSTANT)
    memcpy(&used.constant, &node->constant, scalar_types[node->type].size);
  return used;
}

bool net_node_equal(const net_node *a, const net_node *b) {
  if (a->kind != b->kind || a->type != b->type || a->scalar != b->scalar || a->value != b->value ||
      a->number != b->number || a->operand_count != b->operand_count)
    return false;
  for (uint32_t i = 0; i < a->operand_count; i++)
    if (a->operands[i] != b->operands[i])
      return false;
  return memcmp(&a->constant, &b->constant, sizeof a->constant) == 0 &&
         net_map_equal(&a->map, &b->map);
}

static uint64_t node_hash(const net_node *node) {
  uint64_t hash = hash_bytes(&node->constant, sizeof node->constant);
  hash = hash_word(hash, (uint64_t)node->kind << 32 | (uint64_t)node->type << 16 | node->scalar);
  hash = hash_word(hash, node->number ^ (uint64_t)node->value << 32);
  for (uint32_t i = 0; i < node->operand_count; i++)
    hash = hash_word(hash, node->operands[i]);
  hash = hash_word(hash, (uint64_t)node->map.offset);
  for (uint32_t l = 0; l < node->map.loop_count; l++)
    hash = hash_word(hash, (uint64_t)node->map.strides[l]);
  for (uint32_t r = 0; r < node->map.row_count; r++) {
    const net_row *row = &node->map.rows[r];
    hash =
        hash_word(hash_word(hash, row->form.mask), (uint64_t)row->weight * 2 + row->form.constant);
  }
  return hash;
}

static void make_node_room(arena *a, net_stage *s, size_t nodes) {
  uint32_t *marks = NEW_ARRAY(a, uint32_t, nodes + 1);
  if (s->marks)
    marks[0] = s->marks[0];  // what no node of a later walk can be marked with
  s->marks = marks;
  s->walk = NEW_ARRAY(a, net_id, nodes);
  s->node_room = nodes;
}

void net_nodes_reserve(arena *a, net_stage *s, size_t count) {
  make_node_room(a, s, count + 16);
  s->nodes.items = NEW_ARRAY(a, net_node, count + 1);
  s->nodes.capacity = count + 1;
}

static net_node node_copy(arena *a, net_node node) {
  if (node.operand_count)
    node.operands = COPY(a, node.operands, node.operand_count);
  if (node.map.loop_count || node.map.row_count)
    node.map = net_map_copy(a, &node.map);
  return node;
}

static net_id add_node(arena *a, net_stage *s, const net_node *node, bool copies) {
  net_node used = used_fields(node);
  uint64_t hash = node_hash(&used);
  net_id id;
  for (size_t tried = 0; (id = hash_next(&s->node_table, hash, &tried)) != HASH_NONE;)
    if (net_node_equal(&used, &s->nodes.items[id]))
      return id;
  id = (net_id)s->nodes.count;
  hash_add(a, &s->node_table, hash, id);
  vec_push(a, &s->nodes, copies ? node_copy(a, used) : used);
  if (id >= s->node_room)
    make_node_room(a, s, 2 * (size_t)id + 16);
  return id;
}

net_id net_node_add(arena *a, net_stage *s, const net_node *node) {
  return add_node(a, s, node, true);
}

net_id net_node_add_owned(arena *a, net_stage *s, const net_node *node) {
  return add_node(a, s, node, false);
}

net_node net_node_renumbered(arena *a, const net_node *node, const net_id *numbers) {
  net_node copy = *node;
  if (node->operand_count)
    copy.operands = NEW_ARRAY(a, net_id, node->operand_count);
  for (uint32_t i = 0; i < node->operand_count; i++)
    copy.operands[i] = numbers[node->operands[i]];
  return copy;
}

// ---- values and arrays -----------------------------------------------------------------------

net_id net_value_add(arena *a, net_stage *s, scalar_type type) {
  vec_push(a, &s->values, type);
  return (net_id)(s->values.count - 1);
}

net_id net_load_add(arena *a, net_stage *s, scalar_type type, net_load load) {
  for (size_t i = 0; i < s->loads.count; i++)
    if (net_load_equal(&s->loads.items[i], &load))
      return s->loads.items[i].value;
  load.value = net_value_add(a, s, type);
  vec_push(a, &s->loads, load);
  return load.value;
}

void net_move_add(arena *a, net_stage *s, scalar_type type, net_load from, net_store to) {
  from.value = to.value = net_value_add(a, s, type);
  vec_push(a, &s->loads, from);
  vec_push(a, &s->stores, to);
}

const char *const net_role_names[NET_ROLES] = {"argument", "table", "result", "temporary"};

net_id net_array_add(arena *a, net *t, scalar_type type, uint64_t count, net_role role,
                     uint32_t number) {
  vec_push(a, &t->arrays,
           ((net_array){.type = type, .count = count, .role = role, .number = number}));
  return (net_id)(t->arrays.count - 1);
}

// ---- what an op reads ------------------------------------------------------------------------

// Appends node `id` to out unless this walk has met it.
static uint32_t meet_node(const net_stage *s, net_id id, net_id *out, uint32_t count) {
  if (s->marks[1 + id] == s->marks[0])
    return count;
  s->marks[1 + id] = s->marks[0];
  out[count] = id;
  return count + 1;
}

void net_order_marked(net_id *ids, size_t count, const uint32_t *marks, uint32_t mark) {
  enum { SPARSE = 8 };
  net_id low = NET_NONE, high = 0;
  for (size_t i = 0; i < count; i++) {
    low = ids[i] < low ? ids[i] : low;
    high = ids[i] > high ? ids[i] : high;
  }
  if (count > 1 && (high - low) / SPARSE > count) {
    qsort(ids, count, sizeof *ids, compare_u32);
    return;
  }
  for (size_t at = 0; at < count; low++)
    if (marks[low] == mark)
      ids[at++] = low;
}

uint32_t net_op_nodes(const net_stage *s, const net_op *op, net_id *out) {
  uint32_t count = 0;
  if (s->nodes.count == 0)
    return 0;
  s->marks[0]++;
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
      if (op->outputs[i].elements[j] != NET_NONE)
        count = meet_node(s, op->outputs[i].elements[j], out, count);
  for (uint32_t at = 0; at < count; at++) {
    const net_node *node = &s->nodes.items[out[at]];
    for (uint32_t i = 0; i < node->operand_count; i++)
      count = meet_node(s, node->operands[i], out, count);
  }
  net_order_marked(out, count, s->marks + 1, s->marks[0]);
  return count;
}

net_id *net_turns_of(arena *a, const net_stage *s) {
  net_id *turns = NEW_ARRAY(a, net_id, s->nodes.count + 1);
  for (net_id id = 0; id < s->nodes.count; id++) {
    const net_node *node = &s->nodes.items[id];
    turns[id] = node->kind == NET_TURN ? id : NET_NONE;
    for (uint32_t i = 0; i < node->operand_count && node->kind != NET_FOLD; i++)
      if (turns[node->operands[i]] != NET_NONE)
        turns[id] = turns[node->operands[i]];
  }
  return turns;
}

net_map *net_next_map(const net_stage *s, size_t *at) {
  size_t i = (*at)++, stores = s->loads.count, nodes = stores + s->stores.count;
  if (i < stores)
    return &s->loads.items[i].map;
  if (i < nodes)
    return &s->stores.items[i - stores].map;
  while (i < nodes + s->nodes.count && s->nodes.items[i - nodes].kind != NET_INDEX)
    i++;
  *at = i + 1;
  return i < nodes + s->nodes.count ? &s->nodes.items[i - nodes].map : NULL;
}

// ---- copies ------------------------------------------------------------------------------------

#define COPY_LIST(a, list)                                                                         \
  ((list).items = COPY(a, (list).items, (list).count), (list).capacity = (list).count)

static void copy_op(arena *a, net_op *op) {
  op->directions = COPY(a, op->directions, op->k);
  op->coordinates = COPY(a, op->coordinates, op->k);
  op->live = COPY(a, op->live, op->live_count);
  op->outputs = COPY(a, op->outputs, op->output_count);
  for (uint32_t i = 0; i < op->output_count; i++)
    op->outputs[i].elements = COPY(a, op->outputs[i].elements, (size_t)1 << op->k);
}

// A stage whose parts are another's gets its own.
static void copy_stage(arena *a, net_stage *s) {
  if (s->routine) {
    net_routine *r = NEW(a, net_routine);
    *r = *s->routine;
    r->pairs = COPY(a, r->pairs, r->pair_count);
    r->dimensions = COPY(a, r->dimensions, r->dimension_count);
    s->routine = r;
  }
  s->extents = COPY(a, s->extents, s->loop_count);
  s->paces = s->paces ? COPY(a, s->paces, s->loop_count) : NULL;
  COPY_LIST(a, s->values);
  COPY_LIST(a, s->nodes);
  for (size_t i = 0; i < s->nodes.count; i++)
    s->nodes.items[i] = node_copy(a, s->nodes.items[i]);
  s->node_table.slots = COPY(a, s->node_table.slots, s->node_table.size);
  make_node_room(a, s, s->node_room);
  COPY_LIST(a, s->loads);
  for (size_t i = 0; i < s->loads.count; i++)
    s->loads.items[i].map = net_map_copy(a, &s->loads.items[i].map);
  COPY_LIST(a, s->ops);
  for (size_t i = 0; i < s->ops.count; i++)
    copy_op(a, &s->ops.items[i]);
  COPY_LIST(a, s->stores);
  for (size_t i = 0; i < s->stores.count; i++) {
    net_store *o = &s->stores.items[i];
    o->map = net_map_copy(a, &o->map);
    o->live = COPY(a, o->live, o->live_count);
  }
}

net *net_copy(arena *a, const net *t) {
  net *c = NEW(a, net);
  *c = *t;
  COPY_LIST(a, c->arrays);
  COPY_LIST(a, c->externs);
  COPY_LIST(a, c->stages);
  for (size_t i = 0; i < t->stages.count; i++)
    copy_stage(a, &c->stages.items[i]);
  return c;
}

net *net_with_stage(arena *a, const net *t, uint32_t number, net_stage stage) {
  net *c = NEW(a, net);
  *c = *t;
  COPY_LIST(a, c->stages);
  c->stages.items[number] = stage;
  return c;
}

net_stage net_stage_with_maps(arena *a, const net_stage *s, net_map_change *change,
                              const void *with) {
  net_stage c = *s;
  net_map *m;
  COPY_LIST(a, c.loads);
  COPY_LIST(a, c.stores);
  COPY_LIST(a, c.nodes);
  for (size_t at = 0; (m = net_next_map(&c, &at));)
    *m = change(with, m);
  c.node_table = (hash_table){0};
  for (net_id id = 0; id < c.nodes.count; id++)
    hash_add(a, &c.node_table, node_hash(&c.nodes.items[id]), id);
  make_node_room(a, &c, c.node_room);
  return c;
}
