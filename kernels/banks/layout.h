// Bank layouts: where in banked memory the words of an array lie.
//
// A LAYOUT sends an address, 0 .. words-1, to a PLACE, another one for each, whose bank is the
// place mod w. What comes out is still the array, with the words of each row of w in another order:
// whoever writes and reads through the layout sees no difference but the time (banks.h).
//
//   w = 4, a matrix of 4 x 4, its columns and its rows      bank of each word, congestion
//
//     raw            0 1 2 3   fixed-xor   0 1 2 3   RAP       2 3 0 1    rows     1  1  1
//     place = a      0 1 2 3   a ^ a >> 2  1 0 3 2   r =       0 1 2 3    columns  4  1  1
//                    0 1 2 3               2 3 0 1   2 0 3 1   3 0 1 2
//                    0 1 2 3               3 2 1 0             1 2 3 0
//
// Three FORMS serve all of them:
//
//   linear    place = A address, A an invertible matrix over F_2 (core/f2.h); w = 2^m
//             the bank is A's low m rows. Held as shifts: place = sum of (address >> s) & mask
//   shifted   row i of w words turned by a sum of table entries (RAS, RAP): the word at column j
//             is at column (j + sum of shift_k[(address / divisor_k) mod count_k]) mod w
//   padded    place = address + gap (address / w): grows the memory
//
// Each layout is a row of one table, by the name that --layout takes. Some look for parameters that
// suit given accesses; without any they serve rows and columns of a w x w matrix, as above.
//
//   const char *wrong;
//   bank_layout_request r = {.banks = 32, .words = 1024, .seed = 1};
//   bank_layout *l = bank_layout_make(&memory, bank_layout_kind_named("RAP"), &r, &wrong);
//   bank_layout_place(l, 33);                       // in row 1, turned by r_1
//   bank_layout_print_place(&text, l, "rap", "a");  // a - a % 32 + (a + rap_0[a / 32 % 32]) % 32
//
// The accesses of a gather, a scatter or a permutation whose indices are data are not known in
// advance: bank_layout_for_data gives it RAP, whose expected congestion is O(log w / log log w) for
// every access, and 1 for rows and columns (RAP paper, Theorem 2). A kernel finds what it needs in
// bank_layout_matrix, or in the C text of bank_layout_print_*.
//
// Files: layout.c (table, places, text), layout_shift.c (RAS, RAP), layout_hash.c (bit vectors),
// layout_bits.c (bitwise heuristics), layout_optimal.c (common complements).
#ifndef PERMC_KERNELS_BANKS_LAYOUT_H
#define PERMC_KERNELS_BANKS_LAYOUT_H

#include "core/f2.h"
#include "kernels/banks/banks.h"

#define BANK_LAYOUT_DEFAULT "optimal"      // of accesses that are known
#define BANK_LAYOUT_DEFAULT_OF_DATA "RAP"  // of accesses that data decide

enum {
  BANK_LAYOUT_TERMS = 3,
  BANK_LAYOUT_RANDOM_MAX = 1 << 26,  // random numbers of one layout
};

// What a layout is made for.
typedef struct bank_layout_request {
  uint32_t banks;              // w, 1 .. BANKS_MAX
  uint64_t words;              // of the array, 1 .. 2^BANK_ADDRESS_BITS
  const bank_trace *accesses;  // to serve, or NULL; its addresses are less than `words`
  const bank_trace *distinct;  // bank_trace_distinct of them, or NULL: each layout makes it anew
  uint64_t seed;               // of random numbers
} bank_layout_request;

typedef enum bank_layout_form {
  BANK_LAYOUT_LINEAR,
  BANK_LAYOUT_SHIFTED,
  BANK_LAYOUT_PADDED
} bank_layout_form;

// Rows of w words turned by shift[(address / divisor) mod count]. Terms may share their table.
typedef struct bank_layout_term {
  uint64_t divisor, count;
  uint16_t *shift;
  bool permuted;  // each w entries are a permutation of 0 .. w-1; else they are independent
} bank_layout_term;

// One diagonal of a matrix: (address >> shift) & mask, or << -shift.
typedef struct bank_layout_diagonal {
  int shift;
  uint64_t mask;
} bank_layout_diagonal;

typedef struct bank_layout_kind bank_layout_kind;

typedef struct bank_layout {
  const bank_layout_kind *kind;
  uint32_t banks;
  uint64_t words, places;  // no place is `places` or more
  bank_layout_form form;
  uint64_t seed;           // of random kinds
  const char *parameters;  // one line, such as "k1 = 0, k2 = 5, mask = 7"
  // linear
  f2_matrix matrix;
  uint32_t diagonal_count;
  bank_layout_diagonal diagonal[2 * F2_MAX];
  // shifted
  uint32_t term_count;
  bank_layout_term term[BANK_LAYOUT_TERMS];
  // padded
  uint64_t gap;
} bank_layout;

struct bank_layout_kind {
  const char *name, *summary, *source;
  bank_layout_form form;
  bool random, searches;  // it has a seed; it looks at r->accesses and r->distinct, which are there
  bool (*make)(arena *a, const bank_layout_request *r, bank_layout *out, const char **wrong);
};

// ---- the table ---------------------------------------------------------------------------------

const bank_layout_kind *bank_layout_kind_at(size_t index);  // NULL behind the last
const bank_layout_kind *
bank_layout_kind_named(const char *name);  // in either case of letters; or NULL
// "RAP" or "RAP:7": a kind, and the seed, 1 if there is none. NULL: no such kind, no number below
// 2^64, or a seed for a kind that has none.
const bank_layout_kind *bank_layout_kind_and_seed(const char *name, uint64_t *seed);

// NULL: *wrong is a sentence without a full stop, such as "fixed-xor needs a power of two of banks,
// not 24". Everything is in the arena. Deterministic: random numbers come from the seed alone.
bank_layout *bank_layout_make(arena *a, const bank_layout_kind *kind, const bank_layout_request *r,
                              const char **wrong);

// The layout of an array whose accesses are data, such as a gather's: RAP.
bank_layout *bank_layout_for_data(arena *a, uint32_t banks, uint64_t words, uint64_t seed,
                                  const char **wrong);

// Draws the random numbers of a random layout again, from *state, which moves on.
void bank_layout_draw(bank_layout *l, uint64_t *state);
// How many random numbers it holds (RAP paper, Table IV).
uint64_t bank_layout_random_numbers(const bank_layout *l);

// ---- places ------------------------------------------------------------------------------------

// address < l->words.
uint64_t bank_layout_place(const bank_layout *l, uint64_t address);
static inline uint32_t bank_layout_bank(const bank_layout *l, uint64_t address) {
  return (uint32_t)(bank_layout_place(l, address) % l->banks);
}

// place = *out * address, with the bank in the low rows. False: the layout is not linear.
bool bank_layout_matrix(const bank_layout *l, f2_matrix *out);

// 1 <= count <= BANK_LANES_MAX; the counter is for l->banks.
uint32_t bank_layout_congestion(const bank_layout *l, bank_counter *c, uint32_t count,
                                const uint64_t *address);
bank_cost bank_layout_cost(const bank_layout *l, bank_counter *c, const bank_trace *t);

// ---- C text ------------------------------------------------------------------------------------

// Expressions of an unsigned address, an identifier or in parentheses; the tables that they name,
// one declaration per line, begin with `prefix`. None for linear and padded layouts. `storage`
// stands in front of each: "static const", or "__constant__ const" in CUDA.
void bank_layout_print_tables(text *to, const bank_layout *l, const char *storage,
                              const char *prefix);
void bank_layout_print_place(text *to, const bank_layout *l, const char *prefix,
                             const char *address);
void bank_layout_print_bank(text *to, const bank_layout *l, const char *prefix,
                            const char *address);
// How many operations the expression takes, roughly, and its tables: to choose among equals.
uint64_t bank_layout_operations(const bank_layout *l);

#endif
