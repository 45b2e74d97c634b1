// A run-time compiler that needs no CUDA: a shared library that PERMC_NVRTC names.
//
// It knows sm_80 and sm_90. Its "cubin" is the options, each followed by a space, and the text; a
// text that begins with "log:" is wrong, and the rest of it is what the log says. The environment
// variable FAKE_NVRTC is its version, "12.4" if it is not set; FAKE_NVRTC_FAIL names a function
// that fails; FAKE_NVRTC_CUBIN, if it is set, is what every text is compiled to. With FAKE_NVRTC_HOST, a
// folder, kernels (kernels/emit/emit.h) are compiled for the host, to libraries there that the fake
// driver executes: the text is C as well (kernels/text/cuda_host.h).
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

// A function of addresses as numbers, for a kernel whose parameters the text has: behind number, threads,
// blocks and bytes, each is a pointer.
static void write_entry(FILE *f, const char *kernel) {
  unsigned number = 0, parameters = 0;
  const char *end = strchr(kernel, ')');
  if (sscanf(kernel, "%u", &number) != 1 || !end)
    return;
  for (const char *c = kernel; c < end; c++)
    parameters += *c == ',';
  parameters -= 3;
  fprintf(f,
          "\nextern const unsigned fake_permc_pass_%u_parameters;\n"
          "const unsigned fake_permc_pass_%u_parameters = %u;\n"
          "void fake_permc_pass_%u(const uint64_t *p, unsigned blocks, void *scratch);\n"
          "void fake_permc_pass_%u(const uint64_t *p, unsigned blocks, void *scratch) {\n"
          "  for (uint64_t b = 0; b < blocks; b++)\n"
          "    permc_kernel_%u(scratch, p[0] + b",
          number, number, parameters + 1, number, number, number);
  for (unsigned i = 0; i < parameters; i++)
    fprintf(f, ", (void *)p[%u]", i + 1);
  fprintf(f, ");\n}\n");
}

static bool compile_for_host(program *p, const char *folder) {
  static const char begin[] = "\nPERMC_KERNEL(";
  static atomic_uint numbers;
  char source[600], command[2000];
  snprintf(source, sizeof source, "%s/kernels-%ld-%u", folder, (long)getpid(),
           atomic_fetch_add(&numbers, 1));
  FILE *f = fopen(source, "w");
  if (!f)
    return false;
  fprintf(f, "%s\n", p->all);
  for (const char *at = p->all; (at = strstr(at, begin)) != NULL;)
    write_entry(f, at += sizeof begin - 1);
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
