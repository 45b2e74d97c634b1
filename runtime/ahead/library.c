// What all sizes of a library share: header, dispatch, package. See making.h.
#include "kernels/text/text.h"
#include "runtime/ahead/making.h"

#include <ctype.h>
#include <string.h>

// ---- lengths -----------------------------------------------------------------------------------

// A length that is not the same at all sizes: of dimension `dimension` of argument `argument`.
typedef struct length {
  size_t argument;
  uint32_t dimension;
} length;

enum { MOST_LENGTHS = 256 };

typedef struct lengths {
  size_t count;
  length items[MOST_LENGTHS];
} lengths;

static uint64_t length_at(const ahead_size *s, length l) {
  return s->arrays[l.argument].dims[l.dimension];
}

static bool same_lengths(const ahead_making *m, length a, length b) {
  for (size_t i = 0; i < m->size_count; i++)
    if (length_at(&m->sizes[i], a) != length_at(&m->sizes[i], b))
      return false;
  return true;
}

static bool varies(const ahead_making *m, length l) {
  for (size_t i = 0; i < m->size_count; i++)
    if (length_at(&m->sizes[i], l) != length_at(&m->sizes[0], l))
      return true;
  return false;
}

// Each of those that differ, once: they are parameters.
static lengths find_lengths(const ahead_making *m) {
  lengths found = {.count = 0};
  const ahead_size *s = &m->sizes[0];
  for (size_t i = 0; i < s->argument_count; i++)
    for (uint32_t k = 0; k < s->arrays[i].rank && !s->arrays[i].is_static; k++) {
      length l = {i, k};
      bool known = !varies(m, l) || found.count == MOST_LENGTHS;
      for (size_t j = 0; j < found.count && !known; j++)
        known = same_lengths(m, l, found.items[j]);
      if (!known)
        found.items[found.count++] = l;
    }
  return found;
}

// ---- the header --------------------------------------------------------------------------------

// Of an element, and what it stands for.
static const char *const c_types[SCALAR_COUNT][2] = {
    [SCALAR_BOOL] = {"uint8_t", ", each 0 or 1"},
    [SCALAR_I8] = {"int8_t", ""},
    [SCALAR_I16] = {"int16_t", ""},
    [SCALAR_I32] = {"int32_t", ""},
    [SCALAR_I64] = {"int64_t", ""},
    [SCALAR_U8] = {"uint8_t", ""},
    [SCALAR_U16] = {"uint16_t", ""},
    [SCALAR_U32] = {"uint32_t", ""},
    [SCALAR_U64] = {"uint64_t", ""},
    [SCALAR_F16] = {"uint16_t", ", the bits of IEEE's binary16"},
    [SCALAR_F32] = {"float", ""},
    [SCALAR_F64] = {"double", ""},
    [SCALAR_C64] = {"float", ", each a real and an imaginary part"},
    [SCALAR_C128] = {"double", ", each a real and an imaginary part"},
};

static void write_upper(text *out, const char *name) {
  for (; *name; name++)
    text_printf(out, "%c", toupper((unsigned char)*name));
}

static bool is_argument(const ahead_size *s, size_t which) { return which < s->argument_count; }

// "argument_1", "result_2".
static void write_name(text *out, const ahead_size *s, size_t which) {
  bool argument = is_argument(s, which);
  text_printf(out, "%s_%zu", argument ? "argument" : "result",
              which + 1 - (argument ? 0 : s->argument_count));
}

static void write_array_comment(text *out, const ahead_making *m, size_t which) {
  const ahead_size *s = &m->sizes[0];
  const ahead_array *a = &s->arrays[which];
  text_string(out, "//   ");
  write_name(out, s, which);
  if (*a->name)
    text_printf(out, " (%s)", a->name);
  text_string(out, "  ");
  for (size_t i = 0; i < m->size_count; i++) {
    text_string(out, i ? " or " : "");
    ahead_write_shape(out, &m->sizes[i].arrays[which]);
  }
  text_printf(out, "%s; %s\n", c_types[a->type][1],
              a->is_static            ? "part of the library: no parameter"
              : is_argument(s, which) ? "read"
                                      : "written");
}

static void write_parameters(text *out, const ahead_making *m, const lengths *l) {
  const ahead_size *s = &m->sizes[0];
  for (size_t i = 0; i < l->count; i++)
    text_printf(out, "size_t length_%zu, ", i + 1);
  for (size_t i = 0; i < s->argument_count + s->result_count; i++) {
    if (s->arrays[i].is_static)
      continue;
    text_printf(out, "%s%s *", is_argument(s, i) ? "const " : "", c_types[s->arrays[i].type][0]);
    write_name(out, s, i);
    text_string(out, ", ");
  }
}

static void write_length_parameters(text *out, const lengths *l) {
  for (size_t i = 0; i < l->count; i++)
    text_printf(out, "size_t length_%zu%s", i + 1, i + 1 < l->count ? ", " : "");
}

static void write_lengths_comment(text *out, const ahead_making *m, const lengths *l) {
  for (size_t i = 0; i < l->count; i++) {
    text_printf(out, "//   length_%zu  of dimension %u of argument_%zu: ", i + 1,
                l->items[i].dimension + 1, l->items[i].argument + 1);
    for (size_t k = 0; k < m->size_count; k++)
      text_printf(out, "%s%llu", k ? ", " : "",
                  (unsigned long long)length_at(&m->sizes[k], l->items[i]));
    text_string(out, "\n");
  }
}

static void write_errors(text *out, const char *name) {
  static const char *const codes[][2] = {
      {"OK", "0: the results are there"},
      {"LENGTHS", "the library was not made for these lengths"},
      {"MEMORY", "there is no memory for a workspace"},
      {"ALIGNMENT", "the workspace is not at a multiple of 256 bytes"},
      {"DATA", "an argument's elements are wrong: position, row and value say which"},
      {"DEVICE", "CUDA refused, or the GPU is one that the library has no code for"}};
  text_string(out,
              "// What calls return. After an error nothing is written to the results.\nenum {\n");
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    text_string(out, "  ");
    write_upper(out, name);
    text_printf(out, "_%s,  // %s\n", codes[i][0], codes[i][1]);
  }
  text_printf(
      out,
      "};\n"
      "typedef struct %s_error {\n"
      "  int code;\n"
      "  int64_t position, row, value;  // of DATA: which element is wrong, and what it is\n"
      "  char message[200];\n"
      "} %s_error;\n\n",
      name, name);
}

// Of C, and of CUDA where it is the same.
static void write_workspace(text *out, const ahead_making *m, const lengths *l) {
  const char *name = m->request->name;
  text_string(out, "// Bytes of workspace of a call: ");
  for (size_t i = 0; i < m->size_count; i++)
    text_printf(out, "%s%llu", i ? ", " : "", (unsigned long long)m->sizes[i].workspace_bytes);
  text_printf(out, ". 0: not for these lengths.\nsize_t %s_workspace_bytes(", name);
  write_length_parameters(out, l);
  text_string(out, l->count ? ");\n" : "void);\n");
  text_printf(
      out,
      "// Makes memory of so many bytes, at a multiple of 256, a workspace, once. Any number of\n"
      "// calls may use it, one at a time; it stays where it is.\nint %s_prepare(",
      name);
  write_length_parameters(out, l);
  text_printf(out, "%svoid *workspace);\n\n", l->count ? ", " : "");
}

static void write_call(text *out, const ahead_making *m, const lengths *l) {
  const ahead_size *s = &m->sizes[0];
  const char *name = m->request->name;
  text_printf(out, "// %s\n//\n", m->title);
  write_lengths_comment(out, m, l);
  for (size_t i = 0; i < s->argument_count + s->result_count; i++)
    write_array_comment(out, m, i);
  text_printf(out,
              "//   workspace  prepared, or NULL: the call makes one%s\n"
              "//   error  may be NULL; set when the call does not return ",
              s->has_roots ? ", which takes longer than the call" : "");
  write_upper(out, name);
  text_printf(out,
              "_OK\n//\n"
              "// Arrays are row-major, the last dimension the fastest. Results overlap neither "
              "arguments nor\n"
              "// each other. Any number of threads may call it at once, each with a workspace of "
              "its own.\n"
              "int %s_call(",
              name);
  write_parameters(out, m, l);
  text_printf(out, "void *workspace, %s_error *error);\n", name);
}

static void write_header(text *out, const ahead_making *m, const lengths *l) {
  const char *name = m->request->name;
  text_printf(out, "// %s: %s\n// A library written by permc %s. It needs the C library alone.\n",
              name, m->title, PERMC_VERSION);
  text_string(out, "#ifndef PERMC_AHEAD_");
  write_upper(out, name);
  text_string(out, "_H\n#define PERMC_AHEAD_");
  write_upper(out, name);
  text_string(out, "_H\n\n#include <stddef.h>\n#include <stdint.h>\n");
  text_string(out, m->externs.length ? "#include <stdbool.h>\n" : "");
  text_string(out, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  write_errors(out, name);
  write_workspace(out, m, l);
  write_call(out, m, l);
  if (m->externs.length)
    text_printf(
        out,
        "\n// Functions that the library calls; the program that it is linked into has them.\n%s",
        text_content(&m->externs));
  text_string(out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

// ---- sources -----------------------------------------------------------------------------------

// Results are those of permc to the bit only where products and sums are rounded one by one.
static const char compiler_text[] =
    "#if defined(__FAST_MATH__)\n"
    "#error \"floats are computed as written: compile this without -ffast-math\"\n"
    "#endif\n"
    "#if defined(__clang__)\n"
    "#pragma STDC FP_CONTRACT OFF\n"
    "#pragma clang diagnostic ignored \"-Wunused-variable\"\n"
    "#pragma clang diagnostic ignored \"-Wunused-function\"\n"
    "#elif defined(__GNUC__)\n"
    "#pragma GCC optimize(\"fp-contract=off\", \"no-strict-aliasing\", \"wrapv\", "
    "\"no-math-errno\", \\\n"
    "                     \"no-tree-slp-vectorize\")\n"
    "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
    "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n"
    "#pragma GCC diagnostic ignored \"-Wpsabi\"\n"
    "#endif\n";

static void write_private(text *out, const ahead_making *m) {
  const char *name = m->request->name;
  text_printf(out, "// What the sources of %s share. Written by permc %s.\n", name, PERMC_VERSION);
  text_string(out, compiler_text);
  text_printf(out, "#include \"%s.h\"\n", name);
  c_source_add(out, "kernels/text/host.h");
  c_source_add(out, "runtime/ahead/program_text.h");
  for (size_t i = 0; i < m->size_count; i++)
    text_printf(
        out, "extern __attribute__((visibility(\"hidden\"))) const permc_program %s_program_%zu;\n",
        name, i + 1);
}

static void write_find(text *out, const ahead_making *m, const lengths *l) {
  size_t columns = l->count ? l->count : 1;
  text_printf(out,
              "\nstatic const permc_program *find_program(const size_t *lengths) {\n"
              "  static const size_t known[%zu][%zu] = {",
              m->size_count, columns);
  for (size_t i = 0; i < m->size_count; i++) {
    text_string(out, i ? ", {" : "{");
    for (size_t k = 0; k < l->count; k++)
      text_printf(out, "%s%llu", k ? ", " : "",
                  (unsigned long long)length_at(&m->sizes[i], l->items[k]));
    text_string(out, l->count ? "}" : "0}");
  }
  text_string(out, "};\n  static const permc_program *const programs[] = {");
  for (size_t i = 0; i < m->size_count; i++)
    text_printf(out, "%s&%s_program_%zu", i ? ", " : "", m->request->name, i + 1);
  text_printf(out,
              "};\n  size_t i;\n"
              "  for (i = 0; i < %zu; i++)\n"
              "    if (memcmp(known[i], lengths, sizeof known[i]) == 0)\n"
              "      return programs[i];\n"
              "  return NULL;\n}\n",
              m->size_count);
}

static void write_length_list(text *out, const lengths *l) {
  text_printf(out, "  const size_t lengths[%zu] = {", l->count ? l->count : 1);
  for (size_t i = 0; i < l->count; i++)
    text_printf(out, "%slength_%zu", i ? ", " : "", i + 1);
  text_string(out, l->count ? "};\n" : "0};\n");
  text_string(out, "  const permc_program *p = find_program(lengths);\n");
}

static void write_call_body(text *out, const ahead_making *m, const lengths *l) {
  const ahead_size *s = &m->sizes[0];
  text_printf(out, "\nint %s_call(", m->request->name);
  write_parameters(out, m, l);
  text_printf(out, "void *workspace, %s_error *error) {\n", m->request->name);
  write_length_list(out, l);
  for (int results = 0; results < 2; results++) {
    size_t first = results ? s->argument_count : 0;
    size_t last = results ? s->argument_count + s->result_count : s->argument_count;
    text_printf(
        out, results ? "  void *const results[%zu] = {" : "  const void *const arguments[%zu] = {",
        last - first + 1);
    for (size_t i = first; i < last; i++) {
      if (s->arrays[i].is_static)
        text_string(out, "NULL");
      else
        write_name(out, s, i);
      text_string(out, ", ");
    }
    text_string(out, "NULL};\n");
  }
  text_string(out,
              "  if (!p)\n"
              "    return permc_refuse(error, PERMC_LENGTHS, \"not made for these lengths\");\n"
              "  return permc_call(p, arguments, results, workspace, error);\n}\n");
}

static void write_main(text *out, const ahead_making *m, const lengths *l) {
  const char *name = m->request->name;
  text_printf(out, "// %s: %s\n// Written by permc %s.\n#include \"%s_private.h\"\n", name,
              m->title, PERMC_VERSION, name);
  text_printf(out,
              "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
              "#define PERMC_ERROR %s_error\n",
              name);
  c_source_add(out, "core/scalar/root.inc");
  c_source_add(out, "runtime/ahead/prepare_text.h");
  c_source_add(out, "runtime/ahead/check_text.h");
  c_source_add(out, "runtime/ahead/routines_text.h");
  c_source_add(out, "runtime/ahead/call_text.h");
  write_find(out, m, l);
  text_printf(out, "\nsize_t %s_workspace_bytes(", name);
  write_length_parameters(out, l);
  text_string(out, l->count ? ") {\n" : "void) {\n");
  write_length_list(out, l);
  text_printf(out, "  return p ? (size_t)p->workspace_bytes : 0;\n}\n\nint %s_prepare(", name);
  write_length_parameters(out, l);
  text_printf(out, "%svoid *workspace) {\n", l->count ? ", " : "");
  write_length_list(out, l);
  text_string(out, "  if (!p)\n    return PERMC_LENGTHS;\n"
                   "  if ((uintptr_t)workspace % PERMC_ALIGNED)\n    return PERMC_ALIGNMENT;\n"
                   "  permc_prepare(p, workspace);\n  return PERMC_OK;\n}\n");
  write_call_body(out, m, l);
}

// ---- the package -------------------------------------------------------------------------------

static void write_package(text *out, const ahead_making *m) {
  const char *name = m->request->name;
  text_printf(out,
              "# %s: %s\n# Written by permc %s.\n#\n"
              "#   cmake -B build && cmake --build build && cmake --install build --prefix PREFIX\n"
              "#\n"
              "# Then, in a program's CMakeLists.txt:\n#\n"
              "#   find_package(%s)\n#   target_link_libraries(program %s::%s)\n"
              "cmake_minimum_required(VERSION 3.15)\nproject(%s C)\n"
              "include(GNUInstallDirs)\n"
              "if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)\n"
              "  set(CMAKE_BUILD_TYPE Release)\nendif()\n"
              "add_library(%s %s.c",
              name, m->title, PERMC_VERSION, name, name, name, name, name, name);
  for (size_t i = 0; i < m->size_count; i++)
    text_printf(out, " %s_%zu.c", name, i + 1);
  text_printf(
      out,
      ")\n"
      "target_include_directories(%s PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>\n"
      "  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)\n"
      "set_target_properties(%s PROPERTIES C_STANDARD 99 POSITION_INDEPENDENT_CODE ON)\n"
      "# Floats are computed as written.\n"
      "target_compile_options(%s PRIVATE -ffp-contract=off -fno-strict-aliasing -fwrapv\n"
      "  -fno-math-errno)\n"
      "target_link_libraries(%s PUBLIC m)\n"
      "install(TARGETS %s EXPORT %s-targets)\n"
      "install(FILES %s.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})\n"
      "install(EXPORT %s-targets NAMESPACE %s:: FILE %s-config.cmake\n"
      "  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/%s)\n",
      name, name, name, name, name, name, name, name, name, name, name);
}

bool ahead_add_library(ahead_making *m) {
  lengths l = find_lengths(m);
  ahead_library *all = m->library;
  const char *name = m->request->name;
  text *out[4] = {0};
  bool good = (out[0] = ahead_add_file(all, "%s.h", name)) != NULL;
  if (good)
    write_header(out[0], m, &l);
  good = good && (out[1] = ahead_add_file(all, "%s.c", name));
  if (good)
    write_main(out[1], m, &l);
  good = good && (out[2] = ahead_add_file(all, "%s_private.h", name));
  if (good)
    write_private(out[2], m);
  good = good && (out[3] = ahead_add_file(all, "CMakeLists.txt"));
  if (good)
    write_package(out[3], m);
  return good || context_no_memory(m->context);
}
