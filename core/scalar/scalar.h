// Element types and the operations on them: the two tables that everything else reads. The door of
// this room.
//
// In: nothing. Out: names, sizes, classes, and one evaluator for constants (elaborate/scalars.c)
// and for the oracle (runtime/interp/interp.c).
//
//   scalar_types[SCALAR_U32]                              { "u32", 4, KIND_UNSIGNED }
//   uint32_t a[3] = {1, 2, UINT32_MAX}, b[3] = {3, 4, 1}, out[3];
//   scalar_apply(OP_ADD, SCALAR_U32, 3, a, b, out);       out is {4, 6, 0}: integers wrap
//
//   types.c      the tables; least and largest values
//   loops.h      a loop over arrays for each operation and type (private to this room), from
//   integer.c, float.c, convert.c, math.c      and the templates that they include once a type:
//                integer.inc, real.inc, complex.inc, half_ops.inc, convert.inc; half.inc: f16, bf16;
//                order.inc: the order of floats by their bits, also of vectors
//   apply.c      the entry to the loops
//   static.c     what is an error while a program is elaborated, and wraps when it runs
//   number.c     floats from digits, elements as doubles
//
// The templates and loops.h are also part of every generated text (kernels/text/source.c): so all
// backends have the same scalars.
#ifndef PERMC_CORE_SCALAR_SCALAR_H
#define PERMC_CORE_SCALAR_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum scalar_type {
  SCALAR_BOOL,
  SCALAR_I8,
  SCALAR_I16,
  SCALAR_I32,
  SCALAR_I64,
  SCALAR_U8,
  SCALAR_U16,
  SCALAR_U32,
  SCALAR_U64,
  SCALAR_F16,   // 16 bits, 5 of them exponent; arithmetic is that of f32, rounded
  SCALAR_BF16,  // 16 bits, 8 of them exponent, as f32 has; likewise
  SCALAR_F32,
  SCALAR_F64,
  SCALAR_C64,   // two f32: real, imaginary
  SCALAR_C128,  // two f64
  SCALAR_COUNT
} scalar_type;

typedef enum scalar_kind {
  KIND_BOOL,
  KIND_SIGNED,
  KIND_UNSIGNED,
  KIND_FLOAT,
  KIND_COMPLEX
} scalar_kind;

typedef struct scalar_row {
  const char *name;
  size_t size;  // bytes of one element, in memory and in files
  scalar_kind kind;
  // Of a float, the bits of its infinity: larger magnitudes are NaN, and the usual NaN has the
  // highest bit of the fraction besides (IEEE 754-2008, section 3.4).
  uint64_t infinity;
} scalar_row;
extern const scalar_row scalar_types[SCALAR_COUNT];

// The type of that name ("int" is i64), or SCALAR_COUNT.
scalar_type scalar_named(const char *name, size_t length);

// A class is a set of element types, one bit each.
typedef uint32_t scalar_class;
#define CLASS_OF(type) ((scalar_class)1 << (type))
#define CLASS_SIGNED                                                                               \
  (CLASS_OF(SCALAR_I8) | CLASS_OF(SCALAR_I16) | CLASS_OF(SCALAR_I32) | CLASS_OF(SCALAR_I64))
#define CLASS_UNSIGNED                                                                             \
  (CLASS_OF(SCALAR_U8) | CLASS_OF(SCALAR_U16) | CLASS_OF(SCALAR_U32) | CLASS_OF(SCALAR_U64))
#define CLASS_BOOL CLASS_OF(SCALAR_BOOL)
#define CLASS_INTEGER (CLASS_SIGNED | CLASS_UNSIGNED)
#define CLASS_PART (CLASS_OF(SCALAR_F32) | CLASS_OF(SCALAR_F64))    // parts of complex numbers
#define CLASS_SMALL (CLASS_OF(SCALAR_F16) | CLASS_OF(SCALAR_BF16))  // floats that C lacks
#define CLASS_FLOAT (CLASS_SMALL | CLASS_PART)
#define CLASS_COMPLEX (CLASS_OF(SCALAR_C64) | CLASS_OF(SCALAR_C128))
#define CLASS_REAL (CLASS_INTEGER | CLASS_FLOAT)
#define CLASS_NUM (CLASS_REAL | CLASS_COMPLEX)
#define CLASS_FRAC (CLASS_FLOAT | CLASS_COMPLEX)
#define CLASS_BITS (CLASS_INTEGER | CLASS_BOOL)
#define CLASS_ORD (CLASS_REAL | CLASS_BOOL)
#define CLASS_ANY (CLASS_NUM | CLASS_BOOL)

// One element of any type. Unused bytes are zero, so that equal constants are equal bytes.
typedef union scalar_bits {
  unsigned char bytes[16];
  bool b;
  int8_t i8;
  int16_t i16;
  int32_t i32;
  int64_t i64;
  uint8_t u8;
  uint16_t u16;
  uint32_t u32;
  uint64_t u64;
  uint16_t f16, bf16;  // their bits
  float f32;
  double f64;
  float c64[2];
  double c128[2];
} scalar_bits;

// A number with a point: rounded to f64, and what rounds to each smaller type as the number does.
typedef struct real_number {
  double f64, odd;
} real_number;

// What an operation's result type is, given its operand type t (the type of its first operand,
// or the target of a conversion).
typedef enum scalar_result {
  RESULT_SAME,
  RESULT_BOOL,
  RESULT_I64,
  RESULT_REAL,
  RESULT_COMPLEX
} scalar_result;

// clang-format off
// name, operands, class of the operand type, result. All operands are of one type, but for POWI,
// whose second is i64. Choosing and converting are apart: scalar_select, scalar_convert.
//
// Integers wrap; / and % round down (x/0 = x%0 = 0), and x ^ -k is 1/x^k rounded towards 0. A shift
// by the width or more, or by a negative count, leaves 0 (>> of a signed type: the sign). Floats: %
// has the sign of the divisor; ROUND takes halves to even; comparisons are IEEE's, but TOTAL_LE
// orders -0.0 before +0.0 and NaN last, all NaN equal. Products and quotients of complex numbers
// and the order of POWI's products are fixed: see scalar/complex.inc and scalar/real.inc.
#define SCALAR_OPS(ROW)                                                                            \
  ROW(ADD, "+", 2, CLASS_NUM, RESULT_SAME)                                                         \
  ROW(SUB, "-", 2, CLASS_NUM, RESULT_SAME)                                                         \
  ROW(MUL, "*", 2, CLASS_NUM, RESULT_SAME)                                                         \
  ROW(DIV, "/", 2, CLASS_NUM, RESULT_SAME)                                                         \
  ROW(MOD, "%", 2, CLASS_REAL, RESULT_SAME)                                                        \
  ROW(POWI, "^", 2, CLASS_NUM, RESULT_SAME)                                                        \
  ROW(MULHI, "mulhi", 2, CLASS_INTEGER, RESULT_SAME)                                               \
  ROW(NEG, "negate", 1, CLASS_NUM, RESULT_SAME)                                                    \
  ROW(ABS, "abs", 1, CLASS_REAL, RESULT_SAME)                                                      \
  ROW(SIGN, "sign", 1, CLASS_REAL, RESULT_SAME)                                                    \
  ROW(EQ, "==", 2, CLASS_ANY, RESULT_BOOL)                                                         \
  ROW(NE, "!=", 2, CLASS_ANY, RESULT_BOOL)                                                         \
  ROW(LT, "<", 2, CLASS_ORD, RESULT_BOOL)                                                          \
  ROW(LE, "<=", 2, CLASS_ORD, RESULT_BOOL)                                                         \
  ROW(GT, ">", 2, CLASS_ORD, RESULT_BOOL)                                                          \
  ROW(GE, ">=", 2, CLASS_ORD, RESULT_BOOL)                                                         \
  ROW(TOTAL_LE, "total_le", 2, CLASS_ORD, RESULT_BOOL)                                             \
  ROW(AND, "&", 2, CLASS_BITS, RESULT_SAME)                                                        \
  ROW(OR, "|", 2, CLASS_BITS, RESULT_SAME)                                                         \
  ROW(XOR, "xor", 2, CLASS_BITS, RESULT_SAME)                                                      \
  ROW(COMPLEMENT, "~", 1, CLASS_BITS, RESULT_SAME)                                                 \
  ROW(SHL, "<<", 2, CLASS_INTEGER, RESULT_SAME)                                                    \
  ROW(SHR, ">>", 2, CLASS_INTEGER, RESULT_SAME)                                                    \
  ROW(POPCOUNT, "popcount", 1, CLASS_INTEGER, RESULT_I64)                                          \
  ROW(PARITY, "parity", 1, CLASS_INTEGER, RESULT_I64)                                              \
  ROW(CLZ, "clz", 1, CLASS_INTEGER, RESULT_I64)                                                    \
  ROW(CTZ, "ctz", 1, CLASS_INTEGER, RESULT_I64)                                                    \
  ROW(SQRT, "sqrt", 1, CLASS_FRAC, RESULT_SAME)                                                    \
  ROW(EXP, "exp", 1, CLASS_FRAC, RESULT_SAME)                                                      \
  ROW(LOG, "log", 1, CLASS_FRAC, RESULT_SAME)                                                      \
  ROW(SIN, "sin", 1, CLASS_FRAC, RESULT_SAME)                                                      \
  ROW(COS, "cos", 1, CLASS_FRAC, RESULT_SAME)                                                      \
  ROW(TAN, "tan", 1, CLASS_FLOAT, RESULT_SAME)                                                     \
  ROW(ASIN, "asin", 1, CLASS_FLOAT, RESULT_SAME)                                                   \
  ROW(ACOS, "acos", 1, CLASS_FLOAT, RESULT_SAME)                                                   \
  ROW(ATAN, "atan", 1, CLASS_FLOAT, RESULT_SAME)                                                   \
  ROW(ATAN2, "atan2", 2, CLASS_FLOAT, RESULT_SAME)                                                 \
  ROW(SINH, "sinh", 1, CLASS_FLOAT, RESULT_SAME)                                                   \
  ROW(COSH, "cosh", 1, CLASS_FLOAT, RESULT_SAME)                                                   \
  ROW(TANH, "tanh", 1, CLASS_FLOAT, RESULT_SAME)                                                   \
  ROW(POW, "pow", 2, CLASS_FRAC, RESULT_SAME)                                                      \
  ROW(FLOOR, "floor", 1, CLASS_FLOAT, RESULT_SAME)                                                 \
  ROW(CEIL, "ceil", 1, CLASS_FLOAT, RESULT_SAME)                                                   \
  ROW(ROUND, "round", 1, CLASS_FLOAT, RESULT_SAME)                                                 \
  ROW(TRUNC, "trunc", 1, CLASS_FLOAT, RESULT_SAME)                                                 \
  ROW(ISNAN, "isnan", 1, CLASS_FLOAT, RESULT_BOOL)                                                 \
  ROW(SINPI, "sinpi", 1, CLASS_FLOAT, RESULT_SAME)                                                 \
  ROW(COSPI, "cospi", 1, CLASS_FLOAT, RESULT_SAME)                                                 \
  ROW(CIS, "cis", 1, CLASS_PART, RESULT_COMPLEX)                                                   \
  ROW(CISPI, "cispi", 1, CLASS_PART, RESULT_COMPLEX)                                               \
  ROW(COMPLEX, "complex", 2, CLASS_PART, RESULT_COMPLEX)                                           \
  ROW(RE, "re", 1, CLASS_COMPLEX, RESULT_REAL)                                                     \
  ROW(IM, "im", 1, CLASS_COMPLEX, RESULT_REAL)                                                     \
  ROW(CONJ, "conj", 1, CLASS_COMPLEX, RESULT_SAME)                                                 \
  ROW(MAGNITUDE, "magnitude", 1, CLASS_COMPLEX, RESULT_REAL)

// clang-format on
typedef enum scalar_op {
#define ROW(id, name, arity, operands, result) OP_##id,
  SCALAR_OPS(ROW)
#undef ROW
      SCALAR_OP_COUNT
} scalar_op;

typedef struct scalar_op_row {
  const char *name;
  int arity;
  scalar_class operands;
  scalar_result result;
} scalar_op_row;
extern const scalar_op_row scalar_ops[SCALAR_OP_COUNT];

// The parts of an element, 2 of a complex number, and the bytes of one.
static inline uint32_t scalar_parts(scalar_type type) {
  return scalar_types[type].kind == KIND_COMPLEX ? 2 : 1;
}
static inline uint32_t scalar_part_bytes(scalar_type type) {
  return (uint32_t)scalar_types[type].size / scalar_parts(type);
}

scalar_type scalar_real_of(scalar_type complex);  // C64 -> F32, C128 -> F64, else itself
scalar_type scalar_complex_of(scalar_type real);  // F32 -> C64, F64 -> C128, else SCALAR_COUNT
scalar_type scalar_result_of(scalar_op op, scalar_type operand);

// out[i] = op(a[i], b[i]) for i < n; b is not read by operations on one operand. `type` is the
// operand type. Arrays do not overlap, are aligned for their type. Integers wrap; x/0 = x%0 = 0;
// NaN in, NaN out, as IEEE 754 and <math.h> say.
void scalar_apply(scalar_op op, scalar_type type, size_t n, const void *a, const void *b,
                  void *out);

// out[i] = a[i] as type `to`. Float to integer truncates and saturates, NaN gives 0; anything to
// bool is x != 0; real to complex has imaginary part 0; complex to real is not asked for.
void scalar_convert(scalar_type from, scalar_type to, size_t n, const void *a, void *out);

// out[i] = condition[i] ? a[i] : b[i], moving bits untouched (NaN payloads are kept).
void scalar_select(size_t size, size_t n, const bool *condition, const void *a, const void *b,
                   void *out);

// Folds: *so_far becomes what the operation makes of itself and x. A comparison chooses *so_far where it
// holds, else x: OP_LE is the minimum. Whether there is such a fold; whether it begins with `unit` as with
// nothing (but for the sign of a float's 0).
bool scalar_folds(scalar_op op, scalar_type type);
bool scalar_fold_chooses(scalar_op op);
void scalar_fold(scalar_op op, scalar_type type, void *so_far, const void *x);
bool scalar_is_unit(scalar_op op, scalar_type type, const scalar_bits *unit);

// Whether op(a, b) leaves the range of an integer type (or divides by zero, or has a negative
// exponent or shift count): what makes static arithmetic an error. NULL if not, else the reason in
// words, such as "overflows i64", until this thread's next call, and *hint what to do about it.
const char *scalar_static_error(scalar_op op, scalar_type type, const scalar_bits *a,
                                const scalar_bits *b, const char **hint);

scalar_bits scalar_from_i64(scalar_type type, int64_t value);
bool scalar_holds(scalar_type type, bool negative, uint64_t magnitude);  // does the literal fit?
scalar_bits scalar_minval(scalar_type type);                             // in the order total_le
scalar_bits scalar_maxval(scalar_type type);
double scalar_as_double(scalar_type type, const void *element);  // of a real type
scalar_bits scalar_of_double(scalar_type type, double value);    // of a real type
scalar_bits scalar_read(scalar_type type, const char *digits);   // of a float, rounded once
real_number real_number_read(const char *digits);                // as strtod reads them
scalar_bits scalar_of_real_number(scalar_type type, real_number number);
// exp(2 pi i k / m), each part the nearest value of the type, exact at multiples of 1/8 turn
// where it is representable. m > 0.
scalar_bits scalar_root(scalar_type complex, int64_t k, int64_t m);

#endif
