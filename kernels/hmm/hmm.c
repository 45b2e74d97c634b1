// Checking a machine, and executing a program with a barrier after each round. See hmm/hmm.h.
#include "kernels/hmm/execution.h"

#include <inttypes.h>

const char *const hmm_kind_names[] = {"dmm", "umm", "hmm"};

const char *hmm_problem(arena *a, const hmm_machine *m) {
  if (m->width < 1 || m->width > HMM_WIDTH_MAX)
    return arena_printf(a, "the width is from 1 to %d, not %u", HMM_WIDTH_MAX, m->width);
  if (m->latency < 1 || m->latency > UINT32_MAX || m->shared_latency < 1 ||
      m->shared_latency > UINT32_MAX)
    return "a latency is from 1 to 2^32 - 1 time units";
  if (m->dmms < 1 || m->dmms > HMM_DMMS_MAX || (m->kind != HMM_KIND_HMM && m->dmms != 1))
    return m->kind == HMM_KIND_HMM
               ? arena_printf(a, "an HMM has from 1 to %d DMMs, not %u", HMM_DMMS_MAX, m->dmms)
               : "only an HMM has several DMMs";
  if (m->threads == 0 || m->threads % m->width != 0)
    return arena_printf(a, "the threads are whole warps: p = %" PRIu64 " is no multiple of w = %u",
                        m->threads, m->width);
  if (m->threads / m->width > UINT32_MAX / 2)
    return "there are more than 2^31 warps: take fewer threads (--threads)";
  return NULL;
}

// ---- with barriers ---------------------------------------------------------------------------

// One round of all warps that have not ended: their number. `used`: by memory, its stages.
static uint64_t run_round(hmm_execution *e, uint64_t count, uint32_t *alive, uint64_t *used) {
  const hmm_program *p = e->program;
  uint32_t dmms = e->machine->dmms;
  uint64_t kept = 0, longest = 0;
  memset(used, 0, (dmms + 1) * sizeof *used);
  for (uint64_t i = 0; i < count && !e->wrong; i++) {
    uint32_t warp = alive[i];
    hmm_op op;
    while ((op = p->op(p->state, warp, e->step[warp])) == HMM_SYNC)
      e->step[warp]++;
    if (op == HMM_END)
      continue;
    if (op != HMM_SKIP)
      used[hmm_port(e, warp, op)] += hmm_serve(e, warp, op);
    e->step[warp]++;
    alive[kept++] = warp;
  }
  for (uint32_t port = 0; port <= dmms; port++) {
    uint64_t time = used[port] + hmm_latency(e->machine, port < dmms) - 1;
    longest = used[port] > 0 && time > longest ? time : longest;
  }
  e->counts->time += longest;
  return kept;
}

static void run_rounds(hmm_execution *e) {
  uint64_t count = e->program->warps;
  uint32_t *alive = NEW_ARRAY(e->memory, uint32_t, count);
  uint64_t *used = NEW_ARRAY(e->memory, uint64_t, e->machine->dmms + 1);
  for (uint64_t i = 0; i < count; i++)
    alive[i] = (uint32_t)i;
  while (count > 0 && !e->wrong)
    count = run_round(e, count, alive, used);
}

// ---- the whole -------------------------------------------------------------------------------

static void count_rounds(hmm_execution *e) {
  for (size_t i = 0; i < e->rounds.count; i++)
    for (hmm_op op = 0; op < HMM_ACCESSES; op++) {
      e->counts->rounds[op] += e->rounds.items[i] >> op & 1;
      e->counts->casual[op] += e->rounds.items[i] >> (4 + op) & 1;
    }
}

const char *hmm_run(arena *a, const hmm_machine *m, const hmm_program *p, hmm_counts *out) {
  const char *problem = hmm_problem(a, m);
  if (problem)
    return problem;
  *out = (hmm_counts){.width = m->width};
  for (int shared = 0; shared < 2; shared++)
    out->histogram[shared] = NEW_ARRAY(a, uint64_t, m->width + 1);
  hmm_execution e = {.memory = a,
                     .machine = m,
                     .program = p,
                     .counts = out,
                     .counter = bank_counter_new(a, m->width, m->width),
                     .step = NEW_ARRAY(a, uint64_t, p->warps),
                     .address = NEW_ARRAY(a, uint64_t, m->width),
                     .value = NEW_ARRAY(a, hmm_word, m->width)};
  if (m->barrier)
    run_rounds(&e);
  else
    hmm_run_free_running(&e);
  count_rounds(&e);
  return e.wrong;
}

// An entry of `rounds` for each step, and as many that were there while the list grew.
double hmm_run_bytes(const hmm_machine *m, double warps, double block_warps, double steps) {
  enum { GROWN = 4 };
  double each = sizeof(uint64_t), once = GROWN * steps + 1024.0 * m->width;  // the step
  if (m->barrier)
    return once + warps * (each + sizeof(uint32_t));
  return once + warps * (each + hmm_free_running_bytes(m)) + warps / block_warps * sizeof(uint64_t);
}
