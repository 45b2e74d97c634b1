// Sorting of words of 4 or 8 bytes by one thread or several. Private to this room.
#ifndef PERMC_RUNTIME_ROUTINES_WORDS_TEAM_H
#define PERMC_RUNTIME_ROUTINES_WORDS_TEAM_H

#include "runtime/routines/words.h"

typedef struct word_task {
  const word_sorter *sorter;
  word_code in, out;  // of keys, and of what gets into `to`
  const void *keys;
  void *to;       // another array, or keys itself
  void *scratch;  // see word_job
  uint64_t count;
  unsigned threads;
  const atomic_bool *interrupted;  // may be NULL
} word_task;

// False: out of memory, or interrupted.
bool word_sort(const word_task *t);

#endif
