// Items of a pass in sweeps, one after the other: no two items of one sweep store to one element.
//
// Where the last block of a loop overlaps the block before it (net.h, net_pace), the items of both
// store the elements that they share, the same values, and two threads must not do so at one time.
// A sweep has all turns but the last of such a loop, or the last one alone.
//
//   loops of 3 and 4 turns, both of which overlap, one block each: items 0 ... 11
//
//     0 1  2 | 3      sweep 0: items 0 1 2 4 5 6     sweep 1: items 3 7
//     4 5  6 | 7
//     ------   -
//     8 9 10 | 11     sweep 2: items 8 9 10          sweep 3: item 11
#ifndef PERMC_RUNTIME_CPU_SWEEPS_H
#define PERMC_RUNTIME_CPU_SWEEPS_H

#include "fusion/plan/plan.h"

typedef struct sweep {
  const net_stage *stage;
  uint32_t block_bits;  // items of one turn of all loops: 2^block_bits
  bool whole;           // all items in one sweep: for one thread
  uint64_t last;        // bit i: of the i-th loop that overlaps, the last turn
  uint64_t first, end;  // of the items
} sweep;

// Of the items first, ..., end - 1: if blocks overlap, some turns of a loop, at one turn of each loop
// around it.
sweep sweep_first(const plan *p, const plan_pass *pass, bool whole, uint64_t first, uint64_t end);
bool sweep_next(sweep *s);  // false: that was the last
uint64_t sweep_items(const sweep *s);
// The item that is number `number` of the sweep. *count items from it on are the sweep's next ones.
uint64_t sweep_item(const sweep *s, uint64_t number, uint64_t *count);

#endif
