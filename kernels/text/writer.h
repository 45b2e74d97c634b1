// Private to kernels/text/ (door: text.h): a generated C file while it is written: definitions
// in front (types, functions, tables, each written when first asked for), and the pass at hand,
// whose statements go to two places, which stand one behind the other:
//
//   void permc_pass_0(...) {
//     for (uint64_t item = first; item < last; item++) {
//       const uint64_t b = item & 127;
//       const int64_t u3 = 16 * ...;                 item: what a tile's threads share
//       for (uint32_t t = 0; t < 64; t++) {
//         const uint32_t *p4 = a0 + u3 + table0[t];  body: addresses, loads, ops, stores
//         u32x16 v5 = *(const u32x16m *)(p4 + 32);
//
// Every variable has a number of its own. Vectors hold bits: u32x16 is 16 elements of 4 bytes of
// any type, and functions named for a type (add_f32x16) give them a meaning. Of one lane, u32x1 is
// a uint32_t.
#ifndef PERMC_KERNELS_TEXT_WRITER_H
#define PERMC_KERNELS_TEXT_WRITER_H

#include "core/hash.h"
#include "fusion/net/net.h"
#include "kernels/text/host.h"

typedef struct c_writer {
  arena *memory;
  const net *net;     // whose foreign functions are called
  bool warps;         // CUDA: lanes are threads (kernels/text/cuda_host.h)
  const char *index;  // the type of what indices are made of: "uint64_t"
  text definitions, item, body;
  VEC(const char *) keys;  // of what is defined
  hash_table defined;
  const net_id *arrays;  // of the pass whose kernel is written: its parameters; no kernel: 0
  uint32_t array_count;
  uint32_t next;    // the number of the next variable
  bool sums;        // the kernel may find a maximum as a sum less the minimum (c_other)
  uint32_t others;  // maxima so far
  uint32_t cuts;    // of long basic blocks
  VEC(permc_root_table) roots;
  uint32_t root_bits;      // the most of a table
  bool joining;            // the last statement of the body came by c_join
  bool halves_needed;      // vectors of f16 (kernels/text/half.h)
  bool scalars_needed[2];  // of integers; of floats, conversions and mathematics
  bool roots_needed;       // those without a table (kernels/text/root_text.h)
  uint64_t lanes_alone;    // computed one by one, as vectors have no instruction
  bool masks_needed, runtime_matrix_needed, look_back_needed;
  struct kernel_record *record;  // of what is asked of memory (kernels/schedule/record.h), or NULL
} c_writer;

// True if it was not yet defined: now it is, and the caller writes it.
bool c_define(c_writer *w, const char *key);

// Text in the writer's memory.
const char *c_format(c_writer *w, const char *format, ...) PRINTF_LIKE(2, 3);

// The variable with the address of an array of the plan. Arrays have their numbers in functions; in
// kernels they are counted, so that passes over other arrays have the same text.
const char *c_array_name(c_writer *w, net_id array);

// One statement, indented, to the body or to the item.
void c_line(c_writer *w, const char *format, ...) PRINTF_LIKE(2, 3);
void c_item(c_writer *w, const char *format, ...) PRINTF_LIKE(2, 3);
// One of several like statements to the body: beside the one before, where there is room.
void c_join(c_writer *w, const char *format, ...) PRINTF_LIKE(2, 3);
// Such a statement `const type v = expression`: the number of its variable.
uint32_t c_let(c_writer *w, const char *type, const char *format, ...) PRINTF_LIKE(3, 4);
// Lanes of 0 as an expression behind `=`.
static inline const char *c_zero(uint32_t lanes) { return lanes == 1 ? "0" : "{0}"; }

// A variable that rounds of a loop set.
typedef struct c_variable {
  const char *type;
  uint32_t id, next;  // next: the variable with what it is to become
} c_variable;
c_variable c_declare(c_writer *w, const char *type, const char *start);
// Sets all at once: what one is to become may be another as it was.
void c_set(c_writer *w, size_t count, const c_variable *variables);

// The next statement begins a line.
static inline void c_end_line(c_writer *w) { w->joining = false; }

// The first variable v0, v1, ... that the statements use where it is not defined, or NULL.
const char *c_undefined_variable(c_writer *w, const char *code);

// A table of elements of `bytes` bytes: its name. Equal ones are written once.
const char *c_table(c_writer *w, uint32_t bytes, uint32_t count, const uint64_t *entries);

// "a0 ^ ..." as text: the function of the bits of the variable `name` that is linear over F_2 and
// sends bit i to value[i]. "0" if it is 0. Written as shifts where it can be, else as sums of
// products; as_table: as tables, for inner loops.
const char *c_linear(c_writer *w, const char *name, uint32_t count, const uint64_t *value,
                     bool as_table);

// A hexadecimal or decimal literal of 64 bits, as an unsigned one.
const char *c_number(c_writer *w, uint64_t value);

#endif
