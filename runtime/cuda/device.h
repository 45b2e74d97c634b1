// What cuda.c, cuda/memory.c and cuda/launch.c share: the device, and how its calls are made.
//
//   bool cuda_copy(cuda_device *d, cuda_address to, cuda_address from, uint64_t bytes) {
//     return cuda_enter(d) &&
//            cuda_leave(d, cuda_check(d, d->api->copy_on_device(to, from, bytes, cuda_where(d)),
//                                     "cuMemcpyDtoDAsync", "%" PRIu64 " bytes", bytes));
//   }
#ifndef PERMC_RUNTIME_CUDA_DEVICE_H
#define PERMC_RUNTIME_CUDA_DEVICE_H

#include "core/text.h"
#include "runtime/cuda/cuda.h"

// Memory of the host that the GPU reaches, and when the last transfer that uses it is done.
typedef struct cuda_stage {
  void *data;
  cuda_event *done;
} cuda_stage;

struct cuda_device {
  const cuda_driver *api;
  cuda_facts facts;
  cuda_ordinal ordinal;
  cuda_context *context;  // retained; NULL: not
  cuda_stream *own;       // made with it: recordings are made there
  cuda_stream *stream;    // where work goes: own, or a caller's
  cuda_event *time[2];    // begin, end
  cuda_stage stages[2];   // made for the first large transfer
  bool recording;
  char last[80];  // what was launched last
  char message[CUDA_WHY];
};

// Makes the device's context current, until cuda_leave, which passes `good` on.
bool cuda_enter(cuda_device *d);
bool cuda_leave(cuda_device *d, bool good);
bool cuda_enter_to_free(cuda_device *d);  // leaves the message as it is
// The same for what cannot be recorded, `what`: refused between cuda_graph_begin and _end.
bool cuda_enter_now(cuda_device *d, const char *what);

// True if a call was good. Else the message is "CALL of FORMAT...: NAME: text".
bool cuda_check(cuda_device *d, cuda_status status, const char *call, const char *format, ...)
    PRINTF_LIKE(4, 5);
// The message in full. Returns false.
bool cuda_refuse(cuda_device *d, const char *format, ...) PRINTF_LIKE(2, 3);

// The stream of a call that may be recorded.
static inline cuda_stream *cuda_where(const cuda_device *d) {
  return d->recording ? d->own : d->stream;
}

void cuda_stages_free(cuda_device *d);

#endif
