// Keys that a sort makes of its elements, instead of reading them. See planning.h.
//
//   pass 0 of stage 0: k = x % 2, for all x of a0, to a1        a1 is read by pass 1 alone
//   pass 1: sort a0 by a1, below 2                              on a GPU it makes k of x itself
//
// The plan keeps pass 0, for backends whose sorts read keys. Such a sort needs the pass's arrays.
#include "fusion/plan/planning.h"

// Whether an element is loaded from the place that the key made of it is stored at.
static bool loads_at(const plan *p, const net_load *l, const net_store *to) {
  const net_array *arrays = p->arrays.items;
  const scalar_row *type = &scalar_types[arrays[l->array].type];
  return net_map_equal(&l->map, &to->map) && l->padding_start == UINT64_MAX &&
         type->kind != KIND_COMPLEX && arrays[l->array].count == arrays[to->array].count;
}

// Whether the stage computes one key of one element of each of its arrays, and nothing else.
static bool makes_keys(const plan *p, const net_stage *s) {
  if (s->routine || s->stores.count != 1 || !s->loads.count || s->loads.count > PLAN_KEY_INPUTS ||
      !s->ops.count)
    return false;
  const net_store *to = &s->stores.items[0];
  bool good = to->padding_start == UINT64_MAX && !to->live_count;
  for (size_t i = 0; i < s->loads.count && good; i++)
    good = loads_at(p, &s->loads.items[i], to);
  for (size_t i = 0; i < s->ops.count && good; i++)
    good = s->ops.items[i].k == 0 && !s->ops.items[i].live_count;
  for (size_t i = 0; i < s->nodes.count && good; i++)
    good = s->nodes.items[i].kind != NET_INDEX && !net_node_is(s->nodes.items[i].kind, NET_IMPORTS);
  return good;
}

// The pass before `number` that only makes its keys, or NULL.
static plan_pass *find_maker(plan *p, uint32_t number) {
  const net_routine *r = plan_routine_of(p, &p->passes.items[number]);
  net_id keys = r->pairs[0].from;
  if (r->pairs[0].to != NET_NONE || p->arrays.items[keys].role != NET_TEMPORARY)
    return NULL;
  uint32_t users = 0;
  for (size_t i = 0; i < p->passes.count; i++)
    users += plan_pass_touches(&p->passes.items[i], keys);
  for (uint32_t i = number; i-- > 0 && users == 2;) {
    plan_pass *pass = &p->passes.items[i];
    if (pass->store_count == 1 && pass->stores[0].array == keys)
      return makes_keys(p, plan_stage_of(p, pass)) ? pass : NULL;
  }
  return NULL;
}

uint32_t plan_keys_of_elements(arena *a, plan *p) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < p->passes.count && !p->target->lane_bytes; i++) {
    plan_pass *pass = &p->passes.items[i];
    const net_routine *r = plan_routine_of(p, pass);
    plan_pass *maker = r && plan_routine_is_partition(r) ? find_maker(p, i) : NULL;
    if (!maker)
      continue;
    const net_stage *s = &p->net->stages.items[maker->stage];
    plan_access *all = NEW_ARRAY(a, plan_access, pass->access_count + s->loads.count + 1);
    memcpy(all, pass->accesses, pass->access_count * sizeof *all);
    pass->accesses = all;
    for (size_t k = 0; k < s->loads.count; k++)
      plan_add_access(pass, s->loads.items[k].array, false);
    pass->keys_from = (uint32_t)(maker - p->passes.items) + 1;
    maker->keys_for = i;
    maker->seconds = 0;
    count++;
  }
  return count;
}
