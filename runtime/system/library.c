// See library.h.
#include "runtime/system/library.h"

#include <dlfcn.h>
#include <string.h>

void *library_open(const char *path, const char **why) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const char *reason = library ? NULL : dlerror();
  *why = reason ? reason : path;
  return library;
}

// Pointers are stored through their bytes: ISO C has no cast from object to function pointers.
const char *library_find(void *library, const library_row *rows, size_t count, void *table) {
  for (size_t i = 0; i < count; i++) {
    void *function = dlsym(library, rows[i].symbol);
    if (!function)
      return rows[i].symbol;
    memcpy((char *)table + rows[i].place, &function, sizeof function);
  }
  return NULL;
}
