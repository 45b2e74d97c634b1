// Accesses of warps to banked memory: what they cost, and of which class they are.
//
// Memory has w BANKS; the word at place p is in bank p mod w. The threads of a WARP ask for one
// word each, at the same time. Requests for one word are one request; different words of one bank
// are served one after the other. The CONGESTION of an access is the largest number of different
// words in one bank: what it takes, in units of one access without conflict (RAP paper, section
// II).
//
//   w = 4, places   4  5  6  7    banks 0 1 2 3    congestion 1
//                   1  5  9 13          1 1 1 1               4
//                   5  5  5  5          1                     1
//                   7  5 15  0          3 1 3 0               2
//
// CONFLICTS of an access are its congestion less 1: the units of time that a better layout of the
// data (layout.h) would save.
//
// The PATTERN of an access is how its addresses follow from the number t of the thread (Hash paper,
// section 3, with two coefficients after linearisation):
//
//   linear   offset + t                                 16 17 18 19
//   stride   offset + S t                               16 20 24 28              S = 4
//   block    offset + S (t mod width) + R (t / width)   0 1 2 3  32 33 34 35     width 4, R = 32
//   random   none of these                              9 2 17 2
//
// The same notation serves the lines of a trace, the warps of a plan, and simulated accesses.
// Addresses are numbers of words. Files: banks.c (counting, traces), banks/pattern.c (classes),
// banks_plan.h (traces of plans).
#ifndef PERMC_KERNELS_BANKS_BANKS_H
#define PERMC_KERNELS_BANKS_BANKS_H

#include "core/text.h"

enum {
  BANKS_MAX = 1024,        // banks of a memory
  BANK_LANES_MAX = 1024,   // addresses of one access
  BANK_ADDRESS_BITS = 48,  // an address is less than 2^48
};

// ---- accesses ----------------------------------------------------------------------------------

typedef struct bank_access {
  uint64_t times;           // how often it happens, at least 1
  uint32_t count;           // addresses, 1 .. BANK_LANES_MAX
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

// Memory for counting; nothing of one count is left for the next.
typedef struct bank_counter bank_counter;
bank_counter *bank_counter_new(arena *a, uint32_t banks);

// The congestion of an access to these places, 1 .. count. 1 <= count <= BANK_LANES_MAX. Time
// linear in count.
uint32_t bank_congestion(bank_counter *c, uint32_t count, const uint64_t *place);

// What a trace costs under some layout.
typedef struct bank_cost {
  uint64_t accesses, units;  // units of time: the sum of the congestions
  uint32_t worst;            // congestion
} bank_cost;
static inline uint64_t bank_conflicts(bank_cost c) { return c.units - c.accesses; }

// ---- patterns (Hash paper, section 3.1) --------------------------------------------------------

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

bool pattern_equal(const bank_pattern *p, const bank_pattern *q);  // but for the offset

#endif
