// Loading the driver API of CUDA. See cuda/driver.h.
#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct call_row {
  const char *symbol;
  size_t place;  // in a cuda_driver
} call_row;

static const call_row calls[] = {
#define ROW(name, symbol, parameters) {#symbol, offsetof(cuda_driver, name)},
    CUDA_CALLS(ROW)
#undef ROW
};

void cuda_status_text(const cuda_driver *api, cuda_status status, char *text, size_t size) {
  const char *name = NULL, *meaning = NULL;
  api->get_error_name(status, &name);
  api->get_error_string(status, &meaning);
  if (name)
    snprintf(text, size, "%s: %s", name, meaning ? meaning : "(no explanation)");
  else
    snprintf(text, size, "error %d", status);
}

// Functions are stored through their bytes: ISO C has no way from object to function pointers.
static bool find_call(void *library, const call_row *row, cuda_driver *api) {
  void *found = dlsym(library, row->symbol);
  memcpy((char *)api + row->place, &found, sizeof found);
  return found != NULL;
}

// The version comes first, so that an old driver is called old before calls are missed.
static bool find_calls(void *library, const char *path, cuda_driver *api, char *why, size_t size) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    if (!find_call(library, &calls[i], api))
      return snprintf(why, size, "the NVIDIA driver (%s) has no function %s", path,
                      calls[i].symbol),
             false;
    if (i == 0 && api->driver_get_version(&api->version) != CUDA_STATUS_GOOD)
      return snprintf(why, size, "the NVIDIA driver (%s) does not say its version", path), false;
    if (i == 0 && api->version < CUDA_DRIVER_LEAST)
      return snprintf(why, size, "the NVIDIA driver (%s) is for CUDA %d.%d, permc needs %d.%d",
                      path, api->version / 1000, api->version % 1000 / 10, CUDA_DRIVER_LEAST / 1000,
                      CUDA_DRIVER_LEAST % 1000 / 10),
             false;
  }
  return true;
}

static bool start(const cuda_driver *api, char *why, size_t size) {
  char text[256];
  cuda_status status = api->init(0);
  if (status == CUDA_STATUS_GOOD)
    return true;
  cuda_status_text(api, status, text, sizeof text);
  if (status == CUDA_STATUS_NO_DEVICE)
    snprintf(why, size, "there is no CUDA device (cuInit: %s)", text);
  else
    snprintf(why, size, "the NVIDIA driver does not start: cuInit: %s", text);
  return false;
}

static bool load(cuda_driver *api, char *why, size_t size) {
  const char *named = getenv("PERMC_CUDA_DRIVER");
  const char *path = named && *named ? named : "libcuda.so.1";
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    snprintf(why, size, "%s (%s)",
             path == named ? "what PERMC_CUDA_DRIVER names cannot be loaded"
                           : "there is no NVIDIA driver",
             reason ? reason : path);
    return false;
  }
  if (find_calls(library, path, api, why, size) && start(api, why, size))
    return true;
  dlclose(library);
  return false;
}

const cuda_driver *cuda_driver_find(char *why, size_t size) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static cuda_driver known;
  static bool loaded;
  pthread_mutex_lock(&lock);
  if (!loaded)
    loaded = load(&known, why, size);
  const cuda_driver *api = loaded ? &known : NULL;
  pthread_mutex_unlock(&lock);
  return api;
}
