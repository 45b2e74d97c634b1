// Layouts that turn each row of w words by random numbers: RAS and RAP, in two and more dimensions
// (RAP paper, sections IV and VII).
//
// The paper's array a[i][j][k][l] of w^4 words has its rows numbered i w^2 + j w + k, and its
// digits are address / w^3, address / w^2 mod w, address / w mod w. So f(i, j, k), by which row (i,
// j, k) is turned, is a sum of table entries, each at (address / divisor) mod count:
//
//              terms (divisor, count)                            random numbers, of w^4 words
//   RAS        (w, rows) independent                             w^3
//   1P         (w, w) a permutation                              w
//   R1P        (w, w), (w^2, w), (w^3, w) the same permutation   w
//   3P         (w, w), (w^2, w), (w^3, w) three permutations     3 w
//   w2P        (w, rows) a permutation for each w rows           w^3
//   1Pw2R      (w, w) a permutation, (w^2, rows / w) independent w^2 + w
//
// An array of more than w^4 words repeats, where a count is w. A term whose digit is always 0, for
// the array is smaller, is left out: then 3P, R1P and 1P are the RAP of a w x w matrix.
#include "core/random.h"
#include "kernels/banks/layout_making.h"

#include <assert.h>
#include <inttypes.h>

void bank_layout_draw(bank_layout *l, uint64_t *state) {
  for (uint32_t k = 0; k < l->term_count; k++) {
    const bank_layout_term *t = &l->term[k];
    if (k > 0 && t->shift == l->term[0].shift)
      continue;
    if (t->permuted)
      for (uint64_t i = 0; i < t->count; i += l->banks)
        draw_permutation(state, l->banks, t->shift + i);
    else
      for (uint64_t i = 0; i < t->count; i++)
        t->shift[i] = (uint16_t)draw_below(state, l->banks);
  }
}

uint64_t bank_layout_random_numbers(const bank_layout *l) {
  uint64_t count = 0;
  for (uint32_t k = 0; k < l->term_count; k++)
    if (k == 0 || l->term[k].shift != l->term[0].shift)
      count += l->term[k].count;
  return count;
}

static void add_term(bank_layout *out, uint64_t divisor, uint64_t count, bool permuted) {
  if (out->term_count == 0 || out->words > divisor)
    out->term[out->term_count++] =
        (bank_layout_term){.divisor = divisor, .count = count, .permuted = permuted};
}

// Tables for the terms, all of them one with `shared`.
static bool fill(arena *a, const bank_layout_request *r, bank_layout *out, bool shared,
                 const char **wrong) {
  uint64_t state = r->seed, needed = 0;
  for (uint32_t k = 0; k < out->term_count; k++)
    needed += out->term[k].count;
  if (needed > BANK_LAYOUT_RANDOM_MAX) {
    *wrong =
        arena_printf(a, "%s of %" PRIu64 " words needs %" PRIu64 " random numbers, more than 2^26",
                     out->kind->name, r->words, needed);
    return false;
  }
  for (uint32_t k = 0; k < out->term_count; k++)
    out->term[k].shift =
        k > 0 && shared ? out->term[0].shift : NEW_ARRAY(a, uint16_t, out->term[k].count);
  out->form = BANK_LAYOUT_SHIFTED;
  out->places = (r->words + r->banks - 1) / r->banks * r->banks;
  bank_layout_draw(out, &state);
  uint64_t numbers = bank_layout_random_numbers(out);
  out->parameters = arena_printf(a, "seed %" PRIu64 ", %" PRIu64 " random number%s", r->seed,
                                 numbers, numbers == 1 ? "" : "s");
  return true;
}

// How many parts of `divisor` words the array has; the last one may be shorter.
static uint64_t parts(const bank_layout_request *r, uint64_t divisor) {
  return (r->words + divisor - 1) / divisor;
}

bool bank_layout_make_ras(arena *a, const bank_layout_request *r, bank_layout *out,
                          const char **wrong) {
  add_term(out, r->banks, parts(r, r->banks), false);
  return fill(a, r, out, false, wrong);
}

bool bank_layout_make_1p(arena *a, const bank_layout_request *r, bank_layout *out,
                         const char **wrong) {
  add_term(out, r->banks, r->banks, true);
  return fill(a, r, out, false, wrong);
}

static bool make_digits(arena *a, const bank_layout_request *r, bank_layout *out, bool shared,
                        const char **wrong) {
  uint64_t w = r->banks;
  add_term(out, w, w, true);
  add_term(out, w * w, w, true);
  add_term(out, w * w * w, w, true);
  return fill(a, r, out, shared, wrong);
}

bool bank_layout_make_r1p(arena *a, const bank_layout_request *r, bank_layout *out,
                          const char **wrong) {
  return make_digits(a, r, out, true, wrong);
}

bool bank_layout_make_3p(arena *a, const bank_layout_request *r, bank_layout *out,
                         const char **wrong) {
  return make_digits(a, r, out, false, wrong);
}

bool bank_layout_make_w2p(arena *a, const bank_layout_request *r, bank_layout *out,
                          const char **wrong) {
  uint64_t w = r->banks;
  add_term(out, w, parts(r, w * w) * w, true);
  return fill(a, r, out, false, wrong);
}

bool bank_layout_make_1pw2r(arena *a, const bank_layout_request *r, bank_layout *out,
                            const char **wrong) {
  uint64_t w = r->banks;
  add_term(out, w, w, true);
  add_term(out, w * w, parts(r, w * w), false);
  return fill(a, r, out, false, wrong);
}
