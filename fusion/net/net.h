// The Net: a program as operations on index spaces, without a single data movement of its own.
//
// The Trace moves elements between arrays at every step. In the Net they stay where they are: a
// STAGE has an index space, F_2^n times some outer loops, and an op combines elements whose indices
// differ by known vectors, in place. Splits, columns and permutations have become the vectors
// (docs/algebra.md, section 2: frames) and the maps by which a stage loads from memory and stores to it.
//
//   main : [2^n]i32 -> [2^n]i32          n = 2, main xs = bmmc [2, 1] 0 (parm 1 (column 1 cs) xs)
//
//   array a0 i32 4 argument 0
//   array a1 i32 4 result 0
//   stage 0 n=2                                # space: x = (x0, x1), no loops
//     v0 = load a0 at x0 + 2*x1                # v0 holds, at index x, element x of the argument
//     op 0 directions 0b10 coordinates x1 step %8   # pairs x, x ^ 0b10; element j has x1 = j
//       v1[0] = min v0[0] v0[1]
//       v1[1] = max v0[0] v0[1]
//     store v1 in a1 at x1 + 2*x0              # the bmmc: a transposed address
//
// A stage is a straight line: loads, then ops, then stores. Its values are in static single
// assignment form: each is defined by one load or one op, on the whole space, and an op reads any
// values defined before it. Stages are executed in order; what one makes for another passes through
// an array. An array written by several stages or stores (the parts of a concatenation) is read
// after all of them.
//
// One kind of map serves for addresses of memory and for integers that depend on the index:
//
//      offset + sum over loops l of stride_l o_l + sum over rows r of weight_r (mask_r . x ^ bit_r)
//
// affine over the integers in the loop indices and in the rows, each an affine form over F_2 in the
// index bits. With weights 1, 2, 4, ... the rows are an affine map A x ^ c (net_map_bits). Maps
// are canonical: equal functions are written alike (net_map_normalise).
//
// What needs an algorithm on whole arrays is a ROUTINE, a stage of its own: sorting, counting.
//
// Dead elements: `live` forms, all 0 exactly on the indices that matter. An op need not be executed
// elsewhere, and what a value holds there is never stored.
//
// Sizes, devices and the order of execution inside a stage are the planner's (plan.h). Nets are
// made by fusion/lower, rewritten by fusion/rules, and read by fusion/plan and the emitters.
//
//   net.c       maps; the building and copying of Nets
//   live.c      live sets, and maps on them
//   change.c    stages with another index or other numbers; two stages as one; some ops of a stage
//   alike.c     stages that do the same on other arrays
//   domain.c    parts of an index space, and choices by them
//   uses.c      who makes and who reads the values of a stage; its accesses of arrays
//   known.c     scalar code of which a part is known
//   routine.c   the table of routines
//   verify.c    the invariants
//   notation.c  the notation that the texts of Nets and Plans share
//   print.c     Nets as text
#ifndef PERMC_FUSION_NET_NET_H
#define PERMC_FUSION_NET_NET_H

#include "core/f2.h"
#include "core/hash.h"
#include "core/scalar/c_function.h"
#include "core/text.h"
#include "fusion/net/dimension.h"

typedef uint32_t net_id;
#define NET_NONE UINT32_MAX

// ---- maps ------------------------------------------------------------------------------------

// The affine form mask . x ^ constant.
typedef struct net_form {
  uint64_t mask;
  bool constant;
} net_form;

typedef struct net_row {
  net_form form;
  int64_t weight;
} net_row;

typedef struct net_map {
  int64_t offset;
  uint32_t loop_count, row_count;
  int64_t *strides;  // loop_count of them
  net_row *rows;
} net_map;

static inline bool net_form_at(net_form f, uint64_t x) { return f2_dot(f.mask, x) ^ f.constant; }
static inline net_form net_form_sum(net_form f, net_form g) {
  return (net_form){f.mask ^ g.mask, f.constant ^ g.constant};
}
// Whether all forms are 0 at x.
static inline bool net_forms_hold(uint32_t count, const net_form *forms, uint64_t x) {
  uint32_t i = 0;
  while (i < count && !net_form_at(forms[i], x))
    i++;
  return i == count;
}
// Its value at loop indices o (one per loop) and index x.
int64_t net_map_at(const net_map *m, const uint64_t *o, uint64_t x);
net_map net_map_new(arena *a, uint32_t loops, uint32_t rows);  // all numbers and masks 0
// Makes the map canonical, in place: weights are above 0, and increase; masks are not 0, no two are
// equal, and those of one weight increase.
//
//      3*(x1^1) + x1 - x0       weight w of x0^1 is w - w of x0, a form 1 belongs to the offset
//      3 - 3*x1 + x1 - x0
//      (x0^1) + 2*(x1^1)
//
// Whoever changes forms or weights ends with it. False: numbers have wrapped.
bool net_map_normalise(net_map *m);
bool net_map_is_canonical(const net_map *m);
// Whether the map, but for its loops, is affine over F_2, of so many bits:
//
//      x0 + 6*x1 + 8     bits x0, x1, x1, 1      each row changes other bits of the offset
//      2*x0 + 2          bits 0, x0^1, x0
//
bool net_map_bits(const net_map *m, int n, int bits, f2_affine *address);
bool net_map_equal(const net_map *a, const net_map *b);
bool net_map_is_constant(const net_map *m);
net_map net_map_copy(arena *a, const net_map *m);
// x + factor y.
net_map net_map_sum(arena *a, const net_map *x, int64_t factor, const net_map *y);
// x op y, if that is a map: sums, differences, multiples, and -x.
bool net_map_apply(arena *a, scalar_op op, const net_map *x, const net_map *y, net_map *out);
// The row of that mask, or NULL.
const net_row *net_map_row(const net_map *m, uint64_t mask);
// What a row adds to the map where its mask's dot product with the index becomes 1.
static inline int64_t net_row_step(const net_row *row) {
  return row->form.constant ? -row->weight : row->weight;
}
// Of cosets of k directions with these coordinates: the map's value at element j of the coset of x,
// as a map that is the same for all of the coset.
net_map net_map_at_element(arena *a, const net_map *m, uint32_t k, const uint64_t *directions,
                           const net_form *coordinates, uint64_t j);

// ---- scalar code -----------------------------------------------------------------------------

// What a kind of node is: its name, the types of its operands and its own, which fields it has
// besides, and traits. A file that does something for each kind has a switch without default: a new
// row does not compile until every such file has a case for it (-Wswitch). What else knows kinds:
// tests/nets/node.c draws them, tests/readers/net_read.c reads them, runtime/draw/network.c looks
// through some.
//
//   element   element `number` (of the op's 2^k) of value `value`
//   index     `map` of the index, the same for all 2^k elements
//   constant  `constant`
//   scalar    `scalar` of 1 or 2 operands
//   min, max  where a comparison chooses between its operands (made by rules, never by lowering)
//   select    operands c, a, b: c ? a : b
//   convert   its operand as `type`
//   root      operand k: scalar_root(type, k, number)
//   extern    foreign function `number` of any operands
//   gather    operand a: element a of array `number`; 0 bits where it has none
//   scatter   operands a, x: writes x as element a of array `number`, if it has one; false
//   group     operands a, x: the same, but the element becomes what `scalar` makes of itself and x
//             (scalar_fold), in the order of the indices
//   turn      operands from, to: i64 from, from + 1, ..., to - 1, one after the other
//   fold      operands t, start, x: starts with `start`, and for each number of the turn t becomes what
//             `scalar` makes of itself and x (scalar_fold)
//
// Nodes that depend on a turn are evaluated once for each of its numbers, by its folds, which alone read
// them. So turns, and starts of folds, depend on none; what else such nodes read is the same for all
// indices.
//
// A letter for each operand: b bool, i i64, s the node's own type, x any. NULL: the operation, or
// the function, says it.
// clang-format off
#define NET_NODES(ROW)                                                                             \
  ROW(ELEMENT,  "element",  "", CLASS_ANY, NET_HAS_VALUE | NET_HAS_NUMBER | NET_HAS_MAP,           \
      NET_IS_LEAF)                                                                                 \
  ROW(INDEX,    "index",    "", CLASS_OF(SCALAR_I64), NET_HAS_MAP, 0)                              \
  ROW(CONSTANT, "constant", "", CLASS_ANY, NET_HAS_CONSTANT, NET_IS_LEAF)                          \
  ROW(SCALAR,   "scalar",   NULL, CLASS_ANY, NET_HAS_SCALAR, NET_IS_FUNCTION)                      \
  ROW(MIN,      "min",      "ss", CLASS_BITS, 0, NET_IS_FUNCTION)                                  \
  ROW(MAX,      "max",      "ss", CLASS_BITS, 0, NET_IS_FUNCTION)                                  \
  ROW(SELECT,   "select",   "bss", CLASS_ANY, 0, NET_IS_FUNCTION)                                  \
  ROW(CONVERT,  "convert",  "x", CLASS_ANY, 0, NET_IS_FUNCTION)                                    \
  ROW(ROOT,     "root",     "i", CLASS_COMPLEX, NET_HAS_NUMBER, NET_IS_FUNCTION | NET_IMPORTS)     \
  ROW(EXTERN,   "extern",   NULL, CLASS_ANY, NET_HAS_NUMBER, NET_HAS_EFFECT | NET_IMPORTS)         \
  ROW(GATHER,   "gather",   "i", CLASS_ANY, NET_HAS_NUMBER, NET_HAS_ARRAY | NET_IMPORTS)           \
  ROW(SCATTER,  "scatter",  "ix", CLASS_BOOL, NET_HAS_NUMBER,                                      \
      NET_HAS_ARRAY | NET_HAS_EFFECT | NET_IMPORTS)                                                \
  ROW(GROUP,    "group",    "ix", CLASS_BOOL, NET_HAS_SCALAR | NET_HAS_NUMBER,                     \
      NET_HAS_ARRAY | NET_HAS_EFFECT | NET_IMPORTS)                                                \
  ROW(TURN,     "turn",     "ii", CLASS_OF(SCALAR_I64), 0, NET_HAS_EFFECT | NET_IMPORTS)           \
  ROW(FOLD,     "fold",     "iss", CLASS_ANY, NET_HAS_SCALAR, NET_HAS_EFFECT | NET_IMPORTS)
// clang-format on

typedef enum net_node_kind {
#define ROW(id, ...) NET_##id,
  NET_NODES(ROW)
#undef ROW
} net_node_kind;
#define ROW(...) +1
enum { NET_NODE_KINDS = 0 NET_NODES(ROW) };
#undef ROW

typedef enum net_node_fields {
  NET_HAS_SCALAR = 1,
  NET_HAS_VALUE = 2,
  NET_HAS_NUMBER = 4,
  NET_HAS_MAP = 8,  // an element's: while lowering
  NET_HAS_CONSTANT = 16
} net_node_fields;
typedef enum net_node_traits {
  NET_IS_LEAF = 1,      // what an op reads, or a constant: no work
  NET_IS_FUNCTION = 2,  // of its operands alone; net_known_of computes it
  NET_HAS_EFFECT = 4,   // is evaluated as often as the program says
  // Reads or writes an array at a place that it computes. The array is complete before the stage
  // that gathers from it; a stage that scatters into it does not read it. (An op may scatter
  // anywhere: the node itself says where it writes.)
  NET_HAS_ARRAY = 8,
  NET_IMPORTS = 16  // its code needs more than its operands: a table, a function, an array
} net_node_traits;
typedef struct net_node_row {
  const char *name, *operands;
  scalar_class types;
  unsigned fields, traits;
} net_node_row;
extern const net_node_row net_nodes[NET_NODE_KINDS];
static inline bool net_node_is(net_node_kind kind, unsigned traits) {
  return net_nodes[kind].traits & traits;
}
static inline bool net_node_has_array(net_node_kind kind) {
  return net_node_is(kind, NET_HAS_ARRAY);
}
static inline bool net_node_scatters(net_node_kind kind) {
  return kind == NET_SCATTER || kind == NET_GROUP;
}

// Nodes of a stage are shared: equal nodes have one number, and operands precede their node.
typedef struct net_node {
  net_node_kind kind;
  scalar_type type;  // of the result
  scalar_op scalar;
  net_id value;
  uint32_t operand_count;
  uint64_t number;
  net_id *operands;
  net_map map;
  scalar_bits constant;
} net_node;
// What it begins with in texts.
static inline const char *net_node_name(const net_node *node) {
  return node->kind == NET_SCALAR ? scalar_ops[node->scalar].name : net_nodes[node->kind].name;
}

// ---- ops -------------------------------------------------------------------------------------

// One value that an op makes: elements[j] is the node for element j, or NET_NONE where it is dead.
typedef struct net_output {
  net_id value;
  net_id *elements;  // 2^k
} net_output;

// Acts on cosets of span(directions). Element j of the coset of x is the index y in it with
// coordinates[i](y) = bit i of j; coordinates[i].mask . directions[i'] = [i = i'].
typedef struct net_op {
  uint32_t k;
  uint64_t *directions;   // k, independent
  net_form *coordinates;  // k
  uint32_t live_count;
  net_form *live;  // masks orthogonal to the directions
  uint32_t output_count;
  net_output *outputs;
  uint32_t origin;  // the Trace step that asked for it, for messages
} net_op;

// ---- stages ----------------------------------------------------------------------------------

typedef struct net_load {
  net_id value, array;
  net_map map;
  uint64_t padding_start;     // addresses from here on, and negative ones, are not in memory
  scalar_bits padding_value;  //   (UINT64_MAX: all are): they read as this
} net_load;

typedef struct net_store {
  net_id value, array;
  net_map map;             // injective where alive
  uint64_t padding_start;  // addresses from here on are not written (UINT64_MAX: none)
  uint32_t live_count;
  net_form *live;
} net_store;

// ---- routines --------------------------------------------------------------------------------

// Algorithms that the library has by hand, on rows of `length` elements. All that a routine reads
// is complete before it, all that it writes after it.
//
//   stage 2 n=0 routine sort rows 1 length 1024 below 256 step %9
//     from a0 to a2         the keys, which are below 256; a2 has them in order
//     from a1 to a3         a payload, of one or more elements, which goes where its key goes
//     from index to a4      a payload: the numbers 0 ... 1023
//
//   sort     stably, in the order total_le or from high to low; equal keys stay in their order
//   places   where each key goes then, as i64
//   wrong    two i64: the number of the first element that is not below `limit`, or (distinct) is
//            equal to another one of its row, and what it is; INT64_MAX and 0 if there is none
//   count    how many of each of the keys 0 ... limit - 1 a row has, as i64; others are passed over
//   offsets  o_0, o_1, ...: elements o_i, ..., o_(i+1) - 1 of each row are sorted for themselves,
//            others stay; places and indices are still those in the row
//   permute  the keys are one row, a permutation of 0 ... length - 1: payloads go to these places,
//            or (`back`) come from them
//   transpose  dimensions in another order; in a stage of one row:
//
//   stage 0 n=0 routine transpose rows 1 length 21 dimensions 7:1:3 3:7:1
//     from a0 to a1         [3][7] to [7][3]: neighbours of the 7 are 1 apart before, 3 after
#define NET_ROUTINES(ROW)                                                                          \
  ROW(SORT, "sort")                                                                                \
  ROW(PLACES, "places")                                                                            \
  ROW(COUNT, "count")                                                                              \
  ROW(PERMUTE, "permute")                                                                          \
  ROW(WRONG, "check")                                                                              \
  ROW(TRANSPOSE, "transpose")

// A sort counts its keys besides, where there are at most so many of them.
enum { NET_MOST_COUNTED = 16 };

typedef enum net_routine_kind {
#define ROW(id, name) NET_##id,
  NET_ROUTINES(ROW)
#undef ROW
      NET_ROUTINE_KINDS
} net_routine_kind;
extern const char *const net_routine_names[NET_ROUTINE_KINDS];

// What a routine reads goes, in another order or as what it comes to, to what it writes. NET_NONE,
// of a SORT: the keys in order are not wanted; the index is read.
typedef struct net_routine_pair {
  net_id from, to;
} net_routine_pair;

typedef struct net_routine {
  net_routine_kind kind;
  bool descending, distinct;
  bool back;    // PERMUTE: elements come from these places
  bool counts;  // a SORT or PLACES: the last pair goes from the keys to their counts, as of a COUNT
  bool shared;  // executed by ranks together, each with its slab (fusion/shares)
  bool ragged;  // SORT, PLACES: each of its rows has rows of its own, that offsets cut
  net_id offsets;  // then: an array of i64, as many for each row: see `offsets`
  uint64_t rows, length;
  uint64_t limit;  // not 0: the keys are integers below it
  uint32_t pair_count;
  net_routine_pair *pairs;  // the keys first; SORT and PERMUTE: then the payloads; counts
  uint32_t dimension_count;
  net_dimension *dimensions;  // TRANSPOSE: in both arrays, they number all elements without gaps
  uint32_t origin;            // the Trace step that asked for it, or NET_NONE
} net_routine;

// ---- loops and stages ------------------------------------------------------------------------

// What a loop counts, where that is not 0, 1, 2, ...: turn i stands for index i * step, but at most
// for `last`. A loop over 10 elements in blocks of 4, made bits of the index: turns 0, 1, 2, step
// 4, last 6. Elements 6 and 7 are in two blocks, which compute the same of them.
typedef struct net_pace {
  uint64_t step, last;
} net_pace;

typedef struct net_stage {
  net_routine *routine;  // then the stage has nothing else: no bits, loops, values; or NULL
  uint32_t loop_count;
  uint64_t *extents;  // turns of loops, outermost first
  net_pace *paces;    // of loops; NULL: indices are turns, as they always are before planning
  int n;              // index bits
  // A stage may be executed in shares, each by another machine, or one after the other
  // (fusion/shares). Its ops then work inside of shares. At most one of the two is not 0:
  int shares;  // the highest so many bits of the index number the share; then there are no loops
  uint64_t share_turns;     // a share has so many turns of loop share_outer, and one turn of each
  uint32_t share_outer;     // loop before it: with 0, share s has turns s * share_turns, ...
  VEC(scalar_type) values;  // the type of each value
  VEC(net_node) nodes;
  VEC(net_load) loads;
  VEC(net_op) ops;
  VEC(net_store) stores;
  // Kept by net_node_add, of no meaning to others:
  hash_table node_table;
  size_t node_room;  // so many nodes have marks, and room in the walk
  uint32_t *marks;   // marks[0]: how often the nodes were walked; [1 + i]: when node i was met
  net_id *walk;
} net_stage;

// ---- the whole -------------------------------------------------------------------------------

// A table has elements that the program knows. They are data, not text: code gets their address as
// it gets an argument's, and is the same for all of them.
typedef enum net_role { NET_ARGUMENT, NET_TABLE, NET_RESULT, NET_TEMPORARY, NET_ROLES } net_role;
extern const char *const net_role_names[NET_ROLES];

// Why a value passes through memory between two stages: the op Y needs the elements of X otherwise
// than X's stage has them. Name; why; what would remove it. Below: why passes are apart although no
// array has such a reason (plan.h).
#define NET_REASONS(ROW)                                                                           \
  ROW(NONE, "none", "", "")                                                                        \
  ROW(ORDER, "order",                                                                              \
      "Y reads X in more than one order: some of those elements are computed by later tiles of X", \
      "one order for all operands of Y")                                                           \
  ROW(SPREAD, "spread", "Y uses one element of X for many of its own, so X is finished first",     \
      "nothing where that is a sum or the like of many elements")                                  \
  ROW(SHAPE, "shape", "Y works on a part of X, or on rows of another length than X's",             \
      "lengths that are powers of two")                                                            \
  ROW(APART, "apart", "Y joins X with an array that was made apart from it, in another order",     \
      "one order for both")                                                                        \
  ROW(ENDED, "ended", "Y reads X after another result of X's passes has gone to memory",           \
      "what removes the boundary of that other result")                                            \
  ROW(PIECES, "pieces", "Y is made of parts of different lengths",                                 \
      "parts whose lengths are equal, and a power of two of them")                                 \
  ROW(ROWS, "rows", "Y numbers the elements of X anew, in rows that do not divide X's",            \
      "lengths that are powers of two")                                                            \
  ROW(PART, "part", "Y takes a part of X that does not end with one of X's rows",                  \
      "a part whose length is a power of two")                                                     \
  ROW(PADDING, "padding", "Y extends X, whose end has to be known in memory",                      \
      "a length that is a power of two")                                                           \
  ROW(FACTORS, "factors", "the strategy takes a permutation as two", "another strategy")           \
  ROW(PLACES, "places", "Y is a list whose elements have no places in X's pass",                   \
      "a list of 2^k elements, made of 2^k elements of X whose places are known")                  \
  ROW(PLACED, "placed", "Y takes or puts elements of X at places that are data",                   \
      "nothing: all of X has to be there")                                                         \
  ROW(ROUTINE, "routine",                                                                          \
      "Y is a routine, which works on whole arrays, or reads what one has made",                   \
      "nothing: all of X has to be there")                                                         \
  ROW(ROUND, "round",                                                                              \
      "Y is of another round of a loop than X, and each round is planned for itself",              \
      "rounds that share passes, of which a loop is written out")                                  \
  ROW(SHARES, "shares", "ranks share Y otherwise than X, so its elements are exchanged",           \
      "nothing: what Y combines lies on several ranks")                                            \
  /* Of the planner: of a tile, plan_boundary has the sizes. */                                    \
  ROW(TILE, "tile", "X and Y in one pass need a larger tile", "a larger tile")                     \
  ROW(LINES, "lines", "a tile with whole lines of memory has no room for X and Y",                 \
      "a larger tile")                                                                             \
  ROW(ASKED, "asked", "a result has the elements of an argument in another order",                 \
      "nothing: the program asks for it")                                                          \
  ROW(OTHER, "other", "it works on other elements than the passes before it",                      \
      "nothing: they have no element in common")

typedef enum net_reason {
#define ROW(id, name, why, remedy) NET_REASON_##id,
  NET_REASONS(ROW)
#undef ROW
      NET_REASON_COUNT
} net_reason;

typedef struct net_reason_row {
  const char *name, *why, *remedy;
} net_reason_row;
extern const net_reason_row net_reasons[NET_REASON_COUNT];

typedef struct net_array {
  scalar_type type;
  uint64_t count;  // elements
  net_role role;
  uint32_t number;    // of the argument, table or result; 0 of a temporary
  const void *table;  // NET_TABLE: its elements, which live as long as the Trace
  net_reason reason;  // temporaries
  uint32_t step;      // ... of the Trace, that needed it
  uint32_t
      part_of;  // not 0: 1 + the array that has its elements, from element part_at on (of loops
  uint64_t part_at;  // that are planned once: plan.h)
} net_array;

// The array that has its elements.
#define NET_WHOLE_OF(arrays, id) ((arrays)[id].part_of ? (arrays)[id].part_of - 1 : (id))

// Whether it has its elements before the first stage; nothing stores to it.
static inline bool net_array_is_given(const net_array *a) {
  return a->role == NET_ARGUMENT || a->role == NET_TABLE;
}

// Whether its elements are bools of the caller: bytes, of which each but 0 is true. Every load and
// gather makes 0 or 1 of them; routines read no such array.
static inline bool net_array_has_bytes(const net_array *a) {
  return a->role == NET_ARGUMENT && a->type == SCALAR_BOOL;
}

typedef struct net {
  VEC(net_array) arrays;
  VEC(net_stage) stages;
  VEC(c_function) externs;  // of NET_EXTERN
} net;

// NULL if every invariant holds, else a sentence naming the stage and what is wrong in it.
const char *net_verify(arena *a, const net *t);
// What a reader must know of that form, as comment lines of it.
extern const char net_legend[];
// In the form above (all of it: net/print.c).
void net_print(text *out, const net *t);

// The same net in another arena.
net *net_copy(arena *a, const net *t);
// The net with another stage of that number. All else is shared.
net *net_with_stage(arena *a, const net *t, uint32_t number, net_stage stage);
// The stage with change(with, &m) for each map m. Its nodes have the same numbers: different maps
// stay different.
typedef net_map net_map_change(const void *with, const net_map *m);
net_stage net_stage_with_maps(arena *a, const net_stage *s, net_map_change *change,
                              const void *with);

// ---- building --------------------------------------------------------------------------------

// The number of an equal node of the stage, or of a new one (copied into `a`). Fields that the kind
// does not use are ignored, and zero in the copy. (An element's map is kept: while lowering, it has
// one.) Nodes are made by this function only.
net_id net_node_add(arena *a, net_stage *s, const net_node *node);
// The same without a copy: the operands and the rows of the map live as long as `a`.
net_id net_node_add_owned(arena *a, net_stage *s, const net_node *node);
// Room for so many nodes in a stage that has none.
void net_nodes_reserve(arena *a, net_stage *s, size_t count);
// The node with the operands numbers[o] for o (to be added: its operands are new, its map is
// shared).
net_node net_node_renumbered(arena *a, const net_node *node, const net_id *numbers);
net_id net_value_add(arena *a, net_stage *s, scalar_type type);
// The value of an equal load of the stage; or of this one, with a new value of that type.
net_id net_load_add(arena *a, net_stage *s, scalar_type type, net_load load);
// A load, and a store of what it loads: a value of that type.
void net_move_add(arena *a, net_stage *s, scalar_type type, net_load from, net_store to);
net_id net_array_add(arena *a, net *t, scalar_type type, uint64_t count, net_role role,
                     uint32_t number);
// Whether an output stands for what its op scatters: then nobody reads or stores the value.
bool net_output_scatters(const net_stage *s, const net_op *op, const net_output *output);
bool net_stage_scatters(const net_stage *s);                 // it has a node that does
bool net_stage_has(const net_stage *s, net_node_kind kind);  // whether it has such a node
// Whether anything comes of the stage: it stores, scatters, or is a routine.
bool net_stage_acts(const net_stage *s);
// A routine with counts as two: the same without them, and these.
void net_routine_split(const net_routine *r, net_routine *rest, net_routine *count);
// Bytes that an array of the routine has for each key.
static inline uint64_t net_routine_bytes(const net_routine *r, const net_array *a) {
  return a->count / (r->rows * r->length) * scalar_types[a->type].size;
}
// NULL, or what is wrong with a stage that is a routine (net/routine.c).
const char *net_routine_problem(arena *a, const net *t, const net_stage *s);
uint64_t net_stage_elements(const net_stage *s);  // of its index space, with all loops
static inline uint64_t net_loop_index(const net_stage *s, uint32_t loop, uint64_t turn) {
  if (!s->paces)
    return turn;
  uint64_t index = turn * s->paces[loop].step;
  return index < s->paces[loop].last ? index : s->paces[loop].last;
}
// All indices of the loop are below it.
static inline uint64_t net_loop_indices_end(const net_stage *s, uint32_t loop) {
  return s->paces && s->extents[loop] ? s->paces[loop].last + 1 : s->extents[loop];
}
// The indices of all loops at one of their turns, numbered row by row.
void net_loop_indices(const net_stage *s, uint64_t number, uint64_t *indices);
// Whether the map's values at all indices of the stage are 0 to count - 1.
bool net_map_lies_within(const net_stage *s, const net_map *m, uint64_t count);
// Whether the last block of a loop overlaps the one before it.
bool net_loop_overlaps(const net_stage *s, uint32_t loop);
// Whether there are elements that are computed more than once.
bool net_stage_overlaps(const net_stage *s);
// Into how many shares it is divided: 1 where it has none.
uint64_t net_share_count(const net_stage *s);
// Of a stage that is shared by turns: into how many shares one turn of the outer loops is divided.
static inline uint64_t net_shares_of_loop(const net_stage *s) {
  uint64_t extent = s->extents[s->share_outer];
  return extent ? (extent + s->share_turns - 1) / s->share_turns : 1;
}
// The index bits of one share: no direction of an op has another.
static inline int net_share_bits(const net_stage *s) { return s->n - s->shares; }
static inline bool net_stage_is_shared(const net_stage *s) { return s->shares || s->share_turns; }
// The addresses of an array of them all, or where address has less than n rows, of a coset: bit i
// of address(x) weighs 2^i, the loops follow, innermost first. (Of blocks that overlap, the array has
// room for one at each index of their loop.)
net_map net_stage_map(arena *a, const net_stage *s, f2_affine address);
// Whether two loads read the same elements (into whatever values); two stores write the same to
// equal places (of whatever arrays).
bool net_load_equal(const net_load *a, const net_load *b);
bool net_forms_equal(uint32_t a_count, const net_form *a, uint32_t b_count, const net_form *b);
bool net_store_equal(const net_store *a, const net_store *b);
bool net_node_equal(const net_node *a, const net_node *b);
// The nodes that an op evaluates, each once, in increasing order (operands first); returns how
// many. `out` has room for all nodes: s->walk has, until the next walk. Not from two threads at
// once on one stage.
uint32_t net_op_nodes(const net_stage *s, const net_op *op, net_id *out);
// By node: the turn that it depends on (a turn on itself), or NET_NONE; of the last, if on several.
net_id *net_turns_of(arena *a, const net_stage *s);
// Orders numbers that are all those with that mark, by sorting or by a look at each number between
// the lowest and the highest.
void net_order_marked(net_id *ids, size_t count, const uint32_t *marks, uint32_t mark);

// ---- who makes and who reads values (net/uses.c) -----------------------------------------------

//      v0 = load a0 at x0                    v0: no maker, first 0, last 1
//      op 0 ...  v1[0] = neg v0[0]           v1: maker 0, first 1, last 1
//      op 1 ...  v2[0] = v0[0] + v1[0]       v2: maker 1, no first, no last, stored
//      store v2 in a1 at x0                  reads of op 1: v0 v1
typedef struct net_value_uses {
  uint32_t maker;        // the op; NET_NONE: a load
  uint32_t output;       // ... the number of its output
  uint32_t first, last;  // of the ops that read it; NET_NONE: none does
  bool stored;
} net_value_uses;
typedef struct net_reads {
  uint32_t count;
  net_id *values;  // each once, in increasing order
} net_reads;
typedef struct net_uses {
  net_value_uses *values;  // by value
  net_reads *reads;        // by op
} net_uses;
net_uses net_uses_of(arena *a, const net_stage *s);
// What one op reads. Not from two threads at once on one stage.
net_reads net_op_reads(arena *a, const net_stage *s, const net_op *op);
// The load that makes a value, or NULL.
const net_load *net_load_of(const net_stage *s, net_id value);

// ---- accesses of arrays (net/uses.c) -----------------------------------------------------------

// What a stage does with arrays: its loads, then nodes that gather and scatter, stores, and what
// its routine reads and writes, the offsets last.
//
//      for (net_access at = {0}; net_access_next(s, &at);)
//        last[at.array] = at.writes ? ... : ...
typedef enum net_access_by { NET_BY_LOAD, NET_BY_NODE, NET_BY_STORE, NET_BY_ROUTINE } net_access_by;
typedef struct net_access {
  net_access_by by;
  size_t number;  // of the load, node or store
  net_id array;
  bool writes;
  size_t next;  // of all that may be accesses
} net_access;
bool net_access_next(const net_stage *s, net_access *at);
// Its maps: of its loads, its stores, then its nodes that are indices. NULL behind the last.
//
//      for (size_t at = 0; (m = net_next_map(s, &at));)
net_map *net_next_map(const net_stage *s, size_t *at);
// Whether in all maps the outer loop goes on where the inner one ends: they count as one.
bool net_loops_are_one(const net_stage *s, uint32_t outer, uint32_t inner);

// ---- scalar code of which a part is known (net/known.c) ----------------------------------------

//      t0 = < v0[0] v0[1]           v0[0] below, v0[1] is u8:255      is true
//      t1 = select t0 v0[0] v0[1]                                     below
//      t2 = + t1 v1[0]              v1[0] any                         any
typedef struct net_known {
  bool is;     // `value`
  bool below;  // else: less than the greatest value of its type
  bool any;    // else: nobody may depend on it
  scalar_bits value;
} net_known;
// By what is known of its operands, whose type is `from` (of the first): known[node->operands[i]].
// Of elements, indices, calls and arrays it knows nothing.
net_known net_known_of(const net_node *node, scalar_type from, const net_known *known);
static inline scalar_type net_operand_type(const net_stage *s, const net_node *node) {
  return node->operand_count ? s->nodes.items[node->operands[0]].type : node->type;
}

// ---- choices by order, comparators (net/choice.c) ---------------------------------------------

// What a node takes of two by their order. Which operand comes first matters where neither is less:
// two NaN keep their own bits.
//
//      min a b, of integers or bool                                 NET_MIN  le        a b
//      select (total_le a b) a b    a if total_le a b, else b       NET_MIN  total_le  a b
//      select (total_le a b) b a    the other one                   NET_MAX  total_le  a b
//      select (a > b) a b           b if b < a, else a              NET_MAX  lt        b a
typedef struct net_extremum {
  net_node_kind kind;  // NET_MIN or NET_MAX; else the node's own: it is no such choice
  scalar_op order;     // OP_LT, OP_LE or OP_TOTAL_LE: > and >= are < and <= of turned operands
  net_id operands[2];  // NET_NONE of another node
} net_extremum;
net_extremum net_extremum_of(const net_stage *s, const net_node *node);

static inline bool net_is_extremum(const net_extremum *c) {
  return c->kind == NET_MIN || c->kind == NET_MAX;
}

// A comparison of an index, or of some bits of it, with a constant: no wider arithmetic than the
// constants need.
//
//      t1 = & (index x0 + 2*x1) i64:2     t2 = == t1 i64:0     mask 2, with 0
//      t2 = < (index x0 + 2*x1) i64:3                          mask -1, with 3
typedef struct net_index_test {
  net_id index;  // NET_NONE: the node is no such comparison
  int64_t mask, with;
} net_index_test;
net_index_test net_index_test_of(const net_stage *s, const net_node *node);
// Some bits of an index, none of them above the lowest 31.
bool net_masks_index(const net_stage *s, const net_node *node);

// Whether one takes an element of two, and the other what is left.
bool net_extrema_are_complementary(const net_stage *s, const net_extremum *x,
                                   const net_extremum *y);

// An op that puts the elements 0 and 1 of one value in order, as a sorting network does:
//
//      v1[0] = min v0[1] v0[0]    value 0, NET_MIN, turned: the choice's operand 0 is element 1
//      v1[1] = max v0[1] v0[0]
typedef struct net_comparator {
  net_id value;        // that it reads
  net_node_kind kind;  // which of the two element 0 becomes
  scalar_op order;
  bool turned;
} net_comparator;
// False: the op is none.
bool net_op_comparator(const net_stage *s, const net_op *op, net_comparator *out);

// ---- stages with another index or other numbers (net/change.c) --------------------------------

// What becomes of a stage's index, and of its numbers. The old index x is A z ^ c of the new one.
// A has independent columns: with as many as rows the index is renamed, with fewer it is restricted
// to a coset of their span.
//
//      A = (01)  c = 00    x0 = z1, x1 = z0: the bits have changed places
//          (10)            load a0 at x0 + 2*x1  becomes  load a0 at z1 + 2*z0, direction 01 is 10
//      A = (1)   c = 10    x0 = z0, x1 = 1: a stage that is alive where x1^1 is 0
//          (0)             load a0 at x0 + 2*x1  becomes  load a0 at z0 + 2
typedef struct net_change {
  const f2_affine *old_of_new;            // NULL: the index stays
  const f2_matrix *new_of_old;            // a left inverse of A, for directions
  const net_id *values, *nodes, *arrays;  // by old number: the new one; NULL: they stay
} net_change;
// Of an index that is renamed: x becomes new_of_old(x). Sets *back, its inverse, which lives as
// long as the change.
net_change net_change_of_index(const f2_affine *new_of_old, f2_affine *back);

net_map net_map_changed(arena *a, const net_change *c, const net_map *m);
// Each once, without those that are 0 everywhere then; *count is how many there are.
net_form *net_forms_changed(arena *a, const net_change *c, const net_form *forms, uint32_t *count);
net_node net_node_changed(arena *a, const net_change *c, const net_node *node);
net_op net_op_changed(arena *a, const net_change *c, const net_op *op);
net_store net_store_changed(arena *a, const net_change *c, const net_store *store);
net_routine *net_routine_changed(arena *a, const net_change *c, const net_routine *r);

// The same loops, bits and shares, and nothing in it.
net_stage net_stage_like(const net_stage *s);
// The same on other arrays, by old number. Values and nodes keep their numbers.
net_stage net_stage_on(arena *a, const net_stage *s, const net_id *arrays);
// The stage, changed, with its loops, bits and shares, as one of its own.
net_stage net_stage_changed(arena *a, const net_stage *s, net_change change);
// The stage `from`, changed, as part of `into`, which has the loops and bits of it then. Its ops
// come last; nodes that none of them has are left out; `into` gets the routine that `from` is. The
// numbers of values and nodes are new, whatever the change says. By value of `from`: its number
// there, or NET_NONE.
net_id *net_stage_append(arena *a, net_stage *into, const net_stage *from, net_change change);
// The same with the index change(x) for x.
net_id *net_stage_merge(arena *a, net_stage *into, const net_stage *from, f2_affine change);
// numbers[value], which is a new value if it has been NET_NONE.
net_id net_value_number(arena *a, net_stage *into, const net_stage *from, net_id *numbers,
                        net_id value);
// A stage of some ops of another, in that order, without loads and stores. numbers[v]: the number
// of value v in it, which all values that its ops read or make have. kept[v]: no element of value v
// is dead there.
net_stage net_stage_of_ops(arena *a, const net_stage *from, const uint32_t *ops, uint32_t count,
                           const bool *kept, net_id *numbers);

// ---- stages that are alike (net/alike.c) --------------------------------------------------------

// That one array stands where another one did.
typedef struct net_pair {
  net_id of, with;
} net_pair;
typedef VEC(net_pair) net_pairs;
// Whether stage y is stage x on other arrays of the same lengths and types: what is planned for
// the one, and its code, do for the other. *pairs: arrays of x, with those of y.
bool net_stages_are_alike(arena *a, const net *n, const net_stage *x, const net_stage *y,
                          net_pairs *pairs);

// ---- the notation of texts (net/notation.c), which plan/print.c shares ------------------------

//   forms        x0^x5^1                    index bits; 0 and 1 are constants
//   maps         3*o0 - 4*(x0^x1^1) + 7     loops o, rows of forms, an offset
//   masks        0b0110 0x80000001          vectors of index bits
//   constants    i32:-1 c64:0.5,-0          a type and a value
//   arrays       array a0 i32 4 argument 0  a line
//                array a1 i32 2 table 0 i32:7 i32:-1

// `title` stands before the first of them, if there is one, and a blank between them.
void net_write_forms(text *out, const char *title, uint32_t count, const net_form *forms);
void net_write_map(text *out, const net_map *m);
// " at 2*x0 padded from 9 with i32:-1". `padding` is NULL of a store.
void net_write_place(text *out, const net_map *m, uint64_t padding_start, scalar_type type,
                     const scalar_bits *padding);
// A blank and the vector; in binary where it has few bits.
void net_write_mask(text *out, uint64_t mask, int n);
void net_write_constant(text *out, scalar_type type, const scalar_bits *c);
void net_write_array(text *out, size_t number, const net_array *array);  // a line
void net_write_routine(text *out, const net_routine *r);  // lines, without the last one's end

// ---- live sets (net/live.c) -------------------------------------------------------------------

// The indices of a stage where given affine forms are all 0, kept as the space of ALL forms that
// vanish on them: equal sets are equal structs. The form mask . x ^ c is the vector  mask << 1 | c
// of F_2^(n+1):
//
//      n = 3, live x0^x2 x1^1          the x with x_0 = x_2 and x_1 = 1: 010 and 111
//      vectors 101 0, 010 1            and their sum 111 1: x_0 + x_1 + x_2 = 1 as well
//
// The form 1, the vector 1, vanishes nowhere: it is in the space exactly if S is empty. Then sums
// and intersections of spaces are, the other way round, intersections and hulls of sets. Reducing a
// form by the space (live_reduced) gives the same form for all that agree on S: a constant one if
// it is constant there.
enum { LIVE_MAX = F2_MAX - 1 };  // the most index bits: a form has one coordinate more

static inline uint64_t live_vector(net_form f) { return f.mask << 1 | f.constant; }
static inline net_form live_form(uint64_t v) { return (net_form){v >> 1, v & 1}; }

f2_space live_all(int n);  // no form: every index of F_2^n, 0 <= n <= LIVE_MAX
f2_space live_set(int n, uint32_t count, const net_form *forms);
f2_space live_empty(int n);
bool live_is_empty(f2_space s);
uint64_t live_points(f2_space s);                    // how many indices
f2_space live_where(f2_space s, net_form f);         // the indices of s where also f is 0
f2_space live_intersection(f2_space s, f2_space t);  // their intersection
f2_space live_without(f2_space s, f2_space t);       // the least live set that contains s but for t
bool live_within(f2_space s, f2_space t);            // whether s is a subset of t
f2_space live_hull(f2_space s, f2_space t);          // the least live set that contains both
net_form live_reduced(f2_space s, net_form f);
// All cosets of the span of k directions that meet s: s + span(directions).
f2_space live_cosets(f2_space s, uint32_t k, const uint64_t *directions);
// The elements of s with the coordinates of number j.
f2_space live_element(f2_space s, uint32_t k, const net_form *coordinates, uint64_t j);
f2_space live_directions(f2_space s);  // in which one stays in s
// The *count forms that define s (none for all; of the empty set, the form 1 among others).
net_form *live_forms(arena *a, f2_space s, uint32_t *count);

f2_space live_of_op(const net_stage *s, const net_op *op);
// Where a value of the stage is made: everywhere by a load, by an op where it has an element.
f2_space live_of_output(const net_stage *s, const net_op *op, const net_output *output);
f2_space live_of_value(const net_stage *s, net_id value);

// The lowest and highest value of the map on s x loops, exact but for maps with many dependent rows
// (then a wider range). False if there is no point, or a value does not fit.
bool live_map_range(arena *a, const net_map *m, const uint64_t *extents, f2_space s, int64_t *low,
                    int64_t *high);

// Whether two points of s x loops have different values of the map.
typedef enum live_answer { LIVE_NO, LIVE_YES, LIVE_UNKNOWN } live_answer;
live_answer live_map_injective(arena *a, const net_map *m, const uint64_t *extents, f2_space s);

// ---- domains, and choices by them (net/domain.c) ------------------------------------------------

// The indices on which something is done, or needed: those in `on` that are not in `except`. An op
// that leaves the value that it reads outside of its domain says so by selects. Scalar code has the
// condition that a sum of forms is below 1: it holds exactly where all of them are 0.
//
//      n = 3     v0, but its negative where x0 is 0, and not x1 = x2 = 0
//      domain    on x0, except x1 x2
//      op        t0 = < (index x0) i64:1            select t0 (neg v0[0]) v0[0]
//                t1 = < (index x1 + x2) i64:1       select t1 v0[0] of that
typedef struct net_domain {
  f2_space on, except;  // live sets
} net_domain;
net_domain net_domain_on(f2_space on);                            // except nothing
net_domain net_domain_hull(net_domain a, net_domain b);           // all of both, and maybe more
bool net_domains_meet(const net_domain *a, const net_domain *b);  // or may
// Where a node is such a condition, the set on which it holds. False: it is none.
bool net_condition_set(const net_stage *s, net_id condition, f2_space *set);
// What of the domain has this condition, or has it not; or more.
net_domain net_domain_where(const net_stage *s, const net_domain *domain, net_id condition,
                            bool holds);
// The node `inside` where element e of the op's cosets is in the domain, else `outside`. It is used
// on indices of the set `known` only.
net_id net_domain_choose(arena *a, net_stage *s, const net_op *op, uint64_t e,
                         const net_domain *domain, f2_space known, net_id inside, net_id outside);

#endif
