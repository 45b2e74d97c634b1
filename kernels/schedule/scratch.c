// Scratch as phases find it: which elements have a place there, and where. See schedule.h.
#include "kernels/schedule/schedule.h"

net_form *c_pass_forms_within(const c_pass *p, f2_space set, f2_space *known, uint32_t *count) {
  net_form *forms = NEW_ARRAY(p->context->memory, net_form, set.dimension + 1);
  *count = 0;
  for (int i = 0; i < set.dimension; i++)
    if (f2_space_insert(known, set.basis[i]))
      forms[(*count)++] = live_form(set.basis[i]);
  return forms;
}

f2_space c_pass_live_of_blocks(const c_pass *p) {
  return live_set(p->pass->tile.n, p->pass->live_count, p->pass->live);
}

bool c_pass_packs_live(const c_pass *p, scalar_type type) {
  return !c_swizzle_asked(p->context) && (!p->context->warps || scalar_part_bytes(type) >= 4);
}

net_form *c_pass_live_in_scratch(const c_pass *p, uint32_t phase, uint32_t slot, bool out,
                                 f2_space *known, uint32_t *count) {
  const c_use *use = c_use_of(p, phase, slot);
  const c_content *held = out ? &use->after : &use->before;
  *count = 0;
  if (!held->live || !c_pass_packs_live(p, held->type))
    return NULL;
  return c_pass_forms_within(p, *held->live, known, count);
}

xor_sum c_pass_scratch_map(const c_pass *p, uint32_t space, uint32_t phase, uint32_t slot,
                           scalar_type type) {
  const plan_phase *of = &p->schedule.phases[phase];
  uint32_t bytes = scalar_part_bytes(type);
  const c_swizzle *swizzle = &c_use_of(p, phase, slot)->swizzle;
  xor_sum map = xor_sum_of_scratch(swizzle->basis, &p->schedule.spaces[space], scalar_parts(type));
  map.swizzle = swizzle->by ? swizzle : NULL;
  uint32_t dead;
  f2_space known = c_pass_live_of_blocks(p);
  const net_form *live = c_pass_live_in_scratch(p, phase, slot, false, &known, &dead);
  if (dead > 0)
    xor_sum_keep_live(&map, (uint32_t)p->pass->tile.dimension, swizzle->basis, dead, live);
  if (p->context->warps && bytes < 4 && !c_swizzle_asked(p->context))
    xor_sum_share_banks(&map, of->l, bytes == 1 ? 2 : 1);
  if (p->context->warps)
    xor_sum_in_bytes(&map, bytes);
  return map;
}
