// Registers of a plan's threads, and ops on them. See hmm/registers.h.
#include "kernels/hmm/registers.h"

#include "kernels/hmm/pass.h"

enum { VALUE_BYTES = LANES * sizeof(scalar_bits) };

// An op as its phase has it.
typedef struct phase_op {
  const net_op *op;
  uint32_t node_count;
  net_id *nodes;
  uint64_t *position;  // of 2^k: the register there, from that of position 0 on
  uint64_t first_count,
      *first;  // registers at position 0 of cosets, where lanes are not xor-permuted
} phase_op;

typedef struct phase_registers {
  phase_op *ops;
  const bool *dead;       // by register: it holds padding; NULL: none does
  bool has_padding;       // threads may hold nothing but padding: those whose least index does,
  uint64_t *least_block;  // by bit of the block, and of the thread
  uint64_t *least_thread;
  scalar_bits *before, *after;  // by slot: what padding is, before the phase and behind
} phase_registers;

struct hmm_registers {
  const c_pass *pass;
  phase_registers *phases;
  unsigned char *bytes;        // [warp][slot][register][lane]
  uint64_t warp_bytes, *slot;  // where a slot begins in a warp's
  // Of the op at hand, at the cosets at hand:
  unsigned char *values;     // [node of the op][lane]
  uint32_t *value_of;        // by node of the stage: which of these
  uint64_t x[LANES];         // the index at register 0
  uint64_t lane_xor[LANES];  // element j is at position j ^ lane_xor
  bool alike;                // in all lanes
  uint64_t *loops;           // which iteration of each
  const hmm_arrays *arrays;
  uint64_t *places;  // [warp][gather or scatter of the phase][lane]: the element, or HMM_IDLE
  uint64_t most_placed;
  uint64_t *next_place;  // while ops are run: of the warp
  uint64_t lanes;        // that are threads
};

// ---- registers -------------------------------------------------------------------------------

static unsigned char *register_at(const hmm_registers *r, uint64_t warp, uint32_t slot,
                                  uint64_t number, uint32_t lane) {
  return r->bytes + warp * r->warp_bytes + r->slot[slot] +
         (number * LANES + lane) * r->pass->pass->slot_bytes[slot];
}

static uint32_t part_offset(const hmm_registers *r, uint32_t phase, uint32_t slot,
                            uint32_t number) {
  return (number >> r->pass->schedule.spaces[phase].r) * (r->pass->pass->slot_bytes[slot] / 2);
}

unsigned char *hmm_register(const hmm_registers *r, uint32_t phase, uint64_t warp, uint32_t slot,
                            uint32_t number, uint32_t lane) {
  uint64_t own = number & f2_mask((int)r->pass->schedule.spaces[phase].r);
  return register_at(r, warp, slot, own, lane) + part_offset(r, phase, slot, number);
}

const unsigned char *hmm_register_padding(const hmm_registers *r, uint32_t phase, uint32_t slot,
                                          uint32_t number) {
  return r->phases[phase].after[slot].bytes + part_offset(r, phase, slot, number);
}

static void set_register(hmm_registers *r, uint64_t warp, uint32_t slot, uint64_t number,
                         uint32_t lane, const scalar_bits *with) {
  memcpy(register_at(r, warp, slot, number, lane), with, r->pass->pass->slot_bytes[slot]);
}

void hmm_registers_begin(hmm_registers *r, uint32_t phase, uint64_t warp) {
  const plan_pass *pass = r->pass->pass;
  for (uint32_t slot = 0; slot < pass->slot_count; slot++) {
    int load = c_use_of(&r->pass->schedule, pass, phase, slot)->load;
    if (load == C_NOWHERE || pass->loads[load].padding_start == UINT64_MAX)
      continue;
    for (uint64_t i = 0; i < UINT64_C(1) << r->pass->schedule.spaces[phase].r; i++)
      for (uint32_t lane = 0; lane < LANES; lane++)
        set_register(r, warp, slot, i, lane, &pass->loads[load].padding_value);
  }
}

// ---- padding that stays where it is ----------------------------------------------------------

static void set_padding_registers(hmm_registers *r, uint32_t phase, uint64_t warp) {
  const plan_pass *pass = r->pass->pass;
  const phase_registers *f = &r->phases[phase];
  for (uint32_t slot = 0; slot < pass->slot_count && f->dead; slot++) {
    const c_use *use = c_use_of(&r->pass->schedule, pass, phase, slot);
    if (use->load == C_NOWHERE && use->in == C_NOWHERE)
      continue;
    for (uint64_t i = 0; i < UINT64_C(1) << r->pass->schedule.spaces[phase].r; i++)
      for (uint32_t lane = 0; lane < LANES && f->dead[i]; lane++)
        set_register(r, warp, slot, i, lane, &f->before[slot]);
  }
}

// Threads that have nothing but padding.
static void set_padding_threads(hmm_registers *r, uint32_t phase, uint64_t warp, uint64_t item,
                                uint64_t block_warp) {
  const plan_pass *pass = r->pass->pass;
  const c_space *s = &r->pass->schedule.spaces[phase];
  const phase_registers *f = &r->phases[phase];
  uint64_t least = f->has_padding ? f2_combine((int)s->blocks, f->least_block, item) : 0;
  for (uint32_t lane = 0; lane < LANES && f->has_padding; lane++) {
    uint64_t own = f2_combine((int)s->threads, f->least_thread, block_warp << LANE_BITS | lane);
    for (uint32_t slot = 0; slot < pass->slot_count && (least ^ own) >= pass->padding_start; slot++)
      if (c_use_of(&r->pass->schedule, pass, phase, slot)->out != C_NOWHERE)
        for (uint64_t i = 0; i < UINT64_C(1) << s->r; i++)
          set_register(r, warp, slot, i, lane, &f->after[slot]);
  }
}

// ---- nodes -----------------------------------------------------------------------------------

static void *value_at(const hmm_registers *r, net_id node) {
  return r->values + (size_t)r->value_of[node] * VALUE_BYTES;
}

// An element of the cosets, between registers and a value.
static void copy_element(hmm_registers *r, const phase_op *o, uint64_t warp, uint64_t first,
                         uint32_t slot, uint64_t element, unsigned char *value, bool write) {
  uint32_t bytes = r->pass->pass->slot_bytes[slot];
  if (r->alike) {
    unsigned char *all =
        register_at(r, warp, slot, first ^ o->position[element ^ r->lane_xor[0]], 0);
    memcpy(write ? all : value, write ? value : all, (size_t)bytes * LANES);
    return;
  }
  for (uint32_t lane = 0; lane < LANES; lane++) {
    uint64_t number = first ^ o->position[element ^ r->lane_xor[lane]];
    unsigned char *own = register_at(r, warp, slot, number, lane);
    memcpy(write ? own : value + (size_t)lane * bytes, write ? value + (size_t)lane * bytes : own,
           bytes);
  }
}

static void choose_less(const net_node *node, void *const *in, void *out) {
  bool le[LANES];
  bool least = node->kind == NET_MIN;
  scalar_apply(OP_LE, node->type, LANES, in[0], in[1], le);
  scalar_select(scalar_types[node->type].size, LANES, le, in[!least], in[least], out);
}

static void find_indices(const hmm_registers *r, const net_node *node, uint64_t at, int64_t *out) {
  for (uint32_t lane = 0; lane < LANES; lane++)
    out[lane] = net_map_at(&node->map, r->loops, r->x[lane] ^ at);
}

static void find_roots(const net_node *node, const int64_t *k, unsigned char *out) {
  size_t size = scalar_types[node->type].size;
  for (uint32_t lane = 0; lane < LANES; lane++) {
    scalar_bits root = scalar_root(node->type, k[lane], (int64_t)node->number);
    memcpy(out + lane * size, &root, size);
  }
}

// Bytes of element k[lane] of an array, for lanes that have one: `out` of a gather, or what a
// scatter writes. Where they are is kept for the requests.
static void access_array(hmm_registers *r, const net_node *node, const int64_t *k,
                         unsigned char *element, bool write) {
  const net_array *of = &r->pass->context->plan->arrays.items[node->number];
  unsigned char *words = (unsigned char *)(r->arrays->words + r->arrays->place[node->number]);
  size_t size = scalar_types[of->type].size;
  for (uint32_t lane = 0; lane < LANES; lane++, element += size) {
    bool inside = lane < r->lanes && (uint64_t)k[lane] < of->count;
    unsigned char *at = words + (inside ? (uint64_t)k[lane] * size : 0);
    *r->next_place++ = inside ? (uint64_t)k[lane] : HMM_IDLE;
    if (inside)
      memcpy(write ? at : element, write ? element : at, size);
    else if (!write)
      memset(element, 0, size);
  }
}

// `at`: the index vector of the register at position 0.
static void evaluate(hmm_registers *r, const phase_op *o, uint64_t warp, uint64_t first,
                     uint64_t at, net_id id) {
  const net_node *nodes = r->pass->stage->nodes.items, *node = &nodes[id];
  scalar_type from = node->operand_count > 0 ? nodes[node->operands[0]].type : node->type;
  size_t size = scalar_types[node->type].size;
  void *in[3] = {NULL, NULL, NULL}, *out = value_at(r, id);
  for (uint32_t i = 0; i < node->operand_count && i < 3; i++)
    in[i] = value_at(r, node->operands[i]);
  switch (node->kind) {
  case NET_ELEMENT:
    copy_element(r, o, warp, first, r->pass->pass->slot_of[node->value], node->number, out, false);
    return;
  case NET_INDEX:
    find_indices(r, node, at, out);
    return;
  case NET_CONSTANT:
    for (uint32_t lane = 0; lane < LANES; lane++)
      memcpy((unsigned char *)out + lane * size, &node->constant, size);
    return;
  case NET_SCALAR:
    scalar_apply(node->scalar, from, LANES, in[0], in[1], out);
    return;
  case NET_GATHER:
    access_array(r, node, in[0], out, false);
    return;
  case NET_SCATTER:
    access_array(r, node, in[0], in[1], true);
    memset(out, 0, LANES);
    return;
  case NET_MIN:
  case NET_MAX:
    choose_less(node, in, out);
    return;
  case NET_SELECT:
    scalar_select(size, LANES, in[0], in[1], in[2], out);
    return;
  case NET_CONVERT:
    scalar_convert(from, node->type, LANES, in[0], out);
    return;
  case NET_ROOT:
    find_roots(node, in[0], out);
    return;
  default:
    assert(false);  // hmm_registers_problem has refused the rest
  }
}

// ---- ops -------------------------------------------------------------------------------------

static void run_op(hmm_registers *r, uint32_t phase, const phase_op *o, uint64_t warp) {
  const net_op *op = o->op;
  const c_space *s = &r->pass->schedule.spaces[phase];
  r->alike = true;
  for (uint32_t lane = 0; lane < LANES; lane++) {
    r->lane_xor[lane] = 0;
    for (uint32_t i = 0; i < op->k; i++)
      r->lane_xor[lane] |= (uint64_t)f2_dot(op->coordinates[i].mask, r->x[lane]) << i;
    r->alike = r->alike && r->lane_xor[lane] == r->lane_xor[0];
  }
  for (uint32_t i = 0; i < o->node_count; i++)
    r->value_of[o->nodes[i]] = i;
  for (uint64_t c = 0; c < o->first_count; c++) {
    uint64_t at = f2_combine((int)s->r, s->basis, o->first[c]);
    for (uint32_t i = 0; i < o->node_count; i++)
      evaluate(r, o, warp, o->first[c], at, o->nodes[i]);
    for (uint32_t k = 0; k < op->output_count; k++) {
      uint32_t slot = r->pass->pass->slot_of[op->outputs[k].value];
      for (uint64_t j = 0; j < UINT64_C(1) << op->k && slot != NET_NONE; j++)
        if (op->outputs[k].elements[j] != NET_NONE)
          copy_element(r, o, warp, o->first[c], slot, j, value_at(r, op->outputs[k].elements[j]),
                       true);
    }
  }
}

void hmm_registers_compute(hmm_registers *r, uint32_t phase, uint64_t warp, uint64_t item,
                           uint64_t block_warp) {
  const c_space *s = &r->pass->schedule.spaces[phase];
  const net_stage *stage = r->pass->stage;
  uint64_t loops = item >> s->blocks, block = f2_combine((int)s->blocks, s->block, item);
  net_loop_indices(stage, loops, r->loops);
  for (uint32_t lane = 0; lane < LANES; lane++)
    r->x[lane] =
        block ^ f2_combine((int)s->threads, s->basis + s->r, block_warp << LANE_BITS | lane);
  r->lanes = UINT64_C(1) << s->threads;
  r->next_place = r->places + warp * r->most_placed * LANES;
  set_padding_registers(r, phase, warp);
  for (uint32_t i = 0; i < r->pass->schedule.phases[phase].op_count; i++)
    run_op(r, phase, &r->phases[phase].ops[i], warp);
  set_padding_threads(r, phase, warp, item, block_warp);
}

// ---- preparation -----------------------------------------------------------------------------

static phase_op op_of(arena *a, const c_pass *p, const c_space *s, const net_op *op,
                      net_id *nodes) {
  uint64_t count = UINT64_C(1) << op->k, direction[F2_MAX];
  phase_op o = {.op = op, .node_count = net_op_nodes(p->stage, op, nodes)};
  o.nodes = NEW_ARRAY(a, net_id, o.node_count);
  memcpy(o.nodes, nodes, o.node_count * sizeof *nodes);
  for (uint32_t i = 0; i < op->k; i++) {
    bool found = f2_coordinates((int)s->r, s->basis, op->directions[i], &direction[i]);
    assert(found);
    (void)found;
  }
  o.position = NEW_ARRAY(a, uint64_t, count);
  for (uint64_t j = 0; j < count; j++)
    o.position[j] = f2_combine((int)op->k, direction, j);
  o.first = NEW_ARRAY(a, uint64_t, UINT64_C(1) << (s->r - op->k));
  for (uint64_t i = 0; i < UINT64_C(1) << s->r; i++) {
    bool is_first = true;
    for (uint32_t k = 0; k < op->k; k++)
      is_first = is_first && !net_form_at(op->coordinates[k], f2_combine((int)s->r, s->basis, i));
    if (is_first)
      o.first[o.first_count++] = i;
  }
  return o;
}

static void set_padding(arena *a, const c_pass *p, uint32_t phase, phase_registers *f) {
  const c_space *s = &p->schedule.spaces[phase];
  const plan_phase *of = &p->schedule.phases[phase];
  f->dead = c_pass_padding_registers(p, s);
  f->least_block = NEW_ARRAY(a, uint64_t, F2_MAX);
  f->least_thread = NEW_ARRAY(a, uint64_t, F2_MAX);
  f->has_padding = c_pass_has_padding_threads(p, s, f->least_block, f->least_thread);
  f->before = NEW_ARRAY(a, scalar_bits, p->pass->slot_count);
  f->after = NEW_ARRAY(a, scalar_bits, p->pass->slot_count);
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
    const c_use *use = c_use_of(&p->schedule, p->pass, phase, slot);
    if (f->dead && (use->load != C_NOWHERE || use->in != C_NOWHERE))
      f->before[slot] = c_pass_padding_value(p, slot, of->first_op);
    if (f->has_padding && use->out != C_NOWHERE)
      f->after[slot] = c_pass_padding_value(p, slot, of->first_op + of->op_count);
  }
}

// Of all lanes of a warp, in the phase that has most of them.
static uint64_t slot_bytes(const c_pass *pass, uint32_t slot) {
  const c_schedule *s = &pass->schedule;
  uint32_t most = 0;
  for (uint32_t i = 0; i < s->phase_count; i++)
    most = s->spaces[i].r > most ? s->spaces[i].r : most;
  return (uint64_t)pass->pass->slot_bytes[slot] * LANES << most;
}

// The most gathers and scatters that a warp does in one phase.
static uint64_t most_placed(const c_pass *pass) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < pass->schedule.phase_count && pass->pass->access_count; i++) {
    uint64_t nodes = 0;
    for (size_t k = 0; k < pass->stage->nodes.count; k++)
      nodes += net_node_has_array(pass->stage->nodes.items[k].kind);
    nodes = nodes * pass->schedule.phases[i].op_count << pass->schedule.spaces[i].r;
    most = nodes > most ? nodes : most;
  }
  return most;
}

uint64_t hmm_registers_bytes(const c_pass *pass) {
  uint64_t sum = 0;
  for (uint32_t slot = 0; slot < pass->pass->slot_count; slot++)
    sum += slot_bytes(pass, slot);
  return sum + most_placed(pass) * LANES * sizeof(uint64_t);
}

static void place_slots(arena *a, hmm_registers *r) {
  r->slot = NEW_ARRAY(a, uint64_t, r->pass->pass->slot_count);
  for (uint32_t slot = 0; slot < r->pass->pass->slot_count; slot++) {
    r->slot[slot] = r->warp_bytes;
    r->warp_bytes += slot_bytes(r->pass, slot);
  }
}

const uint64_t *hmm_registers_places(const hmm_registers *r, uint64_t warp, uint32_t number) {
  return r->places + (warp * r->most_placed + number) * LANES;
}

hmm_registers *hmm_registers_new(arena *a, const c_pass *pass, const hmm_arrays *arrays,
                                 uint64_t warps) {
  hmm_registers *r = NEW(a, hmm_registers);
  r->arrays = arrays;
  r->most_placed = most_placed(pass);
  r->places = NEW_ARRAY(a, uint64_t, warps * r->most_placed * LANES + 1);
  const c_schedule *s = &pass->schedule;
  net_id *nodes = NEW_ARRAY(a, net_id, pass->stage->nodes.count);
  uint32_t most = 0;
  r->pass = pass;
  place_slots(a, r);
  r->bytes = arena_alloc(a, warps * r->warp_bytes);
  r->value_of = NEW_ARRAY(a, uint32_t, pass->stage->nodes.count);
  r->loops = NEW_ARRAY(a, uint64_t, pass->stage->loop_count);
  r->phases = NEW_ARRAY(a, phase_registers, s->phase_count);
  for (uint32_t i = 0; i < s->phase_count; i++) {
    phase_registers *f = &r->phases[i];
    f->ops = NEW_ARRAY(a, phase_op, s->phases[i].op_count);
    for (uint32_t k = 0; k < s->phases[i].op_count; k++) {
      uint32_t number = pass->pass->ops[s->phases[i].first_op + k];
      f->ops[k] = op_of(a, pass, &s->spaces[i], &pass->stage->ops.items[number], nodes);
      most = f->ops[k].node_count > most ? f->ops[k].node_count : most;
    }
    set_padding(a, pass, i, f);
  }
  r->values = arena_alloc(a, (size_t)most * VALUE_BYTES);
  return r;
}

const char *hmm_registers_problem(const plan *of, uint32_t number) {
  const plan_pass *pass = &of->passes.items[number];
  const net_stage *stage = &of->net->stages.items[pass->stage];
  for (size_t i = 0; i < stage->nodes.count && of->net->externs.count > 0; i++)
    if (stage->nodes.items[i].kind == NET_EXTERN)
      return "the program calls C functions, which the memory machines have not";
  return NULL;
}
