// Looks for wrong places: see places.h.
#include "runtime/routines/places.h"

#include "core/sizes.h"
#include "runtime/routines/key_rank.h"
#include <string.h>

enum { PLACES = 1024 };

// For each place below the limit a bit that is set where it was met, and another where it was met
// again.
typedef struct place_row {
  const place_check *check;
  const void *places;
  uint64_t sign;  // the highest bit of a place that may be negative, or 0
  uint64_t *met, *again;
} place_row;

// By bytes of a place.
typedef uint8_t place_1;
typedef uint16_t place_2;
typedef uint32_t place_4;
typedef uint64_t place_8, place_16;

static inline uint64_t row_place(const place_row *r, uint64_t i, size_t size) {
  return (load_key(r->places, i, size) ^ r->sign) - r->sign;
}

// Whether any is wrong. A place is outside where it, or what is left from it to the last one, is
// negative as an integer of its own width: without comparisons, for compilers to take vectors.
static bool is_any_wrong(const place_row *r) {
  const place_check *c = r->check;
  uint64_t last = (r->sign && c->limit > r->sign ? r->sign : c->limit) - 1;
  bool far = last >> (8 * c->size - 1);  // that would be negative, too
  for (uint64_t i = 0; i < c->length; i += PLACES) {
    uint64_t end = c->length - i < PLACES ? c->length : i + PLACES;
    bool wrong = false;
    for (uint64_t j = i; j < end && far; j++)
      wrong |= load_key(r->places, j, c->size) >= c->limit;
#define LOOK(U)                                                                                    \
  place_##U most = (place_##U)last, seen = 0;                                                      \
  for (uint64_t j = i; j < end && !far; j++) {                                                     \
    place_##U place = (place_##U)load_key(r->places, j, (U));                                      \
    seen |= (place_##U)(place | (place_##U)(most - place));                                        \
  }                                                                                                \
  wrong |= seen >> (8 * sizeof seen - 1);
    FOR_ELEMENT_SIZE(c->size, LOOK)
#undef LOOK
    for (uint64_t j = i; j < end && c->distinct && !wrong; j++) {
      uint64_t place = load_key(r->places, j, c->size);
      uint64_t *word = &r->met[place / PLACE_BITS], bit = UINT64_C(1) << place % PLACE_BITS;
      wrong = *word & bit;
      *word |= bit;
    }
    if (wrong)
      return true;
  }
  return false;
}

// The first that is wrong, of a row that has one.
static uint64_t find_first_wrong(const place_row *r) {
  const place_check *c = r->check;
  uint64_t i = 0, words = c->limit / PLACE_BITS + 1;
  if (c->distinct)
    memset(r->met, 0, words * sizeof *r->met);
  for (uint64_t k = 0; k < c->length && c->distinct; k++) {
    uint64_t place = row_place(r, k, c->size), bit = UINT64_C(1) << place % PLACE_BITS;
    if (place >= c->limit)
      continue;
    r->again[place / PLACE_BITS] |= r->met[place / PLACE_BITS] & bit;
    r->met[place / PLACE_BITS] |= bit;
  }
  for (; i < c->length; i++) {
    uint64_t place = row_place(r, i, c->size);
    if (place >= c->limit ||
        (c->distinct && r->again[place / PLACE_BITS] >> place % PLACE_BITS & 1))
      break;
  }
  return i;
}

bool routine_find_wrong(const place_check *c, int64_t found[2]) {
  uint64_t words = c->distinct ? c->limit / PLACE_BITS + 1 : 0,
           bytes = 2 * words * sizeof(uint64_t);
  worker_memory own = {0};
  crew with = crew_begin(&c->crew, &own);
  uint64_t *bits = bytes ? reserve(with.memory, BLOCK_WORDS, bytes) : NULL;
  place_row r = {.check = c,
                 .places = c->places,
                 .sign = c->is_signed ? UINT64_C(1) << (8 * c->size - 1) : 0,
                 .met = bits,
                 .again = bits ? bits + words : NULL};
  bool good = bits || !bytes;
  found[0] = INT64_MAX, found[1] = 0;
  for (uint64_t i = 0; i < c->rows && good && found[0] == INT64_MAX; i++) {
    if (bytes)
      memset(bits, 0, bytes);
    if (is_any_wrong(&r)) {
      uint64_t first = find_first_wrong(&r);
      found[0] = (int64_t)(i * c->length + first);
      found[1] = (int64_t)row_place(&r, first, c->size);
    }
    r.places = (const char *)r.places + c->length * c->size;
    good = !crew_is_interrupted(&with);
  }
  crew_end(&c->crew, &with);
  return good;
}
