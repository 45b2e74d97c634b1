// Ranks whose arrays are in the memory of their GPUs: what is the same for both transports of them.
#include "runtime/transport/device.h"

void device_rank_begin(device_rank *t, const transport_options *o) {
  const transport *below = o->below;
  t->base = (transport){
      .rank = below->rank, .ranks = below->ranks, .timeout = below->timeout, .below = o->below};
  t->device = o->device;
}

bool device_copy_own(device_rank *t, const transport_message *sends, uint32_t send_count,
                     const transport_message *receives, uint32_t receive_count, error *failure) {
  const transport_message *from = transport_message_of(sends, send_count, t->base.rank);
  const transport_message *to = transport_message_of(receives, receive_count, t->base.rank);
  return from == NULL || from->data == to->data ||
         cuda_copy(t->device, device_address(to->data), device_address(from->data), from->bytes) ||
         transport_fail(t->base.below, cuda_message(t->device), failure);
}

void *device_room(transport *t, uint64_t bytes) {
  return (void *)(uintptr_t)cuda_memory_new(((device_rank *)t)->device, bytes);
}

void device_room_end(transport *t, void *room) {
  cuda_memory_free(((device_rank *)t)->device, device_address(room));
}

bool device_copy(transport *t, void *to, const void *from, uint64_t bytes) {
  return cuda_copy(((device_rank *)t)->device, device_address(to), device_address(from), bytes);
}

bool device_barrier(transport *t, error *failure) { return transport_barrier(t->below, failure); }

bool device_check(transport *t, error *failure) { return transport_check(t->below, failure); }

void device_fail(transport *t, const char *line) { t->below->kind->fail(t->below, line); }
