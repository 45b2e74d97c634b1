// The table of routines, most of which are sorts. See routine.h.
#include "runtime/external/routines/routine.h"

#include "core/units.h"
#include "runtime/external/routines/count.h"
#include "runtime/external/routines/sort.h"
#include "runtime/external/routines/transpose.h"
#include "runtime/external/routines/wrong.h"
#include <stdlib.h>

static const net_array *array_at(const external_routine *r, net_id id) { return &r->arrays[id]; }

static uint64_t elements_of(const external_routine *r) {
  return r->routine->rows * r->routine->length;
}

// Bytes of what an array has for each key.
static size_t unit_of(const external_routine *r, net_id id) {
  const net_array *a = array_at(r, id);
  return a->count / elements_of(r) * scalar_types[a->type].size;
}

static external_place place_at(const external_routine *r, net_id id) {
  return id == NET_NONE ? (external_place){0} : r->places[id];
}

static uint32_t bits_below(uint64_t limit) {
  return limit > 1 ? 64 - (uint32_t)__builtin_clzll(limit - 1) : (uint32_t)limit;
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
  uint64_t before;                       // pieces of the sorts before
} sorts;

static bool report_piece(void *with, uint64_t done, error *failure) {
  const sorts *s = with;
  const external_routine *r = s->routine;
  return !r->report || r->report(r->with, s->before + done, failure);
}

static bool settle_pieces(void *with, uint64_t done, error *failure) {
  const sorts *s = with;
  const external_routine *r = s->routine;
  return !r->settle || r->settle(r->with, s->before + done, failure);
}

static external_offsets offsets_of(const external_routine *r) {
  if (!r->routine->ragged)
    return (external_offsets){0};
  const net_array *a = array_at(r, r->routine->offsets);
  return (external_offsets){a->table, place_at(r, r->routine->offsets),
                            a->count / r->routine->rows};
}

// A sort of rows of the routine by keys of that type, without columns.
static external_sort *add_sort(sorts *s, scalar_type type, uint64_t limit) {
  const external_routine *r = s->routine;
  external_sort *added = &s->sorts[s->count];
  *added = (external_sort){.type = type,
                           .bits = bits_below(limit),
                           .rows = r->routine->rows,
                           .length = r->routine->length,
                           .offsets = offsets_of(r),
                           .columns = s->columns[s->count],
                           .disk = r->disk,
                           .memory = r->memory,
                           .threads = r->threads,
                           .interrupted = r->interrupted,
                           .report = report_piece,
                           .settle = settle_pieces,
                           .with = s};
  s->count++;
  return added;
}

static void add_column(external_sort *s, external_place from, external_place to, size_t size) {
  external_column *columns = (external_column *)s->columns;
  columns[s->column_count++] = (external_column){.from = from, .to = to, .size = size};
}

static void add_payloads(const sorts *s, external_sort *to) {
  const external_routine *r = s->routine;
  for (uint32_t i = 1; i < r->routine->pair_count - r->routine->counts; i++) {
    net_routine_pair p = r->routine->pairs[i];
    add_column(to, place_at(r, p.from), place_at(r, p.to), unit_of(r, p.to));
  }
}

static const external_place nowhere = {0};

static void plan_sort(sorts *s, external_place order) {
  const net_routine *r = s->routine->routine;
  net_routine_pair keys = r->pairs[0];
  external_sort *sort = add_sort(s, array_at(s->routine, keys.from)->type, r->limit);
  (void)order;
  sort->descending = r->descending;
  add_column(sort, place_at(s->routine, keys.from), place_at(s->routine, keys.to),
             unit_of(s->routine, keys.from));
  add_payloads(s, sort);
}

static size_t order_size(const external_routine *r) { return r->routine->length >> 32 ? 8 : 4; }

// The elements' numbers in the order of their keys; then whatever goes where these say, by a sort
// of them.
static external_sort *plan_order(sorts *s, external_place order, uint64_t limit) {
  const net_routine *r = s->routine->routine;
  size_t size = order_size(s->routine);
  external_sort *first = add_sort(s, array_at(s->routine, r->pairs[0].from)->type, limit);
  first->descending = r->descending;
  add_column(first, place_at(s->routine, r->pairs[0].from), nowhere,
             unit_of(s->routine, r->pairs[0].from));
  add_column(first, nowhere, order, size);
  external_sort *second = add_sort(s, size == 4 ? SCALAR_U32 : SCALAR_U64, r->length);
  add_column(second, order, nowhere, size);
  return second;
}

static void plan_places(sorts *s, external_place order) {
  const net_routine *r = s->routine->routine;
  external_sort *second = plan_order(s, order, r->limit);
  add_column(second, nowhere, place_at(s->routine, r->pairs[0].to), sizeof(int64_t));
}

static void plan_permute(sorts *s, external_place order) {
  const net_routine *r = s->routine->routine;
  if (r->back) {
    add_payloads(s, plan_order(s, order, r->length));
    return;
  }
  net_id keys = r->pairs[0].from;
  external_sort *sort = add_sort(s, array_at(s->routine, keys)->type, r->length);
  add_column(sort, place_at(s->routine, keys), nowhere, unit_of(s->routine, keys));
  add_payloads(s, sort);
}

typedef void plan_function(sorts *s, external_place order);
static plan_function *const plans[NET_ROUTINE_KINDS] = {
    [NET_SORT] = plan_sort, [NET_PLACES] = plan_places, [NET_PERMUTE] = plan_permute};

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
  plans[r->routine->kind](s, order);
  for (uint32_t i = 0; i < s->count; i++)
    if (!external_sort_fit(&s->sorts[i], &s->shapes[i], failure))
      return false;
  return true;
}

// So many bytes of a file of the routine's own, if any.
static bool place_between(const external_routine *r, uint32_t number, uint64_t offset,
                          uint64_t bytes, external_place *to, error *failure) {
  *to = bytes ? r->between(r->with, number, offset, bytes, failure) : nowhere;
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
  sort->done = r->done > s->before ? r->done - s->before : 0;
  return good && (sort->done >= shape->pieces || external_sort_run(sort, shape, failure));
}

static bool run_sorts(const external_routine *r, error *failure) {
  external_place order = nowhere;
  bool has_order = r->routine->kind == NET_PLACES || r->routine->back, good = true;
  if (has_order) {
    order = r->between(r->with, 0, 0, elements_of(r) * order_size(r), failure);
    good = order.file != NULL;
  }
  sorts s = {0};
  good = good && make_sorts(&s, r, order, failure);
  for (uint32_t i = 0; i < s.count && good; i++) {
    good = run_sort(&s, i, failure);
    s.before += s.shapes[i].pieces;
  }
  free_sorts(&s);
  return good;
}

static bool fit_sorts(const external_routine *r, uint64_t *pieces, error *failure) {
  sorts s;
  bool good = make_sorts(&s, r, nowhere, failure);
  *pieces = 0;
  for (uint32_t i = 0; i < s.count && good; i++)
    *pieces += s.shapes[i].pieces;
  free_sorts(&s);
  return good;
}

static bool traffic_of_sorts(const external_routine *r, external_traffic *out, error *failure) {
  sorts s;
  bool good = make_sorts(&s, r, nowhere, failure);
  for (uint32_t i = 0; i < s.count && good; i++)
    external_sort_add_traffic(&s.sorts[i], &s.shapes[i], out);
  free_sorts(&s);
  return good;
}

// ---- others ------------------------------------------------------------------------------------

static external_count count_of(const external_routine *r, net_routine_pair p) {
  return (external_count){.type = array_at(r, p.from)->type,
                          .rows = r->routine->rows,
                          .length = r->routine->length,
                          .limit = r->routine->limit,
                          .from = place_at(r, p.from),
                          .to = place_at(r, p.to),
                          .disk = r->disk,
                          .memory = r->memory,
                          .interrupted = r->interrupted};
}

static bool run_count(const external_routine *r, error *failure) {
  external_count c = count_of(r, r->routine->pairs[0]);
  return external_count_run(&c, failure);
}

static bool fit_count(const external_routine *r, uint64_t *pieces, error *failure) {
  external_count c = count_of(r, r->routine->pairs[0]);
  *pieces = 1;
  return external_count_fit(&c, failure);
}

static bool traffic_of_count(const external_routine *r, external_traffic *out, error *failure) {
  external_count c = count_of(r, r->routine->pairs[0]);
  (void)failure;
  external_count_add_traffic(&c, out);
  return true;
}

static external_wrong wrong_of(const external_routine *r, net_routine_pair p) {
  return (external_wrong){.type = array_at(r, p.from)->type,
                          .distinct = r->routine->distinct,
                          .rows = r->routine->rows,
                          .length = r->routine->length,
                          .limit = r->routine->limit,
                          .from = place_at(r, p.from),
                          .disk = r->disk,
                          .memory = r->memory,
                          .interrupted = r->interrupted};
}

static bool traffic_of_wrong(const external_routine *r, external_traffic *out, error *failure) {
  external_wrong w = wrong_of(r, r->routine->pairs[0]);
  (void)failure;
  external_wrong_add_traffic(&w, out);
  return true;
}

static bool run_wrong(const external_routine *r, error *failure) {
  net_routine_pair p = r->routine->pairs[0];
  int64_t found[2];
  external_wrong w = wrong_of(r, p);
  external_place to = place_at(r, p.to);
  return external_wrong_find(&w, found, failure) &&
         disk_write(to.file, to.offset, found, sizeof found, failure);
}

static external_transpose transpose_of(const external_routine *r) {
  net_routine_pair p = r->routine->pairs[0];
  return (external_transpose){.size = scalar_types[array_at(r, p.from)->type].size,
                              .count = r->routine->dimension_count,
                              .dimensions = r->routine->dimensions,
                              .from = place_at(r, p.from),
                              .to = place_at(r, p.to),
                              .disk = r->disk,
                              .memory = r->memory,
                              .threads = r->threads,
                              .interrupted = r->interrupted,
                              .report = r->report,
                              .with = r->with};
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

// One piece.
static bool fit_whole(const external_routine *r, uint64_t *pieces, error *failure) {
  (void)r;
  (void)failure;
  *pieces = 1;
  return true;
}

// All arrays once, in stretches of boxes.
static bool traffic_of_transpose(const external_routine *r, external_traffic *out, error *failure) {
  external_transpose t = transpose_of(r);
  external_transpose_shape shape;
  for (uint32_t i = 0; i < r->routine->pair_count; i++) {
    const net_array *from = array_at(r, r->routine->pairs[i].from),
                    *to = array_at(r, r->routine->pairs[i].to);
    out->reads += from->count * scalar_types[from->type].size;
    out->writes += to->count * scalar_types[to->type].size;
  }
  if (!external_transpose_fit(&t, &shape, failure))
    return false;
  out->requests += external_transpose_requests(&t, &shape);
  return true;
}

// ---- the table ---------------------------------------------------------------------------------

static const struct {
  bool (*fit)(const external_routine *r, uint64_t *pieces, error *failure);
  bool (*run)(const external_routine *r, error *failure);
  bool (*traffic)(const external_routine *r, external_traffic *out, error *failure);
} routines[NET_ROUTINE_KINDS] = {
    [NET_SORT] = {fit_sorts, run_sorts, traffic_of_sorts},
    [NET_PLACES] = {fit_sorts, run_sorts, traffic_of_sorts},
    [NET_PERMUTE] = {fit_sorts, run_sorts, traffic_of_sorts},
    [NET_COUNT] = {fit_count, run_count, traffic_of_count},
    [NET_WRONG] = {fit_whole, run_wrong, traffic_of_wrong},
    [NET_TRANSPOSE] = {fit_transpose, run_transpose, traffic_of_transpose},
};

bool external_routine_traffic(const external_routine *r, external_traffic *out, error *failure) {
  const net_routine *own = r->routine;
  *out = (external_traffic){0};
  if (own->counts) {
    external_count c = count_of(r, own->pairs[own->pair_count - 1]);
    external_count_add_traffic(&c, out);
  }
  return routines[own->kind].traffic(r, out, failure);
}

static bool fit_in(const external_routine *r, uint64_t memory, uint64_t *pieces, error *failure) {
  external_routine other = *r;
  const net_routine *own = r->routine;
  other.memory = memory;
  if (own->counts) {
    external_count c = count_of(&other, own->pairs[own->pair_count - 1]);
    if (!external_count_fit(&c, failure))
      return false;
  }
  return routines[own->kind].fit(&other, pieces, failure);
}

// The first power of two that is; 0: none.
static uint64_t enough_memory(const external_routine *r) {
  uint64_t pieces;
  for (uint32_t bits = bits_below(r->memory + 1); bits < 63; bits++) {
    error why = {0};
    if (fit_in(r, UINT64_C(1) << bits, &pieces, &why))
      return UINT64_C(1) << bits;
  }
  return 0;
}

bool external_routine_fit(const external_routine *r, uint64_t *pieces, error *failure) {
  error why = {0};
  char bytes[NUMBER_SPACE];
  if (fit_in(r, r->memory, pieces, &why))
    return true;
  uint64_t enough = enough_memory(r);
  return enough ? error_set(failure, SPAN_NONE, "%s; %s would do", why.message,
                            show_bytes(bytes, enough))
                : error_pass(failure, &why);
}

bool external_routine_run(const external_routine *r, error *failure) {
  const net_routine *own = r->routine;
  if (own->counts) {
    external_count c = count_of(r, own->pairs[own->pair_count - 1]);
    if (!external_count_run(&c, failure))
      return false;
  }
  return routines[own->kind].run(r, failure);
}
