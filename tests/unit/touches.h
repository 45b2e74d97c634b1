// What the warps of a CUDA text ask for, counted while it runs on the host: PERMC_COUNT of
// kernels/text/cuda_host.h is this file.
//
// Counted are lines of 128 bytes of memory, and turns at the banks of scratch (32 banks of 4 bytes;
// words of 8 and 16 bytes take 2 and 4 turns, equal words none of their own). Each access in the
// text has a row in permc_accesses, with the sums over all warps and what is least. PERMC_COUNTERS
// stands behind the text, once.
#ifndef PERMC_TESTS_UNIT_TOUCHES_H
#define PERMC_TESTS_UNIT_TOUCHES_H

#include <stdint.h>
#include <stdlib.h>

// One access of the text: the warp whose lanes come in turn, and the sums over those before it.
// `full`: of warps of 32 lanes that all had this access; `lines` are of these alone, and so are
// `stages`: lines, once for each 128 bytes of neighbouring lanes, as a memory machine counts them.
typedef struct permc_access {
  uint64_t warps, full, lines, least_lines, stages, turns, least_turns;
  uint64_t item, warp, at[32];
  uint32_t kind, bytes, lanes, lane[32], call;
} permc_access;
static uint32_t permc_calls;  // of phases: one may be called twice for an item
#define PERMC_VISIBLE __attribute__((visibility("default")))
extern PERMC_VISIBLE permc_access permc_accesses[];
extern PERMC_VISIBLE const uint32_t permc_access_count;
#define PERMC_COUNTERS                                                                             \
  permc_access permc_accesses[(__COUNTER__ + 1) * PERMC_TURNS];                                    \
  const uint32_t permc_access_count = (__COUNTER__ - 1) * PERMC_TURNS;

// Whether x[first ... count - 1] has no element y.
static int permc_is_new(const uint64_t *x, uint32_t first, uint32_t count, uint64_t y) {
  for (uint32_t i = count; i > first; i--)
    if (x[i - 1] == y)
      return 0;
  return 1;
}

// The lines of lanes first ... end - 1.
static uint32_t permc_lines_of(const permc_access *a, uint32_t first, uint32_t end) {
  uint64_t line[64];
  uint32_t count = 0;
  for (uint32_t i = first; i < end; i++)
    for (uint32_t last = 0; last < 2; last++) {
      line[count] = (a->at[i] + (last ? a->bytes - 1 : 0)) / 128;
      count += (uint32_t)permc_is_new(line, 0, count, line[count]);
    }
  return count;
}

static void permc_count_lines(permc_access *a) {
  uint32_t group = a->bytes <= 4 ? 32 : 128 / a->bytes;
  for (uint32_t first = 0; first < 32; first += group)
    a->stages += permc_lines_of(a, first, first + group);
  a->full++;
  a->lines += permc_lines_of(a, 0, a->lanes);
  a->least_lines += (a->lanes * a->bytes + 127) / 128;
}

// A word that is in its bank's list already costs nothing. Lanes have their turns with their
// neighbours, also where others are idle.
static void permc_count_turns(permc_access *a) {
  uint32_t group = a->bytes <= 4 ? 32 : 128 / a->bytes, words = a->bytes <= 4 ? 1 : a->bytes / 4;
  for (uint32_t first = 0; first < 32; first += group) {
    uint32_t most = 0, count[32] = {0};
    uint64_t listed[32 * 32];
    for (uint32_t i = 0; i < a->lanes; i++)
      for (uint32_t k = 0; k < words && a->lane[i] / group == first / group; k++) {
        uint64_t word = a->at[i] / 4 + k;
        uint32_t bank = word % 32;
        if (permc_is_new(listed, 32 * bank, 32 * bank + count[bank], word))
          listed[32 * bank + count[bank]++] = word;
        if (count[bank] > most)
          most = count[bank];
      }
    a->turns += most;
    a->least_turns += most > 0;
  }
}

static void permc_count(permc_access *a) {
  a->warps += a->lanes > 0;
  if (a->lanes > 0 && a->kind >= PERMC_GETS)
    permc_count_turns(a);
  else if (a->lanes == 32)
    permc_count_lines(a);
  a->lanes = 0;
}

static void permc_touch(uint32_t number, uint32_t kind, const void *p, size_t bytes, uint64_t item,
                        uint32_t t) {
  permc_access *a = &permc_accesses[number];
  if (a->item != item || a->warp != t / 32 || a->call != permc_calls)
    permc_count(a);
  if (a->lanes == 32)  // a thread that has the same access twice: there are no loops in the text
    abort();
  if (kind >= PERMC_GETS && (uintptr_t)p % bytes != 0)  // a GPU ends with "misaligned address"
    abort();
  a->item = item;
  a->warp = t / 32;
  a->call = permc_calls;
  a->kind = kind;
  a->bytes = (uint32_t)bytes;
  a->lane[a->lanes] = t % 32;
  a->at[a->lanes++] = (uint64_t)(uintptr_t)p;
}

// Counts what has not been counted yet.
PERMC_VISIBLE void permc_count_rest(void) {
  for (uint32_t i = 0; i < permc_access_count; i++)
    permc_count(&permc_accesses[i]);
}

#endif
