// Bits for a part of the places, which are met, and met again. See wrong.h.
#include "runtime/external/routines/wrong.h"

#include "core/number.h"
#include "runtime/external/routines/scan.h"
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, PLACES = 1024 };

typedef struct finding {
  const external_wrong *task;
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
  if (place >= f->task->limit)
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
  const external_wrong *w = f->task;
  uint64_t places[PLACES], count = p->rows * p->length,
                           first = (f->row + p->first) * w->length + p->start;
  for (uint64_t i = 0; i < count; i += PLACES) {
    size_t n = count - i < PLACES ? count - i : PLACES;
    scalar_convert(w->type, SCALAR_U64, n, (const char *)p->keys + i * scalar_types[w->type].size,
                   places);
    for (size_t j = 0; j < n; j++)
      visit(f, first + i + j, places[j]);
  }
  return !w->interrupted || !atomic_load(w->interrupted) ||
         error_set(failure, SPAN_NONE, "interrupted");
}

static scan scan_of(const external_wrong *w, uint64_t row, uint64_t rows) {
  size_t size = scalar_types[w->type].size;
  return (scan){.disk = w->disk,
                .from = place_after(w->from, row * w->length * size),
                .size = size,
                .rows = rows,
                .length = w->length,
                .memory = w->memory / 2,
                .most_rows = rows};
}

static bool visit_rows(finding *f, uint64_t rows, error *failure) {
  scan s = scan_of(f->task, f->row, rows);
  s.with = f;
  s.work = visit_part;
  return scan_run(&s, failure);
}

// Of a row, all places, as many at a time as have bits.
static bool visit_distinct(finding *f, uint64_t most, error *failure) {
  uint64_t limit = f->task->limit;
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
static uint64_t words_of(const external_wrong *w) {
  uint64_t words = divide_up(w->limit, WORD), room = w->memory / 2 / sizeof(uint64_t) / 2;
  words = words < room ? words : room;
  return words < 1 ? 1 : words;
}

void external_wrong_add_traffic(const external_wrong *w, external_traffic *to) {
  uint64_t rounds = w->distinct ? divide_up(w->limit, words_of(w) * WORD) : 1;
  external_traffic once = {0};
  scan s = scan_of(w, 0, w->distinct ? 1 : w->rows);
  scan_add_traffic(&s, &once);
  rounds = (rounds < 1 ? 1 : rounds) * (w->distinct ? w->rows : 1);
  to->reads += rounds * once.reads;
  to->requests += rounds * once.requests + 1;
  to->writes += 2 * sizeof(int64_t);
}

bool external_wrong_find(const external_wrong *w, int64_t found[2], error *failure) {
  finding f = {.task = w, .first = UINT64_MAX};
  uint64_t words = words_of(w);
  bool good = true;
  if (w->distinct) {
    f.met = malloc(2 * words * sizeof *f.met);
    f.again = f.met ? f.met + words : NULL;
    good = f.met || error_no_memory(failure);
    for (; f.row < w->rows && f.first == UINT64_MAX && good; f.row++)
      good = visit_distinct(&f, words * WORD, failure);
  } else
    good = visit_rows(&f, w->rows, failure);
  free(f.met);
  found[0] = f.first == UINT64_MAX ? INT64_MAX : (int64_t)f.first;
  found[1] = f.first == UINT64_MAX ? 0 : (int64_t)f.place;
  return good;
}
