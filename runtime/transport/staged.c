// Ranks whose arrays are in the memory of their GPUs, through memory of the host: messages are
// downloaded, exchanged by the transport beneath, and uploaded.
#include "runtime/cuda/cuda.h"
#include "runtime/transport/transport.h"

typedef struct staged_messages {
  transport_message *all;  // to others, in memory of the host
  uint32_t count;
  unsigned char *memory;
} staged_messages;

static bool make_messages(const transport *t, const transport_message *m, uint32_t count,
                          staged_messages *out) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; i++)
    bytes += m[i].rank == t->rank ? 0 : m[i].bytes;
  out->all = calloc(count + 1, sizeof *out->all);
  out->memory = malloc(bytes + 1);
  unsigned char *at = out->memory;
  for (uint32_t i = 0; i < count && out->all != NULL && at != NULL; i++) {
    if (m[i].rank == t->rank)
      continue;
    out->all[out->count++] = (transport_message){m[i].rank, at, m[i].bytes};
    at += m[i].bytes;
  }
  return out->all != NULL && out->memory != NULL;
}

// From the device, or to it.
static bool move_messages(const transport *t, const transport_message *m, uint32_t count,
                          const staged_messages *s, bool download) {
  bool good = true;
  for (uint32_t i = 0; i < count && good; i++) {
    const transport_message *own = transport_message_of(s->all, s->count, m[i].rank);
    if (own == NULL)
      continue;
    good = download ? cuda_download(t->device, own->data, (uintptr_t)m[i].data, m[i].bytes)
                    : cuda_upload(t->device, (uintptr_t)m[i].data, own->data, m[i].bytes);
  }
  return good;
}

static bool staged_exchange(transport *t, const transport_message *sends, uint32_t send_count,
                            const transport_message *receives, uint32_t receive_count,
                            error *failure) {
  staged_messages out = {0}, in = {0};
  bool good =
      make_messages(t, sends, send_count, &out) && make_messages(t, receives, receive_count, &in);
  if (!good)
    transport_fail(t, "out of memory", failure);
  else if (!move_messages(t, sends, send_count, &out, true))
    good = transport_fail(t, cuda_message(t->device), failure);
  else
    good = transport_exchange(t->below, out.all, out.count, in.all, in.count, failure) &&
           ((move_messages(t, receives, receive_count, &in, false) && cuda_wait(t->device, NULL)) ||
            transport_fail(t, cuda_message(t->device), failure));
  free(out.all);
  free(out.memory);
  free(in.all);
  free(in.memory);
  return good;
}

static transport *staged_open(const transport_options *o, error *failure) {
  transport *t = malloc(sizeof *t);
  if (t == NULL)
    return transport_fail(o->below, "out of memory", failure), NULL;
  *t = transport_above(o);
  return t;
}

static void staged_close(transport *t) { free(t); }

const transport_kind transport_staged = {
    .name = "staged",
    .open = staged_open,
    .exchange = staged_exchange,
    .close = staged_close,
};
