// What must hold of every plan. See plan.h.
#include "fusion/plan/planning.h"

#include <inttypes.h>

typedef struct verifying {
  arena *memory;
  const plan *plan;
  const plan_pass *pass;
  const net_stage *stage;
} verifying;

// What a share stores in an array between passes is together, and the array's i-th part if it is
// the i-th share: then a share has no need of the others' parts.
static const char *verify_layout(const verifying *v, const plan_move *m) {
  const net_stage *s = v->stage;
  if (!net_stage_is_shared(s) || m->array < v->plan->net->arrays.count)
    return NULL;
  f2_affine bits;
  int own = net_share_bits(s);
  if (!net_map_bits(&m->map, s->n, (int)m->map.row_count, &bits) || bits.c)
    return arena_printf(v->memory, "a%" PRIu32 " between passes has no affine layout", m->array);
  int low = bits.a.rows - s->shares;
  for (int i = 0; i < bits.a.rows; i++)
    if (low < 0 || (i < low ? bits.a.row[i] >> own : bits.a.row[i] != f2_unit(own + i - low)))
      return arena_printf(v->memory, "elements of a%" PRIu32 " change shares", m->array);
  uint64_t turn = f2_unit(bits.a.rows);
  for (uint32_t l = s->share_outer + 1; l < s->loop_count; l++)
    turn *= s->extents[l];
  if (s->share_turns && (uint64_t)m->map.strides[s->share_outer] != turn)
    return arena_printf(v->memory, "a turn's elements of a%" PRIu32 " are apart", m->array);
  return NULL;
}

static const char *verify_move(const verifying *v, const plan_move *m, const char *what) {
  if (m->slot >= v->pass->slot_count)
    return arena_printf(v->memory, "a %s has slot %" PRIu32 " of %" PRIu32, what, m->slot,
                        v->pass->slot_count);
  if (m->direct > v->pass->op_count)
    return arena_printf(v->memory, "a %s is of op %" PRIu32 " of %" PRIu32, what, m->direct,
                        v->pass->op_count);
  if (m->array >= v->plan->arrays.count)
    return arena_printf(v->memory, "a %s names array %" PRIu32, what, m->array);
  const net_array *a = &v->plan->arrays.items[m->array];
  uint32_t width = (uint32_t)scalar_types[a->type].size;
  if (width != v->pass->slot_bytes[m->slot])
    return arena_printf(v->memory, "a %s moves elements of %" PRIu32 " bytes to a slot of %" PRIu32,
                        what, width, v->pass->slot_bytes[m->slot]);
  const char *wrong = verify_layout(v, m);
  if (wrong)
    return wrong;
  if (m->coalesced && plan_missing_dimensions(v->plan, v->pass, m))
    return arena_printf(v->memory, "a %s that is called coalesced has lines beyond the tile", what);
  return NULL;
}

static const char *verify_basis(const verifying *v, int count, const uint64_t *basis,
                                const char *what) {
  f2_space s = f2_span(v->stage->n, count, basis);
  if (f2_space_equal(s, v->pass->tile))
    return NULL;
  return arena_printf(v->memory, "%s is no basis of the tile", what);
}

// The lanes of a warp reach as many banks: nothing of them but 0 lies among the addresses' higher
// bits.
static bool free_of_conflicts(const verifying *v, const plan_phase *f, const uint64_t *exchange) {
  int n = v->stage->n, d = v->pass->tile.dimension;
  for (int l = 1; l <= (int)f->l; l++) {  // also for the first half, quarter, ... of a warp
    f2_space lanes = f2_span(n, l, f->basis + f->r), k = f2_span(n, d - l, exchange + l);
    if (f2_space_sum(lanes, k).dimension != d)
      return false;
  }
  return true;
}

// Ranks: R, L and T together are V; the directions lie in R; the lines of an exchange are read
// whole or reach every vector of lanes (docs/algebra.md, section 5).
static const char *verify_phase(const verifying *v, uint32_t number) {
  const plan_phase *f = &v->pass->phases[number];
  int d = v->pass->tile.dimension;
  if ((int)(f->r + f->l) > d || f->first_op + f->op_count > v->pass->op_count)
    return "it is larger than the pass";
  const char *wrong = verify_basis(v, d, f->basis, "R + L + T");
  if (!wrong && number)
    wrong = !f->exchange ? "it has no exchange" : verify_basis(v, d, f->exchange, "its exchange");
  const strategy_row *row = strategy_row_of(v->plan->strategy[v->pass->stage]);
  if (!wrong && number && v->plan->target->lane_bytes == 0 &&
      (!row || row->exchange == EXCHANGE_FREE) &&
      !(free_of_conflicts(v, f, f->exchange) &&
        free_of_conflicts(v, &v->pass->phases[number - 1], f->exchange)))
    wrong = "lanes of its exchange meet in a bank";
  f2_space r = f2_span(v->stage->n, (int)f->r, f->basis);
  for (uint32_t i = 0; i < f->op_count && !wrong; i++) {
    const net_op *op = &v->stage->ops.items[v->pass->ops[f->first_op + i]];
    for (uint32_t k = 0; k < op->k && !wrong; k++)
      if (!f2_space_has(r, op->directions[k]))
        wrong = arena_printf(
            v->memory, "the direction 0x%" PRIx64 " of its op %" PRIu32 " is not in registers",
            op->directions[k], i);
  }
  return wrong;
}

// Every value that an op reads, or that is stored, is in its slot, and no other value.
static const char *verify_slots(const verifying *v) {
  const plan_pass *p = v->pass;
  net_id *holds = NEW_ARRAY(v->memory, net_id, p->slot_count + 1);
  for (uint32_t i = 0; i < p->slot_count; i++)
    holds[i] = NET_NONE;
  for (uint32_t i = 0; i < p->load_count; i++)
    if (!p->loads[i].direct)
      holds[p->loads[i].slot] = p->loads[i].value;
  for (uint32_t i = 0; i < p->op_count; i++) {
    for (uint32_t k = 0; k < p->load_count; k++)
      if (p->loads[k].direct == i + 1)
        holds[p->loads[k].slot] = p->loads[k].value;
    const net_op *op = &v->stage->ops.items[p->ops[i]];
    net_reads reads = net_op_reads(v->memory, v->stage, op);
    for (uint32_t k = 0; k < reads.count; k++) {
      net_id u = reads.values[k];
      if (p->slot_of[u] == NET_NONE || holds[p->slot_of[u]] != u)
        return arena_printf(v->memory, "op %" PRIu32 " reads v%" PRIu32 ", which is in no slot", i,
                            u);
    }
    for (uint32_t o = 0; o < op->output_count; o++) {
      net_id made_here = op->outputs[o].value;
      if (p->slot_of[made_here] == NET_NONE)
        return arena_printf(v->memory, "op %" PRIu32 " makes v%" PRIu32 ", which is in no slot", i,
                            made_here);
      holds[p->slot_of[made_here]] = made_here;
    }
  }
  for (uint32_t i = 0; i < p->store_count; i++)
    if (holds[p->stores[i].slot] != p->stores[i].value)
      return arena_printf(v->memory, "v%" PRIu32 " is stored, and is in no slot",
                          p->stores[i].value);
  return NULL;
}

// Shares stay apart: tiles lie in shares; block vectors do, but for the last ones, the i-th of
// which goes to the share whose number has bit i besides.
static const char *verify_shares(const verifying *v, const plan_pass *p) {
  int own = net_share_bits(v->stage), d = p->tile.dimension;
  for (int i = 0; i < d; i++)
    if (p->tile.basis[i] >> own)
      return "a tile has elements of two shares";
  for (int i = 0; i < v->stage->n - d; i++) {
    uint64_t wanted = i < own - d ? 0 : f2_unit(i - (own - d));
    if (p->blocks[i] >> own != wanted)
      return arena_printf(v->memory, "block vector %d leads to share %" PRIu64 ", not %" PRIu64, i,
                          p->blocks[i] >> own, wanted);
  }
  return NULL;
}

static const char *verify_pass(verifying *v, const plan_pass *p) {
  v->pass = p;
  if (p->stage >= v->plan->net->stages.count)
    return "there is no such stage";
  v->stage = &v->plan->net->stages.items[p->stage];
  if (v->stage->routine)
    return p->load_count || p->store_count || p->op_count || p->phase_count || p->tile.n
               ? "it is a routine, and has moves or ops"
               : NULL;
  int n = v->stage->n, d = p->tile.dimension;
  const char *wrong = f2_space_problem(p->tile);
  uint64_t all[F2_MAX];
  for (int i = 0; i < n; i++)
    all[i] = i < d ? p->tile.basis[i] : p->blocks[i - d];
  if (!wrong && f2_span(n, n, all).dimension != n)
    wrong = "its blocks are no complement of its tile";
  if (!wrong && !p->phase_count)
    wrong = "it has no phase";
  if (!wrong)
    wrong = verify_shares(v, p);
  for (uint32_t i = 0; i < p->load_count && !wrong; i++)
    wrong = verify_move(v, &p->loads[i], "load");
  for (uint32_t i = 0; i < p->store_count && !wrong; i++)
    wrong = verify_move(v, &p->stores[i], "store");
  uint32_t next = 0;
  for (uint32_t i = 0; i < p->phase_count && !wrong; i++) {
    wrong = verify_phase(v, i);
    if (!wrong && p->phases[i].first_op != next)
      wrong = "its phases leave out an op";
    if (wrong)
      wrong = arena_printf(v->memory, "phase %" PRIu32 ": %s", i, wrong);
    next = p->phases[i].first_op + p->phases[i].op_count;
  }
  if (!wrong && next != p->op_count)
    wrong = "its phases leave out an op";
  for (uint32_t i = 0; i < p->live_count && !wrong; i++)
    if (!vanishes_on(p->live[i].mask, (uint32_t)d, p->tile.basis))
      wrong = "a live form changes within the tile";
  return wrong ? wrong : verify_slots(v);
}

// A pass that has the code of an earlier one: the same tiles, in the same order.
static const char *verify_repeats(const plan *p, uint32_t number) {
  const plan_pass *own = &p->passes.items[number];
  if (!own->repeats)
    return NULL;
  const plan_pass *code = &p->passes.items[own->repeats - 1];
  int blocks = plan_stage_of(p, own)->n - own->tile.dimension;
  if (own->repeats > number || code->repeats)
    return "the pass whose code it has is none before it with its own";
  bool same = f2_space_equal(own->tile, code->tile) && own->op_count == code->op_count &&
              own->load_count == code->load_count && own->store_count == code->store_count &&
              own->turn_bits == code->turn_bits && own->turn_flip == code->turn_flip &&
              !memcmp(own->blocks ? own->blocks : &(uint64_t){0},
                      code->blocks ? code->blocks : &(uint64_t){0},
                      (own->blocks && code->blocks ? (size_t)blocks : 0) * sizeof *own->blocks);
  return same ? NULL : "it has the code of a pass with other tiles, or another order of them";
}

// Each op of each stage is executed once, in order.
static const char *verify_order(const verifying *v) {
  const plan *p = v->plan;
  for (uint32_t s = 0; s < p->net->stages.count; s++) {
    uint32_t next = 0;
    for (size_t i = 0; i < p->passes.count; i++)
      for (uint32_t k = 0; p->passes.items[i].stage == s && k < p->passes.items[i].op_count; k++)
        if (p->passes.items[i].ops[k] != next++)
          return arena_printf(v->memory, "pass %zu executes ops of stage %" PRIu32 " out of order",
                              i, s);
    if (next != p->net->stages.items[s].ops.count)
      return arena_printf(v->memory, "ops of stage %" PRIu32 " are left out", s);
  }
  return NULL;
}

const char *plan_verify(arena *a, const plan *p) {
  verifying v = {.memory = a, .plan = p};
  for (size_t i = 0; i < p->passes.count; i++) {
    const char *wrong = verify_pass(&v, &p->passes.items[i]);
    if (!wrong)
      wrong = verify_repeats(p, (uint32_t)i);
    if (wrong)
      return arena_printf(a, "pass %zu: %s", i, wrong);
  }
  return verify_order(&v);
}
