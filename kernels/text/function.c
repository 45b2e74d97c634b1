#include "kernels/text/function.h"

#include <stdio.h>

// ---- names -----------------------------------------------------------------------------------

static const char *const operation_ids[SCALAR_OP_COUNT] = {
#define ROW(id, name, arity, operands, result) [OP_##id] = #id,
    SCALAR_OPS(ROW)
#undef ROW
};

// As lang/scalar_*.inc call it: "total_le".
static const char *operation_name(c_writer *w, scalar_op op) {
  char *name = arena_copy(w->memory, operation_ids[op], strlen(operation_ids[op]));
  for (char *c = name; *c; c++)
    *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
  return name;
}

// The C type of an element, and the word for it in the names of conversions.
static const char *const element_types[SCALAR_COUNT] = {
    [SCALAR_BOOL] = "uint8_t",    [SCALAR_I8] = "int8_t",        [SCALAR_I16] = "int16_t",
    [SCALAR_I32] = "int32_t",     [SCALAR_I64] = "int64_t",      [SCALAR_U8] = "uint8_t",
    [SCALAR_U16] = "uint16_t",    [SCALAR_U32] = "uint32_t",     [SCALAR_U64] = "uint64_t",
    [SCALAR_F16] = "uint16_t",    [SCALAR_F32] = "float",        [SCALAR_F64] = "double",
    [SCALAR_C64] = "complex_f32", [SCALAR_C128] = "complex_f64",
};
static const char *type_suffix(scalar_type type) {
  return type == SCALAR_BOOL ? "truth" : scalar_types[type].name;
}

static bool is_float(scalar_type t) { return scalar_types[t].kind == KIND_FLOAT; }
static bool is_complex(scalar_type t) { return scalar_types[t].kind == KIND_COMPLEX; }
static bool is_signed(scalar_type t) { return scalar_types[t].kind == KIND_SIGNED; }

const char *c_meaning(c_writer *w, scalar_type type, uint32_t lanes) {
  uint32_t bytes = (uint32_t)scalar_types[type].size;
  const char *bits = c_vector(w, bytes, lanes);
  if (!is_float(type) && !is_signed(type))
    return bits;
  const char *name = c_format(w, "%c%ux%u", is_float(type) ? 'f' : 'i', bytes * 8, lanes);
  if (c_define(w, name)) {
    if (lanes == 1)
      text_printf(&w->definitions, "typedef %s %s;\n", element_types[type], name);
    else
      text_printf(&w->definitions, "typedef %s %s __attribute__((vector_size(%u)));\n",
                  element_types[type], name, bytes * lanes);
  }
  return name;
}

static scalar_type signed_of(uint32_t bytes) {
  return bytes == 1 ? SCALAR_I8 : bytes == 2 ? SCALAR_I16 : bytes == 4 ? SCALAR_I32 : SCALAR_I64;
}

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

static const char *expanded(c_writer *w, const char *expression, const char *type,
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

// As NAME(rank) in scalar/real.inc.
static void define_rank(c_writer *w, scalar_type type, uint32_t lanes) {
  const char *name = c_meaning(w, type, lanes);
  uint32_t bytes = (uint32_t)scalar_types[type].size;
  const char *integer = c_meaning(w, signed_of(bytes), lanes);
  const char *largest = c_format(w, "INT%u_MAX", bytes * 8);
  if (!c_define(w, c_format(w, "rank_%s", name)))
    return;
  text_printf(&w->definitions,
              INLINE "%s rank_%s(%s a) {\n"
                     "  %s bits = (%s)a, nan = (bits & %s) > %s;\n"
                     "  return ((bits ^ ((bits >> %u) & %s)) & ~nan) | (nan & %s);\n}\n",
              integer, name, c_vector(w, bytes, lanes), integer, integer, largest,
              bytes == 2   ? "0x7c00"
              : bytes == 4 ? "INT32_C(0x7f800000)"
                           : "INT64_C(0x7ff0000000000000)",
              bytes * 8 - 1, largest, largest);
}

static const char *comparison(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes,
                              const char *name);

const char *c_vector_function(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes) {
  const operator_row *row = NULL;
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (operators[i].op == op && operators[i].types & CLASS_OF(type))
      row = &operators[i];
  const char *name = c_format(w, "%s_%sx%u", operation_name(w, op), type_suffix(type), lanes);
  if (lanes == 1 || is_complex(type))
    return NULL;
  if (type == SCALAR_F16 && !row && op != OP_TOTAL_LE)
    return c_half_function(w, op, lanes);
  if (c_gives_mask(op))
    return comparison(w, op, type, lanes, name);
  if (!row)
    return NULL;
  const char *bits = c_vector(w, (uint32_t)scalar_types[type].size, lanes);
  const char *as = c_meaning(w, type, lanes);
  if (c_define(w, name))
    text_printf(&w->definitions, INLINE "%s %s(%s a%s%s) { return %s; }\n", bits, name, bits,
                scalar_ops[op].arity == 2 ? ", " : "",
                scalar_ops[op].arity == 2 ? c_format(w, "%s b", bits) : "",
                expanded(w, row->expression, as, bits));
  return name;
}

const char *c_shift(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes) {
  const char *name = c_format(w, "%s_%sx%u_by", operation_name(w, op), type_suffix(type), lanes);
  const char *bits = c_vector(w, (uint32_t)scalar_types[type].size, lanes);
  const char *as = c_meaning(w, type, lanes);
  if (c_define(w, name))
    text_printf(&w->definitions, INLINE "%s %s(%s a, %s c) { return (%s)((%s)a %s c); }\n", bits,
                name, bits, element_types[type], bits, as, op == OP_SHL ? "<<" : ">>");
  return name;
}

// ---- lane by lane ----------------------------------------------------------------------------

typedef struct lane_function {
  const char *name, *callee;  // callee: what takes and gives elements
  const char *parameter;      // of another first argument, or NULL; the callee gets it too
  uint32_t count;
  const scalar_type *types;
  scalar_type result;
} lane_function;

static const char *part_type(scalar_type type) { return element_types[scalar_real_of(type)]; }

static void add_union(c_writer *w, text *t, const char *name, scalar_type type, uint32_t lanes,
                      const char *value) {
  text_printf(t, "  union { %s v; %s e[%u]; } %s%s%s%s;\n", c_vector(w, c_part_bytes(type), lanes),
              part_type(type), lanes, name, value ? " = {" : "", value ? value : "",
              value ? "}" : "");
}

static void define_lanes(c_writer *w, const lane_function *f, uint32_t lanes) {
  static const char *const parts[2] = {"", "_im"};
  text head = {0}, unions = {0}, call = {0};
  const char *comma = "";
  if (f->parameter) {
    text_string(&head, f->parameter);
    text_string(&call, "first");
    comma = ", ";
  }
  for (uint32_t i = 0; i < f->count; i++) {
    for (uint32_t part = 0; part < c_parts(f->types[i]); part++) {
      text_printf(&head, "%s%s a%u%s", comma, c_vector(w, c_part_bytes(f->types[i]), lanes), i,
                  parts[part]);
      add_union(w, &unions, c_format(w, "x%u%s", i, parts[part]), f->types[i], lanes,
                c_format(w, "a%u%s", i, parts[part]));
      comma = ", ";
    }
    if (is_complex(f->types[i]))
      text_printf(&call, "%sLITERAL(%s){x%u.e[i], x%u_im.e[i]}", i || f->parameter ? ", " : "",
                  element_types[f->types[i]], i, i);
    else
      text_printf(&call, "%sx%u.e[i]", i || f->parameter ? ", " : "", i);
  }
  const char *type = c_vector(w, c_part_bytes(f->result), lanes);
  add_union(w, &unions, "r", f->result, lanes, NULL);
  if (is_complex(f->result)) {
    add_union(w, &unions, "r_im", f->result, lanes, NULL);
    text_printf(&head, "%s%s *r0, %s *r1", comma, type, type);
  } else if (!*comma) {
    text_string(&head, "void");
  }
  bool failed = head.failed || unions.failed || call.failed;
  if (failed)
    w->definitions.failed = true;
  else if (is_complex(f->result))
    text_printf(&w->definitions,
                "static inline void %s(%s) {\n%s  for (int i = 0; i < %u; i++) {\n"
                "    %s z = %s(%s);\n    r.e[i] = z.re;\n    r_im.e[i] = z.im;\n  }\n"
                "  *r0 = r.v;\n  *r1 = r_im.v;\n}\n",
                f->name, head.data, unions.data, lanes, element_types[f->result], f->callee,
                text_content(&call));
  else
    text_printf(&w->definitions,
                "static inline %s %s(%s) {\n%s  for (int i = 0; i < %u; i++)\n"
                "    r.e[i] = %s(%s);\n  return r.v;\n}\n",
                type, f->name, head.data, unions.data, lanes, f->callee, text_content(&call));
  text_free(&head);
  text_free(&unions);
  text_free(&call);
}

static const char *defined(c_writer *w, lane_function f, uint32_t lanes) {
  f.name = c_format(w, "%sx%u", f.name, lanes);
  if (c_define(w, f.name))
    define_lanes(w, &f, lanes);
  return f.name;
}

// Bools compare as bytes, and integers have one order only.
static const char *callee_of(c_writer *w, scalar_op op, scalar_type type) {
  if (op == OP_TOTAL_LE && !is_float(type))
    op = OP_LE;
  const char *suffix = type == SCALAR_BOOL && op != OP_COMPLEMENT ? "u8" : type_suffix(type);
  return c_format(w, "%s_%s", operation_name(w, op), suffix);
}

const char *c_lane_function(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes) {
  const scalar_type types[2] = {type, op == OP_POWI ? SCALAR_I64 : type};
  bool integer = !is_float(type) && !is_complex(type);
  w->scalars_needed[integer ? 0 : 1] = true;
  return defined(w,
                 (lane_function){c_format(w, "%s_%s", operation_name(w, op), type_suffix(type)),
                                 callee_of(w, op, type), NULL, (uint32_t)scalar_ops[op].arity,
                                 types, scalar_result_of(op, type)},
                 lanes);
}

const char *c_lane_conversion(c_writer *w, scalar_type from, scalar_type to, uint32_t lanes) {
  w->scalars_needed[1] = true;
  return defined(w,
                 (lane_function){c_format(w, "to_%s_%s", scalar_types[to].name, type_suffix(from)),
                                 c_format(w, "to_%s_%s", scalar_types[to].name, type_suffix(from)),
                                 NULL, 1, &from, to},
                 lanes);
}

// ---- foreign functions and roots -------------------------------------------------------------

// C's own complex types, which the ABI passes differently from structures.
static const char *abi_type(scalar_type type) {
  return type == SCALAR_BOOL   ? "_Bool"
         : type == SCALAR_C64  ? "float _Complex"
         : type == SCALAR_C128 ? "double _Complex"
                               : element_types[type];
}

static void define_extern(c_writer *w, const net_extern *e, const char *name) {
  text_printf(&w->definitions, "static inline %s %s(void (*first)(void)", element_types[e->result],
              name);
  for (uint32_t i = 0; i < e->arity; i++)
    text_printf(&w->definitions, ", %s a%u", element_types[e->parameters[i]], i);
  text_printf(&w->definitions, ") {\n  union { %s c; %s e; } r", abi_type(e->result),
              element_types[e->result]);
  for (uint32_t i = 0; i < e->arity; i++)
    text_printf(&w->definitions, ";\n  union { %s e; %s c; } x%u = {a%u}",
                element_types[e->parameters[i]], abi_type(e->parameters[i]), i, i);
  text_printf(&w->definitions, ";\n  r.c = ((%s (*)(", abi_type(e->result));
  for (uint32_t i = 0; i < e->arity; i++)
    text_printf(&w->definitions, "%s%s", i ? ", " : "", abi_type(e->parameters[i]));
  text_printf(&w->definitions, "%s))first)(", e->arity == 0 ? "void" : "");
  for (uint32_t i = 0; i < e->arity; i++)
    text_printf(&w->definitions, "%sx%u.c", i ? ", " : "", i);
  text_string(&w->definitions, ");\n  return r.e;\n}\n");
}

const char *c_lane_extern(c_writer *w, uint64_t number, uint32_t lanes) {
  const net_extern *e = &w->plan->net->externs.items[number];
  const char *name = c_format(w, "extern_%llu", (unsigned long long)number);
  w->scalars_needed[1] = true;
  if (c_define(w, name))
    define_extern(w, e, name);
  return defined(
      w, (lane_function){name, name, "void (*first)(void)", e->arity, e->parameters, e->result},
      lanes);
}

const char *c_lane_root(c_writer *w, scalar_type type, uint64_t m, uint32_t lanes) {
  static const scalar_type number = SCALAR_I64;
  const char *name = c_format(w, "root_%s_%llu", scalar_types[type].name, (unsigned long long)m);
  const char *element = element_types[type];
  w->scalars_needed[1] = true;
  if (c_define(w, name)) {
    const char *index = (m & (m - 1)) == 0
                            ? c_format(w, "k & %s", c_number(w, m - 1))
                            : c_format(w, "k %% %s < 0 ? k %% %s + %s : k %% %s", c_number(w, m),
                                       c_number(w, m), c_number(w, m), c_number(w, m));
    text_printf(&w->definitions,
                "static inline %s %s(const %s *first, int64_t k) {\n"
                "  return first[%s];\n}\n",
                element, name, element, index);
  }
  return defined(
      w, (lane_function){name, name, c_format(w, "const %s *first", element), 1, &number, type},
      lanes);
}

// ---- conversions -----------------------------------------------------------------------------

const char *c_vector_conversion(c_writer *w, scalar_type from, scalar_type to, uint32_t lanes) {
  bool to_integer = !is_float(to) && to != SCALAR_BOOL;
  if (lanes == 1 || is_complex(from) || is_complex(to) || (is_float(from) && to_integer))
    return NULL;
  if (to == SCALAR_F16 || (from == SCALAR_F16 && to != SCALAR_BOOL))
    return c_half_conversion(w, from, to, lanes);
  const char *name =
      c_format(w, "convert_%s_%sx%u", scalar_types[from].name, scalar_types[to].name, lanes);
  const char *in = c_vector(w, c_part_bytes(from), lanes), *as = c_meaning(w, from, lanes);
  if (to == SCALAR_BOOL) {
    const char *unequal = c_vector_function(w, OP_NE, from, lanes);
    if (c_define(w, name))
      text_printf(&w->definitions, INLINE "%s %s(%s a) { return %s(a, (%s){0}); }\n",
                  c_mask_type(w, c_part_bytes(from), lanes), name, in, unequal, in);
    return name;
  }
  const char *out = c_vector(w, c_part_bytes(to), lanes), *wanted = c_meaning(w, to, lanes);
  if (c_define(w, name))
    text_printf(&w->definitions,
                INLINE "%s %s(%s a) { return (%s)__builtin_convertvector((%s)a, %s); }\n", out,
                name, in, out, as, wanted);
  return name;
}

// ---- masks -----------------------------------------------------------------------------------

// Whether gcc keeps masks of such vectors in mask registers, where PERMC_KMASK is defined.
static bool has_kmask(uint32_t bytes, uint32_t lanes) {
  uint32_t size = bytes * lanes;
  return size == 64 || size == 32 || size == 16;
}

// Of the intrinsics for a vector: "_mm512", "__m512i", "epi32", "ps"; and of a mask: "__mmask16".
typedef struct intrinsic_names {
  const char *prefix, *integer;
  uint32_t mask_bits;
} intrinsic_names;

static intrinsic_names names_of(uint32_t bytes, uint32_t lanes) {
  uint32_t size = bytes * lanes;
  intrinsic_names n = {.prefix = size == 64 ? "_mm512" : size == 32 ? "_mm256" : "_mm"};
  n.integer = size == 64 ? "__m512i" : size == 32 ? "__m256i" : "__m128i";
  n.mask_bits = lanes < 8 ? 8 : lanes;
  return n;
}

// Definitions in two versions, if there are two.
static void begin_kmask(c_writer *w, bool has) {
  w->masks_needed = true;
  if (has)
    text_string(&w->definitions, "#ifdef PERMC_KMASK\n");
}
static void else_kmask(c_writer *w, bool has) {
  if (has)
    text_string(&w->definitions, "#else\n");
}
static void end_kmask(c_writer *w, bool has) {
  if (has)
    text_string(&w->definitions, "#endif\n");
}

// mask_vector_T gives the mask as a vector, vector_mask_T a mask from one.
const char *c_mask_type(c_writer *w, uint32_t bytes, uint32_t lanes) {
  const char *type = c_vector(w, bytes, lanes), *name = c_format(w, "mask_%s", type);
  bool has = has_kmask(bytes, lanes);
  intrinsic_names n = names_of(bytes, lanes);
  text *t = &w->definitions;
  if (!c_define(w, name))
    return name;
  begin_kmask(w, has);
  if (has) {
    text_printf(t, "typedef __mmask%u %s;\n", n.mask_bits, name);
    text_printf(t, INLINE "%s mask_vector_%s(%s m) { return (%s)%s_maskz_set1_epi%u(m, -1); }\n",
                type, type, name, type, n.prefix, bytes * 8);
    text_printf(t, INLINE "%s vector_mask_%s(%s v) { return %s_test_epi%u_mask((%s)v, (%s)v); }\n",
                name, type, type, n.prefix, bytes * 8, n.integer, n.integer);
  }
  else_kmask(w, has);
  text_printf(t, "typedef %s %s;\n", type, name);
  text_printf(t, "#define mask_vector_%s(m) (m)\n#define vector_mask_%s(v) (v)\n", type, type);
  end_kmask(w, has);
  return name;
}

const char *c_mask_function(c_writer *w, scalar_op op, uint32_t bytes, uint32_t lanes) {
  static const char *const words[SCALAR_OP_COUNT] = {
      [OP_AND] = "and", [OP_OR] = "or", [OP_XOR] = "xor", [OP_COMPLEMENT] = "not"};
  static const char *const operators_[SCALAR_OP_COUNT] = {
      [OP_AND] = "(a) & (b)", [OP_OR] = "(a) | (b)", [OP_XOR] = "(a) ^ (b)"};
  if (!words[op])
    return NULL;
  const char *type = c_mask_type(w, bytes, lanes);
  const char *name = c_format(w, "%s_%s", words[op], type);
  bool has = has_kmask(bytes, lanes), one = op == OP_COMPLEMENT;
  if (!c_define(w, name))
    return name;
  begin_kmask(w, has);
  if (has)
    text_printf(&w->definitions, "#define %s(%s) _k%s_mask%u(%s)\n", name, one ? "a" : "a, b",
                words[op], names_of(bytes, lanes).mask_bits, one ? "a" : "a, b");
  else_kmask(w, has);
  text_printf(&w->definitions, "#define %s(%s) (%s)\n", name, one ? "a" : "a, b",
              one ? "~(a)" : operators_[op]);
  end_kmask(w, has);
  return name;
}

// ---- comparisons -----------------------------------------------------------------------------

bool c_gives_mask(scalar_op op) { return scalar_ops[op].result == RESULT_BOOL; }

typedef struct comparison_row {
  const char *operator;
  const char *integer, *real;  // the predicates of the intrinsics
} comparison_row;
static const comparison_row comparisons[SCALAR_OP_COUNT] = {
    [OP_EQ] = {"==", "_MM_CMPINT_EQ", "_CMP_EQ_OQ"},
    [OP_NE] = {"!=", "_MM_CMPINT_NE", "_CMP_NEQ_UQ"},
    [OP_LT] = {"<", "_MM_CMPINT_LT", "_CMP_LT_OQ"},
    [OP_LE] = {"<=", "_MM_CMPINT_LE", "_CMP_LE_OQ"},
    [OP_GT] = {">", "_MM_CMPINT_NLE", "_CMP_GT_OQ"},
    [OP_GE] = {">=", "_MM_CMPINT_NLT", "_CMP_GE_OQ"},
    [OP_TOTAL_LE] = {"<=", "_MM_CMPINT_LE", NULL},
    [OP_ISNAN] = {"!=", NULL, "_CMP_UNORD_Q"},
};

// "_mm512_cmp_epi32_mask((__m512i)x, (__m512i)y, p)" of operands that are given as text.
static const char *compare_call(c_writer *w, scalar_type type, uint32_t lanes, const char *x,
                                const char *y, scalar_op op) {
  uint32_t bytes = (uint32_t)scalar_types[type].size;
  intrinsic_names n = names_of(bytes, lanes);
  if (!is_float(type))
    return c_format(w, "%s_cmp_ep%c%u_mask((%s)%s, (%s)%s, %s)", n.prefix,
                    is_signed(type) ? 'i' : 'u', bytes * 8, n.integer, x, n.integer, y,
                    comparisons[op].integer);
  const char *vector = c_format(w, "__m%u%s", bytes * lanes * 8, bytes == 4 ? "" : "d");
  return c_format(w, "%s_cmp_p%c_mask((%s)%s, (%s)%s, %s)", n.prefix, bytes == 4 ? 's' : 'd',
                  vector, x, vector, y, comparisons[op].real);
}

static const char *comparison(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes,
                              const char *name) {
  uint32_t bytes = (uint32_t)scalar_types[type].size;
  const char *bits = c_vector(w, bytes, lanes), *as = c_meaning(w, type, lanes);
  const char *mask = c_mask_type(w, bytes, lanes), *x = "a", *y = op == OP_ISNAN ? "a" : "b";
  bool has = has_kmask(bytes, lanes), ranked = op == OP_TOTAL_LE && is_float(type);
  if (ranked) {
    define_rank(w, type, lanes);
    x = c_format(w, "rank_%s(a)", as);
    y = c_format(w, "rank_%s(b)", as);
    type = signed_of(bytes);
    as = c_meaning(w, type, lanes);
  }
  if (!c_define(w, name))
    return name;
  text_printf(&w->definitions, INLINE "%s %s(%s a%s%s) {\n", mask, name, bits,
              op == OP_ISNAN ? "" : ", ", op == OP_ISNAN ? "" : c_format(w, "%s b", bits));
  begin_kmask(w, has);
  if (has)
    text_printf(&w->definitions, "  return %s;\n", compare_call(w, type, lanes, x, y, op));
  else_kmask(w, has);
  text_printf(&w->definitions, "  return (%s)((%s)%s %s (%s)%s);\n", mask, as, x,
              comparisons[op].operator, as, y);
  end_kmask(w, has);
  text_string(&w->definitions, "}\n");
  return name;
}

// ---- masks and bools -------------------------------------------------------------------------

const char *c_mask_of_bools(c_writer *w, uint32_t bytes, uint32_t lanes) {
  const char *type = c_vector(w, bytes, lanes), *mask = c_mask_type(w, bytes, lanes);
  const char *name = c_format(w, "mask_of_bools_%s", type), *bools = c_vector(w, 1, lanes);
  if (c_define(w, name))
    text_printf(&w->definitions,
                INLINE "%s %s(%s c) {\n"
                       "  return vector_mask_%s((%s)(-__builtin_convertvector(c, %s)));\n}\n",
                mask, name, bools, type, type, type);
  return name;
}

const char *c_bools_of_mask(c_writer *w, uint32_t bytes, uint32_t lanes) {
  const char *type = c_vector(w, bytes, lanes), *mask = c_mask_type(w, bytes, lanes);
  const char *name = c_format(w, "bools_of_mask_%s", type), *bools = c_vector(w, 1, lanes);
  if (c_define(w, name))
    text_printf(&w->definitions,
                INLINE "%s %s(%s m) {\n"
                       "  return __builtin_convertvector(mask_vector_%s(m), %s) & 1;\n}\n",
                bools, name, mask, type, bools);
  return name;
}

const char *c_mask_of_mask(c_writer *w, uint32_t from, uint32_t to, uint32_t lanes) {
  const char *in = c_vector(w, from, lanes), *out = c_vector(w, to, lanes);
  const char *mask_in = c_mask_type(w, from, lanes), *mask_out = c_mask_type(w, to, lanes);
  const char *name = c_format(w, "%s_of_%s", mask_out, mask_in);
  const char *narrow = c_meaning(w, signed_of(from), lanes),
             *wide = c_meaning(w, signed_of(to), lanes);
  bool has = has_kmask(from, lanes) && has_kmask(to, lanes);
  if (!c_define(w, name))
    return name;
  text_printf(&w->definitions, INLINE "%s %s(%s m) {\n", mask_out, name, mask_in);
  begin_kmask(w, has);
  if (has)
    text_string(&w->definitions, "  return m;\n");
  else_kmask(w, has);
  text_printf(&w->definitions,
              "  return vector_mask_%s((%s)__builtin_convertvector((%s)mask_vector_%s(m), %s));\n",
              out, out, narrow, in, wide);
  end_kmask(w, has);
  text_string(&w->definitions, "}\n");
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
  const char *least = larger ? "max" : "min", *sign = is_signed(type) ? "s" : "u";
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
    if (masked)
      text_printf(t,
                  "#elif defined(__GNUC__) && defined(%s) && !defined(PERMC_PLAIN)\n"
                  "  typedef %s %s __attribute__((vector_size(%u)));\n"
                  "  return (%s)__builtin_ia32_p%s%s%c%u_mask((%s)a, (%s)b, (%s)a, -1);\n",
                  isa, words[bytes], builtin_type, size, bits, least, sign, letters[bytes],
                  size * 8, builtin_type, builtin_type, builtin_type);
    else
      text_printf(t,
                  "#elif defined(__GNUC__) && defined(%s) && !defined(PERMC_PLAIN)\n"
                  "  typedef %s %s __attribute__((vector_size(%u)));\n"
                  "  return (%s)__builtin_ia32_p%s%s%c%u((%s)a, (%s)b);\n",
                  isa, words[bytes], builtin_type, size, bits, least, sign, letters[bytes],
                  size * 8, builtin_type, builtin_type);
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

const char *c_blend(c_writer *w, uint32_t bytes, uint32_t lanes) {
  const char *type = c_vector(w, bytes, lanes), *name = c_format(w, "blend_%s", type);
  const char *mask = c_mask_type(w, bytes, lanes);
  bool has = has_kmask(bytes, lanes);
  intrinsic_names n = names_of(bytes, lanes);
  if (!c_define(w, name))
    return name;
  text_printf(&w->definitions, INLINE "%s %s(%s m, %s a, %s b) {\n", type, name, mask, type, type);
  begin_kmask(w, has);
  if (has)
    text_printf(&w->definitions, "  return (%s)%s_mask_blend_epi%u(m, (%s)b, (%s)a);\n", type,
                n.prefix, bytes * 8, n.integer, n.integer);
  else_kmask(w, has);
  text_string(&w->definitions, "  return (a & m) | (b & ~m);\n");
  end_kmask(w, has);
  text_string(&w->definitions, "}\n");
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
static void define_turn(c_writer *w, uint32_t bytes, uint32_t lanes, const char *name) {
  static const char *const letters[] = {[1] = "qi", [2] = "hi", [4] = "si", [8] = "di"};
  static const char *const words[] = {[1] = "char", [2] = "short", [4] = "int", [8] = "long long"};
  const char *type = c_vector(w, bytes, lanes);
  uint32_t size = bytes * lanes;
  text *t = &w->definitions;
  text_printf(t, INLINE "%s %s(%s a, uint64_t d) {\n", type, name, type);
  text_printf(t, "  %s turned = (%s){", type, type);
  for (uint32_t i = 0; i < lanes; i++)
    text_printf(t, i ? ", %u" : "%u", i);
  text_printf(t, "} ^ (uint%u_t)d;\n", bytes * 8);
  text_string(t, "#if !defined(__clang__)\n  return __builtin_shuffle(a, turned);\n");
  const char *isa = size == 64                 ? bytes == 1   ? "__AVX512VBMI__"
                                                 : bytes == 2 ? "__AVX512BW__"
                                                              : "__AVX512F__"
                    : size == 32 && bytes == 4 ? "__AVX2__"
                                               : NULL;
  if (isa)
    text_printf(t,
                "#elif defined(%s) && !defined(PERMC_PLAIN)\n"
                "  typedef %s turned_t __attribute__((vector_size(%u)));\n"
                "  return (%s)__builtin_ia32_permvar%s%u((turned_t)a, (turned_t)turned);\n",
                isa, words[bytes], size, type, letters[bytes], size * 8);
  text_printf(t,
              "#else\n  %s r;\n  for (int i = 0; i < %u; i++)\n    r[i] = a[turned[i]];\n"
              "  return r;\n#endif\n}\n",
              type, lanes);
}

const char *c_turn(c_writer *w, uint32_t bytes, uint32_t lanes) {
  const char *name = c_format(w, "turn_%s", c_vector(w, bytes, lanes));
  assert(lanes > 1);
  if (c_define(w, name))
    define_turn(w, bytes, lanes, name);
  return name;
}
