// What is about the program: header, calls, package. See making.h.
#include "kernels/text/text.h"
#include "runtime/ahead/making.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_for_gpu(const ahead_making *m) { return m->request->target == AHEAD_CUDA; }

// ---- the header --------------------------------------------------------------------------------

// Of an element, and what it stands for.
static const char *const c_types[SCALAR_COUNT][2] = {
    [SCALAR_BOOL] = {"uint8_t", ", each 0 or 1; in an argument each but 0 is true"},
    [SCALAR_I8] = {"int8_t", ""},
    [SCALAR_I16] = {"int16_t", ""},
    [SCALAR_I32] = {"int32_t", ""},
    [SCALAR_I64] = {"int64_t", ""},
    [SCALAR_U8] = {"uint8_t", ""},
    [SCALAR_U16] = {"uint16_t", ""},
    [SCALAR_U32] = {"uint32_t", ""},
    [SCALAR_U64] = {"uint64_t", ""},
    [SCALAR_F16] = {"uint16_t", ", the bits of IEEE's binary16"},
    [SCALAR_BF16] = {"uint16_t", ", the upper halves of floats"},
    [SCALAR_F32] = {"float", ""},
    [SCALAR_F64] = {"double", ""},
    [SCALAR_C64] = {"float", ", each a real and an imaginary part"},
    [SCALAR_C128] = {"double", ", each a real and an imaginary part"},
};

static void write_upper(text *out, const char *name) {
  for (; *name; name++)
    text_printf(out, "%c", toupper((unsigned char)*name));
}

// "argument_1", "result_2".
static void write_name(text *out, const ahead_making *m, size_t which) {
  bool argument = which < m->argument_count;
  text_printf(out, "%s_%zu", argument ? "argument" : "result",
              which + 1 - (argument ? 0 : m->argument_count));
}

static void write_array_comment(text *out, const ahead_making *m, size_t which) {
  const ahead_array *a = &m->arrays[which];
  text_string(out, "//   ");
  write_name(out, m, which);
  if (*a->name)
    text_printf(out, " (%s)", a->name);
  text_string(out, "  ");
  array_print_shape(out, &a->shape);
  text_printf(out, "%s; %s\n", c_types[a->shape.type][1],
              a->is_static                ? "part of the library: no parameter"
              : which < m->argument_count ? "read"
                                          : "written");
}

static void write_prototype(text *out, const ahead_making *m) {
  const char *name = m->request->name;
  text_printf(out, "int %s_call(", name);
  if (is_for_gpu(m))
    text_printf(out, "const %s_device *device, ", name);
  for (size_t i = 0; i < m->argument_count + m->result_count; i++) {
    if (m->arrays[i].is_static)
      continue;
    text_printf(out, "%s%s *", i < m->argument_count ? "const " : "",
                c_types[m->arrays[i].shape.type][0]);
    write_name(out, m, i);
    text_string(out, ", ");
  }
  text_printf(out, "void *workspace, %s%s_error *error)", is_for_gpu(m) ? "void *stream, " : "",
              name);
}

static void write_errors(text *out, const char *name) {
  static const char *const codes[][2] = {
      {"OK", "0: the results are there"},
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

static void write_workspace(text *out, const ahead_making *m) {
  const char *name = m->request->name;
  text_printf(out, "// Bytes of workspace of a call: %llu.\nsize_t %s_workspace_bytes(void);\n",
              (unsigned long long)m->workspace_bytes, name);
  if (!is_for_gpu(m))
    text_printf(
        out,
        "// Makes memory of so many bytes, at a multiple of 256, a workspace, once. Any number "
        "of\n// calls may use it, one at a time; it stays where it is.\n"
        "int %s_prepare(void *workspace);\n",
        name);
}

static void write_device(text *out, const char *name) {
  text_printf(out,
              "// The library on a GPU: its code and tables, in the CUDA context that is current.\n"
              "typedef struct %s_device %s_device;\n"
              "int %s_open(%s_device **device, %s_error *error);\n"
              "void %s_close(%s_device *device);  // when no call uses it; NULL is allowed\n\n",
              name, name, name, name, name, name, name);
}

// What a call does with memory, for a processor and for a GPU.
static const char *const call_notes[] = {
    "//   workspace  prepared, or NULL: the call makes one%s\n"
    "//   error  may be NULL; set when the call does not return 0\n//\n"
    "// Arrays are row-major, the last dimension the fastest. Results overlap neither arguments "
    "nor\n"
    "// each other. Any number of threads may call it at once, each with a workspace of its own.\n",
    "//   workspace  memory of the GPU at a multiple of 256, or NULL: memory of the stream's "
    "order%s\n"
    "//   stream  a CUstream or cudaStream_t; NULL is CUDA's default\n"
    "//   error  may be NULL; set when the call does not return 0\n//\n"
    "// Arrays are memory of the GPU, row-major, the last dimension the fastest. Results overlap\n"
    "// neither arguments nor each other. The work is put on the stream, and the call returns; "
    "where\n"
    "// elements are checked it waits for the checks. The context of the device is current. Any "
    "number\n"
    "// of threads may call it at once, each with a workspace of its own.\n"};

static void write_call(text *out, const ahead_making *m) {
  text_printf(out, "// %s\n//\n", m->title);
  for (size_t i = 0; i < m->argument_count + m->result_count; i++)
    write_array_comment(out, m, i);
  text_printf(out, call_notes[is_for_gpu(m)],
              m->has_roots ? ", which takes longer than the call" : "");
  write_prototype(out, m);
  text_string(out, ";\n");
}

static void write_header(text *out, const ahead_making *m) {
  const char *name = m->request->name;
  text_printf(out, "// %s: %s\n// A library written by permc %s. It needs %s alone.\n", name,
              m->title, PERMC_VERSION, is_for_gpu(m) ? "CUDA's driver" : "the C library");
  text_string(out, "#ifndef PERMC_AHEAD_");
  write_upper(out, name);
  text_string(out, "_H\n#define PERMC_AHEAD_");
  write_upper(out, name);
  text_string(out, "_H\n\n#include <stddef.h>\n#include <stdint.h>\n");
  text_string(out, m->externs.length ? "#include <stdbool.h>\n" : "");
  text_string(out, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  write_errors(out, name);
  if (is_for_gpu(m))
    write_device(out, name);
  write_workspace(out, m);
  text_string(out, "\n");
  write_call(out, m);
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
    "#if defined(__i386__)\n"
    "#pragma GCC target(\"sse2,fpmath=sse\")\n"
    "#endif\n"
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
  c_source_add(out, "core/check.h");
  c_source_add(out, "runtime/ahead/program_text.h");
  if (is_for_gpu(m)) {
    c_source_add(out, "runtime/gpu/launch_text.h");
    c_source_add(out, "runtime/ahead/gpu_program_text.h");
  } else {
    c_source_add(out, "fusion/net/dimension.h");
    c_source_add(out, "runtime/routines/key_rank.h");
    c_source_add(out, "runtime/routines/work.h");
    c_source_add(out, "runtime/ahead/host_program_text.h");
  }
  text_printf(out,
              "extern __attribute__((visibility(\"hidden\"))) const permc_program %s_program;\n",
              name);
}

// The parameters that are arrays, by number.
static void write_array_list(text *out, const ahead_making *m, bool results) {
  size_t first = results ? m->argument_count : 0;
  size_t last = results ? m->argument_count + m->result_count : m->argument_count;
  text_printf(out, "  %s[%zu] = {", results ? "void *const results" : "const void *const arguments",
              last - first + 1);
  for (size_t i = first; i < last; i++) {
    if (m->arrays[i].is_static)
      text_string(out, "NULL");
    else
      write_name(out, m, i);
    text_string(out, ", ");
  }
  text_string(out, "NULL};\n");
}

static void write_call_body(text *out, const ahead_making *m) {
  const char *name = m->request->name;
  text_string(out, "\n");
  write_prototype(out, m);
  text_string(out, " {\n");
  write_array_list(out, m, false);
  write_array_list(out, m, true);
  if (is_for_gpu(m))
    text_printf(out,
                "  permc_call_state call;\n"
                "  call.program = &%s_program;\n"
                "  call.loaded = &device->program;\n"
                "  call.overlapping = device->overlapping;\n"
                "  call.stream = stream;\n"
                "  call.error = error;\n"
                "  return permc_call(&call, arguments, results, workspace);\n}\n",
                name);
  else
    text_printf(out, "  return permc_call(&%s_program, arguments, results, workspace, error);\n}\n",
                name);
}

static void write_workspace_body(text *out, const ahead_making *m) {
  const char *name = m->request->name;
  text_printf(out,
              "\nsize_t %s_workspace_bytes(void) { return (size_t)%s_program.workspace_bytes; }\n",
              name, name);
  if (!is_for_gpu(m))
    text_printf(out,
                "\nint %s_prepare(void *workspace) {\n"
                "  if ((uintptr_t)workspace %% PERMC_ALIGNED)\n    return PERMC_ALIGNMENT;\n"
                "  permc_prepare(&%s_program, workspace);\n  return PERMC_OK;\n}\n",
                name, name);
}

// Kernels may begin before those before them end where GPU and driver allow that.
static void write_open_body(text *out, const char *name) {
  text_printf(out,
              "\nstruct %s_device {\n  int overlapping;\n  permc_loaded program;\n};\n"
              "\nvoid %s_close(%s_device *device) {\n"
              "  if (device)\n    permc_unload(&%s_program, &device->program);\n"
              "  free(device);\n}\n",
              name, name, name, name);
  text_printf(out,
              "\nint %s_open(%s_device **device, %s_error *error) {\n"
              "  %s_device *d = (%s_device *)calloc(1, sizeof *d);\n"
              "  int capability = permc_capability(error), version = 0;\n"
              "  *device = NULL;\n"
              "  if (!d)\n    return permc_refuse(error, PERMC_MEMORY, \"out of memory\");\n"
              "  if (!capability || !permc_load(&%s_program, capability, &d->program, error)) {\n"
              "    %s_close(d);\n    return PERMC_DEVICE;\n  }\n"
              "  d->overlapping = capability >= 90 && cuDriverGetVersion(&version) == 0 &&\n"
              "                   version >= PERMC_OVERLAPPING_DRIVER;\n"
              "  *device = d;\n  return PERMC_OK;\n}\n",
              name, name, name, name, name, name, name);
}

// What executes the routines of a processor, in a source of its own, for programs may have other
// functions of these names.
static void write_routines(text *out, const ahead_making *m) {
  static const char *const all[] = {"key_rank.h", "work.h",       "crew.h",     "transpose.h",
                                    "count.h",    "places.h",     "executor.h", "sort.h",
                                    "buckets.h",  "transpose.c",  "count.c",    "places.c",
                                    "words.h",    "words_team.h", "words.c",    "words_team.c",
                                    "classes.h",  "sort.c",       "classes.c",  "buckets.c"};
  enum { ALL = sizeof all / sizeof *all, WITHOUT_SORTS = 12 };
  const char *name = m->request->name;
  char path[64];
  text_printf(out, "// Routines of %s: sorts and the like, as permc %s has them.\n", name,
              PERMC_VERSION);
  text_string(out, compiler_text);
  text_printf(out, "#define ROUTINE_SCOPE static\n#define PERMC_RUN_ROUTINE %s_run_routine\n%s",
              name, m->has_sorts ? "" : "#define ROUTINES_WITHOUT_SORTS\n");
  c_source_add(out, "core/sanitized.h");
  c_source_add(out, "core/sizes.h");
  c_source_add(out, "fusion/net/dimension.h");
  for (size_t i = 0; i < (m->has_sorts ? ALL : WITHOUT_SORTS); i++) {
    snprintf(path, sizeof path, "runtime/routines/%s", all[i]);
    c_source_add(out, path);
  }
  c_source_add(out, "runtime/routines/executor.c");
  c_source_add(out, "runtime/ahead/alone_text.h");
}

// How a call executes a routine.
static void write_run_routine(text *out, const ahead_making *m) {
  const char *name = m->request->name;
  if (m->has_routines)
    text_printf(out,
                "#define PERMC_RUN_ROUTINE %s_run_routine\n"
                "__attribute__((visibility(\"hidden\"))) bool %s_run_routine(\n"
                "    const routine_work *, const uint64_t *, void *const *, char *);\n",
                name, name);
  else
    text_string(out, "#define PERMC_RUN_ROUTINE(work, blocks, arrays, memory) 0\n");
}

static void write_main(text *out, const ahead_making *m) {
  static const char *const parts[] = {"core/scalar/root_product.inc", "core/scalar/root.inc",
                                      "runtime/ahead/prepare_text.h", "core/check.inc",
                                      "runtime/ahead/check_text.h"};
  const char *name = m->request->name;
  text_printf(out, "// %s: %s\n// Written by permc %s.\n#include \"%s_private.h\"\n", name,
              m->title, PERMC_VERSION, name);
  text_printf(out,
              "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
              "#define PERMC_ERROR %s_error\n"
              "#define PERMC_MOST_ARRAYS %zu\n#define PERMC_MOST_PARAMETERS %zu\n",
              name, m->program_arrays + 1, m->program_arrays + 32);
  if (!is_for_gpu(m))
    write_run_routine(out, m);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    c_source_add(out, parts[i]);
  c_source_add(out, is_for_gpu(m) ? "runtime/ahead/gpu_call_text.h" : "runtime/ahead/call_text.h");
  write_workspace_body(out, m);
  if (is_for_gpu(m))
    write_open_body(out, name);
  write_call_body(out, m);
}

// ---- the package -------------------------------------------------------------------------------

static void write_package(text *out, const ahead_making *m) {
  const char *name = m->request->name;
  text_printf(
      out,
      "# %s: %s\n# Written by permc %s.\n#\n"
      "#   cmake -B build && cmake --build build && cmake --install build --prefix PREFIX\n"
      "#\n"
      "# Then, in a program's CMakeLists.txt:\n#\n"
      "#   find_package(%s)\n#   target_link_libraries(program %s::%s)\n"
      "cmake_minimum_required(VERSION 3.15)\nproject(%s C)\n"
      "include(GNUInstallDirs)\n"
      "if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)\n"
      "  set(CMAKE_BUILD_TYPE Release)\nendif()\n"
      "# The target's own name is none that CMake or a system has, such as all, test and m.\n"
      "add_library(%s_library %s.c %s_program.c",
      name, m->title, PERMC_VERSION, name, name, name, name, name, name, name);
  if (m->has_routines)
    text_printf(out, " %s_routines.c", name);
  text_printf(
      out,
      ")\n"
      "add_library(%s::%s ALIAS %s_library)\n"
      "target_include_directories(%s_library PUBLIC "
      "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>\n"
      "  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)\n"
      "set_target_properties(%s_library PROPERTIES OUTPUT_NAME %s EXPORT_NAME %s\n"
      "  C_STANDARD 99 POSITION_INDEPENDENT_CODE ON)\n"
      "# Floats are computed as written.\n"
      "target_compile_options(%s_library PRIVATE -ffp-contract=off -fno-strict-aliasing -fwrapv\n"
      "  -fno-math-errno)\n"
      "# Vectors are arguments of static functions alone, so that their ABI does not matter.\n"
      "if(CMAKE_C_COMPILER_ID STREQUAL GNU)\n"
      "  target_compile_options(%s_library PRIVATE -Wno-psabi)\nendif()\n"
      "target_link_libraries(%s_library PUBLIC -lm%s)\n"
      "install(TARGETS %s_library EXPORT %s-targets)\n"
      "install(FILES %s.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})\n"
      "install(EXPORT %s-targets NAMESPACE %s:: FILE %s-config.cmake\n"
      "  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/%s)\n",
      name, name, name, name, name, name, name, name, name, name, is_for_gpu(m) ? " -lcuda" : "",
      name, name, name, name, name, name, name);
}

static bool add_file(ahead_making *m, const char *name, const char *ending,
                     void (*write)(text *out, const ahead_making *m)) {
  text *out = ahead_add_file(m->library, "%s%s", name, ending);
  if (out)
    write(out, m);
  return out;
}

bool ahead_add_library(ahead_making *m) {
  const char *name = m->request->name;
  return (add_file(m, name, ".h", write_header) && add_file(m, name, ".c", write_main) &&
          add_file(m, name, "_private.h", write_private) &&
          add_file(m, "", "CMakeLists.txt", write_package) &&
          (!m->has_routines || add_file(m, name, "_routines.c", write_routines))) ||
         context_no_memory(m->context);
}
