// A run-time compiler that needs no CUDA: a shared library that PERMC_NVRTC names.
//
// It knows sm_80 and sm_90. Its "cubin" is the options, each followed by a space, and the text; a
// text that begins with "log:" is wrong, and the rest of it is what the log says. The environment
// variable FAKE_NVRTC is its version, "12.4" if it is not set; FAKE_NVRTC_FAIL names a function
// that fails; FAKE_NVRTC_CUBIN, if it is set, is what every text is compiled to.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GOOD, OUT_OF_MEMORY, INVALID_PROGRAM = 4, COMPILATION = 6, SIZE = 1000 };

typedef struct program {
  char text[SIZE], cubin[2 * SIZE];
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
  return *out ? GOOD : OUT_OF_MEMORY;
}

FUNCTION(nvrtcDestroyProgram, (program * *p)) {
  free(*p);
  *p = NULL;
  return GOOD;
}

FUNCTION(nvrtcCompileProgram, (program * p, int option_count, const char *const *options)) {
  size_t length = 0;
  p->log = strncmp(p->text, "log:", 4) == 0 ? p->text + 4 : NULL;
  for (int i = 0; i < option_count; i++)
    length += (size_t)snprintf(p->cubin + length, SIZE - length, "%s ", options[i]);
  snprintf(p->cubin + length, SIZE, "%s", p->text);
  const char *cubin = getenv("FAKE_NVRTC_CUBIN");
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
