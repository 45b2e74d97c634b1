#include "runtime/gpu/routine.h"
#include "core/number.h"
#include "kernels/emit/emit.h"
#include "kernels/routines/partition/count.h"
#include "kernels/routines/partition/partition.h"
#include "kernels/routines/sort/sort.h"
#include "kernels/routines/transpose/transpose.h"
#include "runtime/cuda/device.h"

#include <stdio.h>
#include <stdlib.h>

_Static_assert((int)PLAN_MOST_COUNTS == COUNT_MOST, "what has kernels is what they can count");

typedef enum routine_kernels { OF_SORT, OF_COUNT, OF_PARTITION, OF_TRANSPOSE } routine_kernels;

struct cuda_routine {
  cuda_device *device;  // NULL: it is only described
  cuda_machine machine;
  const net_routine *routine;
  cuda_module *module;
  routine_kernels kind;
  count_kernels count;
  transpose_kernel transpose;
  sort_moved *payloads;
  sort_kernels sort;
  partition_kernels partition;
  partition_moved moved[PARTITION_MOST_PAYLOADS];
  net_id inputs[PARTITION_MOST_INPUTS], from[PARTITION_MOST_PAYLOADS];  // arrays of the plan
  net_id to[PARTITION_MOST_PAYLOADS];
  text key;  // of the partition: how it is made
  uint32_t launch_count;
  routine_launch *launches;
  cuda_kernel *kernels;     // by launch
  cuda_address *addresses;  // by array of the launches
  uint32_t address_count;
  cuda_address temporaries;  // 0: of calls alone
};

static bool fail(const cuda_routine *c, error *failure) {
  return error_set(failure, SPAN_NONE, "%s", cuda_message(c->device));
}

// ---- what it is to do --------------------------------------------------------------------------

static sort_moved moved_of(const plan *p, const net_routine *r, net_routine_pair pair) {
  const net_array *to = &p->arrays.items[pair.to];
  uint64_t each = to->count / (r->rows * r->length) * scalar_types[to->type].size;
  return (sort_moved){(uint32_t)each, pair.from == NET_NONE};
}

// NULL: there are such kernels.
static const char *plan_sort(cuda_routine *c, const plan *p, const net_routine *r) {
  bool sorts = r->kind == NET_SORT;
  if ((!sorts && r->kind != NET_PLACES) || r->counts)
    return "it has no kernels";
  for (uint32_t i = 1; i < r->pair_count; i++)
    c->payloads[i - 1] = moved_of(p, r, r->pairs[i]);
  sort_work w = {.type = p->arrays.items[r->pairs[0].from].type,
                 .descending = r->descending,
                 .bits = r->limit ? plan_routine_bits(p, r) : 0,
                 .rows = r->rows,
                 .length = r->length,
                 .offsets = r->ragged ? p->arrays.items[r->offsets].count / r->rows : 0,
                 .multiprocessors = c->machine.multiprocessors,
                 .shared_bytes = c->machine.shared_per_block,
                 .wants_keys = sorts && r->pairs[0].to != NET_NONE,
                 .wants_places = !sorts,
                 .payload_count = r->pair_count - 1,
                 .payloads = c->payloads};
  return sort_kernels_of(&w, &c->sort);
}

// Of what a partition's keys are made: elements of the arrays that the pass before it would read,
// or keys.
static bool plan_inputs(cuda_routine *c, const plan *p, const plan_pass *pass, partition_work *w) {
  const net_routine *r = plan_routine_of(p, pass);
  if (!pass->keys_from) {
    w->input_bytes[w->input_count] =
        (uint32_t)scalar_types[p->arrays.items[r->pairs[0].from].type].size;
    c->inputs[w->input_count++] = r->pairs[0].from;
    partition_keys_write(&c->key, w->input_bytes[0], w->bits);
    return !c->key.failed;
  }
  uint32_t maker = pass->keys_from - 1;
  const net_stage *s = &p->net->stages.items[p->passes.items[maker].stage];
  for (size_t i = 0; i < s->loads.count; i++) {
    net_id array = s->loads.items[i].array;
    w->input_bytes[w->input_count] = (uint32_t)scalar_types[p->arrays.items[array].type].size;
    c->inputs[w->input_count++] = array;
  }
  return c_emit_keys(&c->key, p, maker);
}

static void add_moved(cuda_routine *c, const partition_work *w, partition_moved m, net_id from,
                      net_id to) {
  m.input = PARTITION_NO_INPUT;
  for (uint32_t i = 0; i < w->input_count && !m.numbers; i++)
    if (c->inputs[i] == from && w->input_bytes[i] == m.bytes)
      m.input = i;
  c->moved[w->payload_count] = m;
  c->from[w->payload_count] = from;
  c->to[w->payload_count] = to;
}

// False: it is none, or there is no memory.
static bool plan_partition(cuda_routine *c, const plan *p, const plan_pass *pass) {
  const net_routine *r = plan_routine_of(p, pass);
  if (!plan_routine_is_partition(r))
    return false;
  partition_work w = {.bits = plan_routine_bits(p, r),
                      .rows = r->rows,
                      .length = r->length,
                      .multiprocessors = c->machine.multiprocessors,
                      .wants_places = r->kind == NET_PLACES,
                      .payloads = c->moved};
  if (!plan_inputs(c, p, pass, &w))
    return false;
  net_routine_pair keys = r->pairs[0];
  if (r->kind == NET_SORT && keys.to != NET_NONE) {
    add_moved(c, &w, (partition_moved){.bytes = w.input_bytes[0]}, keys.from, keys.to);
    w.payload_count++;
  }
  for (uint32_t i = 1; i < r->pair_count - r->counts; i++) {
    sort_moved m = moved_of(p, r, r->pairs[i]);
    add_moved(c, &w, (partition_moved){m.bytes, m.numbers, 0}, r->pairs[i].from, r->pairs[i].to);
    w.payload_count++;
  }
  text_add(&c->key, "", 1);
  w.key_text = c->key.data;
  return !c->key.failed && partition_kernels_of(&w, &c->partition);
}

static const char *plan_work(cuda_routine *c, const plan *p, const plan_pass *pass) {
  const net_routine *r = plan_routine_of(p, pass);
  c->kind = r->kind == NET_COUNT && plan_routine_has_kernels(r) ? OF_COUNT
            : r->kind == NET_TRANSPOSE                          ? OF_TRANSPOSE
            : plan_partition(c, p, pass)                        ? OF_PARTITION
                                                                : OF_SORT;
  c->count = (count_kernels){p->arrays.items[r->pairs[0].from].type, r->rows, r->length, r->limit,
                             c->machine.multiprocessors};
  if (c->kind == OF_TRANSPOSE)
    transpose_kernel_of((uint32_t)scalar_types[p->arrays.items[r->pairs[0].from].type].size,
                        r->dimension_count, r->dimensions, &c->transpose);
  return c->kind == OF_SORT ? plan_sort(c, p, r) : NULL;
}

// ---- its arrays --------------------------------------------------------------------------------

static void place_partition(cuda_routine *c, const cuda_address *addresses) {
  const net_routine *r = c->routine;
  const partition_work *w = &c->partition.work;
  for (uint32_t i = 0; i < w->input_count; i++)
    c->addresses[PARTITION_FIRST_INPUT + i] = addresses[c->inputs[i]];
  for (uint32_t i = 0; i < w->payload_count; i++) {
    cuda_address *to = &c->addresses[PARTITION_FIRST_PAYLOAD + 2 * i];
    to[0] = w->payloads[i].numbers ? 0 : addresses[c->from[i]];
    to[1] = addresses[c->to[i]];
  }
  if (r->counts)
    c->addresses[PARTITION_TOTALS] = addresses[r->pairs[r->pair_count - 1].to];
  if (w->wants_places)
    c->addresses[PARTITION_PLACED] = addresses[r->pairs[0].to];
}

static void place_sort(cuda_routine *c, const cuda_address *addresses) {
  const net_routine *r = c->routine;
  c->addresses[SORT_KEYS] = addresses[r->pairs[0].from];
  if (r->pairs[0].to != NET_NONE)
    c->addresses[r->kind == NET_SORT ? SORT_SORTED : SORT_PLACES] = addresses[r->pairs[0].to];
  if (r->ragged)
    c->addresses[SORT_OFFSETS] = addresses[r->offsets];
  for (uint32_t i = 1; i < r->pair_count; i++) {
    cuda_address *to = &c->addresses[SORT_PAYLOADS + 2 * (i - 1)];
    to[0] = r->pairs[i].from == NET_NONE ? 0 : addresses[r->pairs[i].from];
    to[1] = addresses[r->pairs[i].to];
  }
}

// The arrays of the plan; the others are temporaries.
static void place_given(cuda_routine *c, const cuda_address *addresses) {
  if (c->kind == OF_PARTITION) {
    place_partition(c, addresses);
  } else if (c->kind == OF_COUNT) {
    c->addresses[COUNT_KEYS] = addresses[c->routine->pairs[0].from];
    c->addresses[COUNT_COUNTS] = addresses[c->routine->pairs[0].to];
  } else if (c->kind == OF_TRANSPOSE) {
    c->addresses[TRANSPOSE_FROM] = addresses[c->routine->pairs[0].from];
    c->addresses[TRANSPOSE_TO] = addresses[c->routine->pairs[0].to];
  } else {
    place_sort(c, addresses);
  }
}

// Of a temporary: only sorts have several.
static uint64_t temporary_bytes(const cuda_routine *c, uint32_t array) {
  return c->kind == OF_SORT                                    ? c->sort.bytes[array]
         : c->kind == OF_PARTITION && array == PARTITION_STATE ? c->partition.state_bytes
                                                               : 0;
}

static uint64_t aligned(uint64_t bytes) { return divide_up(bytes, 256) * 256; }

uint64_t cuda_routine_bytes(const cuda_routine *c) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < SORT_PAYLOADS; i++)
    bytes += aligned(temporary_bytes(c, i));
  return bytes;
}

// One after the other.
static void locate_temporaries(cuda_routine *c, cuda_address at) {
  for (uint32_t i = 0; i < SORT_PAYLOADS; i++)
    if (temporary_bytes(c, i)) {
      c->addresses[i] = at;
      at += aligned(temporary_bytes(c, i));
    }
}

// The one that is 0 before the first launch.
static uint32_t state_of(const cuda_routine *c) {
  return c->kind == OF_SORT ? (uint32_t)SORT_STATE : (uint32_t)PARTITION_STATE;
}

static bool place_temporaries(cuda_routine *c, cuda_address at) {
  uint64_t bytes = temporary_bytes(c, state_of(c));
  locate_temporaries(c, at);
  return !bytes || cuda_clear(c->device, c->addresses[state_of(c)], bytes);
}

bool cuda_routine_place(cuda_routine *c, const cuda_address *addresses, error *failure) {
  uint64_t bytes = cuda_routine_bytes(c);
  place_given(c, addresses);
  if (bytes && !c->temporaries && !(c->temporaries = cuda_memory_new(c->device, bytes)))
    return fail(c, failure);
  return place_temporaries(c, c->temporaries) || fail(c, failure);
}

// ---- its kernels -------------------------------------------------------------------------------

void cuda_routine_write(const cuda_routine *c, text *out) {
  if (c->kind == OF_COUNT)
    count_kernels_write(out, &c->count);
  else if (c->kind == OF_PARTITION)
    partition_kernels_write(out, &c->partition);
  else if (c->kind == OF_TRANSPOSE)
    transpose_kernel_write(out, &c->transpose);
  else
    sort_kernels_write(out, &c->sort);
}

static bool load(cuda_routine *c, const cuda_code_source *s, error *failure) {
  text t = {0};
  cuda_routine_write(c, &t);
  bool good = cuda_code_load(&c->module, c->device, &t, s, failure);
  text_free(&t);
  return good;
}

static bool find_kernels(cuda_routine *c, error *failure) {
  for (uint32_t i = 0; i < c->launch_count; i++) {
    char name[64];
    snprintf(name, sizeof name, "permc_pass_%s", c->launches[i].kernel);
    if (!cuda_kernel_find(c->device, c->module, name, c->launches[i].shared_bytes, &c->kernels[i]))
      return fail(c, failure);
  }
  return true;
}

static bool allocate(cuda_routine *c) {
  c->launch_count = c->kind == OF_COUNT       ? COUNT_LAUNCHES
                    : c->kind == OF_PARTITION ? PARTITION_LAUNCHES
                    : c->kind == OF_TRANSPOSE ? 1
                                              : sort_launch_count(&c->sort);
  c->launches = calloc(c->launch_count, sizeof *c->launches);
  c->kernels = calloc(c->launch_count, sizeof *c->kernels);
  if (c->launches && c->kind == OF_COUNT)
    count_launches(&c->count, c->launches);
  else if (c->launches && c->kind == OF_PARTITION)
    partition_launches(&c->partition, c->launches);
  else if (c->launches && c->kind == OF_TRANSPOSE)
    *c->launches = transpose_launch(&c->transpose);
  else if (c->launches)
    sort_launches(&c->sort, c->launches);
  return c->launches && c->kernels;
}

// ---- the whole ---------------------------------------------------------------------------------

// d: NULL, or where its kernels are loaded.
static bool make(cuda_routine **out, cuda_device *d, const cuda_machine *m, const plan *p,
                 const plan_pass *pass, const cuda_code_source *s, error *failure) {
  const net_routine *r = plan_routine_of(p, pass);
  cuda_routine *c = *out = calloc(1, sizeof *c);
  if (!c)
    return error_no_memory(failure);
  c->device = d;
  c->machine = *m;
  c->routine = r;
  c->payloads = calloc(r->pair_count, sizeof *c->payloads);
  uint32_t arrays = SORT_PAYLOADS + 2 * r->pair_count;
  c->address_count = arrays > PARTITION_ARRAYS ? arrays : PARTITION_ARRAYS;
  c->addresses = calloc(c->address_count, sizeof *c->addresses);
  bool good = c->payloads && c->addresses, none = good && plan_work(c, p, pass);
  if (good && !none && allocate(c) && (!d || (load(c, s, failure) && find_kernels(c, failure))))
    return true;
  if (!none)
    error_no_memory(failure);  // unless it says something already
  cuda_routine_free(c);
  *out = NULL;
  return none;
}

bool cuda_routine_new(cuda_routine **out, cuda_device *d, const plan *p, const plan_pass *pass,
                      const cuda_code_source *s, error *failure) {
  const cuda_facts *f = cuda_facts_of(d);
  cuda_machine m = {(uint32_t)f->multiprocessors, (uint32_t)f->shared_per_block};
  return make(out, d, &m, p, pass, s, failure);
}

bool cuda_routine_describe(cuda_routine **out, const cuda_machine *m, const plan *p,
                           const plan_pass *pass, error *failure) {
  return make(out, NULL, m, p, pass, NULL, failure);
}

void cuda_routine_free(cuda_routine *c) {
  if (!c)
    return;
  cuda_memory_free(c->device, c->temporaries);
  text_free(&c->key);
  cuda_module_free(c->device, c->module);
  free(c->payloads);
  free(c->launches);
  free(c->kernels);
  free(c->addresses);
  free(c);
}

uint32_t cuda_routine_parameters(const cuda_routine *c, const routine_launch *l,
                                 uint64_t values[LAUNCH_PARAMETERS]) {
  return launch_parameters(l, c->addresses, values);
}

const routine_launch *cuda_routine_launches(cuda_routine *c, const cuda_address *addresses,
                                            cuda_address temporaries, uint32_t *count) {
  place_given(c, addresses);
  locate_temporaries(c, temporaries);
  *count = c->launch_count;
  return c->launches;
}

cuda_address cuda_routine_state(const cuda_routine *c, uint64_t *bytes) {
  *bytes = temporary_bytes(c, state_of(c));
  return c->addresses[state_of(c)];
}

bool cuda_launch_all(cuda_device *d, uint32_t count, const routine_launch *launches,
                     const cuda_kernel *kernels, const cuda_address *addresses) {
  bool good = true;
  for (uint32_t i = 0; i < count && good; i++) {
    uint64_t values[LAUNCH_PARAMETERS];
    void *parameters[LAUNCH_PARAMETERS];
    launch_parameters(&launches[i], addresses, values);
    for (uint32_t k = 0; k < LAUNCH_PARAMETERS; k++)
      parameters[k] = &values[k];
    cuda_grid grid = {.x = launches[i].blocks, .threads = launches[i].threads, .overlapping = true};
    good = cuda_launch(d, &kernels[i], grid, parameters);
  }
  return good;
}

bool cuda_routine_makes_keys(const cuda_routine *c) { return c && c->kind == OF_PARTITION; }

// With passes before it, where its routine makes the keys; with later ones, where its kernel's
// blocks look back.
void cuda_describe_pass(storage_pass *passes, const plan *p, uint32_t number,
                        const c_pass_facts *facts, const cuda_routine *c) {
  uint32_t keys = p->passes.items[number].keys_from;
  uint32_t first = keys && cuda_routine_makes_keys(c) ? keys - 1 : number;
  uint32_t last = facts->one ? facts->one->last : number;
  passes[number].in_place = facts->in_place && !c;
  passes[number].bytes = c ? cuda_routine_bytes(c) : facts->one ? facts->one->state_bytes : 0;
  for (uint32_t i = first; i <= last; i++)
    if (passes[i].earlier < i - first)
      passes[i].earlier = i - first;
}

bool cuda_routine_launch(const cuda_routine *c) {
  return cuda_launch_all(c->device, c->launch_count, c->launches, c->kernels, c->addresses);
}

bool cuda_routine_call(const cuda_routine *c, cuda_device *d, const cuda_address *addresses,
                       cuda_address temporaries) {
  enum { MOST_ADDRESSES = 512 };
  cuda_address own[MOST_ADDRESSES] = {0};
  cuda_routine call = *c;
  if (c->address_count > MOST_ADDRESSES)
    return cuda_refuse(d, "a routine has too many arrays");
  call.device = d;
  call.addresses = own;
  place_given(&call, addresses);
  return place_temporaries(&call, temporaries) && cuda_routine_launch(&call);
}
