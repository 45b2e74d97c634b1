// Programs whose number of passes is known, because a plan is drawn first and then a program that
// hides it.
//
// In: a seed and a way of spelling. Out: a drawn plan, the text of a program that it is a plan of,
// the number of its passes, and a number of passes that no plan can do with less.
//
//   hidden_program p;
//   hidden_draw(&p, 7, HIDDEN_PARM);
//   hidden_text(&out, &p);          // main : [1024]u32 -> [1024]u32 ...
//   hidden_drawn_passes(&p);        // 3
//   hidden_least_passes(&p);        // 3: the drawn plan is one with the fewest passes
//
// A NETWORK is a sequence of ops on the index space F_2^n, cut into one to four RUNS. Each run has
// a TILE, a subspace that contains the directions of its ops. Worked example, with lines of 4
// elements and tiles of 2^3:
//
//   n = 4    run 0   tile <0001, 0010, 0100>    directions 0001, 0110, 0010
//            run 1   tile <0001, 0010, 1000>    directions 1001, 0010, 0001
//
//   step0 xs = column 1 pair0 xs                                 a column as it is
//   step1 xs = parm 8 (parm 6 (parm 1 pair1)) xs                 a parm for each orthogonal mask
//   step2 xs = partnered 2 pair2 xs                              zipped with flip_bits 2 xs
//   step3 xs = bmmc [2, 1, 4, 8] 0 (column 10 pair3 (bmmc [2, 1, 4, 8] 0 xs))  moves that cancel
//   ...
//   main xs = xs |> step0 |> step1 |> step2 |> step3 |> step4 |> step5
//
// UPPER BOUND (hidden_drawn_passes): the drawn plan, one pass for each run. It can be executed
// as plan.h describes it, which hidden_problem checks:
// - an index of the tile takes the bytes of all that a pass has in its tile: the state, one element
//   of each second array that the run's ops read, and of a window on the argument all its
//   neighbours; the tile has no more bytes than the target's;
// - the tile contains the lines of every array that the pass loads or stores: of the argument and
//   the result, behind the permutations at both ends of the program; of second arrays; and it
//   shares a line with the tile of the run before, for the array between them.
// Ops that combine nothing (each output depends on one element, or they only exchange places)
// need no direction in the tile, wherever their mask points.
//
// LOWER BOUND (hidden_least_passes): what the dependences need of any plan whose passes read at
// most as many elements for what they make together as a tile has room for. Let v_i(x) be element x
// of the state after i ops. An op BINDS if both elements that it makes depend on both that it
// reads, with the whole state of each (where a second array tells what is exchanged, one component
// does, and a tile is taken to hold the widest alone). Ops are taken as uninterpreted functions.
//   Let a greedy cut of the binding ops begin a new run where the span of a run's directions would
//   have more elements than a tile; let g_p be the last op of its run p.
//   Claim: after p passes memory holds no v_j(x) with j > g_p. By induction: a pass makes v_j(x) from
//   elements that it reads, all v_i(y) with i <= g_(p-1); these cut every path of dependences from
//   v_j(x) back. v_j(x) depends on v_(g_(p-1))(y) for all y in x + S, S the span of the directions
//   of the binding ops behind g_(p-1) up to j. From each of these y a path goes straight back to
//   the argument, since each op's element x depends on the element at x before it (or, where it
//   exchanges, on that of its partner, which is one-to-one). These paths share no element, so the
//   cut has |S| elements at least. If j > g_p, these do not fit into a tile.
//   So the passes are at least the runs of the greedy cut. (Cuts of dependences by passes of limited
//   memory are due to Hong and Kung, I/O complexity: the red-blue pebble game, STOC 1981.)
//
// Where the two agree, the least is known. Where they do not (second arrays take room in the drawn
// tile and none in the bound; an op makes constants), only an upper bound is known, the drawn plan,
// and that is the reference: a planner should take as many passes, and may take one more.
//
// A TREE combines the pairs of 2^n elements, of the results those, and so on: it keeps differences
// (Haar), keeps nothing (a reduction), or goes the other way (the inverse of Haar). Its drawn plan
// executes d - t levels in each pass but the last, which executes up to d: 2^d elements are a tile
// and 2^t a line. A tile of d - t levels has 2^t groups, so that what each level stores are whole
// lines. Lower bound: the last element of L levels depends on 2^L elements, and p passes reach
// 2^(pd).
//
//   hidden.c    drawing, bounds
//   spelling.c  the text
//   reduce.c    smaller programs that still have a property
#ifndef PERMC_TESTS_GENERATOR_HIDDEN_H
#define PERMC_TESTS_GENERATOR_HIDDEN_H

#include "core/f2.h"
#include "core/scalar/scalar.h"
#include "core/text.h"

enum { HIDDEN_RUNS = 4, HIDDEN_OPS = 96, HIDDEN_LINE_BYTES = 16 };

// What a program hides its plan by: a row of the table of differences.
typedef enum hidden_way {
  HIDDEN_COLUMNS,        // column m f, nothing else
  HIDDEN_PARM,           // a chain of parm around each pair
  HIDDEN_RECURSION,      // several ops in the sub-arrays of parm, split or take, nested
  HIDDEN_TAKE_DROP,      // halves zipped and concatenated
  HIDDEN_SPLIT_JOIN,     // rows of pairs, transposed there and back
  HIDDEN_COMPREHENSION,  // lists of rows by static numbers
  HIDDEN_MOVES,          // bmmc before and its inverse behind
  HIDDEN_PARTNERS,       // each element in a tuple with its partner, then a map
  HIDDEN_WEIGHTS,        // another array zipped in by each op, wide
  HIDDEN_SWITCHES,       // another array for each op says whether pairs are exchanged
  HIDDEN_BITS,           // one array for all ops, a bit of it for each
  HIDDEN_PAIRED,         // another array for each op has one element for each pair
  HIDDEN_PARTS,          // components of a tuple that depend on different elements
  HIDDEN_NEUTRAL,        // ops that combine nothing, in any direction
  HIDDEN_ONE_SIDE,       // ops of which one element stays, or becomes a constant
  HIDDEN_BY_INDEX,       // ops for one half of the indices (parmi)
  HIDDEN_HALVES,         // different ops on the parts of take and drop, at any static place
  HIDDEN_WINDOWS,        // neighbours on the argument
  HIDDEN_ROWS,           // map over any number of rows
  HIDDEN_SHRINK,         // trees
  HIDDEN_GROW,           // trees, backwards
  HIDDEN_MIXED,          // each op in its own way
  HIDDEN_WAYS
} hidden_way;
extern const char *const hidden_way_names[HIDDEN_WAYS];

// What an op does to the pair x, y.
typedef enum hidden_kind {
  PAIR_FULL,     // both become sums of all there is
  PAIR_COMPARE,  // the smaller one first
  PAIR_WEIGHT,   // sums with elements of a second array
  PAIR_SWITCH,   // exchanged where a second array says so
  PAIR_BITS,     // exchanged where bit `bit` of a second array, which all such ops share, is set
  PAIR_PAIRED_SWITCH,  // as PAIR_SWITCH, by an array of half the length: an element for each pair
  PAIR_PAIRED_WEIGHT,  // as PAIR_WEIGHT, by such an array
  PAIR_FIRST_LOOSE,
  PAIR_NEUTRAL = PAIR_FIRST_LOOSE,  // each by itself
  PAIR_ONE_SIDE,                    // x stays, y becomes a sum
  PAIR_CONSTANT,                    // x becomes a sum, y a constant
  PAIR_BY_INDEX,                    // as PAIR_FULL where the form `other` of the index is 1
  PAIR_HALVES,                      // direction `mask` in the lower half, `other` in the upper
  PAIR_QUARTERS,                    // the same in the lowest quarter, and in the rest
  PAIR_RAGGED,                      // a map of what lies below the place `other`
  PAIR_PARTS,                       // the components in the directions `mask` and `other`
  PAIR_CROSS,                       // each component of some of the others, in the direction `mask`
  PAIR_KINDS
} hidden_kind;

typedef struct hidden_op {
  hidden_kind kind;
  hidden_way spelling;  // HIDDEN_COLUMNS to HIDDEN_PARTNERS, not HIDDEN_RECURSION
  uint64_t mask, other;
  uint32_t bit;
  uint64_t noise;  // of what is not said here: coefficients, masks of parm, matrices
} hidden_op;

typedef struct hidden_run {
  f2_space tile;
  uint32_t op_count;
} hidden_run;

typedef enum hidden_tree {
  TREE_NONE,
  TREE_HAAR,      // means first, then the differences of each level
  TREE_IN_PLACE,  // each difference beside its mean
  TREE_REDUCE,    // means alone
  TREE_INVERSE    // of TREE_HAAR
} hidden_tree;

typedef struct hidden_program {
  hidden_way way;
  int n;
  uint64_t tile_bytes;
  uint32_t part_count;    // components of an element of the state
  scalar_type types[2];   // of them
  bool units;             // directions and tiles are of index bits
  bool grouped;           // HIDDEN_RECURSION
  uint32_t rows;          // 0: none
  uint32_t window;        // elements in it; 1: there is none
  bool brick;             // the window is the partner, of pairs that do not begin at even places
  uint64_t noise;         // of the window
  f2_affine first, last;  // permutations at the ends
  uint32_t run_count, op_count;
  hidden_run runs[HIDDEN_RUNS];
  hidden_op ops[HIDDEN_OPS];  // of all runs
  // Of trees; else TREE_NONE.
  hidden_tree tree;
  int levels;
  bool by_halves;  // pairs are at the distance of half an array; else neighbours
} hidden_program;

// ---- hidden.c ------------------------------------------------------------------------------------

// The number, advanced: the same on every machine.
uint64_t hidden_random(uint64_t *state);
uint32_t hidden_below(uint64_t *state, uint32_t bound);

void hidden_draw(hidden_program *p, uint64_t seed, hidden_way way);
// NULL, or why the drawn plan is none.
const char *hidden_problem(const hidden_program *p);
// Other tiles for the same runs: as small as can be. Whether they are a plan says hidden_problem.
void hidden_fit_tiles(hidden_program *p);
uint32_t hidden_drawn_passes(const hidden_program *p);
uint32_t hidden_least_passes(const hidden_program *p);
// The type of the second array that the op reads; SCALAR_COUNT: it reads none.
scalar_type hidden_second_type(const hidden_op *op);
bool hidden_is_paired(const hidden_op *op);  // and has one element of it for each pair

// ---- spelling.c ----------------------------------------------------------------------------------

void hidden_text(text *out, const hidden_program *p);
void hidden_types(text *out, const hidden_program *p);  // of the arguments: "[512]u32 [512]u8"

// ---- reduce.c ------------------------------------------------------------------------------------

typedef bool hidden_test(const hidden_program *p, void *with);
// Makes the program smaller while the test holds: without runs, ops, index bits, ways of spelling.
void hidden_reduce(hidden_program *p, hidden_test *test, void *with);

#endif
