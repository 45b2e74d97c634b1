#include "kernels/text/function.h"

// The instructions of x86 where the compiler may use them, else lane by lane.
static const char *define_half_operation(c_writer *w, scalar_op op, const char *word,
                                         uint32_t lanes) {
  const char *bits = c_vector(w, 2, lanes), *name = c_format(w, "%s_f16x%u", word, lanes);
  bool two = scalar_ops[op].arity == 2;
  if (!c_define(w, c_format(w, "halves_%s", name)))
    return name;
  w->halves_needed = true;
  text_printf(
      &w->definitions,
      "#if PERMC_HALVES >= %u\n"
      "PERMC_INLINE %s %s(%s a%s%s) {\n  return (%s)permc_%s_%u((__m%ui)a, (__m%ui)%s);\n}\n"
      "#else\n",
      lanes, bits, name, bits, two ? ", " : "", two ? c_format(w, "%s b", bits) : "", bits, word,
      lanes, lanes * 16, lanes * 16, two ? "b" : "a");
  c_lane_function(w, op, SCALAR_F16, lanes);
  text_string(&w->definitions, "#endif\n");
  return name;
}

static const char *bf16_operation(c_writer *w, scalar_op op, uint32_t lanes) {
  static const char *const operators[SCALAR_OP_COUNT] = {
      [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/"};
  if (!operators[op] || lanes < 4)
    return NULL;
  return c_function_by(w, "operation_of_bf16", c_operation_name(w, op), SCALAR_BF16, lanes,
                       (const char *[]){operators[op], c_vector(w, 4, lanes / 2),
                                        c_meaning(w, SCALAR_F32, lanes / 2),
                                        c_function_of(w, "round_to_bf16", SCALAR_U32, lanes / 2)});
}

static const char *bf16_conversion(c_writer *w, scalar_type from, scalar_type to, uint32_t lanes) {
  const char *half = c_vector(w, 2, lanes), *wide = c_vector(w, 4, lanes);
  if (from == SCALAR_BF16 && to == SCALAR_F32)
    return c_function_by(w, "widen_bf16", "to_f32", from, lanes,
                         (const char *[]){wide, c_meaning(w, SCALAR_I32, lanes)});
  if (from == SCALAR_F32 && to == SCALAR_BF16)
    return c_function_by(
        w, "narrow_to_bf16", "to_bf16", from, lanes,
        (const char *[]){half, c_function_of(w, "round_to_bf16", SCALAR_U32, lanes)});
  return NULL;
}

const char *c_half_function(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes) {
  if (type == SCALAR_BF16)
    return bf16_operation(w, op, lanes);
  bool has = op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_DIV || op == OP_SQRT;
  return has && (lanes == 8 || lanes == 16 || lanes == 32)
             ? define_half_operation(w, op, c_operation_name(w, op), lanes)
             : NULL;
}

const char *c_half_conversion(c_writer *w, scalar_type from, scalar_type to, uint32_t lanes) {
  if (from == SCALAR_BF16 || to == SCALAR_BF16)
    return bf16_conversion(w, from, to, lanes);
  bool widens = from == SCALAR_F16 && to == SCALAR_F32;
  if ((!widens && (from != SCALAR_F32 || to != SCALAR_F16)) || (lanes != 8 && lanes != 16))
    return NULL;
  const char *half = c_vector(w, 2, lanes), *wide = c_vector(w, 4, lanes);
  const char *name =
      c_format(w, "to_%s_%sx%u", scalar_types[to].name, scalar_types[from].name, lanes);
  if (!c_define(w, c_format(w, "halves_%s", name)))
    return name;
  w->halves_needed = true;
  text_printf(&w->definitions, "#if PERMC_HALVES >= %u\n", 2 * lanes);
  if (widens)
    text_printf(&w->definitions,
                "PERMC_INLINE %s %s(%s a) { return (%s)permc_widen_%u((__m%ui)a); }\n", wide, name,
                half, wide, lanes, lanes * 16);
  else
    text_printf(&w->definitions,
                "PERMC_INLINE %s %s(%s a) { return (%s)permc_narrow_%u((__m%u)a); }\n", half, name,
                wide, half, lanes, lanes * 32);
  text_string(&w->definitions, "#else\n");
  c_lane_conversion(w, from, to, lanes);
  text_string(&w->definitions, "#endif\n");
  return name;
}
