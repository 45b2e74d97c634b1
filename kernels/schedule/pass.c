#include "kernels/schedule/schedule.h"

// ---- moves -----------------------------------------------------------------------------------

bool c_pass_in_place(const c_pass *p) {
  const plan_pass *pass = p->pass;
  if (net_stage_overlaps(p->stage))
    return false;
  for (uint32_t i = 0; i < pass->load_count; i++)
    for (uint32_t k = 0; k < pass->store_count; k++)
      if (net_map_equal(&pass->loads[i].map, &pass->stores[k].map) &&
          p->schedule.load_phase[i] > p->schedule.store_phase[k])
        return false;
  return true;
}

// ---- what is alive ---------------------------------------------------------------------------

net_form *c_pass_live_of_move(const c_pass *p, const plan_move *move, f2_space *known,
                              uint32_t *count) {
  bool loads = move >= p->pass->loads && move < p->pass->loads + p->pass->load_count;
  *count = move->live_count;
  if (p->context->warps)
    return c_pass_forms_within(p, live_set(p->pass->tile.n, *count, move->live), known, count);
  // Loads have conditions only where the address may be outside, and is no padding.
  uint64_t inside = p->context->plan->arrays.items[move->array].count;
  if (loads &&
      (move->padding_start != UINT64_MAX || net_map_lies_within(p->stage, &move->map, inside)))
    *count = 0;
  return move->live;
}

// Whether an op of the phase writes where it computes: by any thread.
static bool scatters(const c_pass *p, uint32_t phase) {
  const plan_phase *of = &p->schedule.phases[phase];
  for (uint32_t i = of->first_op; i < of->first_op + of->op_count; i++) {
    const net_op *op = &p->stage->ops.items[p->pass->ops[i]];
    for (uint32_t o = 0; o < op->output_count; o++)
      if (net_output_scatters(p->stage, op, &op->outputs[o]))
        return true;
  }
  return false;
}

net_form *c_pass_live_threads(const c_pass *p, uint32_t phase, f2_space *known, uint32_t *count) {
  const c_space *s = &p->schedule.spaces[phase];
  f2_space set = live_empty(p->pass->tile.n);
  uint64_t block[F2_MAX], thread[F2_MAX];
  *count = 0;
  if (scatters(p, phase))
    return NULL;
  for (uint32_t i = 0; i < p->pass->store_count; i++) {
    const plan_move *m = &p->pass->stores[i];
    if (p->schedule.store_phase[i] == phase)
      set = live_hull(set, live_set(p->pass->tile.n, m->live_count, m->live));
  }
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
    const c_use *use = c_use_of(p, phase, slot);
    if (use->out != C_NOWHERE)
      set = live_hull(set, use->after.live && c_pass_packs_live(p, use->after.type)
                               ? *use->after.live
                               : live_all(p->pass->tile.n));
  }
  bool told_apart = p->context->warps && c_pass_has_padding_threads(p, s, block, thread);
  if (live_is_empty(set) || told_apart)
    return NULL;
  return c_pass_forms_within(p, live_cosets(set, s->r + s->l, s->basis), known, count);
}

// ---- phases ----------------------------------------------------------------------------------

c_activity c_pass_activity(const c_pass *p, uint32_t phase) {
  c_activity does = {0};
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
    const c_use *use = c_use_of(p, phase, slot);
    does.makes |= use->made;
    does.loads |= use->load != C_NOWHERE;
    does.reads |= use->in != C_NOWHERE;
    does.writes |= use->out != C_NOWHERE;
  }
  for (uint32_t i = 0; i < p->pass->load_count; i++)
    does.loads |= p->pass->loads[i].direct && p->schedule.load_phase[i] == phase;
  for (uint32_t i = 0; i < p->pass->store_count; i++)
    does.stores |= p->schedule.store_phase[i] == phase;
  return does;
}

// ---- padding ---------------------------------------------------------------------------------

static bool has_padding(const c_pass *p) {
  return p->pass->padding_start != UINT64_MAX &&
         p->context->plan->padding[p->pass->stage] == PADDING_FREE;
}

bool *c_pass_padding_registers(const c_pass *p, const c_space *s) {
  if (!p->context->warps || !has_padding(p))
    return NULL;
  f2_space others = f2_span(p->pass->tile.n, (int)s->blocks, s->block);
  for (uint32_t i = 0; i < s->threads; i++)
    f2_space_insert(&others, s->basis[s->r + i]);
  bool *padding = NEW_ARRAY(p->context->memory, bool, (size_t)1 << s->r), any = false;
  for (uint64_t i = 0; i < UINT64_C(1) << s->r; i++) {
    uint64_t x = f2_combine((int)s->r, s->basis, i);
    padding[i] = f2_space_reduce(others, x) >= p->pass->padding_start;
    any |= padding[i];
  }
  return any ? padding : NULL;
}

bool c_pass_has_padding_threads(const c_pass *p, const c_space *s, uint64_t block[F2_MAX],
                                uint64_t thread[F2_MAX]) {
  uint64_t most = 0;
  f2_space shared = f2_span(p->pass->tile.n, (int)(s->r + s->l), s->basis);
  if (!has_padding(p) || s->threads == 0)
    return false;
  for (uint32_t i = 0; i < s->blocks; i++)
    most |= block[i] = f2_space_reduce(shared, s->block[i]);
  for (uint32_t i = 0; i < s->threads; i++)
    most |= thread[i] = f2_space_reduce(shared, s->basis[s->r + s->l + i]);
  return most >= p->pass->padding_start;
}

// ---- swizzles --------------------------------------------------------------------------------

static void print_pass_swizzles(text *to, c_context *c, uint32_t number) {
  c_pass pass = c_pass_of(c, number);
  for (uint32_t phase = 0; phase < pass.schedule.phase_count; phase++)
    for (uint32_t slot = 0; slot < pass.pass->slot_count; slot++) {
      const c_use *use = c_use_of(&pass, phase, slot);
      if (use->in == C_NOWHERE || !use->swizzle.made)
        continue;
      text_printf(to, "pass %u, before phase %u", (unsigned)number + 1, (unsigned)phase + 1);
      if (pass.pass->slot_count > 1)
        text_printf(to, ", slot %u", (unsigned)slot + 1);
      text_printf(to, ": %s\n", use->swizzle.made->parameters);
    }
}

void c_swizzle_print(arena *a, text *to, const plan *p, const c_options *options) {
  c_context c = c_context_of(a, p, options);
  for (uint32_t i = 0; i < p->passes.count && c_swizzle_asked(&c); i++)
    print_pass_swizzles(to, &c, i);
}
