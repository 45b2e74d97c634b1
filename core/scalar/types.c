// The tables of element types and operations, and what follows from them. See scalar.h.
#include "core/scalar/scalar.h"

#include <string.h>

const scalar_row scalar_types[SCALAR_COUNT] = {
    [SCALAR_BOOL] = {"bool", 1, KIND_BOOL, 0},
    [SCALAR_I8] = {"i8", 1, KIND_SIGNED, 0},
    [SCALAR_I16] = {"i16", 2, KIND_SIGNED, 0},
    [SCALAR_I32] = {"i32", 4, KIND_SIGNED, 0},
    [SCALAR_I64] = {"i64", 8, KIND_SIGNED, 0},
    [SCALAR_U8] = {"u8", 1, KIND_UNSIGNED, 0},
    [SCALAR_U16] = {"u16", 2, KIND_UNSIGNED, 0},
    [SCALAR_U32] = {"u32", 4, KIND_UNSIGNED, 0},
    [SCALAR_U64] = {"u64", 8, KIND_UNSIGNED, 0},
    [SCALAR_F16] = {"f16", 2, KIND_FLOAT, 0x7c00},
    [SCALAR_BF16] = {"bf16", 2, KIND_FLOAT, 0x7f80},
    [SCALAR_F32] = {"f32", 4, KIND_FLOAT, 0x7f800000},
    [SCALAR_F64] = {"f64", 8, KIND_FLOAT, UINT64_C(0x7ff0000000000000)},
    [SCALAR_C64] = {"c64", 8, KIND_COMPLEX, 0},
    [SCALAR_C128] = {"c128", 16, KIND_COMPLEX, 0},
};

const scalar_op_row scalar_ops[SCALAR_OP_COUNT] = {
#define ROW(id, name, arity, operands, result) [OP_##id] = {name, arity, operands, result},
    SCALAR_OPS(ROW)
#undef ROW
};

// ---- types ---------------------------------------------------------------------------------

scalar_type scalar_named(const char *name, size_t length) {
  if (length == 3 && memcmp(name, "int", 3) == 0)
    return SCALAR_I64;
  for (scalar_type t = 0; t < SCALAR_COUNT; t++)
    if (strlen(scalar_types[t].name) == length && memcmp(scalar_types[t].name, name, length) == 0)
      return t;
  return SCALAR_COUNT;
}

scalar_type scalar_real_of(scalar_type complex) {
  return complex == SCALAR_C64 ? SCALAR_F32 : complex == SCALAR_C128 ? SCALAR_F64 : complex;
}

scalar_type scalar_complex_of(scalar_type real) {
  return real == SCALAR_F32 ? SCALAR_C64 : real == SCALAR_F64 ? SCALAR_C128 : SCALAR_COUNT;
}

scalar_type scalar_result_of(scalar_op op, scalar_type operand) {
  switch (scalar_ops[op].result) {
  case RESULT_SAME:
    return operand;
  case RESULT_BOOL:
    return SCALAR_BOOL;
  case RESULT_I64:
    return SCALAR_I64;
  case RESULT_REAL:
    return scalar_real_of(operand);
  case RESULT_COMPLEX:
    return scalar_complex_of(operand);
  }
  return SCALAR_COUNT;
}

// ---- constants -----------------------------------------------------------------------------

// A complex number of two equal parts.
static scalar_bits complex_of(scalar_type type, scalar_bits part) {
  scalar_bits both = part;
  memcpy(both.bytes + scalar_types[type].size / 2, part.bytes, scalar_types[type].size / 2);
  return both;
}

scalar_bits scalar_minval(scalar_type type) {
  if (scalar_types[type].kind == KIND_COMPLEX)
    return complex_of(type, scalar_minval(scalar_real_of(type)));
  const scalar_row *row = &scalar_types[type];
  scalar_bits bits = {.u64 = row->infinity};
  if (row->kind == KIND_SIGNED || row->kind == KIND_FLOAT)
    bits.bytes[row->size - 1] |= 0x80;  // little-endian
  return bits;
}

scalar_bits scalar_maxval(scalar_type type) {
  if (scalar_types[type].kind == KIND_COMPLEX)
    return complex_of(type, scalar_maxval(scalar_real_of(type)));
  const scalar_row *row = &scalar_types[type];
  scalar_bits bits = {{0}};
  switch (row->kind) {
  case KIND_BOOL:
    bits.b = true;
    break;
  case KIND_SIGNED:
  case KIND_UNSIGNED:
    memset(bits.bytes, 0xff, row->size);
    bits.bytes[row->size - 1] = row->kind == KIND_SIGNED ? 0x7f : 0xff;
    break;
  case KIND_FLOAT:  // the usual NaN
    bits.u64 = row->infinity | (row->infinity & -row->infinity) >> 1;
    break;
  case KIND_COMPLEX:
    break;
  }
  return bits;
}
