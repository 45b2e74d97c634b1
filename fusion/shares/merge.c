// A sort of an array that lies in the slabs of GPUs, as sorts of slabs, which each GPU does for
// itself, and a network that merges them: 2 runs to one, 2 of these to one, and so on. See
// shares.h.
//
//   runs of 2^2, p = 2    1 4 6 7 | 0 2 5 8 | 3 3 4 9 | 1 1 2 6
//   bit 2                 in the direction 0b0111, then 0b10, 0b1      0 1 2 4 5 6 7 8 | 1 1 2 3 3 4 6 9
//   bit 3                 0b1111, then 0b100, 0b10, 0b1                all in order
//
// Of keys alone, which are integers: of equal keys nobody sees which is which.
#include "fusion/shares/sharing.h"

static bool can_be_merged(const net *n, const net_stage *s, int p) {
  const net_routine *r = s->routine;
  if (!r || r->kind != NET_SORT || r->rows != 1 || r->pair_count != 1 || r->ragged || r->counts ||
      r->pairs[0].to == NET_NONE || r->length < f2_unit(p + 1) || r->length & (r->length - 1))
    return false;
  scalar_kind kind = scalar_types[n->arrays.items[r->pairs[0].from].type].kind;
  return kind == KIND_SIGNED || kind == KIND_UNSIGNED;
}

// The smaller of x and x ^ direction goes to where the bit is 0. Returns the value that is made.
static net_id compare(arena *a, net_stage *s, const net_routine *r, net_id v, uint64_t direction,
                      int bit) {
  scalar_type type = s->values.items[v];
  net_op op = {.k = 1,
               .directions = NEW_ARRAY(a, uint64_t, 1),
               .coordinates = NEW_ARRAY(a, net_form, 1),
               .output_count = 1,
               .outputs = NEW_ARRAY(a, net_output, 1),
               .origin = r->origin};
  net_id operands[2];
  for (uint64_t j = 0; j < 2; j++)
    operands[j] =
        net_node_add(a, s, &(net_node){.kind = NET_ELEMENT, .type = type, .value = v, .number = j});
  op.directions[0] = direction;
  op.coordinates[0] = (net_form){f2_unit(bit), false};
  op.outputs[0] = (net_output){net_value_add(a, s, type), NEW_ARRAY(a, net_id, 2)};
  for (int j = 0; j < 2; j++)
    op.outputs[0].elements[j] =
        net_node_add(a, s,
                     &(net_node){.kind = (j == 0) == r->descending ? NET_MAX : NET_MIN,
                                 .type = type,
                                 .operand_count = 2,
                                 .operands = operands});
  vec_push(a, &s->ops, op);
  return op.outputs[0].value;
}

static net_stage merging_stage(arena *a, const net *n, const net_routine *r, net_id from, int p) {
  net_stage s = {.n = f2_msb(r->length)};
  net_map all = net_stage_map(a, &s, f2_affine_identity(s.n));
  net_id v = net_value_add(a, &s, n->arrays.items[from].type);
  net_load load = {.value = v, .array = from, .map = all, .padding_start = UINT64_MAX};
  for (int top = s.n - p; top < s.n; top++) {
    v = compare(a, &s, r, v, f2_mask(top + 1), top);
    for (int bit = top; bit-- > 0;)
      v = compare(a, &s, r, v, f2_unit(bit), bit);
  }
  net_store store = {.value = v, .array = r->pairs[0].to, .map = all, .padding_start = UINT64_MAX};
  vec_push(a, &s.loads, load);
  vec_push(a, &s.stores, store);
  return s;
}

void sharing_merge_slabs(arena *a, net *n, int p) {
  VEC(net_stage) stages = {0};
  for (size_t i = 0; i < n->stages.count; i++) {
    net_stage s = n->stages.items[i];
    vec_push(a, &stages, s);
    if (p == 0 || !can_be_merged(n, &s, p))
      continue;
    const net_routine *of = s.routine;
    net_routine *r = stages.items[stages.count - 1].routine = NEW(a, net_routine);
    const net_array *keys = &n->arrays.items[of->pairs[0].from];
    net_id runs = net_array_add(a, n, keys->type, of->length, NET_TEMPORARY, 0);
    *r = *of;
    r->rows = f2_unit(p);
    r->length = of->length >> p;
    r->pairs = NEW_ARRAY(a, net_routine_pair, 1);
    r->pairs[0] = (net_routine_pair){of->pairs[0].from, runs};
    net_stage merging = merging_stage(a, n, of, runs, p);
    vec_push(a, &stages, merging);
  }
  n->stages.count = n->stages.capacity = 0;
  for (size_t i = 0; i < stages.count; i++)
    vec_push(a, &n->stages, stages.items[i]);
}
