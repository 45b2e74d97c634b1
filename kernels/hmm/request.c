// The requests of warps: the memory that they go to, the stages that they fill, and the words that
// they move. See hmm/execution.h.
#include "kernels/hmm/execution.h"

#include <assert.h>
#include <inttypes.h>

const char *const hmm_op_names[] = {"global read", "global write", "shared read", "shared write"};

uint32_t hmm_port(const hmm_execution *e, uint64_t warp, hmm_op op) {
  if (!hmm_is_shared(op))
    return e->machine->dmms;
  return (uint32_t)(warp / e->program->block_warps % e->machine->dmms);
}

uint64_t hmm_latency(const hmm_machine *m, bool shared) {
  return shared && m->kind == HMM_KIND_HMM ? m->shared_latency : m->latency;
}

static void move_words(hmm_word *words, const bank_request *r, hmm_op op, hmm_word *value) {
  const uint64_t *address = r->place;
  uint32_t width = r->count;
  bool write = hmm_is_write(op);
  if (r->rises && r->highest - address[0] == width - 1) {
    memcpy(write ? words + address[0] : value, write ? value : words + address[0],
           width * sizeof *value);
    return;
  }
  for (uint32_t i = 0; i < width; i++) {
    if (address[i] == HMM_IDLE)
      continue;
    if (write)
      words[address[i]] = value[i];
    else
      value[i] = words[address[i]];
  }
}

static const char *outside_problem(const hmm_execution *e, uint64_t warp, hmm_op op,
                                   uint64_t highest, uint64_t room) {
  return arena_printf(e->memory,
                      "warp %" PRIu64 ", step %" PRIu64 ": %s at %" PRIu64
                      ", where the memory has %" PRIu64 " words",
                      warp, e->step[warp], hmm_op_names[op], highest, room);
}

uint32_t hmm_serve(hmm_execution *e, uint64_t warp, hmm_op op) {
  const hmm_program *p = e->program;
  hmm_counts *c = e->counts;
  uint64_t *address = e->address;
  uint32_t width = e->machine->width;
  bool shared = hmm_is_shared(op);
  hmm_word *words = shared ? p->shared : p->global;
  hmm_word *value = p->value ? p->value + warp * width : e->value;
  uint64_t room = shared ? p->shared_words : p->global_words;
  p->lanes(p->state, warp, e->step[warp], address, value);
  bank_request r = bank_request_of(width, address);
  assert(r.active > 0);
  if (r.highest >= room) {
    e->wrong = outside_problem(e, warp, op, r.highest, room);
    return 1;
  }
  hmm_word *own = words ? words + (shared ? hmm_port(e, warp, op) * room : 0) : NULL;
  bool scattered = r.highest - address[0] != width - 1;
  for (uint32_t i = 0; own && scattered && i < width; i++)  // while stages are counted
    __builtin_prefetch(&own[address[i] & ~-(uint64_t)(address[i] == HMM_IDLE)]);
  uint32_t stages =
      shared ? bank_request_congestion(e->counter, &r) : bank_request_groups(e->counter, &r);
  if (own)
    move_words(own, &r, op, value);
  while (e->rounds.count <= e->step[warp])
    vec_push(e->memory, &e->rounds, 0);
  e->rounds.items[e->step[warp]] |= (uint8_t)(1U << op | (stages > 1 ? 16U << op : 0));
  c->accesses[op]++;
  c->stages[op] += stages;
  c->requests += r.active;
  c->histogram[shared][stages]++;
  return stages;
}
