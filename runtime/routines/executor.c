// The table of routines, and those that are short. See executor.h.
#include "runtime/routines/executor.h"

#include "core/sizes.h"
#include "runtime/routines/buckets.h"
#include "runtime/routines/count.h"
#include "runtime/routines/places.h"
#include "runtime/routines/sort.h"
#include "runtime/routines/transpose.h"
#include <string.h>

typedef struct routine_call {
  const routine_work *work;
  void *const *arrays;
  crew crew;  // with memory
} routine_call;

// Array `id` from row `row` of the keys on, with so many bytes for each key. ROUTINE_NONE: NULL.
static void *array_of(const routine_call *c, uint32_t id, uint64_t row, uint64_t bytes) {
  return id == ROUTINE_NONE ? NULL : (char *)c->arrays[id] + row * c->work->length * bytes;
}

static void *keys_from(const routine_call *c, uint64_t row) {
  return array_of(c, c->work->pairs[0].from, row, c->work->order.size);
}

// ---- sorts -------------------------------------------------------------------------------------

#ifndef ROUTINES_WITHOUT_SORTS  // a library that has none need not contain them

// Rows from row `row` on, without payloads.
static sort_task task_from(const routine_call *c, uint64_t row) {
  const routine_work *w = c->work;
  return (sort_task){.order = w->order,
                     .rows = w->rows,
                     .length = w->length,
                     .keys = keys_from(c, row),
                     .crew = c->crew};
}

// The offsets of row `row`. Where they are not in order (their check says so), they cut no rows.
static const uint64_t *offsets_of(const routine_call *c, uint64_t row, uint64_t *count) {
  static const uint64_t none[2] = {0, 0};
  *count = c->work->offset_count;
  const uint64_t *offsets = (const uint64_t *)c->arrays[c->work->offsets] + row * *count;
  bool good = offsets[*count - 1] <= c->work->length;
  for (uint64_t i = 0; i + 1 < *count; i++)
    good = good && offsets[i] <= offsets[i + 1];
  *count = good ? *count : 2;
  return good ? offsets : none;
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

// Sorts the rows that offsets cut of row `row`; the task has the rest.
static bool sort_rows_of(const routine_call *c, uint64_t row, sort_task *t) {
  uint64_t count, length = c->work->length;
  t->offsets = offsets_of(c, row, &count);
  t->rows = count - 1;
  if (!routine_sort(t))
    return false;
  uint64_t first = t->offsets[0], last = t->offsets[count - 1];
  if (t->sorted)
    copy_others(t->keys, t->sorted, t->order.size, length, first, last);
  for (uint32_t i = 0; i < t->payload_count; i++) {
    const sort_payload *p = &t->payloads[i];
    if (p->from)
      copy_others(p->from, p->to, p->size, length, first, last);
    else
      shift_indices(p->to, p->size, t->offsets, count, length);
  }
  return true;
}

// Whole rows all at once; of rows that are cut one after the other.
static bool run_sort(const routine_call *c) {
  const routine_work *w = c->work;
  bool ragged = w->offsets != ROUTINE_NONE, good = true;
  sort_payload *payloads =
      reserve(c->crew.memory, BLOCK_PAYLOADS, w->pair_count * sizeof *payloads);
  for (uint64_t row = 0; row < (ragged ? w->rows : 1) && good; row++) {
    sort_task t = task_from(c, row);
    for (uint32_t i = 0; i < w->pair_count && payloads; i++) {
      routine_pair p = w->pairs[i];
      payloads[i] = (sort_payload){array_of(c, p.from, row, p.bytes),
                                   array_of(c, p.to, row, p.bytes), p.bytes};
    }
    t.sorted = array_of(c, w->pairs[0].to, row, w->order.size);
    t.payload_count = w->pair_count - 1;
    t.payloads = payloads + 1;
    good = payloads && (ragged             ? sort_rows_of(c, row, &t)
                        : buckets_suit(&t) ? routine_bucket(&t)
                                           : routine_sort(&t));
  }
  return good;
}

// Where each key goes: the inverse of the order.
static bool run_places(const routine_call *c) {
  const routine_work *w = c->work;
  bool ragged = w->offsets != ROUTINE_NONE;
  uint64_t rows = ragged ? 1 : w->rows;
  size_t size = w->length >> 32 ? 8 : 4;
  void *order = reserve(c->crew.memory, BLOCK_ORDER, rows * w->length * size);
  sort_payload index = {NULL, order, size};
  bool good = order != NULL;
  for (uint64_t row = 0; row < w->rows && good; row += rows) {
    int64_t *places = array_of(c, w->pairs[0].to, row, sizeof *places);
    sort_task t = task_from(c, row);
    t.payload_count = 1;
    t.payloads = &index;
    good = ragged ? sort_rows_of(c, row, &t) : routine_sort(&t);
    for (uint64_t first = 0; first < rows * w->length && good; first += w->length)
      for (uint64_t i = 0; i < w->length; i++)
        places[first + load_key(order, first + i, size)] = (int64_t)i;
  }
  return good;
}

#endif

// ---- counts and checks ---------------------------------------------------------------------------

static bool run_count(const routine_call *c) {
  const routine_work *w = c->work;
  return routine_count(&(count_task){.size = w->order.size,
                                     .is_signed = w->is_signed,
                                     .rows = w->rows,
                                     .length = w->length,
                                     .limit = w->limit,
                                     .keys = keys_from(c, 0),
                                     .counts = c->arrays[w->pairs[w->pair_count - 1].to],
                                     .crew = c->crew});
}

static bool run_wrong(const routine_call *c) {
  const routine_work *w = c->work;
  return routine_find_wrong(&(place_check){.size = w->order.size,
                                           .is_signed = w->is_signed,
                                           .distinct = w->distinct,
                                           .rows = w->rows,
                                           .length = w->length,
                                           .limit = w->limit,
                                           .places = keys_from(c, 0),
                                           .crew = c->crew},
                            c->arrays[w->pairs[0].to]);
}

// ---- permutations ------------------------------------------------------------------------------

// Elements of 2^k bytes, and the places that they go to, or come from.
typedef struct permute_call {
  const void *places;
  size_t place_size;
  bool back;
  const char *from;
  char *to;
  size_t size;
} permute_call;

static bool permute_elements(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const permute_call p = *(const permute_call *)with;
  (void)worker;
#define MOVE(U)                                                                                    \
  for (uint64_t i = first; i < last; i++) {                                                        \
    uint64_t place = load_key(p.places, i, p.place_size);                                          \
    memcpy(p.to + (p.back ? i : place) * (U), p.from + (p.back ? place : i) * (U), U);             \
  }
  FOR_ELEMENT_SIZE(p.size, MOVE)
#undef MOVE
  return true;
}

static bool run_permute(const routine_call *c) {
  enum { PERMUTE_CHUNK = 1 << 14 };
  const routine_work *w = c->work;
  bool good = true;
  for (uint32_t i = 1; i < w->pair_count && good; i++) {
    routine_pair own = w->pairs[i];
    permute_call p = {keys_from(c, 0),     w->order.size,     w->back,
                      c->arrays[own.from], c->arrays[own.to], own.bytes};
    good = crew_run(&c->crew, w->length, PERMUTE_CHUNK, permute_elements, &p);
  }
  return good;
}

static bool run_transpose(const routine_call *c) {
  const routine_work *w = c->work;
  return routine_transpose(&(transpose_task){.bytes = w->order.size,
                                             .count = w->dimension_count,
                                             .dimensions = w->dimensions,
                                             .from = keys_from(c, 0),
                                             .to = c->arrays[w->pairs[0].to],
                                             .crew = c->crew});
}

// ---- the table ---------------------------------------------------------------------------------

static bool (*const routines[ROUTINE_KINDS])(const routine_call *) = {
#ifndef ROUTINES_WITHOUT_SORTS
    [ROUTINE_SORT] = run_sort,   [ROUTINE_PLACES] = run_places,
#endif
    [ROUTINE_COUNT] = run_count, [ROUTINE_PERMUTE] = run_permute,
    [ROUTINE_WRONG] = run_wrong, [ROUTINE_TRANSPOSE] = run_transpose,
};

bool routine_execute(const routine_work *w, void *const *arrays, const crew *c) {
  worker_memory own = {0};
  routine_call call = {w, arrays, crew_begin(c, &own)};
  routine_work rest;
  bool good = true;
  if (w->counts) {
    good = run_count(&call);
    rest = *w;
    rest.pair_count--;
    call.work = &rest;
  }
  good = good && routines[w->kind](&call);
  crew_end(c, &call.crew);
  return good;
}
