// A prepared pass. Private to runtime/portable/.
//
// POSITIONS. The executor's tile is a coset of a subspace V of dimension d with a basis b_0 ...
// b_(d-1). The element of the tile at position p, a number of d bits, is the index
//
//      base ^ (the sum of the b_i with bit i of p set)
//
// and lies at p in each slot of the scratch memory. V is the plan's tile and, where that is small,
// some of the plan's blocks as well. When V is everything, several iterations of the loops are
// worked on as a BATCH: iteration number t of the batch has its positions from t << d on, so that a
// batch looks like a tile with more bits.
//
//   n = 3, V = <001, 010, 100>, b = 010, 001, 100
//   position   0   1   2   3   4   5   6   7
//   index     000 010 001 011 100 110 101 111
//
//   batch of two iterations: positions 0 ... 7 of the first, 8 ... 15 of the second
//
// A form mask.x ^ c on the tile is the form F.p ^ c', where bit i of F is mask.b_i and
// c' = mask.base ^ c: F is prepared, c' is computed for each tile.
//
//   mask = 011   F = (1, 1, 0): bits 0 and 1 of the position       base = 010, c = 0: c' = 1
#ifndef PERMC_RUNTIME_PORTABLE_PASS_H
#define PERMC_RUNTIME_PORTABLE_PASS_H

#include "kernels/schedule/xor_sum.h"
#include "runtime/cpu/roots.h"
#include "runtime/portable/portable.h"

enum {
  MOVE_BITS = 9,   // a move handles 2^9 elements at a time: they fit in the first cache
  STEP_BITS = 11,  // an op with few steps handles 2^11
};

// ---- tiles (tile.c) ------------------------------------------------------------------

typedef struct tile {
  const net_stage *stage;
  int d;                    // dimension of V
  int batch_bits;           // at most 2^batch_bits iterations in a batch; 0 unless V is everything
  int block_bits;           // n - d
  uint64_t basis[F2_MAX];   // of V: d vectors
  uint64_t blocks[F2_MAX];  // of the complement: block_bits vectors
} tile;

// The tile that a thread works on.
typedef struct tile_item {
  uint64_t base;   // index of position 0
  uint64_t loop;   // which iteration of the loops, as one number
  uint64_t count;  // iterations in the batch
  void *const *arrays;
  unsigned char *slots;   // of scratch memory
  unsigned char *work;    // scratch memory of a move or an op
  const void **operands;  // room for the operands of any step
} tile_item;

uint64_t tile_position_mask(const tile *t, uint64_t mask);  // F of a form
uint64_t tile_position(const tile *t, uint64_t vector);     // of a vector in V
uint64_t tile_index(const tile *t, const tile_item *item, uint64_t position);

// The positions where some forms are all 0, numbered: the XOR of an origin, which depends on the
// tile, and of those vectors basis[i] for which bit i of the number is 1. The bits from `dimension`
// on are the iteration in the batch.
//
//   d = 3, form p1 = 1 + (a constant of the tile): basis 001, 100; origin 000 or 010
//   number     0   1   2   3
//   position  010 011 110 111        with origin 010
typedef struct tile_set {
  uint32_t independent_count, dependent_count;
  net_form *independent, *dependent;
  uint64_t *solutions;  // by independent form: a change of position that changes it alone
  uint64_t *relations;  // by dependent form: which independent ones sum to it, but for a constant
  int dimension;
  uint64_t basis[F2_MAX];
  int run;         // basis[i] = e_i for i < run, batch bits included; elsewhere those bits are 0
  int chunk_bits;  // numbers are handled 2^chunk_bits at a time
  const uint32_t *low;  // the positions of the first so many
} tile_set;

void tile_set_prepare(arena *a, const tile *t, uint32_t count, const net_form *forms,
                      tile_set *out);
// Puts `count` vectors of the set first in its basis. No run is known afterwards.
void tile_set_order(tile_set *s, int count, const uint64_t *vectors);
// Finds the runs of neighbours that the set begins with; then no other vector has their bits.
void tile_set_find_run(const tile *t, tile_set *s);
void tile_set_tabulate(arena *a, const tile *t, tile_set *s, int chunk_bits);
// False: the set is empty on this tile.
bool tile_set_start(const tile_set *s, uint64_t base, uint64_t *origin);
// The position of `number`, whose lowest chunk_bits bits are 0, less the origin.
uint64_t tile_set_high(const tile *t, const tile_set *s, uint64_t number);

// A map (of addresses or indices) on a set, as words of the index (kernels/schedule/xor_sum.h: the bits
// of the index take the place of blocks). A column for a vector of the set is the XOR of those of
// its index bits.
typedef struct tile_word {
  xor_word index;
  uint64_t columns[F2_MAX];
  uint64_t *low;  // the XOR of the columns for the first 2^chunk_bits numbers
} tile_word;

typedef struct tile_map {
  const net_map *map;
  uint64_t offset;
  uint32_t word_count;
  tile_word *words;
  int dimension, chunk_bits;
  int run;  // if the constant's lowest u <= run bits are 0, 2^u values follow each other by 1
} tile_map;

tile_map tile_map_of(arena *a, const tile *t, const net_map *m);
// Of `s`, which has been tabulated.
void tile_map_tabulate(arena *a, const tile *t, const tile_set *s, tile_map *m);
// Vectors of V that change the address by +1, +2, +4, ... (up to the constant): how many there are,
// at most `most`.
int tile_map_lines(const tile *t, const tile_map *m, const tile_set *s, int most, uint64_t *out);
// Of a set that begins with so many of these vectors: the others are changed by them so that they
// leave the lowest bits of the address as they are.
void tile_set_align(const tile *t, const tile_map *m, tile_set *s, int count);
// The constants of a tile whose origin has index x: word_count of them.
void tile_map_start(const tile *t, const tile_map *m, uint64_t x, uint64_t *constants);
// The values at numbers number, number + 2^stride_bits, ...: count of them. `number` is a multiple
// of 2^chunk_bits, and all lie in that chunk.
void tile_map_values(const tile *t, const tile_map *m, const tile_item *item,
                     const uint64_t *constants, uint64_t number, int stride_bits, size_t count,
                     int64_t *out);
// The part of iteration `loop` in a map; *left: for how many iterations, this one included, each
// adds tile_loop_step.
int64_t tile_loop_offset(const tile *t, const net_map *m, uint64_t loop, uint64_t *left);
uint64_t tile_loop_step(const tile *t, const net_map *m);

// ---- moves (move.c) ------------------------------------------------------------------

typedef struct tile_move {
  const plan_move *plan;
  bool checked;  // some address may be in the padding
  bool bytes;    // of bools of the caller
  uint32_t size_bits;
  uint64_t slot;  // where in the slots, in bytes
  tile_set set;
  tile_map map;
  // Where runs of the tile and runs of memory have different vectors, chunks go through a block: of
  // rows, 2^row_bits neighbours in the tile, on one side, and lines, 2^line_bits neighbours in
  // memory, on the other.
  bool has_blocks;
  int row_bits, line_bits;
  uint32_t row_count;
  uint32_t *rows;    // where row r begins in the tile: at r << row_bits
  uint16_t *within;  // by number in the chunk: where it is in the block
} tile_move;

void tile_move_prepare(arena *a, const tile *t, const plan_move *from, uint32_t live_count,
                       const net_form *live, uint32_t element_bytes, uint64_t slot, tile_move *out);
uint64_t tile_move_work(const tile_move *m);  // bytes of work memory
void tile_load(const tile *t, const tile_move *m, const tile_item *item);
void tile_store(const tile *t, const tile_move *m, const tile_item *item);
// Prefetches the memory of chunks first, ..., first + count - 1 of a load.
void tile_prefetch(const tile *t, const tile_move *m, const tile_item *item, uint64_t first,
                   uint64_t count);

// n units of 2^unit_bits elements between a buffer and positions `high` ^ low[0], ^ low[1 unit],
// ...
void tile_gather(uint32_t size_bits, int unit_bits, size_t n, const unsigned char *slot,
                 uint64_t high, const uint32_t *low, unsigned char *to);
void tile_scatter(uint32_t size_bits, int unit_bits, size_t n, unsigned char *slot, uint64_t high,
                  const uint32_t *low, const unsigned char *from);

// ---- compare-exchange (compare.c) ----------------------------------------------------

// A compare-exchange on vectors of 2^lane_bits neighbours.
typedef struct compare_lanes {
  uint64_t direction, coordinate;  // from the number of the vector on
  uint64_t within;                 // the direction's part in the lanes
  bool mixed;                      // element 0 or 1 depends on the lane
  int top, run;                  // pairs lie in runs of 2^run vectors, bit `top` of the first is 0
  uint32_t bytes;                // byte i is shuffled with byte i ^ bytes
  _Alignas(64) uint8_t odd[64];  // bytes of the lanes that are element 1, if the vector's is 0: 255
  _Alignas(64) uint32_t words[16];  // word i is shuffled with words[i]
} compare_lanes;

// Pairs p, p ^ direction; element 1 is the one where coordinate . p ^ (constant) is 1.
typedef struct compare {
  uint64_t direction, coordinate;
  uint32_t kind;    // row of the tables below
  bool swapped;     // element 0 stays if relation(element 1, element 0), not (0, 1)
  bool descending;  // ... if that does not hold
  const compare_lanes *lanes;
} compare;

// The relation of pairs that stay as they are: for integers, < serves for <= as well.
enum {
  COMPARE_F16_LT =
      8,  // below: the integer types, in the order of scalar_type from i8 on; from here
          // on: <, <= and total_le of each float
  COMPARE_KINDS = COMPARE_F16_LT + 3 * (SCALAR_F64 - SCALAR_F16 + 1)
};

// On the positions first ... first + count - 1 of `in` and `out`, which may be one. Both ends are
// multiples of twice the highest bit of the direction or, at the end, rounded up to a vector.
typedef void compare_loop(const compare *c, bool constant, const void *in, void *out,
                          uint64_t first, uint64_t count);
// out[i] = the lesser (greater) of a[i], b[i].
typedef void choose_loop(size_t n, const void *a, const void *b, void *out);

// out[i] = condition[i] ? a[i] : b[i].
typedef void select_loop(size_t n, const uint8_t *condition, const void *a, const void *b,
                         void *out);

enum { ZIP_SIZES = 4 };  // by log2 of the bytes
// to[i] = from[2 i + odd].
typedef void unzip_loop(size_t n, bool odd, const void *from, void *to);
// to[2 i] = even[i], to[2 i + 1] = odd[i].
typedef void zip_loop(size_t n, const void *even, const void *odd, void *to);

typedef struct compare_kernels {
  uint32_t vector_bytes;
  compare_loop *compare[COMPARE_KINDS];
  choose_loop *least[COMPARE_F16_LT], *greatest[COMPARE_F16_LT];
  select_loop *select[4];  // by log2 of the element's bytes
  unzip_loop *unzip[ZIP_SIZES];
  zip_loop *zip[ZIP_SIZES];
} compare_kernels;

// Whether the op is a compare-exchange of one value, *value: its kind and order in *out.
bool compare_match(const net_stage *stage, const net_op *op, compare *out, net_id *value);
// The widest for this processor that are at most `most` bytes wide (0: any).
const compare_kernels *compare_kernels_find(uint32_t most);
// The row of an integer type or bool; COMPARE_KINDS of others.
uint32_t compare_kind_of(scalar_type type);

// ---- roots of unity (roots.c) --------------------------------------------------------

typedef struct root_table {
  scalar_type type;
  uint64_t order;
  const unsigned char *roots;  // as scalar_root gives them: order of them
} root_table;

typedef struct root_tables {
  size_t count;
  root_table *items;
  void **memory;  // for roots_free
} root_tables;

// Tables for the roots that the net's stages read. False: out of memory.
bool root_tables_make(root_tables *t, arena *a, const net *n);
// One that has the roots of that order, at multiples of its order / `order`; or NULL.
const root_table *root_table_find(const root_tables *t, scalar_type type, uint64_t order);

// ---- ops (op.c) ----------------------------------------------------------------------

#define NO_TURN UINT32_MAX
typedef struct tile_step {
  net_node_kind kind;
  scalar_type type, operand_type;
  scalar_op scalar;
  uint32_t operand_count;
  uint32_t *operands;     // numbers of steps
  uint32_t turn;          // the step of the turn that it depends on; NO_TURN: none
  bool direct;            // element node: read in the tile, no buffer
  uint64_t buffer;        // where in the work memory
  uint64_t slot, offset;  // element node: in bytes; of its position from element 0's
  scalar_bits constant;
  uint64_t number;
  tile_map map;
  const root_table *roots;
  uint32_t kernel;
} tile_step;

typedef struct tile_output {
  uint32_t step, size_bits;
  uint64_t slot, offset;
  bool with_next;  // elements 0 and 1 of one value, in a zipped op
} tile_output;

typedef struct tile_op {
  const net_op *op;
  tile_set set;         // the positions of the elements 0, where alive
  bool is_compare;      // a compare-exchange; `set` says only whether anything is alive
  bool always;          // no form to look at
  net_form coordinate;  // of a compare-exchange
  compare compare;
  uint32_t size_bits;
  uint64_t in, out;   // compare: slots, in bytes
  uint32_t together;  // compare: so many ops, this the first, may go over a window of the tile
  // Not 0: the elements 0 of the first 2^zip_bits instances are the even units (the odd ones) of
  // 2^set.run neighbours in a stretch of the tile, and the elements 1 are the others.
  int zip_bits;
  uint32_t step_count, output_count;
  tile_step *steps;
  tile_output *outputs;
  uint32_t words;                    // the most that a step's map has
  uint64_t pointers_at, work_bytes;  // in the work memory, after the buffers: where things are
} tile_op;

// What ops of one pass have in common.
typedef struct op_context {
  arena *memory;
  const tile *tile;
  const plan_pass *plan;
  const uint64_t *slots;  // where each is, in bytes
  uint32_t *step_of;      // by node: UINT32_MAX
  net_id *nodes;          // room for all
  portable *executor;
} op_context;

void tile_op_prepare(op_context *c, const net_op *op, tile_op *out);
// Whether the op is a compare-exchange. Sets all fields that say so.
bool tile_compare_prepare(const op_context *c, const net_op *op, tile_op *out);
// False: interrupted.
bool tile_op_run(const portable *e, const tile *t, const tile_op *op, const tile_item *item);

// ---- the executor (portable.c) ----------------------------------------------------------------

typedef struct portable_pass_state {
  const plan_pass *plan;
  tile tile;
  f2_space space;  // V
  int extra_bits;  // the tile is 2^extra_bits blocks of the plan
  uint32_t load_count, store_count, op_count, live_count;
  tile_move *loads, *stores;
  tile_op *ops;
  net_form *live;   // constant on a tile
  int level_count;  // where bit i of the word is 1 at the tile's base, vector i is added to the base
  xor_word level;
  uint64_t level_origin;  // of index 0
  uint64_t *level_vectors;
  uint64_t slot_bytes, operand_count, work_bytes;
  uint64_t prefetch_chunks;  // of the next tile's loads, before each part of the work
} portable_pass_state;

struct portable {
  const plan *plan;
  arena memory;
  jmp_buf failure;
  const atomic_bool *interrupted;
  const compare_kernels *kernels;
  cpu_externs externs;
  root_tables roots;
  portable_pass_state *passes;
};

#endif
