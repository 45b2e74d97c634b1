// Whether places in a file are places (runtime/routines/places.h): bits for a part of them, which are
// met, and met again. Places are read once; distinct ones once for each part of the numbers below
// the limit that memory has bits for, and where one occurs twice, again. See routines.h.
#include "core/number.h"
#include "runtime/external/routines/routines.h"
#include "runtime/external/routines/scan.h"
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, PLACES = 1024 };

typedef struct finding {
  const external_routine *call;
  uint64_t row;           // the one that is read; all rows, where places need not be distinct
  uint64_t low, high;     // the places that have bits
  uint64_t *met, *again;  // NULL: none have
  bool looks;             // all bits are set: it looks for the first that was met again
  bool repeated;          // there is one
  uint64_t first;         // of the wrong ones so far, its number among all
  uint64_t place;         // and what it is
} finding;

static void find_wrong(finding *f, uint64_t number, uint64_t place) {
  if (number < f->first) {
    f->first = number;
    f->place = place;
  }
}

static void visit(finding *f, uint64_t number, uint64_t place) {
  if (place >= f->call->routine->limit)
    find_wrong(f, number, place);
  if (!f->met || place < f->low || place >= f->high)
    return;
  uint64_t word = (place - f->low) / WORD, bit = UINT64_C(1) << (place - f->low) % WORD;
  if (f->looks) {
    if (f->again[word] & bit)
      find_wrong(f, number, place);
    return;
  }
  f->repeated = f->repeated || f->met[word] & bit;
  f->again[word] |= f->met[word] & bit;
  f->met[word] |= bit;
}

static bool visit_part(void *with, const scan_part *p, error *failure) {
  finding *f = with;
  const net_routine *r = f->call->routine;
  scalar_type type = external_array(f->call, r->pairs[0].from)->type;
  uint64_t places[PLACES], count = p->rows * p->length,
                           first = (f->row + p->first) * r->length + p->start;
  for (uint64_t i = 0; i < count; i += PLACES) {
    size_t n = count - i < PLACES ? count - i : PLACES;
    scalar_convert(type, SCALAR_U64, n, (const char *)p->keys + i * scalar_types[type].size,
                   places);
    for (size_t j = 0; j < n; j++)
      visit(f, first + i + j, places[j]);
  }
  const atomic_bool *interrupted = f->call->by.interrupted;
  return !interrupted || !atomic_load(interrupted) || error_set(failure, SPAN_NONE, "interrupted");
}

static bool visit_rows(finding *f, uint64_t rows, error *failure) {
  scan s = external_scan(f->call, f->row, rows, rows);
  s.with = f;
  s.work = visit_part;
  return scan_run(&s, failure);
}

// Of a row, all places, as many at a time as have bits.
static bool visit_distinct(finding *f, uint64_t most, error *failure) {
  uint64_t limit = f->call->routine->limit;
  f->low = 0;
  do {
    f->high = limit - f->low < most ? limit : f->low + most;
    f->looks = f->repeated = false;
    memset(f->met, 0, 2 * (most / WORD) * sizeof *f->met);
    if (!visit_rows(f, 1, failure))
      return false;
    f->looks = true;
    if (f->repeated && !visit_rows(f, 1, failure))
      return false;
    f->low = f->high;
  } while (f->low < limit);
  return true;
}

// Words of bits, as many as there is memory for.
static uint64_t words_of(const external_routine *c) {
  uint64_t words = divide_up(c->routine->limit, WORD),
           room = c->by.memory / 2 / sizeof(uint64_t) / 2;
  words = words < room ? words : room;
  return words < 1 ? 1 : words;
}

// Where no place occurs twice.
bool traffic_of_wrong(const external_routine *c, external_traffic *to, error *failure) {
  const net_routine *r = c->routine;
  uint64_t rounds = r->distinct ? divide_up(r->limit, words_of(c) * WORD) : 1;
  uint64_t rows = r->distinct ? 1 : r->rows;
  external_traffic once = {0};
  scan s = external_scan(c, 0, rows, rows);
  (void)failure;
  scan_add_traffic(&s, &once);
  rounds = (rounds < 1 ? 1 : rounds) * (r->distinct ? r->rows : 1);
  to->reads += rounds * once.reads;
  to->requests += rounds * once.requests + 1;
  to->writes += 2 * sizeof(int64_t);
  return true;
}

bool run_wrong(const external_routine *c, error *failure) {
  const net_routine *r = c->routine;
  finding f = {.call = c, .first = UINT64_MAX};
  external_place to = external_place_of(c, r->pairs[0].to);
  uint64_t words = words_of(c);
  bool good = true;
  if (r->distinct) {
    f.met = malloc(2 * words * sizeof *f.met);
    f.again = f.met ? f.met + words : NULL;
    good = f.met || error_no_memory(failure);
    for (; f.row < r->rows && f.first == UINT64_MAX && good; f.row++)
      good = visit_distinct(&f, words * WORD, failure);
  } else
    good = visit_rows(&f, r->rows, failure);
  free(f.met);
  int64_t found[2] = {INT64_MAX, 0};
  if (f.first != UINT64_MAX)
    found[0] = (int64_t)f.first, found[1] = (int64_t)f.place;
  return good && disk_write(to.file, to.offset, found, sizeof found, failure);
}
