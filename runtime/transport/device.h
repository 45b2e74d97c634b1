// What the two transports of device memory share: the transport beneath, and the GPU. Private to
// runtime/transport.
#ifndef PERMC_RUNTIME_TRANSPORT_DEVICE_H
#define PERMC_RUNTIME_TRANSPORT_DEVICE_H

#include "runtime/cuda/device.h"
#include "runtime/transport/transport.h"

#include <inttypes.h>

typedef struct device_rank {
  transport base;  // with one below
  cuda_device *device;
} device_rank;

static inline cuda_address device_address(const void *p) { return (uintptr_t)p; }

// Fills in what is the same for both.
void device_rank_begin(device_rank *t, const transport_options *o);
// This rank's message to itself.
bool device_copy_own(device_rank *t, const transport_message *sends, uint32_t send_count,
                     const transport_message *receives, uint32_t receive_count, error *failure);

// Rows of both kinds.
void *device_room(transport *t, uint64_t bytes);
void device_room_end(transport *t, void *room);
bool device_copy(transport *t, void *to, const void *from, uint64_t bytes);
bool device_barrier(transport *t, error *failure);
bool device_check(transport *t, error *failure);
void device_fail(transport *t, const char *line);
#define DEVICE_ROWS                                                                                \
  .barrier = device_barrier, .room = device_room, .room_end = device_room_end,                     \
  .copy = device_copy, .check = device_check, .fail = device_fail

#endif
