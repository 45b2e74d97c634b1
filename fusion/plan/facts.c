// What a plan comes to. See plan.h.
#include "fusion/plan/planning.h"

// ---- what a pass is --------------------------------------------------------------------------

static plan_pass_kind kind_of(const plan_pass *pass) {
  if (pass->op_count)
    return PLAN_WORK;
  for (uint32_t i = 0; i < pass->store_count; i++) {
    bool copied = false;
    for (uint32_t k = 0; k < pass->load_count; k++) {
      net_map to = pass->stores[i].map;
      to.offset = pass->loads[k].map.offset;  // addresses may differ by a constant
      copied |=
          pass->loads[k].value == pass->stores[i].value && net_map_equal(&pass->loads[k].map, &to);
    }
    if (!copied)
      return PLAN_MOVE;
  }
  return PLAN_COPY;
}

// ---- ops -------------------------------------------------------------------------------------

// Whether which element of its coset an index is depends on its register only: the coordinates are
// constant along lanes, threads and blocks.
static bool is_static(const plan *p, const plan_pass *pass, const plan_phase *phase,
                      const net_op *op) {
  uint32_t d = (uint32_t)pass->tile.dimension, n = (uint32_t)plan_stage_of(p, pass)->n;
  bool good = true;
  for (uint32_t k = 0; k < op->k && good; k++)
    good = vanishes_on(op->coordinates[k].mask, d - phase->r, phase->basis + phase->r) &&
           vanishes_on(op->coordinates[k].mask, n - d, pass->blocks);
  return good;
}

static void count_ops(const plan *p, const plan_pass *pass, plan_pass_facts *facts) {
  for (uint32_t f = 0; f < pass->phase_count; f++)
    for (uint32_t i = 0; i < pass->phases[f].op_count; i++) {
      uint32_t number = pass->ops[pass->phases[f].first_op + i];
      const net_op *op = &plan_stage_of(p, pass)->ops.items[number];
      facts->maps += op->k == 0;
      facts->columns += op->k > 0;
      facts->static_columns += op->k > 0 && is_static(p, pass, &pass->phases[f], op);
    }
}

// ---- blocks ----------------------------------------------------------------------------------

// Those that are executed are the solutions of a system: one of them, and the sums with a kernel.
uint64_t plan_live_blocks(const plan *p, const plan_pass *pass) {
  int count = plan_stage_of(p, pass)->n - pass->tile.dimension;
  f2_matrix forms = f2_zero((int)pass->live_count, count);
  uint64_t constants = 0, last;
  for (uint32_t i = 0; i < pass->live_count; i++) {
    constants |= (uint64_t)pass->live[i].constant << i;
    for (int k = 0; k < count; k++)
      forms.row[i] |= (uint64_t)f2_dot(pass->live[i].mask, pass->blocks[k]) << k;
  }
  if (!f2_solve(forms, constants, &last))
    return 0;
  f2_space others = f2_kernel(forms);
  for (int i = others.dimension; i-- > 0;)
    if (!f2_bit(last, f2_msb(others.basis[i])))
      last ^= others.basis[i];
  return last + 1;
}

void plan_share_items(const plan *p, const plan_pass *pass, uint64_t share, uint64_t *first,
                      uint64_t *last) {
  const net_stage *s = plan_stage_of(p, pass);
  uint64_t items = net_stage_elements(s) >> pass->tile.dimension;
  uint64_t each = items >> s->shares, within = items, before = 0;
  if (share >= net_share_count(s)) {
    *first = *last = items;
    return;
  }
  if (s->share_turns) {
    uint64_t extent = s->extents[s->share_outer], shares = net_shares_of_loop(s);
    within = items / (net_share_count(s) / shares);
    each = within / (extent ? extent : 1) * s->share_turns;
    before = share / shares * within;
    share %= shares;
  }
  *first = before + share * each;
  *last = within - share * each < each ? before + within : *first + each;
}

uint64_t plan_share_elements(const plan *p, net_id array) {
  for (size_t i = 0; i < p->passes.count; i++)
    for (uint32_t k = 0; k < p->passes.items[i].store_count; k++) {
      const plan_move *m = &p->passes.items[i].stores[k];
      const net_stage *s = plan_stage_of(p, &p->passes.items[i]);
      if (m->array == array && net_stage_is_shared(s))
        return s->share_turns ? s->share_turns * (uint64_t)m->map.strides[s->share_outer]
                              : f2_unit((int)m->map.row_count - s->shares);
    }
  return 0;
}

// ---- memory ----------------------------------------------------------------------------------

static uint64_t saturating_product(uint64_t a, uint64_t b) {
  return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

// Different addresses of a move: loops and index bits that change none of them do not count, nor
// do indices where nothing is alive.
static uint64_t count_addresses(const plan *p, const plan_pass *pass, const plan_move *m) {
  const net_stage *s = plan_stage_of(p, pass);
  const net_array *array = &p->arrays.items[m->array];
  f2_space forms = f2_space_zero(s->n);
  for (uint32_t i = 0; i < m->live_count; i++)
    f2_space_insert(&forms, m->live[i].mask);
  for (uint32_t i = 0; i < pass->live_count; i++)
    f2_space_insert(&forms, pass->live[i].mask);
  int dead = forms.dimension;
  for (uint32_t i = 0; i < m->map.row_count; i++)
    f2_space_insert(&forms, m->map.rows[i].form.mask);
  uint64_t count = f2_unit(forms.dimension - dead);
  for (uint32_t i = 0; i < m->map.loop_count; i++)
    count = saturating_product(count, m->map.strides[i] ? s->extents[i] : !!s->extents[i]);
  uint64_t most = m->padding_start < array->count ? m->padding_start : array->count;
  return count < most ? count : most;
}

int plan_missing_dimensions(const plan *p, const plan_pass *pass, const plan_move *m) {
  return missing_dimensions(pass->tile, &m->map, p->target->line_bytes, pass->slot_bytes[m->slot]);
}

// ---- the whole -------------------------------------------------------------------------------

plan_pass_facts plan_pass_facts_of(const plan *p, size_t number) {
  const plan_pass *pass = &p->passes.items[number];
  bool routine = plan_routine_of(p, pass) != NULL;
  plan_pass_facts facts = {.kind = routine ? PLAN_ROUTINE : kind_of(pass),
                           .exchanges = routine ? 0 : pass->phase_count - 1};
  pass_cost cost = pass_cost_of(p, pass);
  count_ops(p, pass, &facts);
  for (plan_access at = {0}; plan_access_next(pass, &at);) {
    const net_array *a = &p->arrays.items[at.array];
    *(at.writes ? &facts.bytes_written : &facts.bytes_read) +=
        at.move
            ? saturating_product(count_addresses(p, pass, at.move), pass->slot_bytes[at.move->slot])
        : routine ? a->count * scalar_types[a->type].size
                  : 0;
  }
  facts.bound = cost.start > cost.memory && cost.start > cost.work ? PLAN_BY_START
                : cost.work > cost.memory                          ? PLAN_BY_WORK
                                                                   : PLAN_BY_MEMORY;
  return facts;
}

plan_facts plan_facts_of(const plan *p) {
  plan_facts all = {0};
  for (size_t i = 0; i < p->passes.count; i++) {
    plan_pass_facts f = plan_pass_facts_of(p, i);
    all.columns += f.columns;
    all.static_columns += f.static_columns;
    all.maps += f.maps;
    all.passes += f.kind != PLAN_COPY;
    all.planned += f.kind != PLAN_COPY && !p->passes.items[i].repeats;
    all.permutations += f.kind == PLAN_MOVE;
    all.copies += f.kind == PLAN_COPY;
    all.exchanges += f.exchanges;
    all.bytes_read += f.bytes_read;
    all.bytes_written += f.bytes_written;
    all.seconds += p->passes.items[i].seconds;
  }
  for (size_t i = 0; i < p->arrays.count; i++) {
    const net_array *a = &p->arrays.items[i];
    all.temporaries += a->role == NET_TEMPORARY;
    all.temporary_bytes += a->role == NET_TEMPORARY ? a->count * scalar_types[a->type].size : 0;
  }
  return all;
}
