// Private to fusion/external: steps on files while they are being made.
#ifndef PERMC_FUSION_EXTERNAL_MAKING_H
#define PERMC_FUSION_EXTERNAL_MAKING_H

#include "fusion/external/external.h"

// Of the stages that write to an array: the first one, and behind the last one. 0, 0: none does.
typedef struct making_writers {
  size_t first, end;
} making_writers;

typedef struct making {
  arena *memory;
  const net *from;
  const making_writers *writers;  // by array of it
  uint64_t bytes;                 // of memory
  const target *target;           // whose tile is what a share may have
  bool joins_blocks;              // short blocks are read, and written, with what is between them
  bool copies;  // what a share would read all of is first put in the order of the index
  external *out;
  net *to;
  net_id *arrays;   // of the plan that is made steps of: their numbers in out->arrays
  bool wide;        // a tile that holds whole lines was too large
  uint32_t halved;  // how often the stores of a pass were
  const char *wrong;
} making;

// What has been made so far, to go back to.
typedef struct mark {
  size_t files, steps, arrays, stages;
} mark;
mark making_mark(const making *m);
void making_go_back(making *m, mark to);
// Of the steps from that one on: the most bytes of memory of one.
uint64_t making_most_bytes(const making *m, size_t step);

// One of two ways to make the same steps. False: there is none.
typedef bool making_way(making *m, const void *stage, int way);
// By the way that takes less time, of those for whose steps memory has room. False: there is none.
bool making_add_faster(making *m, making_way *add, const void *stage);

// ---- steps (step.c) -----------------------------------------------------------------------------

uint64_t making_element_bytes(const making *m, net_id file);
// A stage whose arrays are files, with its shares: as a step, and a stage whose arrays are memory.
// Short blocks are read with what is between them where that is faster, and memory has room.
// Whether it has for the step.
bool making_add_step(making *m, const net_stage *stage);
// The same as it is; `blocks`: of a stage by loops, which has no shares yet; or NULL.
bool making_add_as_is(making *m, const net_stage *stage, const share_blocks *blocks);
// What the stage reads and writes by that map, in blocks. False: a share would write what is
// another's.
bool making_find_move(making *m, const net_stage *s, const share_blocks *blocks,
                      const net_load *load, const net_store *store, external_move *out);
// What all shares move, about: of arrays without an end.
void making_add_traffic(const making *m, const external_move *move, external_traffic *to);

// ---- plans (passes.c) ---------------------------------------------------------------------------

// Steps of stages first, ..., end - 1 of m->from, which are planned together.
void making_add_stages(making *m, size_t first, size_t end);
// Steps of a stage whose arrays are files.
void making_add_stage(making *m, const net_stage *s);
// Whether only stages first, ..., end - 1 of m->from write to the array (*any), or none of them does.
bool making_is_written_in(const making *m, size_t first, size_t end, net_id array, bool *any);
// m->from, and who writes to its arrays.
void making_begin_net(making *m, const net *n);

// ---- stages by loops (loops.c, loop_bits.c, blocks.c) -------------------------------------------

// Steps of a stage by loops: by blocks of these, or as passes, what fits and is faster.
void making_add_loops(making *m, const net_stage *s);
// The stage with bits of the index for its loop. False: it has several, or one that cannot be bits.
bool making_loop_as_bits(making *m, const net_stage *s, net_stage *out);
// The stage with as few loops as do. `bits`: index bits that only say where elements are become
// loops, too.
net_stage making_join_loops(arena *a, const net_stage *s, bool bits);
// Of a stage by loops: a step whose shares have a block of each loop. Whether there is one for which
// memory has room.
bool making_add_blocks(making *m, const net_stage *s);

// ---- files (copy.c) -----------------------------------------------------------------

extern const char making_needs_more[];
// A temporary.
net_id making_add_file(making *m, const net_array *like);
// Another one, for an element at each index, and the map of these.
net_id making_add_file_in_order(making *m, const net_stage *space, net_id like, net_map *map);
// A step from a file to another one; or m->wrong.
void making_add_copying(making *m, const net_stage *space, net_load load, net_store store);
// What the load reads, in the order of the index: a file of its own, and a step that makes it.
void making_add_copy(making *m, const net_stage *space, net_load *l);

// ---- stages in memory (memory.c) ----------------------------------------------------------------

// Whether it does more than to compute and store, so that nothing may be done twice.
bool making_has_effects(const net_stage *s);
// A stage of one share: a loop of one turn, so that the stage stays apart from others.
void making_add_single_turn(arena *a, net_stage *s);
// A stage whose loops are in blocks; its loads and stores of files have their maps already.
void making_put_in_blocks(const making *m, net_stage *s, const share_blocks *b);
// The map by the loops of such a stage: by loop of `m`, what a block adds, and what a turn does.
net_map making_map_in_blocks(arena *a, const share_blocks *b, const net_map *m,
                             const int64_t *by_block, const int64_t *by_turn);

// ---- moves between files and memory (move.c) ----------------------------------------------------

// What shares of a stage have of an array by bits of the index, without the file: of these, where
// the forms are 0. False: it cannot be.
bool making_move_by_bits(arena *a, const net_stage *s, const net_map *m, uint32_t live_count,
                         const net_form *live, external_move *out);
// Two such moves as one, if its memory has at most about as much as both have. False: nothing is
// done.
bool making_join_by_bits(external_move *into, const external_move *m);
// The place of an address that was the map's, and above it the share. Of a box that begins at
// `first`, and is a part of the move.
net_map making_bits_map(arena *a, const net_stage *s, const net_map *m, const external_move *of);
net_map making_box_map(arena *a, const net_stage *s, const share_blocks *blocks, const net_map *m,
                       int64_t first, const external_move *of);

#endif
