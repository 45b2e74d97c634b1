// Private to fusion/plan: a stage while passes are being found for it.
#ifndef PERMC_FUSION_PLAN_PLANNING_H
#define PERMC_FUSION_PLAN_PLANNING_H

#include "fusion/plan/padding.h"
#include "fusion/plan/plan.h"

// A run of ops [first, end) and the space that its tile must contain: the directions, and the lines
// of what it loads and stores.
typedef struct run {
  uint32_t first, end;
  f2_space space;
  uint64_t slots;  // that it touches, of the stage's
} run;

typedef struct planning planning;
typedef struct pass_tiles pass_tiles;

// How lanes that are threads meet in scratch memory.
typedef enum exchange_kind {
  EXCHANGE_FREE,  // without bank conflicts
  EXCHANGE_RAW,   // lanes before are rows of scratch, lanes behind its columns
  EXCHANGE_NONE   // not at all: stores are scattered
} exchange_kind;

// A row of the table of strategies (plan/strategy.c).
typedef struct strategy_row {
  plan_strategy shown;
  pass_tiles *(*cut)(planning *p);  // into passes; NULL: it does not apply
  bool automatic;                   // one of those among which cost decides
  // Of strategies for moves:
  enum { WHOLE, APART, FACTORED, TILED } stages;  // see plan_rewrite_moves
  bool plain;     // tiles, blocks and accesses as in the BMMC paper: not widened nor reordered
  int registers;  // log2 of the elements of a thread; -1: what the target has
  exchange_kind exchange;
} strategy_row;
const strategy_row *strategy_row_of(const char *name);  // or NULL

struct planning {
  arena *memory;
  const strategy_row *strategy;
  const plan *plan;  // so far: of the stages before
  const net *net;
  const target *target;
  uint32_t stage_number;
  const net_stage *stage;
  f2_space share;  // the indices of one share: tiles lie in it. All, where the stage has no shares
  net_uses uses;
  // The lines that coalesced loads and stores need: by op, of what it is the first to read and of
  // what it makes (NULL: nothing); of what is stored as it was loaded.
  f2_space **op_lines, moved_lines;
  bool *direct;         // by value: it is loaded directly (plan.h)
  f2_space **op_parts;  // by op: the tile has as much of each of these as of a part of a line
  padding padding;      // of the stage (plan/padding.h)
  plan_padding padding_kind;
  uint64_t *op_slots;    // by op: the slots of what it reads and makes, if the stage were one pass
  uint32_t *slot_bytes;  // of those slots
  uint32_t *depth;       // by node, while an op is looked at
  f2_space *slot_live;   // and the directions in which one stays where they hold something
  uint32_t slot_count;   // more than 64: op_slots are all of them
  uint32_t spared_loads, spared_stores;  // slots that take no room in the tile
  uint32_t moved_bytes;                  // the widths of what is stored as it was loaded
  int t;                                 // dimensions of a line
  int *lines_before;  // by op: of a line between passes, if one ends before the op
  int movable;        // layouts between passes may move the lowest so many bits of the index
  uint32_t alone;     // an op that is a phase of its own; NET_NONE: none is
};

// What a stage is cut into: a run of ops, and its tile, for each pass.
struct pass_tiles {
  uint32_t count;
  run *runs;  // spaces are the tiles V
};

static inline int log2_floor(uint64_t x) { return x ? f2_msb(x) : 0; }
static inline int smaller_of(int a, int b) { return a < b ? a : b; }
static inline uint32_t width_of(const net_stage *s, net_id value) {
  return (uint32_t)scalar_types[s->values.items[value]].size;
}

// ---- subspaces of the index space (plan/spaces.c) --------------------------------------------

// The masks of a map's rows, if there are at most F2_MAX of them.
bool map_matrix(const net_map *m, int n, f2_matrix *rows);
// What a tile must contain so that the map's lines of 2^t elements are whole (as far as its rows
// allow).
f2_space line_space(const net_map *m, int n, uint32_t line_elements);
// The same, as far as one share of the stage has them.
f2_space lines_in_share(const planning *p, const net_map *m, uint32_t line_elements);
// Those of a load or store of that value.
f2_space lines_of_value(const planning *p, const net_map *m, net_id value);
// How many dimensions the tile lacks to hold whole lines of elements of so many bytes.
int missing_dimensions(f2_space tile, const net_map *m, uint32_t line_bytes, uint32_t bytes);
// The vectors along which the map stays within `elements` neighbours, or one element.
f2_space part_space(const net_map *m, int n, uint32_t elements);
// The masks of the coordinates of the ops [first, end) of a pass.
f2_space coordinate_forms(const net_stage *s, const plan_pass *pass, uint32_t first, uint32_t end);
f2_space op_directions(const net_stage *s, const plan_pass *pass, uint32_t i);
// Whether the form of that mask is the same at indices that differ by these vectors.
bool vanishes_on(uint64_t form, uint32_t count, const uint64_t *vectors);
// Adds vectors of `from` that *held does not have to *held and to the list `to`, until it has `most`.
void take_vectors(uint64_t *to, uint32_t *count, uint32_t most, int from_count,
                  const uint64_t *from, f2_space *held);
typedef struct vector_list {
  int count;
  uint64_t items[F2_MAX];
} vector_list;
vector_list vectors_of(f2_space space);  // its basis
vector_list vectors_within(const vector_list *from, f2_space space);
// What lies in k of those `from` vectors that lie in k and the span of `along`. A vector of `along`
// in k, or in the span of earlier ones, does not count.
vector_list projected_into(f2_space k, int along_count, const uint64_t *along, int count,
                           const uint64_t *from);

// What is known of a stage before it is cut (plan/plan.c).
planning planning_of_stage(arena *a, const plan *p, uint32_t number);
// The plan of a net of one stage by one pass whose tile is the lowest d bits of the index, where op
// `alone` is a phase of its own. NULL: the tile is another, or its blocks are not in the order of
// the index.
plan *plan_one_tile(arena *a, const net *n, const target *t, int d, uint32_t alone);
// Where the value is made (net.h, live_of_value).
f2_space plan_live_of_value(const planning *p, net_id value);
// The dimensions of a line of what a value has between passes: 0 where few of its elements are
// live.
int plan_line_bits_of_value(const planning *p, net_id value);

// ---- tiles of passes --------------------------------------------------------------------------

// The most dimensions of a tile for the slots of a run.
int plan_room(const planning *p, const run *r);

// The longest run from op `first` that fits into a tile, but at least to op `end`.
run plan_longest_run(const planning *p, uint32_t first, uint32_t end);
// The ops from `first` to `last`, whether they fit or not.
run plan_run_of(const planning *p, uint32_t first, uint32_t last);

// Of stages that compute (plan/passes.c).
pass_tiles *plan_in_index_layout(planning *p);
pass_tiles *plan_free_layouts(planning *p);
// Of stages that only move (plan/moves.c).
pass_tiles *plan_one_pass(planning *p);
pass_tiles *plan_load_lines(planning *p);
pass_tiles *plan_unit_tile(planning *p);
pass_tiles *plan_unit_tiles(planning *p);
// A stage while others may be put in its place.
typedef struct rewriting {
  arena *memory;
  const net *net;
  const target *target;
  const strategy_row *asked;  // or NULL
  uint32_t number;            // of the stage
  const net_stage *stage;
} rewriting;
// Adds others to `to`, with arrays that these need. False: the stage stays.
typedef bool net_rewrite(const rewriting *r, net *to);
// A stage that only moves as a strategy wants it: WHOLE, as it is; APART, a stage for each array;
// FACTORED, each permutation as two (BMMC paper, section 5.2); TILED, those that are not tiled
// (plan/moves.c).
bool plan_rewrite_moves(const rewriting *r, net *to);
// A routine for a stage that only puts dimensions in another order (plan/transpose.c).
bool plan_rewrite_transpose(const rewriting *r, net *to);
// Where lanes are of vectors: copies of what is read many times, as its lanes want it
// (plan/columns.c).
bool plan_rewrite_columns(const rewriting *r, net *to);

// The net with one stage for several that read one array alike, where that costs less
// (plan/together.c).
typedef double net_cost(arena *a, const net *t, const target *to);  // seconds of its plan
const net *plan_together(arena *a, const net *t, const target *to, net_cost *cost);

// The stage with loops in blocks whose indices are index bits (plan/loops.c), of which the last may
// overlap the one before. False: it stays as it is.
bool plan_stage_in_blocks(const planning *p, bool overlap, net_stage *out);

// The net with the stage's ops in an order that takes less than so many passes, or NULL
// (plan/commute.c). *parts: of ops, that wait for a later pass.
const net *plan_commuted(const planning *p, uint32_t passes, uint32_t *parts);
// The same where chains of ops meet: with the last `levels` ops of each in turn, behind the others;
// or NULL, where they are so.
const net *plan_in_lockstep(const planning *p, uint32_t levels);

// ---- stages like earlier ones (plan/again.c) ---------------------------------------------------

typedef struct planned_stage {
  uint32_t stage, first_pass, end_pass;
  uint32_t first_array, end_array;  // between its passes
  bool reordered;                   // its ops, in the plan's net
} planned_stage;

typedef struct planned_stages {
  arena *memory;
  const net *net;  // before ops are reordered
  VEC(planned_stage) stages;
  net *own;  // the plan's, where it was made here
  net_pairs pairs;
  net_id *arrays;
  size_t room;
} planned_stages;

// The passes of a stage by those of an earlier one that is like it. False: there is none.
bool plan_stage_again(planned_stages *known, plan *p, uint32_t number);
// Which passes are the rounds of loops.
void plan_find_loops(arena *a, plan *p);

// ---- passes from tiles (plan/build.c) --------------------------------------------------------

// Slots while they are being assigned.
typedef struct slots {
  VEC(uint32_t) bytes;
  VEC(bool) taken;
  VEC(f2_space) live;  // where all that it holds in turn is made (net.h)
} slots;
// Slots for the ops [first, end) of a stage, as if they were one pass: a value has its slot from
// where it is loaded or made to its last reader, or to the end if it is stored there.
void assign_slots(const planning *p, uint32_t first, uint32_t end, const bool *loaded,
                  const bool *stored, uint32_t *slot_of, slots *all);
// The passes of a stage, and the arrays between them, which follow those of the plan so far.
typedef struct stage_passes {
  VEC(net_array) arrays;
  VEC(plan_pass) passes;
  double seconds;    // predicted
  int largest_tile;  // dimensions
} stage_passes;
stage_passes build_passes(const planning *p, const pass_tiles *tiles);

// The pass touches the array at places that it computes, unless that is known.
void plan_add_access(plan_pass *pass, net_id array, bool writes);
// Sorts that make their keys themselves, on a GPU (plan/keys.c). Returns how many.
uint32_t plan_keys_of_elements(arena *a, plan *p);

// ---- phases (plan/phases.c) --------------------------------------------------------------------

// What a part of a phase may take, in order.
typedef enum phase_part { IN_REGISTERS, IN_LANES, IN_THREADS, PHASE_PARTS } phase_part;
typedef struct phase_row {
  phase_part part;
  int count;
  const uint64_t *vectors;
} phase_row;
typedef struct phase_shape {
  int r, l;  // log2 of what a thread holds of every slot, and of lanes
} phase_shape;
phase_shape phase_shape_of(const planning *p, const plan_pass *pass);
// The end of the phase that begins with op `first` of the pass: it takes ops while their directions,
// which span *d then, have at most r dimensions.
uint32_t phase_end(const planning *p, const plan_pass *pass, uint32_t first, int r, f2_space *d);
// The phase of ops [first, end). The rows span the tile.
plan_phase choose_phase(arena *a, const plan_pass *pass, phase_shape shape, uint32_t first,
                        uint32_t end, uint32_t row_count, const phase_row *rows);
// Finds phases for a pass whose tile, ops, loads and stores are set.
void plan_phases(const planning *p, plan_pass *pass);
// The same for a target whose lanes are threads (plan/warps.c).
void plan_warps(const planning *p, plan_pass *pass);
// Of a stage that gathers, a block has so many elements where lanes are threads: what its first
// cache holds of lines serves all of them.
enum { PLAN_GATHERED_BITS = 12 };
enum { PLAN_THREAD_BITS = 10 };  // at most 2^10 threads share a tile

// ---- cost (plan/cost.c) -----------------------------------------------------------------------

// Predicted seconds: of starting the pass, and of what it then does at the same time, memory and
// arithmetic.
typedef struct pass_cost {
  double start, memory, work;
} pass_cost;
pass_cost pass_cost_of(const plan *p, const plan_pass *pass);
double pass_seconds(const plan *p, const plan_pass *pass);

#endif
