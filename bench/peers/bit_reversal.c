// The loop that everybody writes: element i goes to the place whose index bits read backwards.
// Elements of 4 bytes, one thread.
#include "peer.h"

static uint64_t count;
static uint32_t *from, *to;

static const char *prepare(const peer_options *o) {
  count = o->count;
  if (count & (count - 1))
    return "the count is no power of two";
  from = peer_memory(count * sizeof *from);
  to = peer_memory(count * sizeof *to);
  if (!from || !to)
    return "out of memory";
  peer_random(from, count * sizeof *from);
  return NULL;
}

// Adds 1 to a number that is written backwards.
static uint64_t next_reversed(uint64_t reversed) {
  uint64_t bit = count >> 1;
  while (reversed & bit) {
    reversed ^= bit;
    bit >>= 1;
  }
  return reversed | bit;
}

static bool reverse(void *with) {
  (void)with;
  uint64_t reversed = 0;
  for (uint64_t i = 0; i < count; i++) {
    to[reversed] = from[i];
    reversed = next_reversed(reversed);
  }
  return true;
}

static bool turn(double *seconds) { return peer_time(reverse, NULL, seconds); }

static const char *check(void) {
  uint64_t half = count / 2;
  return to[half] != from[1 % count] || to[1 % count] != from[half] ? "it is wrong" : NULL;
}

const peer this_peer = {"bit_reversal", 1, prepare, turn, check};
