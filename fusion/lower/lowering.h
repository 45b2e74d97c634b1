// Private to lang/lower*.c: what lowering knows of a Trace value.
#ifndef PERMC_FUSION_LOWER_LOWERING_H
#define PERMC_FUSION_LOWER_LOWERING_H

#include "fusion/lower/lower.h"

// ---- axes and maps (lower/space.c) ------------------------------------------------------------

// Axes of a value, outermost first; product of the extents = elements. An extent of 2 is a bit. No
// extent is 0 or 1, so there are at most 62.
enum { MAX_AXES = 64 };
typedef struct axes {
  uint32_t count;
  uint64_t extents[MAX_AXES];
} axes;

// Here a net_map's strides and the bits of its rows' masks go by axis: strides[i] belongs to axis i
// (0 where it is a bit), bit i of a mask to axis i (0 where it is a loop).

uint64_t axes_product(const axes *s, uint32_t first, uint32_t count);
void axes_insert(axes *s, uint32_t at, uint64_t extent);  // bits if a power of two, else one loop
uint64_t axes_bits(const axes *s);                        // the mask of the axes that are bits

// Row-major numbering of all axes from `first` on, times `stride`.
net_map map_row_major(arena *a, const axes *s, uint32_t first, int64_t stride);
net_map map_constant(int64_t value);
net_map map_copy(arena *a, const net_map *m);
// Axes are inserted at `at` (which the value does not depend on), or `count` axes there are fixed
// at the row-major index `number`, and vanish. `s` are the axes before.
net_map map_inserted(arena *a, const net_map *m, uint32_t at, uint32_t count);
net_map map_fixed(arena *a, const net_map *m, const axes *s, uint32_t at, uint32_t count,
                  uint64_t number);
// Bits: the axes at, ..., at + k - 1 (bit k-1 first) held x; now they hold y with x = A y ^ c.
net_map map_substituted(arena *a, const net_map *m, uint32_t at, f2_affine x_of_y);
// Axis i of the result is axis order[i] of m.
net_map map_permuted(arena *a, const net_map *m, const uint32_t *order, uint32_t count);
// Loop axis `at` of extent inner * outer becomes two (sets of) axes.
net_map map_split(arena *a, const net_map *m, const axes *s, uint32_t at, uint64_t outer,
                  axes *new_axes);
// Whether axes [at, at + count) are numbered row by row with one stride that slices keep.
bool map_plain(const net_map *m, const axes *s, uint32_t at, uint32_t count, int64_t *stride);

// ---- values -----------------------------------------------------------------------------------

// What holds elements: an array in memory, or a value of a stage. A leaf's map gives its address;
// of a stage's value that is the address it would have when all of it is stored: bit i of x weighs
// 2^i, the loops follow, innermost first.
typedef struct holder {
  scalar_type type;
  bool in_memory;
  net_id array;            // in memory
  uint64_t padding_start;  // addresses from here on are padding (UINT64_MAX: none)
  scalar_bits padding_value;
  uint32_t stage;  // else
  net_id value;
  f2_affine *frame;  // the stage's index of the bits that leaves name (NULL: the same)
} holder;

typedef enum lowered_kind {
  LOWERED_EMPTY,       // no elements
  LOWERED_EXPRESSION,  // node `elements[0]`, of all axes; a leaf is such a node, too
  LOWERED_PACKED       // `element_count` expressions over the batch's axes, not yet in an array
} lowered_kind;

typedef struct lowered {
  lowered_kind kind;
  axes axes;  // of one element of a PACKED value
  uint32_t element_count;
  net_id *elements;
} lowered;

typedef struct known_batch {
  uint64_t batch;
  axes axes;
} known_batch;

typedef struct stage_state {
  bool closed;
  uint32_t order;  // of closing
} stage_state;

typedef struct lowering {
  arena *memory;
  const trace *trace;
  net *net;
  rule_log *log;   // or NULL
  net_stage pool;  // of expression nodes: a leaf's `value` is a holder, its `map` by axes, its
                   // `number` which element of an array pattern it was
  // By node of the pool, which has room for `capacity`:
  size_t capacity;
  bool *has_leaf;
  uint32_t *marks, walks;  // the walk that met it last
  net_id *converted;       // its number in a stage
  VEC(holder) holders;
  VEC(stage_state) stages;
  uint32_t closings;
  VEC(known_batch) batches;  // the axes that each size of a batch had last
  lowered *values;           // by step of the trace
  uint32_t step;
} lowering;

typedef struct node_list {
  net_id *items;
  size_t count, capacity;
} node_list;
// All nodes that the elements consist of, operands first.
node_list reachable(lowering *l, uint32_t m, const net_id *elements);

net_id pool_add(lowering *l, const net_node *node);
bool pool_has_leaf(const lowering *l, net_id node);

// ---- the log of laws (lower/log.c) --------------------------------------------------------------

// The step moves elements; which law spares it depends on the step before.
void log_movement(lowering *l, const trace_step *s);

// ---- placing (lower/place.c) ------------------------------------------------------------------

// The expressions `elements` (m of them, each over the axes s) as one array: the result's axes are
// s with an axis of extent m inserted at `at`. The returned node is a leaf.
net_id place(lowering *l, const axes *s, uint32_t m, const net_id *elements, uint32_t at);
// The value of node `e` over axes s, stored in `array` at the addresses of `target`.
void store_into(lowering *l, const axes *s, net_id e, net_id array, const net_map *target);
// The same in a new temporary, row-major: the leaf that reads it. `once`: no copy is made if it
// lies so already. `prefix`: only the first `count` elements.
net_id store_row_major_once(lowering *l, const axes *s, net_id e);
net_id store_prefix(lowering *l, const axes *s, net_id e, uint64_t count);
net_id store_row_major(lowering *l, const axes *s, net_id e);
net_id holder_add(lowering *l, const holder *h);
net_id leaf_of(lowering *l, net_id held_by, const net_map *map, uint64_t number);
// The stage `from` becomes part of `into`: its index x is there change(x). (lower/merge.c)
void merge_stages(lowering *l, uint32_t into, uint32_t from, f2_affine change);
// Afterwards no op is added to the stage.
void stage_close(lowering *l, uint32_t stage);

#endif
