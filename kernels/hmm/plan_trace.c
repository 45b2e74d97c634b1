// The accesses of scratch memory that a plan makes, as a trace. See hmm/plan.h.
#include "core/hash.h"
#include "kernels/hmm/plan.h"

// Which accesses the trace has, by their addresses: open addressing, at most half full.
typedef struct access_set {
  arena *memory;
  bank_trace *trace;
  size_t slots;  // a power of two
  size_t *slot;  // number + 1 of an access; 0: free
} access_set;

static size_t *find_slot(const access_set *k, uint32_t count, const uint64_t *address) {
  size_t at = hash_bytes(address, count * sizeof *address) & (k->slots - 1);
  for (; k->slot[at] != 0; at = (at + 1) & (k->slots - 1)) {
    const bank_access *have = &k->trace->accesses.items[k->slot[at] - 1];
    if (have->count == count && !memcmp(have->address, address, count * sizeof *address))
      break;
  }
  return &k->slot[at];
}

static void grow_slots(access_set *k) {
  if (2 * (k->trace->accesses.count + 1) <= k->slots)
    return;
  k->slots = k->slots ? k->slots : 1024;
  while (k->slots < 2 * (k->trace->accesses.count + 1))
    k->slots *= 2;
  k->slot = NEW_ARRAY(k->memory, size_t, k->slots);
  for (size_t i = 0; i < k->trace->accesses.count; i++) {
    const bank_access *one = &k->trace->accesses.items[i];
    *find_slot(k, one->count, one->address) = i + 1;
  }
}

static void add_times(access_set *k, uint32_t count, const uint64_t *address, uint64_t times) {
  grow_slots(k);
  size_t *slot = find_slot(k, count, address);
  if (*slot != 0) {
    k->trace->accesses.items[*slot - 1].times += times;
    return;
  }
  bank_trace_add(k->memory, k->trace, count, address);
  k->trace->accesses.items[k->trace->accesses.count - 1].times = times;
  *slot = k->trace->accesses.count;
}

// What a warp asks of scratch, from its first step to its last.
static void add_warp(access_set *k, const hmm_program *p, uint64_t warp, uint64_t times) {
  hmm_op op;
  for (uint64_t step = 0; (op = p->op(p->state, warp, step)) != HMM_END; step++) {
    uint64_t address[HMM_PLAN_WIDTH];
    uint32_t count = 0;
    if (op != HMM_READ_SHARED && op != HMM_WRITE_SHARED)
      continue;
    p->lanes(p->state, warp, step, address, NULL);
    for (uint32_t i = 0; i < HMM_PLAN_WIDTH; i++)
      if (address[i] != HMM_IDLE)
        address[count++] = address[i];
    add_times(k, count, address, times);
  }
}

const char *bank_trace_add_plan(arena *a, bank_trace *t, const plan *of) {
  const c_options raw = C_OPTIONS_OF_GPU(bank_layout_kind_named("raw"), 0);
  access_set k = {.memory = a, .trace = t};
  for (uint32_t i = 0; i < of->passes.count; i++) {
    hmm_program block;
    uint64_t times;
    if (plan_routine_of(of, &of->passes.items[i]))
      continue;
    const char *problem = hmm_plan_block(a, of, i, &raw, &block, &times);
    if (problem)
      return problem;
    for (uint64_t warp = 0; warp < block.warps && times > 0; warp++)
      add_warp(&k, &block, warp, times);
  }
  return NULL;
}
