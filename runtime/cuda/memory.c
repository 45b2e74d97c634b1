// Memory of CUDA devices, and copies. See cuda.h.
#include "runtime/cuda/device.h"
#include "runtime/system/pool.h"

#include <inttypes.h>
#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

#define GIB(bytes) ((double)(bytes) / (double)(UINT64_C(1) << 30))

static bool allocate_memory(cuda_device *d, uint64_t bytes, cuda_address *a) {
  size_t left = 0, all = 0;
  cuda_status status = d->api->mem_alloc(a, bytes ? bytes : 1);
  if (status == CUDA_STATUS_OUT_OF_MEMORY && d->api->mem_get_info(&left, &all) == CUDA_STATUS_GOOD)
    return cuda_check(d, status, "cuMemAlloc",
                      "%" PRIu64 " bytes (%.1f GiB), %.1f of %.1f GiB being free", bytes,
                      GIB(bytes), GIB(left), GIB(all));
  return cuda_check(d, status, "cuMemAlloc", "%" PRIu64 " bytes", bytes);
}

cuda_address cuda_memory_new(cuda_device *d, uint64_t bytes) {
  cuda_address a = 0;
  return cuda_enter(d) && cuda_leave(d, allocate_memory(d, bytes, &a)) ? a : 0;
}

void cuda_memory_free(cuda_device *d, cuda_address a) {
  if (a && cuda_enter_to_free(d))
    cuda_leave(d, d->api->mem_free(a) == CUDA_STATUS_GOOD);
}

uint64_t cuda_memory_left(cuda_device *d) {
  size_t left = 0, all = 0;
  return CUDA_CALL(d, mem_get_info, (&left, &all), "the %s", d->facts.name) ? left : 0;
}

// ---- copies ------------------------------------------------------------------------------------

static bool begin_upload(cuda_device *d, cuda_address to, const void *from, uint64_t bytes) {
  return CUDA_CHECK(d, copy_to_device, (to, from, bytes, d->stream), "%" PRIu64 " bytes", bytes);
}

static bool begin_download(cuda_device *d, void *to, cuda_address from, uint64_t bytes) {
  return CUDA_CHECK(d, copy_to_host, (to, from, bytes, d->stream), "%" PRIu64 " bytes", bytes);
}

bool cuda_copy(cuda_device *d, cuda_address to, cuda_address from, uint64_t bytes) {
  return bytes == 0 || CUDA_CALL(d, copy_on_device, (to, from, bytes, cuda_recorded_stream(d)),
                                 "%" PRIu64 " bytes", bytes);
}

bool cuda_clear(cuda_device *d, cuda_address a, uint64_t bytes) {
  return cuda_enter(d) &&
         cuda_leave(d, d->sequence ? cuda_sequence_add_clear(d, a, bytes)
                                   : CUDA_CHECK(d, memset_8, (a, 0, bytes, cuda_recorded_stream(d)),
                                                "%" PRIu64 " bytes", bytes));
}

// ---- copies through stages ---------------------------------------------------------------------

static bool allocate_stage(cuda_device *d, cuda_stage *s) {
  return d->api->host_alloc(&s->data, CUDA_STAGE_BYTES, 0) == CUDA_STATUS_GOOD &&
         d->api->event_create(&s->done, CUDA_EVENT_NO_TIMING) == CUDA_STATUS_GOOD;
}

void cuda_stages_free(cuda_device *d) {
  for (int i = 0; i < 2; i++) {
    cuda_stage *s = &d->stages[i];
    if (s->data)
      d->api->host_free(s->data);
    if (s->done)
      d->api->event_destroy(s->done);
    *s = (cuda_stage){0};
  }
}

void cuda_stages_end(cuda_device *d) {
  if (d->stages[0].data && cuda_enter_to_free(d)) {
    d->api->stream_synchronize(d->stream);
    cuda_stages_free(d);
    cuda_leave(d, true);
  }
}

typedef struct host_copy {
  unsigned char *to;
  const unsigned char *from;
} host_copy;

static bool copy_range(void *with, unsigned worker, uint64_t first, uint64_t last) {
  (void)worker;
  const host_copy *c = with;
  memcpy(c->to + first, c->from + first, last - first);
  return true;
}

// By several threads: one neither copies nor faults pages in as fast as the bus to the GPU is.
static void copy_on_host(void *to, const void *from, uint64_t bytes) {
  enum { THREADS = 8, CHUNK = 1 << 18 };
  unsigned processors = pool_processors();
  host_copy c = {to, from};
  pool_run(processors < THREADS ? processors : THREADS, bytes, CHUNK, copy_range, &c, NULL);
}

static bool wait_for_stage(cuda_device *d, const cuda_stage *s) {
  return CUDA_CHECK(d, event_synchronize, (s->done), "a transfer, last launched %s", d->last);
}

static bool mark_stage_used(cuda_device *d, const cuda_stage *s) {
  return CUDA_CHECK(d, event_record, (s->done, d->stream), "a transfer");
}

static uint64_t part_bytes(uint64_t bytes, uint64_t part) {
  uint64_t left = bytes - part * CUDA_STAGE_BYTES;
  return left < CUDA_STAGE_BYTES ? left : CUDA_STAGE_BYTES;
}

static bool upload_part(cuda_device *d, cuda_address to, const char *from, uint64_t bytes,
                        uint64_t part) {
  const cuda_stage *s = &d->stages[part % 2];
  uint64_t at = part * CUDA_STAGE_BYTES, count = part_bytes(bytes, part);
  if (!wait_for_stage(d, s))
    return false;
  copy_on_host(s->data, from + at, count);
  return begin_upload(d, to + at, s->data, count) && mark_stage_used(d, s);
}

static bool begin_download_part(cuda_device *d, cuda_address from, uint64_t bytes, uint64_t part) {
  const cuda_stage *s = &d->stages[part % 2];
  return wait_for_stage(d, s) &&
         begin_download(d, s->data, from + part * CUDA_STAGE_BYTES, part_bytes(bytes, part)) &&
         mark_stage_used(d, s);
}

static bool end_download_part(cuda_device *d, char *to, uint64_t bytes, uint64_t part) {
  const cuda_stage *s = &d->stages[part % 2];
  if (!wait_for_stage(d, s))
    return false;
  copy_on_host(to + part * CUDA_STAGE_BYTES, s->data, part_bytes(bytes, part));
  return true;
}

// Whether CUDA copies without stages: few bytes, or, which is slower, where there are no stages.
static bool is_direct(cuda_device *d, uint64_t bytes) {
  if (bytes <= CUDA_DIRECT_BYTES)
    return true;
  if (!d->stages[1].done && !(allocate_stage(d, &d->stages[0]) && allocate_stage(d, &d->stages[1])))
    cuda_stages_free(d);
  return !d->stages[1].done;
}

static bool upload_array(cuda_device *d, cuda_address to, const void *from, uint64_t bytes) {
  if (is_direct(d, bytes))
    return begin_upload(d, to, from, bytes);
  bool good = true;
  for (uint64_t part = 0; part * CUDA_STAGE_BYTES < bytes && good; part++)
    good = upload_part(d, to, from, bytes, part);
  return good;
}

// A part is transferred while the one before it is copied.
static bool download_array(cuda_device *d, void *to, cuda_address from, uint64_t bytes) {
  if (is_direct(d, bytes))
    return begin_download(d, to, from, bytes) &&
           CUDA_CHECK(d, stream_synchronize, (d->stream), "a transfer, last launched %s", d->last);
  uint64_t parts = (bytes - 1) / CUDA_STAGE_BYTES + 1;
  bool good = begin_download_part(d, from, bytes, 0);
  for (uint64_t part = 0; part < parts && good; part++)
    good = (part + 1 == parts || begin_download_part(d, from, bytes, part + 1)) &&
           end_download_part(d, to, bytes, part);
  return good;
}

bool cuda_upload(cuda_device *d, cuda_address to, const void *from, uint64_t bytes) {
  return bytes == 0 ||
         (cuda_enter_now(d, "an upload") && cuda_leave(d, upload_array(d, to, from, bytes)));
}

bool cuda_download(cuda_device *d, void *to, cuda_address from, uint64_t bytes) {
  return bytes == 0 ||
         (cuda_enter_now(d, "a download") && cuda_leave(d, download_array(d, to, from, bytes)));
}

// ---- in the order of a stream ------------------------------------------------------------------

bool cuda_stream_memory_new(cuda_device *d, uint64_t bytes, cuda_address *a) {
  return CUDA_CALL(d, mem_alloc_async, (a, bytes, d->stream), "%" PRIu64 " bytes", bytes);
}

bool cuda_stream_memory_free(cuda_device *d, cuda_address a) {
  return CUDA_CALL(d, mem_free_async, (a, d->stream), "a workspace");
}

bool cuda_is_capturing(cuda_device *d) {
  int capturing = 0;
  if (!cuda_enter(d))
    return true;
  cuda_status status = d->api->is_capturing(d->stream, &capturing);
  return cuda_leave(d, status != CUDA_STATUS_GOOD || capturing);
}

void cuda_stream_memory_end(cuda_device *d, cuda_address a) {
  if (cuda_enter_to_free(d)) {
    d->api->synchronize();
    d->api->mem_free_async(a, d->stream);
    cuda_leave(d, true);
  }
}

static bool fetch(cuda_device *d, void *to, cuda_address from, uint64_t bytes) {
  int capturing = 0;
  if (!CUDA_CHECK(d, is_capturing, (d->stream, &capturing), "the stream"))
    return false;
  if (capturing)
    return cuda_refuse(
        d, "this program checks its data when it runs, and waits for that: it cannot be "
           "captured");
  return begin_download(d, to, from, bytes) &&
         CUDA_CHECK(d, stream_synchronize, (d->stream), "a call");
}

bool cuda_fetch(cuda_device *d, void *to, cuda_address from, uint64_t bytes) {
  return cuda_enter(d) && cuda_leave(d, fetch(d, to, from, bytes));
}
