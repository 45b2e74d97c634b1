// How far a run is, in a file of its folder, so that the same run can go on there. Private to this
// room.
//
//   permc-journal 3 bddd... 1e02...  what the run is: a digest of its steps, arguments and memory
//   made f2 8192 4be1...             a file of so many bytes was made
//   done 0 17 9c02...                of step 0, which is a sort, 17 pieces are done, and on the disk
//   done 1 0 77aa...                 step 0 is
//
// Each line ends with its hash, of 64 bits. Where a line has another the folder is damaged. A last
// line that does not end was being written when the run was killed: it is not there.
#ifndef PERMC_RUNTIME_EXTERNAL_JOURNAL_H
#define PERMC_RUNTIME_EXTERNAL_JOURNAL_H

#include "core/error.h"

typedef struct journal {
  char *path;
  int descriptor;
  text lines;  // as they are in the file
  uint32_t step;
  uint64_t done;
} journal;

// Of the run that is known by `digest`: new, or as it was left. False: *failure says why; another
// run is known there, or is at work, or what is there is damaged, or of no run.
bool journal_open(journal *j, const char *folder, const char *digest, error *failure);
void journal_close(journal *j);  // {0} is allowed
// A descriptor that keeps other runs out until it is closed: of a journal that is closed then.
int journal_keep(journal *j);
// Of a run that has ended: what is left of its files is no run's any more. Takes the descriptor
// that journal_keep has given (-1: nobody has one), and gives one that keeps runs out while the
// files are removed; -1: there is no journal, or a run is at work.
int journal_clear(int folder, int lock);
bool journal_note_done(journal *j, uint32_t step, uint64_t done, error *failure);
bool journal_note_made(journal *j, const char *name, uint64_t bytes, error *failure);
// Whether files of runs have such names.
bool journal_is_of_run(const char *name);
// The folder lacks something, or has what was not written: says what to do. False.
bool journal_fail_damaged(error *failure, const char *folder, const char *format, ...)
    PRINTF_LIKE(3, 4);
bool journal_has_made(const journal *j, const char *name, uint64_t bytes);

#endif
