// The rule `fewer-directions`: an op on cosets of D that does the same on each coset of a smaller
// span E in them is an op on cosets of E. Then its tiles need not contain the rest of D.
//
//   op directions 0b01 0b10 coordinates x0 x1     op directions 0b10 coordinates x1
//     v1[0] = + v0[0] v0[2]                         v1[0] = + v0[0] v0[1]
//     v1[1] = + v0[1] v0[3]                   ->    v1[1] = - v0[0] v0[1]
//     v1[2] = - v0[0] v0[2]
//     v1[3] = - v0[1] v0[3]
//
// E is spanned by j ^ j' for all elements j that read an element j' (`moved` in rewriting.h).
// Directions are dropped one by one. A form h of the numbers that is 0 on E cuts a coset of D into
// two halves, where h is 0 and 1. With p one of its bits, direction p goes, and is added to the
// others in h, so that h is 0 on them. Numbers in a half are those without bit p. The halves are
// ALIKE if their nodes are equal but for functions of the index whose difference is a constant w:
// these become one function, plus w h.
#include "fusion/rules/rewriting.h"

enum { MOST_NODES = 1024 };  // of an op that is looked at: how deep likeness goes

// Nodes a of the one half and b of the other, and what stands for both.
typedef struct likeness {
  net_id b, both;  // both: NET_NONE if they are not alike
  uint32_t next;   // of the same a, 1 + its number
} likeness;

typedef struct narrowing {
  rewriter *r;
  net_op *op;
  uint64_t h;     // the form, of numbers
  net_form form;  // the same, of the index
  int p;
  size_t capacity;  // of `found`
  uint32_t *found;  // by node: 1 + the number of its first likeness
  VEC(likeness) likenesses;
} narrowing;

// ---- what elements depend on -----------------------------------------------------------------

static void join_reads(f2_space *e, net_id *read, net_id other) {
  if (other != NET_NONE && *read != NET_NONE)
    f2_space_insert(e, *read ^ other);
  *read = other == NET_NONE ? *read : other;
}

// All that a node reads is read by every element that uses the node: one of it is remembered, and
// the differences to the others are in E.
element_reads element_reads_of(rewriter *r, const net_op *op, uint32_t *count) {
  uint64_t elements = UINT64_C(1) << op->k;
  element_reads d = {.at = NEW_ARRAY(r->memory, net_id, elements), .e = f2_space_zero((int)op->k)};
  memset(d.at, 0xff, elements * sizeof *d.at);
  *count = rewriter_walk(r, op);
  for (uint32_t i = 0; i < *count; i++) {
    const net_node *node = node_at(r, r->nodes[i]);
    net_id *read = &r->memo[r->nodes[i]];
    *read = node->kind == NET_ELEMENT ? (net_id)node->number : NET_NONE;
    for (uint32_t k = 0; k < node->operand_count; k++)
      join_reads(&d.e, read, r->memo[node->operands[k]]);
  }
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t j = 0; j < elements; j++)
      if (op->outputs[i].elements[j] != NET_NONE)
        join_reads(&d.e, &d.at[j], r->memo[op->outputs[i].elements[j]]);
  d.moved = d.e;
  for (uint64_t j = 0; j < elements; j++)
    if (d.at[j] != NET_NONE)
      f2_space_insert(&d.moved, j ^ d.at[j]);
  rewriter_forget(r, *count);
  return d;
}

// ---- halves that are alike -------------------------------------------------------------------

static uint64_t number_in_half(const narrowing *n, uint64_t j) {
  return f2_extract(f2_mask((int)n->op->k) & ~f2_unit(n->p), j);
}

static uint64_t number_in_coset(const narrowing *n, uint64_t j, bool half) {
  j = f2_deposit(f2_mask((int)n->op->k) & ~f2_unit(n->p), j);
  return j | (uint64_t)(f2_dot(n->h, j) ^ half) << n->p;
}

// The index a where the form is 0, b where it is 1; or NET_NONE.
static net_id alike_indices(narrowing *n, const net_map *a, const net_map *b) {
  net_node both = {.kind = NET_INDEX, .type = SCALAR_I64};
  bool alike = a->row_count == b->row_count;
  both.map = net_map_new(n->r->memory, a->loop_count, a->row_count + 1);
  both.map.offset = a->offset;
  for (uint32_t l = 0; l < a->loop_count; l++) {
    both.map.strides[l] = a->strides[l];
    alike = alike && a->strides[l] == b->strides[l];
  }
  for (uint32_t i = 0; alike && i < a->row_count; i++) {
    net_row row = a->rows[i], other = b->rows[i];
    alike = row.form.mask == other.form.mask && row.weight == other.weight;
    if (row.form.constant != other.form.constant)
      row.form = net_form_sum(row.form, n->form);
    both.map.rows[i] = row;
  }
  if (!alike)
    return NET_NONE;
  // A row of weight 0 is none.
  both.map.rows[a->row_count] =
      (net_row){n->form, (int64_t)((uint64_t)b->offset - (uint64_t)a->offset)};
  net_map_normalise(&both.map);
  return node_simplified(n->r, &both);
}

// Different constants of an integer type: a function of the index.
static net_id alike_constants(narrowing *n, const net_node *a, const net_node *b) {
  net_map map[2];
  if (!(CLASS_OF(a->type) & CLASS_INTEGER))
    return NET_NONE;
  for (int i = 0; i < 2; i++) {
    map[i] = net_map_new(n->r->memory, n->r->stage->loop_count, 0);
    scalar_convert(a->type, SCALAR_I64, 1, i ? &b->constant : &a->constant, &map[i].offset);
  }
  net_id index = alike_indices(n, &map[0], &map[1]);
  return node_simplified(
      n->r,
      &(net_node){.kind = NET_CONVERT, .type = a->type, .operand_count = 1, .operands = &index});
}

static net_id alike(narrowing *n, net_id a, net_id b);

static net_id alike_operands(narrowing *n, net_id a, net_id b, bool turned) {
  net_node node = *node_at(n->r, a);
  net_id *operands = NEW_ARRAY(n->r->memory, net_id, node.operand_count);
  for (uint32_t i = 0; i < node.operand_count; i++) {
    operands[i] =
        alike(n, node_at(n->r, a)->operands[i], node_at(n->r, b)->operands[turned ? 1 - i : i]);
    if (operands[i] == NET_NONE)
      return NET_NONE;
  }
  node.operands = operands;
  return node_simplified(n->r, &node);
}

static net_id found_alike(narrowing *n, net_id a, net_id b) {
  const net_node *x = node_at(n->r, a), *y = node_at(n->r, b);
  net_map at_x, at_y;
  if (node_is_index(n->r, x, &at_x) && node_is_index(n->r, y, &at_y))
    return alike_indices(n, &at_x, &at_y);
  if (x->kind != y->kind || x->type != y->type || x->operand_count != y->operand_count)
    return NET_NONE;
  if (x->kind == NET_ELEMENT) {
    net_node node = *x;
    node.number = number_in_half(n, x->number);
    if (x->value != y->value || node.number != number_in_half(n, y->number))
      return NET_NONE;
    return net_node_add(n->r->memory, n->r->stage, &node);
  }
  if (x->kind == NET_CONSTANT)
    return a == b ? a : alike_constants(n, x, y);
  if (net_node_is(x->kind, NET_HAS_EFFECT) || x->scalar != y->scalar || x->number != y->number)
    return NET_NONE;
  bool turns = x->kind == NET_MIN || x->kind == NET_MAX;
  net_id both = alike_operands(n, a, b, false);
  return both == NET_NONE && turns ? alike_operands(n, a, b, true) : both;
}

// One node for a where the form is 0 and b where it is 1, or NET_NONE.
static net_id alike(narrowing *n, net_id a, net_id b) {
  for (uint32_t i = n->found[a]; i; i = n->likenesses.items[i - 1].next)
    if (n->likenesses.items[i - 1].b == b)
      return n->likenesses.items[i - 1].both;
  likeness l = {b, found_alike(n, a, b), n->found[a]};
  vec_push(n->r->memory, &n->likenesses, l);
  n->found[a] = (uint32_t)n->likenesses.count;
  return l.both;
}

// ---- ops -------------------------------------------------------------------------------------

// Sets the form, and the bit that goes: the highest that serves.
static void choose_form(narrowing *n, const net_op *op, f2_space e) {
  f2_space forms = f2_space_orthogonal(e);
  n->h = forms.basis[forms.dimension - 1];
  n->p = f2_msb(n->h);
  n->form = (net_form){0, false};
  for (uint64_t rest = n->h; rest; rest &= rest - 1)
    n->form = net_form_sum(n->form, op->coordinates[f2_lsb(rest)]);
}

// The outputs of both halves as one. False: they are not alike. alive[i]: whether half i has
// elements.
static bool halves_as_one(narrowing *n, net_output *outputs, bool *alive) {
  const net_op *op = n->op;
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << (op->k - 1); j++) {
      net_id half[2];
      for (int t = 0; t < 2; t++) {
        half[t] = op->outputs[i].elements[number_in_coset(n, j, t)];
        alive[t] |= half[t] != NET_NONE;
      }
      net_id a = half[half[0] == NET_NONE], b = half[half[1] != NET_NONE];
      outputs[i].elements[j] = a == NET_NONE ? NET_NONE : alike(n, a, b);
      if (a != NET_NONE && outputs[i].elements[j] == NET_NONE)
        return false;
    }
  return true;
}

// Without direction p.
static void drop_direction(narrowing *n, net_output *outputs, const bool *alive) {
  net_op *op = n->op;
  arena *a = n->r->memory;
  uint64_t *directions = NEW_ARRAY(a, uint64_t, op->k);
  net_form *coordinates = NEW_ARRAY(a, net_form, op->k);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < op->k; i++) {
    if ((int)i == n->p)
      continue;
    bool crosses = f2_bit(n->h, (int)i);
    directions[kept] = op->directions[i] ^ (crosses ? op->directions[n->p] : 0);
    coordinates[kept++] = op->coordinates[i];
  }
  if (!(alive[0] && alive[1])) {
    f2_space live = live_where(live_of_op(n->r->stage, op),
                               (net_form){n->form.mask, n->form.constant ^ alive[1]});
    op->live = live_forms(a, live, &op->live_count);
  }
  op->k = kept;
  op->directions = directions;
  op->coordinates = coordinates;
  op->outputs = outputs;
}

static bool narrow_op(narrowing *n, net_op *op) {
  if (op->k == 0)
    return false;
  uint32_t count;
  f2_space e = element_reads_of(n->r, op, &count).moved;
  if (e.dimension == (int)op->k || count > MOST_NODES)
    return false;
  if (n->r->stage->nodes.count > n->capacity) {
    n->capacity = 2 * n->r->stage->nodes.count;
    n->found = NEW_ARRAY(n->r->memory, uint32_t, n->capacity);
  }
  bool alive[2] = {false, false};
  net_output *outputs = dead_outputs(n->r->memory, op, op->k - 1);
  n->op = op;
  choose_form(n, op, e);
  n->likenesses.count = 0;
  for (uint32_t i = 0; i < count; i++)
    n->found[n->r->nodes[i]] = 0;
  rewriter before = trial_begins(n->r);
  bool good = halves_as_one(n, outputs, alive);
  trial_ends(n->r, &before);
  if (!good)
    return false;
  drop_direction(n, outputs, alive);
  rewriter_fired(n->r, RULE_FEWER_DIRECTIONS, 0, 0);
  return true;
}

void stage_narrow(rewriter *r) {
  narrowing n = {.r = r};
  for (size_t i = 0; i < r->stage->ops.count; i++) {
    rewriter_at(r, &r->stage->ops.items[i]);
    while (narrow_op(&n, &r->stage->ops.items[i]))
      ;
  }
}
