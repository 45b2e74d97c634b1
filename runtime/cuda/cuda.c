// Opening and closing CUDA devices. See cuda.h.
#include "runtime/cuda/device.h"

#include <stdio.h>
#include <stdlib.h>

// ---- opening -----------------------------------------------------------------------------------

static bool read_attribute(cuda_device *d, int attribute, int *value) {
  return CUDA_CHECK(d, device_get_attribute, (value, attribute, d->ordinal), "attribute %d",
                    attribute);
}

static bool read_facts(cuda_device *d) {
  cuda_facts *f = &d->facts;
  int major = 0, minor = 0;
  size_t bytes = 0;
  bool good = read_attribute(d, CUDA_MULTIPROCESSORS, &f->multiprocessors) &&
              read_attribute(d, CUDA_THREADS_PER_MULTIPROCESSOR, &f->threads_per_multiprocessor) &&
              read_attribute(d, CUDA_SHARED_PER_BLOCK_OPTIN, &f->shared_per_block) &&
              read_attribute(d, CUDA_CAPABILITY_MAJOR, &major) &&
              read_attribute(d, CUDA_CAPABILITY_MINOR, &minor) &&
              CUDA_CHECK(d, device_total_mem, (&bytes, d->ordinal), "the %s", f->name);
  f->driver = d->api->version;
  f->capability = 10 * major + minor;
  f->memory_bytes = bytes;
  return good;
}

static bool find_device(cuda_device *d, int ordinal) {
  int count = 0;
  char *name = d->facts.name;
  snprintf(name, sizeof d->facts.name, "CUDA device %d", ordinal);
  if (!CUDA_CHECK(d, device_get_count, (&count), "all devices"))
    return false;
  if (count == 0)
    return cuda_refuse(d, "there is no CUDA device");
  if (ordinal < 0 || ordinal >= count)
    return cuda_refuse(d, "there is no CUDA device %d; this machine has %d, numbered from 0",
                       ordinal, count);
  return CUDA_CHECK(d, device_get, (&d->ordinal, ordinal), "%s", name) &&
         CUDA_CHECK(d, device_get_name, (name, (int)sizeof d->facts.name, d->ordinal),
                    "CUDA device %d", ordinal);
}

static bool open_context(cuda_device *d) {
  cuda_context *context = NULL;
  if (!CUDA_CHECK(d, primary_retain, (&context, d->ordinal), "the %s", d->facts.name))
    return false;
  d->context = context;
  if (!cuda_enter(d))
    return false;
  bool good =
      CUDA_CHECK(d, stream_create, (&d->own, CUDA_STREAM_NON_BLOCKING), "the %s", d->facts.name);
  d->stream = d->own;
  for (int i = 0; i < 2 && good; i++)
    good = CUDA_CHECK(d, event_create, (&d->time[i], 0), "the %s", d->facts.name);
  return cuda_leave(d, good);
}

static bool check_capability(cuda_device *d) {
  const cuda_facts *f = &d->facts;
  return f->capability >= CUDA_LEAST_CAPABILITY ||
         cuda_refuse(d, "the %s has compute capability %d.%d, permc needs %d.%d or higher", f->name,
                     f->capability / 10, f->capability % 10, CUDA_LEAST_CAPABILITY / 10,
                     CUDA_LEAST_CAPABILITY % 10);
}

cuda_device *cuda_open(int ordinal, char *why, size_t size) {
  const cuda_driver *api = cuda_driver_find(why, size);
  cuda_device *d = api ? calloc(1, sizeof *d) : NULL;
  if (api && !d)
    snprintf(why, size, "out of memory");
  if (!d)
    return NULL;
  d->api = api;
  snprintf(d->last, sizeof d->last, "nothing");
  if (find_device(d, ordinal) && read_facts(d) && check_capability(d) && open_context(d)) {
    d->message[0] = 0;
    return d;
  }
  snprintf(why, size, "%s", d->message);
  cuda_close(d);
  return NULL;
}

static void close_context(cuda_device *d) {
  if (d->recording)
    cuda_graph_end(d, false);
  if (cuda_enter_to_free(d)) {
    if (d->stream)
      d->api->stream_synchronize(d->stream);
    cuda_stages_free(d);
    for (int i = 0; i < 2; i++)
      if (d->time[i])
        d->api->event_destroy(d->time[i]);
    if (d->own)
      d->api->stream_destroy(d->own);
    cuda_leave(d, true);
  }
  d->api->primary_release(d->ordinal);
}

void cuda_close(cuda_device *d) {
  if (d && d->context)
    close_context(d);
  free(d);
}

int cuda_count(char *why, size_t size) {
  const cuda_driver *api = cuda_driver_find(why, size);
  int count = 0;
  if (api && (api->device_get_count(&count) != CUDA_STATUS_GOOD || count == 0))
    snprintf(why, size, "there is no CUDA device");
  return count;
}

const cuda_facts *cuda_facts_of(const cuda_device *d) { return &d->facts; }
