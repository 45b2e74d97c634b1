#include "kernels/text/function.h"
#include "kernels/text/source.h"

#include <ctype.h>

// What a paragraph is written for.
typedef struct instance {
  scalar_type type;
  uint32_t lanes;
  const char *word;
  const char *const *own;
} instance;

// The code of the paragraph: from behind its comment to *end. NULL: there is none.
static const char *find_paragraph(c_writer *w, const char *key, const char **end) {
  static const char *const files[] = {"core/scalar/order.inc", "kernels/text/vector.inc"};
  const char *head = c_format(w, "\n\n// %s: ", key), *code = NULL;
  for (size_t i = 0; i < sizeof files / sizeof *files && !code; i++)
    code = strstr(c_source_named(files[i], strlen(files[i]))->text, head);
  if (!code)
    return NULL;
  for (code += 2; *code == '/'; code++)
    code = strchr(code, '\n');
  *end = strstr(code, "\n\n");
  *end = *end ? *end + 1 : code + strlen(code);
  return code;
}

// A constant of so many bytes, with a sign or "U".
static const char *c_bits(c_writer *w, uint32_t bytes, const char *sign, uint64_t bits) {
  return bytes < 4 ? c_format(w, "0x%llx", (unsigned long long)bits)
                   : c_format(w, "%sINT%u_C(0x%llx)", sign, 8 * bytes, (unsigned long long)bits);
}

// NULL: it stays as it is.
static const char *replaced_word(c_writer *w, const instance *t, const char *word) {
  static const char *const by_size[][5] = {
      {"MOST", "INT8_MAX", "INT16_MAX", "INT32_MAX", "INT64_MAX"},
      {"INTEGER", "char", "short", "int", "long long"},
      {"LETTER", "b", "w", "d", "q"},
      {"MODE", "qi", "hi", "si", "di"}};
  uint32_t bytes = scalar_part_bytes(t->type), lanes = t->lanes, size = 8 * bytes * lanes;
  char kind = c_is_float(t->type) ? 'f' : c_is_signed(t->type) ? 'i' : 'u';
  for (size_t i = 0; i < sizeof by_size / sizeof *by_size; i++)
    if (strcmp(word, by_size[i][0]) == 0)
      return by_size[i][1 + __builtin_ctz(bytes)];
#define IS(name) (strcmp(word, name) == 0)
  return IS("INLINE")      ? INLINE
         : IS("INFINITE")  ? c_bits(w, bytes, "", scalar_types[t->type].infinity)
         : IS("USUAL_NAN") ? c_bits(w, bytes, "U", scalar_maxval(t->type).u64)
         : IS("WORD")      ? t->word
         : IS("V")         ? c_vector(w, bytes, lanes)
         : IS("I")         ? c_meaning(w, c_signed_of(bytes), lanes)
         : IS("F")         ? c_meaning(w, t->type, lanes)
         : IS("M")         ? c_mask_type(w, bytes, lanes)
         : IS("BYTES")     ? c_vector(w, 1, lanes)
         : IS("ELEMENT")   ? c_format(w, "uint%u_t", 8 * bytes)
         : IS("BITS")      ? c_format(w, "%u", 8 * bytes)
         : IS("LANES")     ? c_format(w, "%u", lanes)
         : IS("SIZE")      ? c_format(w, "%u", size)
         : IS("K")         ? c_format(w, "%u", lanes < 8 ? 8 : lanes)
         : IS("MASK")      ? (lanes == 1 ? "-" : "")
         : IS("SIGN")      ? (kind == 'i' ? "s" : "u")
         : IS("MM")        ? (size > 128 ? c_format(w, "_mm%u", size) : "_mm")
         : IS("MI")        ? c_format(w, "__m%ui", size)
         : IS("MF")        ? c_format(w, "__m%u%s", size,
                               kind != 'f'  ? "i"
                                      : bytes == 4 ? ""
                                                   : "d")
         : IS("EP")
             ? (kind == 'f' ? bytes == 4 ? "ps" : "pd" : c_format(w, "ep%c%u", kind, 8 * bytes))
             : NULL;
#undef IS
}

// The name of the instance's own function or of another one, which is defined first.
static const char *function_name(c_writer *w, const instance *t, const char *word,
                                 scalar_type type) {
  const char *end;
  if (strcmp(word, t->word) != 0 && find_paragraph(w, word, &end))
    return c_function_of(w, word, type, t->lanes);
  for (scalar_op op = OP_EQ; op <= OP_GE && strcmp(word, t->word) != 0; op++)
    if (strcmp(word, c_operation_name(w, op)) == 0)
      return c_comparison(w, op, type, t->lanes);
  return c_format(w, "%s_%sx%u", word, c_type_word(type), t->lanes);
}

static const char *expand(c_writer *w, const instance *t, const char *code, const char *end) {
  uint32_t bytes = scalar_part_bytes(t->type);
  text out = {.memory = w->memory};
  while (code < end) {
    size_t length = 0;
    while (code + length < end && (code[length] == '_' || isalnum((unsigned char)code[length])))
      length++;
    const char *word = c_format(w, "%.*s", (int)length, code), *given = NULL;
    bool name = strcmp(word, "NAME") == 0, of_bits = strcmp(word, "OF_BITS") == 0;
    code += length;
    if (name || of_bits || strcmp(word, "OF_SIGNED") == 0) {
      const char *close = strchr(code, ')');
      scalar_type type = name ? t->type : of_bits ? c_unsigned_of(bytes) : c_signed_of(bytes);
      given = function_name(w, t, expand(w, t, code + 1, close), type);
      code = close + 1;
    } else if (length > 0) {
      w->masks_needed |= strcmp(word, "PERMC_KMASK") == 0;
      given = replaced_word(w, t, word);
    } else if (*code == '$') {
      given = t->own[code[1] - '1'];
      given = expand(w, t, given, given + strlen(given));
      code += 2;
    } else {
      bool pastes = code[0] == '#' && code[1] == '#';
      text_add(&out, code, pastes ? 0 : 1);
      code += pastes ? 2 : 1;
    }
    text_string(&out, given ? given : word);
  }
  w->definitions.failed |= out.failed;
  return text_content(&out);
}

const char *c_function_by(c_writer *w, const char *key, const char *word, scalar_type type,
                          uint32_t lanes, const char *const *own) {
  const instance t = {type, lanes, word, own};
  const char *name = c_format(w, "%s_%sx%u", word, c_type_word(type), lanes), *code, *end = NULL;
  if (!c_define(w, name))
    return name;
  code = find_paragraph(w, key, &end);
  assert(code);
  text_string(&w->definitions, expand(w, &t, code, end));
  return name;
}

const char *c_function_of(c_writer *w, const char *key, scalar_type type, uint32_t lanes) {
  return c_function_by(w, key, key, type, lanes, NULL);
}

const char *c_bits_function(c_writer *w, const char *key, uint32_t bytes, uint32_t lanes) {
  return c_function_of(w, key, c_unsigned_of(bytes), lanes);
}

// ---- masks and comparisons -------------------------------------------------------------------

const char *c_mask_type(c_writer *w, uint32_t bytes, uint32_t lanes) {
  return lanes == 1 ? "bool" : c_bits_function(w, "mask", bytes, lanes);
}

const char *c_mask_function(c_writer *w, scalar_op op, uint32_t bytes, uint32_t lanes) {
  static const struct {
    const char *word, *own[2];
  } rows[SCALAR_OP_COUNT] = {[OP_AND] = {"and_mask", {"a, b", "(a) & (b)"}},
                             [OP_OR] = {"or_mask", {"a, b", "(a) | (b)"}},
                             [OP_XOR] = {"xor_mask", {"a, b", "(a) ^ (b)"}},
                             [OP_COMPLEMENT] = {"not_mask", {"a", "~(a)"}}};
  return rows[op].word ? c_function_by(w, "mask_operation", rows[op].word, c_unsigned_of(bytes),
                                       lanes, rows[op].own)
                       : NULL;
}

const char *c_mask_of_mask(c_writer *w, uint32_t from, uint32_t to, uint32_t lanes) {
  const char *type = c_vector(w, from, lanes);
  c_mask_type(w, from, lanes);
  return c_function_by(w, "mask_of_mask", c_format(w, "mask_of_%s", type), c_unsigned_of(to), lanes,
                       (const char *[]){type, c_meaning(w, c_signed_of(from), lanes),
                                        c_format(w, "%u", 8 * from * lanes)});
}

bool c_gives_mask(scalar_op op) { return scalar_ops[op].result == RESULT_BOOL; }

const char *c_total_extremum(c_writer *w, bool last, scalar_type type, uint32_t lanes) {
  uint32_t bytes = scalar_part_bytes(type), size = bytes * lanes;
  const char *known = size == 32 ? "__AVX__" : size == 16 ? "__SSE4_1__" : "PERMC_NO_INSTRUCTION";
  const char *suffix = c_format(w, "p%c%s", bytes == 4 ? 's' : 'd', size == 32 ? "256" : "");
  const char *older = c_format(w, "%s%s", last ? "max" : "min", suffix);
  const char *choice = c_format(w, "blendv%s", suffix);
  return last ? c_function_by(w, "extremum", "last", type, lanes,
                              (const char *[]){"5", "x", "y", "b, a", older, "&", known, choice})
              : c_function_by(w, "extremum", "first", type, lanes,
                              (const char *[]){"4", "y", "x", "a, b", older, "|", known, choice});
}

const char *c_comparison(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes) {
  static const struct {
    const char *relation, *of_integers, *of_floats;
  } rows[SCALAR_OP_COUNT] = {
      [OP_EQ] = {"==", "_MM_CMPINT_EQ", "_CMP_EQ_OQ"},
      [OP_NE] = {"!=", "_MM_CMPINT_NE", "_CMP_NEQ_UQ"},
      [OP_LT] = {"<", "_MM_CMPINT_LT", "_CMP_LT_OQ"},
      [OP_LE] = {"<=", "_MM_CMPINT_LE", "_CMP_LE_OQ"},
      [OP_GT] = {">", "_MM_CMPINT_NLE", "_CMP_GT_OQ"},
      [OP_GE] = {">=", "_MM_CMPINT_NLT", "_CMP_GE_OQ"},
      [OP_TOTAL_LE] = {"<=", "_MM_CMPINT_LE", NULL},
  };
  const char *name = c_operation_name(w, op);
  if (op == OP_TOTAL_LE && CLASS_OF(type) & CLASS_SMALL)
    return c_function_by(w, "half_total_le", name, type, lanes, NULL);
  if (op == OP_TOTAL_LE && c_is_float(type))
    c_total_extremum(w, true, type, lanes);
  if (c_is_float(type) && (op == OP_TOTAL_LE || op == OP_ISNAN))
    return c_function_of(w, name, type, lanes);
  return c_function_by(
      w, CLASS_OF(type) & CLASS_SMALL ? "half_comparison" : "comparison", name, type, lanes,
      (const char *[]){rows[op].relation,
                       c_is_float(type) ? rows[op].of_floats : rows[op].of_integers,
                       op == OP_NE ? "| " : "& ~"});
}
