// Statistics, rounds, the clock, a copy. See measure/measure.h.
#include "runtime/measure/measure.h"
#include "core/clock.h"
#include "core/number.h"

#include "runtime/system/pool.h"
#include "runtime/values/value.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const bench_limits bench_limits_default = {
    .warm_up = 2, .least = 11, .most = BENCH_MOST_RUNS, .spread = 0.02, .seconds = 2};

// ---- statistics ---------------------------------------------------------------------------------

size_t bench_interval_rank(size_t count) {
  assert(count <= BENCH_MOST_RUNS);
  double chosen = pow(0.5, (double)count), below = 0;  // the probabilities of k, and of less than k
  size_t rank = 0;
  for (size_t k = 0; 2 * k < count; k++) {
    below += chosen;
    if (2 * below > 0.05)
      break;
    rank = k + 1;
    chosen *= (double)(count - k) / (double)(k + 1);
  }
  return rank;
}

bench_figures bench_figures_of(double *samples, size_t count) {
  bench_figures f = {.runs = count};
  if (count == 0)
    return f;
  qsort(samples, count, sizeof *samples, compare_f64);
  size_t rank = bench_interval_rank(count), half = count / 2;
  size_t first = rank > 0 ? rank - 1 : 0;
  f.median = count % 2 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
  f.least = samples[0];
  f.greatest = samples[count - 1];
  for (size_t i = 0; i < count; i++)
    f.mean += samples[i] / (double)count;
  f.low = samples[first];
  f.high = samples[count - 1 - first];
  return f;
}

double bench_spread(const bench_figures *f) {
  return f->median > 0 ? (f->high - f->low) / 2 / f->median : 0;
}

// ---- rounds -------------------------------------------------------------------------------------

static bool run_round(bench_contestant *all, size_t count, size_t round, bool counts) {
  for (size_t i = 0; i < count; i++) {
    bench_contestant *c = &all[(round + i) % count];
    double seconds = 0;
    if (!c->turn(c->with, &seconds))
      return false;
    if (counts)
      c->samples[round] = seconds;
  }
  return true;
}

// Whether the first contestant's median is known well enough. `scratch`: for its samples in order.
static bool median_is_settled(const bench_contestant *first, size_t rounds, double spread,
                              double *scratch) {
  memcpy(scratch, first->samples, rounds * sizeof *scratch);
  bench_figures f = bench_figures_of(scratch, rounds);
  return bench_spread(&f) <= spread;
}

static bool run_rounds(bench_contestant *all, size_t count, const bench_limits *limits,
                       double *scratch, size_t *rounds) {
  for (size_t i = 0; i < limits->warm_up; i++)
    if (!run_round(all, count, i, false))
      return false;
  double start = clock_seconds();
  for (*rounds = 0; *rounds < limits->most; ++*rounds) {
    bool enough =
        *rounds >= limits->least && (clock_seconds() - start >= limits->seconds ||
                                     median_is_settled(&all[0], *rounds, limits->spread, scratch));
    if (enough)
      break;
    if (!run_round(all, count, *rounds, true))
      return false;
  }
  return true;
}

static void compute_figures(bench_contestant *all, size_t count, size_t rounds, double *scratch) {
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < rounds; k++)
      scratch[k] = all[i].samples[k] > 0 ? all[0].samples[k] / all[i].samples[k] : 0;
    all[i].ratio = bench_figures_of(scratch, rounds);
    memcpy(scratch, all[i].samples, rounds * sizeof *scratch);
    all[i].figures = bench_figures_of(scratch, rounds);
  }
}

bool bench_measure(bench_contestant *all, size_t count, const bench_limits *limits) {
  size_t rounds = 0;
  double scratch[BENCH_MOST_RUNS];
  assert(limits->most <= BENCH_MOST_RUNS);
  bool good = run_rounds(all, count, limits, scratch, &rounds);
  if (good)
    compute_figures(all, count, rounds, scratch);
  return good;
}

// ---- the clock ----------------------------------------------------------------------------------

static bool time_runs(unsigned count, bench_work *work, void *with, double *seconds) {
  double start = clock_seconds();
  for (unsigned i = 0; i < count; i++)
    if (!work(with))
      return false;
  *seconds = (clock_seconds() - start) / count;
  return true;
}

// The first run is not looked at: memory is faulted in, threads are started.
static bool choose_repeats(bench_repeats *r, bench_work *work, void *with) {
  const double short_turn = 100e-6, shortest = 10e-9;
  double once;
  if (!work(with) || !time_runs(1, work, with, &once))
    return false;
  r->count = once >= short_turn ? 1 : 1 + (unsigned)(short_turn / (once + shortest));
  return true;
}

bool bench_time(bench_repeats *r, bench_work *work, void *with, double *seconds) {
  if (r->count == 0 && !choose_repeats(r, work, with))
    return false;
  if (r->count > 1 && !work(with))
    return false;
  return time_runs(r->count, work, with, seconds);
}

// ---- a compiled program -------------------------------------------------------------------------

bool bench_program_run(void *with) {
  bench_program *p = with;
  if (!p->results && !(p->results = permc_results_new(p->compiled, &p->result_count))) {
    p->why = (permc_error){PERMC_ERROR_MEMORY, "out of memory"};
    return false;
  }
  return permc_call(p->compiled, p->arguments, p->argument_count, p->results, p->result_count, NULL,
                    &p->why) == PERMC_OK;
}

static bool time_on_device(const bench_program *p, unsigned runs, double *seconds) {
  return p->copy_bytes ? permc_time_copy(p->compiled, p->copy_bytes, runs, seconds)
                       : permc_time_call(p->compiled, runs, seconds);
}

// On a device enough runs that its clock, exact to a microsecond, tells them apart.
bool bench_program_turn(void *with, double *seconds) {
  const double enough = 5e-4;
  bench_program *p = with;
  if (!p->on_device)
    return bench_time(&p->repeats, bench_program_run, p, seconds);
  if (p->repeats.count == 0) {
    if (!time_on_device(p, 1, seconds))
      return false;
    p->repeats.count = *seconds * 100 < enough ? 100 : (unsigned)(enough / *seconds) + 1;
  }
  return time_on_device(p, p->repeats.count, seconds);
}

// ---- a copy -------------------------------------------------------------------------------------

bool bench_copy_open(bench_copy *c, uint64_t bytes, unsigned threads) {
  *c = (bench_copy){.bytes = bytes, .threads = threads ? threads : pool_processors()};
  c->from = array_memory(bytes);
  c->to = array_memory(bytes);
  if (!c->from || !c->to) {
    bench_copy_close(c);
    return false;
  }
  memset(c->from, 1, (size_t)bytes);
  memset(c->to, 2, (size_t)bytes);
  return true;
}

static bool copy_part(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const bench_copy *c = with;
  (void)worker;
  memcpy((char *)c->to + first, (const char *)c->from + first, (size_t)(last - first));
  return true;
}

static bool copy_all(void *with) {
  enum { SMALL = 1 << 18, LINE = 64 };  // a thread is not worth waking for less
  const bench_copy *c = with;
  if (c->bytes == 0)
    return true;
  unsigned threads = c->bytes < SMALL ? 1 : c->threads;
  uint64_t part = (c->bytes / threads / LINE + 1) * LINE;
  return pool_run(threads, c->bytes, part, copy_part, with, NULL);
}

bool bench_copy_turn(void *with, double *seconds) {
  bench_copy *c = with;
  return bench_time(&c->repeats, copy_all, c, seconds);
}

void bench_copy_close(bench_copy *c) {
  free(c->from);
  free(c->to);
  *c = (bench_copy){0};
}
