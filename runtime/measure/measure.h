// Measuring: contestants that take turns, and what their times say.
//
// In: functions that run something once. Out: medians of seconds and of ratios, with intervals.
// For permc_tune and permc bench. measure.c is the room's one file.
//
//   bench_contestant both[] = {{.name = "permc", .turn = turn_permc, .with = &program},
//                              {.name = "copy", .turn = turn_copy, .with = &buffers}};
//   bench_limits limits = bench_limits_default;
//   if (bench_measure(both, 2, &limits)) {
//     both[0].figures.median;                       // seconds
//     both[1].ratio.median;                         // of permc's to the copy's, pair by pair
//   }
//
// Contestants are measured in rounds, each once in a round (A B C, B C A, C A B, A B C, ...): when
// the machine's speed drifts or somebody else takes a processor, it happens to all of them. What is
// compared is the ratio within a round.
//
// The interval of a median is distribution-free: of n independent samples in order, the number that
// lie below the true median is binomial (n, 1/2), so that the median lies between the l-th smallest
// and the l-th largest but with probability 2 P(B < l) (Gibbons and Chakraborti, Nonparametric
// Statistical Inference, section 5.2). l is the largest for which that is at most 5 %.
#ifndef PERMC_RUNTIME_MEASURE_MEASURE_H
#define PERMC_RUNTIME_MEASURE_MEASURE_H

#include "runtime/permc.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- statistics ------------------------------------------------------------------------------

typedef struct bench_figures {
  size_t runs;
  double median, mean, least, greatest;
  double low, high;  // between them lies the true median, with a probability of 95 %
} bench_figures;

// With fewer than BENCH_LEAST_RUNS no interval has that probability: then it is the whole range.
enum { BENCH_LEAST_RUNS = 6, BENCH_MOST_RUNS = 1000 };

// Of `count` samples, at most BENCH_MOST_RUNS (sorts them). All zero if there is none.
bench_figures bench_figures_of(double *samples, size_t count);
// The interval is from the rank-th smallest (counted from 1) to the rank-th largest.
size_t bench_interval_rank(size_t count);
// Half the interval's width, relative to the median.
double bench_spread(const bench_figures *f);

// ---- rounds ----------------------------------------------------------------------------------

// One turn of a contestant: the seconds of one run of it (or the mean of several, see bench_time).
// What is not to be measured (restoring data, checking results) is done before and after the clock
// runs. False: something went wrong, and the measurement ends.
typedef bool bench_turn(void *with, double *seconds);

typedef struct bench_contestant {
  const char *name;
  bench_turn *turn;
  void *with;
  // Set by bench_measure:
  double samples[BENCH_MOST_RUNS];  // in order of the rounds
  bench_figures figures;            // of the seconds
  bench_figures ratio;  // of the first contestant's seconds to this one's, round by round
} bench_contestant;

typedef struct bench_limits {
  size_t warm_up;      // rounds that are not counted
  size_t least, most;  // rounds
  double spread;       // enough: when bench_spread of the first contestant is at most that
  double seconds;      // enough: when the rounds took that long
} bench_limits;
extern const bench_limits bench_limits_default;

// False: a turn failed; the figures are then not set.
bool bench_measure(bench_contestant *all, size_t count, const bench_limits *limits);

// ---- the clock -------------------------------------------------------------------------------

// Work that is too short for a clock is repeated within one turn, after a run that is not counted
// (threads, caches and branch predictors have forgotten it since its last turn).
typedef bool bench_work(void *with);
typedef struct bench_repeats {
  unsigned count;  // 0: not known yet
} bench_repeats;
bool bench_time(bench_repeats *r, bench_work *work, void *with, double *seconds);

// ---- a compiled program ------------------------------------------------------------------------

typedef struct bench_program {
  permc_compiled *compiled;
  permc_value *const *arguments;
  size_t argument_count;
  permc_value **results;  // of the last run; NULL before the first
  size_t result_count;
  bool on_device;       // whose clock measures turns
  uint64_t copy_bytes;  // a turn is a copy of so many bytes on the device; 0: a call
  bench_repeats repeats;
  permc_error why;  // of a run that has failed; 0: its context says why
} bench_program;
bench_work bench_program_run;
bench_turn bench_program_turn;

// ---- a copy ----------------------------------------------------------------------------------

// Copies `bytes` bytes with memcpy, in as many threads as given (started before, the cpu
// backend's own), in buffers of huge pages where the system has them.
typedef struct bench_copy {
  void *from, *to;
  uint64_t bytes;
  unsigned threads;
  bench_repeats repeats;
} bench_copy;

bool bench_copy_open(bench_copy *c, uint64_t bytes, unsigned threads);  // false: no memory
bench_turn bench_copy_turn;
void bench_copy_close(bench_copy *c);

#endif
