// Where sorted runs are cut, so that the first parts of all, then the second ones, ... are what the
// sorted whole has first, then next: buckets. Private to this room.
//
//   run 0 is 1 3 5 5, run 1 is 2 5 5 8; samples are every second element: 1 5 | 2 5
//   the samples in order of (key, run, place)    1 2 5 5      of two buckets, the second begins with
//   its splitter                                 the 5 at place 2 of run 0
//   cuts   0 0, 2 1, 4 4                          buckets 1 3 | 2 and 5 5 | 5 5 8
//
// A splitter has one place in each run: elements before it are lower, or equal and of a run before
// its own. Samples say between which two of them that place is; that stretch is read. So cuts are
// exact, whatever keys are equal, and what is sorted stably bucket by bucket is sorted stably.
//
// Of a row that segments cut (segments.h), keys stand in the order of their segments first. A run
// has its segments in order; so where a splitter's is in one run alone, all others stand before it
// or behind it.
//
// A bucket of q samples of r runs, of which one is taken every s elements, has less than (q + r) s
// elements.
#ifndef PERMC_RUNTIME_EXTERNAL_ROUTINES_CUTS_H
#define PERMC_RUNTIME_EXTERNAL_ROUTINES_CUTS_H

#include "runtime/external/routines/segments.h"
#include "runtime/routines/key_order.h"

typedef struct run_cuts {
  key_order order;
  external_place keys;  // of run 0; runs lie one after the other
  uint64_t count;       // of all keys
  uint64_t run, runs;   // keys of a run, but perhaps of the last
  uint64_t step;        // keys 0, step, ... of each run are samples
  uint64_t buckets;
  const segment_border *borders;  // of runs; NULL: the row is one segment
  char *room;                     // for a stretch of each run
  const external_means *by;
  // Bucket b is cut; all before it are. May be NULL.
  bool (*found)(void *with, uint64_t b, error *failure);
  void *with;
} run_cuts;

// How many a whole run has, and all.
uint64_t cuts_samples_of_run(const run_cuts *c);
uint64_t cuts_samples(const run_cuts *c);
// Bytes of a stretch of each run.
uint64_t cuts_room(const run_cuts *c);

// The ranks of the samples of a run.
void cuts_draw(const run_cuts *c, const char *keys, uint64_t count, uint64_t *samples);
// cuts[b * runs + r]: how many keys of run r stand before bucket b, for b = 0 ... buckets.
// samples: of all runs.
bool cuts_find(const run_cuts *c, const uint64_t *samples, uint64_t *cuts, error *failure);

#endif
