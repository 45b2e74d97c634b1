#include "kernels/text/function.h"

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

static intrinsic_names intrinsics_of(uint32_t bytes, uint32_t lanes) {
  uint32_t size = bytes * lanes;
  intrinsic_names n = {.prefix = size == 64 ? "_mm512" : size == 32 ? "_mm256" : "_mm"};
  n.integer = size == 64 ? "__m512i" : size == 32 ? "__m256i" : "__m128i";
  n.mask_bits = lanes < 8 ? 8 : lanes;
  return n;
}

// A definition in two versions where gcc may keep such masks in mask registers.
static void define_versions(c_writer *w, bool kmask, const char *with_kmask, const char *without) {
  w->masks_needed = true;
  if (kmask)
    text_printf(&w->definitions, "#ifdef PERMC_KMASK\n%s#else\n%s#endif\n", with_kmask, without);
  else
    text_string(&w->definitions, without);
}

// mask_vector_T gives the mask as a vector, vector_mask_T a mask from one.
const char *c_mask_type(c_writer *w, uint32_t bytes, uint32_t lanes) {
  const char *type = c_vector(w, bytes, lanes), *name = c_format(w, "mask_%s", type);
  intrinsic_names n = intrinsics_of(bytes, lanes);
  if (c_define(w, name))
    define_versions(
        w, has_kmask(bytes, lanes),
        c_format(w,
                 "typedef __mmask%u %s;\n" INLINE
                 "%s mask_vector_%s(%s m) { return (%s)%s_maskz_set1_epi%u(m, -1); }\n" INLINE
                 "%s vector_mask_%s(%s v) { return %s_test_epi%u_mask((%s)v, (%s)v); }\n",
                 n.mask_bits, name, type, type, name, type, n.prefix, bytes * 8, name, type, type,
                 n.prefix, bytes * 8, n.integer, n.integer),
        c_format(w,
                 "typedef %s %s;\n"
                 "#define mask_vector_%s(m) (m)\n#define vector_mask_%s(v) (v)\n",
                 type, name, type, type));
  return name;
}

const char *c_mask_function(c_writer *w, scalar_op op, uint32_t bytes, uint32_t lanes) {
  static const char *const words[SCALAR_OP_COUNT] = {
      [OP_AND] = "and", [OP_OR] = "or", [OP_XOR] = "xor", [OP_COMPLEMENT] = "not"};
  static const char *const operators_[SCALAR_OP_COUNT] = {[OP_AND] = "(a) & (b)",
                                                          [OP_OR] = "(a) | (b)",
                                                          [OP_XOR] = "(a) ^ (b)",
                                                          [OP_COMPLEMENT] = "~(a)"};
  if (!words[op])
    return NULL;
  const char *type = c_mask_type(w, bytes, lanes);
  const char *name = c_format(w, "%s_%s", words[op], type);
  const char *parameters = op == OP_COMPLEMENT ? "a" : "a, b";
  if (c_define(w, name))
    define_versions(w, has_kmask(bytes, lanes),
                    c_format(w, "#define %s(%s) _k%s_mask%u(%s)\n", name, parameters, words[op],
                             intrinsics_of(bytes, lanes).mask_bits, parameters),
                    c_format(w, "#define %s(%s) (%s)\n", name, parameters, operators_[op]));
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

// The place of a float in the total order (scalar/real.inc), as an integer: the bits of a positive
// number grow with it, those of a negative one are inverted, and all NaN come last.
static void define_rank(c_writer *w, scalar_type type, uint32_t lanes) {
  const char *name = c_meaning(w, type, lanes);
  uint32_t bytes = (uint32_t)scalar_types[type].size;
  const char *integer = c_meaning(w, c_signed_of(bytes), lanes);
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

// "_mm512_cmp_epi32_mask((__m512i)x, (__m512i)y, p)" of operands that are given as text.
static const char *compare_call(c_writer *w, scalar_type type, uint32_t lanes, const char *x,
                                const char *y, scalar_op op) {
  uint32_t bytes = (uint32_t)scalar_types[type].size;
  intrinsic_names n = intrinsics_of(bytes, lanes);
  if (!c_is_float(type))
    return c_format(w, "%s_cmp_ep%c%u_mask((%s)%s, (%s)%s, %s)", n.prefix,
                    c_is_signed(type) ? 'i' : 'u', bytes * 8, n.integer, x, n.integer, y,
                    comparisons[op].integer);
  const char *vector = c_format(w, "__m%u%s", bytes * lanes * 8, bytes == 4 ? "" : "d");
  return c_format(w, "%s_cmp_p%c_mask((%s)%s, (%s)%s, %s)", n.prefix, bytes == 4 ? 's' : 'd',
                  vector, x, vector, y, comparisons[op].real);
}

const char *c_comparison(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes,
                         const char *name) {
  uint32_t bytes = (uint32_t)scalar_types[type].size;
  const char *bits = c_vector(w, bytes, lanes), *as = c_meaning(w, type, lanes);
  const char *mask = c_mask_type(w, bytes, lanes), *x = "a", *y = op == OP_ISNAN ? "a" : "b";
  bool has = has_kmask(bytes, lanes);
  if (op == OP_TOTAL_LE && c_is_float(type)) {
    define_rank(w, type, lanes);
    x = c_format(w, "rank_%s(a)", as);
    y = c_format(w, "rank_%s(b)", as);
    type = c_signed_of(bytes);
    as = c_meaning(w, type, lanes);
  }
  if (!c_define(w, name))
    return name;
  text_printf(&w->definitions, INLINE "%s %s(%s a%s%s) {\n", mask, name, bits,
              op == OP_ISNAN ? "" : ", ", op == OP_ISNAN ? "" : c_format(w, "%s b", bits));
  define_versions(w, has,
                  has ? c_format(w, "  return %s;\n", compare_call(w, type, lanes, x, y, op)) : "",
                  c_format(w, "  return (%s)((%s)%s %s (%s)%s);\n", mask, as, x,
                           comparisons[op].operator, as, y));
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
  const char *narrow = c_meaning(w, c_signed_of(from), lanes),
             *wide = c_meaning(w, c_signed_of(to), lanes);
  if (!c_define(w, name))
    return name;
  text_printf(&w->definitions, INLINE "%s %s(%s m) {\n", mask_out, name, mask_in);
  define_versions(
      w, has_kmask(from, lanes) && has_kmask(to, lanes), "  return m;\n",
      c_format(w,
               "  return vector_mask_%s((%s)__builtin_convertvector((%s)mask_vector_%s(m), %s));\n",
               out, out, narrow, in, wide));
  text_string(&w->definitions, "}\n");
  return name;
}

const char *c_blend(c_writer *w, uint32_t bytes, uint32_t lanes) {
  const char *type = c_vector(w, bytes, lanes), *name = c_format(w, "blend_%s", type);
  const char *mask = c_mask_type(w, bytes, lanes);
  intrinsic_names n = intrinsics_of(bytes, lanes);
  if (!c_define(w, name))
    return name;
  text_printf(&w->definitions, INLINE "%s %s(%s m, %s a, %s b) {\n", type, name, mask, type, type);
  define_versions(w, has_kmask(bytes, lanes),
                  c_format(w, "  return (%s)%s_mask_blend_epi%u(m, (%s)b, (%s)a);\n", type,
                           n.prefix, bytes * 8, n.integer, n.integer),
                  "  return (a & m) | (b & ~m);\n");
  text_string(&w->definitions, "}\n");
  return name;
}

// The instruction for ranges has the order but for NaN, of which it takes the other operand; one by
// one they are put right. Both orders of two NaN are alike: then it is the one that select takes.
const char *c_total_extremum(c_writer *w, bool last, scalar_type type, uint32_t lanes) {
  uint32_t bytes = (uint32_t)scalar_types[type].size;
  const char *bits = c_vector(w, bytes, lanes), *blend = c_blend(w, bytes, lanes);
  const char *as = c_format(w, "%sx%u", scalar_types[type].name, lanes);
  const char *order = c_comparison(w, OP_TOTAL_LE, type, lanes, c_format(w, "total_le_%s", as));
  const char *name = c_format(w, "%s_%s", last ? "last" : "first", as);
  if (!c_define(w, name))
    return name;
  const char *prefix = intrinsics_of(bytes, lanes).prefix;
  const char *real = c_format(w, "__m%u%s", bytes * lanes * 8, bytes == 4 ? "" : "d");
  char p = bytes == 4 ? 's' : 'd';
  text_printf(&w->definitions, INLINE "%s %s(%s a, %s b) {\n", bits, name, bits, bits);
  define_versions(
      w, has_kmask(bytes, lanes),
      c_format(w,
               "  %s x = (%s)a, y = (%s)b, r = %s_range_p%c(x, y, %d);\n"
               "  r = %s_mask_mov_p%c(r, %s_cmp_p%c_mask(x, x, _CMP_UNORD_Q), %s);\n"
               "  return (%s)%s_mask_mov_p%c(r, %s_cmp_p%c_mask(y, y, _CMP_UNORD_Q), %s);\n",
               real, real, real, prefix, p, last ? 5 : 4, prefix, p, prefix, p, last ? "x" : "y",
               bits, prefix, p, prefix, p, last ? "y" : "x"),
      c_format(w, "  return %s(%s(a, b), %s);\n", blend, order, last ? "b, a" : "a, b"));
  text_string(&w->definitions, "}\n");
  return name;
}
