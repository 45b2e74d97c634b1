// The table of layouts, and making one. See banks.h.
#include "kernels/banks/making.h"

#include "core/number.h"

#include <errno.h>
#include <inttypes.h>
#include <strings.h>

// ---- layouts without a search ------------------------------------------------------------------

// Leaves `variant` words free after each row.
static const char *make_padded(arena *a, const bank_layout_request *r, bank_layout *out) {
  out->form = BANK_LAYOUT_PADDED;
  out->gap = out->kind->variant;
  out->places = r->words + out->gap * ((r->words - 1) / r->banks);
  out->parameters = out->gap ? arena_printf(a, "1 word after every %" PRIu32, r->banks) : "none";
  return NULL;
}

static const char *make_raw(arena *a, const bank_layout_request *r, bank_layout *out) {
  if (!is_power_of_two(r->banks))
    return make_padded(a, r, out);
  f2_matrix bank = f2_zero(bank_layout_bank_bits(r), bank_layout_address_bits(r));
  for (int i = 0; i < bank.rows; i++)
    bank.row[i] = f2_unit(i);
  bank_layout_from_bank(out, r, bank);
  out->parameters = "none";
  return NULL;
}

static const char *make_fixed_xor(arena *a, const bank_layout_request *r, bank_layout *out) {
  f2_matrix bank = f2_zero(bank_layout_bank_bits(r), bank_layout_address_bits(r));
  for (int i = 0; i < bank.rows; i++)
    bank.row[i] = (f2_unit(i) | f2_unit(i + bank.rows)) & f2_mask(bank.columns);
  bank_layout_from_bank(out, r, bank);
  out->parameters = bank_layout_bits_text(a, bank);
  return NULL;
}

// ---- optimal -----------------------------------------------------------------------------------

// The search of optimal.c says nothing of addresses that are no subspace, such as diagonals, but in
// pairs: another linear row of the table may do better. The first of the best rows, as they become
// more intricate.
static void try_other_rows(arena *a, const bank_layout_request *r, bank_choice *best) {
  const bank_layout_kind *kind;
  for (size_t i = 0; best->conflicts > 0 && (kind = bank_layout_kind_at(i)); i++) {
    bank_layout other = {.kind = kind, .banks = r->banks, .words = r->words, .seed = r->seed};
    if (kind->form != BANK_LAYOUT_LINEAR || !strcmp(kind->name, "optimal") ||
        kind->make(a, r, &other))
      continue;
    f2_matrix bank = f2_from_rows(bank_layout_bank_bits(r), other.matrix.columns, other.matrix.row);
    uint64_t conflicts = bank_conflicts_of_matrix(r->distinct, &bank);
    if (conflicts < best->conflicts) {
      best->bank = bank;
      best->conflicts = conflicts;
      best->how = arena_printf(a, "; as %s", kind->name);
    }
  }
}

static const char *make_optimal(arena *a, const bank_layout_request *r, bank_layout *out) {
  bank_choice best = bank_search_optimal(a, r);
  try_other_rows(a, r, &best);
  bank_layout_from_bank(out, r, best.bank);
  const char *left = best.conflicts == 0 ? "no conflict"
                     : best.conflicts == 1
                         ? "1 conflict was left"
                         : arena_printf(a, "%" PRIu64 " conflicts were left", best.conflicts);
  const char *bits =
      arena_printf(a, "%s; %s%s", bank_layout_bits_text(a, best.bank), left, best.how);
  out->parameters = bank_layout_thinned_text(a, bits, r->distinct, &best.searched);
  return NULL;
}

// ---- the table ---------------------------------------------------------------------------------

#define LINEAR BANK_LAYOUT_LINEAR
#define ROTATED BANK_LAYOUT_ROTATED
static const char higher[] = "RAP paper, section VII";

// RAP of larger arrays is the paper's own choice, 3P.
static const bank_layout_kind kinds[] = {
    {"raw", "a word lies where its address says", "RAP paper, section I", LINEAR, false, make_raw,
     0},
    {"padding", "one word is left free after each row of w", "Hash paper, section 7.2",
     BANK_LAYOUT_PADDED, false, make_padded, 1},
    {"RAS", "each row is rotated by a random number", "RAP paper, section I", ROTATED, false,
     bank_make_rotated, BANK_ROTATE_RAS},
    {"RAP", "w rows are rotated by a random permutation; of more than w x w words: 3P",
     "RAP paper, section IV", ROTATED, false, bank_make_rotated, BANK_ROTATE_3P},
    {"1P", "one permutation, the same for each w rows", higher, ROTATED, false, bank_make_rotated,
     BANK_ROTATE_1P},
    {"R1P", "the sum of one permutation at three digits of the row", higher, ROTATED, false,
     bank_make_rotated, BANK_ROTATE_R1P},
    {"3P", "the sum of three permutations, one for each digit of the row", higher, ROTATED, false,
     bank_make_rotated, BANK_ROTATE_3P},
    {"w2P", "another permutation for each w rows", higher, ROTATED, false, bank_make_rotated,
     BANK_ROTATE_W2P},
    {"1Pw2R", "one permutation, and a random number for each w rows", higher, ROTATED, false,
     bank_make_rotated, BANK_ROTATE_1PW2R},
    {"fixed-xor", "bank = the column, XOR the row", "Hash paper, section 7.1", LINEAR, false,
     make_fixed_xor, 0},
    {"bit-vector", "bank = neighbouring bits of the address, found by trying all",
     "Hash paper, section 4.1", LINEAR, true, bank_make_bit_vector, 0},
    {"bit-vector-xor", "bank = two runs of neighbouring bits XORed, found by a pruned search",
     "Hash paper, sections 4.2 and 5.1", LINEAR, true, bank_make_bit_vector_xor, 0},
    {"bitwise-givargis", "bank = single bits of the address, by Givargis's heuristic",
     "Hash paper, sections 4.3 and 5.2.1", LINEAR, true, bank_make_single_bits, BITS_GIVARGIS},
    {"bitwise-mih", "bank = single bits, by the minimum imbalance heuristic",
     "Hash paper, sections 4.3 and 5.2.2", LINEAR, true, bank_make_single_bits, BITS_MIH},
    {"bitwise-xor-givargis", "bank = XORs of two bits or single bits, by Givargis's heuristic",
     "Hash paper, sections 4.4 and 5.2.1", LINEAR, true, bank_make_single_bits,
     BITS_GIVARGIS | BITS_PAIRS},
    {"bitwise-xor-mih", "bank = XORs of two bits or single bits, by minimum imbalance",
     "Hash paper, sections 4.4 and 5.2.2", LINEAR, true, bank_make_single_bits,
     BITS_MIH | BITS_PAIRS},
    {"optimal", "bank = the array modulo a common complement of all lanes",
     "kernels/banks/optimal.c", LINEAR, true, make_optimal, 0},
};

const bank_layout_kind *bank_layout_kind_at(size_t index) {
  return index < sizeof kinds / sizeof *kinds ? &kinds[index] : NULL;
}

// The row with a name of that length.
static const bank_layout_kind *find_kind(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strlen(kinds[i].name) == length && strncasecmp(kinds[i].name, name, length) == 0)
      return &kinds[i];
  return NULL;
}

const bank_layout_kind *bank_layout_kind_named(const char *name) {
  return find_kind(name, strlen(name));
}

const bank_layout_kind *bank_layout_kind_and_seed(const char *name, uint64_t *seed) {
  size_t length = strcspn(name, ":");
  const bank_layout_kind *kind = find_kind(name, length);
  *seed = 1;
  if (!kind || !name[length])
    return kind;
  const char *digits = name + length + 1;
  char *end;
  errno = 0;
  uint64_t value = strtoull(digits, &end, 10);
  if (kind->form != ROTATED || *digits < '0' || *digits > '9' || *end || errno == ERANGE)
    return NULL;
  *seed = value;
  return kind;
}

// ---- making ------------------------------------------------------------------------------------

// The rows and the columns of the w x w matrix at address 0, as far as the array has them.
static bank_trace rows_and_columns(arena *a, const bank_layout_request *r) {
  bank_trace t = {0};
  uint64_t *address = NEW_ARRAY(a, uint64_t, r->banks);
  for (uint64_t stride = 1; stride <= r->banks; stride += r->banks > 1 ? r->banks - 1 : 1) {
    uint32_t count = 0;
    for (; count < r->banks && count * stride < r->words; count++)
      address[count] = count * stride;
    bank_trace_add(a, &t, count, address);
  }
  return t;
}

// NULL, or why there is no such layout.
static const char *request_problem(arena *a, const bank_layout_kind *kind,
                                   const bank_layout_request *r) {
  if (r->banks < 1 || r->banks > BANKS_MAX)
    return arena_printf(a, "a memory has 1 to %d banks, not %" PRIu32, BANKS_MAX, r->banks);
  if (r->words < 1 || r->words > f2_unit(BANK_ADDRESS_BITS))
    return arena_printf(a, "an array has 1 to 2^%d words, not %" PRIu64, BANK_ADDRESS_BITS,
                        r->words);
  if (kind->form == LINEAR && !is_power_of_two(r->banks) && kind->make != make_raw)
    return arena_printf(a, "%s needs a power of two of banks, not %" PRIu32, kind->name, r->banks);
  if (r->accesses && r->accesses->words > r->words)
    return arena_printf(a, "an array of %" PRIu64 " words has no address %" PRIu64, r->words,
                        r->accesses->words - 1);
  return NULL;
}

bank_layout *bank_layout_make(arena *a, const bank_layout_kind *kind, const bank_layout_request *r,
                              const char **wrong) {
  bank_layout_request own = *r;
  bank_trace accesses, distinct;
  *wrong = request_problem(a, kind, r);
  if (*wrong)
    return NULL;
  if (kind->searches && !own.accesses) {
    accesses = rows_and_columns(a, r);
    own.accesses = &accesses;
  }
  if (kind->searches && !own.distinct) {
    distinct = bank_trace_distinct(a, own.accesses);
    own.distinct = &distinct;
  }
  bank_layout *l = NEW(a, bank_layout);
  *l = (bank_layout){
      .kind = kind, .form = kind->form, .banks = r->banks, .words = r->words, .seed = r->seed};
  *wrong = kind->make(a, &own, l);
  return *wrong ? NULL : l;
}

bank_layout *bank_layout_for_data(arena *a, uint32_t banks, uint64_t words, uint64_t seed,
                                  const char **wrong) {
  bank_layout_request r = {.banks = banks, .words = words, .seed = seed};
  return bank_layout_make(a, bank_layout_kind_named(BANK_LAYOUT_DEFAULT_OF_DATA), &r, wrong);
}
