// Loading the driver API of CUDA. See driver.h.
#include "runtime/cuda/driver.h"

#include "runtime/system/library.h"
#include "runtime/system/locks.h"

#include <stdio.h>

static const library_row rows[] = {
#define ROW(name, symbol, parameters) {#symbol, offsetof(cuda_driver, name)},
    CUDA_CALLS(ROW)};
static const library_row later_rows[] = {CUDA_LATER_CALLS(ROW)};
static const library_row share_rows[] = {CUDA_SHARE_CALLS(ROW)};
#undef ROW

#define NAME(name, symbol, parameters) .name = #symbol,
const cuda_symbols cuda_names = {CUDA_CALLS(NAME) CUDA_LATER_CALLS(NAME)};
#undef NAME

void cuda_status_text(const cuda_driver *api, cuda_status status, char *text, size_t size) {
  const char *name = NULL, *meaning = NULL;
  api->get_error_name(status, &name);
  api->get_error_string(status, &meaning);
  if (name)
    snprintf(text, size, "%s: %s", name, meaning ? meaning : "(no explanation)");
  else
    snprintf(text, size, "error %d", status);
}

static bool check_version(void *table, const char *path, char *why, size_t size) {
  cuda_driver *api = table;
  if (api->driver_get_version(&api->version) != CUDA_STATUS_GOOD)
    return snprintf(why, size, "the NVIDIA driver (%s) does not report its version", path), false;
  if (api->version < CUDA_DRIVER_LEAST)
    return snprintf(why, size,
                    "the NVIDIA driver (%s) is for CUDA %d.%d, permc needs %d.%d or later", path,
                    api->version / 1000, api->version % 1000 / 10, CUDA_DRIVER_LEAST / 1000,
                    CUDA_DRIVER_LEAST % 1000 / 10),
           false;
  return true;
}

static bool start_driver(void *library, const char *path, void *table, char *why, size_t size) {
  cuda_driver *api = table;
  char text[256];
  (void)path;
  library_find(library, later_rows, sizeof later_rows / sizeof *later_rows, api);
  library_find(library, share_rows, sizeof share_rows / sizeof *share_rows, api);
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

const cuda_driver *cuda_driver_find(char *why, size_t size) {
  static const library_spec spec = {.name = "the NVIDIA driver",
                                    .variable = "PERMC_CUDA_DRIVER",
                                    .kind = "driver",
                                    .none = "there is no NVIDIA driver",
                                    .tells_reason = true,
                                    .files = {"libcuda.so.1"},
                                    .rows = rows,
                                    .row_count = sizeof rows / sizeof *rows,
                                    .fits = check_version,
                                    .start = start_driver};
  static cuda_driver known;
  static library_state state;
  const cuda_driver *api = library_load(&spec, &known, &state, why, size);
  if (!api || state.forks == library_forks())
    return api;
  snprintf(why, size, FORKED_WITH_CUDA);
  return NULL;
}
