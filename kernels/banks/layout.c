// The table of layouts; places; C text. See layout.h.
#include "kernels/banks/layout_making.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

// ---- layouts without parameters to look for ----------------------------------------------------

static bool power_of_two(uint64_t x) { return x != 0 && (x & (x - 1)) == 0; }

static bool make_padded(const bank_layout_request *r, bank_layout *out, uint64_t gap) {
  out->form = BANK_LAYOUT_PADDED;
  out->gap = gap;
  out->places = r->words + gap * ((r->words - 1) / r->banks);
  return true;
}

static bool make_raw(arena *a, const bank_layout_request *r, bank_layout *out, const char **wrong) {
  (void)a, (void)wrong;
  out->parameters = "none";
  if (!power_of_two(r->banks))
    return make_padded(r, out, 0);
  f2_matrix bank = f2_zero(bank_layout_bank_bits(r), bank_layout_address_bits(r));
  for (int i = 0; i < bank.rows; i++)
    bank.row[i] = f2_unit(i);
  bank_layout_from_bank(out, r, bank);
  return true;
}

static bool make_padding(arena *a, const bank_layout_request *r, bank_layout *out,
                         const char **wrong) {
  (void)wrong;
  out->parameters = arena_printf(a, "1 word after every %" PRIu32, r->banks);
  return make_padded(r, out, 1);
}

static bool make_fixed_xor(arena *a, const bank_layout_request *r, bank_layout *out,
                           const char **wrong) {
  (void)wrong;
  f2_matrix bank = f2_zero(bank_layout_bank_bits(r), bank_layout_address_bits(r));
  for (int i = 0; i < bank.rows; i++)
    bank.row[i] = (f2_unit(i) | f2_unit(i + bank.rows)) & f2_mask(bank.columns);
  bank_layout_from_bank(out, r, bank);
  out->parameters = bank_layout_bits_text(a, bank);
  return true;
}

// ---- the table ---------------------------------------------------------------------------------

static const char rap[] = "RAP paper, section IV", rap_higher[] = "RAP paper, section VII";

// RAP of larger arrays is the paper's own choice, 3P.
static const bank_layout_kind kinds[] = {
    {"raw", "a word lies where its address says", "RAP paper, section I", BANK_LAYOUT_LINEAR, false,
     false, make_raw},
    {"padding", "one word is left free after each row of w", "Hash paper, section 7.2",
     BANK_LAYOUT_PADDED, false, false, make_padding},
    {"RAS", "each row is turned by a random number", "RAP paper, section I", BANK_LAYOUT_SHIFTED,
     true, false, bank_layout_make_ras},
    {"RAP", "w rows are turned by a random permutation; of more than w x w words: 3P", rap,
     BANK_LAYOUT_SHIFTED, true, false, bank_layout_make_3p},
    {"1P", "one permutation, the same for each w rows", rap_higher, BANK_LAYOUT_SHIFTED, true,
     false, bank_layout_make_1p},
    {"R1P", "the sum of one permutation at three digits of the row", rap_higher,
     BANK_LAYOUT_SHIFTED, true, false, bank_layout_make_r1p},
    {"3P", "the sum of three permutations, one for each digit of the row", rap_higher,
     BANK_LAYOUT_SHIFTED, true, false, bank_layout_make_3p},
    {"w2P", "another permutation for each w rows", rap_higher, BANK_LAYOUT_SHIFTED, true, false,
     bank_layout_make_w2p},
    {"1Pw2R", "one permutation, and a random number for each w rows", rap_higher,
     BANK_LAYOUT_SHIFTED, true, false, bank_layout_make_1pw2r},
    {"fixed-xor", "bank = the column, XOR the row", "Hash paper, section 7.1", BANK_LAYOUT_LINEAR,
     false, false, make_fixed_xor},
    {"bit-vector", "bank = neighbouring bits of the address, found by trying all",
     "Hash paper, section 4.1", BANK_LAYOUT_LINEAR, false, true,
     bank_layout_make_vector_permutation},
    {"bit-vector-xor", "bank = two runs of neighbouring bits XORed, found by a pruned search",
     "Hash paper, sections 4.2 and 5.1", BANK_LAYOUT_LINEAR, false, true,
     bank_layout_make_vector_xor},
    {"bitwise-givargis", "bank = single bits of the address, by Givargis's heuristic",
     "Hash paper, sections 4.3 and 5.2.1", BANK_LAYOUT_LINEAR, false, true,
     bank_layout_make_bits_givargis},
    {"bitwise-mih", "bank = single bits, by the minimum imbalance heuristic",
     "Hash paper, sections 4.3 and 5.2.2", BANK_LAYOUT_LINEAR, false, true,
     bank_layout_make_bits_mih},
    {"bitwise-xor-givargis", "bank = XORs of two bits or single bits, by Givargis's heuristic",
     "Hash paper, sections 4.4 and 5.2.1", BANK_LAYOUT_LINEAR, false, true,
     bank_layout_make_xor_givargis},
    {"bitwise-xor-mih", "bank = XORs of two bits or single bits, by minimum imbalance",
     "Hash paper, sections 4.4 and 5.2.2", BANK_LAYOUT_LINEAR, false, true,
     bank_layout_make_xor_mih},
    {"optimal", "bank = the array modulo a common complement of all lanes", "layout_optimal.c",
     BANK_LAYOUT_LINEAR, false, true, bank_layout_make_optimal},
};

const bank_layout_kind *bank_layout_kind_at(size_t index) {
  return index < sizeof kinds / sizeof *kinds ? &kinds[index] : NULL;
}

const bank_layout_kind *bank_layout_kind_named(const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcasecmp(kinds[i].name, name) == 0)
      return &kinds[i];
  return NULL;
}

const bank_layout_kind *bank_layout_kind_and_seed(const char *name, uint64_t *seed) {
  const char *colon = strchr(name, ':');
  size_t length = colon ? (size_t)(colon - name) : strlen(name);
  char name_alone[32], *end = NULL;
  *seed = 1;
  if (length >= sizeof name_alone)
    return NULL;
  memcpy(name_alone, name, length);
  name_alone[length] = 0;
  const bank_layout_kind *kind = bank_layout_kind_named(name_alone);
  if (!kind || !colon)
    return kind;
  if (!kind->random || colon[1] < '0' || colon[1] > '9')
    return NULL;
  errno = 0;
  uint64_t value = strtoull(colon + 1, &end, 10);
  if (*end || errno == ERANGE)
    return NULL;
  *seed = value;
  return kind;
}

// ---- making ------------------------------------------------------------------------------------

int bank_layout_bank_bits(const bank_layout_request *r) { return f2_msb(r->banks); }

int bank_layout_address_bits(const bank_layout_request *r) {
  int n = r->words > 1 ? f2_msb(r->words - 1) + 1 : 0, m = bank_layout_bank_bits(r);
  return n > m ? n : m;
}

// The rows and the columns of the w x w matrix at address 0, as far as the array has them.
static bank_trace rows_and_columns(arena *a, const bank_layout_request *r) {
  bank_trace t = {0};
  uint64_t *address = NEW_ARRAY(a, uint64_t, r->banks);
  for (uint64_t stride = 1; stride <= r->banks; stride += r->banks > 1 ? r->banks - 1 : 1) {
    uint32_t count = 0;
    while (count < r->banks && count * stride < r->words) {
      address[count] = count * stride;
      count++;
    }
    bank_trace_add(a, &t, count, address);
  }
  return t;
}

static const bank_access *one_of(const bank_trace *t, size_t i, size_t kept) {
  return &t->accesses.items[i * t->accesses.count / kept];
}

// The work of so many of the accesses, evenly spread.
static uint64_t work_of(const bank_trace *t, size_t kept, bank_layout_work each) {
  uint64_t work = 0;
  for (size_t i = 0; i < kept; i++) {
    uint64_t count = one_of(t, i, kept)->count;
    work += each.access + count * each.address + count * (count - 1) / 2 * each.pair;
  }
  return work;
}

// An access whose own work is too much: addresses evenly spread, the first among them.
static bank_access cut(arena *a, const bank_access *from, bank_layout_work each) {
  bank_access out = {.times = from->times, .count = from->count};
  uint64_t per_address = each.address + from->count / 2 * each.pair,
           room =
               each.access < BANK_LAYOUT_WORK ? (BANK_LAYOUT_WORK - each.access) / per_address : 0;
  out.count = room < 2 ? 2 : room < from->count ? (uint32_t)room : from->count;
  uint64_t *address = NEW_ARRAY(a, uint64_t, out.count);
  for (uint32_t i = 0; i < out.count; i++)
    address[i] = from->address[(uint64_t)i * from->count / out.count];
  out.address = address;
  return out;
}

bank_trace bank_layout_thinned(arena *a, const bank_trace *distinct, bank_layout_work each) {
  size_t count = distinct->accesses.count,
         kept = count < BANK_LAYOUT_SEARCHED ? count : BANK_LAYOUT_SEARCHED;
  uint64_t work = work_of(distinct, kept, each);
  while (work > BANK_LAYOUT_WORK &&
         kept > 1) {  // kept falls each time: work / kept > BANK_LAYOUT_WORK / kept
    kept = (size_t)((double)kept * BANK_LAYOUT_WORK / (double)work);
    kept = kept ? kept : 1;
    work = work_of(distinct, kept, each);
  }
  if (kept == count && work <= BANK_LAYOUT_WORK)
    return *distinct;
  bank_trace out = {.words = distinct->words, .lanes = distinct->lanes};
  for (size_t i = 0; i < kept; i++) {
    bank_access one = *one_of(distinct, i, kept);
    if (work > BANK_LAYOUT_WORK && one.count > 2)
      one = cut(a, &one, each);
    vec_push(a, &out.accesses, one);
  }
  return out;
}

const char *bank_layout_thinned_text(arena *a, const char *parameters, const bank_trace *distinct,
                                     const bank_trace *few) {
  size_t all = distinct->accesses.count, kept = few->accesses.count;
  bool in_part = kept == 1 && few->accesses.items[0].count < distinct->accesses.items[0].count;
  if (kept == all && !in_part)
    return parameters;
  return arena_printf(a, "%s; searched %s%zu of %zu different accesses", parameters,
                      in_part ? "a part of " : "", kept, all);
}

bank_layout *bank_layout_make(arena *a, const bank_layout_kind *kind, const bank_layout_request *r,
                              const char **wrong) {
  bank_layout_request own = *r;
  bank_trace usual, distinct;
  *wrong = NULL;
  if (r->banks < 1 || r->banks > BANKS_MAX)
    *wrong = arena_printf(a, "a memory has 1 to %d banks, not %" PRIu32, BANKS_MAX, r->banks);
  else if (r->words < 1 || r->words > f2_unit(BANK_ADDRESS_BITS))
    *wrong =
        arena_printf(a, "an array has 1 to 2^%d words, not %" PRIu64, BANK_ADDRESS_BITS, r->words);
  else if (kind->form == BANK_LAYOUT_LINEAR && !power_of_two(r->banks) && kind->make != make_raw)
    *wrong =
        arena_printf(a, "%s needs a power of two of banks, not %" PRIu32, kind->name, r->banks);
  else if (r->accesses && r->accesses->words > r->words)
    *wrong = arena_printf(a, "an array of %" PRIu64 " words has no address %" PRIu64, r->words,
                          r->accesses->words - 1);
  if (*wrong)
    return NULL;
  if (kind->searches && !own.accesses) {
    usual = rows_and_columns(a, r);
    own.accesses = &usual;
  }
  bank_layout *l = NEW(a, bank_layout);
  *l = (bank_layout){.kind = kind, .banks = r->banks, .words = r->words, .seed = r->seed};
  if (kind->searches && !own.distinct) {
    distinct = bank_trace_distinct(a, own.accesses);
    own.distinct = &distinct;
  }
  return kind->make(a, &own, l, wrong) ? l : NULL;
}

bank_layout *bank_layout_for_data(arena *a, uint32_t banks, uint64_t words, uint64_t seed,
                                  const char **wrong) {
  bank_layout_request r = {.banks = banks, .words = words, .seed = seed};
  return bank_layout_make(a, bank_layout_kind_named(BANK_LAYOUT_DEFAULT_OF_DATA), &r, wrong);
}

// ---- linear layouts ----------------------------------------------------------------------------

// The diagonals of rows [first, end) of a matrix, in order of their shifts from the lowest on.
static uint32_t diagonals_of(f2_matrix a, int first, int end, bank_layout_diagonal *out) {
  uint32_t count = 0;
  for (int s = 1 - a.rows; s < a.columns; s++) {
    uint64_t mask = 0;
    for (int i = first; i < end; i++)
      if (i + s >= 0 && i + s < a.columns && f2_bit(a.row[i], i + s))
        mask |= f2_unit(i);
    if (mask)
      out[count++] = (bank_layout_diagonal){s, mask};
  }
  return count;
}

static inline uint64_t along(bank_layout_diagonal d, uint64_t x) {
  return (d.shift >= 0 ? x >> d.shift : x << -d.shift) & d.mask;
}

// One more than the largest place of an address below `words`. These are, for each one of `words`,
// what has its higher bits, there a zero, and any lower bits: a coset, as is its image.
static uint64_t places_of(f2_matrix a, uint64_t words) {
  uint64_t most = 0;
  for (uint64_t rest = words; rest; rest &= rest - 1) {
    int bit = f2_lsb(rest);
    f2_space low = f2_space_units(a.columns, f2_mask(bit)), image = f2_space_image(a, low);
    uint64_t place = f2_apply(a, (rest ^ f2_unit(bit)) & f2_mask(a.columns));
    for (int i = image.dimension - 1; i >= 0; i--)
      place = (place ^ image.basis[i]) > place ? place ^ image.basis[i] : place;
    most = place > most ? place : most;
  }
  return most + 1;
}

// Of unit vectors that complement the bank's rows the highest serve: where a bank bit is e_i + a
// higher one, all bits from m on stay where they are.
void bank_layout_from_bank(bank_layout *out, const bank_layout_request *r, f2_matrix bank) {
  int n = bank.columns, m = bank.rows, low = m;
  f2_space held = f2_span(n, m, bank.row);
  assert(held.dimension == m);
  uint64_t single = 0;
  for (int i = n - 1; i >= 0; i--)
    if (f2_space_insert(&held, f2_unit(i)))
      single |= f2_unit(i);
  f2_matrix place = f2_zero(n, n);
  memcpy(place.row, bank.row, (size_t)m * sizeof *bank.row);
  for (int i = m; i < n; i++)
    if (f2_bit(single, i))
      place.row[i] = f2_unit(i);
  for (uint64_t rest = single & f2_mask(m); rest; rest &= rest - 1) {
    while (place.row[low])
      low++;
    place.row[low] = f2_unit(f2_lsb(rest));
  }
  out->form = BANK_LAYOUT_LINEAR;
  out->places = places_of(place, r->words);
  out->matrix = place;
  out->diagonal_count = diagonals_of(place, 0, n, out->diagonal);
}

const char *bank_layout_bits_text(arena *a, f2_matrix bank) {
  char *all = arena_copy(a, "", 0);
  if (bank.rows == 0)
    return "none";
  for (int i = 0; i < bank.rows; i++) {
    all = arena_printf(a, "%s%s(", all, i ? " " : "");
    for (uint64_t rest = bank.row[i]; rest; rest &= rest - 1)
      all = arena_printf(a, "%s%d%s", all, f2_lsb(rest), rest & (rest - 1) ? "^" : ")");
  }
  return all;
}

bool bank_layout_matrix(const bank_layout *l, f2_matrix *out) {
  if (l->form != BANK_LAYOUT_LINEAR)
    return false;
  *out = l->matrix;
  return true;
}

// ---- places ------------------------------------------------------------------------------------

static inline uint64_t place_shifted(const bank_layout *l, uint64_t address) {
  uint64_t turn = address;
  if (l->banks & (l->banks - 1)) {
    for (uint32_t k = 0; k < l->term_count; k++)
      turn += l->term[k].shift[address / l->term[k].divisor % l->term[k].count];
    return address - address % l->banks + turn % l->banks;
  }
  // Divisors are powers of w then; a count that is none is that of all rows.
  for (uint32_t k = 0; k < l->term_count; k++) {
    const bank_layout_term *t = &l->term[k];
    uint64_t at = address >> __builtin_ctzll(t->divisor);
    turn += t->shift[t->count & (t->count - 1) ? at : at & (t->count - 1)];
  }
  uint64_t column = l->banks - 1;
  return (address & ~column) | (turn & column);
}

uint64_t bank_layout_place(const bank_layout *l, uint64_t address) {
  uint64_t place = 0;
  assert(address < l->words);
  switch (l->form) {
  case BANK_LAYOUT_LINEAR:
    for (uint32_t i = 0; i < l->diagonal_count; i++)
      place ^= along(l->diagonal[i], address);
    return place;
  case BANK_LAYOUT_SHIFTED:
    return place_shifted(l, address);
  case BANK_LAYOUT_PADDED:
    break;
  }
  return address + l->gap * (address / l->banks);
}

uint32_t bank_layout_congestion(const bank_layout *l, bank_counter *c, uint32_t count,
                                const uint64_t *address) {
  uint64_t place[BANK_LANES_MAX];
  assert(count <= BANK_LANES_MAX);
  for (uint32_t i = 0; i < count; i++)
    place[i] = bank_layout_place(l, address[i]);
  return bank_congestion(c, count, place);
}

bank_cost bank_layout_cost(const bank_layout *l, bank_counter *c, const bank_trace *t) {
  bank_cost cost = {0};
  for (size_t i = 0; i < t->accesses.count; i++) {
    const bank_access *access = &t->accesses.items[i];
    uint32_t congestion = bank_layout_congestion(l, c, access->count, access->address);
    cost.accesses += access->times;
    cost.units += access->times * congestion;
    cost.worst = congestion > cost.worst ? congestion : cost.worst;
  }
  return cost;
}

// ---- C text ------------------------------------------------------------------------------------

// The first term with that table: its number names it.
static uint32_t table_of(const bank_layout *l, uint32_t k) {
  uint32_t first = 0;
  while (l->term[first].shift != l->term[k].shift)
    first++;
  return first;
}

void bank_layout_print_tables(text *to, const bank_layout *l, const char *storage,
                              const char *prefix) {
  for (uint32_t k = 0; k < l->term_count; k++) {
    if (table_of(l, k) != k)
      continue;
    text_printf(to, "%s unsigned short %s_%" PRIu32 "[%" PRIu64 "] = {", storage, prefix, k,
                l->term[k].count);
    for (uint64_t i = 0; i < l->term[k].count; i++)
      text_printf(to, "%s%u", i ? ", " : "", l->term[k].shift[i]);
    text_string(to, "};\n");
  }
}

// Of n bits a diagonal that is full needs no mask.
static void print_diagonal(text *to, bank_layout_diagonal d, int n, const char *address) {
  bool whole = d.shift >= 0 && d.mask == f2_mask(n - d.shift);
  text_printf(to, "%s%s", whole && d.shift == 0 ? "" : "(", address);
  if (d.shift)
    text_printf(to, " %s %d", d.shift > 0 ? ">>" : "<<", d.shift > 0 ? d.shift : -d.shift);
  if (!whole)
    text_printf(to, d.mask > 9 ? " & 0x%" PRIx64 : " & %" PRIu64, d.mask);
  text_string(to, whole && d.shift == 0 ? "" : ")");
}

static void print_diagonals(text *to, const bank_layout_diagonal *d, uint32_t count, int n,
                            const char *address) {
  for (uint32_t i = 0; i < count; i++) {
    text_string(to, i ? " ^ " : "");
    print_diagonal(to, d[i], n, address);
  }
  if (count == 0)
    text_string(to, "0");
}

// What the columns of address are turned by.
static void print_turned(text *to, const bank_layout *l, const char *prefix, const char *address) {
  text_printf(to, "(%s", address);
  for (uint32_t k = 0; k < l->term_count; k++)
    text_printf(to, " + %s_%" PRIu32 "[%s / %" PRIu64 " %% %" PRIu64 "]", prefix, table_of(l, k),
                address, l->term[k].divisor, l->term[k].count);
  text_printf(to, ") %% %" PRIu32, l->banks);
}

static void print_padded(text *to, const bank_layout *l, const char *address) {
  text_string(to, address);
  if (l->gap)
    text_printf(to, " + %s / %" PRIu32, address, l->banks);
}

void bank_layout_print_place(text *to, const bank_layout *l, const char *prefix,
                             const char *address) {
  switch (l->form) {
  case BANK_LAYOUT_LINEAR:
    print_diagonals(to, l->diagonal, l->diagonal_count, l->matrix.columns, address);
    break;
  case BANK_LAYOUT_SHIFTED:
    text_printf(to, "%s - %s %% %" PRIu32 " + ", address, address, l->banks);
    print_turned(to, l, prefix, address);
    break;
  case BANK_LAYOUT_PADDED:
    print_padded(to, l, address);
    break;
  }
}

void bank_layout_print_bank(text *to, const bank_layout *l, const char *prefix,
                            const char *address) {
  bank_layout_diagonal d[2 * F2_MAX];
  switch (l->form) {
  case BANK_LAYOUT_LINEAR:
    print_diagonals(to, d, diagonals_of(l->matrix, 0, f2_msb(l->banks), d), l->matrix.columns,
                    address);
    break;
  case BANK_LAYOUT_SHIFTED:
    print_turned(to, l, prefix, address);
    break;
  case BANK_LAYOUT_PADDED:
    text_string(to, "(");
    print_padded(to, l, address);
    text_printf(to, ") %% %" PRIu32, l->banks);
    break;
  }
}

uint64_t bank_layout_operations(const bank_layout *l) {
  uint64_t count = l->form == BANK_LAYOUT_LINEAR ? l->diagonal_count : l->gap ? 2 : 1;
  return l->form == BANK_LAYOUT_SHIFTED ? 8 + 4 * l->term_count + bank_layout_random_numbers(l)
                                        : count;
}
