// Finding and loading NCCL. See nccl_library.h.
#include "runtime/transport/nccl_library.h"

#include "runtime/system/library.h"
#include "runtime/system/locks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const library_row rows[] = {
#define ROW(name, symbol, parameters) {#symbol, offsetof(nccl_library, name)},
    NCCL_CALLS(ROW)
#undef ROW
        {"ncclGetErrorString", offsetof(nccl_library, error_string)},
    {"ncclGetLastError", offsetof(nccl_library, last_error)}};

static const char *named(void) {
  const char *name = getenv("PERMC_NCCL");
  return name && *name ? name : NULL;
}

nccl_wanted nccl_library_wanted(void) {
  const char *name = named();
  return !name ? NCCL_IF_ANY : strcmp(name, "off") == 0 ? NCCL_OFF : NCCL_NAMED;
}

// The version is read first: an older NCCL is reported as old, not as lacking a function.
static bool find_functions(void *library, nccl_library *n, char *why, size_t size) {
  if (library_find(library, rows, 1, n) || n->get_version(&n->version) != NCCL_GOOD)
    return snprintf(why, size, "%s is not a library of NCCL", n->path), false;
  const char *missing = library_find(library, rows, sizeof rows / sizeof *rows, n);
  if (n->version < NCCL_LEAST)
    snprintf(why, size, "NCCL (%s) is version %d, permc needs %d or later", n->path, n->version,
             NCCL_LEAST);
  else if (missing)
    snprintf(why, size, "NCCL (%s) has no function %s", n->path, missing);
  return n->version >= NCCL_LEAST && !missing;
}

// A library, or the folder that has it.
static void *open_at(const char *place, const char *within, nccl_library *n, const char **why) {
  snprintf(n->path, sizeof n->path, "%s%s", place, within);
  return library_open(n->path, why);
}

static void *open_any(nccl_library *n) {
  static const char name[] = "libnccl.so.2";
  const char *homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"}, *why;
  void *library = open_at(name, "", n, &why);
  for (size_t i = 0; i < sizeof homes / sizeof *homes && !library; i++) {
    if (!homes[i] || !*homes[i])
      continue;
    library = open_at(homes[i], "/lib64/libnccl.so.2", n, &why);
    if (!library)
      library = open_at(homes[i], "/lib/libnccl.so.2", n, &why);
  }
  return library;
}

static bool load(nccl_library *n, char *why, size_t size) {
  const char *name = named(), *reason = "";
  void *library = name ? open_at(name, "", n, &reason) : open_any(n);
  if (!library && name)
    library = open_at(name, "/libnccl.so.2", n, &reason);
  if (library && find_functions(library, n, why, size))
    return true;
  if (library)
    dlclose(library);
  else if (name)
    snprintf(why, size, "PERMC_NCCL does not name a library that can be loaded (%s)", reason);
  else
    snprintf(why, size, "there is no NCCL library; PERMC_NCCL names one, or its folder");
  return false;
}

const nccl_library *nccl_library_find(char *why, size_t size) {
  static nccl_library known;
  static bool loaded;
  library_lock(LOCK_NCCL);
  if (!loaded)
    loaded = load(&known, why, size);
  const nccl_library *n = loaded ? &known : NULL;
  library_unlock(LOCK_NCCL);
  return n;
}
