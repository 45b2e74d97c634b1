// The files of a run: arguments where they are, arrays between steps, results. Private to this
// room.
//
//   array         file                                            element 0 at
//   argument      its own, if that has the elements of memory     where it has it
//                 else a copy, for the steps that need it         0
//   between       for the steps from the first to the last        0
//                 that need it
//   result        one that becomes the user's                     RUN_HEADER
//
// Without a folder of its own a run has files without names, but for results. Files of a routine,
// which it has between its pieces, are gone after its step.
#ifndef PERMC_RUNTIME_EXTERNAL_FILES_H
#define PERMC_RUNTIME_EXTERNAL_FILES_H

#include "runtime/external/file.h"
#include "runtime/external/routines/pipeline.h"
#include "runtime/external/run.h"
#include "runtime/system/digest.h"

enum { RUN_HEADER = DISK_PAGE };

typedef struct run_files {
  const external_run *run;
  run_file *arrays;    // by array of the steps
  run_file *routines;  // of the routine at work
  bool has_journal;
  journal journal;
  uint32_t step;
  uint64_t done;  // pieces of it, before this process began
} run_files;

bool files_open(run_files *f, const external_run *r, error *failure);
// All that has not been taken goes; but a run with a journal keeps it.
void files_close(run_files *f);
// What the step needs is there.
bool files_begin_step(run_files *f, uint32_t step, error *failure);
bool files_end_step(run_files *f, error *failure);
// So many pieces of the step are done, and nothing is under way: a run with a journal goes on there.
bool files_settle(run_files *f, uint64_t done, error *failure);
external_place files_place(const run_files *f, net_id a);
external_place files_of_routine(run_files *f, uint32_t number, uint64_t offset, uint64_t bytes,
                                error *failure);
// The result as an array with one dimension; small ones in memory.
bool files_take_result(run_files *f, net_id a, array *out, error *failure);

// What tells the run from others: of its steps, arguments and memory (identity.c).
bool files_identify(const external_run *r, char hex[2 * DIGEST_BYTES + 1], error *failure);

#endif
