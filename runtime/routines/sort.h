// Stable sorting by keys, in rows, with any number of payloads. The door of this room to whoever
// runs a plan's sorts; it knows arrays only, neither nets nor plans.
//
//   uint32_t keys[5] = {7, 3, 9, 3, 7}, sorted[5], index[5];
//   sort_payload p = {NULL, index, 4};
//   sort_task t = {.order = key_order_of(SCALAR_U32, false, 0), .rows = 1, .length = 5,
//                  .keys = keys, .sorted = sorted, .payload_count = 1, .payloads = &p,
//                  .crew = {.threads = 1}};
//   routine_sort(&t)                       sorted = 3 3 7 7 9, index = 1 3 0 4 2
//
// The order of keys is the language's, scalar_apply's OP_TOTAL_LE: as <=, but -0.0 before 0.0, and
// NaN last, all NaN equal. A descending order turns that of unequal keys round; equal ones stay in
// theirs.
#ifndef PERMC_RUNTIME_ROUTINES_SORT_H
#define PERMC_RUNTIME_ROUTINES_SORT_H

#include "runtime/routines/crew.h"
#include "runtime/routines/key_rank.h"

// Element i of `from` goes to where key i goes, in `to`, which is another array or the same one.
// from = NULL: the elements are 0, 1, ... in each row, unsigned numbers of 4 or 8 bytes.
typedef struct sort_payload {
  const void *from;
  void *to;
  size_t size;  // bytes of an element, any but 0
} sort_payload;

typedef struct sort_task {
  key_order order;          // of the keys
  uint64_t rows, length;    // rows of that length each, one after the other, or
  const uint64_t *offsets;  //   not NULL: row i is elements offsets[i] ... offsets[i + 1] - 1
  const void *keys;
  void *sorted;  // the keys in order: another array, or the same one; NULL: not wanted
  uint32_t payload_count;
  const sort_payload *payloads;
  crew crew;
} sort_task;

// False: out of memory, or interrupted. Then what was to be written is anything.
ROUTINE_SCOPE bool routine_sort(const sort_task *t);

enum {
  SORT_SHARE = 1 << 14,           // elements that a thread takes at once
  ROUTINE_DIGITS_LEAST = 1 << 12  // of a row with payloads that is sorted by the digits of its keys
};

#endif
