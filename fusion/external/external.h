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
// Other maps (with loops, or weights that are no powers of two) have boxes (fusion/shares/box.h).
//
//   external.c   for how much memory       move.c       what shares read and write
//   passes.c     steps from outer plans    step.c       a stage as a step
//   loops.c      stages by loops           memory.c     stages whose arrays are shares' memory
//   loop_bits.c  loops as index bits       text.c       verification, text
//   blocks.c     loops in blocks           making.h     all of these while steps are made
//   copy.c       arrays in another order
#ifndef PERMC_FUSION_EXTERNAL_EXTERNAL_H
#define PERMC_FUSION_EXTERNAL_EXTERNAL_H

#include "fusion/net/net.h"
#include "fusion/shares/box.h"
#include "fusion/target/target.h"

// What shares read of an array, or write to it.
typedef struct external_move {
  net_id file;        // of external->arrays
  net_id memory;      // of external->net: an argument to be read into, or a temporary to be written
  uint64_t elements;  // of a share's memory
  uint64_t shares;
  uint64_t end;         // of the array, elements from here on are not in the file
  scalar_bits padding;  // to be read: what memory has of elements that are not in the file
  bool writes;          // to be written, else to be read
  bool whole;           // the same for all shares: read before the first, or written after the last
  bool partial;         // to be written: not all of it is stored, so what was there is read first,
  bool fresh;           // ... unless nothing was
  // By index bits, or else by a box.
  bool by_bits;
  f2_space addresses;   // U
  f2_affine bases;      // share s has the coset of bases(s), which has no leading bit of U
  uint32_t live_count;  // ... but none where a form of s is 1
  net_form *live;
  share_box box;
  // Of the memory of all shares, share s has elements origin + s * apart, ...; or those that have
  // its addresses.
  bool by_address;
  uint64_t origin, apart;
} external_move;

typedef VEC(external_move) external_moves;

typedef struct external_step {
  const net_routine *routine;  // on arrays of external->arrays, as a whole; or NULL:
  uint32_t stage;              // of external->net
  uint64_t shares;             // in any order; one after the other where a write is partial
  external_moves moves;
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

// Whether its elements are read before a share is worked on.
static inline bool external_move_reads(const external_move *m) {
  return !m->writes || (m->partial && !m->fresh);
}
// Whether anything of a share is written: others need not be executed.
bool external_share_acts(const external_step *s, uint64_t share);
// How many blocks a share has of a move, at most, each with as many places; the i-th of them, in
// order of places. False: none of its elements is in the file. (The others that memory has are
// padding.)
uint64_t external_block_count(const external_move *m);
bool external_block_at(const external_move *m, uint64_t share, uint64_t i, share_block *out);
// Code addresses a share's memory by those in all shares': the address of its first element.
int64_t external_origin(const external_move *m, uint64_t share);

// NULL, or what is wrong.
const char *external_verify(arena *a, const external *e);
// The steps, then the net.
void external_print(text *out, const external *e);

#endif
