// Sorting of unsigned words of 32 or 64 bits by quicksort, in vectors where the processor has them.
// Private to this room.
//
//   const word_sorter *s = word_sorter_find(4, 0);
//   word_job j = {.keys = keys, .to = sorted, .scratch = scratch};
//   s->sort(&j, 0, 1000, 0);                    sorted[0 ... 999] = keys[0 ... 999] in order
//
//   words.c             which instruction set; what they share
//   words_avx512.inc, words_avx2.inc, words_scalar.inc    of an instruction set and a width, which
//                       include the rest:
//   words_code.inc      vectors, and words as the order of keys has them
//   words_network.inc   what vectors sort in registers
//   words.inc           quicksort
#ifndef PERMC_RUNTIME_ROUTINES_WORDS_H
#define PERMC_RUNTIME_ROUTINES_WORDS_H

#include "runtime/routines/crew.h"
#include "runtime/routines/key_rank.h"

enum { WORD_SCRATCH = 1 << 12 };  // words: fewer are partitioned to and fro, more in place

// For a sort of so many words.
static inline uint64_t word_scratch(uint64_t count) {
  return count < WORD_SCRATCH ? count + 1 : WORD_SCRATCH;
}

typedef struct word_job {
  word_code in, out;  // of keys, and of what gets into `to`
  const void *keys;
  void *to;                        // another array, or keys itself
  void *scratch;                   // word_scratch words
  const atomic_bool *interrupted;  // may be NULL
} word_job;

typedef struct word_sorter {
  size_t size;    // of a word
  size_t vector;  // bytes of a vector; of a word where there are none
  // Sorts the words first, ..., first + count - 1, none of which is below `least`. False:
  // interrupted.
  bool (*sort)(const word_job *j, uint64_t first, uint64_t count, uint64_t least);
  // Sorts `count` arrays of `length` words each, the first of which begins at word `first`.
  bool (*sort_rows)(const word_job *j, uint64_t first, uint64_t length, uint64_t count);
  // Puts the words up to `most` in front of the others. How many those are. from may be `to`.
  uint64_t (*partition)(const void *from, word_code in, uint64_t most, void *to, uint64_t count);
} word_sorter;

// For words of 4 or 8 bytes; vectors of at most so many bytes, 0: of any length.
ROUTINE_SCOPE const word_sorter *word_sorter_find(size_t size, uint32_t most);

#endif
