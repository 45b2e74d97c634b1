// Private to fusion/shares: steps on files while they are being made. external_step.c makes one of
// a stage; external.c finds the stages.
#ifndef PERMC_FUSION_SHARES_MAKING_H
#define PERMC_FUSION_SHARES_MAKING_H

#include "fusion/shares/sharing.h"

typedef struct making {
  arena *memory;
  const net *from;
  uint64_t bytes;        // of memory
  const target *target;  // whose tile is what a share may have
  bool joins_blocks;     // short blocks are read with what is between them
  bool copies;           // what a share would read all of is first put in the order of the index
  external *out;
  net *to;
  net_id *arrays;  // of the plan that is made steps of: their numbers in out->arrays
  bool wide;       // a tile that holds whole lines was too large
  const char *wrong;
} making;

// What has been made so far, to go back to.
typedef struct mark {
  size_t files, steps, arrays, stages;
} mark;
mark making_mark(const making *m);
void making_go_back(making *m, mark to);
// Of the steps from that one on: the most bytes of memory of one, and what the disk takes for all,
// about.
uint64_t making_most_bytes(const making *m, size_t step);
double making_seconds(const making *m, size_t step);

uint64_t making_element_bytes(const making *m, net_id file);
// The stage after its nodes were changed: they are found by what they are.
net_stage making_new_nodes(arena *a, const net_stage *s);
// A stage whose arrays are files, with its shares: as a step, and a stage whose arrays are memory.
// Short blocks are read with what is between them where that is faster, and memory has room.
// Whether it has for the step.
bool making_add_step(making *m, const net_stage *stage);

#endif
