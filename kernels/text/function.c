#include "kernels/text/function.h"

// The words are those of templates (template.h).
typedef struct operator_row {
  scalar_op op;
  scalar_class types;
  const char *expression;
} operator_row;

static const operator_row operators[] = {
    {OP_ADD, CLASS_INTEGER, "a + b"},
    {OP_SUB, CLASS_INTEGER, "a - b"},
    {OP_MUL, CLASS_INTEGER, "a * b"},
    {OP_NEG, CLASS_INTEGER, "-a"},
    {OP_ABS, CLASS_UNSIGNED, "a"},
    {OP_ABS, CLASS_SIGNED, "(a ^ (V)((F)a < 0)) - (V)((F)a < 0)"},
    {OP_ADD, CLASS_PART, "(V)((F)a + (F)b)"},
    {OP_SUB, CLASS_PART, "(V)((F)a - (F)b)"},
    {OP_MUL, CLASS_PART, "(V)((F)a * (F)b)"},
    {OP_DIV, CLASS_PART, "(V)((F)a / (F)b)"},
    {OP_NEG, CLASS_PART, "(V)-(F)a"},
    {OP_NEG, CLASS_SMALL, "a ^ 0x8000"},
    {OP_ABS, CLASS_SMALL, "a & 0x7fff"},
    {OP_AND, CLASS_BITS, "a & b"},
    {OP_OR, CLASS_BITS, "a | b"},
    {OP_XOR, CLASS_BITS, "a ^ b"},
    {OP_COMPLEMENT, CLASS_INTEGER, "~a"},
};

static const char *high_product(c_writer *w, uint32_t lanes) {
  bool masked = lanes == 16;
  return c_function_by(w, "high_product", "mulhi", SCALAR_U32, lanes,
                       (const char *[]){masked       ? "__AVX512F__"
                                        : lanes == 8 ? "__AVX2__"
                                        : lanes == 4 ? "__SSE2__"
                                                     : "PERMC_NO_INSTRUCTION",
                                        masked       ? "512_mask"
                                        : lanes == 8 ? "256"
                                                     : "128",
                                        masked ? ", (products){0}, -1" : ""});
}

const char *c_vector_function(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes) {
  if (lanes == 1 || c_is_complex(type))
    return NULL;
  if (c_gives_mask(op))
    return c_comparison(w, op, type, lanes);
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (operators[i].op == op && operators[i].types & CLASS_OF(type))
      return c_function_by(w, scalar_ops[op].arity == 2 ? "operator_of_two" : "operator_of_one",
                           c_operation_name(w, op), type, lanes, &operators[i].expression);
  if (op == OP_MULHI && type == SCALAR_U32)
    return high_product(w, lanes);
  if (op == OP_EXP && type == SCALAR_F32 && lanes > 2)
    return c_function_of(w, "exp", type, lanes);
  return CLASS_OF(type) & CLASS_SMALL ? c_half_function(w, op, type, lanes) : NULL;
}

const char *c_shift(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes) {
  bool left = op == OP_SHL;
  return c_function_by(w, "shift", left ? "shl_by" : "shr_by", type, lanes,
                       (const char *[]){left ? "<<" : ">>"});
}

const char *c_division(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes, uint64_t by) {
  bool rest = op == OP_MOD;
  const char *number = c_number(w, by);
  return c_function_by(
      w, "division", c_format(w, "%s_by_%s", rest ? "mod" : "div", number), type, lanes,
      (const char *[]){number, c_is_signed(type) ? "(V)((I)a >> (BITS - 1))" : "(V){0}",
                       rest ? "a - q * n" : "q"});
}

const char *c_vector_conversion(c_writer *w, scalar_type from, scalar_type to, uint32_t lanes) {
  bool to_integer = !c_is_float(to) && to != SCALAR_BOOL;
  if (lanes == 1 || c_is_complex(from) || c_is_complex(to) || (c_is_float(from) && to_integer))
    return NULL;
  if (to == SCALAR_BOOL)
    return c_function_of(w, "is_not_zero", from, lanes);
  if ((CLASS_OF(to) | CLASS_OF(from)) & CLASS_SMALL)
    return c_half_conversion(w, from, to, lanes);
  return c_function_by(
      w, "conversion", c_format(w, "convert_to_%s", scalar_types[to].name), from, lanes,
      (const char *[]){c_vector(w, scalar_part_bytes(to), lanes), c_meaning(w, to, lanes)});
}

const char *c_minimum(c_writer *w, bool larger, scalar_type type, uint32_t lanes) {
  uint32_t bytes = scalar_part_bytes(type), size = bytes * lanes;
  const char *instructions = size == 64   ? bytes < 4 ? "__AVX512BW__" : "__AVX512F__"
                             : bytes == 8 ? "__AVX512VL__"
                             : size == 32 ? "__AVX2__"
                             : size == 16 ? "__SSE4_1__"
                                          : "PERMC_NO_INSTRUCTION";
  bool masked = size == 64 || bytes == 8;
  return c_function_by(w, lanes == 1 ? "minimum_of_one" : "minimum", larger ? "max" : "min", type,
                       lanes,
                       (const char *[]){larger ? ">" : "<", instructions, masked ? "_mask" : "",
                                        masked ? ", (builtin)a, -1" : ""});
}

const char *c_broadcast(c_writer *w, uint32_t bytes, uint32_t lanes) {
  return c_function_by(w, "broadcast", "broadcast", c_unsigned_of(bytes), lanes,
                       (const char *[]){lanes == 1 ? "s" : "s - (V){0}"});
}

const char *c_xor_permute(c_writer *w, uint32_t bytes, uint32_t lanes) {
  uint32_t size = bytes * lanes;
  const char *numbers = "0";
  const char *instructions = size == 64                 ? bytes == 1   ? "__AVX512VBMI__"
                                                          : bytes == 2 ? "__AVX512BW__"
                                                                       : "__AVX512F__"
                             : size == 32 && bytes == 4 ? "__AVX2__"
                                                        : "PERMC_NO_INSTRUCTION";
  assert(lanes > 1);
  for (uint32_t i = 1; i < lanes; i++)
    numbers = c_format(w, "%s, %u", numbers, i);
  return c_function_by(w, "xor_permute", "xor_permute", c_unsigned_of(bytes), lanes,
                       (const char *[]){numbers, instructions});
}
