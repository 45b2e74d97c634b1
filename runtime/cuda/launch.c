// Kernels on CUDA devices: finding, launching, recording, waiting, times. See cuda.h.
#include "core/clock.h"
#include "runtime/cuda/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

// ---- modules and kernels -----------------------------------------------------------------------

cuda_module *cuda_module_load(cuda_device *d, const void *cubin, size_t size) {
  cuda_module *m = NULL;
  if (size == 0)
    return cuda_refuse(d, "there is no compiled code to load"), NULL;
  return CUDA_CALL(d, module_load, (&m, cubin), "%zu bytes of code for sm_%d on the %s", size,
                   d->facts.capability, d->facts.name)
             ? m
             : NULL;
}

void cuda_module_free(cuda_device *d, cuda_module *m) {
  if (m && cuda_enter_to_free(d))
    cuda_leave(d, d->api->module_unload(m) == CUDA_STATUS_GOOD);
}

// Also makes CUDA load the kernel's code onto the device now, not at its first launch, which may be
// a recorded one.
static bool read_static_shared(cuda_device *d, cuda_kernel *k) {
  return CUDA_CHECK(d, func_get_attribute,
                    (&k->static_shared, CUDA_FUNCTION_STATIC_SHARED, k->function), "%s", k->name);
}

static bool allow_shared_memory(cuda_device *d, const cuda_kernel *k) {
  int64_t all = (int64_t)k->dynamic_shared + k->static_shared;
  if (all <= CUDA_SHARED_FOR_ALL)
    return true;
  if (all > d->facts.shared_per_block)
    return cuda_refuse(d, "%s needs %" PRId64 " bytes of shared memory, the %s has %d", k->name,
                       all, d->facts.name, d->facts.shared_per_block);
  return CUDA_CHECK(d, func_set_attribute,
                    (k->function, CUDA_FUNCTION_MOST_DYNAMIC_SHARED, (int)k->dynamic_shared),
                    "%s, %" PRIu32 " bytes of shared memory", k->name, k->dynamic_shared);
}

bool cuda_kernel_find(cuda_device *d, cuda_module *m, const char *name, uint32_t dynamic_shared,
                      cuda_kernel *out) {
  *out = (cuda_kernel){.dynamic_shared = dynamic_shared};
  snprintf(out->name, sizeof out->name, "%s", name);
  return cuda_enter(d) &&
         cuda_leave(d, CUDA_CHECK(d, module_get_function, (&out->function, m, name), "%s", name) &&
                           read_static_shared(d, out) && allow_shared_memory(d, out));
}

// ---- launches ----------------------------------------------------------------------------------

static bool launch_kernel(cuda_device *d, const cuda_kernel *k, const cuda_grid *g,
                          void **parameters) {
  cuda_launch_attribute overlapping = {CUDA_LAUNCH_OVERLAPPING, {1}};
  cuda_launch_config config = {
      .blocks = {(unsigned)g->blocks, 1, 1},
      .threads = {g->threads, 1, 1},
      .shared_bytes = k->dynamic_shared,
      .stream = cuda_recorded_stream(d),
      .attributes = &overlapping,
      .attribute_count = g->overlapping && cuda_can_overlap(d),
  };
  cuda_status status = d->api->launch_kernel(&config, k->function, parameters, NULL);
  snprintf(d->last, sizeof d->last, "%s", k->name);
  return cuda_check(d, status, "cuLaunchKernelEx",
                    "%s, %" PRIu64 " blocks of %" PRIu32 " threads, %" PRIu32
                    " bytes of shared memory",
                    k->name, g->blocks, g->threads, k->dynamic_shared);
}

bool cuda_launch(cuda_device *d, const cuda_kernel *k, cuda_grid grid, void **parameters) {
  if (grid.blocks > CUDA_MOST_BLOCKS)
    return cuda_refuse(d, "%s would be %" PRIu64 " blocks, CUDA allows %" PRIu64, k->name,
                       grid.blocks, CUDA_MOST_BLOCKS);
  return cuda_enter(d) &&
         cuda_leave(d, d->sequence ? cuda_sequence_add_launch(d, k, &grid, parameters)
                                   : launch_kernel(d, k, &grid, parameters));
}

// ---- recordings --------------------------------------------------------------------------------

bool cuda_graph_begin(cuda_device *d) {
  if (!cuda_enter_now(d, "a recording"))
    return false;
  d->recording = CUDA_CHECK(d, begin_capture, (d->own, CUDA_CAPTURE_THREAD_LOCAL), "launches");
  return cuda_leave(d, d->recording);
}

cuda_graph *cuda_graph_end(cuda_device *d, bool is_complete) {
  cuda_recording *r = NULL;
  cuda_graph *g = NULL;
  if (!d->recording || !cuda_enter(d))
    return NULL;
  d->recording = false;
  cuda_status status = d->api->end_capture(d->own, &r);
  if (is_complete &&
      cuda_check(d, status, "cuStreamEndCapture", "recorded launches, the last %s", d->last))
    CUDA_CHECK(d, graph_instantiate, (&g, r, 0), "recorded launches, the last %s", d->last);
  if (r)
    d->api->graph_destroy(r);
  cuda_leave(d, true);
  return g;
}

bool cuda_graph_launch(cuda_device *d, cuda_graph *g) {
  if (!cuda_enter_now(d, "a launch of recorded launches"))
    return false;
  snprintf(d->last, sizeof d->last, "recorded launches");
  return cuda_leave(d, CUDA_CHECK(d, graph_launch, (g, d->stream), "%s", d->last));
}

void cuda_graph_free(cuda_device *d, cuda_graph *g) {
  if (g && cuda_enter_to_free(d))
    cuda_leave(d, d->api->graph_exec_destroy(g) == CUDA_STATUS_GOOD);
}

// ---- waiting -----------------------------------------------------------------------------------

static bool check_wait(cuda_device *d, cuda_status status, const char *call) {
  return cuda_check(d, status, call, "all that was launched, last %s", d->last);
}

// Polls without a pause at first, so that short work ends without delay, then every 100 us.
static bool wait_or_interrupt(cuda_device *d, const atomic_bool *interrupted) {
  enum { PAUSE_NANOSECONDS = 100000 };
  const double patience = 2e-3;
  double start = clock_seconds();
  for (;;) {
    cuda_status status = d->api->stream_query(d->stream);
    if (status != CUDA_STATUS_NOT_READY)
      return check_wait(d, status, "cuStreamQuery");
    if (atomic_load(interrupted))
      return cuda_refuse(d, "interrupted");
    if (clock_seconds() - start > patience)
      nanosleep(&(struct timespec){.tv_nsec = PAUSE_NANOSECONDS}, NULL);
  }
}

bool cuda_wait(cuda_device *d, const atomic_bool *interrupted) {
  if (!cuda_enter_now(d, "waiting"))
    return false;
  bool good = interrupted
                  ? wait_or_interrupt(d, interrupted)
                  : check_wait(d, d->api->stream_synchronize(d->stream), "cuStreamSynchronize");
  return cuda_leave(d, good);
}

// ---- times -------------------------------------------------------------------------------------

static bool record_time(cuda_device *d, int which) {
  return CUDA_CHECK(d, event_record, (d->time[which], d->stream), "a time");
}

bool cuda_time_begin(cuda_device *d) {
  return cuda_enter_now(d, "taking the time") && cuda_leave(d, record_time(d, 0));
}

static bool measure_time(cuda_device *d, double *seconds) {
  float milliseconds = 0;
  bool good = record_time(d, 1) &&
              check_wait(d, d->api->event_synchronize(d->time[1]), "cuEventSynchronize") &&
              CUDA_CHECK(d, event_elapsed_time, (&milliseconds, d->time[0], d->time[1]),
                         "what was launched, last %s", d->last);
  *seconds = (double)milliseconds * 1e-3;
  return good;
}

bool cuda_time_end(cuda_device *d, double *seconds) {
  *seconds = 0;
  return cuda_enter_now(d, "taking the time") && cuda_leave(d, measure_time(d, seconds));
}
