// Programs for the memory machines as lists, and a literal machine that executes them: pipelines as
// rows of registers, moved on by one in each time unit.
#ifndef PERMC_TESTS_UNIT_HMM_LISTED_H
#define PERMC_TESTS_UNIT_HMM_LISTED_H

#include "kernels/hmm/hmm.h"
#include "tests/unit/memory.h"

enum {
  LISTED_STEPS = 12,
  LISTED_LANES = 16,
  LISTED_WARPS = 24,
  LISTED_MEMORIES = 5,
  LISTED_DEEP = 8
};

typedef struct listed {
  uint32_t width;
  uint64_t warps, block_warps, steps;
  hmm_op op[LISTED_WARPS][LISTED_STEPS + 1];
  uint64_t address[LISTED_WARPS][LISTED_STEPS][LISTED_LANES];
} listed;

static hmm_op listed_op(void *state, uint64_t warp, uint64_t step) {
  const listed *l = state;
  bool asks = false;
  for (uint32_t k = 0; k < l->width && step < l->steps; k++)
    asks = asks || l->address[warp][step][k] != HMM_IDLE;
  if (step >= l->steps)
    return HMM_END;
  return asks || l->op[warp][step] == HMM_SYNC ? l->op[warp][step] : HMM_SKIP;
}

static void listed_lanes(void *state, uint64_t warp, uint64_t step, uint64_t *address,
                         hmm_word *value) {
  const listed *l = state;
  (void)value;
  memcpy(address, l->address[warp][step], l->width * sizeof *address);
}

static inline hmm_program listed_program(listed *l) {
  return (hmm_program){.warps = l->warps,
                       .block_warps = l->block_warps,
                       .state = l,
                       .op = listed_op,
                       .lanes = listed_lanes,
                       .global_words = UINT64_MAX,
                       .shared_words = UINT64_MAX};
}

// ---- the literal machine ---------------------------------------------------------------------

// A lane's request: not yet sent, or in the register of some stage, or done.
typedef enum lane_state { LANE_ASKS = -1, LANE_DONE = -2 } lane_state;
typedef struct literal_warp {
  uint64_t step;
  bool waits;              // for its turn, or for the rest of its request to be sent
  int lane[LISTED_LANES];  // lane_state, or the number of its register
} literal_warp;

typedef struct literal {
  const hmm_machine *m;
  const listed *l;
  literal_warp warp[LISTED_WARPS];
  int64_t sending[LISTED_MEMORIES];  // the warp whose request is being sent, or -1
  uint64_t turn[LISTED_MEMORIES];
} literal;

static uint32_t literal_memory(const literal *x, uint64_t warp, hmm_op op) {
  return hmm_is_shared(op) ? (uint32_t)(warp / x->l->block_warps % x->m->dmms) : x->m->dmms;
}

static hmm_op literal_op(const literal *x, uint64_t warp) {
  return listed_op((void *)x->l, warp, x->warp[warp].step);
}

// All that can go on without time: ends of requests, barriers, requests of nobody.
static void literal_settle(literal *x) {
  for (bool again = true; again;) {
    again = false;
    for (uint64_t i = 0; i < x->l->warps; i++) {
      literal_warp *w = &x->warp[i];
      hmm_op op = literal_op(x, i);
      bool done = true;
      for (uint32_t k = 0; k < x->l->width; k++)
        done = done && w->lane[k] == LANE_DONE;
      if (w->waits && done) {
        w->waits = false;
        w->step++;
        again = true;
      } else if (!w->waits && op == HMM_SKIP) {
        w->step++;
        again = true;
      } else if (!w->waits && op < HMM_ACCESSES) {
        w->waits = again = true;
        for (uint32_t k = 0; k < x->l->width; k++)
          w->lane[k] = x->l->address[i][w->step][k] == HMM_IDLE ? LANE_DONE : LANE_ASKS;
      }
    }
    for (uint64_t b = 0; b < x->l->warps; b += x->l->block_warps) {
      bool all = true;
      for (uint64_t i = b; i < b + x->l->block_warps; i++)
        all = all && literal_op(x, i) == HMM_SYNC;
      for (uint64_t i = b; all && i < b + x->l->block_warps; i++)
        x->warp[i].step++;
      again = again || all;
    }
  }
}

static bool literal_asks(const literal *x, uint64_t warp) {
  bool asks = false;
  for (uint32_t k = 0; k < x->l->width; k++)
    asks = asks || (x->warp[warp].waits && x->warp[warp].lane[k] == LANE_ASKS);
  return asks;
}

// The warp whose turn it is at this memory, or -1.
static int64_t literal_next(const literal *x, uint32_t port) {
  for (uint64_t k = 0; k < x->l->warps; k++) {
    uint64_t warp = (x->turn[port] + k) % x->l->warps;
    if (literal_asks(x, warp) && literal_memory(x, warp, literal_op(x, warp)) == port)
      return (int64_t)warp;
  }
  return -1;
}

// One stage of the warp's request: requests of one bank each, or of one group; equal ones together.
static void literal_send(literal *x, uint64_t warp, bool shared) {
  literal_warp *w = &x->warp[warp];
  const uint64_t *address = x->l->address[warp][w->step];
  uint64_t sent[LISTED_LANES], count = 0, width = x->l->width;
  for (uint32_t k = 0; k < width; k++) {
    bool fits = w->lane[k] == LANE_ASKS;
    for (uint64_t i = 0; i < count && fits; i++)
      fits = sent[i] == address[k] || (shared ? sent[i] % width != address[k] % width
                                              : sent[i] / width == address[k] / width);
    if (fits) {
      sent[count++] = address[k];
      w->lane[k] = 0;
    }
  }
}

static uint64_t literal_latency(const literal *x, uint64_t warp) {
  bool shared = hmm_is_shared(literal_op(x, warp));
  return shared && x->m->kind == HMM_KIND_HMM ? x->m->shared_latency : x->m->latency;
}

static void literal_unit(literal *x) {
  for (uint32_t port = 0; port <= x->m->dmms; port++) {
    int64_t *warp = &x->sending[port];
    if (*warp < 0)
      *warp = literal_next(x, port);
    if (*warp < 0)
      continue;
    x->turn[port] = (uint64_t)*warp + 1;
    literal_send(x, (uint64_t)*warp, port < x->m->dmms);
    if (!literal_asks(x, (uint64_t)*warp))
      *warp = -1;
  }
  for (uint64_t i = 0; i < x->l->warps; i++)
    for (uint32_t k = 0; k < x->l->width && x->warp[i].waits; k++)
      if (x->warp[i].lane[k] >= 0 && (uint64_t)++x->warp[i].lane[k] == literal_latency(x, i))
        x->warp[i].lane[k] = LANE_DONE;
}

// Time units of the program, free-running.
static inline uint64_t literal_time(const hmm_machine *m, const listed *l) {
  literal x = {.m = m, .l = l};
  for (uint32_t i = 0; i < LISTED_MEMORIES; i++)
    x.sending[i] = -1;
  for (uint64_t time = 0;; time++) {
    bool any = false;
    literal_settle(&x);
    for (uint64_t i = 0; i < l->warps; i++)
      any = any || literal_op(&x, i) != HMM_END;
    if (!any)
      return time;
    literal_unit(&x);
  }
}

#endif
