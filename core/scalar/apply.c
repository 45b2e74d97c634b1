// The entry to the loops: operations, and the choice between two elements.
#include "core/scalar/loops.h"

#include <string.h>

void scalar_apply(scalar_op op, scalar_type type, size_t n, const void *a, const void *b,
                  void *out) {
  if (!(scalar_ops[op].operands & CLASS_OF(type)))
    return;
  scalar_loop *const *loops = scalar_integer_loops[type];
  if (!loops)
    loops = scalar_float_loops[type];
  loops[op](n, a, b, out);
}

// Elements are moved as integers: a load and store as a float may set the quiet bit of a NaN. The
// integers may alias the floats.
#define SELECT(bits)                                                                               \
  typedef uint##bits##_t __attribute__((may_alias)) word##bits;                                    \
  static void select##bits(size_t n, const uint8_t *restrict condition, const void *restrict a,    \
                           const void *restrict b, void *restrict out) {                           \
    const word##bits *restrict x = a, *restrict y = b;                                             \
    word##bits *restrict to = out;                                                                 \
    for (size_t i = 0; i < n; i++) {                                                               \
      uint##bits##_t yes = x[i], no = y[i];                                                        \
      to[i] = condition[i] ? yes : no;                                                             \
    }                                                                                              \
  }
SELECT(8)
SELECT(16)
SELECT(32)
SELECT(64)

void scalar_select(size_t size, size_t n, const bool *condition, const void *a, const void *b,
                   void *out) {
  const uint8_t *bytes = (const uint8_t *)condition;
  switch (size) {
  case 1:
    select8(n, bytes, a, b, out);
    break;
  case 2:
    select16(n, bytes, a, b, out);
    break;
  case 4:
    select32(n, bytes, a, b, out);
    break;
  case 8:
    select64(n, bytes, a, b, out);
    break;
  case 16:
    for (size_t i = 0; i < n; i++)
      memcpy((char *)out + i * 16, (const char *)(bytes[i] ? a : b) + i * 16, 16);
    break;
  }
}
