// Calls on arrays of the caller, put on a stream of the caller.
#include "runtime/cpu/ranges.h"
#include "runtime/cuda/device.h"
#include "runtime/gpu/state.h"

enum { KEPT_PART = 512 };  // of the device's memory, that a stream's workspace may have at most

// In memory that nobody else has: the device as it is when a call goes to a stream of its own.
static cuda_device call_device(const cuda_program *g, cuda_stream *stream) {
  const cuda_device *d = g->device;
  return (cuda_device){.api = d->api,
                       .facts = d->facts,
                       .ordinal = d->ordinal,
                       .context = d->context,
                       .stream = stream};
}

static bool fail_with_message(const cuda_device *d, error *failure) {
  return error_set(failure, SPAN_NONE, "%s", cuda_message(d));
}

// The array between launches is the stream's.
static bool call_permuting(cuda_device *d, cuda_permuting *r, const cuda_address *addresses) {
  cuda_address between = 0;
  uint64_t bytes = cuda_permuting_between(r);
  if (bytes && !cuda_stream_memory_new(d, bytes, &between))
    return false;
  bool good = cuda_permuting_launch(r, d, addresses, between);
  return (!bytes || cuda_stream_memory_free(d, between)) && good;
}

// state: that of a sequence for kernels that look back, or 0: temporaries are, as of routines.
static bool call_pass(const cuda_program *g, cuda_device *d, uint32_t number,
                      cuda_address *addresses, cuda_address temporaries, cuda_address state) {
  if (g->permuting[number])
    return call_permuting(d, g->permuting[number], addresses);
  if (program_is_for_host(g, number))
    return cuda_refuse(d, "pass %u is the host's: this program takes values in its memory alone",
                       (unsigned)number + 1);
  bool has_state = state && g->facts[number].one;
  return program_launch(g, d, number, addresses, has_state ? state : temporaries, has_state);
}

static bool call_passes(const cuda_program *g, cuda_device *d, cuda_address *addresses,
                        cuda_address temporaries, cuda_address state) {
  bool good = true;
  for (uint32_t i = 0; i < g->plan->passes.count && good; i++) {
    pass_range_begin(g->plan, i, 1);
    good = call_pass(g, d, i, addresses, temporaries, state);
    pass_range_end(g->plan);
  }
  return good;
}

static bool call_sequence(cuda_program *g, cuda_device *d, stream_sequence *s,
                          cuda_address *addresses, cuda_address temporaries) {
  bool good = !g->state_bytes || stream_sequence_state(s, d, g->state_bytes);
  if (good && !stream_sequence_holds(&g->streams, s, addresses, temporaries)) {
    cuda_sequence_write(d, s->launches);
    good = call_passes(g, d, addresses, temporaries, s->state);
  }
  s->failed = !cuda_sequence_launch(d, s->launches, good);
  return !s->failed;
}

static bool is_sequence(const cuda_program *g) {
  unsigned launches = atomic_load(&g->launches_of_call);
  return launches > 1 && launches <= CUDA_SEQUENCE_MOST && !g->plan->lines;
}

static bool permutes(const cuda_program *g) {
  for (size_t i = 0; i < g->plan->passes.count; i++)
    if (g->permuting[i])
      return true;
  return false;
}

// Permutations by schedules, whose launches change: one by one. The addresses of their places are
// those of the host.
static bool call_with_schedules(cuda_program *g, cuda_device *d, cuda_address *addresses,
                                cuda_address temporaries, error *failure) {
  bool good = true;
  pthread_mutex_lock(&g->schedules);
  for (size_t i = 0; i < g->plan->passes.count && good; i++) {
    cuda_permuting *r = g->permuting[i];
    const void *places = r ? (const void *)(uintptr_t)addresses[cuda_permuting_places(r)] : NULL;
    good = !r || program_prepare(g, d, r, places, failure);
  }
  good = good && (call_passes(g, d, addresses, temporaries, 0) ||
                  error_set(failure, SPAN_NONE, "%s", cuda_message(d)));
  pthread_mutex_unlock(&g->schedules);
  cuda_stages_end(d);
  return good;
}

// Several launches are a sequence from the second call on; where there can be none, they are done
// one by one, then and ever after. Profilers see them one by one.
bool cuda_program_call(cuda_program *g, cuda_stream *stream, void **arrays, void *temporaries,
                       stream_sequence *kept, error *failure) {
  cuda_device d = call_device(g, stream);
  const plan *p = g->plan;
  cuda_address *addresses = (cuda_address *)(void *)arrays;
  _Static_assert(sizeof(void *) == sizeof(cuda_address), "addresses of the device are pointers");
  for (size_t a = 0; a < p->arrays.count; a++)
    if (p->arrays.items[a].role == NET_TABLE)
      addresses[a] = g->own[a];
  if (permutes(g))
    return call_with_schedules(g, &d, addresses, (uintptr_t)temporaries, failure);
  stream_sequence *s = kept ? kept : is_sequence(g) ? streams_take(&g->streams, &d) : NULL;
  bool done = s && call_sequence(g, &d, s, addresses, (uintptr_t)temporaries);
  bool good = done || call_passes(g, &d, addresses, (uintptr_t)temporaries, 0);
  if (s && !done)
    atomic_store(&g->launches_of_call, NEVER);
  else if (!s && good && !atomic_load(&g->launches_of_call))
    atomic_store(&g->launches_of_call, d.launched);
  if (s && !kept)
    streams_give(&g->streams, &d, s);
  return good || fail_with_message(&d, failure);
}

bool cuda_program_take(cuda_program *g, cuda_stream *stream, uint64_t bytes, cuda_address *memory,
                       stream_sequence **kept, error *failure) {
  cuda_device d = call_device(g, stream);
  *kept = bytes <= d.facts.memory_bytes / KEPT_PART && is_sequence(g)
              ? streams_take(&g->streams, &d)
              : NULL;
  if (*kept && (*memory = stream_sequence_memory(*kept, &d, bytes)))
    return true;
  if (*kept)
    streams_give(&g->streams, &d, *kept);
  *kept = NULL;
  return cuda_stream_memory_new(&d, bytes, memory) || fail_with_message(&d, failure);
}

bool cuda_program_give(cuda_program *g, cuda_stream *stream, cuda_address memory,
                       stream_sequence *kept, error *failure) {
  cuda_device d = call_device(g, stream);
  if (!kept)
    return cuda_stream_memory_free(&d, memory) || fail_with_message(&d, failure);
  streams_give(&g->streams, &d, kept);
  return true;
}

bool cuda_program_fetch(const cuda_program *g, cuda_stream *stream, void *to, cuda_address from,
                        uint64_t bytes, error *failure) {
  cuda_device d = call_device(g, stream);
  return cuda_fetch(&d, to, from, bytes) || fail_with_message(&d, failure);
}
