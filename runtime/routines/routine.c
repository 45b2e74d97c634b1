// From a plan's routine to its work. See routine.h.
#include "runtime/routines/routine.h"

#include "runtime/routines/executor.h"
#include "runtime/routines/key_order.h"
#include <stdlib.h>

_Static_assert((int)ROUTINE_SORT == (int)NET_SORT && (int)ROUTINE_PLACES == (int)NET_PLACES &&
                   (int)ROUTINE_COUNT == (int)NET_COUNT &&
                   (int)ROUTINE_PERMUTE == (int)NET_PERMUTE &&
                   (int)ROUTINE_WRONG == (int)NET_WRONG &&
                   (int)ROUTINE_TRANSPOSE == (int)NET_TRANSPOSE && ROUTINE_NONE == NET_NONE,
               "numbers of kinds are those of nets");

// Of what goes where one key goes. (A division of 64 bits takes as long as a call's smallest parts.)
static uint32_t bytes_of_pair(const plan *p, const net_routine *r, net_routine_pair pair) {
  const net_array *a = &p->arrays.items[pair.to == NET_NONE ? pair.from : pair.to];
  uint64_t keys = r->rows * r->length, each = a->count == keys ? 1 : a->count / keys;
  return (uint32_t)(each * scalar_types[a->type].size);
}

routine_work routine_work_of(const plan *p, const net_routine *r, routine_pair *pairs) {
  scalar_type keys = p->arrays.items[r->pairs[0].from].type;
  bool limited = r->limit && (r->kind == NET_SORT || r->kind == NET_PLACES);
  for (uint32_t i = 0; i < r->pair_count; i++)
    pairs[i] = (routine_pair){r->pairs[i].from, r->pairs[i].to, bytes_of_pair(p, r, r->pairs[i])};
  return (routine_work){
      .kind = (routine_kind)r->kind,
      .is_signed = scalar_types[keys].kind == KIND_SIGNED,
      .distinct = r->distinct,
      .back = r->back,
      .counts = r->counts,
      .order = key_order_of(keys, r->descending, limited ? plan_routine_bits(p, r) : 0),
      .rows = r->rows,
      .length = r->length,
      .limit = r->limit,
      .offsets = r->ragged ? r->offsets : ROUTINE_NONE,
      .offset_count = r->ragged ? p->arrays.items[r->offsets].count / r->rows : 0,
      .pair_count = r->pair_count,
      .pairs = pairs,
      .dimension_count = r->dimension_count,
      .dimensions = r->dimensions};
}

bool routine_run(const plan *p, const net_routine *r, void *const *data, unsigned threads,
                 const atomic_bool *interrupted) {
  enum { FEW = 8 };
  routine_pair few[FEW], *pairs = few;
  if (r->pair_count > FEW && !(pairs = malloc(r->pair_count * sizeof *pairs)))
    return false;
  routine_work w = routine_work_of(p, r, pairs);
  bool good = routine_execute(&w, data, &(crew){.threads = threads, .interrupted = interrupted});
  if (pairs != few)
    free(pairs);
  return good;
}
