// Private to kernels/text/ (door: text.h): the functions that generated code calls for scalar
// operations, each on all lanes of a vector and written when first asked for:
//
//   u32x16 add_f32x16(u32x16 a, u32x16 b)        a vector operator, where it means the same
//   u32x16 sin_f32x16(u32x16 a)                  else the function of core/scalar/ lane by lane
//   void div_c64x8(u32x8 a, u32x8 a_im, u32x8 b, u32x8 b_im, u32x8 *r, u32x8 *r_im)
//
// Operands and results are bits. A bool is a byte 0 or 1; comparisons by vector operators give
// masks instead: mask_u32x16 is a vector of 0 and ~0, or where gcc has masks of a bit per lane
// (AVX-512), such a one; clang knows by itself how to keep the former as the latter.
#ifndef PERMC_KERNELS_TEXT_FUNCTION_H
#define PERMC_KERNELS_TEXT_FUNCTION_H

#include "kernels/text/template.h"

#define INLINE "static inline __attribute__((always_inline))"

// ---- element.c: words for types and operations -----------------------------------------------

static inline bool c_is_float(scalar_type t) { return scalar_types[t].kind == KIND_FLOAT; }
static inline bool c_is_complex(scalar_type t) { return scalar_types[t].kind == KIND_COMPLEX; }
static inline bool c_is_signed(scalar_type t) { return scalar_types[t].kind == KIND_SIGNED; }
// The integer of that size.
scalar_type c_signed_of(uint32_t bytes);
scalar_type c_unsigned_of(uint32_t bytes);

// As core/scalar/ calls it: "total_le".
const char *c_operation_name(c_writer *w, scalar_op op);
// The C type of an element: "uint32_t", "complex_f32".
const char *c_element_type(scalar_type type);
// The word for it in the names of operations: "u32", of bools "truth".
static inline const char *c_type_word(scalar_type type) {
  return type == SCALAR_BOOL ? "truth" : scalar_types[type].name;
}
// The type of `lanes` elements of `bytes` bytes (1, 2, 4, 8): "u32x16".
const char *c_vector(c_writer *w, uint32_t bytes, uint32_t lanes);
// The same in memory, aligned for an element only: "u32x16m".
const char *c_vector_in_memory(c_writer *w, uint32_t bytes, uint32_t lanes);
// One element of `bytes` bytes, at any multiple of `alignment`.
const char *c_word_in_memory(c_writer *w, uint32_t bytes, uint32_t alignment);
// The vector type that gives the bits the meaning of a real type: "i32x16", "f32x16", "u32x16".
const char *c_meaning(c_writer *w, scalar_type type, uint32_t lanes);

// ---- function.c: vector operators ------------------------------------------------------------

// The name of the function for a real type, or NULL where no vector operator means the operation.
const char *c_vector_function(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes);
// (bits, count) -> bits: by a known count less than the width.
const char *c_shift(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes);
// (bits) -> bits: OP_DIV or OP_MOD of integers by a known number above 0.
const char *c_division(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes, uint64_t by);
// Between integers and floats of parts (not from floats to integers): (bits) -> bits.
const char *c_vector_conversion(c_writer *w, scalar_type from, scalar_type to, uint32_t lanes);
// (a, b) -> bits: the smaller or larger of integers.
const char *c_minimum(c_writer *w, bool larger, scalar_type type, uint32_t lanes);
// Of two vectors a, b of f32 or f64 what select (total_le a b) b a takes; or, not `last`, what
// select (total_le a b) a b takes.
const char *c_total_extremum(c_writer *w, bool last, scalar_type type, uint32_t lanes);
// (element) -> vector.
const char *c_broadcast(c_writer *w, uint32_t bytes, uint32_t lanes);
// (vector, d) -> vector with element j ^ d in lane j.
const char *c_xor_permute(c_writer *w, uint32_t bytes, uint32_t lanes);

// ---- template.c: masks and comparisons ---------------------------------------------------------

bool c_gives_mask(scalar_op op);  // as a vector operator
const char *c_comparison(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes);
// "mask_u32x16"; of one lane, "bool".
const char *c_mask_type(c_writer *w, uint32_t bytes, uint32_t lanes);
// Of masks of one type: OP_AND, OP_OR, OP_XOR, OP_COMPLEMENT; NULL for others.
const char *c_mask_function(c_writer *w, scalar_op op, uint32_t bytes, uint32_t lanes);
// (mask) -> mask of another width.
const char *c_mask_of_mask(c_writer *w, uint32_t from, uint32_t to, uint32_t lanes);

// ---- lanes.c: lane by lane -------------------------------------------------------------------

// Arguments in the call: the operands' parts in order, then for a complex result the addresses of
// its parts.
const char *c_lane_function(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes);
const char *c_lane_conversion(c_writer *w, scalar_type from, scalar_type to, uint32_t lanes);
// A first argument more: imports->foreign + number.
const char *c_lane_extern(c_writer *w, uint64_t number, uint32_t lanes);
// A first argument more: the table of the roots of order m.
// A lane's element of an array of `count` (UINT64_MAX: any place is one of it), and its writing
// (NET_GATHER, NET_SCATTER, and NET_GROUP).
const char *c_lane_gather(c_writer *w, scalar_type type, uint64_t count, uint32_t lanes);
const char *c_lane_scatter(c_writer *w, scalar_type type, uint64_t count, uint32_t lanes);
const char *c_lane_group(c_writer *w, scalar_op op, scalar_type type, uint64_t count,
                         uint32_t lanes);
const char *c_lane_root(c_writer *w, scalar_type type, uint64_t m, uint32_t lanes);
// A first argument more: imports->roots. Of an order without a table: with `low` bits of the lower
// of two tables, or 0: computed.
const char *c_lane_large_root(c_writer *w, scalar_type type, uint64_t m, uint32_t low,
                              uint32_t high_table, uint32_t low_table, uint32_t lanes);

// ---- half.c: f16 and bf16, which are no types of vectors -------------------------------------

// As c_vector_function and c_vector_conversion.
const char *c_half_function(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes);
const char *c_half_conversion(c_writer *w, scalar_type from, scalar_type to, uint32_t lanes);

#endif
