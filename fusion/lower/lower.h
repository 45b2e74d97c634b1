// Trace to Net: every movement of data becomes a change of coordinates.
//
// In: a verified Trace. Out: a Net (fusion/net/net.h) that makes the same result arrays.
//
// A Trace value is a box of elements, numbered row by row: its AXES are its batch and dimensions,
// each a loop (of any extent) or a bit. Lowering knows for each value, instead of its elements,
// where they lie: an ELEMENT NODE is an array and a map from the axes to its addresses, the frame
// (F, f) of the algebra. A split, a column's pairs, a bmmc substitute a matrix in that map; nothing
// moves.
//
//   step                        axes     where the element with axes (y_1, y_0) lies
//   %0 argument 0               y_1 y_0  a0 at 2 y_1 + y_0
//   %1 split %0 m=1             y_1|y_0  a0 at 2 y_0 + y_1          batch | dimension
//   %3 element %2 [0]           y_1|     a0 at y_1                  a fixed y_0: an affine form
//
// Scalar steps build expressions over element nodes and axes. When an array of them is asked for
// (PACK, or the end of a map), it is PLACED: an op in some stage, which overwrites its operands in
// place. Where an operand lies elsewhere than the op needs it (zipped arrays with different frames,
// a scalar used for a whole row, a slice that is no subspace), its stage ends, it passes through
// memory, and is loaded through a map: the only moves there are.
//
// Windows are expressions: what is computed from memory in few nodes is computed again at every
// distance that asks for it, where that takes no more than to store it. Concatenations choose by
// the index, and loads know where arrays end.
//
//   concat (take 1 xs) (take 7 xs)    select (i < 1) a0[0] a0[i - 1]
//
//   retrace.c     a Trace that is made of another one
//   movements.c   first: gathers and scatters by places that are known, as steps that move
//   whole.c       then: functions on parts of an array as functions on all of it
//   lower.c       the steps, as rows of a table
//   value.c       expressions over axes, and what steps do to them
//   pieces.c      packs and concatenations that wait, as one value
//   space.c       axes, maps, and changes of axes
//   pool.c        expressions and stages while they grow; two stages as one
//   placement.c   where the elements of an op lie in a stage
//   place.c       ops, loads and stores
//   gather.c      gathers and scatters: places that are data
//   routines.c    sorts, places of keys, counts of keys
//   join.c        values of a stage that lie side by side
//   log.c         the laws that were at work, for `permc explain --rules`
#ifndef PERMC_FUSION_LOWER_LOWER_H
#define PERMC_FUSION_LOWER_LOWER_H

#include "fusion/rules/rules.h"
#include "lang/trace.h"

// The Net lives in `a`. `log` (may be NULL) gets the laws that spared movements. Never fails but
// for memory (the arena's handler).
net *lower(arena *a, const trace *t, rule_log *log);

#endif
