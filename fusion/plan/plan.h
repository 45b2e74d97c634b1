// The Plan: a Net as few passes over memory, each pass as phases in registers.
//
// In: a Net, and a target (target.h) whose lines, fast memory and registers decide the sizes below.
// Out: the Plan of which kernels/ makes text.
//
// A PASS executes consecutive ops of one stage, tile by tile. A TILE is a coset of a subspace V of
// the stage's index space that contains all the ops' directions: it is loaded into fast memory,
// worked on, and stored. Between two passes of a stage the values that live on lie in arrays, in
// whatever layout suits both.
//
// Inside a pass, a PHASE executes consecutive ops whose directions lie in a register subspace R of
// V. V = R + L + T: a thread holds 2^r vectors of 2^l lanes. Between two phases lies an EXCHANGE
// through fast memory: a linear bijection S from V to scratch addresses.
//
//   n = 4, V = F_2^4, ops with directions 1, 2, 4, 8, 2^r = 4 registers, 2^l = 2 lanes
//
//     phase 0: R = <1, 2>, L = <4>, T = <8>     ops 1, 2
//     exchange: address bits = 4, 1, 2, 8       (a vector is a line: L in the lowest bit)
//     phase 1: R = <4, 8>, L = <1>, T = <2>     ops 4, 8
//
// Lines. A load or store is COALESCED if the tile holds whole lines of the array: with E_t the span
// of the address bits within a line and (A, c) the map from index to address, A^-1 E_t lies in V.
//
// Where an op reads one element of a load for several elements of its coset, as a level of a
// transform does with its factors, the load is DIRECT: the op itself does it, to its registers. It
// needs no room in fast memory, no phase that has its lines, and its slot from that op to it only.
//
// Blocks: the cosets of V. `blocks` is a basis of a complement of V, chosen where possible inside
// the kernels of the ops' coordinates, like L and T: then which element of a pair an index is
// depends on its register only, and directions are STATIC.
//
//   strategy.c  the table of strategies
//   spaces.c    subspaces of the index space: lines of arrays, directions and coordinates of ops
//   passes.c    which ops share a pass
//   commute.c   which ops may wait for a later one
//   moves.c     the passes of stages that only move elements
//   together.c  several stages as one
//   loops.c     loops in blocks, as index bits
//   padding.c   which padding need not be in memory
//   plan.c      a stage: its slots, the strategies, the cheapest
//   build.c     a pass: its loads and stores, blocks, arrays between passes
//   phases.c    its phases where lanes are those of vector registers
//   warps.c     its phases where lanes are threads
//   cost.c      what it costs
//   boundaries.c  why passes are apart
//   look_back.c   passes that a GPU executes as one
//   keys.c      keys that a sort makes itself
//   transpose.c   stages that only put dimensions in another order, as routines
//   again.c       stages that are like earlier ones; loops
//   verify.c, facts.c, print.c
#ifndef PERMC_FUSION_PLAN_PLAN_H
#define PERMC_FUSION_PLAN_PLAN_H

#include "fusion/net/net.h"
#include "fusion/rules/rules.h"
#include "fusion/target/target.h"

typedef struct plan_phase {
  uint32_t first_op, op_count;  // within the pass's ops
  uint32_t r, l;                // dimensions of R and L; that of T is the rest
  uint64_t *basis;              // of V: R's vectors, then L's, then T's
  uint64_t *exchange;           // before this phase: address bit i of scratch <-> vector i of this
                                // basis of V. NULL for the first phase: it loads
} plan_phase;

typedef struct plan_move {  // a load or store of a pass
  net_id value;             // of the stage
  uint32_t slot;            // of the value
  net_id array;
  net_map map;
  uint64_t padding_start;
  scalar_bits padding_value;  // loads
  uint32_t live_count;
  net_form *live;   // elements where a form is 1 need not be loaded, and are not stored
  bool coalesced;   // whole lines (see above); false: the planner found no tile for it
  uint32_t direct;  // of a load: 1 + the op of the pass before which it is done, straight to
                    // registers; 0: a phase does it, for all that follow
} plan_move;

typedef struct plan_access {  // an array that a pass reads or writes
  net_id array;
  bool writes;
  const plan_move *move;  // NULL: an op does, at places that it computes, or a routine
  uint32_t next;          // of plan_access_next
} plan_access;

typedef struct plan_pass {
  uint32_t stage;
  f2_space tile;
  uint64_t *blocks;  // n - dim V vectors
  uint32_t slot_count;
  uint32_t *slot_bytes;  // element size of each slot
  uint32_t *slot_of;     // by value of the stage: its slot, or NET_NONE where it is not in the pass
  uint32_t load_count, op_count, store_count, phase_count;
  plan_move *loads, *stores;
  uint32_t access_count;
  plan_access *accesses;  // without moves, each array once, or twice: those that its ops gather
                          // from, scatter to; of a routine, all that it reads and writes
  uint32_t *ops;          // numbers of the stage's ops, in order of execution
  plan_phase *phases;   // at least one, also without ops; none of a routine, whose tile is a point
  uint32_t live_count;  // the pass need not execute blocks where a form is 1 (masks vanish on V)
  net_form *live;
  uint64_t padding_start;  // nor blocks whose indices are all from here on (UINT64_MAX: none)
  double seconds;          // predicted
  uint32_t repeats;    // not 0: 1 + the pass before it of which it has the code, on other arrays
  uint32_t keys_from;  // of a routine that makes its keys itself: 1 + the pass that does nothing
  uint32_t keys_for;   // else; of that pass: the routine's (plan/keys.c). 0: none
  // On several GPUs (overlap.c): not 0: blocks are in 2^turn_bits turns, numbered by bits of their
  // numbers below those of the GPU, or share; turn t ^ turn_flip of the next pass may begin when
  // turn t of this one is done.
  uint32_t turn_bits;
  uint32_t turn_flip;  // of the next pass
  bool
      waits_for_links;  // of two passes that overlap, the one that links hold up more; else memory does
} plan_pass;

// What the padding of a stage costs (plan/padding.h).
typedef enum plan_padding {
  PADDING_NONE,   // no load has padding
  PADDING_FREE,   // the padding stays where it is: no array between passes holds it
  PADDING_STORED  // it may move: arrays between passes have the padded length
} plan_padding;
extern const char *const plan_padding_names[];  // "none", ...

// Passes of which each has the code of that `count` passes before it: the rounds of a loop.
typedef struct plan_loop {
  uint32_t first, count;  // those of the first round
  uint32_t rounds;
} plan_loop;

typedef struct plan {
  const net *net;
  const target *target;
  plan_padding *padding;         // by stage
  scalar_bits **padding_values;  // by stage where its padding is free: by value, the constant
  const char **strategy;         // by stage: the name of the one that it was planned by
  uint32_t fired[RULE_COUNT];    // by rule of the planner's own: how often
  VEC(net_array) arrays;         // the net's, then those that passes need between them
  VEC(plan_pass) passes;
  VEC(plan_loop) loops;
  const char **lines;  // by pass, for profilers: "sort.perm:12", or NULL; NULL: of none
} plan;

// A way to plan a stage, by name. Those for moves are for stages that only move elements, the
// others for stages that compute, or for the routine permute.
typedef struct plan_strategy {
  const char *name, *summary;
  bool moves;
} plan_strategy;
const plan_strategy *plan_strategy_at(size_t index);         // NULL behind the last
const plan_strategy *plan_strategy_named(const char *name);  // or NULL
// Whether it is for the routine permute.
bool plan_strategy_permutes(const plan_strategy *s);

// The plan by that strategy where it applies; elsewhere, and for NULL, the cheapest by the cost
// model. Deterministic. `net` has been accepted by net_verify and must outlive the plan (whose net
// is another where a strategy takes two passes for a permutation, or several stages are one).
plan *plan_make(arena *a, const net *n, const target *t, const plan_strategy *strategy);
// Whether the result of that number, a check of `padded` (lang/trace.h), is proven to be false.
bool plan_proves_padding(arena *a, const net *n, uint32_t result);
// What the plan of a stage is made for (target_for its elements).
const target *plan_stage_target(arena *a, const target *t, const net_stage *s);
static inline const net_stage *plan_stage_of(const plan *p, const plan_pass *pass) {
  return &p->net->stages.items[pass->stage];
}
// The routine that the pass is, or NULL.
static inline const net_routine *plan_routine_of(const plan *p, const plan_pass *pass) {
  return plan_stage_of(p, pass)->routine;
}
// On a processor, the pass whose code it has: itself, or an earlier one. (Kernels of a GPU get their
// arrays as parameters; which passes are one kernel, only emitters know.)
static inline uint32_t plan_code_of(const plan *p, uint32_t pass) {
  uint32_t repeats = p->passes.items[pass].repeats;
  return repeats && p->target->lane_bytes ? repeats - 1 : pass;
}
// Of its keys: the bits that they differ in, and how often a routine goes over them, by 8 bits at a
// time.
uint32_t plan_routine_bits(const plan *p, const net_routine *r);
uint32_t plan_routine_digits(const plan *p, const net_routine *r);
// Whether it is a sort by few keys, that a GPU does with one read and one write; it can make its
// keys of elements of some arrays (plan/keys.c).
enum { PLAN_PARTITION_PAIRS = 5, PLAN_KEY_INPUTS = 3 };
bool plan_routine_is_partition(const net_routine *r);
// Whether so many GPUs of a host each sort a share of its one row, and merge them: of enough keys.
bool plan_routine_has_shares(const net_routine *r, uint32_t gpus);
// Where the ops [first, end) of a pass matter: everywhere, if there are none.
f2_space plan_live_of_ops(const net_stage *s, const plan_pass *pass, uint32_t first, uint32_t end);
// Its accesses, of the nodes of its ops.
void plan_find_accesses(arena *a, const net_stage *s, plan_pass *pass);
// What the pass does with arrays: its loads, its stores, then accesses without moves.
//
//      for (plan_access at = {0}; plan_access_next(pass, &at);)
//        last[at.array] = at.writes ? ... : ...
bool plan_access_next(const plan_pass *pass, plan_access *at);
bool plan_pass_touches(const plan_pass *pass, net_id array);
// The arrays that the pass touches, each once, in that order; *count of them.
net_id *plan_pass_arrays(arena *a, const plan_pass *pass, uint32_t *count);
// The loads of a pass, then its stores.
static inline const plan_move *plan_move_at(const plan_pass *pass, uint32_t i) {
  return i < pass->load_count ? &pass->loads[i] : &pass->stores[i - pass->load_count];
}
// The load that a pass begins with, or NULL. Direct ones come last.
static inline const plan_move *plan_first_load(const plan_pass *pass) {
  return pass->load_count && !pass->loads[0].direct ? pass->loads : NULL;
}
// Whether the slot holds nothing but what ops load directly, and use at once.
static inline bool plan_slot_is_direct(const net_stage *s, const plan_pass *pass, uint32_t slot) {
  uint32_t others = 0;
  for (net_id v = 0; v < s->values.count; v++)
    others += pass->slot_of[v] == slot;
  for (uint32_t i = 0; i < pass->load_count; i++)
    others -= pass->loads[i].slot == slot && pass->loads[i].direct;
  return others == 0;
}
// The first move of `count` from or to an array; or NULL.
const plan_move *plan_find_move(const plan_move *moves, uint32_t count, net_id array);
// Whether one access may have several neighbours, where lanes are threads: no element of the move
// has a condition of its own.
bool plan_move_is_wide(const plan_move *m);
// How many blocks, for one index of the loops, there are up to the last that is executed: b is the
// sum of the vectors of `blocks` at its bits. 0: none is.
uint64_t plan_live_blocks(const plan *p, const plan_pass *pass);
// The items of a pass (runtime/cpu/cpu.h) that are a share's: they follow one another, and the next
// share's follow them. None where the stage has no such share.
void plan_share_items(const plan *p, const plan_pass *pass, uint64_t share, uint64_t *first,
                      uint64_t *last);
// Of an array between passes, how many elements each share of its stage has (0: the stage has no
// shares):
// share s those from s times so many on, as far as there are such.
uint64_t plan_share_elements(const plan *p, net_id array);
// Whether one element in 2^dead is so few that a part of a line for each costs no more than whole
// lines of all: memory moves at least 32 bytes.
static inline bool plan_are_few(uint32_t dead) { return dead >= 3; }
// Of phases whose lanes are threads: scratch addresses that are free of bank conflicts for the
// lanes of both, whether there are other phases between them or not (plan/warps.c).
uint64_t *plan_exchange(arena *a, f2_space tile, const plan_phase *before, const plan_phase *after);
// NULL if every invariant holds, else a sentence naming the pass.
const char *plan_verify(arena *a, const plan *p);
// What a reader must know of that form, as comment lines of it.
extern const char plan_legend[];
// The net, then the plan of it (the form: plan/print.c).
void plan_print(text *out, const plan *p);

// ---- passes that overlap (plan/overlap.c) ------------------------------------------------------

enum { PLAN_OVERLAP_BITS = 4 };  // so that there are 16 turns at most
typedef struct plan_overlap {
  int bits;                           // log2 of the turns, at most
  uint32_t flip;                      // of the second pass's
  uint64_t forms[PLAN_OVERLAP_BITS];  // of addresses
  uint64_t first[PLAN_OVERLAP_BITS],
      second[PLAN_OVERLAP_BITS];  // forms of the bits of a block's number
} plan_overlap;
// How the pass and the next may overlap, where the highest `parts` bits of the number of a block
// are the GPU's. Returns the bits: 0 if they may not.
int plan_overlap_bits(arena *a, const plan *p, uint32_t pass, uint32_t next, int parts,
                      plan_overlap *out);
// Puts their blocks into turns, of so many bits.
void plan_overlap_passes(arena *a, plan *p, uint32_t pass, uint32_t next, int parts,
                         const plan_overlap *o, int bits);
// Puts blocks of the pass that load from, or store to, different GPUs next to each other, within
// their turns: so that links are not idle while all blocks under way keep to the memory of their
// own GPU.
void plan_alternate_blocks(arena *a, plan *p, uint32_t pass, int parts);

// ---- boundaries (plan/boundaries.c) ------------------------------------------------------------

// Why a pass is not one with those before it, as lowering and the planner decided it. `reason` is
// that of an array that it reads and an earlier pass has made, or one of the planner's:
//
//   TILE     ops `first` and `second`, and those between them, of one stage need a tile of 2^needed
//            elements, and the target's holds 2^held for their values
//   LINES    it would hold them; but not whole lines of what it loads and stores as well
//   ASKED    the pass only moves elements, from an argument to a result
//   OTHER    it has nothing to do with them: other elements, of another index space
typedef struct plan_boundary {
  uint32_t pass;
  bool permutation;        // why the pass only moves elements, and not why it is a pass of its own
  uint32_t before;         // the latest pass that it is a boundary to; of a permutation the pass
  uint32_t first, second;  // X and Y: steps of the Trace; NET_NONE where no op computes them
  net_reason reason;
  int needed, held;  // TILE
} plan_boundary;

// Those of all passes, by pass. The first pass has none; a pass that only moves elements has one
// besides, from the op that made them to the one that needs them so. The ops of stages are looked
// at again: for explanations, not for each run.
plan_boundary *plan_boundaries(arena *a, const plan *p, uint32_t *count);

// ---- look-back (plan/look_back.c) --------------------------------------------------------------

// Passes over one stage that go up a tree and down again, as one pass whose blocks look back: a
// block publishes what its tile comes to, and folds what the blocks before it have published, in
// the order of the ops between (Merrill and Garland, Single-pass parallel prefix scan with
// decoupled look-back, 2016; there sums are added as they come, here by a fixed tree, so that those
// of floats are the same everywhere).
//
//   scan of 2^24 i32 by passes    0: ops 0-2, in tiles of 2^12     up, to a total of each tile
//                                 1: ops 3-7, on 2^12 totals       up to one, and down again
//                                 2: ops 8-10, in tiles of 2^12    down, to the elements
//   as one: ops 0-2, one op that stands for ops 3-7, ops 8-10. Each level between is 4 bits of the
//   number of the block. The last block of 16 publishes the total of the 16, and so on (two levels
//   may be joined: kernels/emit/look_back.h). A block folds at most 15 totals of each level.
//
// What the ops between are to be like: the head of look_back.c's functions. The plan keeps its
// passes, which other backends execute; results are the same to the bit.
enum {
  PLAN_LOOK_BITS = 5,         // of a level: a warp looks at it
  PLAN_LOOK_LEAST = 10,       // bits of a tile
  PLAN_LOOK_MOST = 13,        //
  PLAN_LOOK_BYTES = 1 << 15,  // of what a tile loads
};

typedef struct plan_look_back {
  uint32_t stage_number, first, last;  // the passes
  const net_stage *stage;              // with indices numbered so that blocks look back, not ahead
  uint32_t tile_bits;                  // the tile: the lowest bits of the index
  uint32_t middle, middle_count;       // the stage's ops between
  uint32_t in_count, out_count;        // values that these read and do not make; make for others
  net_id *in, *out;
  plan *one;  // its only pass; op `middle` of its only stage stands for the ops between
} plan_look_back;

// Whether the passes from `first` on are such.
bool plan_look_back_from(arena *a, const plan *p, uint32_t first, plan_look_back *l);
// Whether an op between goes up: it makes element 0 only.
bool plan_goes_up(const net_op *op);

// ---- facts (plan/facts.c) ----------------------------------------------------------------------

// What a plan comes to: counts, bytes, seconds. For `permc explain` and the structure lines of
// tests.
//
//   the paper's sorter, n = 24, i32, target line128-tile128k
//
//   columns 300, all static    ops on two or more elements; which of them an element is follows
//   maps 0                     from its register alone
//   passes 14, permutations 0  passes over memory; those among them that only move elements
//   copies 0                   passes that leave every element in its place: not counted as passes
//   exchanges 70               between the phases of passes
typedef enum plan_pass_kind {
  PLAN_WORK,  // executes ops
  PLAN_MOVE,  // only moves elements
  PLAN_COPY,  // moves whole arrays, or parts of them, as they are
  PLAN_ROUTINE
} plan_pass_kind;

typedef enum plan_bound { PLAN_BY_MEMORY, PLAN_BY_WORK, PLAN_BY_START } plan_bound;

typedef struct plan_pass_facts {
  plan_pass_kind kind;
  uint32_t columns, static_columns, maps, exchanges;
  uint64_t bytes_read, bytes_written;  // each element once, and only where there are elements
  plan_bound bound;                    // what takes the longest
} plan_pass_facts;

typedef struct plan_facts {
  uint64_t columns, static_columns, maps;
  uint64_t passes, permutations, copies, exchanges;
  uint64_t planned;  // of the passes, those that are no others' on other arrays
  uint64_t bytes_read, bytes_written;
  uint64_t temporaries, temporary_bytes;  // arrays that are neither arguments nor results
  double seconds;
} plan_facts;

plan_pass_facts plan_pass_facts_of(const plan *p, size_t pass);
plan_facts plan_facts_of(const plan *p);

// How many dimensions the tile lacks to hold whole lines of the move's array. 0 where it holds
// them.
int plan_missing_dimensions(const plan *p, const plan_pass *pass, const plan_move *m);

#endif
