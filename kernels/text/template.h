// Private to kernels/text/ (door: text.h): functions of generated code from templates:
// core/scalar/order.inc and kernels/text/vector.inc.
//
// A paragraph begins with a comment of its key, `// rank: ...`, and defines a function of a type and
// a number of lanes. It is written when it is first asked for, behind those that it calls.
//
//   INLINE V NAME(key)(V a) { return (V)(a ^ (V)(((I)a >> (BITS - 1)) & MOST)); }
//
//   c_function_of(w, "key", SCALAR_F32, 16)       gives "key_f32x16", and defines it:
//
//   static inline __attribute__((always_inline)) u32x16 key_f32x16(u32x16 a) {
//     return (u32x16)(a ^ (u32x16)(((i32x16)a >> (32 - 1)) & INT32_MAX)); }
//
// What is replaced, here for f32 and 16 lanes:
//
//   V, I, F          u32x16, i32x16, f32x16       NAME(f)        f_f32x16
//   M, BYTES         mask_u32x16, u8x16           OF_BITS(f)     f_u32x16
//   ELEMENT          uint32_t                     OF_SIGNED(f)   f_i32x16
//   BITS, LANES      32, 16                       WORD           what the caller names the function
//   SIZE             512: bits of a vector        $1, $2, ...    what else the caller gives
//   MOST, INFINITE, USUAL_NAN    as integers      MASK(x)        (x); of one lane -(x)
//   MM, MI, MF       _mm512, __m512i, __m512      a##b           ab
//   EP, K            ps, 16: bits of a mask       INTEGER, SIGN, LETTER, MODE    of gcc's builtins
#ifndef PERMC_KERNELS_TEXT_TEMPLATE_H
#define PERMC_KERNELS_TEXT_TEMPLATE_H

#include "kernels/text/writer.h"

// The name of the function `word` that the paragraph `key` defines. `own`: $1, $2, ...
const char *c_function_by(c_writer *w, const char *key, const char *word, scalar_type type,
                          uint32_t lanes, const char *const *own);
// Where its name is the key, and the caller gives nothing else.
const char *c_function_of(c_writer *w, const char *key, scalar_type type, uint32_t lanes);
// Of elements of so many bytes, whatever they are.
const char *c_bits_function(c_writer *w, const char *key, uint32_t bytes, uint32_t lanes);

#endif
