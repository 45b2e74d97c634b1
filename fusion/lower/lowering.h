// Private to fusion/lower: what lowering knows of a Trace value, and the functions of its files.
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
typedef struct axis_range {
  uint32_t at, count;
} axis_range;

// Here a net_map's strides and the bits of its rows' masks go by axis: strides[i] belongs to axis i
// (0 where it is a bit), bit i of a mask to axis i (0 where it is a loop). Such maps are not
// canonical: rows keep their places, by which maps of elements are compared and bits of x are found.

static inline bool axes_equal(const axes *a, const axes *b) {
  return a->count == b->count && !memcmp(a->extents, b->extents, a->count * sizeof *a->extents);
}
uint64_t axes_product(const axes *s, uint32_t first, uint32_t count);
void axes_insert(axes *s, uint32_t at, uint64_t extent);  // bits if a power of two, else one loop
void axes_append_dims(axes *s, const trace_step *step);
axes axes_of_step(const trace_step *step);  // its batch, then its dimensions

// Row-major numbering of all axes from `first` on, times `stride`.
net_map map_row_major(arena *a, const axes *s, uint32_t first, int64_t stride);
// m, which axes [at, at + count) do not change, with these numbered row by row, too. Rows that are
// constant become part of the offset.
net_map map_numbered(arena *a, const net_map *m, const axes *s, uint32_t at, uint32_t count,
                     int64_t stride);
int64_t map_stride(const net_map *m, uint32_t axis);
// Whether two maps differ in nothing but the offset and the constants of their rows.
bool map_parallel(const net_map *a, const net_map *b, uint32_t axis_count);
uint64_t map_constants(const net_map *m);  // bit i: of row i
// What an old axis is of new ones. A loop of 6 that is cut into a loop of 3 and a bit, and the bit
// behind it, flipped:
//
//   before   6, 2       old[0]: 0 + the 2 axes from 0 on, row by row        i_0 = 2 j_0 + j_1
//   after    3, 2, 2    old[1]: the form x2 ^ 1                             i_1 = j_2 ^ 1
typedef struct old_axis {
  net_form bit;        // of a bit: a form of new bits
  uint32_t at, count;  // of a loop: the number that so many new axes have row by row
  uint64_t number;     //   and this one added to it
} old_axis;
typedef struct axes_change {
  axes after;
  uint32_t at, gone, come;  // axes that make way for others, or change places
  old_axis old[MAX_AXES];
} axes_change;
// `gone` axes at `at`, fixed at 0, make way for `count` others, on which nothing depends.
axes_change axes_replaced(const axes *before, uint32_t at, uint32_t gone, uint32_t count,
                          const uint64_t *extents);
axes_change axes_inserted(const axes *before, uint32_t at, uint64_t extent);
// `count` axes at `at` are fixed at the row-major index `number`.
axes_change axes_fixed(const axes *before, uint32_t at, uint32_t count, uint64_t number);
// The bits at, ..., at + k - 1 (bit k-1 first) held x; now they hold y.
axes_change axes_substituted(const axes *before, uint32_t at, f2_affine x_of_y);
// The axes [at, middle) and [middle, end) change places.
axes_change axes_exchanged(const axes *before, uint32_t at, uint32_t middle, uint32_t end);
// The loop at `at` becomes `outer` times its rest.
axes_change axes_split(const axes *before, uint32_t at, uint64_t outer);
net_map map_changed(arena *a, const net_map *m, const axes_change *c);
// Whether axes [at, at + count) are numbered row by row with one stride that slices keep.
bool map_plain(const net_map *m, const axes *s, uint32_t at, uint32_t count, int64_t *stride);

// ---- values -----------------------------------------------------------------------------------

// What holds elements: an array in memory, or a value of a stage. An element node's map gives its
// address there; of a stage's value that is the address it would have when all of it is stored: bit
// i of x, i < bits, weighs 2^i, the loops follow, innermost first. A stage may have grown since
// then.
typedef struct storage {
  scalar_type type;
  bool in_memory;
  net_id array;               // in memory
  uint64_t read;              // so many of its elements are read, at most; 0: perhaps all
  uint64_t padding_start;     // addresses from here on, and negative ones, are padding (UINT64_MAX:
  scalar_bits padding_value;  //   none)
  net_id guarded;             // the same array with such padding, for loads that leave it; or 0
  uint32_t stage;             // else
  net_id value;
  int bits;
  f2_affine
      *frame;  // the stage's index, of the bits that element nodes name (NULL: the same, and 0s)
  int spread_count;  // directions of those bits in which each element lies again
  uint64_t *spread;
} storage;

// What is known of a step's value: `batch` instances, of `count` elements each.
//
//   map (\x -> x + 1) a0, of [2][3]   EXPRESSION over the axes y_1 (2), y_0 (3): a0[3 y_1 + y_0] + 1
//   [a, b, c] in a batch of 4         PACKED: 3 parts of 1 element, over the 2 bits of the batch
//   concat (concat x y) z             PIECES: 3 parts of any counts, over any axes
typedef enum lowered_kind {
  LOWERED_EMPTY,       // no elements
  LOWERED_EXPRESSION,  // of a node over axes; elements of a storage are such a node, too
  LOWERED_PACKED,      // expressions over one batch, not yet in an array
  LOWERED_PIECES       // arrays one after the other, not yet one array
} lowered_kind;

typedef struct lowered {
  lowered_kind kind;
  uint32_t part_count;
  uint64_t batch, count;
  const axes *axes;       // kept by lower/value.c
  net_id node, computed;  // computed: the same of elements in memory, in few nodes, or NET_NONE
  bool is_part;           // of parts that index bits tell apart, as halves: of a column
  const struct lowered *parts;  // that are expressions: each with elements of each instance
} lowered;

typedef struct known_batch {
  uint64_t batch;
  axes axes;
} known_batch;

typedef struct stage_state {
  bool closed;
  uint32_t order;  // of closing
} stage_state;

// Places of keys: the array with them, the routine that makes it; the latest sort that moves
// payloads to them (NET_NONE: none does), which reads arrays of lower numbers than `arrays`.
typedef struct known_places {
  net_id places;
  uint32_t stage, sort;
  net_id arrays;
} known_places;

typedef struct lowering {
  arena *memory;
  const trace *trace;
  const uint32_t *origins;  // by its steps: those of the program's Trace; NULL: the same
  net *net;
  rule_log *log;  // or NULL
  net_stage
      pool;  // of expression nodes: an element node's `value` is a storage, its `map` by axes,
             // its `number` which element of an array pattern it was
  // By node of the pool, with room for `capacity`:
  size_t capacity;
  bool *reads_elements;
  uint32_t *marks, walks;  // the walk that met it last
  net_id *converted;       // its number in a stage, or in the pool after a change
  VEC(storage) storages;
  VEC(stage_state) stages;
  uint32_t closings;
  VEC(known_places) sorts;
  VEC(known_batch) batches;  // the axes that each size of a batch had last
  lowered *values;           // by step of the trace
  const axes *latest[8];     // different axes of values
  uint32_t *uses;            // by step of the trace: how many read it, or return it
  uint64_t *read;            //   and how many of its elements they read, at most
  lowered *operands;         // of the step that is being lowered, with room for `operand_room`
  uint32_t operand_room;
  uint32_t step;
} lowering;

// ---- expressions and stages (lower/pool.c) ----------------------------------------------------

net_id pool_add(lowering *l, const net_node *node);
net_id storage_add(lowering *l, const storage *s);
// An array of memory, new in the net, as a storage.
net_id storage_add_array(lowering *l, scalar_type type, uint64_t count, net_role role,
                         uint32_t number);
// The elements of a storage at the addresses of the map; `number`: see `pool`.
net_id element_node(lowering *l, net_id storage_id, const net_map *map, uint64_t number);
// An element node of a new temporary array of so many elements, over s row by row, and why it is.
net_id temporary_row_major(lowering *l, const axes *s, scalar_type type, uint64_t count,
                           net_reason why);
static inline net_id array_of_element(const lowering *l, net_id element) {
  return l->storages.items[l->pool.nodes.items[element].value].array;
}
// Whether it is an element of a value that a stage holds.
static inline bool is_in_stage(const lowering *l, net_id id) {
  const net_node *node = &l->pool.nodes.items[id];
  return node->kind == NET_ELEMENT && !l->storages.items[node->value].in_memory;
}
// Scalar code. The operands are copied.
net_id pool_operation(lowering *l, net_node node, uint32_t count, const net_id *operands);
net_id pool_scalar(lowering *l, scalar_op op, scalar_type result, net_id x, net_id y);
net_id pool_select(lowering *l, net_id condition, net_id x, net_id y);
net_id pool_constant(lowering *l, scalar_type t, int64_t i);
net_id pool_index(lowering *l, const net_map *m);
// `below` where the number that the range of axes counts is below `end`, else `other`.
net_id pool_choice_below(lowering *l, const axes *s, axis_range range, uint64_t end, net_id below,
                         net_id other);

typedef struct node_list {
  net_id *items;
  size_t count, capacity;
} node_list;
// All nodes that the elements consist of, operands first.
node_list reachable(lowering *l, uint32_t m, const net_id *elements);

static inline const trace_step *operand_step(const lowering *l, const trace_step *s, uint32_t i) {
  return &l->trace->steps.items[s->operands[i]];
}
static inline net_stage *stage_of(const lowering *l, uint32_t stage) {
  return &l->net->stages.items[stage];
}
// Its loops are those of the axes.
uint32_t stage_open(lowering *l, const axes *loops, int n);
// Afterwards no op is added to the stage.
void stage_close(lowering *l, uint32_t stage);
// The index gets one bit more, 0 wherever something is alive so far. Its number.
int stage_widen(lowering *l, uint32_t stage);
// The p + k vectors of F_2^n, and a complement of their span, as columns.
f2_matrix completed_basis(int n, int p, const uint64_t *first, int k, const uint64_t *second);
// The stage's index, of the bits that element nodes of its value name.
f2_affine storage_frame(const lowering *l, const storage *held);
// The stage `from`, of the same loops and bits, becomes part of `into`, when an op reads values of
// both: zip (map f xs) (map g xs). Its index x is there change(x), so that its elements lie where
// the op needs them. Both are open, so neither reads what the other stores.
void merge_stages(lowering *l, uint32_t into, uint32_t from, f2_affine change);
// A stage's value goes to memory, at the addresses that its element nodes name already. The stage
// is closed.
void storage_to_memory(lowering *l, net_id id, net_reason why);

// ---- values over axes (lower/value.c) ---------------------------------------------------------

lowered expression(lowering *l, const axes *s, net_id node);
// The step's value where its operands have no elements: all 0 bits.
lowered zeros_of_step(lowering *l, const trace_step *s);
// The step's value as a new array, row by row.
lowered new_array_of_step(lowering *l, const trace_step *s, net_reason why);
// All of an array, row by row.
lowered row_major(lowering *l, const axes *s, net_id storage_id);
// Whether it is computed from memory, by few nodes: then it may as well be computed again
// elsewhere.
bool is_computed(lowering *l, net_id node);

// What follows changes expressions in place. (Of which batch and count they are, their callers know.)
//
// v is put in an array, unless it is an element node, or small and of no elements.
void settle(lowering *l, lowered *v);
// The elements of v in an array of their own, row by row: all maps are plain then.
void make_plain(lowering *l, lowered *v, net_reason why);
// The axes of the range become others, of the given extents. Where maps are not plain there, v goes
// to an array of its own.
void renumber_axes(lowering *l, lowered *v, axis_range range, uint32_t count,
                   const uint64_t *extents);
// The number of leading axes whose extents have this product. Axes are split, or numbered anew,
// until there is such a number.
uint32_t cut_axes(lowering *l, lowered *v, uint64_t product);
// The same for several products, each a divisor of the next.
void cut_axes_at_all(lowering *l, lowered *v, uint32_t count, const uint64_t *products,
                     uint32_t *at);
// The axes after those of product `outer` up to those of product `inner`.
axis_range cut_axis_range(lowering *l, lowered *v, uint64_t outer, uint64_t inner);
// The axes of a batch of `count` that starts with those of some value.
axes batch_axes_after(const axes *given, uint64_t count);
void change_axes(lowering *l, lowered *v, const axes_change *c);
// Axes that v does not depend on, of `count` elements, at `at`.
void repeat_value(lowering *l, lowered *v, uint32_t at, uint64_t count);
// v's batch becomes that of `shared`, which begins with its axes.
void extend_batch(lowering *l, lowered *v, const axes *shared);
// The axes of the range at one index.
void fix_axes(lowering *l, lowered *v, axis_range range, uint64_t number);
// The same of an element node: it remembers which element of an array pattern, one of `count`, it
// is.
void fix_pattern(lowering *l, lowered *v, axis_range range, uint64_t count, uint64_t number);
// The axes of the range reduced to indices number, ..., number + length - 1.
void slice_axes(lowering *l, lowered *v, axis_range range, uint64_t number, uint64_t length);
// Whether elements of v along the range are computed from memory by few nodes, at addresses that go
// row by row.
bool is_extensible(lowering *l, const lowered *v, axis_range range);
// The axes of the range, of an extensible v, as indices from `start` on of `length`: before and
// after them elements are any.
void extend_axes(lowering *l, lowered *v, axis_range range, uint64_t start, uint64_t length);
// The element node `id` over s with the constant at all addresses outside of its array.
net_id fill_outside(lowering *l, net_id id, const scalar_bits *fill);
typedef struct address_range {
  int64_t low, high;
} address_range;
// Of the map's addresses; of rows that depend on each other, perhaps a wider one. INT64_MIN, INT64_MAX:
// or beyond.
address_range map_range(const net_map *m, const axes *s);
// Elements number, ..., number + length - 1 of the `whole` that each instance of the batch has,
// computed again if v may be: then it is no slice of what passes through an array.
void slice_value(lowering *l, lowered *v, uint64_t whole, uint64_t number, uint64_t length);

// The expressions, all over the axes s, as an array with a new dimension at `at`.
lowered pack_elements(lowering *l, const axes *s, uint32_t m, const net_id *elements, uint32_t at);
// Makes values that go together agree in the first axes of their batches, `batch` at most. Those
// axes are the result.
axes agree_on_batch(lowering *l, lowered *v, uint32_t count, uint64_t batch);
// The same; then all have that batch.
axes extend_to_batch(lowering *l, lowered *v, uint32_t count, uint64_t batch);

// ---- values of several parts (lower/pieces.c) -------------------------------------------------

// The value of step s, which consists of them; one part is the value itself.
lowered value_of_parts(lowering *l, const trace_step *s, uint32_t count, const lowered *parts);
// Rows number, ..., number + length - 1 of v, the value of step o, as the value of step s.
lowered slice_pieces(lowering *l, const trace_step *s, const trace_step *o, const lowered *v,
                     uint64_t number, uint64_t length);
// The parts of v, the value of step s, become one array; or an expression for its elements, unless it
// is only to be stored.
void join_parts(lowering *l, const trace_step *s, lowered *v, bool to_store);
// A step's operand, as one expression that is settled; its batch is whole axes.
lowered lower_operand(lowering *l, const trace_step *s, uint32_t i);

// ---- where elements lie in a stage (lower/placement.c) ----------------------------------------

// x = F z ^ D j ^ f: see lower/place.c.
typedef struct placement {
  lowering *l;
  axes axes;
  uint32_t stage;
  int n, p, k;
  uint32_t bit_axis[MAX_AXES];   // by bit of z, the innermost axis first
  uint8_t axis_bit[MAX_AXES];    // and back
  uint32_t loop_axis[MAX_AXES];  // by loop of the stage
  uint64_t columns[F2_MAX];      // F
  uint64_t directions[F2_MAX];   // D
  uint64_t origin;               // f
  net_form forms[F2_MAX];        // z_i, then j_i, then what is 0 where alive; of x
  bool numbered;                 // element j of an array pattern has coordinates j
  uint64_t base_number;          // which element of a pattern is at the origin, and which ones in
  uint64_t numbers[F2_MAX];      //   each of the directions
  net_reason refused;            // why operands have no places in a stage
  bool beside;                   // arrays of one length are one anchor
  // Partners: operands at F z ^ f and F z ^ f ^ e, with e in the image of F. Such an op works on
  // cosets of these e and D, and makes the expression for each element of those of e.
  int partner_count;
  uint64_t partners[F2_MAX];       // a basis of them
  net_form partner_forms[F2_MAX];  // the coordinates in it
} placement;

void placement_set_axes(placement *f, const axes *s);
// F of the elements at the map's addresses, one bit for each row. False: its columns are dependent.
bool placement_columns(const placement *f, const net_map *m, uint64_t *columns);
// F and f of the elements of a stage's value at the map's addresses, and the stage's loops. False: it is spread over no
// bits and loops of the stage.
bool placement_of_element(placement *f, net_id storage_id, const net_map *m, uint64_t *columns,
                          uint64_t *origin);
// D and f, from the f of the anchor's operands, `origins`, and their numbers in an array pattern; F
// is known, vectors have `rows` bits. False: D meets the image of F, so that the operands have no
// places of their own.
bool placement_find_directions(placement *f, uint32_t count, const uint64_t *origins,
                               const uint64_t *numbers, int rows);
// Of a linear map with these values on differences of numbers: column b after those before it,
// where bit b leads a difference.
static inline uint64_t fitted_delta(const f2_echelon *differences, int b, const uint64_t *deltas) {
  return differences->tag[b] ^ f2_combine(b, deltas, differences->vector[b] ^ f2_unit(b));
}
// Whether g's directions are f's, by the elements of a pattern there (as far as both have them).
bool placement_same_numbers(const placement *f, const placement *g);
// The same, where operands are also apart in the image of F: partners.
bool placement_find_partners(placement *f, uint32_t count, const uint64_t *origins,
                             const uint64_t *numbers, int rows);
// The directions in which elements of the stage's value lie again.
f2_space placement_spread(const placement *f, const storage *held);
// Other places of operands that are spread: off the image of F and off one another, but for those
// that lie where others do. False: one has no such place.
bool placement_take_apart(const placement *f, uint32_t count, uint64_t *origins,
                          const f2_space *spreads);
// The element j that lies at the f of an operand.
uint64_t placement_element(const placement *f, uint64_t origin);
// More directions, until there are k: those of `first`, then those in which nothing is alive, the
// latest of an op first, then new bits of the stage. Where the operands lie keeps its numbers.
void placement_add_directions(placement *f, int k, f2_space first);
// [F D C], with the first k vectors of D and a complement C of the rest.
f2_matrix placement_basis(const placement *f, int k);
void placement_find_forms(placement *f);
// A map by axes as a map of the stage's (o, x). `deltas[i]`: the rows that differ when coordinate i
// of the op's element does (NULL: none).
net_map placement_map(const placement *f, const net_map *m, const uint64_t *deltas);
// The forms from number `first` on, which are 0 where elements are alive.
net_form *placement_live(const placement *f, int first, uint32_t *count);

// ---- values side by side (lower/join.c) ----------------------------------------------------------

// Element nodes over the axes s as one array with a new dimension of m at `at`, without a direction
// of their own, if they lie side by side in one stage.
bool join_in_stage(lowering *l, const axes *s, uint32_t m, const net_id *elements, uint32_t at,
                   net_id *joined);

// ---- placing (lower/place.c) ------------------------------------------------------------------

// The expressions `elements` (m of them, each over the axes s) as one array: the result's axes are
// s with an axis of extent m inserted at `at`. Returns an element node.
net_id place(lowering *l, const axes *s, uint32_t m, const net_id *elements, uint32_t at);
// The element node of a value of the stage over the placement's axes, with `bits` pattern bits at
// `at`.
net_id element_in_placement(const placement *f, scalar_type type, net_id value, uint32_t bits,
                            uint32_t at);
// The value of node `e` over axes s, stored in `array` at the addresses of `target`.
void store_into(lowering *l, const axes *s, net_id e, net_id array, const net_map *target);
// The first `count` elements of e, row-major, in a new temporary: the element node that reads it.
net_id store_prefix(lowering *l, const axes *s, net_id e, uint64_t count, net_reason why);

// ---- places that are data (lower/gather.c) -------------------------------------------------------

lowered lower_gather(lowering *l, const trace_step *s);
// An array in memory that can be gathered from: without padding, and numbered with one stride in the
// dimension that the places are of.
typedef struct gathered {
  net_id array;
  axis_range range;  // the axes of that dimension; those of the batch are before it
  int64_t stride;
} gathered;
gathered make_gatherable(lowering *l, lowered *v, const trace_step *of);
// base + place * stride, or -1 where the place is not one of `length`. whole: then the address is
// not one of the array either, so that nobody need look.
net_id add_address(lowering *l, net_id place, uint64_t length, int64_t stride, const net_map *base,
                   bool whole);
lowered lower_fold(lowering *l, const trace_step *s);
lowered lower_scatter(lowering *l, const trace_step *s);

// ---- routines (lower/routines.c) --------------------------------------------------------------------

// Whether the value is an array in memory, all of it, row by row.
bool is_whole_array(lowering *l, const lowered *v);
lowered lower_key_routine(lowering *l, const trace_step *s);
// A scatter of all elements to the places of their keys. False: it is none.
bool lower_sort(lowering *l, const trace_step *s, lowered *result);
// The same of a scatter to the places of a permutation that is given, and of a gather from them.
bool lower_permute(lowering *l, const trace_step *s, lowered *result);

// ---- the log of laws (lower/log.c) --------------------------------------------------------------

// The step moves elements; which law spares it depends on the step before.
void log_movement(lowering *l, const trace_step *s);

#endif
