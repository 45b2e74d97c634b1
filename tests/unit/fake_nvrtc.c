// A run-time compiler that needs no CUDA: a shared library that PERMC_NVRTC names.
//
// It knows sm_80 and sm_90. Its "cubin" is the options, each followed by a space, and the text; a
// text that begins with "log:" is wrong, and the rest of it is what the log says. The environment
// variable FAKE_NVRTC is its version, "12.4" if it is not set; FAKE_NVRTC_FAIL names a function
// that fails; FAKE_NVRTC_CUBIN, if it is set, is what every text is compiled to. With
// FAKE_NVRTC_HOST, a folder, kernels (kernels/emit/emit.h) are compiled for the host, to libraries
// there that the fake driver executes: the text is C as well (kernels/text/cuda_host.h).
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fake_cuda.h"

#include <stdatomic.h>
#include <unistd.h>

enum { GOOD, OUT_OF_MEMORY, INVALID_PROGRAM = 4, COMPILATION = 6, SIZE = 1000 };

typedef struct program {
  char text[SIZE], cubin[2 * SIZE];
  char *all;  // of the text, for the host
  const char *log;
} program;

// Exported, each after its prototype.
#define FUNCTION(name, parameters)                                                                 \
  __attribute__((visibility("default"))) int name parameters;                                      \
  int name parameters

static bool fails(const char *name) {
  const char *fail = getenv("FAKE_NVRTC_FAIL");
  return fail && strcmp(fail, name) == 0;
}

__attribute__((visibility("default"))) const char *nvrtcGetErrorString(int status);
const char *nvrtcGetErrorString(int status) {
  return status == COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OTHER";
}

FUNCTION(nvrtcVersion, (int *major, int *minor)) {
  const char *version = getenv("FAKE_NVRTC");
  return sscanf(version ? version : "12.4", "%d.%d", major, minor) == 2 ? GOOD : INVALID_PROGRAM;
}

FUNCTION(nvrtcGetNumSupportedArchs, (int *count)) {
  *count = 2;
  return fails(__func__) ? INVALID_PROGRAM : GOOD;
}

FUNCTION(nvrtcGetSupportedArchs, (int *architectures)) {
  architectures[0] = 80;
  architectures[1] = 90;
  return GOOD;
}

FUNCTION(nvrtcCreateProgram, (program * *out, const char *text, const char *name, int header_count,
                              const char *const *headers, const char *const *header_names)) {
  if (fails(__func__) || !name || header_count || headers || header_names)
    return OUT_OF_MEMORY;
  *out = calloc(1, sizeof **out);
  if (*out)
    snprintf((*out)->text, SIZE, "%s", text);
  if (*out && getenv("FAKE_NVRTC_HOST"))
    (*out)->all = strdup(text);
  return *out ? GOOD : OUT_OF_MEMORY;
}

FUNCTION(nvrtcDestroyProgram, (program * *p)) {
  free((*p)->all);
  free(*p);
  *p = NULL;
  return GOOD;
}

// ---- for the host ------------------------------------------------------------------------------

// In front of each kernel NAME: fake_permc_pass_NAME, which calls it for all blocks, with its
// parameters as numbers of 8 bytes, which pointers are here, too; and how many these are.
static const char entries[] =
    "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#define FAKE_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, "
    "...) y\n"
    "#define FAKE_COUNT(...) FAKE_PICK(__VA_ARGS__, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, "
    "13, "
    "12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)\n"
    "#define FAKE_ENTRY(number, ...) \\\n"
    "  static void permc_kernel_##number(char *scratch, uint64_t item, __VA_ARGS__); \\\n"
    "  const unsigned fake_permc_pass_##number##_parameters = 1 + FAKE_COUNT(__VA_ARGS__); \\\n"
    "  void fake_permc_pass_##number(const uint64_t *p, unsigned blocks, void *scratch) { \\\n"
    "    void (*run)() = (void (*)())permc_kernel_##number; \\\n"
    "    uint64_t q[25] = {0}; \\\n"
    "    __builtin_memcpy(q, p, 8 * fake_permc_pass_##number##_parameters); \\\n"
    "    for (unsigned b = 0; b < blocks; b++) \\\n"
    "      run((char *)scratch, q[0] + b, q[1], q[2], q[3], q[4], q[5], q[6], q[7], q[8], q[9], "
    "q[10], q[11], q[12], q[13], q[14], q[15], q[16], q[17], q[18], q[19], q[20], q[21], q[22], "
    "q[23], q[24]); \\\n"
    "  }\n";

// The text, with an entry in front of what begins each kernel.
static void write_text(FILE *f, const char *text) {
  static const char begin[] = "  static void permc_kernel_##number(";
  const char *at = strstr(text, begin);
  size_t before = at ? (size_t)(at - text) : strlen(text);
  fputs(entries, f);
  fwrite(text, 1, before, f);
  fprintf(f, "%s%s\n", at ? "  FAKE_ENTRY(number, __VA_ARGS__)" : "", text + before);
}

static bool compile_for_host(program *p, const char *folder) {
  static atomic_uint numbers;
  char source[600], command[2000];
  snprintf(source, sizeof source, "%s/kernels-%ld-%u", folder, (long)getpid(),
           atomic_fetch_add(&numbers, 1));
  FILE *f = fopen(source, "w");
  if (!f)
    return false;
  write_text(f, p->all);
  fclose(f);
  snprintf(command, sizeof command,
           "cc -x c -std=gnu17 -w -O0 -ffp-contract=off -fno-strict-aliasing -fno-builtin -fPIC "
           "-shared -o %s.so %s -lm",
           source, source);
  snprintf(p->cubin, sizeof p->cubin, "%s%s.so", FAKE_CUDA_LIBRARY, source);
  bool good = system(command) == 0;
  unlink(source);
  return good;
}

FUNCTION(nvrtcCompileProgram, (program * p, int option_count, const char *const *options)) {
  size_t length = 0;
  p->log = strncmp(p->text, "log:", 4) == 0 ? p->text + 4 : NULL;
  for (int i = 0; i < option_count; i++)
    length += (size_t)snprintf(p->cubin + length, SIZE - length, "%s ", options[i]);
  snprintf(p->cubin + length, SIZE, "%s", p->text);
  const char *cubin = getenv("FAKE_NVRTC_CUBIN"), *folder = getenv("FAKE_NVRTC_HOST");
  if (folder && !compile_for_host(p, folder))
    return COMPILATION;
  if (cubin)
    snprintf(p->cubin, SIZE, "%s", cubin);
  return p->log || fails(__func__) ? COMPILATION : GOOD;
}

FUNCTION(nvrtcGetCUBINSize, (program * p, size_t *size)) {
  *size = strlen(p->cubin) + 1;
  return fails(__func__) ? INVALID_PROGRAM : GOOD;
}

FUNCTION(nvrtcGetCUBIN, (program * p, char *cubin)) {
  memcpy(cubin, p->cubin, strlen(p->cubin) + 1);
  return fails(__func__) ? INVALID_PROGRAM : GOOD;
}

FUNCTION(nvrtcGetProgramLogSize, (program * p, size_t *size)) {
  *size = p->log ? strlen(p->log) + 1 : 0;
  return fails(__func__) ? INVALID_PROGRAM : GOOD;
}

FUNCTION(nvrtcGetProgramLog, (program * p, char *log)) {
  strcpy(log, p->log);
  return fails(__func__) ? INVALID_PROGRAM : GOOD;
}
