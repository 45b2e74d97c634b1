// Two stages become one, when an op reads values of both: zip (map f xs) (map g xs).
//
// Both have the same loops and bits, and neither reads what the other stores, since both are open.
// The second's index is renamed, x' = T x ^ c, so that its elements lie where the op needs them.
#include "fusion/lower/lowering.h"

void merge_stages(lowering *l, uint32_t into, uint32_t from, f2_affine change) {
  net_stage *old = &l->net->stages.items[from];
  net_id *values = net_stage_merge(l->memory, &l->net->stages.items[into], old, change);
  for (size_t i = 0; i < l->storages.count; i++) {
    storage *held = &l->storages.items[i];
    if (held->in_memory || held->stage != from)
      continue;
    f2_affine *frame = NEW(l->memory, f2_affine);
    *frame = f2_affine_compose(change, storage_frame(l, held));
    held->frame = frame;
    held->stage = into;
    held->value = values[held->value];
  }
  old->loads.count = old->ops.count = old->stores.count = 0;
  stage_close(l, from);
}
