#include "kernels/text/function.h"

static const char *const operation_ids[SCALAR_OP_COUNT] = {
#define ROW(id, name, arity, operands, result) [OP_##id] = #id,
    SCALAR_OPS(ROW)
#undef ROW
};

const char *c_operation_name(c_writer *w, scalar_op op) {
  char *name = arena_copy(w->memory, operation_ids[op], strlen(operation_ids[op]));
  for (char *c = name; *c; c++)
    *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
  return name;
}

static const char *const element_types[SCALAR_COUNT] = {
    [SCALAR_BOOL] = "uint8_t",    [SCALAR_I8] = "int8_t",        [SCALAR_I16] = "int16_t",
    [SCALAR_I32] = "int32_t",     [SCALAR_I64] = "int64_t",      [SCALAR_U8] = "uint8_t",
    [SCALAR_U16] = "uint16_t",    [SCALAR_U32] = "uint32_t",     [SCALAR_U64] = "uint64_t",
    [SCALAR_F16] = "uint16_t",    [SCALAR_F32] = "float",        [SCALAR_F64] = "double",
    [SCALAR_C64] = "complex_f32", [SCALAR_C128] = "complex_f64",
};
const char *c_element_type(scalar_type type) { return element_types[type]; }

const char *c_meaning(c_writer *w, scalar_type type, uint32_t lanes) {
  uint32_t bytes = (uint32_t)scalar_types[type].size;
  const char *bits = c_vector(w, bytes, lanes);
  if (!c_is_float(type) && !c_is_signed(type))
    return bits;
  const char *name = c_format(w, "%c%ux%u", c_is_float(type) ? 'f' : 'i', bytes * 8, lanes);
  if (c_define(w, name)) {
    if (lanes == 1)
      text_printf(&w->definitions, "typedef %s %s;\n", element_types[type], name);
    else
      text_printf(&w->definitions, "typedef %s %s __attribute__((vector_size(%u)));\n",
                  element_types[type], name, bytes * lanes);
  }
  return name;
}

// Integers are in the order of their sizes.
scalar_type c_signed_of(uint32_t bytes) { return (scalar_type)(SCALAR_I8 + __builtin_ctz(bytes)); }

scalar_type c_unsigned_of(uint32_t bytes) {
  return (scalar_type)(SCALAR_U8 + __builtin_ctz(bytes));
}
