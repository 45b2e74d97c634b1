// Programs on arrays in files, by as much memory as there is: the steps of
// fusion/external/external.h.
//
//   in    the steps, a Plan of their Net, an executor for it; arguments in memory or in files
//   out   results in files of their own
//
// A step of a stage works on one share after the other, while the next is read and the one before
// is written. What shares read and write has two buffers each; share s has number s % 2.
//
//   read      work      write
//   share 0
//   share 1   share 0
//   share 2   share 1   share 0
//
// A step never writes what it reads, so it may be done again. (Where it replaces some elements of
// blocks, it reads the others, which are the same before and after.) A run with a folder that stays
// notes each step that is done (journal.h), and goes on there after whatever has ended it. A sort of
// rows that memory does not hold notes also that the runs of a row are sorted.
//
//   run.c      steps, one after the other      files.c     the files of a run
//   share.c    the shares of a step            journal.c   how far a run is
#ifndef PERMC_RUNTIME_EXTERNAL_RUN_H
#define PERMC_RUNTIME_EXTERNAL_RUN_H

#include "fusion/external/external.h"
#include "runtime/cpu/cpu.h"
#include "runtime/disk/disk.h"

typedef struct external_run {
  const external *steps;
  const plan *plan;  // of steps->net
  const cpu_executor *executor;
  uint32_t threads;
  const atomic_bool *interrupted;
  progress progress;       // parts that are done: shares, and pieces of routines
  uint64_t memory;         // bytes, at most
  const char *folder;      // where files between steps are, and results
  bool resume;             // the folder is the run's own, is made, and stays
  const array *arguments;  // stay the caller's
  size_t argument_count;
  disk_counts *moved;  // to be set; may be NULL
  // To be set where a folder stays: a descriptor that keeps other runs out of it until it is
  // closed, as results have their files there. NULL: nothing does.
  int *lock;
  uint32_t returned;  // results from this number on are small, and wanted in memory
} external_run;

// Runs the steps. `results`, by number, {0} at first, are the caller's also on failure; they have one
// dimension, their count. False: *failure says why.
bool external_execute(const external_run *r, array *results, error *failure);
// The parts of a step, and what it moves: about, of a routine. False: so much memory does not do,
// or it is not done in files.
typedef struct external_amount {
  uint64_t parts;
  external_traffic moved;
} external_amount;
bool external_measure(const external *steps, size_t step, uint64_t memory, external_amount *out,
                      error *failure);
// What a run with a folder of its own has left there goes, and the folder. Takes its lock; -1: it
// has none.
void external_remove(const char *folder, int lock);

#endif
