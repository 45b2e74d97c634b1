// The device, and how its calls are made (call.c). For what works on streams of callers, too.
//
//   bool cuda_copy(cuda_device *d, cuda_address to, cuda_address from, uint64_t bytes) {
//     return CUDA_CALL(d, copy_on_device, (to, from, bytes, cuda_recorded_stream(d)),
//                      "%" PRIu64 " bytes", bytes);
//   }
#ifndef PERMC_RUNTIME_CUDA_DEVICE_H
#define PERMC_RUNTIME_CUDA_DEVICE_H

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
  cuda_stream *own;       // created with it: launches are recorded there
  cuda_stream *stream;    // where work goes: own, or that of a call (program_call)
  cuda_stream *side;      // of a peer: where launches go instead, if not NULL
  cuda_event *time[2];    // begin, end
  cuda_stage stages[2];   // allocated for the first large transfer
  bool recording;
  cuda_sequence *sequence;  // what is launched is written into it; NULL: done
  char last[80];            // what was launched last
  char message[CUDA_WHY];
};

// Makes the device's context current, until cuda_leave, which passes `good` on.
bool cuda_enter(cuda_device *d);
bool cuda_leave(cuda_device *d, bool good);
bool cuda_enter_to_free(cuda_device *d);  // leaves the message as it is
// As cuda_enter, but refused between cuda_graph_begin and _end: `what` cannot be recorded.
bool cuda_enter_now(cuda_device *d, const char *what);

// True if a call succeeded. Else the message is "CALL of FORMAT...: NAME: text".
bool cuda_check(cuda_device *d, cuda_status status, const char *call, const char *format, ...)
    PRINTF_LIKE(4, 5);
// The same of a function of the driver, by its name in cuda_driver; and in the device's context.
#define CUDA_CHECK(d, function, arguments, ...)                                                    \
  cuda_check(d, (d)->api->function arguments, cuda_names.function, __VA_ARGS__)
#define CUDA_CALL(d, function, arguments, ...)                                                     \
  (cuda_enter(d) && cuda_leave(d, CUDA_CHECK(d, function, arguments, __VA_ARGS__)))
// Sets the message. Returns false.
bool cuda_refuse(cuda_device *d, const char *format, ...) PRINTF_LIKE(2, 3);

// The stream for a call that may be recorded.
static inline cuda_stream *cuda_recorded_stream(const cuda_device *d) {
  return d->side ? d->side : d->recording ? d->own : d->stream;
}

// Whether kernels may start while those before them end. Recordings keep that since CUDA 12.3.
static inline bool cuda_can_overlap(const cuda_device *d) {
  enum { LEAST_CAPABILITY = 90, LEAST_DRIVER = 12030 };
  return d->facts.capability >= LEAST_CAPABILITY && d->api->version >= LEAST_DRIVER;
}

// What is launched, or cleared, is the next of the device's sequence.
bool cuda_sequence_add_launch(cuda_device *d, const cuda_kernel *k, const cuda_grid *g,
                              void **parameters);
bool cuda_sequence_add_clear(cuda_device *d, cuda_address a, uint64_t bytes);

void cuda_stages_free(cuda_device *d);  // in its context, when no transfer uses them
void cuda_stages_end(cuda_device *d);   // after they have ended

#endif
