// A Net in shares: each rank has a part of the elements, and all work on their parts at once.
//
// In: a Net, and p: there are 2^p ranks. Out: a Net that computes the same, in stages of which each
// says how ranks share it. A SHARE is to a rank what a tile is to a block of threads: a coset of a
// subspace V of the stage's index space that contains the directions of its ops. The p other index
// bits number it.
//
//   main : [2^n]i32 -> [2^n]i32          n = 3, 2 ranks (p = 1), main xs = parm 4 (column 1 cs)
//                                        in two columns: ops in directions 1, then 4
//
//   stage 0  split     S = x2: rank 0 has elements 0 ... 3, V = <1, 2>        op 1
//                      stores T at (S | J | rest) = (x2 | x1 | x0)
//   stage 1  exchange  T to T': blocks of 2 elements, (share, block) -> (block, share)
//   stage 2  split     S = x1: rank 0 has elements 0 1 4 5, V = <1, 4>        op 4
//                      loads T' at (S | I | rest) = (x1 | x2 | x0)
//   stage 3, 4         an exchange and a copy: the result lies in slabs, too
//
// The forms that number shares for a writer (S_a) and a reader (S_b) span a space W of p + rho
// forms. J are forms of S_b, I forms of S_a that complete the other to W, and `rest` tells elements
// of one block apart, for both alike. So any affine exchange is one message of 2^(n - p - rho)
// elements for each pair of 2^rho ranks, and what is before and behind it are maps of loads and
// stores.
//
// Addresses are those in whole arrays. A rank's memory for an array in slabs begins at the address
// of its share; code gets a pointer that is shifted by this, so that it is the same for all ranks,
// and what depends on the rank follows from the highest bits of the index.
//
//   ranks.c    stages one after the other     shares.c   what holds of shares; text
//   sharing.c  the Net while it is made
//   bits.c     one by bits of its index       turns.c    one by turns of a loop
//   passage.c  arrays that change shares      window.c   what shares load of others' slabs
//   routine.c  a routine on slabs             peer.c     for GPUs that reach each other's memory
//   box.c      what shares touch of arrays
//   cost.c, routine_cost.c  what is sent, and seconds
#ifndef PERMC_FUSION_SHARES_SHARES_H
#define PERMC_FUSION_SHARES_SHARES_H

#include "fusion/net/net.h"

// How ranks execute a stage. Each of the three that move elements has one load and one store.
typedef enum share_kind {
  SHARE_SPLIT,     // each its share: of the index bits, or of the turns of a loop (net.h)
  SHARE_EXCHANGE,  // blocks of an array change shares
  SHARE_GATHER,    // each gets all elements of an array
  SHARE_WINDOW,    // each gets those elements of an array that its share loads
  SHARE_ROUTINE,   // together they execute a routine, on slabs
  SHARE_WHOLE      // each executes all of it, on arrays that it has as a whole
} share_kind;
extern const char *const share_kind_names[];  // "split", ...

// Whether it only brings elements of an array to other ranks.
static inline bool share_only_moves(share_kind kind) {
  return kind == SHARE_EXCHANGE || kind == SHARE_GATHER || kind == SHARE_WINDOW;
}

// A box of one run (box.h): share s has elements first + s * step, ..., first + s * step + length -
// 1, as far as they exist.
typedef struct share_window {
  int64_t first, step;
  uint64_t length;
} share_window;

typedef struct share_stage {
  share_kind kind;
  net_id from, to;  // of what only moves
  // EXCHANGE: block q, of 2^block elements, of `from` becomes block blocks(q) of `to`. The highest p
  // bits of the number of a block are its share.
  int block;
  f2_affine blocks;
} share_stage;

typedef struct shares {
  const net *net;  // any backend may execute it as a whole
  int p;
  share_stage *stages;  // by stage
  // By array: share s has elements s * slab, ..., (s + 1) * slab - 1, as far as they exist. 0: each
  // rank has all of it. Where there is a window, shares have that instead, and may overlap.
  uint64_t *slab;
  const share_window **window;
} shares;

// For 2^p ranks at one time. `n` has been accepted by net_verify. The arrays of `n` keep their
// numbers.
const shares *shares_of_ranks(arena *a, const net *n, int p);
// The same for GPUs of one process, of which one executes a routine, on whole arrays.
const shares *shares_for_peers(arena *a, const net *n, int p);
// How many of its keys each rank has, of a routine that ranks execute together; 0: they cannot.
// `slab`: by array. Arrays of several elements for each key have as many times the slab. Whole
// arrays may be read; written are counts and what is wrong.
uint64_t shares_routine_slab(const net *n, const net_routine *r, const uint64_t *slab,
                             uint64_t ranks);
// A Net for ranks that reach each other's memory: without exchanges and gathers (peer.c).
net *shares_of_peers(arena *a, const shares *s);
// How many bits number the ranks; -1: not a power of two, or too many.
int shares_bits(uint64_t ranks);
// NULL, or what is wrong: an array that is read in another way than it is written, or the net.
const char *shares_verify(arena *a, const shares *s);
// As the net, with the kind of each stage and the slab of each array.
void shares_print(text *out, const shares *s);

#endif
