// Who makes and who reads the values of a stage. See net.h.
#include "fusion/net/net.h"

net_uses net_uses_of(arena *a, const net_stage *s) {
  net_uses u = {NEW_ARRAY(a, net_value_uses, s->values.count + 1),
                NEW_ARRAY(a, net_reads, s->ops.count + 1)};
  net_id *reads = NEW_ARRAY(a, net_id, s->values.count + 1);
  for (size_t v = 0; v < s->values.count; v++)
    u.values[v] = (net_value_uses){.maker = NET_NONE, .first = NET_NONE, .last = NET_NONE};
  for (uint32_t i = 0; i < s->ops.count; i++) {
    const net_op *op = &s->ops.items[i];
    uint32_t count = net_op_reads(s, op, reads);
    net_id *own = NEW_ARRAY(a, net_id, count + 1);
    u.reads[i] = (net_reads){count, own};
    for (uint32_t k = 0; k < count; k++) {
      net_value_uses *of = &u.values[own[k] = reads[k]];
      of->first = of->first == NET_NONE ? i : of->first;
      of->last = i;
    }
    for (uint32_t o = 0; o < op->output_count; o++)
      u.values[op->outputs[o].value].maker = i;
  }
  for (size_t i = 0; i < s->stores.count; i++)
    u.values[s->stores.items[i].value].stored = true;
  return u;
}
