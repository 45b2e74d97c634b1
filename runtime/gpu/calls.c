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
  if (good && !stream_sequence_retarget(&g->streams, s, addresses, temporaries)) {
    cuda_sequence_write(d, s->launches);
    good = call_passes(g, d, addresses, temporaries, s->state);
  }
  s->failed = !cuda_sequence_launch(d, s->launches, good);
  return !s->failed;
}

static bool is_sequence(const cuda_program *g) {
  uint32_t count = g->tables[OF_ALL].starts;
  return atomic_load(&g->starts) == STARTS_AS_ONE && count > 1 && count <= CUDA_SEQUENCE_MOST &&
         !g->plan->lines;
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
  good = good && (call_passes(g, d, addresses, temporaries, 0) || cuda_fail(d, failure));
  pthread_mutex_unlock(&g->schedules);
  cuda_stages_end(d);
  return good;
}

// Several launches are a sequence from the second call on; where there can be none, they are done
// one by one, then and ever after. Profilers see them one by one.
bool program_call(const backend_program *of, const backend_call *call, error *failure) {
  cuda_program *g = program_of(of);
  cuda_device d = call_device(g, call->stream);
  const plan *p = g->plan;
  cuda_address *addresses = (cuda_address *)(void *)call->data;
  cuda_address temporaries = (uintptr_t)call->temporaries;
  _Static_assert(sizeof(void *) == sizeof(cuda_address), "addresses of the device are pointers");
  for (size_t a = 0; a < p->arrays.count; a++)
    if (p->arrays.items[a].role == NET_TABLE)
      addresses[a] = g->own[a];
  if (permutes(g))
    return call_with_schedules(g, &d, addresses, temporaries, failure);
  stream_sequence *s = call->kept       ? call->kept
                       : is_sequence(g) ? streams_take(&g->streams, &d)
                                        : NULL;
  bool done = s && call_sequence(g, &d, s, addresses, temporaries);
  bool good = done || call_passes(g, &d, addresses, temporaries, 0);
  if (s && !done)
    atomic_store(&g->starts, STARTS_ONE_BY_ONE);
  else if (!s && good && atomic_load(&g->starts) == STARTS_FIRST)
    atomic_store(&g->starts, STARTS_AS_ONE);
  if (s && !call->kept)
    streams_give(&g->streams, &d, s);
  return good || cuda_fail(&d, failure);
}

void program_describe(const backend_program *p, storage_pass *passes) {
  const cuda_program *g = program_of(p);
  launch_table_describe(&g->tables[OF_ALL], g->facts, passes);
}

bool program_workspace(const backend_program *p, backend_call *call, uint64_t bytes, void **memory,
                       error *failure) {
  cuda_program *g = program_of(p);
  cuda_device d = call_device(g, call->stream);
  cuda_address a = (uintptr_t)*memory;
  stream_sequence *kept = call->kept;
  if (!bytes && kept)
    return streams_give(&g->streams, &d, kept), true;
  if (!bytes)
    return cuda_stream_memory_free(&d, a) || cuda_fail(&d, failure);
  if (bytes <= d.facts.memory_bytes / KEPT_PART && is_sequence(g))
    kept = streams_take(&g->streams, &d);
  a = kept ? stream_sequence_memory(kept, &d, bytes) : 0;
  call->kept = a ? kept : NULL;
  if (kept && !a)
    streams_give(&g->streams, &d, kept);
  bool good = a || cuda_stream_memory_new(&d, bytes, &a);
  *memory = (void *)(uintptr_t)a;
  return good || cuda_fail(&d, failure);
}

bool program_fetch(const backend_program *p, const backend_call *call, void *to, const void *from,
                   uint64_t bytes, error *failure) {
  cuda_device d = call_device(program_of(p), call->stream);
  return cuda_fetch(&d, to, (uintptr_t)from, bytes) || cuda_fail(&d, failure);
}
