// Loading the driver API of CUDA. See driver.h.
#include "runtime/cuda/driver.h"

#include "runtime/system/library.h"
#include "runtime/system/locks.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const library_row rows[] = {
#define ROW(name, symbol, parameters) {#symbol, offsetof(cuda_driver, name)},
    CUDA_CALLS(ROW)};
static const library_row later_rows[] = {CUDA_LATER_CALLS(ROW)};
static const library_row share_rows[] = {CUDA_SHARE_CALLS(ROW)};
#undef ROW

void cuda_status_text(const cuda_driver *api, cuda_status status, char *text, size_t size) {
  const char *name = NULL, *meaning = NULL;
  api->get_error_name(status, &name);
  api->get_error_string(status, &meaning);
  if (name)
    snprintf(text, size, "%s: %s", name, meaning ? meaning : "(no explanation)");
  else
    snprintf(text, size, "error %d", status);
}

// The version is read first: an old driver is reported as old, not as lacking a function.
static bool find_functions(void *library, const char *path, cuda_driver *api, char *why,
                           size_t size) {
  const char *missing = library_find(library, rows, 1, api);
  if (!missing && api->driver_get_version(&api->version) != CUDA_STATUS_GOOD)
    return snprintf(why, size, "the NVIDIA driver (%s) does not report its version", path), false;
  if (!missing && api->version < CUDA_DRIVER_LEAST)
    return snprintf(why, size,
                    "the NVIDIA driver (%s) is for CUDA %d.%d, permc needs %d.%d or later", path,
                    api->version / 1000, api->version % 1000 / 10, CUDA_DRIVER_LEAST / 1000,
                    CUDA_DRIVER_LEAST % 1000 / 10),
           false;
  if (!missing)
    missing = library_find(library, rows, sizeof rows / sizeof *rows, api);
  if (!missing) {
    library_find(library, later_rows, sizeof later_rows / sizeof *later_rows, api);
    library_find(library, share_rows, sizeof share_rows / sizeof *share_rows, api);
  }
  if (missing)
    snprintf(why, size, "the NVIDIA driver (%s) has no function %s; install a newer one", path,
             missing);
  return !missing;
}

static bool start_driver(const cuda_driver *api, char *why, size_t size) {
  char text[256];
  cuda_status status = api->init(0);
  if (status == CUDA_STATUS_GOOD)
    return true;
  cuda_status_text(api, status, text, sizeof text);
  if (status == CUDA_STATUS_NO_DEVICE)
    snprintf(why, size, "there is no CUDA device (cuInit: %s)", text);
  else if (status == CUDA_STATUS_NOT_INITIALIZED)
    snprintf(why, size, FORKED_WITH_CUDA);
  else
    snprintf(why, size, "the NVIDIA driver does not start: cuInit: %s", text);
  return false;
}

static bool load_driver(cuda_driver *api, char *why, size_t size) {
  const char *named = getenv("PERMC_CUDA_DRIVER"), *reason;
  const char *path = named && *named ? named : "libcuda.so.1";
  void *library = library_open(path, &reason);
  if (!library) {
    snprintf(why, size,
             path == named ? "PERMC_CUDA_DRIVER does not name a driver that can be loaded (%s)"
                           : "there is no NVIDIA driver (%s)",
             reason);
    return false;
  }
  if (find_functions(library, path, api, why, size) && start_driver(api, why, size))
    return true;
  dlclose(library);
  return false;
}

const cuda_driver *cuda_driver_find(char *why, size_t size) {
  static cuda_driver known;
  static bool loaded;
  static uint32_t forks;
  library_lock(LOCK_DRIVER);
  if (!loaded && (loaded = load_driver(&known, why, size)))
    forks = library_forks();
  const cuda_driver *api = loaded && forks == library_forks() ? &known : NULL;
  if (loaded && !api)
    snprintf(why, size, FORKED_WITH_CUDA);
  library_unlock(LOCK_DRIVER);
  return api;
}
