// A new folder for each test, which is the cache of compiled code and where temporary files are.
//
//   enter("name");                                  // PERMC_CACHE, TMPDIR; no compiler is named
//   write_text(in_place("cc"), "#!/bin/sh\n", 0700);
//   CHECK_EQ_U64(count_entries(), 0);
//   leave();                                        // it is removed
#ifndef PERMC_TESTS_CACHE_PLACE_H
#define PERMC_TESTS_CACHE_PLACE_H

#include "tests/test.h"

#include "core/memory.h"
#include "runtime/system/cache.h"

#include <dirent.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

static char cache_place[512];  // the folder

static inline void set(char *out, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
static inline void set(char *out, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(out, size, format, arguments) >= (int)size)
    abort();
  va_end(arguments);
}

static inline void enter(const char *name) {
  const char *folder = getenv("PERMC_TMP");
  set(cache_place, sizeof cache_place, "%s/%s-XXXXXX", folder ? folder : "/tmp", name);
  if (!mkdtemp(cache_place))
    abort();
  setenv("PERMC_CACHE", cache_place, 1);
  setenv("TMPDIR", cache_place, 1);
  unsetenv("PERMC_CC");
}

static inline void leave(void) {
  char command[600];
  set(command, sizeof command, "chmod -R u+w %s; rm -rf %s", cache_place, cache_place);
  if (system(command) != 0)
    printf("%s is left\n", cache_place);
}

static inline size_t count_files(const char *folder) {
  size_t count = 0;
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d)) != NULL;)
    count += e->d_name[0] != '.';
  if (d)
    closedir(d);
  return count;
}

static inline const char *in_place(const char *name) {
  static char path[1200];
  set(path, sizeof path, "%s/%s", cache_place, name);
  return path;
}

static inline void write_text(const char *path, const char *content, mode_t mode) {
  FILE *f = fopen(path, "w");
  if (!f || fputs(content, f) < 0 || fclose(f) != 0 || chmod(path, mode) != 0)
    abort();
}

static inline size_t count_entries(void) {
  cache c;
  cache_list l;
  cache_look(&c);
  CHECK(cache_count(&c, &l));
  size_t count = l.count;
  cache_list_free(&l);
  return count;
}

#endif
