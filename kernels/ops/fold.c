#include "kernels/ops/fold.h"

typedef struct fold_writer {
  c_phase *phase;
  const net_node *fold;
} fold_writer;

// Whether the turn's numbers are of an array of so many elements.
static bool is_turn_inside(const net_stage *s, net_id turn, uint64_t count) {
  const net_node *ends = &s->nodes.items[turn];
  const net_node *first = &s->nodes.items[ends->operands[0]];
  const net_node *end = &s->nodes.items[ends->operands[1]];
  for (uint32_t i = 0; i < first->operand_count && first->kind == NET_MAX; i++)
    for (uint32_t k = 0; k < end->operand_count && end->kind == NET_MIN; k++) {
      const net_node *least = &s->nodes.items[first->operands[i]];
      const net_node *most = &s->nodes.items[end->operands[k]];
      if (least->kind == NET_CONSTANT && most->kind == NET_CONSTANT && least->constant.i64 >= 0 &&
          most->constant.i64 <= (int64_t)count)
        return true;
    }
  return false;
}

// The nodes of the turn that the fold needs, once.
static void evaluate_turn(const fold_writer *f, const net_id *turns) {
  c_phase *phase = f->phase;
  net_id turn = f->fold->operands[0], last = f->fold->operands[2];
  bool *needed = NEW_ARRAY(phase->w->memory, bool, phase->stage->nodes.count);
  needed[last] = true;
  for (net_id id = last + 1; id-- > turn;)
    for (uint32_t i = 0; needed[id] && i < phase->stage->nodes.items[id].operand_count; i++)
      needed[phase->stage->nodes.items[id].operands[i]] = true;
  for (net_id id = turn + 1; id <= last; id++) {
    const net_node *node = &phase->stage->nodes.items[id];
    if (!needed[id] || turns[id] != turn)
      continue;
    c_value *operands = NEW_ARRAY(phase->w->memory, c_value, node->operand_count);
    for (uint32_t i = 0; i < node->operand_count; i++)
      operands[i] = phase->values[node->operands[i]];
    bool inside =
        node->kind == NET_GATHER && node->operands[0] == turn &&
        is_turn_inside(phase->stage, turn, phase->w->net->arrays.items[node->number].count);
    phase->values[id] = inside ? c_gather_inside(phase->w, node, operands, 1)
                               : c_node_value(phase->w, node, operands, 1);
  }
}

// What the fold becomes by one element more.
static c_value folded(const fold_writer *f, const c_value *so_far, const c_value *x) {
  scalar_op op = f->fold->scalar;
  bool chooses = scalar_fold_chooses(op);
  net_node node = {.kind = NET_SCALAR,
                   .type = chooses ? SCALAR_BOOL : f->fold->type,
                   .scalar = op,
                   .operand_count = 2};
  c_value made = c_node_value(f->phase->w, &node, (c_value[]){*so_far, *x}, 1);
  return chooses ? c_select(f->phase->w, &made, so_far, x, 1) : made;
}

// Of a variable another one with the same bits.
static uint32_t same_bits(c_writer *w, const char *from, const char *to, uint32_t id) {
  return c_let(w, to, "((union { %s from; %s to; }){v%u}).to", from, to, id);
}

c_value c_fold_value(c_phase *phase, const net_id *turns, net_id id) {
  c_writer *w = phase->w;
  const net_node *fold = &phase->stage->nodes.items[id];
  const net_node *turn = &phase->stage->nodes.items[fold->operands[0]];
  fold_writer f = {.phase = phase, .fold = fold};
  uint32_t parts = scalar_parts(fold->type), bytes = scalar_part_bytes(fold->type), kept[2];
  uint32_t first = c_as_vector(w, &phase->values[turn->operands[0]], 0, 1);
  uint32_t end = c_as_vector(w, &phase->values[turn->operands[1]], 0, 1), number = w->next++;
  c_value so_far = {.level = C_VECTOR, .type = fold->type}, next;
  // From turn to turn floats are kept as such: compilers may have integers in other registers than
  // those that sums are made in, and would move them to and fro.
  const char *bits = c_vector(w, bytes, 1);
  bool floats = bytes >= sizeof(float) && c_is_float(scalar_real_of(fold->type)) && !w->warps;
  const char *type = floats ? c_element_type(scalar_real_of(fold->type)) : bits;
  for (uint32_t part = 0; part < parts; part++) {
    uint32_t start = c_as_vector(w, &phase->values[fold->operands[1]], part, 1);
    start = floats ? same_bits(w, bits, type, start) : start;
    kept[part] = so_far.id[part] = c_declare(w, type, c_format(w, "v%u", start)).id;
  }
  c_line(w, "for (%s v%u = v%u; (int64_t)v%u < (int64_t)v%u; v%u++) {", c_vector(w, 8, 1), number,
         first, number, end, number);
  for (uint32_t part = 0; part < parts && floats; part++)
    so_far.id[part] = same_bits(w, type, bits, kept[part]);
  phase->values[fold->operands[0]] =
      (c_value){.level = C_UNIFORM, .type = SCALAR_I64, .id = {number}};
  evaluate_turn(&f, turns);
  next = folded(&f, &so_far, &phase->values[fold->operands[2]]);
  for (uint32_t part = 0; part < parts; part++) {
    uint32_t made = c_as_vector(w, &next, part, 1);
    c_line(w, "v%u = v%u;", kept[part], floats ? same_bits(w, bits, type, made) : made);
  }
  c_line(w, "}");
  for (uint32_t part = 0; part < parts && floats; part++)
    so_far.id[part] = same_bits(w, type, bits, kept[part]);
  return so_far;
}
