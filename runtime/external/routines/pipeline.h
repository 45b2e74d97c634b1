// Work on what lies in files, piece by piece: piece i is worked on while piece i + 1 is read and
// piece i - 1 is written.
//
//   step   read   work   write
//   0      0
//   1      1      0
//   2      2      1      0
//   3             2      1
//   4                    2
#ifndef PERMC_RUNTIME_EXTERNAL_ROUTINES_PIPELINE_H
#define PERMC_RUNTIME_EXTERNAL_ROUTINES_PIPELINE_H

#include "runtime/disk/disk.h"
#include <stdatomic.h>

// Bytes of a file, from there on.
typedef struct external_place {
  const disk_file *file;  // NULL: none
  uint64_t offset;
} external_place;

static inline external_place place_after(external_place p, uint64_t bytes) {
  return (external_place){p.file, p.offset + bytes};
}

// By what something is done to arrays in files, piece by piece, and who is told of it.
typedef struct external_means {
  disk *disk;
  uint64_t memory;  // bytes, at most
  uint32_t threads;
  const atomic_bool *interrupted;  // may be NULL
  // Of the pieces of all that is done by these means, which are done in order: those of what comes
  // before, and how many are done already.
  uint64_t before, done;
  // After each piece. May be NULL.
  bool (*report)(void *with, uint64_t done, error *failure);
  // Nothing is under way: one can go on with so many pieces `done`, and with no fewer, whatever
  // ends it from now on. May be NULL.
  bool (*settle)(void *with, uint64_t done, error *failure);
  void *with;
} external_means;

static inline bool means_report(const external_means *m, uint64_t done, error *failure) {
  return !m->report || m->report(m->with, m->before + done, failure);
}

// A list that grows.
typedef struct transfers {
  disk_part *parts;
  size_t count, room;
} transfers;

// False: out of memory. No bytes, or no file: nothing is added.
bool transfers_add(transfers *t, external_place at, void *memory, uint64_t bytes, bool writes);

enum { PIPELINE_BUFFERS = 3 };  // piece i has buffer i % 3

typedef struct pipeline {
  disk *disk;
  uint64_t first, last;  // the pieces first, ..., last - 1
  void *with;
  bool (*load)(void *with, uint64_t piece, transfers *t);  // false: out of memory
  bool (*work)(void *with, uint64_t piece, error *failure);
  bool (*store)(void *with, uint64_t piece, transfers *t);
  bool (*done)(void *with, uint64_t piece, error *failure);  // may be NULL
} pipeline;

bool pipeline_run(const pipeline *p, error *failure);

#endif
