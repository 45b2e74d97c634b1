#include "runtime/cuda/peers.h"
#include "runtime/cuda/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// An array, in slabs of `slab_bytes`; the last one has what is left.
typedef struct range {
  struct range *next;
  cuda_address address;  // 0: not reserved
  uint64_t bytes, slab_bytes;
  unsigned mapped;  // slabs
} range;

typedef struct peer {
  int number;  // of the GPU
  cuda_device *device;
  cuda_event *event;  // what it has been given up to a fork or join
  cuda_share *shares[CUDA_SIDES];
  cuda_stream *sides[CUDA_SIDES];
  cuda_event *side_events[CUDA_SIDES];
} peer;

struct cuda_peers {
  unsigned count;
  peer peers[CUDA_MOST_PEERS];
  unsigned gpus;  // that are different
  cuda_access access[CUDA_MOST_PEERS];
  uint64_t granularity;  // of slabs
  bool has_sides;
  range *ranges;
};

unsigned cuda_peers_count(const cuda_peers *p) { return p->count; }

bool cuda_peers_are_distinct(const cuda_peers *p) { return p->gpus == p->count; }

cuda_device *cuda_peer(const cuda_peers *p, unsigned number) { return p->peers[number].device; }

bool cuda_peers_refuse(cuda_peers *p, unsigned number) {
  char message[CUDA_WHY];
  snprintf(message, sizeof message, "%s", cuda_message(cuda_peer(p, number)));
  return cuda_refuse(cuda_peer(p, 0), "GPU %d: %.480s", p->peers[number].number, message);
}

// ---- opening -----------------------------------------------------------------------------------

static cuda_slab_kind slab_of(const cuda_device *d) {
  return (cuda_slab_kind){.type = CUDA_MEMORY_PINNED,
                          .location = {CUDA_LOCATION_DEVICE, d->ordinal}};
}

static bool add_access(cuda_peers *p, const cuda_device *d) {
  for (unsigned i = 0; i < p->gpus; i++)
    if (p->access[i].location.device == d->ordinal)
      return false;
  p->access[p->gpus++] =
      (cuda_access){{CUDA_LOCATION_DEVICE, d->ordinal}, .flags = CUDA_READ_WRITE};
  return true;
}

// That the GPU can map memory, and what it maps at once.
static bool check_mapping(cuda_peers *p, cuda_device *d) {
  int can = 0;
  size_t granularity = 0;
  cuda_slab_kind kind = slab_of(d);
  if (!CUDA_CHECK(d, device_get_attribute, (&can, CUDA_CAN_MAP, d->ordinal), "mapping of memory"))
    return false;
  if (!can)
    return cuda_refuse(d, "the %s cannot map memory at addresses that are chosen", d->facts.name);
  if (!CUDA_CHECK(d, slab_granularity, (&granularity, &kind, 1), "the %s", d->facts.name))
    return false;
  p->granularity = granularity > p->granularity ? granularity : p->granularity;
  return true;
}

// That the GPU reaches the memory of those before it, and they its.
static bool check_access(cuda_peers *p, unsigned number) {
  cuda_device *d = cuda_peer(p, number);
  for (unsigned i = 0; i < number; i++) {
    const cuda_device *other = cuda_peer(p, i);
    int to = 1, from = 1;
    if (other->ordinal == d->ordinal)
      continue;
    if (!CUDA_CHECK(d, can_access_peer, (&to, d->ordinal, other->ordinal), "GPU %d",
                    p->peers[i].number) ||
        !CUDA_CHECK(d, can_access_peer, (&from, other->ordinal, d->ordinal), "GPU %d",
                    p->peers[i].number))
      return false;
    if (!to || !from)
      return cuda_refuse(d, "it and GPU %d do not reach each other's memory", p->peers[i].number);
  }
  return true;
}

static bool create_event(cuda_device *d, cuda_event **event) {
  return CUDA_CHECK(d, event_create, (event, CUDA_EVENT_NO_TIMING), "the %s", d->facts.name);
}

static bool open_event(peer *q) {
  return cuda_enter(q->device) && cuda_leave(q->device, create_event(q->device, &q->event));
}

static bool open_peer(cuda_peers *p, int number, char *why, size_t size) {
  peer *q = &p->peers[p->count];
  *q = (peer){.number = number, .device = cuda_open(number, why, size)};
  if (!q->device)
    return false;
  p->count++;
  if ((!add_access(p, q->device) || check_mapping(p, q->device)) && check_access(p, p->count - 1) &&
      open_event(q))
    return true;
  snprintf(why, size, "GPU %d: %.480s", number, cuda_message(q->device));
  return false;
}

cuda_peers *cuda_peers_open(const int *numbers, unsigned count, char *why, size_t size) {
  cuda_peers *p = count && count <= CUDA_MOST_PEERS ? calloc(1, sizeof *p) : NULL;
  if (!p)
    snprintf(why, size, count <= CUDA_MOST_PEERS ? "out of memory" : "these are too many GPUs");
  for (unsigned i = 0; p && i < count; i++)
    if (!open_peer(p, numbers[i], why, size)) {
      cuda_peers_close(p);
      return NULL;
    }
  return p;
}

static void close_sides(peer *q) {
  const cuda_driver *api = q->device->api;
  for (int side = 0; side < CUDA_SIDES; side++) {
    if (q->sides[side])
      api->stream_destroy(q->sides[side]);
    if (q->side_events[side])
      api->event_destroy(q->side_events[side]);
    if (q->shares[side])
      api->share_destroy(q->shares[side]);
    q->sides[side] = NULL;
    q->side_events[side] = NULL;
    q->shares[side] = NULL;
  }
}

void cuda_peers_close(cuda_peers *p) {
  if (!p)
    return;
  while (p->ranges)
    cuda_peers_memory_free(p, p->ranges->address);
  for (unsigned i = p->count; i-- > 0;) {
    cuda_device *d = cuda_peer(p, i);
    if (cuda_enter_to_free(d)) {
      close_sides(&p->peers[i]);
      if (p->peers[i].event)
        d->api->event_destroy(p->peers[i].event);
      cuda_leave(d, true);
    }
    cuda_close(d);
  }
  free(p);
}

// ---- memory ------------------------------------------------------------------------------------

static uint64_t rounded_up(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

static uint64_t slab_length(const range *r, unsigned number) {
  uint64_t begin = number * r->slab_bytes, left = r->bytes > begin ? r->bytes - begin : 0;
  return left < r->slab_bytes ? left : r->slab_bytes;
}

// A slab's memory is given back when it is mapped no more.
static bool map_slab(cuda_peers *p, range *r, unsigned number) {
  cuda_device *d = cuda_peer(p, number);
  cuda_slab_kind kind = slab_of(d);
  cuda_slab slab = 0;
  uint64_t bytes = slab_length(r, number);
  if (!CUDA_CHECK(d, slab_create, (&slab, bytes, &kind, 0), "%" PRIu64 " bytes", bytes))
    return false;
  cuda_status status = d->api->range_map(r->address + number * r->slab_bytes, bytes, 0, slab, 0);
  r->mapped += status == CUDA_STATUS_GOOD;
  d->api->slab_release(slab);
  return cuda_check(d, status, "cuMemMap", "%" PRIu64 " bytes", bytes);
}

static bool map_range(cuda_peers *p, range *r) {
  cuda_device *d = cuda_peer(p, 0);
  cuda_address address = 0;
  if (!CUDA_CHECK(d, range_reserve, (&address, r->bytes, 0, 0, 0), "%" PRIu64 " bytes", r->bytes))
    return false;
  r->address = address;
  for (unsigned i = 0; i < p->count && slab_length(r, i) > 0; i++)
    if (!map_slab(p, r, i))
      return cuda_peers_refuse(p, i);
  return CUDA_CHECK(d, range_allow, (r->address, r->bytes, p->access, p->gpus),
                    "%" PRIu64 " bytes for %u GPUs", r->bytes, p->gpus);
}

static void unmap_range(cuda_peers *p, range *r) {
  const cuda_driver *api = cuda_peer(p, 0)->api;
  for (unsigned i = 0; i < r->mapped; i++)
    api->range_unmap(r->address + i * r->slab_bytes, slab_length(r, i));
  if (r->address)
    api->range_free(r->address, r->bytes);
  free(r);
}

cuda_address cuda_peers_memory_new(cuda_peers *p, uint64_t bytes) {
  cuda_device *d = cuda_peer(p, 0);
  range *r = malloc(sizeof *r);
  if (!r)
    return cuda_refuse(d, "out of memory"), 0;
  *r = (range){.next = p->ranges, .bytes = rounded_up(bytes + !bytes, p->granularity)};
  r->slab_bytes = rounded_up((r->bytes + p->count - 1) / p->count, p->granularity);
  if (!cuda_enter(d))
    return free(r), 0;
  bool good = map_range(p, r);
  cuda_address a = good ? r->address : 0;
  if (good)
    p->ranges = r;
  else
    unmap_range(p, r);
  cuda_leave(d, good);
  return a;
}

void cuda_peers_memory_free(cuda_peers *p, cuda_address a) {
  range **at = &p->ranges, *r;
  while ((r = *at) && r->address != a)
    at = &r->next;
  if (!r)
    return;
  *at = r->next;
  for (unsigned i = 0; i < p->count; i++)
    if (cuda_enter_to_free(cuda_peer(p, i)))
      cuda_leave(cuda_peer(p, i), !cuda_peer(p, i)->api->stream_synchronize(cuda_peer(p, i)->own));
  cuda_device *d = cuda_peer(p, 0);
  if (cuda_enter_to_free(d)) {
    unmap_range(p, r);
    cuda_leave(d, true);
  }
}

uint64_t cuda_peers_memory_left(cuda_peers *p) {
  uint64_t sum = 0;
  for (unsigned i = 0, seen = 0; i < p->count && seen < p->gpus; i++)
    if (cuda_peer(p, i)->ordinal == p->access[seen].location.device)
      sum += cuda_memory_left(cuda_peer(p, i)), seen++;
  return sum;
}

// ---- order -------------------------------------------------------------------------------------

static bool mark_stream(cuda_peers *p, unsigned number, cuda_event *event, cuda_stream *stream) {
  cuda_device *d = cuda_peer(p, number);
  return CUDA_CALL(d, event_record, (event, stream), "what it was given, last %s", d->last) ||
         cuda_peers_refuse(p, number);
}

static bool mark(cuda_peers *p, unsigned number) {
  return mark_stream(p, number, p->peers[number].event, cuda_peer(p, number)->own);
}

static bool stream_waits(cuda_peers *p, unsigned number, cuda_stream *stream, unsigned other,
                         cuda_event *event) {
  cuda_device *d = cuda_peer(p, number);
  return CUDA_CALL(d, stream_wait, (stream, event, 0), "GPU %d", p->peers[other].number) ||
         cuda_peers_refuse(p, number);
}

static bool wait_for(cuda_peers *p, unsigned number, unsigned other) {
  return stream_waits(p, number, cuda_peer(p, number)->own, other, p->peers[other].event);
}

bool cuda_peers_fork(cuda_peers *p) {
  bool good = mark(p, 0);
  for (unsigned i = 1; i < p->count && good; i++)
    good = wait_for(p, i, 0);
  return good;
}

bool cuda_peers_join(cuda_peers *p) {
  bool good = true;
  for (unsigned i = 1; i < p->count && good; i++)
    good = mark(p, i) && wait_for(p, 0, i);
  return good;
}

// ---- sides -------------------------------------------------------------------------------------

// Half of the multiprocessors for each: on two H100, of 132, 48 to 72 for links take within 2 % as
// long, 96 a tenth longer.
static bool share_multiprocessors(const cuda_device *d, cuda_resource *parts) {
  cuda_resource all = {0};
  unsigned groups = 1;
  if (d->api->resource_of(d->ordinal, &all, CUDA_RESOURCE_MULTIPROCESSORS) != CUDA_STATUS_GOOD)
    return false;
  unsigned unit = all.of.multiprocessors.unit ? all.of.multiprocessors.unit : 1;
  unsigned half = all.of.multiprocessors.count / 2 / unit * unit;
  return half > 0 &&
         d->api->resource_split(&parts[CUDA_LINK_SIDE], &groups, &all, &parts[CUDA_MEMORY_SIDE], 0,
                                half) == CUDA_STATUS_GOOD &&
         groups == 1 && parts[CUDA_MEMORY_SIDE].of.multiprocessors.count > 0;
}

static bool open_side(peer *q, int side, cuda_resource *part) {
  const cuda_driver *api = q->device->api;
  cuda_share_plan *plan = NULL;
  return api->share_plan(&plan, part, 1) == CUDA_STATUS_GOOD &&
         api->share_create(&q->shares[side], plan, q->device->ordinal, CUDA_SHARE_DEFAULT_STREAM) ==
             CUDA_STATUS_GOOD &&
         api->share_stream(&q->sides[side], q->shares[side], CUDA_STREAM_NON_BLOCKING, 0) ==
             CUDA_STATUS_GOOD &&
         create_event(q->device, &q->side_events[side]);
}

static bool open_sides(peer *q) {
  cuda_resource parts[CUDA_SIDES] = {0};
  if (!q->device->api->share_stream || !cuda_enter(q->device))
    return false;
  bool good = share_multiprocessors(q->device, parts);
  for (int side = 0; side < CUDA_SIDES && good; side++)
    good = open_side(q, side, &parts[side]);
  if (!good)
    close_sides(q);
  return cuda_leave(q->device, good);
}

bool cuda_peers_make_sides(cuda_peers *p) {
  bool good = cuda_peers_are_distinct(p);
  for (unsigned i = 0; i < p->count && good && !p->has_sides; i++)
    good = p->peers[i].sides[0] || open_sides(&p->peers[i]);
  return p->has_sides = good;
}

bool cuda_peers_begin_sides(cuda_peers *p) {
  bool good = true;
  for (unsigned i = 0; i < p->count && good; i++)
    good = mark(p, i);
  for (unsigned i = 0; i < p->count && good; i++)
    for (int side = 0; side < CUDA_SIDES && good; side++)
      good = stream_waits(p, i, p->peers[i].sides[side], i, p->peers[i].event);
  return good;
}

bool cuda_peers_end_sides(cuda_peers *p) {
  bool good = true;
  for (unsigned i = 0; i < p->count && good; i++)
    for (int side = 0; side < CUDA_SIDES && good; side++)
      good = mark_stream(p, i, p->peers[i].side_events[side], p->peers[i].sides[side]) &&
             stream_waits(p, i, cuda_peer(p, i)->own, i, p->peers[i].side_events[side]);
  return good;
}

void cuda_peers_use_side(cuda_peers *p, int side) {
  for (unsigned i = 0; i < p->count; i++)
    cuda_peer(p, i)->side = side == CUDA_NO_SIDE ? NULL : p->peers[i].sides[side];
}

bool cuda_peers_follow(cuda_peers *p, int side) {
  bool good = true;
  for (unsigned i = 0; i < p->count && good; i++) {
    peer *q = &p->peers[i];
    good = mark_stream(p, i, q->side_events[side], q->sides[side]) &&
           stream_waits(p, i, q->sides[!side], i, q->side_events[side]);
  }
  return good;
}

// ---- waiting -----------------------------------------------------------------------------------

// Whether it has something to do yet; an error ends that.
static bool is_busy(cuda_peers *p, unsigned number, bool *good) {
  cuda_device *d = cuda_peer(p, number);
  if (!cuda_enter(d))
    return *good = cuda_peers_refuse(p, number);
  cuda_status status = d->api->stream_query(d->own);
  cuda_leave(d, true);
  if (status == CUDA_STATUS_NOT_READY)
    return true;
  if (!cuda_check(d, status, "cuStreamQuery", "all that was launched, last %s", d->last))
    *good = cuda_peers_refuse(p, number);
  return false;
}

bool cuda_peers_wait(cuda_peers *p, const atomic_bool *interrupted) {
  enum { PAUSE_NANOSECONDS = 20000 };
  bool good = true;
  for (bool busy = true; busy && good;) {
    busy = false;
    for (unsigned i = 0; i < p->count && good; i++)
      busy |= is_busy(p, i, &good);
    if (busy && interrupted && atomic_load(interrupted))
      good = cuda_refuse(cuda_peer(p, 0), "interrupted");
    if (busy && good)
      nanosleep(&(struct timespec){.tv_nsec = PAUSE_NANOSECONDS}, NULL);
  }
  return good;
}
