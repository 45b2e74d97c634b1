// Layouts that rotate each row of w words by random numbers: RAS and RAP, in two and more
// dimensions (RAP paper, sections IV and VII).
//
// The paper's array a[i][j][k][l] of w^4 words has its rows numbered i w^2 + j w + k; i, j and k
// are address / w^3, address / w^2 mod w and address / w mod w. The number f(i, j, k) by which row
// (i, j, k) is rotated is a sum of table entries, each at (address / divisor) mod count:
//
//              terms (divisor, count)                            random numbers, of w^4 words
//   RAS        (w, rows) independent                             w^3
//   1P         (w, w) a permutation                              w
//   R1P        (w, w), (w^2, w), (w^3, w) the same permutation   w
//   3P         (w, w), (w^2, w), (w^3, w) three permutations     3 w
//   w2P        (w, rows) a permutation for each w rows           w^3
//   1Pw2R      (w, w) a permutation, (w^2, rows / w) independent w^2 + w
//
// An array of more than w^4 words repeats, where a count is w. A term whose digit is always 0,
// because the array is smaller, is left out: 3P, R1P and 1P of a w x w matrix are its RAP.
#include "core/random.h"
#include "kernels/banks/making.h"

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

// ---- making ------------------------------------------------------------------------------------

// The rows of the table above, by bank_layout_kind.variant. A term's divisor is w^power; its count
// is w (a digit), or else one for each part of so many words, in whole permutations.
static const struct rotation {
  bool shared;  // all terms have one table
  uint32_t count;
  struct {
    uint32_t power;
    bool digit, permuted;
  } term[BANK_LAYOUT_TERMS];
} rotations[] = {
    [BANK_ROTATE_RAS] = {false, 1, {{1, false, false}}},
    [BANK_ROTATE_1P] = {false, 1, {{1, true, true}}},
    [BANK_ROTATE_R1P] = {true, 3, {{1, true, true}, {2, true, true}, {3, true, true}}},
    [BANK_ROTATE_3P] = {false, 3, {{1, true, true}, {2, true, true}, {3, true, true}}},
    [BANK_ROTATE_W2P] = {false, 1, {{1, false, true}}},
    [BANK_ROTATE_1PW2R] = {false, 2, {{1, true, true}, {2, false, false}}},
};

// The terms of the rotation that the array is large enough for, without tables: the number of
// entries that they need.
static uint64_t set_terms(const bank_layout_request *r, const struct rotation *rule,
                          bank_layout *out) {
  uint64_t w = r->banks, divisor = w, entries = 0;
  for (uint32_t k = 0; k < rule->count; k++) {
    for (uint32_t power = k ? rule->term[k - 1].power : 1; power < rule->term[k].power; power++)
      divisor *= w;
    if (out->term_count > 0 && out->words <= divisor)
      continue;
    uint64_t parts = (r->words + divisor - 1) / divisor, count = rule->term[k].digit ? w
                                                                 : rule->term[k].permuted
                                                                     ? (parts + w - 1) / w * w
                                                                     : parts;
    out->term[out->term_count++] =
        (bank_layout_term){.divisor = divisor, .count = count, .permuted = rule->term[k].permuted};
    entries += count;
  }
  return entries;
}

const char *bank_make_rotated(arena *a, const bank_layout_request *r, bank_layout *out) {
  const struct rotation *rule = &rotations[out->kind->variant];
  uint64_t state = r->seed, needed = set_terms(r, rule, out);
  if (needed > BANK_LAYOUT_RANDOM_MAX)
    return arena_printf(a,
                        "%s of %" PRIu64 " words needs %" PRIu64 " random numbers, more than 2^26",
                        out->kind->name, r->words, needed);
  for (uint32_t k = 0; k < out->term_count; k++)
    out->term[k].shift =
        k > 0 && rule->shared ? out->term[0].shift : NEW_ARRAY(a, uint16_t, out->term[k].count);
  out->places = (r->words + r->banks - 1) / r->banks * r->banks;
  bank_layout_draw(out, &state);
  uint64_t numbers = bank_layout_random_numbers(out);
  out->parameters = arena_printf(a, "seed %" PRIu64 ", %" PRIu64 " random number%s", r->seed,
                                 numbers, numbers == 1 ? "" : "s");
  return NULL;
}
