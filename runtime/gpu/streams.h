// Private to runtime/gpu/: the sequences (cuda.h) of a program's calls, one for each stream that
// it is called on, so that calls on several streams run at once. Any thread may take one.
//
//   streams_begin(&streams, addresses);               how many arrays a sequence works on
//   stream_sequence *s = streams_take(&streams, d);   NULL: launch one by one
//   stream_sequence_memory(s, d, bytes)               a workspace, if one is wanted
//   stream_sequence_state(s, d, bytes)                what its kernels keep from launch to launch
//   if (!stream_sequence_retarget(&streams, s, addresses, temporaries))
//     ... write it
//   s->failed = !cuda_sequence_launch(d, s->launches, true);
//   streams_give(&streams, d, s);
//   streams_end(&streams, d);
//
// Workspace and state are for the launches of the sequence alone, which run one after the other on
// whatever streams they are.
#ifndef PERMC_RUNTIME_GPU_STREAMS_H
#define PERMC_RUNTIME_GPU_STREAMS_H

#include "runtime/gpu/program.h"

#include <pthread.h>

typedef struct stream_sequence {
  struct stream_sequence *next;
  cuda_stream *stream;
  cuda_sequence *launches;
  bool written, failed;
  cuda_address workspace, state;  // 0: none was wanted
  cuda_address addresses[];       // that it was written for; the last: of temporaries
} stream_sequence;

typedef struct cuda_streams {
  pthread_mutex_t lock;
  stream_sequence *idle;      // the last that was given back first
  uint32_t count, addresses;  // sequences; addresses of each but for the last
} cuda_streams;

void streams_begin(cuda_streams *s, uint32_t addresses);
void streams_end(cuda_streams *s, cuda_device *d);  // none is taken

// That of the device's stream. NULL: the stream is being captured, whose owner wants the launches;
// all are taken; or there are none with this driver.
stream_sequence *streams_take(cuda_streams *s, cuda_device *d);
void streams_give(cuda_streams *s, cuda_device *d, stream_sequence *one);  // one that failed goes
// So many bytes, the same at each call. 0: failed.
cuda_address stream_sequence_memory(stream_sequence *one, cuda_device *d, uint64_t bytes);
cuda_address stream_sequence_state(stream_sequence *one, cuda_device *d,
                                   uint64_t bytes);  // cleared

// Whether it was written for these addresses, as it is from now on.
bool stream_sequence_retarget(const cuda_streams *s, stream_sequence *one,
                              const cuda_address *addresses, cuda_address temporaries);

#endif
