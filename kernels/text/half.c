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

// As integers: the bits without the sign, negated for a negative number, are in IEEE's order but
// for NaN, which is unequal to all.
static const char *define_half_comparison(c_writer *w, const char *word, const char *operator,
                                          uint32_t lanes) {
  const char *bits = c_vector(w, 2, lanes), *number = c_meaning(w, SCALAR_I16, lanes);
  const char *mask = c_mask_type(w, 2, lanes), *name = c_format(w, "%s_f16x%u", word, lanes);
  if (c_define(w, c_format(w, "number_f16x%u", lanes)))
    text_printf(&w->definitions,
                INLINE "%s number_f16x%u(%s a) {\n  const %s sign = (%s)a >> 15;\n"
                       "  return (((%s)a & INT16_MAX) ^ sign) - sign;\n}\n" INLINE
                       "%s nan_f16x%u(%s a) { return (%s)(((%s)a & INT16_MAX) > 0x7c00); }\n",
                number, lanes, bits, number, number, number, bits, lanes, bits, bits, number);
  if (!c_define(w, name))
    return name;
  if (operator== NULL)
    text_printf(&w->definitions, INLINE "%s %s(%s a) { return vector_mask_%s(nan_f16x%u(a)); }\n",
                mask, name, bits, bits, lanes);
  else
    text_printf(&w->definitions,
                INLINE "%s %s(%s a, %s b) {\n"
                       "  const %s nan = nan_f16x%u(a) | nan_f16x%u(b);\n"
                       "  return vector_mask_%s((%s)(number_f16x%u(a) %s number_f16x%u(b)) %s "
                       "nan);\n}\n",
                mask, name, bits, bits, bits, lanes, lanes, bits, bits, lanes, operator, lanes,
                *operator== '!' ? "|" : "& ~");
  return name;
}

const char *c_half_function(c_writer *w, scalar_op op, uint32_t lanes) {
  static const struct {
    const char *word, *operator;
  } rows[SCALAR_OP_COUNT] = {
      [OP_ADD] = {"add", NULL}, [OP_SUB] = {"sub", NULL},   [OP_MUL] = {"mul", NULL},
      [OP_DIV] = {"div", NULL}, [OP_SQRT] = {"sqrt", NULL}, [OP_EQ] = {"eq", "=="},
      [OP_NE] = {"ne", "!="},   [OP_LT] = {"lt", "<"},      [OP_LE] = {"le", "<="},
      [OP_GT] = {"gt", ">"},    [OP_GE] = {"ge", ">="},     [OP_ISNAN] = {"isnan", NULL},
  };
  if (rows[op].word == NULL || lanes == 1)
    return NULL;
  if (c_gives_mask(op))
    return define_half_comparison(w, rows[op].word, rows[op].operator, lanes);
  return lanes == 8 || lanes == 16 || lanes == 32
             ? define_half_operation(w, op, rows[op].word, lanes)
             : NULL;
}

const char *c_half_conversion(c_writer *w, scalar_type from, scalar_type to, uint32_t lanes) {
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
