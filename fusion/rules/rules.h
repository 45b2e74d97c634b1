// The rewrite rules: laws by which programs get faster and stay the same.
//
// The laws before map-map, on movements, hold by construction: lowering and the planner carry
// frames instead of arrays and record which law spared a movement. The others are rewrites of Nets,
// applied by rules_apply:
//
//   op 0 directions 0b1 coordinates x0 step %7    op 0 directions 0b1 coordinates x0 step %7
//     t0 = <= v0[0] v0[1]                           v1[0] = min v0[0] v0[1]
//     v1[0] = select t0 v0[0] v0[1]        ->       v1[1] = max v0[0] v0[1]
//     v1[1] = select t0 v0[1] v0[0]
//                                                   minmax: 2 times, at %7
//
// Each law is tested on generated instances (tests/unit/rules_test.c), and fires in random programs
// (those on movements: tests/unit/movement_rules_test.c). A step is a step of the
// Trace; what a firing saves is counted in bytes of memory traffic and in scalar operations, of one
// run of the program.
//
//   log.c     the table of laws, and what fired
//   index.c   scalar code: functions of the index
//   nodes.c   scalar code: constants, identities, minima and maxima
//   merge.c   ops: two as one
//   narrow.c  ops: on smaller cosets
//   join.c    ops for parts of the index space: values that lie side by side as one
//   frames.c  ops: movements behind them
//   dead.c    what nobody needs
//   loads.c   loads: two as one
//   space.c   indices that nobody needs
//   thin.c    elements of arrays that nobody reads
//   pairs.c   arrays of reals that are read and written as complex numbers
//   rules.c   the order of rewriting
#ifndef PERMC_FUSION_RULES_RULES_H
#define PERMC_FUSION_RULES_RULES_H

#include "fusion/net/net.h"

// clang-format off
// name; the law; when; where it comes from. P is f2_parm(n, m), y = P x: the sub-array is y's top
// bit; diag(A, 1) acts on the bits below it.
#define RULES(ROW)                                                                                 \
  ROW(BMMC_BMMC, "bmmc-bmmc",                                                                      \
      "bmmc A c . bmmc B d = bmmc (A B) (A d ^ c)",                                                \
      "always", "BMMC paper, section 1")                                                           \
  ROW(BMMC_INVERSE, "bmmc-inverse",                                                                \
      "bmmc A c . bmmc A^-1 (A^-1 c) = id",                                                        \
      "always", "bmmc-bmmc, with A A^-1 = 1 and c ^ c = 0")                                        \
  ROW(PARM_BMMC, "parm-bmmc",                                                                      \
      "parm m f . bmmc A c = bmmc P^-1 0 . two f . bmmc (P A) (P c)",                              \
      "always", "BMMC paper, section 7.2, and bmmc-bmmc")                                          \
  ROW(PARM_OF_BMMC, "parm-of-bmmc",                                                                \
      "parm m (bmmc A c) = bmmc (P^-1 diag(A, 1) P) (P^-1 c)",                                     \
      "always", "BMMC paper, section 1: a bmmc of one bit more")                                   \
  ROW(PARM_PARM, "parm-parm",                                                                      \
      "parm m (f . g) = parm m f . parm m g;  parm m (parm k f) = bmmc Q^-1 0 . two (two f) . "    \
      "bmmc Q 0, Q = diag(P_k, 1) P_m",                                                            \
      "always", "BMMC paper, section 7.2, nested")                                                 \
  ROW(MAP_BMMC, "map-bmmc",                                                                        \
      "map f . bmmc A c = bmmc A c . map f",                                                       \
      "f does not use the index", "naturality of bmmc")                                            \
  ROW(SAME_LOAD, "same-load",                                                                      \
      "map f xs and map g xs, or columns of it, are ops of one stage on one load of xs",           \
      "xs is in memory; the load covers it; the stage is open", "naturality of map")               \
  ROW(ZIP_MAP, "zip-map",                                                                          \
      "zip (map f xs) (bmmc A c (map g ys)) is an op on both in one stage, whose index is renamed " \
      "for one of them",                                                                           \
      "two open stages with equal loops and bits", "naturality of map and bmmc")                   \
  ROW(PARTNERS, "partners",                                                                        \
      "f on x_i and x_(i ^ e), for all i, is an op on pairs that makes both elements",             \
      "at most 16 elements that are each other's partners", "column e")                            \
  ROW(GROWN_INDEX, "grown-index",                                                                  \
      "f of each element, with 2^k results, is an op on cosets of k more index bits that were 0",  \
      "the stage has computed something; at most 48 index bits", "parm 2^n: a new top bit")        \
  ROW(KNOWN_PLACES, "known-places",                                                                \
      "scatter p xs ys is bmmc A c xs where p i = A i ^ c, rotate xs where p i = (i + k) mod n, a "\
      "transpose of xs where p exchanges dimensions; gather p takes back scatter p",               \
      "p is an argument that is read from a schedule, or is there when the program is planned for "\
      "one run, or is computed of i by xor, &, |, shifts, sums without carries; there are as many " \
      "places as elements", "n + 1 places, and a look at each")                                    \
  ROW(PACKED_VIEW, "packed-view",                                                                  \
      "[xs[a], xs[a + d], xs[a + 2d], ...] is a part of xs where it lies",                         \
      "the elements lie at equal distances, or at those of index bits", "bmmc, take and drop")     \
  ROW(PARTS, "parts",                                                                              \
      "concat (map f (take k xs)) (map g (drop k xs)) = [if i < k then f x else g x | x is "       \
      "element i of xs]; zip_with f (take k xs) (drop k xs) = take k (zip_with f xs (flip_bits k " \
      "xs))",                                                                                      \
      "slices of an array, or of each of its rows, that follow one another; not two halves, "      \
      "unless f is g; what is done on all is cheap or not four times as much; places that are "    \
      "exchanged are multiples of a power of two", "naturality of map and bmmc")                   \
  ROW(SIDE_BY_SIDE, "side-by-side",                                                                \
      "concat (map f xs) (map g ys), where those lie side by side, is a choice by the index, and " \
      "moves nothing",                                                                             \
      "values of one stage; an element may lie at all places that its op could overwrite",         \
      "take and drop of frames")                                                                   \
  ROW(LIKE_ELEMENTS, "like-elements",                                                              \
      "components of tuples that are in arrays of one length are loaded for the same indices, and " \
      "in the same pairs",                                                                         \
      "the arrays are in memory and have no padding", "zip")                                       \
  ROW(PIECES, "pieces",                                                                            \
      "concat (concat a b) c = concat a (concat b c); its parts are parts of a, b and c",          \
      "until all are needed as one array", "lists under concatenation")                            \
  ROW(CHOSEN_PIECE, "chosen-piece",                                                                \
      "element i of concat xs ys is that of xs if i < length xs, else of ys, where it is needed",  \
      "at most 8 parts, some of them computed from memory", "lists under concatenation")           \
  ROW(REPEATED_PADDING, "repeated-padding",                                                        \
      "concat xs (replicate k c) is xs, loaded with c behind its end; the same before it",         \
      "c is a constant; xs is in memory, and its end is that of an array", "extended")             \
  ROW(COMPUTED_AGAIN, "computed-again",                                                            \
      "take k (map f xs) = map f (take k xs), drop k (map f xs) = map f (drop k xs)",              \
      "xs is in memory; f xs is at most 64 operations", "naturality of take and drop")             \
  ROW(RESULT_IN_PLACE, "result-in-place",                                                          \
      "an array between stages that is exactly a result is that result",                           \
      "it is written once, row by row", "id")                                                      \
  ROW(ONE_STORE, "one-store",                                                                      \
      "arrays between stages to which a stage stores the same are one",                            \
      "nobody else writes to them; of two orders, the array is loaded at affine places", "id")     \
  ROW(THIN, "thin",                                                                                \
      "an array between stages of which every 2^d-th element is read has only these",              \
      "loads read it, at affine addresses; stores write those where bits of the index are 0",      \
      "dead, of arrays")                                                                           \
  ROW(REAL_PAIRS, "real-pairs",                                                                    \
      "map (\\[x, y] -> complex x y) (rows_of 2 xs) is xs, where it lies; so is join (map "         \
      "(\\z -> [re z, im z]) zs) zs",                                                             \
      "all that reads or writes the array does so by such pairs, at affine addresses; not of "     \
      "ranks and files",                                                                           \
      "the planner; a complex number is two reals side by side")                                   \
  ROW(SHORT_LOADS, "short-loads",                                                                  \
      "what one op of a pass reads goes from memory to registers, and takes no room in its tile",  \
      "lanes are those of vector registers; it is not stored", "the planner")                      \
  ROW(SHORT_STORES, "short-stores",                                                                \
      "what an op makes for memory alone goes there from registers, and takes no room in a tile",  \
      "lanes are those of vector registers; nobody reads it", "the planner")                       \
  ROW(LIVE_ARRAYS, "live-arrays",                                                                  \
      "of a value only the elements that matter are in an array between passes",                   \
      "they are 2^k, where forms of the index are 0; the stage's padding is not free",             \
      "the planner; an affine subspace of dimension k has k coordinates")                          \
  ROW(TOGETHER, "together",                                                                        \
      "zip (f xs ws) (g ys ws) is one network on zip xs ys, whose passes load ws once",            \
      "both read ws in one order; neither needs what is made between them; that costs less",       \
      "the planner; naturality of zip")                                                            \
  ROW(DISJOINT_OPS, "disjoint-ops",                                                                \
      "f on A after g on B is g on B after f on A; f on A is f on A - C, and later f on A & C",    \
      "both change what they read, at the indices A and B, which have none in common; C consists " \
      "of whole cosets; that takes fewer passes",                                                  \
      "the planner; functions on disjoint parts of a product commute")                             \
  ROW(LOOK_BACK, "look-back",                                                                      \
      "the passes up a tree and down again are one, whose blocks fold what those before them come " \
      "to, in the same order",                                                                     \
      "on a GPU; a tile of 2^10 to 2^13 elements; the ops between take up to 32 elements",         \
      "the planner; Merrill and Garland 2016")                                                     \
  ROW(TRANSPOSE, "transpose",                                                                      \
      "a pass that only puts dimensions in another order is a transpose by its own kernel",        \
      "their lengths are not all powers of two; at most 8 of them, of whole arrays",               \
      "the planner; an index of mixed radix has digits")                                           \
  ROW(BLOCKED_LOOPS, "blocked-loops",                                                              \
      "map f over n elements is map f over blocks of 2^k, the last of which ends with element n",  \
      "f has no effects; few elements are in two blocks", "the planner; map f x = map f x")        \
  ROW(FREE_PADDING, "free-padding",                                                                \
      "f on padded arrays that leaves padding at the end needs no padding in memory",              \
      "the planner proves that padding stays there", "the planner; padded")                        \
  ROW(SORT, "sort",                                                                                \
      "scatter (places k) x x is x sorted stably by k",                                            \
      "as many keys as elements, in as many rows; all that go to the same places go together",     \
      "places k i = the keys before or equal and earlier, counted")                                \
  ROW(COUNTED_SORT, "counted-sort",                                                                \
      "zip (scatter (bucket_places r k) x x) (count_keys r k) is one sort, which counts its keys", \
      "at most 16 keys; the sort comes first", "a sort by few keys begins with their counts")      \
  ROW(KEYS_OF_ELEMENTS, "keys-of-elements",                                                        \
      "a sort by map k xs, of few keys, makes k x of each x where it needs it",                    \
      "on a GPU; at most 16 keys; nobody else reads them; k does not use the index",               \
      "the planner; naturality of map")                                                            \
  ROW(MAP_MAP, "map-map",                                                                          \
      "map f . map g = map (f . g);  zip (map f xs) (map g xs) = map (f, g) xs",                   \
      "equal live sets; nothing between that must come between", "naturality of map")              \
  ROW(MAP_ID, "map-id",                                                                            \
      "map id = id", "an op's output is one of the values that it reads, unmoved",                 \
      "naturality of map")                                                                         \
  ROW(SAME_PAIR, "same-pair",                                                                      \
      "op B after op A on the same cosets is one op, with A's nodes for its outputs in B",         \
      "one span of directions is in the other, and numbers the elements of all its cosets alike; " \
      "equal live sets; nothing between that must come between; few nodes are repeated",           \
      "substitution")                                                                              \
  ROW(FEWER_DIRECTIONS, "fewer-directions",                                                        \
      "an op that does the same on each coset of E in a coset of D is an op on cosets of E",       \
      "no element reads one outside of its coset of E; the nodes are equal but for functions of "  \
      "the index, whose difference is constant", "dependences")                                    \
  ROW(OP_BMMC, "op-bmmc",                                                                          \
      "an op that moves elements is an op on smaller cosets, and a bmmc: an index of its readers", \
      "element j reads in b(j) + E, with b an affine bijection up to E; its readers read values "  \
      "of one frame, and loads", "naturality of bmmc")                                             \
  ROW(ONE_LOAD, "one-load",                                                                        \
      "loads of an array that read the same wherever both are wanted are one",                     \
      "forms of their addresses differ by a form that is 0 where the one is wanted, and one that " \
      "is 0 where the other is", "affine maps are extended from affine hulls")                     \
  ROW(SAME_PART, "same-part",                                                                      \
      "map f on one part of the indices, and map f on another, is map f on both (equal nodes)",    \
      "the least live set that contains both is not much larger", "naturality of map")             \
  ROW(TWO_PARTS, "two-parts",                                                                      \
      "map f on one half of the indices, and map g on the other half, is map h on both: h chooses "\
      "between f and g by the index",                                                              \
      "all that one of them computes, the other one does, too", "naturality of map")               \
  ROW(TURNED_HALF, "turned-half",                                                                  \
      "an op that does on one half of the indices what it does on the other one with its elements " \
      "in another order numbers them so there",                                                    \
      "the nodes are equal where they read elements i ^ c for i", "naturality of bmmc")            \
  ROW(ONE_OUTPUT, "one-output",                                                                    \
      "what an op makes of some elements of its cosets, and what it makes of others, are one value", \
      "of one type; the same ops read both, and nobody stores them", "values on disjoint sets")    \
  ROW(IN_PLACE, "in-place",                                                                        \
      "y = f x; z = select c y w  is  z = f x where c holds, and leaves w elsewhere",              \
      "c is that forms of the index are 0, or that one is not; none of these values is made where " \
      "another one is still needed; x is w, or nobody reads it afterwards",                        \
      "coalescing of phi functions")                                                                              \
  ROW(DEAD, "dead",                                                                                \
      "what nobody stores, or reads for something stored, is not made",                            \
      "always: scalar code has no effects", "liveness, by affine hulls of index sets")             \
  ROW(CONSTANT, "constant",                                                                        \
      "an operation on constants is a constant",                                                   \
      "not a foreign function", "core/scalar/scalar.h evaluates both")                             \
  ROW(INDEX, "index",                                                                              \
      "sums, differences and multiples of affine functions of the index are such functions; a "    \
      "comparison of two is constant where their difference never changes its sign",               \
      "i64; comparisons: nothing overflows", "arithmetic modulo 2^64")                             \
  ROW(IDENTITY, "identity",                                                                        \
      "x + 0 = x, x * 1 = x, x & x = x, ~ (x < y) = x >= y, p | (~p & q) = p | q, select c x x = " \
      "x, ...",                                                                                    \
      "integers and bool where a number is computed or an order reversed: floats have -0 and NaN",   \
      "ring and lattice laws")                                                                     \
  ROW(MINMAX, "minmax",                                                                            \
      "select (x <= y) x y = min x y, select (x <= y) y x = max x y, and with <, >, >=, total_le", \
      "integers and bool: equal ones are the same bits. Not floats: NaN, and -0 = +0",             \
      "total orders")                                                                              \
  ROW(COMMON_SUBEXPRESSION, "common-subexpression",                                                \
      "equal loads, equal nodes of an op, equal outputs of an op are one",                         \
      "always: scalar code has no effects", "hash-consing")

// clang-format on
typedef enum rule_id {
#define ROW(id, name, law, condition, source) RULE_##id,
  RULES(ROW)
#undef ROW
      RULE_COUNT
} rule_id;

typedef struct rule_row {
  const char *name, *law, *condition, *source;
} rule_row;
extern const rule_row rules[RULE_COUNT];

// ---- what fired ------------------------------------------------------------------------------

typedef struct rule_firings {
  uint64_t times, bytes, operations;  // bytes of memory traffic, operations on scalars: saved
  VEC(uint32_t) steps;                // of the Trace, at which it fired; each once in a row
} rule_firings;

typedef struct rule_log {
  arena *memory;
  rule_firings of[RULE_COUNT];
  bool stopped;  // rewriting ended while rules fired
} rule_log;

// step: NET_NONE where no step asked for it. log may be NULL.
void rule_fired(rule_log *log, rule_id rule, uint32_t step, uint64_t bytes, uint64_t operations);
enum { RULES_ROUNDS = 64 };  // random Nets and programs take up to 7
// One line per rule that fired: how often, at which steps, what it saved; and its law.
void rules_print(text *out, const rule_log *log);

// ---- rewriting -------------------------------------------------------------------------------

// Rewrites an accepted Net until no rule applies, or for RULES_ROUNDS, which the log says. It is an
// accepted one then, and stores the same in every result array. Deterministic; what is new is in
// `a`. log may be NULL.
void rules_apply(arena *a, net *t, rule_log *log);
// The net with complex numbers for the reals of arrays of which all are accessed in pairs, or itself.
// Arguments and results among them have another type and half as many elements. *times: how many
// loads and stores of pairs there were.
const net *net_pair_reals(arena *a, const net *t, uint32_t *times);

#endif
