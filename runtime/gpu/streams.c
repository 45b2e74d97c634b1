#include "runtime/gpu/streams.h"
#include "runtime/cuda/device.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STREAMS = 16 };

void streams_begin(cuda_streams *s, uint32_t addresses) {
  *s = (cuda_streams){.addresses = addresses};
  pthread_mutex_init(&s->lock, NULL);
}

static void drop(cuda_streams *s, cuda_device *d, stream_sequence *one) {
  pthread_mutex_lock(&s->lock);
  s->count--;
  pthread_mutex_unlock(&s->lock);
  if (!one)
    return;
  cuda_sequence_free(d, one->launches);
  if (one->workspace)
    cuda_stream_memory_end(d, one->workspace);
  if (one->state)
    cuda_stream_memory_end(d, one->state);
  free(one);
}

void streams_end(cuda_streams *s, cuda_device *d) {
  while (s->idle) {
    stream_sequence *one = s->idle;
    s->idle = one->next;
    drop(s, d, one);
  }
  pthread_mutex_destroy(&s->lock);
}

// Takes from the idle ones that of the stream; if there are as many as there may be, the one that
// was not used for the longest time.
static stream_sequence *take_idle(cuda_streams *s, cuda_stream *stream, bool *is_full) {
  stream_sequence **at = &s->idle, **last = NULL;
  pthread_mutex_lock(&s->lock);
  for (; *at && (*at)->stream != stream; at = &(*at)->next)
    last = at;
  *is_full = s->count == MOST_STREAMS;
  if (!*at && *is_full && last)
    at = last;
  stream_sequence *one = *at;
  if (one)
    *at = one->next;
  else
    s->count += !*is_full;  // it is made
  pthread_mutex_unlock(&s->lock);
  return one;
}

static stream_sequence *make(const cuda_streams *s, cuda_device *d) {
  stream_sequence *one = calloc(1, sizeof *one + (s->addresses + 1) * sizeof *one->addresses);
  if (one && (one->launches = cuda_sequence_new(d)))
    return one;
  free(one);
  return NULL;
}

stream_sequence *streams_take(cuda_streams *s, cuda_device *d) {
  bool is_full;
  if (!d->api->graph_add_node || cuda_is_capturing(d))
    return NULL;
  stream_sequence *one = take_idle(s, d->stream, &is_full);
  if (!one && !is_full && !(one = make(s, d)))
    drop(s, d, NULL);
  if (one)
    one->stream = d->stream;
  return one;
}

void streams_give(cuda_streams *s, cuda_device *d, stream_sequence *one) {
  if (one->failed) {
    drop(s, d, one);
    return;
  }
  pthread_mutex_lock(&s->lock);
  one->next = s->idle;
  s->idle = one;
  pthread_mutex_unlock(&s->lock);
}

cuda_address stream_sequence_memory(stream_sequence *one, cuda_device *d, uint64_t bytes) {
  if (!one->workspace && !cuda_stream_memory_new(d, bytes, &one->workspace))
    one->workspace = 0;
  return one->workspace;
}

cuda_address stream_sequence_state(stream_sequence *one, cuda_device *d, uint64_t bytes) {
  if (!one->state &&
      (!cuda_stream_memory_new(d, bytes, &one->state) || !cuda_clear(d, one->state, bytes)))
    one->failed = true;  // so that it goes, with the memory
  return one->failed ? 0 : one->state;
}

bool stream_sequence_retarget(const cuda_streams *s, stream_sequence *one,
                              const cuda_address *addresses, cuda_address temporaries) {
  size_t bytes = s->addresses * sizeof *addresses;
  cuda_address *last = &one->addresses[s->addresses];
  bool same = one->written && *last == temporaries && !memcmp(one->addresses, addresses, bytes);
  memcpy(one->addresses, addresses, bytes);
  *last = temporaries;
  one->written = true;
  return same;
}
