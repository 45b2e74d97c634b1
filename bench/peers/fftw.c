// FFTW: complex of two floats, natural order in and out, plans by measure; of each row of so many.
#include "peer.h"

#include <fftw3.h>
#include <math.h>

static int count, row;
static fftwf_complex *from, *to;
static fftwf_plan plan;

static const char *prepare(const peer_options *o) {
  uint64_t bytes = o->count * sizeof *from;
  if (o->count > 1 << 30 || o->count % o->row)
    return "too large, or not of whole rows";
  count = (int)o->count;
  row = (int)o->row;
  from = peer_memory(bytes);
  to = peer_memory(bytes);
  if (!from || !to)
    return "out of memory";
#if FFTW_THREADS
  if (!fftwf_init_threads())
    return "no threads";
  fftwf_plan_with_nthreads((int)o->threads);
#endif
  plan = fftwf_plan_many_dft(1, &row, count / row, from, NULL, 1, row, to, NULL, 1, row,
                             FFTW_FORWARD, FFTW_MEASURE);
  uint32_t *words = (uint32_t *)from;
  peer_random(from, bytes);
  for (uint64_t i = 0; i < 2 * o->count; i++)
    ((float *)from)[i] = (float)(words[i] >> 8) * 0x1p-24f;
  return plan ? NULL : "there is no plan";
}

static bool transform(void *with) {
  (void)with;
  fftwf_execute(plan);
  return true;
}

static bool turn(double *seconds) { return peer_time(transform, NULL, seconds); }

static const char *check(void) {
  double before = 0, after = 0;
  for (int i = 0; i < 2 * count; i++) {
    before += pow((double)((float *)from)[i], 2);
    after += pow((double)((float *)to)[i], 2);
  }
  return fabs(after / row - before) > 1e-5 * before ? "the energy is wrong" : NULL;
}

#if FFTW_THREADS
const peer this_peer = {"fftw", 0, prepare, turn, check};
#else
const peer this_peer = {"fftw", 1, prepare, turn, check};
#endif
