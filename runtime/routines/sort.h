// Stable sorting by keys, in rows, with any number of payloads. The door of this room to whoever
// runs a plan's sorts; it knows arrays only, neither nets nor plans.
//
//   uint32_t keys[5] = {7, 3, 9, 3, 7}, sorted[5], index[5];
//   sort_payload p = {NULL, index, 4};
//   sort_task t = {.type = SCALAR_U32, .rows = 1, .length = 5, .keys = keys, .sorted = sorted,
//                  .payload_count = 1, .payloads = &p, .threads = 1};
//   routine_sort(&t)                       sorted = 3 3 7 7 9, index = 1 3 0 4 2
//
// The order of keys is the language's, scalar_apply's OP_TOTAL_LE: as <=, but -0.0 before 0.0, and
// NaN last, all NaN equal. `descending` turns the order of unequal keys round; equal ones stay in
// theirs.
#ifndef PERMC_RUNTIME_ROUTINES_SORT_H
#define PERMC_RUNTIME_ROUTINES_SORT_H

#include "core/scalar/scalar.h"
#include <stdatomic.h>

// Element i of `from` goes to where key i goes, in `to`, which is another array or the same one.
// from = NULL: the elements are 0, 1, ... in each row, unsigned numbers of 4 or 8 bytes.
typedef struct sort_payload {
  const void *from;
  void *to;
  size_t size;  // bytes of an element, any but 0
} sort_payload;

typedef struct sort_task {
  scalar_type type;  // of the keys: one that is ordered
  bool descending;
  uint32_t bits;            // not 0: the keys are integers 0 ... 2^bits - 1
  uint64_t rows, length;    // rows of that length each, one after the other, or
  const uint64_t *offsets;  //   not NULL: row i is elements offsets[i] ... offsets[i + 1] - 1
  const void *keys;
  void *sorted;  // the keys in order: another array, or the same one; NULL: not wanted
  uint32_t payload_count;
  const sort_payload *payloads;
  uint32_t threads;                // at most, and at least 1
  const atomic_bool *interrupted;  // looked at now and then; may be NULL
} sort_task;

// False: out of memory, or interrupted. Then what was to be written is anything.
bool routine_sort(const sort_task *t);

#endif
