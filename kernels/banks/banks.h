// The door of kernels/banks: accesses of warps to banked memory, what they cost, and bank layouts,
// which say where the words of an array lie so that the accesses cost less.
//
//   in     accesses (addresses of words, by thread), and the number of banks
//   out    their congestion and their pattern; layouts: places, costs, C text
//
// Memory has w BANKS; the word at place p is in bank p mod w. The threads of a WARP ask for one
// word each, at the same time. Requests for one word are one request; different words of one bank
// are served one after the other. The CONGESTION of an access is the largest number of different
// words in one bank: the time that it takes, in units of an access without conflicts (RAP paper,
// section II). Its CONFLICTS are its congestion less 1: what a better layout would save.
//
//   w = 4, places   4  5  6  7    words in bank 0 1 2 3    congestion
//                                               -------
//                   1  5  9 13                  . 4 . .    4
//                   4  5  6  7                  1 1 1 1    1
//                   5  5  5  5                  . 1 . .    1
//                   7  5 15  0                  1 1 . 2    2
//
// A LAYOUT sends an address, 0 ... words - 1, to a PLACE, a different one for each. The array stays
// the same; who writes and reads through the layout notices only the time.
//
//   w = 4, a matrix of 4 x 4: bank of each word, by row     congestion of   rows   columns
//
//     raw          fixed-xor       RAP
//     place = a    a ^ a >> 2      r = 2 0 3 1                 raw            1        4
//
//     0 1 2 3      0 1 2 3         2 3 0 1                     fixed-xor      1        1
//     0 1 2 3      1 0 3 2         0 1 2 3                     RAP            1        1
//     0 1 2 3      2 3 0 1         3 0 1 2
//     0 1 2 3      3 2 1 0         1 2 3 0
//
// Layouts have three FORMS:
//
//   linear    place = A address, A an invertible matrix over F_2 (core/f2.h); w = 2^m, and the bank
//             is given by A's low m rows. Computed with shifts: the XOR of (address >> s) & mask
//   rotated   row i of w words is rotated by a sum of table entries (RAS, RAP): the word of column
//             j goes to column (j + sum of shift_k[(address / divisor_k) mod count_k]) mod w
//   padded    place = address + gap (address / w), which takes more memory
//
// Each layout is a row of one table (table.c), by the name that --layout takes. Some search for
// parameters that suit given accesses; without accesses they serve the rows and columns of a w x w
// matrix, as above.
//
//   const char *wrong;
//   bank_layout_request r = {.banks = 32, .words = 1024, .seed = 1};
//   bank_layout *l = bank_layout_make(&memory, bank_layout_kind_named("RAP"), &r, &wrong);
//   bank_layout_place(l, 33);                       // in row 1, rotated by r_1
//   bank_layout_print_place(&text, l, "rap", "a");  // a - a % 32 + (a + rap_0[a / 32 % 32]) % 32
//
// Addresses are numbers of words. Files, in reading order:
//
//   banks.c        traces; congestion
//   pattern.c      classes of accesses
//   layout.c       places, costs, C text
//   table.c        the table of layouts; making one
//   making.h       private: what the files below share
//   rotated.c      RAS and RAP, in two and more dimensions
//   thinning.c     what a search looks at when there are too many accesses
//   bit_vectors.c  the bank is a run of address bits, or the XOR of two (search.h)
//   single_bits.c  ... is single bits or XORs of two, by a heuristic (search.h)
//   optimal.c      ... is the array modulo a subspace that no two lanes share
#ifndef PERMC_KERNELS_BANKS_BANKS_H
#define PERMC_KERNELS_BANKS_BANKS_H

#include "core/f2.h"
#include "core/text.h"

enum {
  BANKS_MAX = 1024,        // banks of a memory that layouts are made for
  BANK_LANES_MAX = 1024,   // addresses of one access of a trace
  BANK_ADDRESS_BITS = 48,  // an address is less than 2^48
};

// ---- accesses ----------------------------------------------------------------------------------

typedef struct bank_access {
  uint64_t times;           // how often it happens, at least 1
  uint32_t count;           // addresses, 1 ... BANK_LANES_MAX
  const uint64_t *address;  // by thread
} bank_access;

typedef struct bank_trace {
  VEC(bank_access) accesses;
  uint64_t words;  // one more than the largest address; 0 without accesses
  uint32_t lanes;  // the most addresses of an access
} bank_trace;

// Adds a copy of one access of `count` addresses below 2^BANK_ADDRESS_BITS.
void bank_trace_add(arena *a, bank_trace *t, uint32_t count, const uint64_t *address);

// Adds the access of 2^count threads whose addresses are linear, as those of a plan's lanes: thread
// t asks for offset + the sum (XOR) of the vectors at the ones of t.
void bank_trace_add_vectors(arena *a, bank_trace *t, uint64_t offset, int count,
                            const uint64_t *vectors);

// Fewer accesses that cost the same under every layout that is linear over F_2: each is sorted,
// without duplicates, and moved (by XOR) so that its least address is 0; equal ones are one, with
// the sum of their times.
bank_trace bank_trace_distinct(arena *a, const bank_trace *t);

// ---- congestion --------------------------------------------------------------------------------

#define BANK_IDLE UINT64_MAX  // the place of a thread that asks for nothing

// Memory for counting accesses of at most `lanes` places. One count leaves nothing for the next.
typedef struct bank_counter bank_counter;
bank_counter *bank_counter_new(arena *a, uint32_t banks, uint32_t lanes);

// The places of one access, of which at least one is not BANK_IDLE: 1 <= count <= lanes.
typedef struct bank_request {
  uint32_t count, active;  // active: those that are not BANK_IDLE
  const uint64_t *place;
  uint64_t highest;  // of these
  uint64_t differs;  // bits in which any place differs from the first
  bool rises;        // none is idle, and each is above the one before: no word occurs twice
} bank_request;
bank_request bank_request_of(uint32_t count, const uint64_t *place);

// The congestion, from 1 to `count`. Time linear in count.
uint32_t bank_request_congestion(bank_counter *c, const bank_request *r);
// The same for a memory that serves whole rows of w words: how many rows, the ADDRESS GROUPS of the
// UMM (DMM/UMM paper, section 2), have one of the places.
uint32_t bank_request_groups(bank_counter *c, const bank_request *r);

static inline uint32_t bank_congestion(bank_counter *c, uint32_t count, const uint64_t *place) {
  bank_request r = bank_request_of(count, place);
  return bank_request_congestion(c, &r);
}

// What a trace costs under some layout.
typedef struct bank_cost {
  uint64_t accesses, units;  // units of time: the sum of the congestions
  uint32_t worst;            // congestion
} bank_cost;
static inline uint64_t bank_conflicts(bank_cost c) { return c.units - c.accesses; }

// ---- patterns (Hash paper, section 3.1) --------------------------------------------------------

// How the addresses of an access follow from the number t of the thread (with two coefficients
// after linearisation):
//
//   linear   offset + t                                 16 17 18 19
//   stride   offset + S t                               16 20 24 28              S = 4
//   block    offset + S (t mod width) + R (t / width)   0 1 2 3  32 33 34 35     width 4, R = 32
//   random   none of these                              9 2 17 2
typedef enum pattern_class {
  PATTERN_LINEAR,
  PATTERN_STRIDE,
  PATTERN_BLOCK,
  PATTERN_RANDOM
} pattern_class;
extern const char *const pattern_class_names[];  // "linear", ...

typedef struct bank_pattern {
  pattern_class class;
  uint64_t offset;       // the first address
  int64_t stride, rows;  // S and R above; 1 and 0 for linear, 0 where a class has none
  uint32_t width;        // of a block; of the others all threads
} bank_pattern;

// The simplest class that gives every address. A block is one only if it says more than it was
// fitted to: from 4 addresses on. One address alone is linear.
bank_pattern pattern_of(uint32_t count, const uint64_t *address);

// The address of thread t; not for PATTERN_RANDOM.
uint64_t pattern_address(const bank_pattern *p, uint32_t t);

// ---- layouts -----------------------------------------------------------------------------------

#define BANK_LAYOUT_DEFAULT "optimal"      // of accesses that are known
#define BANK_LAYOUT_DEFAULT_OF_DATA "RAP"  // of accesses that data decide

enum {
  BANK_LAYOUT_TERMS = 3,
  BANK_LAYOUT_RANDOM_MAX = 1 << 26,  // random numbers of one layout
};

// What a layout is made for.
typedef struct bank_layout_request {
  uint32_t banks;              // w, 1 ... BANKS_MAX
  uint64_t words;              // of the array, 1 ... 2^BANK_ADDRESS_BITS
  const bank_trace *accesses;  // to serve, or NULL; its addresses are less than `words`
  const bank_trace *distinct;  // bank_trace_distinct of them, or NULL: each layout makes it anew
  uint64_t seed;               // of random numbers
} bank_layout_request;

typedef enum bank_layout_form {
  BANK_LAYOUT_LINEAR,
  BANK_LAYOUT_ROTATED,
  BANK_LAYOUT_PADDED
} bank_layout_form;

// Rows of w words rotated by shift[(address / divisor) mod count]. Terms may share their table.
typedef struct bank_layout_term {
  uint64_t divisor, count;
  uint16_t *shift;
  bool permuted;  // each w entries are a permutation of 0 ... w - 1; else they are independent
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
  // linear: place = matrix * address, with the bank in the low rows
  f2_matrix matrix;
  uint32_t diagonal_count;
  bank_layout_diagonal diagonal[2 * F2_MAX];
  // rotated
  uint32_t term_count;
  bank_layout_term term[BANK_LAYOUT_TERMS];
  // padded
  uint64_t gap;
} bank_layout;

// NULL, or why there is no such layout: a sentence.
typedef const char *bank_layout_maker(arena *a, const bank_layout_request *r, bank_layout *out);
struct bank_layout_kind {
  const char *name, *summary, *source;
  bank_layout_form form;
  bool searches;  // it looks at r->accesses and r->distinct, which are then there
  bank_layout_maker *make;
  uint32_t variant;  // which of several kinds that `make` makes
};

const bank_layout_kind *bank_layout_kind_at(size_t index);         // NULL after the last
const bank_layout_kind *bank_layout_kind_named(const char *name);  // ignores case; or NULL
// "RAP" or "RAP:7": a kind, and the seed, 1 if there is none. NULL: no such kind, no number below
// 2^64, or a seed for a kind that has none.
const bank_layout_kind *bank_layout_kind_and_seed(const char *name, uint64_t *seed);

// NULL: *wrong is a sentence without a full stop, such as "fixed-xor needs a power of two of banks,
// not 24". Everything is in the arena. Deterministic: random numbers come from the seed alone.
bank_layout *bank_layout_make(arena *a, const bank_layout_kind *kind, const bank_layout_request *r,
                              const char **wrong);

// The layout of an array whose accesses are data, such as a gather's, and not known in advance:
// RAP. Its expected congestion is O(log w / log log w) for every access, and 1 for rows and columns
// (RAP paper, Theorem 2).
bank_layout *bank_layout_for_data(arena *a, uint32_t banks, uint64_t words, uint64_t seed,
                                  const char **wrong);

// Draws the random numbers of a random layout again, from *state, which moves on.
void bank_layout_draw(bank_layout *l, uint64_t *state);
// How many random numbers it holds (RAP paper, Table IV).
uint64_t bank_layout_random_numbers(const bank_layout *l);

// address < l->words.
uint64_t bank_layout_place(const bank_layout *l, uint64_t address);

// 1 <= count <= BANK_LANES_MAX; the counter is for l->banks.
uint32_t bank_layout_congestion(const bank_layout *l, bank_counter *c, uint32_t count,
                                const uint64_t *address);
bank_cost bank_layout_cost(const bank_layout *l, bank_counter *c, const bank_trace *t);

// ---- C text ------------------------------------------------------------------------------------

// Expressions of an unsigned address, an identifier or in parentheses. The tables that they name
// begin with `prefix`, one declaration a line; linear and padded layouts have none. `storage`
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
