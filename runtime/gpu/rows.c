#include "runtime/gpu/rows.h"

#include <stdlib.h>

struct cuda_rows {
  cuda_peers *peers;    // NULL: it is of one part, which is any
  cuda_device *device;  // ... that this one executes
  unsigned count;       // of parts
  unsigned made;        // of these, that have kernels
  cuda_routine *parts[CUDA_MOST_PEERS];
  // The plan as one part sees it: fewer rows, shorter arrays.
  plan plan;
  net net;
  net_routine routine;
  net_stage *stages;
  net_array *arrays;
  cuda_address *addresses;  // of one part, by array
};

// Whether the parts have rows of their own, of all arrays.
static bool can_be_divided(const plan *p, const plan_pass *pass, unsigned parts) {
  const net_routine *r = plan_routine_of(p, pass);
  bool by_rows = r->kind == NET_SORT || r->kind == NET_PLACES || r->kind == NET_COUNT;
  return by_rows && !r->ragged && !pass->keys_from && plan_routine_has_kernels(r) &&
         r->rows % parts == 0;
}

static void shorten(cuda_rows *r, net_id array) {
  if (array != NET_NONE)
    r->arrays[array].count = r->plan.arrays.items[array].count / r->count;
}

static bool make_part_plan(cuda_rows *r, const plan *p, const plan_pass *pass) {
  r->stages = calloc(p->net->stages.count, sizeof *r->stages);
  r->arrays = calloc(p->arrays.count, sizeof *r->arrays);
  r->addresses = calloc(p->arrays.count, sizeof *r->addresses);
  if (!r->stages || !r->arrays || !r->addresses)
    return false;
  memcpy(r->stages, p->net->stages.items, p->net->stages.count * sizeof *r->stages);
  memcpy(r->arrays, p->arrays.items, p->arrays.count * sizeof *r->arrays);
  r->plan = *p;
  r->net = *p->net;
  r->routine = *plan_routine_of(p, pass);
  r->routine.rows /= r->count;
  for (uint32_t i = 0; i < r->routine.pair_count; i++) {
    shorten(r, r->routine.pairs[i].from);
    shorten(r, r->routine.pairs[i].to);
  }
  r->stages[pass->stage].routine = &r->routine;
  r->net.stages.items = r->stages;
  r->plan.net = &r->net;
  r->plan.arrays.items = r->arrays;
  return true;
}

// `like`: whose parts there are.
static bool make(cuda_rows **out, const cuda_rows *like, const plan *p, const plan_pass *pass,
                 const cuda_code_source *s, error *failure) {
  cuda_rows *r = calloc(1, sizeof *r);
  bool good = r != NULL;
  if (good)
    *r = *like;
  if (!good || !make_part_plan(r, p, pass))
    good = error_no_memory(failure);
  r->made = good ? r->peers ? r->count : 1 : 0;
  for (unsigned i = 0; good && i < r->made; i++)
    good = cuda_routine_new(&r->parts[i], r->peers ? cuda_peer(r->peers, i) : r->device, &r->plan,
                            pass, s, failure);
  if (good && r->parts[0])
    *out = r;
  else
    cuda_rows_free(r);
  return good;
}

bool cuda_rows_new(cuda_rows **out, cuda_peers *peers, const plan *p, const plan_pass *pass,
                   const cuda_code_source *s, error *failure) {
  cuda_rows like = {.peers = peers, .count = cuda_peers_count(peers)};
  *out = NULL;
  return !can_be_divided(p, pass, like.count) || make(out, &like, p, pass, s, failure);
}

bool cuda_rows_new_part(cuda_rows **out, cuda_device *d, uint32_t parts, const plan *p,
                        const plan_pass *pass, const cuda_code_source *s, error *failure) {
  cuda_rows like = {.device = d, .count = parts};
  *out = NULL;
  return !can_be_divided(p, pass, parts) || make(out, &like, p, pass, s, failure);
}

void cuda_rows_free(cuda_rows *r) {
  if (!r)
    return;
  for (unsigned i = 0; i < r->made; i++)
    cuda_routine_free(r->parts[i]);
  free(r->stages);
  free(r->arrays);
  free(r->addresses);
  free(r);
}

static void place(cuda_rows *r, const cuda_address *addresses, net_id array, unsigned part) {
  if (array == NET_NONE)
    return;
  uint64_t bytes = r->arrays[array].count * scalar_types[r->arrays[array].type].size;
  r->addresses[array] = addresses[array] + part * bytes;
}

static void place_part(cuda_rows *r, const cuda_address *addresses, unsigned part) {
  for (uint32_t i = 0; i < r->routine.pair_count; i++) {
    place(r, addresses, r->routine.pairs[i].from, part);
    place(r, addresses, r->routine.pairs[i].to, part);
  }
}

bool cuda_rows_place(cuda_rows *r, const cuda_address *addresses, error *failure) {
  bool good = true;
  for (unsigned part = 0; part < r->count && good; part++) {
    place_part(r, addresses, part);
    good = cuda_routine_place(r->parts[part], r->addresses, failure);
  }
  return good;
}

bool cuda_rows_launch(const cuda_rows *r) {
  bool good = true;
  for (unsigned i = 0; i < r->count && good; i++)
    good = cuda_routine_launch(r->parts[i]) || cuda_peers_refuse(r->peers, i);
  return good;
}

bool cuda_rows_run_part(cuda_rows *r, uint32_t part, const cuda_address *addresses) {
  cuda_address temporaries = 0;
  uint64_t bytes = cuda_routine_bytes(r->parts[0]);
  place_part(r, addresses, part);
  if (bytes && !cuda_stream_memory_new(r->device, bytes, &temporaries))
    return false;
  bool good = cuda_routine_call(r->parts[0], r->device, r->addresses, temporaries);
  return (!bytes || cuda_stream_memory_free(r->device, temporaries)) && good;
}
