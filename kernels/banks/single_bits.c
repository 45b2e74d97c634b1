// The bank is single bits of the address, or XORs of two bits, chosen one after the other by a
// heuristic (Hash paper, sections 4.3, 4.4 and 5.2). See search.h.
//
// A FORM is the mask of the address bits that sum to one bit. Of each access (without duplicates)
// with R addresses:
//
//   Givargis            quality Q_i = min(Z, O) / max(Z, O) of the Z zeros and O ones of form i;
//                       after choosing b, Q_i becomes Q_i C_bi, with C_bi the same ratio of the
//                       addresses where b and i are equal and different. The most quality wins.
//   minimum imbalance   the sum, over the banks so far and the two values of form i, of
//                       |addresses there - R / (2 banks)|, divided by R. The least imbalance wins.
//
// Over several accesses qualities or imbalances are summed. The paper's Figure 6, eight addresses
// for 8 banks:
//
//   27 12 6 19 11 4 28 3   choose bit 0 (4 of each value), bit 3 (2 2 2 2), bit 4 (imbalance 0.25)
#include "kernels/banks/making.h"

#include <assert.h>

#define TIE 1e-9  // sums of fractions that differ by less are equal

typedef struct forms {
  size_t count;
  uint64_t *mask;
} forms;

static forms forms_of(arena *a, int n, bool pairs) {
  forms f = {0, NEW_ARRAY(a, uint64_t, n + n * (n - 1) / 2 + 1)};
  for (int i = 0; i < n; i++)
    f.mask[f.count++] = f2_unit(i);
  for (int i = 0; i < n && pairs; i++)
    for (int j = i + 1; j < n; j++)
      f.mask[f.count++] = f2_unit(i) | f2_unit(j);
  return f;
}

// The form with the largest merit among those that are no sum of `held`, the first of equal ones.
static size_t best_form(const forms *f, const double *merit, f2_space held) {
  size_t best = f->count;
  for (size_t i = 0; i < f->count; i++)
    if (!f2_space_has(held, f->mask[i]) && (best == f->count || merit[i] > merit[best] + TIE))
      best = i;
  assert(best < f->count);
  return best;
}

// ---- Givargis ----------------------------------------------------------------------------------

static double balance_of(uint32_t ones, uint32_t count) {
  uint32_t zeros = count - ones;
  return ones < zeros ? (double)ones / zeros : (double)zeros / ones;
}

// Of the addresses, how many have an odd number of the mask's bits.
static uint32_t ones_of(const bank_access *access, uint64_t mask) {
  uint32_t ones = 0;
  for (uint32_t t = 0; t < access->count; t++)
    ones += f2_dot(access->address[t], mask);
  return ones;
}

static void choose_givargis(arena *a, const bank_trace *t, const forms *f, int n, int m,
                            uint64_t *out) {
  size_t sets = t->accesses.count;
  double *quality = NEW_ARRAY(a, double, sets * f->count + 1),
         *sum = NEW_ARRAY(a, double, f->count);
  f2_space held = f2_space_zero(n);
  for (int step = 0; step < m; step++) {
    memset(sum, 0, f->count * sizeof *sum);
    for (size_t s = 0; s < sets; s++) {
      const bank_access *access = &t->accesses.items[s];
      double *q = quality + s * f->count;
      for (size_t i = 0; i < f->count; i++) {
        uint64_t with = step ? out[step - 1] : 0;  // both differ where their sum is 1
        double r = balance_of(ones_of(access, f->mask[i] ^ with), access->count);
        q[i] = step ? q[i] * r : r;
        sum[i] += q[i] * (double)access->times;
      }
    }
    out[step] = f->mask[best_form(f, sum, held)];
    f2_space_insert(&held, out[step]);
  }
}

// ---- minimum imbalance -------------------------------------------------------------------------

// Equation 14 for one access: bank[t] is what the bits chosen so far say of address t.
static double imbalance_of(const bank_access *access, const uint16_t *bank, uint32_t banks,
                           uint64_t mask, uint32_t *histogram) {
  uint64_t off = 0, bins = 2 * (uint64_t)banks;
  memset(histogram, 0, bins * sizeof *histogram);
  for (uint32_t t = 0; t < access->count; t++)
    histogram[2 * bank[t] + f2_dot(access->address[t], mask)]++;
  for (uint64_t b = 0; b < bins; b++) {
    uint64_t have = histogram[b] * bins;
    off += have > access->count ? have - access->count : access->count - have;
  }
  return (double)off / (double)(bins * access->count);
}

static void choose_mih(arena *a, const bank_trace *t, const forms *f, int n, int m, uint64_t *out) {
  size_t sets = t->accesses.count;
  uint16_t **bank = NEW_ARRAY(a, uint16_t *, sets + 1);
  uint32_t *histogram = NEW_ARRAY(a, uint32_t, f2_unit(m + 1));
  double *merit = NEW_ARRAY(a, double, f->count);
  f2_space held = f2_space_zero(n);
  for (size_t s = 0; s < sets; s++)
    bank[s] = NEW_ARRAY(a, uint16_t, t->accesses.items[s].count);
  for (int step = 0; step < m; step++) {
    memset(merit, 0, f->count * sizeof *merit);
    for (size_t s = 0; s < sets; s++) {
      const bank_access *access = &t->accesses.items[s];
      for (size_t i = 0; i < f->count; i++)
        merit[i] -= (double)access->times *
                    imbalance_of(access, bank[s], UINT32_C(1) << step, f->mask[i], histogram);
    }
    out[step] = f->mask[best_form(f, merit, held)];
    f2_space_insert(&held, out[step]);
    for (size_t s = 0; s < sets; s++)
      for (uint32_t k = 0; k < t->accesses.items[s].count; k++)
        bank[s][k] =
            (uint16_t)(2 * bank[s][k] + f2_dot(t->accesses.items[s].address[k], out[step]));
  }
}

void bits_choose(arena *a, const bank_trace *distinct, uint32_t how, int n, int m, uint64_t *out) {
  forms f = forms_of(a, n, how & BITS_PAIRS);
  (how & BITS_MIH ? choose_mih : choose_givargis)(a, distinct, &f, n, m, out);
}

const char *bank_make_single_bits(arena *a, const bank_layout_request *r, bank_layout *out) {
  f2_matrix bank = f2_zero(bank_layout_bank_bits(r), bank_layout_address_bits(r));
  uint32_t how = out->kind->variant;
  uint64_t n = (uint64_t)bank.columns, m = (uint64_t)bank.rows,
           all = n + (how & BITS_PAIRS ? n * (n - 1) / 2 : 0);
  // Each step looks at all forms, and minimum imbalance at all banks so far, too.
  bank_layout_work each = {.access = all * 2 * r->banks, .address = all * m};
  bank_trace few = bank_layout_thinned(a, r->distinct, each);
  bits_choose(a, &few, how, bank.columns, bank.rows, bank.row);
  bank_layout_from_bank(out, r, bank);
  out->parameters = bank_layout_thinned_text(a, bank_layout_bits_text(a, bank), r->distinct, &few);
  return NULL;
}
