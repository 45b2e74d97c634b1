// Elements in the order of their classes, stably, and back. A door of this room.
//
//   classes   1 0 2 0 1 | 2 0 1        two chunks; before each, how many go before it of each class:
//   starts    0 3 6       2 5 7        of chunk 0 class 0 from place 0 on, 1 from 3, 2 from 6; ...
//   places    3 0 6 1 4 | 7 2 5
//
// Chunks are counted, then moved, by all threads.
#ifndef PERMC_RUNTIME_ROUTINES_CLASSES_H
#define PERMC_RUNTIME_ROUTINES_CLASSES_H

#include "runtime/routines/crew.h"

// The classes of elements first, ..., last - 1.
typedef void classify_elements(const void *with, uint64_t first, uint64_t last, void *classes);

typedef struct class_order {
  crew crew;
  uint64_t count;
  uint32_t class_count;
  uint32_t class_bytes;  // 1 or 2
  void *classes;         // by element; room for `count`
  uint64_t *starts;      // by chunk and class; room for class_order_starts
} class_order;

enum { CLASS_CHUNK = 1 << 16 };

// As many, of which the first class_count say where each class begins; and room for each thread.
static inline uint64_t class_order_starts(uint64_t count, uint32_t class_count, unsigned threads) {
  return (count / CLASS_CHUNK + 1 + threads) * class_count;
}

// All but what it has room for is set. False: interrupted.
ROUTINE_SCOPE bool class_order_find(const class_order *o, classify_elements *classify,
                                    const void *with);
// Elements of `unit` bytes to another array: into the order of classes, or back. from NULL: their
// numbers, of 4 or 8 bytes, into that order. False: interrupted.
ROUTINE_SCOPE bool class_order_move(const class_order *o, const void *from, void *to, size_t unit,
                                    bool back);

#endif
