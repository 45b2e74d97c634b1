// A routine (fusion/net/net.h) as a value: arrays have numbers, and there is neither net nor plan.
// A door of this room. Libraries made ahead of time contain such values, and the files that execute
// them (executor.h) as text.
//
//   argsort of the 5 numbers, of 4 bytes, of array 0, to array 1:
//   {.kind = ROUTINE_SORT, .order = key_order_of(SCALAR_U32, false, 0), .rows = 1, .length = 5,
//    .offsets = ROUTINE_NONE,
//    .pair_count = 2, .pairs = {{0, ROUTINE_NONE, 4}, {ROUTINE_NONE, 1, 8}}}
#ifndef PERMC_RUNTIME_ROUTINES_WORK_H
#define PERMC_RUNTIME_ROUTINES_WORK_H

#include "fusion/net/dimension.h"
#include "runtime/routines/key_rank.h"

// In the order of net_routine_kind.
typedef enum routine_kind {
  ROUTINE_SORT,
  ROUTINE_PLACES,
  ROUTINE_COUNT,
  ROUTINE_PERMUTE,
  ROUTINE_WRONG,
  ROUTINE_TRANSPOSE,
  ROUTINE_KINDS
} routine_kind;

// From one array to another, so many bytes for each key. ROUTINE_NONE: the index, or no array.
#define ROUTINE_NONE UINT32_MAX
typedef struct routine_pair {
  uint32_t from, to, bytes;
} routine_pair;

typedef struct routine_work {
  routine_kind kind;
  bool is_signed, distinct, back, counts;
  key_order order;
  uint64_t rows, length, limit;
  uint32_t offsets;  // ROUTINE_NONE: rows are whole
  uint64_t offset_count;
  uint32_t pair_count, dimension_count;
  const routine_pair *pairs;  // the keys first; at the end, if it counts, from the keys to counts
  const net_dimension *dimensions;
} routine_work;

#endif
