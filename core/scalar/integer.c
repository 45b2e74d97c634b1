// Integer and bool operations: scalar/integer.inc for each type, and the table of the loops.
#include "core/scalar/loops.h"

#define T int8_t
#define U uint8_t
#define W uint32_t
#define BITS 8
#define SIGNED 1
#define SUFFIX i8
#include "core/scalar/integer.inc"

#define T int16_t
#define U uint16_t
#define W uint32_t
#define BITS 16
#define SIGNED 1
#define SUFFIX i16
#include "core/scalar/integer.inc"

#define T int32_t
#define U uint32_t
#define W uint32_t
#define BITS 32
#define SIGNED 1
#define SUFFIX i32
#include "core/scalar/integer.inc"

#define T int64_t
#define U uint64_t
#define W uint64_t
#define BITS 64
#define SIGNED 1
#define SUFFIX i64
#include "core/scalar/integer.inc"

#define T uint8_t
#define U uint8_t
#define W uint32_t
#define BITS 8
#define SIGNED 0
#define SUFFIX u8
#include "core/scalar/integer.inc"

#define T uint16_t
#define U uint16_t
#define W uint32_t
#define BITS 16
#define SIGNED 0
#define SUFFIX u16
#include "core/scalar/integer.inc"

#define T uint32_t
#define U uint32_t
#define W uint32_t
#define BITS 32
#define SIGNED 0
#define SUFFIX u32
#include "core/scalar/integer.inc"

#define T uint64_t
#define U uint64_t
#define W uint64_t
#define BITS 64
#define SIGNED 0
#define SUFFIX u64
#include "core/scalar/integer.inc"

// Bools are bytes 0 and 1, so u8's loops serve, but for the complement.
#define SUFFIX truth
DEFINE_1(complement, uint8_t, uint8_t, !x)
#undef SUFFIX

#ifndef SCALAR_FUNCTIONS_ONLY
static scalar_loop *const loops_bool[SCALAR_OP_COUNT] = {
    [OP_EQ] = eq_loop_u8,
    [OP_NE] = ne_loop_u8,
    [OP_LT] = lt_loop_u8,
    [OP_LE] = le_loop_u8,
    [OP_GT] = gt_loop_u8,
    [OP_GE] = ge_loop_u8,
    [OP_TOTAL_LE] = le_loop_u8,
    [OP_AND] = and_loop_u8,
    [OP_OR] = or_loop_u8,
    [OP_XOR] = xor_loop_u8,
    [OP_COMPLEMENT] = complement_loop_truth,
};

scalar_loop *const *const scalar_integer_loops[SCALAR_COUNT] = {
    [SCALAR_BOOL] = loops_bool, [SCALAR_I8] = loops_i8,   [SCALAR_I16] = loops_i16,
    [SCALAR_I32] = loops_i32,   [SCALAR_I64] = loops_i64, [SCALAR_U8] = loops_u8,
    [SCALAR_U16] = loops_u16,   [SCALAR_U32] = loops_u32, [SCALAR_U64] = loops_u64,
};
#endif
