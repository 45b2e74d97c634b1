// One file of a run. Private to this room.
//
//   in    a folder and a name, bytes, a journal or none
//   out   an open file with so much room; what was written, on the disk
//
//   kind        without a journal                                            with one
//   between     no name: gone with the process                               in the folder
//   result      none where it can get one later, else one until it is        in the folder
//               the user's
#ifndef PERMC_RUNTIME_EXTERNAL_FILE_H
#define PERMC_RUNTIME_EXTERNAL_FILE_H

#include "runtime/cpu/storage.h"
#include "runtime/disk/disk.h"
#include "runtime/external/journal.h"

typedef struct run_file {
  disk_file disk;
  char *path;
  uint64_t offset;        // of element 0
  storage_item use;       // of an array, by steps
  bool named;             // it has a path in the file system, and is the run's
  int slot;               // of system/temporary.h; -1: none
  struct run_file *next;  // of a routine's, which have numbers
  uint32_t number;
} run_file;
#define RUN_FILE_NONE ((run_file){.use.first = STORAGE_NEVER, .slot = -1})

typedef struct run_file_options {
  const char *folder, *name;
  journal *journal;  // NULL: there is none
  bool result;
  uint64_t bytes;
} run_file_options;

// New, or as the journal's run has left it. False: run_file_close ends it all the same.
bool run_file_make(run_file *f, const run_file_options *o, error *failure);
void run_file_close(run_file *f, bool remove);
// All that was written is on the disk.
bool run_file_sync(const run_file *f, error *failure);
// Says also what to do, where that is known of the cause.
void run_file_advise(error *failure);

#endif
