// Finding, loading and calling NVRTC. See nvrtc.h.
#include "runtime/cuda/nvrtc.h"

#include "core/error.h"
#include "runtime/system/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int nvrtc_status;  // nvrtcResult
typedef struct nvrtc_program nvrtc_program;

// All functions that are called: name here, symbol, parameters.
#define NVRTC_CALLS(CALL)                                                                          \
  CALL(version, nvrtcVersion, (int *major, int *minor))                                            \
  CALL(architecture_count, nvrtcGetNumSupportedArchs, (int *count))                                \
  CALL(architectures, nvrtcGetSupportedArchs, (int *architectures))                                \
  CALL(create, nvrtcCreateProgram,                                                                 \
       (nvrtc_program * *program, const char *text, const char *name, int header_count,            \
        const char *const *headers, const char *const *header_names))                              \
  CALL(destroy, nvrtcDestroyProgram, (nvrtc_program * *program))                                   \
  CALL(compile, nvrtcCompileProgram,                                                               \
       (nvrtc_program * program, int option_count, const char *const *options))                    \
  CALL(cubin_size, nvrtcGetCUBINSize, (nvrtc_program * program, size_t * size))                    \
  CALL(cubin, nvrtcGetCUBIN, (nvrtc_program * program, char *cubin))                               \
  CALL(log_size, nvrtcGetProgramLogSize, (nvrtc_program * program, size_t * size))                 \
  CALL(log, nvrtcGetProgramLog, (nvrtc_program * program, char *log))

typedef struct nvrtc_library {
  int major, minor;
  const char *(*error_string)(nvrtc_status status);
#define FIELD(name, symbol, parameters) nvrtc_status(*name) parameters;
  NVRTC_CALLS(FIELD)
#undef FIELD
} nvrtc_library;

static const library_row rows[] = {
#define ROW(name, symbol, parameters) {#symbol, offsetof(nvrtc_library, name)},
    NVRTC_CALLS(ROW)
#undef ROW
        {"nvrtcGetErrorString", offsetof(nvrtc_library, error_string)}};

// ---- loading -----------------------------------------------------------------------------------

static bool check_version(void *table, const char *path, char *why, size_t size) {
  nvrtc_library *n = table;
  if (n->version(&n->major, &n->minor) != 0)
    snprintf(why, size, "%s is not a library of NVRTC: it does not report its version", path);
  else if (n->major < NVRTC_LEAST_MAJOR)
    snprintf(why, size, "NVRTC (%s) is of CUDA %d.%d, permc needs %d.0 or later", path, n->major,
             n->minor, NVRTC_LEAST_MAJOR);
  else
    return true;
  return false;
}

// NVRTC loads libnvrtc-builtins from its own folder, which it does not find where dlopen is the
// address sanitizer's. A library that is loaded already is found by its name.
static bool load_builtins(void *library, const char *path, void *table, char *why, size_t size) {
  const nvrtc_library *n = table;
  Dl_info where;
  void *version;
  char builtins[4096];
  (void)library, (void)path, (void)why, (void)size;
  memcpy(&version, &n->version, sizeof version);
  const char *slash = dladdr(version, &where) ? strrchr(where.dli_fname, '/') : NULL;
  if (!slash)
    return true;
  snprintf(builtins, sizeof builtins, "%.*s/libnvrtc-builtins.so.%d.%d",
           (int)(slash - where.dli_fname), where.dli_fname, n->major, n->minor);
  if (!library_open(builtins, RTLD_NOW | RTLD_LOCAL))
    dlerror();  // then NVRTC looks for it
  return true;
}

static const nvrtc_library *obtain_nvrtc(char *why, size_t size) {
  static const library_spec spec = {
      .name = "NVRTC",
      .variable = "PERMC_NVRTC",
      .kind = "library",
      .none = "there is no NVRTC: the folders of the loader, $CUDA_HOME/lib64, $CUDA_PATH/lib64 "
              "and /usr/local/cuda/lib64 have no libnvrtc.so of CUDA 12 or 13; install it, or set "
              "PERMC_NVRTC to its path",
      .files = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
      .in_cuda = {"lib64/libnvrtc.so.13", "lib64/libnvrtc.so.12", "lib64/libnvrtc.so"},
      .rows = rows,
      .row_count = sizeof rows / sizeof *rows,
      .fits = check_version,
      .start = load_builtins};
  static nvrtc_library known;
  static library_state state;
  return library_load(&spec, &known, &state, why, size);
}

bool nvrtc_find(char *why, size_t size) { return obtain_nvrtc(why, size) != NULL; }

bool nvrtc_version(int *major, int *minor) {
  char why[NVRTC_WHY];
  const nvrtc_library *n = obtain_nvrtc(why, sizeof why);
  if (n) {
    *major = n->major;
    *minor = n->minor;
  }
  return n != NULL;
}

// ---- architectures -----------------------------------------------------------------------------

static void list_architectures(const nvrtc_library *n, int architecture, const int *known,
                               int count, char *message, size_t size) {
  int used = snprintf(message, size, "NVRTC of CUDA %d.%d does not compile for sm_%d, only for",
                      n->major, n->minor, architecture);
  for (int i = 0; i < count && used > 0 && (size_t)used < size; i++)
    used += snprintf(message + used, size - (size_t)used, " sm_%d", known[i]);
}

// Whether this NVRTC compiles for it. If it does not report its architectures, compiling shows it.
static bool has_architecture(const nvrtc_library *n, int architecture, char *message, size_t size) {
  int count = 0;
  if (n->architecture_count(&count) != 0 || count <= 0)
    return true;
  FREED int *known = calloc((size_t)count, sizeof *known);
  bool good = !known || n->architectures(known) != 0;
  for (int i = 0; known && i < count && !good; i++)
    good = known[i] == architecture;
  if (!good)
    list_architectures(n, architecture, known, count, message, size);
  return good;
}

// ---- compiling ---------------------------------------------------------------------------------

static bool check_call(const nvrtc_library *n, nvrtc_status status, const char *call, char *message,
                       size_t size) {
  if (status != 0) {
    const char *meaning = n->error_string(status);
    snprintf(message, size, "%s: %s", call, meaning ? meaning : "unknown error");
  }
  return status == 0;
}

// Replaces the message by the line of the log that says what is wrong, if there is one.
static void read_error(const nvrtc_library *n, nvrtc_program *program, char *message, size_t size) {
  size_t length = 0;
  if (n->log_size(program, &length) != 0 || length == 0)
    return;
  FREED char *log = calloc(length + 1, 1);
  if (log && n->log(program, log) == 0)
    error_line_of(log, message, size);
}

static bool compile_program(const nvrtc_library *n, const nvrtc_job *job, nvrtc_program *program,
                            char *message, size_t size) {
  char architecture[48];
  FREED const char **options = calloc(job->option_count + 1, sizeof *options);
  if (!options)
    return snprintf(message, size, "out of memory"), false;
  snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d", job->architecture);
  options[0] = architecture;
  for (size_t i = 0; i < job->option_count; i++)
    options[i + 1] = job->options[i];
  bool good = check_call(n, n->compile(program, (int)job->option_count + 1, options),
                         "nvrtcCompileProgram", message, size);
  if (!good)
    read_error(n, program, message, size);
  return good;
}

static bool copy_cubin(const nvrtc_library *n, nvrtc_program *program, void **cubin, size_t *size,
                       char *message, size_t message_size) {
  size_t bytes = 0;
  if (!check_call(n, n->cubin_size(program, &bytes), "nvrtcGetCUBINSize", message, message_size))
    return false;
  void *code = malloc(bytes + 1);
  if (!code)
    return snprintf(message, message_size, "out of memory"), false;
  if (!check_call(n, n->cubin(program, code), "nvrtcGetCUBIN", message, message_size)) {
    free(code);
    return false;
  }
  *cubin = code;
  *size = bytes;
  return true;
}

bool nvrtc_compile(const nvrtc_job *job, void **cubin, size_t *size, char *message,
                   size_t message_size) {
  const nvrtc_library *n = obtain_nvrtc(message, message_size);
  nvrtc_program *program = NULL;
  *cubin = NULL;
  *size = 0;
  if (!n || !has_architecture(n, job->architecture, message, message_size) ||
      !check_call(n, n->create(&program, job->text, job->name, 0, NULL, NULL), "nvrtcCreateProgram",
                  message, message_size))
    return false;
  bool good = compile_program(n, job, program, message, message_size) &&
              copy_cubin(n, program, cubin, size, message, message_size);
  n->destroy(&program);
  return good;
}
