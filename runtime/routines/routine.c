// The table of routines, and those that are short. See routine.h.
#include "runtime/routines/routine.h"

#include "core/permutation/permutation.h"
#include "runtime/routines/buckets.h"
#include "runtime/routines/count.h"
#include "runtime/routines/places.h"
#include "runtime/routines/sort.h"
#include "runtime/routines/transpose.h"
#include "runtime/system/pool.h"
#include <stdlib.h>
#include <string.h>

typedef struct routine_call {
  const plan *plan;
  const net_routine *routine;
  void *const *data;
  unsigned threads;
  const atomic_bool *interrupted;
} routine_call;

static const net_array *array_at(const routine_call *c, net_id id) {
  return &c->plan->arrays.items[id];
}

static size_t array_bytes_of(const routine_call *c, net_id id) {
  return array_at(c, id)->count * scalar_types[array_at(c, id)->type].size;
}

// The keys of the routine, without payloads.
static sort_task task_of(const routine_call *c) {
  const net_routine *r = c->routine;
  net_id keys = r->pairs[0].from;
  return (sort_task){.type = array_at(c, keys)->type,
                     .descending = r->descending,
                     .bits = r->limit ? plan_routine_bits(c->plan, r) : 0,
                     .rows = r->rows,
                     .length = r->length,
                     .keys = c->data[keys],
                     .threads = c->threads,
                     .interrupted = c->interrupted};
}

// ---- rows of unequal length ---------------------------------------------------------------------

// The offsets of row `number` of the routine, how many there are, and whether they are in order: if
// not, its check says so.
static const uint64_t *offsets_of(const routine_call *c, uint64_t number, uint64_t *count) {
  *count = array_at(c, c->routine->offsets)->count / c->routine->rows;
  const uint64_t *offsets = (const uint64_t *)c->data[c->routine->offsets] + number * *count;
  for (uint64_t i = 0; i + 1 < *count; i++)
    if (offsets[i] > offsets[i + 1])
      return NULL;
  return offsets[*count - 1] <= c->routine->length ? offsets : NULL;
}

// What stays where it is: all that is not of a row.
static void copy_others(const char *from, char *to, size_t size, uint64_t length, uint64_t first,
                        uint64_t last) {
  memcpy(to, from, first * size);
  memcpy(to + last * size, from + last * size, (length - last) * size);
}

// Indices are of their rows, but those of the whole are wanted.
static void shift_indices(void *indices, size_t size, const uint64_t *offsets, uint64_t count,
                          uint64_t length) {
  uint32_t *narrow = indices;
  uint64_t *wide = indices;
  for (uint64_t i = 0, row = 0; i < length; i++) {
    while (row + 1 < count && i >= offsets[row + 1])
      row++;
    bool own = i >= offsets[0] && row + 1 < count;
    if (size == 4)
      narrow[i] = own ? narrow[i] + (uint32_t)offsets[row] : (uint32_t)i;
    else
      wide[i] = own ? wide[i] + offsets[row] : i;
  }
}

// Sorts the rows that these offsets cut; the task has the rest.
static bool sort_rows_of(sort_task *t, const uint64_t *offsets, uint64_t count, uint64_t length) {
  size_t size = scalar_types[t->type].size;
  uint64_t first = offsets[0], last = offsets[count - 1];
  t->rows = count - 1;
  t->offsets = offsets;
  if (!routine_sort(t))
    return false;
  if (t->sorted)
    copy_others(t->keys, t->sorted, size, length, first, last);
  for (uint32_t i = 0; i < t->payload_count; i++) {
    const sort_payload *p = &t->payloads[i];
    if (p->from)
      copy_others(p->from, p->to, p->size, length, first, last);
    else
      shift_indices(p->to, p->size, offsets, count, length);
  }
  return true;
}

static sort_payload payload_of_row(const routine_call *c, net_routine_pair p, uint64_t number) {
  const net_routine *r = c->routine;
  size_t bytes = array_bytes_of(c, p.to) / r->rows;
  const char *from = p.from == NET_NONE ? NULL : (const char *)c->data[p.from] + number * bytes;
  return (sort_payload){from, (char *)c->data[p.to] + number * bytes, bytes / r->length};
}

static bool run_ragged_sort(const routine_call *c) {
  const net_routine *r = c->routine;
  sort_payload *payloads = calloc(r->pair_count, sizeof *payloads);
  bool good = payloads != NULL;
  for (uint64_t row = 0; row < r->rows && good; row++) {
    uint64_t count;
    const uint64_t *offsets = offsets_of(c, row, &count);
    if (!offsets)
      continue;
    sort_task t = task_of(c);
    size_t bytes = r->length * scalar_types[t.type].size;
    t.keys = (const char *)t.keys + row * bytes;
    t.sorted = r->pairs[0].to == NET_NONE ? NULL : (char *)c->data[r->pairs[0].to] + row * bytes;
    for (uint32_t i = 1; i < r->pair_count; i++)
      payloads[i - 1] = payload_of_row(c, r->pairs[i], row);
    t.payload_count = r->pair_count - 1;
    t.payloads = payloads;
    good = sort_rows_of(&t, offsets, count, r->length);
  }
  free(payloads);
  return good;
}

static bool run_ragged_places(const routine_call *c) {
  const net_routine *r = c->routine;
  uint64_t *order = malloc(r->length * sizeof *order);
  bool good = order != NULL;
  for (uint64_t row = 0; row < r->rows && good; row++) {
    uint64_t count;
    const uint64_t *offsets = offsets_of(c, row, &count);
    int64_t *places = (int64_t *)c->data[r->pairs[0].to] + row * r->length;
    sort_payload index = {NULL, order, sizeof *order};
    sort_task t = task_of(c);
    t.keys = (const char *)t.keys + row * r->length * scalar_types[t.type].size;
    t.payload_count = 1;
    t.payloads = &index;
    good = !offsets || sort_rows_of(&t, offsets, count, r->length);
    for (uint64_t i = 0; i < r->length && good; i++)
      places[offsets ? order[i] : i] = (int64_t)i;
  }
  free(order);
  return good;
}

// ---- equal rows ---------------------------------------------------------------------------------

static bool run_sort(const routine_call *c) {
  if (c->routine->ragged)
    return run_ragged_sort(c);
  const net_routine *r = c->routine;
  sort_task t = task_of(c);
  sort_payload *payloads = calloc(r->pair_count, sizeof *payloads);
  for (uint32_t i = 1; i < r->pair_count && payloads; i++) {
    net_routine_pair p = r->pairs[i];
    payloads[i - 1] = (sort_payload){p.from == NET_NONE ? NULL : c->data[p.from], c->data[p.to],
                                     array_bytes_of(c, p.to) / (r->rows * r->length)};
  }
  t.sorted = r->pairs[0].to == NET_NONE ? NULL : c->data[r->pairs[0].to];
  t.payload_count = r->pair_count - 1;
  t.payloads = payloads;
  bool good = payloads && (buckets_suit(&t) ? routine_bucket(&t) : routine_sort(&t));
  free(payloads);
  return good;
}

// Where each key goes: the inverse of the order.
static bool run_places(const routine_call *c) {
  if (c->routine->ragged)
    return run_ragged_places(c);
  const net_routine *r = c->routine;
  uint64_t count = r->rows * r->length;
  size_t size = r->length >> 32 ? 8 : 4;
  void *order = malloc(count * size);
  int64_t *places = c->data[r->pairs[0].to];
  sort_payload index = {NULL, order, size};
  sort_task t = task_of(c);
  t.payload_count = 1;
  t.payloads = &index;
  bool good = order && routine_sort(&t);
  for (uint64_t row = 0; row < r->rows && good; row++)
    for (uint64_t i = 0, first = row * r->length; i < r->length; i++)
      places[first + (size == 4 ? ((const uint32_t *)order)[first + i]
                                : ((const uint64_t *)order)[first + i])] = (int64_t)i;
  free(order);
  return good;
}

// ---- counts ------------------------------------------------------------------------------------

static bool run_count(const routine_call *c) {
  const net_routine *r = c->routine;
  net_id keys = r->pairs[0].from;
  return routine_count(&(count_task){.type = array_at(c, keys)->type,
                                     .rows = r->rows,
                                     .length = r->length,
                                     .limit = r->limit,
                                     .keys = c->data[keys],
                                     .counts = c->data[r->pairs[0].to],
                                     .interrupted = c->interrupted});
}

// ---- permutations ------------------------------------------------------------------------------

// Elements of 2^k bytes, and the places that they go to, or come from.
typedef struct permute_call {
  place_list places;
  bool back;
  const void *from;
  void *to;
  size_t size;
} permute_call;

static bool permute_elements(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const permute_call *p = with;
  (void)worker;
#define MOVE(bytes)                                                                                \
  case bytes:                                                                                      \
    for (uint64_t i = first; i < last; i++) {                                                      \
      uint64_t place = place_at(&p->places, i);                                                    \
      memcpy((char *)p->to + (p->back ? i : place) * (bytes),                                      \
             (const char *)p->from + (p->back ? place : i) * (bytes), bytes);                      \
    }                                                                                              \
    break;
  switch (p->size) {
    MOVE(1)
    MOVE(2)
    MOVE(4)
    MOVE(8)
    MOVE(16)
  }
#undef MOVE
  return true;
}

static bool run_permute(const routine_call *c) {
  enum { CHUNK = 1 << 14 };
  const net_routine *r = c->routine;
  net_id places = r->pairs[0].from;
  permute_call p = {
      .places = {c->data[places], scalar_types[array_at(c, places)->type].size, r->length},
      .back = r->back};
  bool good = true;
  for (uint32_t i = 1; i < r->pair_count && good; i++) {
    p.from = c->data[r->pairs[i].from];
    p.to = c->data[r->pairs[i].to];
    p.size = array_bytes_of(c, r->pairs[i].to) / r->length;
    good = pool_run(c->threads, r->length, CHUNK, permute_elements, &p, c->interrupted);
  }
  return good;
}

static bool run_transpose(const routine_call *c) {
  const net_routine *r = c->routine;
  return routine_transpose(
      &(transpose_task){.bytes = scalar_types[array_at(c, r->pairs[0].from)->type].size,
                        .count = r->dimension_count,
                        .dimensions = r->dimensions,
                        .from = c->data[r->pairs[0].from],
                        .to = c->data[r->pairs[0].to],
                        .threads = c->threads,
                        .interrupted = c->interrupted});
}

// ---- checks of places --------------------------------------------------------------------------

static bool run_wrong(const routine_call *c) {
  const net_routine *r = c->routine;
  place_check k = {.type = array_at(c, r->pairs[0].from)->type,
                   .distinct = r->distinct,
                   .rows = r->rows,
                   .length = r->length,
                   .limit = r->limit,
                   .places = c->data[r->pairs[0].from],
                   .interrupted = c->interrupted};
  return routine_find_wrong(&k, c->data[r->pairs[0].to]);
}

// ---- the table ---------------------------------------------------------------------------------

static bool (*const routines[NET_ROUTINE_KINDS])(const routine_call *) = {
    [NET_SORT] = run_sort,       [NET_PLACES] = run_places, [NET_COUNT] = run_count,
    [NET_PERMUTE] = run_permute, [NET_WRONG] = run_wrong,   [NET_TRANSPOSE] = run_transpose,
};

static bool run_counting(const routine_call *c) {
  net_routine rest, count;
  routine_call of_rest = *c, of_count = *c;
  net_routine_split(c->routine, &rest, &count);
  of_rest.routine = &rest;
  of_count.routine = &count;
  return run_count(&of_count) && routines[rest.kind](&of_rest);
}

bool routine_run(const plan *p, const net_routine *r, void *const *data, unsigned threads,
                 const atomic_bool *interrupted) {
  routine_call c = {p, r, data, threads, interrupted};
  return r->counts ? run_counting(&c) : routines[r->kind](&c);
}
