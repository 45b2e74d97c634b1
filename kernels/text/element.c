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
    [SCALAR_BOOL] = "uint8_t", [SCALAR_I8] = "int8_t",       [SCALAR_I16] = "int16_t",
    [SCALAR_I32] = "int32_t",  [SCALAR_I64] = "int64_t",     [SCALAR_U8] = "uint8_t",
    [SCALAR_U16] = "uint16_t", [SCALAR_U32] = "uint32_t",    [SCALAR_U64] = "uint64_t",
    [SCALAR_F16] = "uint16_t", [SCALAR_BF16] = "uint16_t",   [SCALAR_F32] = "float",
    [SCALAR_F64] = "double",   [SCALAR_C64] = "complex_f32", [SCALAR_C128] = "complex_f64",
};
const char *c_element_type(scalar_type type) { return element_types[type]; }

const char *c_meaning(c_writer *w, scalar_type type, uint32_t lanes) {
  uint32_t bytes = (uint32_t)scalar_types[type].size;
  char kind = c_is_float(type) ? 'f' : c_is_signed(type) ? 'i' : 'u';
  const char *name = c_format(w, "%c%ux%u", kind, bytes * 8, lanes);
  const char *attribute =
      lanes == 1 ? "" : c_format(w, " __attribute__((vector_size(%u)))", bytes * lanes);
  if (c_define(w, name))
    text_printf(&w->definitions, "typedef %s %s%s;\n", element_types[type], name, attribute);
  return name;
}

const char *c_vector(c_writer *w, uint32_t bytes, uint32_t lanes) {
  return c_meaning(w, c_unsigned_of(bytes), lanes);
}

const char *c_vector_in_memory(c_writer *w, uint32_t bytes, uint32_t lanes) {
  const char *type = c_vector(w, bytes, lanes), *name = c_format(w, "%sm", type);
  if (c_define(w, name))
    text_printf(&w->definitions,
                w->warps ? "typedef %s %s;\n"
                         : "typedef %s %s __attribute__((may_alias, aligned(%u)));\n",
                type, name, bytes);
  return name;
}

const char *c_word_in_memory(c_writer *w, uint32_t bytes, uint32_t alignment) {
  const char *type = c_vector(w, bytes, 1), *name = c_format(w, "%sm%u", type, alignment);
  if (c_define(w, name))
    text_printf(&w->definitions, "typedef %s %s __attribute__((may_alias, aligned(%u)));\n", type,
                name, alignment);
  return name;
}

// Integers are in the order of their sizes.
scalar_type c_signed_of(uint32_t bytes) { return (scalar_type)(SCALAR_I8 + __builtin_ctz(bytes)); }

scalar_type c_unsigned_of(uint32_t bytes) {
  return (scalar_type)(SCALAR_U8 + __builtin_ctz(bytes));
}
