// Sorting of words of 4 or 8 bytes by one thread or several. Private to this room.
#ifndef PERMC_RUNTIME_ROUTINES_WORDS_TEAM_H
#define PERMC_RUNTIME_ROUTINES_WORDS_TEAM_H

#include "runtime/routines/words.h"

typedef struct word_task {
  const word_sorter *sorter;
  word_job job;  // its scratch: word_task_scratch words
  uint64_t count;
  crew crew;
} word_task;

ROUTINE_SCOPE uint64_t word_task_scratch(uint64_t count, unsigned threads);

// False: out of memory, or interrupted.
ROUTINE_SCOPE bool word_sort(const word_task *t);

#endif
