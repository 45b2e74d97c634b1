// The shares of a step of a stage: what memory they have, and what is read, worked on, and written.
// Private to this room.
//
//   in    a step, open files, an executor of its stage
//   out   the step's files, written; each share that is done is reported, in order
#ifndef PERMC_RUNTIME_EXTERNAL_SHARE_H
#define PERMC_RUNTIME_EXTERNAL_SHARE_H

#include "runtime/external/files.h"

typedef struct share_options {
  const external_run *run;
  run_files *files;
  disk *disk;
  cpu_store *store;
  uint32_t step;
  // So many are done now.
  bool (*report)(void *with, uint64_t done, error *failure);
  void *with;
} share_options;

// How many parts such a step has: its shares, or one where what they do is known at the end.
uint64_t shares_parts(const external_step *s);
bool shares_execute(const share_options *o, error *failure);

#endif
