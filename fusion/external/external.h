// A Net whose arrays lie in files, and memory has a part of them at a time (external memory;
// Aggarwal and Vitter, 1988; Cormen, Sundquist and Wisniewski, 1999).
//
// In: a Net, a target, how many bytes of memory there are. Out: a list of STEPS, each of which
// reads files once and writes files once. The planner makes it: it plans for a target one level
// further out, whose tile is a part of the memory and whose line is a block of the disk. Each pass
// of that plan is a step, and each of its tiles a SHARE, which is loaded, worked on, and stored.
// What is done with a share is a stage of another Net, planned as ever, whose arrays are the memory
// of shares.
//
//   main : [2^4]i32 -> [2^4]i32    main = bitrev; memory for 8 elements, blocks of 2
//
//   outer plan  one pass: load at x, store at x3 + 2*x2 + 4*x1 + 8*x0. Blocks that are loaded are cosets
//               of <1>, blocks that are stored of <8>: the tile is V = <1, 2, 8>, and s = x2 numbers shares
//   step 0      stage 0, 2 shares
//     reads     elements x0 + 2*x1 + 4*s + 8*x3 of the argument: for s = 0 blocks 0 1, 2 3, 8 9, 10 11
//     places    x0 + 2*x1 + 4*x3: in order of addresses, without gaps
//     writes    elements x3 + 2*s + 4*x1 + 8*x0 of the result: for s = 0 blocks 0 1, 4 5, 8 9, 12 13
//
// Of a load or store at A x ^ c, a share with tile V has the addresses of a coset of U = A V.
// Places are the coordinates of U in its echelon basis (core/f2.h), so that a place grows with its
// address.
//
// Other maps (with loops, or weights that are no powers of two) have a BOX: of each dimension that
// the map numbers, a share has some neighbours. A stage by loops has its loops in blocks, of which a
// share has one of each:
//
//   main : [5][7]i32 -> [7][5]i32     main xs = transpose (map reverse xs), in blocks of 2 x 4
//
//   stage       loops 5 7, load at 7*o0 - o1 + 6, store at o0 + 5*o1
//   shares      3 x 2: share s has o0 = 2*(s / 2) + 0 ... 1, o1 = 4*(s % 2) + 0 ... 3
//   reads       first 3, a run of 4 elements, 2 of them 7 apart; s / 2 adds 14, s % 2 adds -4
//   writes      first 0, a run of 2 elements, 4 of them 5 apart; s / 2 adds 2, s % 2 adds 20
//   share 5     o0 = 4, o1 = 4 5 6: elements 28 29 30, which are the last 3 of its run; written are
//               elements 24, 29, 34, the first of each run
//
//   external.c   for how much memory       move.c       what shares read and write: by index bits
//   passes.c     steps from outer plans    box.c        by boxes
//   loops.c      stages by loops           memory.c     stages whose arrays are shares' memory
//   loop_bits.c  loops as index bits       text.c       verification, text
//   blocks.c     loops in blocks           making.h     all of these while steps are made
//   copy.c       arrays in another order   step.c       a stage as a step
#ifndef PERMC_FUSION_EXTERNAL_EXTERNAL_H
#define PERMC_FUSION_EXTERNAL_EXTERNAL_H

#include "fusion/net/net.h"
#include "fusion/target/target.h"

// Elements first, ..., first + count - 1 of an array in a file are elements place, ... of the
// memory.
typedef struct external_block {
  uint64_t first, count, place;
} external_block;

// `count` elements, `stride` addresses and `place` places apart.
typedef struct external_side {
  uint64_t count, stride, place;
} external_side;

// What a share's number adds to its addresses: digit share / divide % extent, times step. Where the
// digit is the highest one, the side has only `last` elements: the first ones, or (`backward`) the
// last ones.
typedef struct external_digit {
  uint64_t divide, extent;
  int64_t step;
  uint32_t side;  // NET_NONE: all of them
  uint64_t last;
  bool backward;
} external_digit;

// The first side goes along runs: with c elements of it, a run has run + stride * (c - 1). The
// others number runs, their strides and places grow.
typedef struct external_box {
  int64_t first;  // the lowest address of share 0
  uint64_t run;
  uint32_t side_count, digit_count;
  external_side *sides;
  external_digit *digits;
} external_box;

// What shares read of an array, or write to it.
typedef struct external_move {
  net_id file;        // of external->arrays
  net_id memory;      // of external->net: an argument to be read into, or a temporary to be written
  uint64_t elements;  // of a share's memory
  uint64_t shares;
  uint64_t end;         // of the array, elements from here on are not in the file
  scalar_bits padding;  // to be read: what memory has of elements that are not in the file
  bool whole;           // the same for all shares: read before the first, or written after the last
  bool partial;         // to be written: not all of it is stored, so what was there is read first,
  bool fresh;           // ... unless nothing was
  // By index bits, or else by a box.
  bool by_bits;
  f2_space addresses;   // U
  f2_affine bases;      // share s has the coset of bases(s), which has no leading bit of U
  uint32_t live_count;  // ... but none where a form of s is 1
  net_form *live;
  external_box box;
  // Of the memory of all shares, share s has elements origin + s * apart, ...; or those that have
  // its addresses.
  bool by_address;
  uint64_t origin, apart;
} external_move;

typedef VEC(external_move) external_moves;

typedef struct external_step {
  const net_routine *routine;  // on arrays of external->arrays, as a whole; or NULL:
  uint32_t stage;              // of external->net
  uint64_t shares;             // in any order
  bool serial;                 // ... but one after the other: they read what others write
  external_moves reads, writes;
} external_step;

typedef struct external {
  VEC(net_array) arrays;  // of the program, with its roles, and what is between steps
  const net *net;         // a stage for each step without a routine; it has tables, too
  VEC(external_step) steps;
} external;

// NULL: *wrong is a sentence that says what does not fit in so many bytes of memory, and how many
// bytes would do, or what cannot be done with files at all. `n` has been accepted by net_verify.
// `instead`: a Net that computes the same and needs less memory, for where `n` does not fit; or
// NULL.
const external *external_make(arena *a, const net *n, const net *instead, const target *t,
                              uint64_t memory, const char **wrong);
// Bytes of memory that a step without a routine has at one time: of what shares read and write two
// buffers, and what a stage that computes keeps between its passes; of what is the same for all
// one.
uint64_t external_step_memory(const external *e, const external_step *s);

// What a step moves between files and memory: a request moves at most so much of one stretch of a
// file (runtime/disk/request.c).
enum { EXTERNAL_REQUEST = 1 << 20 };
typedef struct external_traffic {
  uint64_t reads, writes;  // bytes
  uint64_t requests;
} external_traffic;
// Of a step without a routine, by all its shares.
external_traffic external_step_traffic(const external *e, const external_step *s);
// What the disk takes for it: parts wait for their requests, one part after the other; reads and
// writes are under way at one time.
double external_seconds(const target *t, external_traffic moved, uint64_t parts);

// Whether no element is in two shares of the move.
bool external_move_has_each_once(const external_move *m);
// Whether anything of a share is written: others need not be executed.
bool external_share_acts(const external_step *s, uint64_t share);
// How many blocks a share has of a move, at most, each with as many places; the i-th of them, in
// order of places. False: none of its elements is in the file. (The others that memory has are
// padding.)
uint64_t external_block_count(const external_move *m);
bool external_block_at(const external_move *m, uint64_t share, uint64_t i, external_block *out);
// Code addresses a share's memory by those in all shares': the address of its first element.
int64_t external_origin(const external_move *m, uint64_t share);

// ---- boxes (box.c) ---------------------------------------------------------------------------

uint64_t external_box_runs(const external_box *b);
// The lowest address of the share, if it has all elements of each side.
int64_t external_box_first(const external_box *b, uint64_t share);
// The i-th run in order of places; *first is its address. (out->first is not set.) False: the share
// has none of it.
bool external_box_run(const external_box *b, uint64_t share, uint64_t i, int64_t *first,
                      external_block *out);
// Whether no address is in two of so many shares.
bool external_box_has_each_once(const external_box *b, uint64_t shares);

// NULL, or what is wrong.
const char *external_verify(arena *a, const external *e);
// The steps, then the net.
void external_print(text *out, const external *e);

#endif
