#include "kernels/text/function.h"

// ---- vector operators ------------------------------------------------------------------------

// $ is the type with the meaning, # the type of the bits; a and b are bits. Where a row has no
// bits' type in front, the expression has it.
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
    {OP_ABS, CLASS_SIGNED, "(a ^ (#)(($)a < 0)) - (#)(($)a < 0)"},
    {OP_ADD, CLASS_PART, "(#)(($)a + ($)b)"},
    {OP_SUB, CLASS_PART, "(#)(($)a - ($)b)"},
    {OP_MUL, CLASS_PART, "(#)(($)a * ($)b)"},
    {OP_DIV, CLASS_PART, "(#)(($)a / ($)b)"},
    {OP_NEG, CLASS_PART, "(#)-($)a"},
    {OP_NEG, CLASS_OF(SCALAR_F16), "a ^ 0x8000"},
    {OP_ABS, CLASS_OF(SCALAR_F16), "a & 0x7fff"},
    {OP_AND, CLASS_BITS, "a & b"},
    {OP_OR, CLASS_BITS, "a | b"},
    {OP_XOR, CLASS_BITS, "a ^ b"},
    {OP_COMPLEMENT, CLASS_INTEGER, "~a"},
};

static const char *expand_operator(c_writer *w, const char *expression, const char *type,
                                   const char *bits) {
  text t = {0};
  for (const char *c = expression; *c; c++) {
    if (*c == '$' || *c == '#')
      text_string(&t, *c == '$' ? type : bits);
    else
      text_add(&t, c, 1);
  }
  return arena_text(w->memory, &t);
}

const char *c_vector_function(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes) {
  const operator_row *row = NULL;
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (operators[i].op == op && operators[i].types & CLASS_OF(type))
      row = &operators[i];
  const char *name = c_format(w, "%s_%sx%u", c_operation_name(w, op), c_type_word(type), lanes);
  if (lanes == 1 || c_is_complex(type))
    return NULL;
  if (type == SCALAR_F16 && !row && op != OP_TOTAL_LE)
    return c_half_function(w, op, lanes);
  if (c_gives_mask(op))
    return c_comparison(w, op, type, lanes, name);
  if (!row)
    return NULL;
  const char *bits = c_vector(w, (uint32_t)scalar_types[type].size, lanes);
  const char *as = c_meaning(w, type, lanes);
  if (c_define(w, name))
    text_printf(&w->definitions, INLINE "%s %s(%s a%s%s) { return %s; }\n", bits, name, bits,
                scalar_ops[op].arity == 2 ? ", " : "",
                scalar_ops[op].arity == 2 ? c_format(w, "%s b", bits) : "",
                expand_operator(w, row->expression, as, bits));
  return name;
}

const char *c_shift(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes) {
  const char *name = c_format(w, "%s_%sx%u_by", c_operation_name(w, op), c_type_word(type), lanes);
  const char *bits = c_vector(w, (uint32_t)scalar_types[type].size, lanes);
  const char *as = c_meaning(w, type, lanes);
  if (c_define(w, name))
    text_printf(&w->definitions, INLINE "%s %s(%s a, %s c) { return (%s)((%s)a %s c); }\n", bits,
                name, bits, c_element_type(type), bits, as, op == OP_SHL ? "<<" : ">>");
  return name;
}

// ---- conversions -----------------------------------------------------------------------------

const char *c_vector_conversion(c_writer *w, scalar_type from, scalar_type to, uint32_t lanes) {
  bool to_integer = !c_is_float(to) && to != SCALAR_BOOL;
  if (lanes == 1 || c_is_complex(from) || c_is_complex(to) || (c_is_float(from) && to_integer))
    return NULL;
  if (to == SCALAR_F16 || (from == SCALAR_F16 && to != SCALAR_BOOL))
    return c_half_conversion(w, from, to, lanes);
  const char *name =
      c_format(w, "convert_%s_%sx%u", scalar_types[from].name, scalar_types[to].name, lanes);
  const char *in = c_vector(w, scalar_part_bytes(from), lanes), *as = c_meaning(w, from, lanes);
  if (to == SCALAR_BOOL) {
    const char *unequal = c_vector_function(w, OP_NE, from, lanes);
    if (c_define(w, name))
      text_printf(&w->definitions, INLINE "%s %s(%s a) { return %s(a, (%s){0}); }\n",
                  c_mask_type(w, scalar_part_bytes(from), lanes), name, in, unequal, in);
    return name;
  }
  const char *out = c_vector(w, scalar_part_bytes(to), lanes), *wanted = c_meaning(w, to, lanes);
  if (c_define(w, name))
    text_printf(&w->definitions,
                INLINE "%s %s(%s a) { return (%s)__builtin_convertvector((%s)a, %s); }\n", out,
                name, in, out, as, wanted);
  return name;
}

// ---- choosing --------------------------------------------------------------------------------

// gcc has builtins for the instructions, and makes none of a mask and bit operations; clang does.
// The last way is a loop over the lanes.
static void define_minimum(c_writer *w, bool larger, scalar_type type, uint32_t lanes,
                           const char *name) {
  static const char letters[] = {[1] = 'b', [2] = 'w', [4] = 'd', [8] = 'q'};
  static const char *const words[] = {[1] = "char", [2] = "short", [4] = "int", [8] = "long long"};
  uint32_t bytes = (uint32_t)scalar_types[type].size, size = bytes * lanes;
  const char *bits = c_vector(w, bytes, lanes), *as = c_meaning(w, type, lanes);
  const char *least = larger ? "max" : "min", *sign = c_is_signed(type) ? "s" : "u";
  text *t = &w->definitions;
  text_printf(t, INLINE "%s %s(%s a, %s b) {\n", bits, name, bits, bits);
  text_printf(t,
              "#if defined(__clang__)\n  %s m = (%s)((%s)a %c (%s)b);\n"
              "  return (a & m) | (b & ~m);\n",
              bits, bits, as, larger ? '>' : '<', as);
  const char *isa = size == 64   ? bytes < 4 ? "__AVX512BW__" : "__AVX512F__"
                    : bytes == 8 ? "__AVX512VL__"
                    : size == 32 ? "__AVX2__"
                    : size == 16 ? "__SSE4_1__"
                                 : NULL;
  if (isa) {
    bool masked = size == 64 || bytes == 8;
    const char *builtin_type = c_format(w, "builtin_%cx%u", letters[bytes], lanes);
    text_printf(t,
                "#elif defined(__GNUC__) && defined(%s) && !defined(PERMC_PLAIN)\n"
                "  typedef %s %s __attribute__((vector_size(%u)));\n"
                "  return (%s)__builtin_ia32_p%s%s%c%u%s((%s)a, (%s)b%s);\n",
                isa, words[bytes], builtin_type, size, bits, least, sign, letters[bytes], size * 8,
                masked ? "_mask" : "", builtin_type, builtin_type,
                masked ? c_format(w, ", (%s)a, -1", builtin_type) : "");
  }
  text_printf(t,
              "#else\n  %s x = (%s)a, y = (%s)b, r;\n  for (int i = 0; i < %u; i++)\n"
              "    r[i] = x[i] %c y[i] ? x[i] : y[i];\n  return (%s)r;\n#endif\n}\n",
              as, as, as, lanes, larger ? '>' : '<', bits);
}

const char *c_minimum(c_writer *w, bool larger, scalar_type type, uint32_t lanes) {
  const char *name =
      c_format(w, "%s_%sx%u", larger ? "max" : "min", scalar_types[type].name, lanes);
  const char *bits = c_vector(w, (uint32_t)scalar_types[type].size, lanes);
  const char *as = c_meaning(w, type, lanes);
  if (!c_define(w, name))
    return name;
  if (lanes == 1)
    text_printf(&w->definitions, INLINE "%s %s(%s a, %s b) { return (%s)a %c (%s)b ? a : b; }\n",
                bits, name, bits, bits, as, larger ? '>' : '<', as);
  else
    define_minimum(w, larger, type, lanes, name);
  return name;
}

const char *c_choose(c_writer *w, uint32_t bytes, uint32_t lanes) {
  const char *type = c_vector(w, bytes, lanes), *name = c_format(w, "choose_%s", type);
  if (c_define(w, name))
    text_printf(&w->definitions, INLINE "%s %s(uint8_t c, %s a, %s b) { return c ? a : b; }\n",
                type, name, type, type);
  return name;
}

const char *c_broadcast(c_writer *w, uint32_t bytes, uint32_t lanes) {
  const char *type = c_vector(w, bytes, lanes), *name = c_format(w, "broadcast_%s", type);
  if (c_define(w, name))
    text_printf(&w->definitions,
                lanes == 1 ? INLINE "%s %s(uint%u_t s) { return s; }\n"
                           : INLINE "%s %s(uint%u_t s) { return s - (%s){0}; }\n",
                type, name, bytes * 8, type);
  return name;
}

// ---- shuffles --------------------------------------------------------------------------------

const char *c_shuffle(c_writer *w, uint32_t bytes, uint32_t lanes) {
  const char *type = c_vector(w, bytes, lanes), *name = c_format(w, "shuffle_%s", type);
  if (c_define(w, name))
    text_printf(&w->definitions,
                "#if PERMC_SHUFFLEVECTOR\n"
                "#define %s(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)\n"
                "#else\n"
                "#define %s(a, b, ...) __builtin_shuffle(a, b, (%s){__VA_ARGS__})\n"
                "#endif\n",
                name, name, type);
  return name;
}

// ---- turning lanes ---------------------------------------------------------------------------

// clang has no shuffle by a variable: its builtins for the instructions, where there are such.
static void define_xor_permute(c_writer *w, uint32_t bytes, uint32_t lanes, const char *name) {
  static const char *const letters[] = {[1] = "qi", [2] = "hi", [4] = "si", [8] = "di"};
  static const char *const words[] = {[1] = "char", [2] = "short", [4] = "int", [8] = "long long"};
  const char *type = c_vector(w, bytes, lanes);
  uint32_t size = bytes * lanes;
  text *t = &w->definitions;
  text_printf(t, INLINE "%s %s(%s a, uint64_t d) {\n", type, name, type);
  text_printf(t, "  %s permuted = (%s){", type, type);
  for (uint32_t i = 0; i < lanes; i++)
    text_printf(t, i ? ", %u" : "%u", i);
  text_printf(t, "} ^ (uint%u_t)d;\n", bytes * 8);
  text_string(t, "#if !defined(__clang__)\n  return __builtin_shuffle(a, permuted);\n");
  const char *isa = size == 64                 ? bytes == 1   ? "__AVX512VBMI__"
                                                 : bytes == 2 ? "__AVX512BW__"
                                                              : "__AVX512F__"
                    : size == 32 && bytes == 4 ? "__AVX2__"
                                               : NULL;
  if (isa)
    text_printf(t,
                "#elif defined(%s) && !defined(PERMC_PLAIN)\n"
                "  typedef %s permuted_t __attribute__((vector_size(%u)));\n"
                "  return (%s)__builtin_ia32_permvar%s%u((permuted_t)a, (permuted_t)permuted);\n",
                isa, words[bytes], size, type, letters[bytes], size * 8);
  text_printf(t,
              "#else\n  %s r;\n  for (int i = 0; i < %u; i++)\n    r[i] = a[permuted[i]];\n"
              "  return r;\n#endif\n}\n",
              type, lanes);
}

const char *c_xor_permute(c_writer *w, uint32_t bytes, uint32_t lanes) {
  const char *name = c_format(w, "xor_permute_%s", c_vector(w, bytes, lanes));
  assert(lanes > 1);
  if (c_define(w, name))
    define_xor_permute(w, bytes, lanes, name);
  return name;
}
