// Ranks whose messages a function of the caller carries: another library's, such as a process group
// of PyTorch. Before the messages of an exchange each rank sends each other a note: how many bytes
// come, or why it cannot go on. So all know of a failure after the same exchange, and none waits
// for messages that do not come. A rank that hangs, or is gone, is for the caller's function to
// find.
#include "runtime/transport/transport.h"

#include <stdio.h>

typedef struct note {
  uint64_t bytes;                             // of the message that follows
  char failure[sizeof((error *)0)->message];  // or empty
} note;

typedef struct caller_rank {
  transport base;
  transport_carry *carry;
  void *with;
  error failure;          // the first that is known here
  note *sent, *received;  // by rank
  transport_message *messages;
} caller_rank;

static bool end_of_call(const caller_rank *t, error *failure) {
  return !error_is_set(&t->failure) || error_pass(failure, &t->failure);
}

// All ranks come here at one time. The messages to send are the first ones.
static void carry(caller_rank *t, uint32_t sends, uint32_t receives) {
  permc_error why = {PERMC_OK, ""};
  if (t->base.ranks > 1 &&
      !t->carry(t->with, t->messages, sends, t->messages + sends, receives, &why))
    error_set(&t->failure, SPAN_NONE, "rank %u: %s", t->base.rank,
              why.message[0] != 0 ? why.message : "the caller's function for messages has failed");
}

// Whether all ranks can go on; each knows it of all then, and what it will receive.
static bool exchange_notes(caller_rank *t) {
  uint32_t ranks = t->base.ranks, self = t->base.rank, count = 0;
  note *own = &t->received[self];
  snprintf(own->failure, sizeof own->failure, "%s", t->failure.message);
  for (uint32_t r = 0; r < ranks; r++) {
    memcpy(t->sent[r].failure, own->failure, sizeof own->failure);
    if (r != self)
      t->messages[count++] = (transport_message){r, &t->sent[r], sizeof *t->sent};
  }
  for (uint32_t r = 0; r < ranks; r++)
    if (r != self)
      t->messages[count++] = (transport_message){r, &t->received[r], sizeof *t->received};
  t->failure = (error){0};
  carry(t, count / 2, count / 2);
  for (uint32_t r = 0; r < ranks; r++)
    if (t->received[r].failure[0] != 0)
      error_set(&t->failure, SPAN_NONE, "%s", t->received[r].failure);
  return !error_is_set(&t->failure);
}

static void caller_fail(transport *base, const char *line) {
  caller_rank *t = (caller_rank *)base;
  if (error_is_set(&t->failure))
    return;
  error_set(&t->failure, SPAN_NONE, "%s", line);
  exchange_notes(t);
}

static uint64_t bytes_of(const transport_message *m) { return m != NULL ? m->bytes : 0; }

// What others send beside what is expected of them comes to memory of its own, *beside. *wrong:
// such a rank. Without such no memory is needed: when notes are exchanged, others wait for messages
// and for no further note.
static bool list_messages(caller_rank *t, const transport_message *sends, uint32_t send_count,
                          const transport_message *receives, uint32_t receive_count,
                          uint32_t *counts, uint32_t *wrong, void **beside) {
  uint32_t self = t->base.rank;
  uint64_t most = 0;
  counts[0] = counts[1] = 0;
  for (uint32_t i = 0; i < send_count; i++)
    if (sends[i].rank != self && sends[i].bytes > 0)
      t->messages[counts[0]++] = sends[i];
  *wrong = self;
  for (uint32_t r = 0; r < t->base.ranks; r++)
    if (r != self &&
        t->received[r].bytes != bytes_of(transport_message_of(receives, receive_count, r))) {
      most = t->received[r].bytes > most ? t->received[r].bytes : most;
      *wrong = *wrong == self ? r : *wrong;
    }
  *beside = most > 0 ? calloc(most, 1) : NULL;
  for (uint32_t r = 0; r < t->base.ranks; r++) {
    const transport_message *m = transport_message_of(receives, receive_count, r);
    uint64_t bytes = r == self ? 0 : t->received[r].bytes;
    if (bytes > 0)
      t->messages[counts[0] + counts[1]++] =
          (transport_message){r, bytes == bytes_of(m) ? m->data : *beside, bytes};
  }
  return most == 0 || *beside != NULL;
}

static bool caller_exchange(transport *base, const transport_message *sends, uint32_t send_count,
                            const transport_message *receives, uint32_t receive_count,
                            error *failure) {
  caller_rank *t = (caller_rank *)base;
  uint32_t counts[2], wrong;
  if (error_is_set(&t->failure))
    return end_of_call(t, failure);
  for (uint32_t r = 0; r < base->ranks; r++)
    t->sent[r].bytes = bytes_of(transport_message_of(sends, send_count, r));
  if (!exchange_notes(t))
    return end_of_call(t, failure);
  void *beside;
  bool good = list_messages(t, sends, send_count, receives, receive_count, counts, &wrong, &beside);
  if (!good) {
    transport_fail(base, "out of memory", failure);
    return end_of_call(t, failure);
  }
  carry(t, counts[0], counts[1]);
  free(beside);
  if (wrong != base->rank && !error_is_set(&t->failure)) {
    error_set(&t->failure, SPAN_NONE, "rank %u expects another number of bytes than rank %u sends",
              base->rank, wrong);
    exchange_notes(t);
  }
  return end_of_call(t, failure);
}

static bool caller_barrier(transport *base, error *failure) {
  return caller_exchange(base, NULL, 0, NULL, 0, failure);
}

static void caller_close(transport *base) {
  FREED caller_rank *t = (caller_rank *)base;
  free(t->sent);
  free(t->received);
  free(t->messages);
}

static transport *caller_open(const transport_options *o, error *failure) {
  caller_rank *t = calloc(1, sizeof *t);
  if (o->carry == NULL || o->rank >= o->ranks) {
    free(t);
    error_set(failure, SPAN_NONE, "there is no rank %u of %u", o->rank, o->ranks);
    return NULL;
  }
  if (t != NULL) {
    *t = (caller_rank){.base = {.rank = o->rank, .ranks = o->ranks, .timeout = o->timeout},
                       .carry = o->carry,
                       .with = o->with};
    t->sent = calloc(o->ranks, sizeof *t->sent);
    t->received = calloc(o->ranks, sizeof *t->received);
    t->messages = calloc(o->ranks, 2 * sizeof *t->messages);
    if (t->sent != NULL && t->received != NULL && t->messages != NULL)
      return &t->base;
    caller_close(&t->base);
  }
  error_set(failure, SPAN_NONE, "rank %u: out of memory", o->rank);
  return NULL;
}

const transport_kind transport_caller = {
    .name = "caller",
    .open = caller_open,
    .exchange = caller_exchange,
    .barrier = caller_barrier,
    .fail = caller_fail,
    .close = caller_close,
};
