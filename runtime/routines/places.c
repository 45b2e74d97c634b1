// Looks for wrong places: see places.h.
#include "runtime/routines/places.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 64, PLACES = 1024 };

// For each place below the limit a bit that is set where it was met, and another where it was met
// again.
typedef struct place_row {
  const place_check *check;
  uint64_t *met, *again;
} place_row;

// Whether any is wrong.
static bool is_any_wrong(const place_row *r, const char *row) {
  const place_check *c = r->check;
  uint64_t places[PLACES], wrong = 0;
  size_t size = scalar_types[c->type].size;
  for (uint64_t i = 0; i < c->length; i += PLACES) {
    size_t n = c->length - i < PLACES ? c->length - i : PLACES;
    uint64_t outside = 0;
    scalar_convert(c->type, SCALAR_U64, n, row + i * size, places);
    for (size_t j = 0; j < n; j++)
      outside |= places[j] >= c->limit;
    wrong |= outside;
    for (size_t j = 0; j < n && c->distinct && !outside; j++) {
      uint64_t *word = &r->met[places[j] / WORD], bit = UINT64_C(1) << places[j] % WORD;
      wrong |= *word & bit;
      *word |= bit;
    }
    if (wrong)
      return true;
  }
  return false;
}

static uint64_t place_at(const place_check *c, const char *row, uint64_t i) {
  uint64_t place;
  scalar_convert(c->type, SCALAR_U64, 1, row + i * scalar_types[c->type].size, &place);
  return place;
}

// The first that is wrong, of a row that has one.
static uint64_t find_first_wrong(const place_row *r, const char *row) {
  const place_check *c = r->check;
  uint64_t i = 0, words = c->limit / WORD + 1;
  if (c->distinct)
    memset(r->met, 0, words * sizeof *r->met);
  for (uint64_t k = 0; k < c->length && c->distinct; k++) {
    uint64_t place = place_at(c, row, k), bit = UINT64_C(1) << place % WORD;
    if (place >= c->limit)
      continue;
    r->again[place / WORD] |= r->met[place / WORD] & bit;
    r->met[place / WORD] |= bit;
  }
  for (; i < c->length; i++) {
    uint64_t place = place_at(c, row, i);
    if (place >= c->limit || (c->distinct && r->again[place / WORD] >> place % WORD & 1))
      break;
  }
  return i;
}

bool routine_find_wrong(const place_check *c, int64_t found[2]) {
  uint64_t words = c->distinct ? c->limit / WORD + 1 : 0;
  uint64_t bytes = c->length * scalar_types[c->type].size;
  uint64_t *bits = calloc(2 * words + 1, sizeof *bits);
  const char *row = c->places;
  bool good = bits != NULL;
  found[0] = INT64_MAX, found[1] = 0;
  for (uint64_t i = 0; i < c->rows && good && found[0] == INT64_MAX; i++, row += bytes) {
    place_row r = {c, bits, bits + words};
    if (i)
      memset(bits, 0, words * sizeof *bits);
    if (is_any_wrong(&r, row)) {
      uint64_t first = find_first_wrong(&r, row);
      found[0] = (int64_t)(i * c->length + first);
      found[1] = (int64_t)place_at(c, row, first);
    }
    good = !c->interrupted || !atomic_load_explicit(c->interrupted, memory_order_relaxed);
  }
  free(bits);
  return good;
}
