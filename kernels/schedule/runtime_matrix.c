#include "kernels/schedule/runtime_matrix.h"
#include "kernels/schedule/xor_sum.h"

// The maps of one of the two phases: to memory and to scratch.
typedef struct side {
  xor_sum memory, scratch;
} side;

static bool moves_one_array(const c_context *c, const plan_pass *p) {
  const net_stage *s = &c->plan->net->stages.items[p->stage];
  f2_affine bits;
  bool plain = c->warps && p->op_count == 0 && p->load_count == 1 && p->store_count == 1 &&
               p->phase_count <= 2 && p->live_count == 0 && p->padding_start == UINT64_MAX &&
               s->loop_count <= PERMC_MATRIX_LOOPS &&
               s->n - p->tile.dimension <= PERMC_MATRIX_BLOCKS &&
               p->tile.dimension <= PERMC_MATRIX_TILE && p->loads[0].array != p->stores[0].array;
  for (int i = 0; i < 2 && plain; i++) {
    const plan_move *m = i ? &p->stores[0] : &p->loads[0];
    net_map rows = {.row_count = m->map.row_count, .rows = m->map.rows};
    plain = m->padding_start == UINT64_MAX && m->live_count == 0 &&
            net_map_bits(&rows, s->n, (int)rows.row_count, &bits);
  }
  return plain;
}

static side maps_of_phase(c_context *c, const plan_pass *p, bool last, uint32_t bytes,
                          const uint64_t *exchange) {
  const plan_phase *f = &p->phases[last ? p->phase_count - 1 : 0];
  uint32_t d = (uint32_t)p->tile.dimension;
  c_space space = {(uint32_t)p->tile.n - d, d - f->r, f->r, 0, p->blocks, f->basis, NULL};
  side s = {xor_sum_of(c->memory, last ? &p->stores[0].map : &p->loads[0].map, &space, 1),
            xor_sum_of_scratch(exchange, &space, 1)};
  if (bytes < 4)
    xor_sum_share_banks(&s.scratch, f->l, bytes == 1 ? 2 : 1);
  return s;
}

// As many of the first registers as step through neighbours whose addresses nothing else of the
// tile changes the low bits of.
static uint32_t wide_registers(const xor_sum *m, uint32_t most) {
  uint64_t others = m->offset;
  for (uint32_t i = 0; i < m->loops; i++)
    others |= (uint64_t)m->strides[i];
  for (uint32_t i = 0; i < m->threads; i++)
    others |= xor_sum_weight(m, m->thread[i]);
  for (uint32_t wide = most;; wide--) {
    uint64_t low = others;
    bool good = true;
    for (uint32_t i = 0; i < m->vectors; i++) {
      uint64_t step = xor_sum_weight(m, m->vector[i]);
      good = good && (i >= wide || step == UINT64_C(1) << i);
      low |= i < wide ? 0 : step;
    }
    if (good && (low & f2_mask((int)wide)) == 0)
      return wide;
  }
}

// A vector's address, and its place; what the address lacks to a multiple of 2^wide comes from the
// first registers, whose place it gets.
static void add_vector(const side *s, uint32_t wide, uint64_t memory, uint64_t scratch,
                       uint64_t *address, uint32_t *place) {
  uint64_t sum = xor_sum_weight(&s->memory, memory), at = xor_sum_weight(&s->scratch, scratch);
  for (uint32_t i = 0; i < wide; i++)
    if (sum >> i & 1)
      at ^= xor_sum_weight(&s->scratch, s->scratch.vector[i]);
  *address = sum & ~f2_mask((int)wide);
  *place = (uint32_t)at;
}

static void add_phase_vectors(const side *s, bool last, c_runtime_matrix *o) {
  permc_runtime_matrix *d = &o->data;
  uint32_t r = o->r, wide = last ? o->out : o->in;
#define ADD(row, memory, scratch, low)                                                             \
  add_vector(s, low, memory, scratch, last ? &(row).target : &(row).source,                        \
             last ? &(row).get : &(row).put)
  ADD(d->origin, s->memory.constant, s->scratch.constant, wide);
  for (uint32_t i = 0; i < d->blocks; i++)
    ADD(d->block[i], s->memory.block[i], 0, wide);
  for (uint32_t i = 0; i < r; i++)
    ADD(d->tile[i], s->memory.vector[i], s->scratch.vector[i], i < wide ? 0 : wide);
  for (uint32_t i = 0; i < o->threads; i++)
    ADD(d->tile[r + i], s->memory.thread[i], s->scratch.thread[i], wide);
#undef ADD
  *(last ? &d->target_offset : &d->source_offset) = (int64_t)s->memory.offset;
  for (uint32_t i = 0; i < d->loops; i++)
    (last ? d->target_strides : d->source_strides)[i] = s->memory.strides[i];
}

bool c_runtime_matrix_of(c_context *c, const plan_pass *p, c_runtime_matrix *o) {
  if (c->plan->net->stages.items[p->stage].paces || !c->plan->strategy ||
      strcmp(c->plan->strategy[p->stage], "online") != 0 || !moves_one_array(c, p))
    return false;
  const net_stage *stage = &c->plan->net->stages.items[p->stage];
  const plan_phase *first = &p->phases[0];
  uint32_t d = (uint32_t)p->tile.dimension;
  const uint64_t *exchange = p->phases[p->phase_count - 1].exchange;
  uint64_t straight[F2_MAX];  // lanes, threads, registers: free of conflicts for one phase
  for (uint32_t i = 0; i < d; i++)
    straight[i] = first->basis[i < d - first->r ? first->r + i : i - (d - first->r)];
  *o = (c_runtime_matrix){
      .bytes = p->slot_bytes[p->loads[0].slot], .r = first->r, .threads = d - first->r};
  o->scratch_bytes = (uint64_t)o->bytes << d;
  o->data.blocks = (uint32_t)stage->n - d;
  o->data.loops = stage->loop_count;
  for (uint32_t i = 0; i < stage->loop_count; i++)
    o->data.extents[i] = stage->extents[i];
  side from = maps_of_phase(c, p, false, o->bytes, exchange ? exchange : straight);
  side to = maps_of_phase(c, p, true, o->bytes, exchange ? exchange : straight);
  uint32_t most = o->bytes < 16 ? (uint32_t)f2_msb(16 / o->bytes) : 0;
  o->in = wide_registers(&from.memory, most < o->r ? most : o->r);
  o->out = wide_registers(&to.memory, most < o->r ? most : o->r);
  add_phase_vectors(&from, false, o);
  add_phase_vectors(&to, true, o);
  return true;
}
