// Tuning: the planner's target, measured instead of modelled, one program at a time. Private to
// runtime/tune/: the door is permc_tune (runtime/permc.h); what it stores is runtime/tuned/tuned.h.
//
// In: a program and its arguments. Out: a report as text, and a stored target where one is faster.
//
//   search.c   which targets are tried, and which is best: no clock, no program
//   tune.c     permc_tune: compiles, compares, measures, reports
//
// The model's choice for a program is the machine's own target, made smaller for few elements if it
// adapts (fusion/target/target.h). Three of its numbers are tried, one after the other around the
// best so far. How many threads work on a tile follows from the first two. For example
//
//             tile   registers        time    ratio
//   model  128 KiB       1 KiB     1.25 ms    1.000
//           32 KiB       1 KiB     1.10 ms    0.880     the best so far: the others start from here
//           64 KiB       1 KiB     1.18 ms    0.944
//           32 KiB       2 KiB     1.31 ms    1.048
//   best    32 KiB       1 KiB     1.10 ms    0.880     measured against the model once more
#ifndef PERMC_RUNTIME_TUNE_TUNE_H
#define PERMC_RUNTIME_TUNE_TUNE_H

#include "runtime/measure/measure.h"
#include "runtime/tuned/tuned.h"

// ---- searching (search.c) -----------------------------------------------------------------

// What may be tried, in bytes.
typedef struct tune_bounds {
  uint64_t least[TUNED_FIELDS], most[TUNED_FIELDS];
} tune_bounds;

enum { TUNE_VALUES = 4, TUNE_MOST = 30 };
#define TUNE_TIE 0.99    // a candidate of more than that part of the best time is not better
#define TUNE_WORTH 0.98  // ... and of more than that part of the model's time not worth storing

typedef struct tune_candidate {
  tuned_point point;
  double ratio;  // its seconds to those of the model's choice; INFINITY: it cannot be used
} tune_candidate;

// Coordinate search: the values of one field after the other, the others as in the best so far,
// until all of them in turn bring nothing.
typedef struct tune_search {
  uint64_t values[TUNED_FIELDS][TUNE_VALUES];  // ascending
  size_t value_count[TUNED_FIELDS];
  tune_candidate tried[TUNE_MOST];
  size_t count, most;
  const tune_candidate *best;  // NULL: the model's choice
  tuned_point start, at;
  bool start_known;  // it is what the model has chosen
  bool improved;
  size_t field, value, idle;  // next; fields since the last improvement
} tune_search;

// Around `start`, what the model chose for the largest stage. `same`: it chose it for all of them.
// At most `most` candidates (0: TUNE_MOST).
void tune_search_start(tune_search *s, const tuned_point *start, bool same, const tune_bounds *b,
                       size_t most);
// The next candidate. False: the search is at its end.
bool tune_search_next(tune_search *s, tuned_point *p);
// How it did: its seconds to those of the best so far. INFINITY: it cannot be used.
void tune_search_add(tune_search *s, const tuned_point *p, double ratio);

// ---- measuring (tune.c) ------------------------------------------------------------------------

// A compiled program in a measurement.
typedef struct tune_side {
  bench_program program;
  tuned_point point;  // of the model's choice that of its largest stage
} tune_side;

// The seconds of one run of `one`, and their ratio to those of `other` (NULL: 1). False: a run
// failed, reported in the context.
typedef bool tune_clock(void *with, tune_side *one, tune_side *other, double *seconds,
                        double *ratio);

// permc_tune with another clock (NULL: the real one), for tests.
bool tune_program(permc_context *c, const char *entry, const char *backend,
                  permc_value *const *arguments, size_t argument_count,
                  const permc_tune_options *options, tune_clock *clock, void *with, char **report);

// Whether results are the same to the bit; NaN are equal to NaN.
bool tune_same_results(permc_value *const *a, permc_value *const *b, size_t count);

#endif
