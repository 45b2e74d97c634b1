// Finding and loading NCCL. See nccl_library.h.
#include "runtime/transport/nccl_library.h"

#include "runtime/system/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const library_row rows[] = {
#define ROW(name, symbol, parameters) {#symbol, offsetof(nccl_library, name)},
    NCCL_CALLS(ROW)
#undef ROW
        {"ncclGetErrorString", offsetof(nccl_library, error_string)},
    {"ncclGetLastError", offsetof(nccl_library, last_error)}};

nccl_wanted nccl_library_wanted(void) {
  const char *name = getenv("PERMC_NCCL");
  return !name || !*name ? NCCL_IF_ANY : strcmp(name, "off") == 0 ? NCCL_OFF : NCCL_NAMED;
}

static bool check_version(void *table, const char *path, char *why, size_t size) {
  nccl_library *n = table;
  if (n->get_version(&n->version) != NCCL_GOOD)
    snprintf(why, size, "%s is not a library of NCCL: it does not report its version", path);
  else if (n->version < NCCL_LEAST)
    snprintf(why, size, "NCCL (%s) is version %d, permc needs %d or later", path, n->version,
             NCCL_LEAST);
  else
    return true;
  return false;
}

const nccl_library *nccl_library_find(char *why, size_t size) {
  static const library_spec spec = {
      .name = "NCCL",
      .variable = "PERMC_NCCL",
      .kind = "library",
      .in_folder = "libnccl.so.2",
      .none = "there is no NCCL library; PERMC_NCCL names one, or its folder",
      .files = {"libnccl.so.2"},
      .in_cuda = {"lib64/libnccl.so.2", "lib/libnccl.so.2"},
      .rows = rows,
      .row_count = sizeof rows / sizeof *rows,
      .fits = check_version};
  static nccl_library known;
  static library_state state;
  return library_load(&spec, &known, &state, why, size);
}
