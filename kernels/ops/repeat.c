#include "kernels/ops/repeat.h"

enum {
  LEAST_NODES = 4096,  // written for all registers and rounds of a loop: fewer stay as they are
  LEAST_ROUNDS = 4,
  LONGEST_PERIOD = 64,
};

// ---- what an op does to slots ----------------------------------------------------------------

typedef struct op_key {
  const char *bytes;  // equal for ops that do the same; NULL: it is in no loop
  size_t length, nodes;
} op_key;

static void add_number(text *key, uint64_t number) {
  text_add(key, (const char *)&number, sizeof number);
}

static void add_forms(text *key, uint32_t count, const net_form *forms) {
  add_number(key, count);
  for (uint32_t i = 0; i < count; i++) {
    add_number(key, forms[i].mask);
    add_number(key, forms[i].constant);
  }
}

// Nodes by their place in the op. Indices are bound where they are met first, which is in no loop.
static bool add_nodes(text *key, const c_phase *f, uint32_t count, uint32_t *place) {
  for (uint32_t i = 0; i < count; i++) {
    const net_node *node = &f->stage->nodes.items[f->nodes[i]];
    if (node->kind == NET_INDEX || node->kind == NET_ROOT)
      return false;
    place[f->nodes[i]] = i;
    add_number(key, (uint64_t)node->kind << 32 | node->type);
    add_number(key, (uint64_t)node->scalar << 32 | node->operand_count);
    add_number(key, node->number);
    add_number(key, node->kind == NET_ELEMENT ? f->pass->slot_of[node->value] : 0);
    text_add(key, (const char *)node->constant.bytes, sizeof node->constant);
    for (uint32_t k = 0; k < node->operand_count; k++)
      add_number(key, place[node->operands[k]]);
  }
  return true;
}

static op_key key_of(const c_phase *f, const net_op *op, uint32_t *place) {
  text key = {0};
  uint32_t count = net_op_nodes(f->stage, op, f->nodes);
  add_number(&key, op->k);
  text_add(&key, (const char *)op->directions, op->k * sizeof *op->directions);
  add_forms(&key, op->k, op->coordinates);
  add_forms(&key, op->live_count, op->live);
  bool good = add_nodes(&key, f, count, place);
  for (uint32_t i = 0; i < op->output_count && good; i++) {
    add_number(&key, f->pass->slot_of[op->outputs[i].value]);
    add_number(&key, f->stage->values.items[op->outputs[i].value]);
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
      net_id id = op->outputs[i].elements[j];
      add_number(&key, id == NET_NONE ? UINT64_MAX : place[id]);
    }
  }
  op_key out = {.length = key.length, .nodes = count};
  const char *bytes = arena_text(f->w->memory, &key);
  out.bytes = good ? bytes : NULL;
  return out;
}

static bool same_key(const op_key *a, const op_key *b) {
  return a->bytes && b->bytes && a->length == b->length && !memcmp(a->bytes, b->bytes, a->length);
}

// ---- loops -----------------------------------------------------------------------------------

// The ops from `first` on repeat with *period; returns how often, 0: not often enough for a loop.
static uint32_t find_rounds(const c_phase *f, uint32_t first, uint32_t count, const op_key *keys,
                            uint32_t *period) {
  for (uint32_t p = 1; p <= LONGEST_PERIOD && p <= (count - first) / LEAST_ROUNDS; p++) {
    uint32_t equal = 0;
    uint64_t nodes = 0;
    while (first + equal + p < count && same_key(&keys[first + equal], &keys[first + equal + p]))
      nodes += keys[first + equal++].nodes;
    *period = p;
    if (equal / p + 1 >= LEAST_ROUNDS && nodes << f->space->r >= LEAST_NODES)
      return equal / p + 1;
  }
  return 0;
}

static const char *register_type(const c_phase *f, const c_registers *s) {
  return c_vector(f->w, scalar_part_bytes(s->type), 1U << f->space->l);
}

static size_t register_count(const c_phase *f, const c_registers *s) {
  return s->id ? (size_t)scalar_parts(s->type) << f->space->r : 0;
}

// The slot's registers as variables that a round sets.
static void declare_variables(const c_phase *f, c_registers *s) {
  uint32_t *id = NEW_ARRAY(f->w->memory, uint32_t, register_count(f, s));
  for (size_t i = 0; i < register_count(f, s); i++) {
    id[i] = f->w->next++;
    if (s->id[i] == UINT32_MAX)
      c_join(f->w, "%s v%u = %s;", register_type(f, s), id[i], f->space->l ? "{0}" : "0");
    else
      c_join(f->w, "%s v%u = v%u;", register_type(f, s), id[i], s->id[i]);
  }
  s->id = id;
}

// By way of variables of their own: a round may exchange two registers.
static void set_variables(const c_phase *f, const c_registers *variables) {
  for (uint32_t slot = 0; slot < f->pass->slot_count; slot++)
    for (size_t i = 0; i < register_count(f, &variables[slot]); i++) {
      uint32_t *id = &f->slots[slot].id[i];
      if (*id == variables[slot].id[i])
        continue;
      c_join(f->w, "const %s v%u = v%u;", register_type(f, &variables[slot]), f->w->next, *id);
      *id = f->w->next++;
    }
  for (uint32_t slot = 0; slot < f->pass->slot_count; slot++)
    for (size_t i = 0; i < register_count(f, &variables[slot]); i++)
      if (f->slots[slot].id[i] != variables[slot].id[i])
        c_join(f->w, "v%u = v%u;", variables[slot].id[i], f->slots[slot].id[i]);
}

// Each slot has had its types and registers from a round before.
static void write_loop(c_phase *f, uint32_t rounds, uint32_t period, const net_op *const *ops,
                       c_write_op *write_op, void *with) {
  uint32_t slots = f->pass->slot_count;
  c_registers *variables = NEW_ARRAY(f->w->memory, c_registers, slots);
  c_end_line(f->w);
  for (uint32_t slot = 0; slot < slots; slot++) {
    if (f->slots[slot].id)
      declare_variables(f, &f->slots[slot]);
    variables[slot] = f->slots[slot];
  }
  c_line(f->w, "for (uint32_t round = 0; round < %u; round++) {", rounds);
  for (uint32_t i = 0; i < period; i++)
    write_op(with, ops[i]);
  set_variables(f, variables);
  c_line(f->w, "}");
  memcpy(f->slots, variables, slots * sizeof *variables);
}

void c_write_repeated(c_phase *f, uint32_t count, const net_op *const *ops, c_write_op *write_op,
                      void *with) {
  // A kernel stays as it is: NVRTC unrolls loops as it likes.
  bool loops = !f->w->warps && count >= LEAST_ROUNDS;
  op_key *keys = NEW_ARRAY(f->w->memory, op_key, count);
  uint32_t *place = NEW_ARRAY(f->w->memory, uint32_t, f->stage->nodes.count), period;
  for (uint32_t i = 0; i < count && loops; i++)
    keys[i] = key_of(f, ops[i], place);
  for (uint32_t i = 0; i < count;) {
    uint32_t rounds = loops ? find_rounds(f, i, count, keys, &period) : 0;
    if (!rounds) {
      write_op(with, ops[i++]);
      continue;
    }
    for (uint32_t k = 0; k < period; k++)
      write_op(with, ops[i + k]);
    write_loop(f, rounds - 1, period, ops + i + period, write_op, with);
    i += rounds * period;
  }
}
