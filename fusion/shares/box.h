// What shares of a stage touch of an array by an affine map (net_map): BOXES, which are runs of
// addresses, shifted by digits of the share's number.
//
// Of each dimension that the map numbers, a loop or a row of bits, a share has some neighbours. A
// stage by loops has its loops in blocks, of which a share has one of each:
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
// A window (shares.h) is a box of one run, that one digit shifts.
#ifndef PERMC_FUSION_SHARES_BOX_H
#define PERMC_FUSION_SHARES_BOX_H

#include "core/number.h"
#include "fusion/net/net.h"

// Loops in blocks: of loop l, which has extents[l] turns, share s has turns[l] turns, by digit
// s / divide[l] % counts[l] of its number.
typedef struct share_blocks {
  uint32_t count;
  const uint64_t *extents;
  uint64_t *turns, *divide, *counts;
  uint64_t shares;
} share_blocks;
// One block of each loop; of a stage in shares by turns, the turns of a share.
share_blocks share_blocks_of(arena *a, const net_stage *s);
// After `turns` has changed: the others.
void share_blocks_count(share_blocks *b);

// Elements first, ..., first + count - 1 of an array are elements place, ... of a share's memory.
typedef struct share_block {
  uint64_t first, count, place;
} share_block;

// `count` elements, `stride` addresses and `place` places apart.
typedef struct share_side {
  uint64_t count, stride, place;
} share_side;

// What a share's number adds to its addresses: digit share / divide % extent, times step. Where the
// digit is the highest one, the side has only `last` elements: the first ones, or (`backward`) the
// last ones.
typedef struct share_digit {
  uint64_t divide, extent;
  int64_t step;
  uint32_t side;  // NET_NONE: all of them
  uint64_t last;
  bool backward;
} share_digit;

// The first side goes along runs: with c elements of it, a run has run + stride * (c - 1). The
// others number runs, their strides and places grow.
typedef struct share_box {
  int64_t first;  // the lowest address of share 0
  uint64_t run;
  uint64_t elements;  // of all runs
  uint32_t side_count, digit_count;
  share_side *sides;
  share_digit *digits;
} share_box;

// The box of a stage in shares, or (`blocks`, else NULL) one that will be in blocks. Runs go on where at most
// `gap` elements are between them (UINT64_MAX: the box is one run). False: a share that has fewer
// of a loop has other elements instead.
bool share_box_of_map(arena *a, const net_stage *s, const share_blocks *blocks, const net_map *map,
                      uint64_t gap, share_box *out);
// Two as one, if it has at most as many elements as both. False: nothing is done.
bool share_boxes_join(arena *a, share_box *into, const share_box *b);

uint64_t share_box_runs(const share_box *b);
uint64_t share_box_span(const share_box *b);  // from the lowest address of a share to the highest
// The lowest address of the share, if it has all elements of each side.
int64_t share_box_first(const share_box *b, uint64_t share);
// The i-th run in order of places; *first is its address. (out->first is not set.) False: the share
// has none of it.
bool share_box_run(const share_box *b, uint64_t share, uint64_t i, int64_t *first,
                   share_block *out);
// How far apart in memory elements are that are so many addresses apart, along a side or a run.
uint64_t share_box_places_apart(const share_box *b, uint64_t weight);

// Whether a row of a map depends on one bit, which numbers shares.
static inline bool share_has_row(const net_stage *s, const net_row *row) {
  return is_power_of_two(row->form.mask) && row->form.mask >> net_share_bits(s);
}

#endif
