// The accesses of scratch memory that a plan makes, as a trace. See hmm/plan.h.
#include "core/hash.h"
#include "kernels/hmm/plan.h"

// Which accesses the trace has, by their addresses.
typedef struct access_set {
  arena *memory;
  bank_trace *trace;
  hash_table table;
} access_set;

static uint64_t hash_of_access(uint32_t count, const uint64_t *address) {
  return hash_bytes(address, count * sizeof *address);
}

static void add_times(access_set *k, uint32_t count, const uint64_t *address, uint64_t times) {
  uint64_t hash = hash_of_access(count, address);
  uint32_t id;
  for (size_t tried = 0; (id = hash_next(&k->table, hash, &tried)) != HASH_NONE;) {
    bank_access *have = &k->trace->accesses.items[id];
    if (have->count == count && !memcmp(have->address, address, count * sizeof *address)) {
      have->times += times;
      return;
    }
  }
  hash_add(k->memory, &k->table, hash, (uint32_t)k->trace->accesses.count);
  bank_trace_add(k->memory, k->trace, count, address);
  k->trace->accesses.items[k->trace->accesses.count - 1].times = times;
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
  for (uint32_t i = 0; i < t->accesses.count; i++)
    hash_add(a, &k.table, hash_of_access(t->accesses.items[i].count, t->accesses.items[i].address),
             i);
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
