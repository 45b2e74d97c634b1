// The table of routines, most of which are sorts. See routine.h.
#include "core/number.h"
#include "core/units.h"
#include "runtime/external/routines/routines.h"
#include "runtime/external/routines/sort.h"
#include "runtime/external/routines/transpose.h"
#include <stdlib.h>

// Bytes of what an array has for each key.
static size_t unit_of(const external_routine *r, net_id id) {
  return net_routine_bytes(r->routine, external_array(r, id));
}

// ---- sorts -------------------------------------------------------------------------------------

// Some sorts, one after the other: the pieces of the first come first.
enum { MOST_SORTS = 2 };
typedef struct sorts {
  const external_routine *routine;
  uint32_t count;
  external_sort sorts[MOST_SORTS];
  external_sort_shape shapes[MOST_SORTS];
  external_column *columns[MOST_SORTS];  // as many as the routine has pairs, and one more
} sorts;

static external_offsets offsets_of(const external_routine *r) {
  if (!r->routine->ragged)
    return (external_offsets){0};
  const net_array *a = external_array(r, r->routine->offsets);
  return (external_offsets){a->table, external_place_of(r, r->routine->offsets),
                            a->count / r->routine->rows};
}

// A sort of rows of the routine by keys of that type, in that order, without columns.
static external_sort *add_sort(sorts *s, scalar_type type, bool descending, uint64_t limit) {
  const external_routine *r = s->routine;
  external_sort *added = &s->sorts[s->count];
  *added = (external_sort){.order = key_order_of(type, descending, bits_below(limit)),
                           .rows = r->routine->rows,
                           .length = r->routine->length,
                           .offsets = offsets_of(r),
                           .columns = s->columns[s->count],
                           .by = r->by};
  s->count++;
  return added;
}

static void add_column(external_sort *s, external_place from, external_place to, size_t size) {
  external_column *columns = (external_column *)s->columns;
  columns[s->column_count++] = (external_column){.from = from, .to = to, .size = size};
}

static const external_place nowhere = {0};

static bool has_order(const net_routine *r) { return r->kind == NET_PLACES || r->back; }
static size_t order_size(const net_routine *r) { return r->length >> 32 ? 8 : 4; }

// By the keys go the keys themselves and payloads. Places, and elements that come from places, are
// found in two sorts: by the keys go the elements' numbers, and by these go places or payloads.
static void plan_sorts(sorts *s, external_place order) {
  const external_routine *c = s->routine;
  const net_routine *r = c->routine;
  net_routine_pair keys = r->pairs[0];
  size_t size = order_size(r);
  external_sort *sort = add_sort(s, external_array(c, keys.from)->type, r->descending,
                                 r->kind == NET_PERMUTE ? r->length : r->limit);
  add_column(sort, external_place_of(c, keys.from),
             r->kind == NET_SORT ? external_place_of(c, keys.to) : nowhere, unit_of(c, keys.from));
  if (has_order(r)) {
    add_column(sort, nowhere, order, size);
    sort = add_sort(s, size == 4 ? SCALAR_U32 : SCALAR_U64, false, r->length);
    add_column(sort, order, nowhere, size);
  }
  if (r->kind == NET_PLACES)
    add_column(sort, nowhere, external_place_of(c, keys.to), sizeof(int64_t));
  for (uint32_t i = 1; i < r->pair_count; i++) {
    net_routine_pair p = r->pairs[i];
    add_column(sort, external_place_of(c, p.from), external_place_of(c, p.to), unit_of(c, p.to));
  }
}

static void free_sorts(sorts *s) {
  for (uint32_t i = 0; i < MOST_SORTS; i++)
    free(s->columns[i]);
}

// `order`: where numbers of elements go that pass from one sort to the next.
static bool make_sorts(sorts *s, const external_routine *r, external_place order, error *failure) {
  *s = (sorts){.routine = r};
  for (uint32_t i = 0; i < MOST_SORTS; i++) {
    s->columns[i] = calloc(r->routine->pair_count + 1, sizeof *s->columns[i]);
    if (!s->columns[i])
      return error_no_memory(failure);
  }
  plan_sorts(s, order);
  bool good = true;
  for (uint32_t i = 0; i < s->count && good; i++) {
    s->sorts[i].by.before = i ? s->shapes[0].pieces : 0;
    good = external_sort_fit(&s->sorts[i], &s->shapes[i], failure);
  }
  return good;
}

// So many bytes of a file of the routine's own, if any.
static bool place_between(const external_routine *r, uint32_t number, uint64_t offset,
                          uint64_t bytes, external_place *to, error *failure) {
  *to = bytes ? r->between(r->by.with, number, offset, bytes, failure) : nowhere;
  return !bytes || to->file;
}

static bool run_sort(sorts *s, uint32_t number, error *failure) {
  external_sort *sort = &s->sorts[number];
  const external_sort_shape *shape = &s->shapes[number];
  const external_routine *r = s->routine;
  uint32_t file = 1 + number * (r->routine->pair_count + 2);
  bool good = true;
  for (uint32_t c = 0; c < sort->column_count && good; c++) {
    external_column *own = &s->columns[number][c];
    external_place like = sort->offsets.count ? own->to : own->from;
    good = place_between(r, file++, like.offset % DISK_PAGE, external_sort_between(sort, shape, c),
                         &own->between, failure);
  }
  good = good &&
         place_between(r, file, 0, external_sort_samples(sort, shape), &sort->samples, failure);
  bool is_done = r->by.done >= sort->by.before + shape->pieces;
  return good && (is_done || external_sort_run(sort, shape, failure));
}

static bool run_sorts(const external_routine *r, error *failure) {
  external_place order = nowhere;
  const net_routine *own = r->routine;
  uint64_t bytes = has_order(own) ? own->rows * own->length * order_size(own) : 0;
  FREED_BY(free_sorts) sorts s = {0};
  bool good = place_between(r, 0, 0, bytes, &order, failure) && make_sorts(&s, r, order, failure);
  for (uint32_t i = 0; i < s.count && good; i++)
    good = run_sort(&s, i, failure);
  return good;
}

static bool fit_sorts(const external_routine *r, uint64_t *pieces, error *failure) {
  FREED_BY(free_sorts) sorts s = {0};
  bool good = make_sorts(&s, r, nowhere, failure);
  *pieces = 0;
  for (uint32_t i = 0; i < s.count && good; i++)
    *pieces += s.shapes[i].pieces;
  return good;
}

static bool traffic_of_sorts(const external_routine *r, external_traffic *out, error *failure) {
  FREED_BY(free_sorts) sorts s = {0};
  bool good = make_sorts(&s, r, nowhere, failure);
  for (uint32_t i = 0; i < s.count && good; i++)
    external_sort_add_traffic(&s.sorts[i], &s.shapes[i], out);
  return good;
}

// ---- transposes ------------------------------------------------------------------------------------

static external_transpose transpose_of(const external_routine *r) {
  net_routine_pair p = r->routine->pairs[0];
  return (external_transpose){.size = scalar_types[external_array(r, p.from)->type].size,
                              .count = r->routine->dimension_count,
                              .dimensions = r->routine->dimensions,
                              .from = external_place_of(r, p.from),
                              .to = external_place_of(r, p.to),
                              .by = r->by};
}

static bool run_transpose(const external_routine *r, error *failure) {
  external_transpose t = transpose_of(r);
  external_transpose_shape shape;
  return external_transpose_fit(&t, &shape, failure) && external_transpose_run(&t, &shape, failure);
}

static bool fit_transpose(const external_routine *r, uint64_t *pieces, error *failure) {
  external_transpose t = transpose_of(r);
  external_transpose_shape shape;
  bool good = external_transpose_fit(&t, &shape, failure);
  *pieces = shape.boxes;
  return good;
}

// All arrays once, in stretches of boxes.
static bool traffic_of_transpose(const external_routine *r, external_traffic *out, error *failure) {
  external_transpose t = transpose_of(r);
  external_transpose_shape shape;
  for (uint32_t i = 0; i < r->routine->pair_count; i++) {
    const net_array *from = external_array(r, r->routine->pairs[i].from),
                    *to = external_array(r, r->routine->pairs[i].to);
    out->reads += from->count * scalar_types[from->type].size;
    out->writes += to->count * scalar_types[to->type].size;
  }
  if (!external_transpose_fit(&t, &shape, failure))
    return false;
  out->requests += external_transpose_requests(&t, &shape);
  return true;
}

// ---- the table ---------------------------------------------------------------------------------

typedef struct routine_row {
  bool (*fit)(const external_routine *r, uint64_t *pieces, error *failure);  // NULL: one piece
  bool (*run)(const external_routine *r, error *failure);
  bool (*traffic)(const external_routine *r, external_traffic *out, error *failure);
} routine_row;

static const routine_row routines[NET_ROUTINE_KINDS] = {
    [NET_SORT] = {fit_sorts, run_sorts, traffic_of_sorts},
    [NET_PLACES] = {fit_sorts, run_sorts, traffic_of_sorts},
    [NET_PERMUTE] = {fit_sorts, run_sorts, traffic_of_sorts},
    [NET_COUNT] = {fit_count, run_count, traffic_of_count},
    [NET_WRONG] = {NULL, run_wrong, traffic_of_wrong},
    [NET_TRANSPOSE] = {fit_transpose, run_transpose, traffic_of_transpose},
};

// The routine itself; or of one that counts the rest, and its counts, which come first and are no
// piece.
typedef struct whole {
  uint32_t count;
  net_routine routines[2];
  external_routine parts[2];
} whole;

static void split(const external_routine *r, whole *w) {
  *w = (whole){.count = 1 + r->routine->counts, .routines = {*r->routine}, .parts = {*r, *r}};
  if (r->routine->counts)
    net_routine_split(r->routine, &w->routines[0], &w->routines[1]);
  for (uint32_t i = 0; i < w->count; i++)
    w->parts[i].routine = &w->routines[i];
}

static const routine_row *row_of(const external_routine *r) { return &routines[r->routine->kind]; }

bool external_routine_traffic(const external_routine *r, external_traffic *out, error *failure) {
  whole w;
  bool good = true;
  split(r, &w);
  *out = (external_traffic){0};
  for (uint32_t i = w.count; i-- > 0 && good;)
    good = row_of(&w.parts[i])->traffic(&w.parts[i], out, failure);
  return good;
}

static bool fit_in(const external_routine *r, uint64_t memory, uint64_t *pieces, error *failure) {
  whole w;
  bool good = true;
  split(r, &w);
  for (uint32_t i = w.count; i-- > 0 && good;) {
    w.parts[i].by.memory = memory;
    *pieces = 1;
    good = !row_of(&w.parts[i])->fit || row_of(&w.parts[i])->fit(&w.parts[i], pieces, failure);
  }
  return good;
}

// The first power of two that is; 0: none.
static uint64_t enough_memory(const external_routine *r) {
  uint64_t pieces;
  for (uint32_t bits = bits_below(r->by.memory + 1); bits < 63; bits++) {
    error why = {0};
    if (fit_in(r, UINT64_C(1) << bits, &pieces, &why))
      return UINT64_C(1) << bits;
  }
  return 0;
}

bool external_routine_fit(const external_routine *r, uint64_t *pieces, error *failure) {
  error why = {0};
  char bytes[NUMBER_SPACE];
  if (fit_in(r, r->by.memory, pieces, &why))
    return true;
  uint64_t enough = enough_memory(r);
  return enough ? error_set(failure, SPAN_NONE, "%s; %s would do", why.message,
                            show_bytes(bytes, enough))
                : error_pass(failure, &why);
}

bool external_routine_run(const external_routine *r, error *failure) {
  whole w;
  bool good = true;
  split(r, &w);
  for (uint32_t i = w.count; i-- > 0 && good;)
    good = row_of(&w.parts[i])->run(&w.parts[i], failure);
  return good;
}
