// See library.h.
#include "runtime/system/library.h"
#include "runtime/system/locks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void *library_open(const char *path, int mode) {
  library_lock(LOCK_LIBRARIES);
  void *library = dlopen(path, mode);
  library_unlock(LOCK_LIBRARIES);
  return library;
}

void library_close(void *library) {
  library_lock(LOCK_LIBRARIES);
  dlclose(library);
  library_unlock(LOCK_LIBRARIES);
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

static bool accept_library(const library_spec *s, void *library, const char *path, void *table,
                           char *why, size_t size) {
  const char *missing = s->fits ? library_find(library, s->rows, 1, table) : NULL;
  if (missing)
    snprintf(why, size, "%s is not a library of %s: it has no function %s", path, s->name, missing);
  else if (s->fits && !s->fits(table, path, why, size))
    return false;
  else if ((missing = library_find(library, s->rows, s->row_count, table)) != NULL)
    snprintf(why, size, "%s (%s) has no function %s; install a newer one", s->name, path, missing);
  return !missing && (!s->start || s->start(library, path, table, why, size));
}

// `unopened`: what is said where the loader does not find the file; NULL: `why` stays as it is.
static bool load_file(const library_spec *s, const char *path, const char *unopened, void *table,
                      char *why, size_t size) {
  void *library = library_open(path, RTLD_NOW | s->scope);
  const char *reason = library ? NULL : dlerror();
  if (!library && unopened)
    snprintf(why, size, "%s (%s)", unopened, reason ? reason : path);
  bool good = library && accept_library(s, library, path, table, why, size);
  if (library && !good)
    library_close(library);
  return good;
}

static bool load_named(const library_spec *s, const char *named, void *table, char *why,
                       size_t size) {
  char path[4096], unopened[100];
  struct stat at;
  bool folder = s->in_folder && stat(named, &at) == 0 && S_ISDIR(at.st_mode);
  snprintf(path, sizeof path, "%s%s%s", named, folder ? "/" : "", folder ? s->in_folder : "");
  snprintf(unopened, sizeof unopened, "%s does not name a %s that can be loaded", s->variable,
           s->kind);
  return load_file(s, path, unopened, table, why, size);
}

static bool load_any(const library_spec *s, void *table, char *why, size_t size) {
  const char *homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  snprintf(why, size, "%s", s->none);
  for (const char *const *file = s->files; *file; file++)
    if (load_file(s, *file, s->tells_reason ? s->none : NULL, table, why, size))
      return true;
  for (size_t h = 0; h < sizeof homes / sizeof *homes; h++)
    for (const char *const *file = s->in_cuda; *file && homes[h] && *homes[h]; file++) {
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", homes[h], *file);
      if (load_file(s, path, NULL, table, why, size))
        return true;
    }
  return false;
}

const void *library_load(const library_spec *s, void *table, library_state *state, char *why,
                         size_t size) {
  const char *named = getenv(s->variable);
  library_lock(LOCK_LIBRARIES);
  if (!state->loaded) {
    state->loaded =
        named && *named ? load_named(s, named, table, why, size) : load_any(s, table, why, size);
    state->forks = library_forks();
  }
  bool loaded = state->loaded;
  library_unlock(LOCK_LIBRARIES);
  return loaded ? table : NULL;
}
