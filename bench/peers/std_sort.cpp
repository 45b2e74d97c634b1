// std::sort of u32 keys, all or row by row, in one thread.
//
// Sorting by comparisons learns: a short input that is sorted again and again is predicted by the
// processor's branch predictors after some runs. Short sorts therefore go through many inputs.
#include "peer.h"

#include <algorithm>
#include <cstring>

namespace {

const uint64_t least_pool = uint64_t(1) << 20;  // keys in all inputs
const double short_turn = 100e-6;

uint64_t count, row, inputs;  // keys in an input, in a row of it; inputs in the pool
uint64_t next, used;          // the input where the last turn began, how many it sorted
uint32_t *given, *sorted;

const char *prepare(const peer_options *o) {
  count = o->count;
  row = o->row;
  inputs = std::max<uint64_t>(1, least_pool / count);
  given = static_cast<uint32_t *>(peer_memory(inputs * count * sizeof *given + 8));
  sorted = static_cast<uint32_t *>(peer_memory(inputs * count * sizeof *sorted + 8));
  if (!given || !sorted)
    return "out of memory";
  peer_random(given, inputs * count * sizeof *given + 4);
  used = 0;
  return count % row ? "the rows do not fill the input" : nullptr;
}

void sort_input(uint64_t number) {
  uint32_t *begin = sorted + number * count;
  for (uint64_t start = 0; start < count; start += row)
    std::sort(begin + start, begin + start + row);
}

// Sorts inputs until the time is worth measuring.
bool turn(double *seconds) {
  next = next + used < inputs ? next + used : 0;
  std::memcpy(sorted + next * count, given + next * count,
              (inputs - next) * count * sizeof *sorted);
  double start = peer_now(), now = start;
  for (used = 0; next + used < inputs && now - start < short_turn; used++) {
    sort_input(next + used);
    now = peer_now();
  }
  *seconds = (now - start) / static_cast<double>(used);
  return true;
}

const char *check() {
  for (uint64_t i = next * count; i < (next + used) * count; i += row)
    if (!std::is_sorted(sorted + i, sorted + i + row))
      return "a row is not sorted";
  return nullptr;
}

}  // namespace

extern "C" const peer this_peer;
const peer this_peer = {"std_sort", 1, prepare, turn, check};
