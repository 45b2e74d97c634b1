#include "kernels/text/function.h"

// ---- lane by lane ----------------------------------------------------------------------------

typedef struct lane_function {
  const char *name, *callee;  // callee: what takes and gives elements
  const char *parameter;      // of another first argument, or NULL; the callee gets it too
  uint32_t count;
  const scalar_type *types;
  scalar_type result;
} lane_function;

static const char *part_type(scalar_type type) { return c_element_type(scalar_real_of(type)); }

static void add_union(c_writer *w, text *t, const char *name, scalar_type type, uint32_t lanes,
                      const char *value) {
  text_printf(t, "  union { %s v; %s e%s; } %s%s%s%s;\n",
              c_vector(w, scalar_part_bytes(type), lanes), part_type(type),
              lanes > 1 ? c_format(w, "[%u]", lanes) : "", name, value ? " = {" : "",
              value ? value : "", value ? "}" : "");
}

// Of one lane without a loop: compilers take as long to see that there is none as for the rest.
// before: what is done in front of the lanes.
static void define_lanes(c_writer *w, const lane_function *f, uint32_t lanes, const char *before) {
  static const char *const parts[2] = {"", "_im"};
  const char *e = lanes > 1 ? "e[i]" : "e";
  const char *loop = lanes > 1 ? c_format(w, "  for (int i = 0; i < %u; i++)\n", lanes) : "";
  text head = {.memory = w->memory}, unions = head, call = head;
  const char *comma = "";
  if (f->parameter) {
    text_string(&head, f->parameter);
    text_string(&call, "first");
    comma = ", ";
  }
  for (uint32_t i = 0; i < f->count; i++) {
    for (uint32_t part = 0; part < scalar_parts(f->types[i]); part++) {
      text_printf(&head, "%s%s a%u%s", comma, c_vector(w, scalar_part_bytes(f->types[i]), lanes), i,
                  parts[part]);
      add_union(w, &unions, c_format(w, "x%u%s", i, parts[part]), f->types[i], lanes,
                c_format(w, "a%u%s", i, parts[part]));
      comma = ", ";
    }
    if (c_is_complex(f->types[i]))
      text_printf(&call, "%sLITERAL(%s){x%u.%s, x%u_im.%s}", i || f->parameter ? ", " : "",
                  c_element_type(f->types[i]), i, e, i, e);
    else
      text_printf(&call, "%sx%u.%s", i || f->parameter ? ", " : "", i, e);
  }
  const char *type = c_vector(w, scalar_part_bytes(f->result), lanes);
  add_union(w, &unions, "r", f->result, lanes, NULL);
  if (c_is_complex(f->result)) {
    add_union(w, &unions, "r_im", f->result, lanes, NULL);
    text_printf(&head, "%s%s *r0, %s *r1", comma, type, type);
  } else if (!*comma) {
    text_string(&head, "void");
  }
  bool failed = head.failed || unions.failed || call.failed;
  if (failed)
    w->definitions.failed = true;
  else if (c_is_complex(f->result))
    text_printf(&w->definitions,
                "static inline void %s(%s) {\n%s%s  {\n"
                "    %s z = %s(%s);\n    r.%s = z.re;\n    r_im.%s = z.im;\n  }\n"
                "  *r0 = r.v;\n  *r1 = r_im.v;\n}\n",
                f->name, head.data, unions.data, loop, c_element_type(f->result), f->callee,
                text_content(&call), e, e);
  else
    text_printf(&w->definitions,
                "static inline %s %s(%s) {\n%s%s%s  r.%s = %s(%s);\n  return r.v;\n}\n", type,
                f->name, head.data, unions.data, before, loop, e, f->callee, text_content(&call));
}

static const char *lane_function_after(c_writer *w, lane_function f, uint32_t lanes,
                                       const char *before) {
  f.name = c_format(w, "%sx%u", f.name, lanes);
  if (c_define(w, f.name))
    define_lanes(w, &f, lanes, before);
  return f.name;
}

static const char *lane_function_name(c_writer *w, lane_function f, uint32_t lanes) {
  return lane_function_after(w, f, lanes, "");
}

// Bools compare as bytes, and integers have one order only.
static const char *callee_name(c_writer *w, scalar_op op, scalar_type type) {
  if (op == OP_TOTAL_LE && !c_is_float(type))
    op = OP_LE;
  const char *suffix = type == SCALAR_BOOL && op != OP_COMPLEMENT ? "u8" : c_type_word(type);
  return c_format(w, "%s_%s", c_operation_name(w, op), suffix);
}

const char *c_lane_function(c_writer *w, scalar_op op, scalar_type type, uint32_t lanes) {
  const scalar_type types[2] = {type, op == OP_POWI ? SCALAR_I64 : type};
  bool integer = !c_is_float(type) && !c_is_complex(type);
  w->scalars_needed[integer ? 0 : 1] = true;
  return lane_function_name(
      w,
      (lane_function){c_format(w, "%s_%s", c_operation_name(w, op), c_type_word(type)),
                      callee_name(w, op, type), NULL, (uint32_t)scalar_ops[op].arity, types,
                      scalar_result_of(op, type)},
      lanes);
}

const char *c_lane_conversion(c_writer *w, scalar_type from, scalar_type to, uint32_t lanes) {
  w->scalars_needed[1] = true;
  return lane_function_name(
      w,
      (lane_function){c_format(w, "to_%s_%s", scalar_types[to].name, c_type_word(from)),
                      c_format(w, "to_%s_%s", scalar_types[to].name, c_type_word(from)), NULL, 1,
                      &from, to},
      lanes);
}

// ---- foreign functions and roots -------------------------------------------------------------

// C's own complex types, which the ABI passes differently from structures.
static const char *abi_type(scalar_type type) {
  return type == SCALAR_BOOL   ? "_Bool"
         : type == SCALAR_C64  ? "float _Complex"
         : type == SCALAR_C128 ? "double _Complex"
                               : c_element_type(type);
}

static void define_extern(c_writer *w, const c_function *e, const char *name) {
  bool with = e->callback && e->callback->with;
  text_printf(&w->definitions, "static inline %s %s(const permc_foreign *first",
              c_element_type(e->result), name);
  for (uint32_t i = 0; i < e->arity; i++)
    text_printf(&w->definitions, ", %s a%u", c_element_type(e->parameters[i]), i);
  text_printf(&w->definitions, ") {\n  union { %s c; %s e; } r", abi_type(e->result),
              c_element_type(e->result));
  for (uint32_t i = 0; i < e->arity; i++)
    text_printf(&w->definitions, ";\n  union { %s e; %s c; } x%u = {a%u}",
                c_element_type(e->parameters[i]), abi_type(e->parameters[i]), i, i);
  text_printf(&w->definitions, ";\n  r.c = ((%s (*)(%s", abi_type(e->result),
              with            ? "void *"
              : e->arity == 0 ? "void"
                              : "");
  for (uint32_t i = 0; i < e->arity; i++)
    text_printf(&w->definitions, "%s%s", i || with ? ", " : "", abi_type(e->parameters[i]));
  text_printf(&w->definitions, "))first->function)(%s", with ? "first->with" : "");
  for (uint32_t i = 0; i < e->arity; i++)
    text_printf(&w->definitions, "%sx%u.c", i || with ? ", " : "", i);
  text_string(&w->definitions, ");\n  return r.e;\n}\n");
}

const char *c_lane_extern(c_writer *w, uint64_t number, uint32_t lanes) {
  const c_function *e = &w->net->externs.items[number];
  const char *name = c_format(w, "extern_%llu", (unsigned long long)number);
  w->scalars_needed[1] = true;
  if (c_define(w, name))
    define_extern(w, e, name);
  return lane_function_name(
      w,
      (lane_function){name, name, "const permc_foreign *first", e->arity, e->parameters, e->result},
      lanes);
}

// The name of a function on the elements of an array of `count`.
static const char *place_function(c_writer *w, const char *kind, scalar_type type, uint64_t count) {
  w->scalars_needed[1] |= c_is_complex(type) || c_is_float(type);
  return c_format(w, "%s_%s_%llu", kind, scalar_types[type].name, (unsigned long long)count);
}

// Elements side by side, as those of a row are, are one vector in memory.
static const char *gather_run(c_writer *w, scalar_type type, uint64_t count, uint32_t lanes) {
  if (lanes == 1 || w->warps || c_is_complex(type) || count < lanes)
    return "";
  const char *bound = count == UINT64_MAX
                          ? ""
                          : c_format(w, " && (uint64_t)x0.e[0] <= %s", c_number(w, count - lanes));
  return c_format(w,
                  "  int run = 1;\n"
                  "  for (int i = 1; i < %u; i++)\n    run &= (uint64_t)x0.e[i] == "
                  "(uint64_t)x0.e[0] + (uint64_t)i;\n"
                  "  if (run%s)\n    return *(const %s *)(first + x0.e[0]);\n",
                  lanes, bound, c_vector_in_memory(w, scalar_part_bytes(type), lanes));
}

// The same eight at a time, by instructions where there are such.
static const char *gather_eights(c_writer *w, scalar_type type, uint64_t count, uint32_t lanes) {
  uint32_t bytes = scalar_part_bytes(type), bits = 64 * bytes;
  if (lanes % 8 || w->warps || c_is_complex(type) || (bytes != 4 && bytes != 8) || count < 8)
    return "";
  w->masks_needed = true;
  return c_format(w,
                  "#if PERMC_KMASK(512)\n"
                  "  const __m512i row = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);\n"
                  "  for (int i = 0; i < %u; i += 8) {\n"
                  "    const __m512i k = _mm512_loadu_si512(&x0.e[i]);\n"
                  "    const __m512i side = _mm512_add_epi64(_mm512_set1_epi64(x0.e[i]), row);\n"
                  "    const __mmask8 m = _mm512_cmplt_epu64_mask(k, _mm512_set1_epi64(%s));\n"
                  "    if ((uint64_t)x0.e[i] <= %s && !_mm512_cmpneq_epi64_mask(k, side))\n"
                  "      memcpy(&r.e[i], first + x0.e[i], %u);\n"
                  "    else\n"
                  "      _mm%u_storeu_si%u((void *)&r.e[i], _mm512_mask_i64gather_epi%u(\n"
                  "          _mm%u_setzero_si%u(), m, k, first, %u));\n"
                  "  }\n  return r.v;\n#endif\n",
                  lanes, c_number(w, count), c_number(w, count - 8), 8 * bytes, bits, bits,
                  8 * bytes, bits, bits, bytes);
}

// c_lane_gather: first[k], or 0 bits where there is no such element.
const char *c_lane_gather(c_writer *w, scalar_type type, uint64_t count, uint32_t lanes) {
  static const scalar_type number = SCALAR_I64;
  const char *element = c_element_type(type), *name = place_function(w, "gather", type, count);
  if (c_define(w, name))
    text_printf(&w->definitions,
                "static inline %s %s(const %s *first, int64_t k) {\n"
                "  const %s none = {0};\n"
                "  return %s(uint64_t)k < %s ? first[k] : none;\n}\n",
                element, name, element, element, count == UINT64_MAX ? "1 || " : "",
                c_number(w, count));
  return lane_function_after(
      w, (lane_function){name, name, c_format(w, "const %s *first", element), 1, &number, type},
      lanes,
      c_format(w, "%s%s", gather_eights(w, type, count, lanes), gather_run(w, type, count, lanes)));
}

// first[k] = value, which may be of x, where there is such an element.
static const char *write_function(c_writer *w, const char *name, scalar_type type, uint64_t count,
                                  const char *value, uint32_t lanes) {
  const scalar_type types[2] = {SCALAR_I64, type};
  const char *element = c_element_type(type);
  if (c_define(w, name))
    text_printf(&w->definitions,
                "static inline uint8_t %s(%s *first, int64_t k, %s x) {\n"
                "  if ((uint64_t)k < %s)\n    first[k] = %s;\n  return 0;\n}\n",
                name, element, element, c_number(w, count), value);
  return lane_function_name(
      w, (lane_function){name, name, c_format(w, "%s *first", element), 2, types, SCALAR_BOOL},
      lanes);
}

const char *c_lane_scatter(c_writer *w, scalar_type type, uint64_t count, uint32_t lanes) {
  return write_function(w, place_function(w, "scatter", type, count), type, count, "x", lanes);
}

// What the operation makes of the element and x, or a comparison chooses.
const char *c_lane_group(c_writer *w, scalar_op op, scalar_type type, uint64_t count,
                         uint32_t lanes) {
  const char *made = c_format(w, "%s(first[k], x)%s", callee_name(w, op, type),
                              scalar_fold_chooses(op) ? " ? first[k] : x" : "");
  const char *kind = c_format(w, "group_%s", c_operation_name(w, op));
  w->scalars_needed[!c_is_float(type) && !c_is_complex(type) ? 0 : 1] = true;
  return write_function(w, place_function(w, kind, type, count), type, count, made, lanes);
}

// k within 0 ... m - 1.
static const char *root_index(c_writer *w, uint64_t m) {
  return (m & (m - 1)) == 0
             ? c_format(w, "(uint64_t)k & %s", c_number(w, m - 1))
             : c_format(w, "(uint64_t)(k %% %s < 0 ? k %% %s + %s : k %% %s)", c_number(w, m),
                        c_number(w, m), c_number(w, m), c_number(w, m));
}

const char *c_lane_large_root(c_writer *w, scalar_type type, uint64_t m, uint32_t low,
                              uint32_t high_table, uint32_t low_table, uint32_t lanes) {
  static const scalar_type number = SCALAR_I64;
  const char *name =
      c_format(w, "large_root_%s_%llu", scalar_types[type].name, (unsigned long long)m);
  const char *index = root_index(w, m), *order = c_number(w, m);
  w->scalars_needed[1] = w->roots_needed = true;
  if (c_define(w, name)) {
    const char *value =
        low ? c_format(w, "root_of_two(ROOT_TABLE(first, %u), ROOT_TABLE(first, %u), %u, %s)",
                       high_table, low_table, low, index)
            : c_format(w, "root_alone(%s, %s)", index, order);
    if (!low && type == SCALAR_C64)
      value = c_format(w, "root_alone_narrow(%s, %s)", index, order);
    text_printf(&w->definitions,
                "static inline %s %s(const void *const *first, int64_t k) {\n"
                "  (void)first;\n  return %s;\n}\n",
                c_element_type(type), name, value);
  }
  return lane_function_name(
      w, (lane_function){name, name, "const void *const *first", 1, &number, type}, lanes);
}

const char *c_lane_root(c_writer *w, scalar_type type, uint64_t m, uint32_t lanes) {
  static const scalar_type number = SCALAR_I64;
  const char *name = c_format(w, "root_%s_%llu", scalar_types[type].name, (unsigned long long)m);
  const char *element = c_element_type(type);
  w->scalars_needed[1] = true;
  if (c_define(w, name)) {
    const char *index = root_index(w, m);
    text_printf(&w->definitions,
                "static inline %s %s(const %s *first, int64_t k) {\n"
                "  return first[%s];\n}\n",
                element, name, element, index);
  }
  return lane_function_name(
      w, (lane_function){name, name, c_format(w, "const %s *first", element), 1, &number, type},
      lanes);
}
