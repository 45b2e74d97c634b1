// Ranks whose arrays are in the memory of their GPUs: which transport carries them. All ranks say
// what they have, and choose alike.
#include "runtime/cuda/device.h"
#include "runtime/transport/nccl_library.h"
#include "runtime/transport/transport.h"

#include <stdio.h>

// What a rank says of itself.
typedef struct offer {
  uint32_t wanted, has;  // nccl_wanted; whether it has NCCL
  unsigned char gpu[16];
  char why[256];
} offer;

static bool make_offer(cuda_device *d, offer *own) {
  *own = (offer){.wanted = nccl_library_wanted()};
  own->has = own->wanted != NCCL_OFF && nccl_library_find(own->why, sizeof own->why);
  if (own->wanted == NCCL_OFF)
    snprintf(own->why, sizeof own->why, "PERMC_NCCL is off");
  return CUDA_CHECK(d, device_get_uuid, (own->gpu, d->ordinal), "the %s", d->facts.name);
}

// Why there can be no NCCL, or "". The same on all ranks.
static void find_obstacle(const offer *all, uint32_t ranks, char why[320]) {
  why[0] = 0;
  for (uint32_t r = 0; r < ranks && !why[0]; r++) {
    if (!all[r].has)
      snprintf(why, 320, "rank %u: %s", r, all[r].why);
    for (uint32_t k = 0; k < r && !why[0]; k++)
      if (memcmp(all[k].gpu, all[r].gpu, sizeof all[k].gpu) == 0)
        snprintf(why, 320, "rank %u: it has the GPU of rank %u, and NCCL needs one for each", r, k);
  }
}

static const transport_kind *choose(const offer *all, uint32_t ranks, error *failure) {
  char why[320];
  find_obstacle(all, ranks, why);
  if (!why[0])
    return ranks > 1 ? &transport_nccl : &transport_staged;
  for (uint32_t r = 0; r < ranks; r++)
    if (all[r].wanted == NCCL_NAMED)
      return error_set(failure, SPAN_NONE, "%s", why), NULL;
  return &transport_staged;
}

// NULL: failed.
static const transport_kind *find_kind(transport *below, cuda_device *d, error *failure) {
  offer own;
  if (!make_offer(d, &own)) {
    transport_fail(below, cuda_message(d), failure);
    return NULL;
  }
  FREED offer *all = transport_gather_each(below, &own, sizeof own, failure);
  const transport_kind *kind = all ? choose(all, below->ranks, failure) : NULL;
  return kind;
}

transport *transport_open_device(transport *below, cuda_device *d, error *failure) {
  const transport_kind *kind = find_kind(below, d, failure);
  return kind ? transport_open(&(transport_options){.kind = kind, .below = below, .device = d},
                               failure)
              : NULL;
}
