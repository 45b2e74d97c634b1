// Private to runtime/cuda/: the sequences (cuda.h) of a program's calls, one for each stream that
// it is called on, so that calls on several streams run at once. Any thread may take one.
//
//   streams_begin(&streams, addresses);               how many arrays a sequence works on
//   stream_sequence *s = streams_take(&streams, d);   NULL: launch one by one
//   if (!stream_sequence_holds(&streams, s, addresses, temporaries))
//     ... write it
//   cuda_sequence_launch(d, s->launches, true);
//   streams_give(&streams, s);                        streams_drop(&streams, d, s) after a failure
//   streams_end(&streams, d);
#ifndef PERMC_RUNTIME_CUDA_STREAMS_H
#define PERMC_RUNTIME_CUDA_STREAMS_H

#include "runtime/cuda/cuda.h"

#include <pthread.h>

typedef struct stream_sequence {
  struct stream_sequence *next;
  cuda_stream *stream;
  cuda_sequence *launches;
  bool written;
  cuda_address addresses[];  // that it was written for; the last: of temporaries
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
void streams_give(cuda_streams *s, stream_sequence *one);
void streams_drop(cuda_streams *s, cuda_device *d, stream_sequence *one);

// Whether it was written for these addresses, as it is from now on.
bool stream_sequence_holds(const cuda_streams *s, stream_sequence *one,
                           const cuda_address *addresses, cuda_address temporaries);

#endif
