// Ranks that are threads of one process, and whose GPUs reach each other's memory: each copies what
// it sends to where it belongs, by the copy engines of its GPU. Passes keep the multiprocessors and
// go on meanwhile, where NCCL's kernels and they would hold each other up.
//
//   rank 0's stream    A 0   A 1   ..................... C 0   C 1        what an exchange is given
//   rank 0's link            copy 0 to rank 1   copy 1                    waits for A k
//   rank 1's link            copy 0 to rank 0   copy 1                    C k of rank 0 waits for it
//
// All is done in order of streams: nobody waits for a GPU. Ranks meet twice for each exchange. What
// they say of themselves lies in memory that all read: before the first meeting where what they
// receive belongs, and that they have marked on their stream from when on it may be written; before
// the second, that copies are marked for which those that receive them are to wait.
#include "core/clock.h"
#include "runtime/transport/device.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { PIECES = 1 << TRANSPORT_PIECE_BITS };

typedef struct place {
  uint64_t expects, sends;  // 1 more than these bytes; 0: nothing
  void *data;               // where it expects them
} place;

// What a rank says of itself.
typedef struct entry {
  cuda_context *context;
  cuda_stream *link;
  atomic_uint begun, posted,
      ended;         // its calls: in the last but `ended` it may look at others' entries
  cuda_event *free;  // where it receives may be written
  cuda_event *sent[PIECES];
  place places[];  // for what another sends, by its number
} entry;

typedef struct copies_rank {
  device_rank device;
  cuda_event *stored[PIECES];
  // Exchanges, and opening: of this rank; the last in which it came to the first meeting, and
  // passed it.
  unsigned calls, came, passed;
  void **all;  // by rank, its entry: memory of the transport beneath
} copies_rank;

static entry *entry_of(const copies_rank *t, uint32_t rank) { return t->all[rank]; }
static entry *own_entry(const copies_rank *t) { return entry_of(t, t->device.base.rank); }

static bool check(copies_rank *t, cuda_status status, const char *call, error *failure) {
  cuda_device *d = t->device.device;
  return cuda_check(d, status, call, "an exchange, last %s", d->last) ||
         transport_fail(t->device.base.below, cuda_message(d), failure);
}

static void begin_call(copies_rank *t) { atomic_store(&own_entry(t)->begun, ++t->calls); }

// The first meeting. Who passes it knows that all have begun this call, and that none closes before
// it ends.
static bool meet(copies_rank *t, error *failure) {
  t->came = t->calls;
  bool good = transport_barrier(t->device.base.below, failure);
  t->passed = good ? t->calls : t->passed;
  return good;
}

// Whether the count, of calls that the rank has begun, comes to that call before `end`. A rank that
// hangs in its driver is not waited for: it copies nothing more when it hears of the failure.
static bool wait_for_call(const entry *e, const atomic_uint *count, unsigned call, double end) {
  while (atomic_load(&e->begun) >= call && atomic_load(count) < call && clock_seconds() < end)
    sched_yield();
  return atomic_load(&e->begun) < call || atomic_load(count) >= call;
}

// This rank has failed, and its memory may be gone soon: until others copy there no more. They end,
// as they hear of that or have nothing to wait for; who has not begun this call will not pass the
// meeting.
static void wait_for_copies(copies_rank *t) {
  const cuda_driver *api = t->device.device->api;
  cuda_stream *own = t->device.device->stream;
  double end = clock_seconds() + t->device.base.timeout;
  for (uint32_t r = 0; r < t->device.base.ranks; r++) {
    entry *e = entry_of(t, r);
    if (!wait_for_call(e, &e->posted, t->calls, end))
      continue;
    for (int k = 0; k < PIECES && t->passed == t->calls; k++)
      api->stream_wait(own, e->sent[k], 0);
  }
  api->stream_synchronize(own);
}

static bool end_call(copies_rank *t, bool good) {
  if (!good && own_entry(t)->link != NULL)
    t->device.device->api->stream_synchronize(own_entry(t)->link);
  atomic_store(&own_entry(t)->posted, t->calls);
  if (!good && t->came == t->calls)
    wait_for_copies(t);
  atomic_store(&own_entry(t)->ended, t->calls);
  return good;
}

// ---- an exchange, in its order -----------------------------------------------------------------

static uint64_t length_of(const transport_message *m) { return m != NULL ? m->bytes + 1 : 0; }

static void say_places(copies_rank *t, const transport_message *sends, uint32_t send_count,
                       const transport_message *receives, uint32_t receive_count) {
  for (uint32_t r = 0; r < t->device.base.ranks; r++) {
    const transport_message *to = transport_message_of(sends, send_count, r);
    const transport_message *from = transport_message_of(receives, receive_count, r);
    own_entry(t)->places[r] =
        (place){length_of(from), length_of(to), from != NULL ? from->data : NULL};
  }
}

static bool record(copies_rank *t, cuda_event *event, cuda_stream *stream, error *failure) {
  return check(t, t->device.device->api->event_record(event, stream), "cuEventRecord", failure);
}

static bool wait_in_order(copies_rank *t, cuda_stream *stream, cuda_event *event, error *failure) {
  return check(t, t->device.device->api->stream_wait(stream, event, 0), "cuStreamWaitEvent",
               failure);
}

// A piece of a message.
static transport_message piece_of(const transport_message *m, uint32_t piece, int bits) {
  uint64_t bytes = m->bytes >> bits;
  return (transport_message){m->rank, (char *)m->data + piece * bytes, bytes};
}

static bool copy_own_piece(copies_rank *t, const transport_message *from,
                           const transport_message *to, uint32_t piece, int bits, error *failure) {
  if (from == NULL)
    return true;
  transport_message send = piece_of(from, piece, bits), receive = piece_of(to, piece, bits);
  return device_copy_own(&t->device, &send, 1, &receive, 1, failure);
}

// What a rank expects is what the other sends: of all of them, so that all go on, or none.
static bool check_lengths(copies_rank *t, error *failure) {
  const transport *base = &t->device.base;
  char line[100];
  for (uint32_t r = 0; r < base->ranks; r++)
    for (uint32_t k = 0; k < base->ranks; k++) {
      if (entry_of(t, r)->places[k].expects == entry_of(t, k)->places[r].sends)
        continue;
      snprintf(line, sizeof line, "expects another number of bytes than rank %u sends",
               (unsigned)k);
      return r == base->rank ? transport_fail(t->device.base.below, line, failure)
                             : transport_barrier(base->below, failure);
    }
  return true;
}

// To each rank in turn, not all to the same at first.
static bool copy_piece(copies_rank *t, const transport_message *sends, uint32_t count,
                       uint32_t piece, int bits, error *failure) {
  const transport *base = &t->device.base;
  bool good = transport_check(base->below, failure) &&
              wait_in_order(t, own_entry(t)->link, t->stored[piece], failure);
  for (uint32_t i = 1; i < base->ranks && good; i++) {
    uint32_t r = (base->rank + i) % base->ranks;
    const transport_message *m = transport_message_of(sends, count, r);
    if (m == NULL || m->bytes == 0)
      continue;
    transport_message from = piece_of(m, piece, bits);
    const transport_message whole = {r, entry_of(t, r)->places[base->rank].data, m->bytes};
    transport_message to = piece_of(&whole, piece, bits);
    good =
        (piece > 0 || wait_in_order(t, own_entry(t)->link, entry_of(t, r)->free, failure)) &&
        check(t,
              t->device.device->api->copy_on_device(
                  device_address(to.data), device_address(from.data), to.bytes, own_entry(t)->link),
              "cuMemcpyDtoDAsync", failure);
  }
  return good && record(t, own_entry(t)->sent[piece], own_entry(t)->link, failure);
}

// What this rank does next, after the piece has come from all.
static bool follow_piece(copies_rank *t, const transport_message *receives, uint32_t count,
                         uint32_t piece, error *failure) {
  bool good = true;
  for (uint32_t i = 0; i < count && good; i++)
    if (receives[i].rank != t->device.base.rank && receives[i].bytes > 0)
      good = wait_in_order(t, t->device.device->stream, entry_of(t, receives[i].rank)->sent[piece],
                           failure);
  return good;
}

static bool run_exchange(copies_rank *t, const transport_message *sends, uint32_t send_count,
                         const transport_message *receives, uint32_t receive_count,
                         const transport_pieces *p, error *failure) {
  transport *below = t->device.base.below;
  cuda_stream *own = t->device.device->stream;
  const transport_message *from = transport_message_of(sends, send_count, t->device.base.rank);
  const transport_message *to = transport_message_of(receives, receive_count, t->device.base.rank);
  uint32_t pieces = p != NULL ? 1u << p->bits : 1;
  int bits = p != NULL ? p->bits : 0;
  say_places(t, sends, send_count, receives, receive_count);
  bool good = record(t, own_entry(t)->free, own, failure);
  for (uint32_t k = 0; k < pieces && good; k++)
    good = (p == NULL || p->store(p->with, k)) && copy_own_piece(t, from, to, k, bits, failure) &&
           record(t, t->stored[k], own, failure);
  good = good && meet(t, failure) && check_lengths(t, failure);
  for (uint32_t k = 0; k < pieces && good; k++)
    good = copy_piece(t, sends, send_count, k, bits, failure);
  good = good && transport_barrier(below, failure);
  for (uint32_t k = 0; k < pieces && good; k++)
    good =
        follow_piece(t, receives, receive_count, k, failure) && (p == NULL || p->load(p->with, k));
  // What is sent may be changed then.
  return good && wait_in_order(t, own, own_entry(t)->sent[pieces - 1], failure);
}

static bool copies_exchange_pieces(transport *base, const transport_message *sends,
                                   uint32_t send_count, const transport_message *receives,
                                   uint32_t receive_count, const transport_pieces *pieces,
                                   error *failure) {
  copies_rank *t = (copies_rank *)base;
  if (!cuda_enter(t->device.device))
    return transport_fail(t->device.base.below, cuda_message(t->device.device), failure);
  begin_call(t);
  bool good = run_exchange(t, sends, send_count, receives, receive_count, pieces, failure);
  if (pieces == NULL && good)
    good = check(t, t->device.device->api->stream_synchronize(t->device.device->stream),
                 "cuStreamSynchronize", failure);
  return cuda_leave(t->device.device, end_call(t, good));
}

static bool copies_exchange(transport *base, const transport_message *sends, uint32_t send_count,
                            const transport_message *receives, uint32_t receive_count,
                            error *failure) {
  return copies_exchange_pieces(base, sends, send_count, receives, receive_count, NULL, failure);
}

// ---- opening and closing -----------------------------------------------------------------------

static bool make_event(copies_rank *t, cuda_event **event, error *failure) {
  return check(t, t->device.device->api->event_create(event, CUDA_EVENT_NO_TIMING), "cuEventCreate",
               failure);
}

static bool make_order(copies_rank *t, error *failure) {
  entry *own = own_entry(t);
  bool good =
      check(t, t->device.device->api->stream_create(&own_entry(t)->link, CUDA_STREAM_NON_BLOCKING),
            "cuStreamCreate", failure) &&
      make_event(t, &own->free, failure);
  for (int k = 0; k < PIECES && good; k++)
    good = make_event(t, &t->stored[k], failure) && make_event(t, &own->sent[k], failure);
  own->context = t->device.device->context;
  return good && meet(t, failure);
}

// It stays; others of this process may have done it before.
static bool reach_others(copies_rank *t, error *failure) {
  cuda_device *d = t->device.device;
  bool good = true;
  for (uint32_t r = 0; r < t->device.base.ranks && good; r++) {
    cuda_context *other = entry_of(t, r)->context;
    cuda_status status = other != d->context ? d->api->enable_access(other, 0) : CUDA_STATUS_GOOD;
    good =
        status == CUDA_STATUS_ACCESS_ENABLED || check(t, status, "cuCtxEnablePeerAccess", failure);
  }
  return good;
}

static void free_order(copies_rank *t) {
  const cuda_driver *api = t->device.device->api;
  entry *own = own_entry(t);
  for (int k = 0; k < PIECES; k++) {
    if (t->stored[k] != NULL)
      api->event_destroy(t->stored[k]);
    if (own->sent[k] != NULL)
      api->event_destroy(own->sent[k]);
  }
  if (own->free != NULL)
    api->event_destroy(own->free);
  if (own_entry(t)->link != NULL) {
    api->stream_synchronize(own_entry(t)->link);
    api->stream_destroy(own_entry(t)->link);
  }
}

// When nobody looks at this rank's entry any more.
static void copies_close(transport *base) {
  copies_rank *t = (copies_rank *)base;
  double end = clock_seconds() + base->timeout;
  for (uint32_t r = 0; r < base->ranks && own_entry(t) != NULL; r++) {
    entry *e = entry_of(t, r);
    wait_for_call(e, &e->ended, atomic_load(&e->begun), end);
  }
  if (own_entry(t) != NULL && cuda_enter_to_free(t->device.device)) {
    free_order(t);
    cuda_leave(t->device.device, true);
  }
  free(t->all);
  free(t);
}

static bool make_entries(copies_rank *t, error *failure) {
  transport *below = t->device.base.below;
  uint64_t bytes = sizeof(entry) + below->ranks * sizeof(place);
  return below->kind->memory(below, bytes, t->all, failure);
}

static transport *copies_open(const transport_options *o, error *failure) {
  copies_rank *t = calloc(1, sizeof *t);
  if (t != NULL)
    t->all = calloc(o->below->ranks, sizeof *t->all);
  if (t == NULL || t->all == NULL) {
    free(t);
    return transport_fail(o->below, "out of memory", failure), NULL;
  }
  device_rank_begin(&t->device, o);
  bool good = make_entries(t, failure);
  if (good)
    begin_call(t);
  if (good && !cuda_enter(o->device))
    good = transport_fail(t->device.base.below, cuda_message(o->device), failure);
  else if (good)
    good = cuda_leave(o->device, end_call(t, make_order(t, failure) && reach_others(t, failure)));
  if (good)
    return &t->device.base;
  copies_close(&t->device.base);
  return NULL;
}

const transport_kind transport_copies = {
    .name = "copies",
    .summary = "arrays in the memory of GPUs of one process, which copy them to each other",
    .open = copies_open,
    .exchange = copies_exchange,
    .exchange_pieces = copies_exchange_pieces,
    DEVICE_ROWS,
    .close = copies_close,
};
