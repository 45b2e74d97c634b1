// Places of words under a layout, what accesses then cost, and the C text of both. See banks.h.
#include "kernels/banks/making.h"

#include <assert.h>
#include <inttypes.h>

// ---- linear layouts ----------------------------------------------------------------------------

int bank_layout_bank_bits(const bank_layout_request *r) { return f2_msb(r->banks); }

int bank_layout_address_bits(const bank_layout_request *r) {
  int n = r->words > 1 ? f2_msb(r->words - 1) + 1 : 0, m = bank_layout_bank_bits(r);
  return n > m ? n : m;
}

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

static inline uint64_t apply_diagonal(bank_layout_diagonal d, uint64_t x) {
  return (d.shift >= 0 ? x >> d.shift : x << -d.shift) & d.mask;
}

// One more than the largest place of an address below `words`. These are, for each one of `words`,
// what has its higher bits, there a zero, and any lower bits: a coset, as is its image.
static uint64_t count_places(f2_matrix a, uint64_t words) {
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
  out->places = count_places(place, r->words);
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

// ---- places ------------------------------------------------------------------------------------

static inline uint64_t rotated_place(const bank_layout *l, uint64_t address) {
  uint64_t column = address;
  if (l->banks & (l->banks - 1)) {
    for (uint32_t k = 0; k < l->term_count; k++)
      column += l->term[k].shift[address / l->term[k].divisor % l->term[k].count];
    return address - address % l->banks + column % l->banks;
  }
  // Divisors are powers of w then; a count that is none is that of all rows.
  for (uint32_t k = 0; k < l->term_count; k++) {
    const bank_layout_term *t = &l->term[k];
    uint64_t at = address >> __builtin_ctzll(t->divisor);
    column += t->shift[t->count & (t->count - 1) ? at : at & (t->count - 1)];
  }
  uint64_t mask = l->banks - 1;
  return (address & ~mask) | (column & mask);
}

uint64_t bank_layout_place(const bank_layout *l, uint64_t address) {
  uint64_t place = 0;
  assert(address < l->words);
  switch (l->form) {
  case BANK_LAYOUT_LINEAR:
    for (uint32_t i = 0; i < l->diagonal_count; i++)
      place ^= apply_diagonal(l->diagonal[i], address);
    return place;
  case BANK_LAYOUT_ROTATED:
    return rotated_place(l, address);
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
static uint32_t table_number(const bank_layout *l, uint32_t k) {
  uint32_t first = 0;
  while (l->term[first].shift != l->term[k].shift)
    first++;
  return first;
}

void bank_layout_print_tables(text *to, const bank_layout *l, const char *storage,
                              const char *prefix) {
  for (uint32_t k = 0; k < l->term_count; k++) {
    if (table_number(l, k) != k)
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

// The column of address in its rotated row.
static void print_rotated_column(text *to, const bank_layout *l, const char *prefix,
                                 const char *address) {
  text_printf(to, "(%s", address);
  for (uint32_t k = 0; k < l->term_count; k++)
    text_printf(to, " + %s_%" PRIu32 "[%s / %" PRIu64 " %% %" PRIu64 "]", prefix,
                table_number(l, k), address, l->term[k].divisor, l->term[k].count);
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
  case BANK_LAYOUT_ROTATED:
    text_printf(to, "%s - %s %% %" PRIu32 " + ", address, address, l->banks);
    print_rotated_column(to, l, prefix, address);
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
  case BANK_LAYOUT_ROTATED:
    print_rotated_column(to, l, prefix, address);
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
  return l->form == BANK_LAYOUT_ROTATED ? 8 + 4 * l->term_count + bank_layout_random_numbers(l)
                                        : count;
}
