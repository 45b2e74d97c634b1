// Ranks whose arrays are in the memory of their GPUs, exchanged by NCCL. All else goes over the
// transport beneath: before each exchange all ranks come together there, and say how long their
// messages are, so that NCCL is asked for nothing that another rank does not expect, and a rank
// that is missing is named. What NCCL does is polled, never waited for in NCCL: where it fails,
// another rank fails, or nothing comes, the communicator is aborted.
#include "runtime/cuda/device.h"
#include "runtime/transport/nccl_library.h"
#include "runtime/transport/transport.h"

#include "core/clock.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

typedef struct nccl_rank {
  transport base;
  const nccl_library *n;
  nccl_comm *comm;               // NULL: not yet, or no longer
  uint64_t *lengths, *expected;  // by rank: of messages to it, of it; 1 more than they are, 0: none
  transport_message *notes;      // 2 for each rank
} nccl_rank;

// ---- failures ----------------------------------------------------------------------------------

static void abort_comm(nccl_rank *t) {
  if (t->comm != NULL && cuda_enter_to_free(t->base.device)) {
    t->n->comm_abort(t->comm);
    cuda_leave(t->base.device, true);
  }
  t->comm = NULL;
}

static bool fail(nccl_rank *t, error *failure, const char *format, ...) PRINTF_LIKE(3, 4);
static bool fail(nccl_rank *t, error *failure, const char *format, ...) {
  char cause[480];
  WITH_ARGUMENTS(format, vsnprintf(cause, sizeof cause, format, arguments));
  transport_fail(t->base.below, cause, failure);
  return abort_comm(t), false;
}

// "ncclSend to rank 1: unhandled system error: Connection closed by peer"
static bool fail_call(nccl_rank *t, nccl_status status, const char *call, error *failure) {
  const char *more = t->n->last_error(t->comm);
  more = more != NULL ? more : "";
  return fail(t, failure, "%s: %s%s%.*s", call, t->n->error_string(status), *more ? ": " : "",
              (int)strcspn(more, "\n"), more);
}

static bool is_under_way(nccl_status status) {
  return status == NCCL_GOOD || status == NCCL_IN_PROGRESS;
}

// ---- waiting -----------------------------------------------------------------------------------

static void rest(unsigned looks) {
  enum { RESTLESS = 1000 };
  static const struct timespec moment = {.tv_nsec = 20000};
  if (looks < RESTLESS)
    sched_yield();
  else
    nanosleep(&moment, NULL);
}

// Whether NCCL has begun what it was asked for and, with `stream`, all of it has been done. False,
// and *pending false: this rank has failed.
static bool is_done(nccl_rank *t, bool stream, const char *call, bool *pending, error *failure) {
  cuda_device *d = t->base.device;
  nccl_status state = NCCL_GOOD, status = t->n->comm_error(t->comm, &state);
  *pending = false;
  if (status != NCCL_GOOD)
    return fail_call(t, status, "ncclCommGetAsyncError", failure);
  if (!is_under_way(state))
    return fail_call(t, state, call, failure);
  cuda_status done = stream ? d->api->stream_query(d->stream) : CUDA_STATUS_GOOD;
  *pending = state == NCCL_IN_PROGRESS || done == CUDA_STATUS_NOT_READY;
  if (*pending)
    return false;
  return cuda_check(d, done, "cuStreamQuery", "messages of NCCL, last %s", d->last) ||
         fail(t, failure, "%s", cuda_message(d));
}

// In the device's context. The transport beneath is asked about others now and then.
static bool wait_for(nccl_rank *t, bool stream, const char *call, error *failure) {
  enum { LOOKS_PER_CHECK = 64 };
  double start = clock_seconds(), timeout = t->base.timeout;
  bool pending = true;
  for (unsigned looks = 0; !is_done(t, stream, call, &pending, failure); rest(looks++)) {
    if (!pending)
      return false;
    if (looks % LOOKS_PER_CHECK == 0 && !transport_check(t->base.below, failure))
      return abort_comm(t), false;
    if (clock_seconds() - start > timeout)
      return fail(t, failure, "%s has not ended within %g s", call, timeout);
  }
  return true;
}

// ---- an exchange -------------------------------------------------------------------------------

static uint64_t length_of(const transport_message *m) { return m != NULL ? m->bytes + 1 : 0; }

// All ranks come; each knows that it sends what the others expect, and all go on, or none.
static bool agree_on_lengths(nccl_rank *t, const transport_message *sends, uint32_t send_count,
                             const transport_message *receives, uint32_t receive_count,
                             error *failure) {
  uint32_t ranks = t->base.ranks;
  transport_message *to = t->notes, *from = t->notes + ranks;
  for (uint32_t r = 0; r < ranks; r++) {
    t->lengths[r] = length_of(transport_message_of(sends, send_count, r));
    to[r] = (transport_message){r, &t->lengths[r], sizeof *t->lengths};
    from[r] = (transport_message){r, &t->expected[r], sizeof *t->expected};
  }
  if (!transport_exchange(t->base.below, to, ranks, from, ranks, failure))
    return abort_comm(t), false;
  for (uint32_t r = 0; r < ranks; r++)
    if (t->expected[r] != length_of(transport_message_of(receives, receive_count, r)))
      return fail(t, failure, "expects another number of bytes than rank %u sends", r);
  return transport_barrier(t->base.below, failure) || (abort_comm(t), false);
}

enum { CALL = 64 };

// One message, and the name of the call.
static nccl_status post(const nccl_rank *t, const transport_message *m, bool receive,
                        char call[CALL]) {
  const nccl_library *n = t->n;
  void *stream = t->base.device->stream;
  snprintf(call, CALL, "%s rank %u", receive ? "ncclRecv from" : "ncclSend to", m->rank);
  if (m->bytes == 0 || m->rank == t->base.rank)
    return NCCL_GOOD;
  return receive ? n->receive(m->data, m->bytes, NCCL_UINT8, (int)m->rank, t->comm, stream)
                 : n->send(m->data, m->bytes, NCCL_UINT8, (int)m->rank, t->comm, stream);
}

// A group that has begun is ended, whatever happens.
static bool post_all(nccl_rank *t, const transport_message *sends, uint32_t send_count,
                     const transport_message *receives, uint32_t receive_count, error *failure) {
  char call[CALL] = "ncclGroupStart";
  nccl_status status = t->n->group_start();
  if (status != NCCL_GOOD)
    return fail_call(t, status, call, failure);
  for (uint32_t i = 0; i < receive_count && is_under_way(status); i++)
    status = post(t, &receives[i], true, call);
  for (uint32_t i = 0; i < send_count && is_under_way(status); i++)
    status = post(t, &sends[i], false, call);
  nccl_status end = t->n->group_end();
  if (!is_under_way(status))
    return fail_call(t, status, call, failure);
  return is_under_way(end) || fail_call(t, end, "ncclGroupEnd", failure);
}

static bool nccl_exchange(transport *base, const transport_message *sends, uint32_t send_count,
                          const transport_message *receives, uint32_t receive_count,
                          error *failure) {
  nccl_rank *t = (nccl_rank *)base;
  cuda_device *d = base->device;
  if (!agree_on_lengths(t, sends, send_count, receives, receive_count, failure))
    return false;
  if (!cuda_enter(d))
    return fail(t, failure, "%s", cuda_message(d));
  bool good = post_all(t, sends, send_count, receives, receive_count, failure) &&
              wait_for(t, true, "NCCL's exchange", failure);
  return cuda_leave(d, good);
}

// ---- opening and closing -----------------------------------------------------------------------

static void free_rank(nccl_rank *t) {
  free(t->lengths);
  free(t->expected);
  free(t->notes);
  free(t);
}

// Rank 0's, to all.
static bool share_id(nccl_rank *t, nccl_id *id, error *failure) {
  transport *below = t->base.below;
  nccl_status status = below->rank == 0 ? t->n->get_unique_id(id) : NCCL_GOOD;
  if (status != NCCL_GOOD)
    return fail_call(t, status, "ncclGetUniqueId", failure);
  return transport_share(below, id, sizeof *id, failure);
}

static bool join(nccl_rank *t, error *failure) {
  nccl_config config = {sizeof config, NCCL_MAGIC, NCCL_LEAST, 0};
  nccl_id id = {{0}};
  if (!share_id(t, &id, failure))
    return false;
  nccl_status status =
      t->n->comm_init(&t->comm, (int)t->base.ranks, id, (int)t->base.rank, &config);
  return is_under_way(status) ? wait_for(t, false, "ncclCommInitRankConfig", failure)
                              : fail_call(t, status, "ncclCommInitRankConfig", failure);
}

static transport *nccl_open(const transport_options *o, error *failure) {
  nccl_rank *t = calloc(1, sizeof *t);
  uint32_t ranks = o->below->ranks;
  if (t != NULL) {
    t->base = transport_above(o);
    t->lengths = calloc(ranks, sizeof *t->lengths);
    t->expected = calloc(ranks, sizeof *t->expected);
    t->notes = calloc(ranks, 2 * sizeof *t->notes);
  }
  char why[256] = "out of memory";
  if (t == NULL || t->lengths == NULL || t->expected == NULL || t->notes == NULL ||
      (t->n = nccl_library_find(why, sizeof why)) == NULL) {
    transport_fail(o->below, why, failure);
  } else if (!cuda_enter(o->device)) {
    transport_fail(t->base.below, cuda_message(o->device), failure);
  } else if (cuda_leave(o->device, join(t, failure))) {
    return &t->base;
  }
  if (t != NULL)
    free_rank(t);
  return NULL;
}

// Whether NCCL has nothing left to do: what others may still read here stays until then.
static bool finalize(nccl_rank *t) {
  const double last_words = 5, end = clock_seconds() + last_words;
  nccl_status state = t->n->comm_finalize(t->comm);
  if (!is_under_way(state))
    return false;
  state = NCCL_IN_PROGRESS;
  for (unsigned looks = 0; state == NCCL_IN_PROGRESS && clock_seconds() < end; rest(looks++))
    if (t->n->comm_error(t->comm, &state) != NCCL_GOOD)
      return false;
  return state == NCCL_GOOD;
}

static void nccl_close(transport *base) {
  nccl_rank *t = (nccl_rank *)base;
  error why = {0};
  bool clean =
      t->comm != NULL && transport_check(t->base.below, &why) && cuda_enter_to_free(t->base.device);
  if (clean && finalize(t)) {
    t->n->comm_destroy(t->comm);
    t->comm = NULL;
  }
  if (clean)
    cuda_leave(t->base.device, true);
  abort_comm(t);
  free_rank(t);
}

const transport_kind transport_nccl = {
    .name = "nccl",
    .open = nccl_open,
    .exchange = nccl_exchange,
    .close = nccl_close,
};
