// For tests of what is loaded at run time: shared libraries that lack a function.
#ifndef PERMC_TESTS_LIBRARY_H
#define PERMC_TESTS_LIBRARY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Copies a library into the test's folder, without the function `symbol`: its name, which stands in
// the file first where the loader reads it, gets another first letter. The path is static.
static inline const char *library_without(const char *library, const char *symbol) {
  static char path[600];
  char name[100];
  const char *folder = getenv("PERMC_TMP");
  size_t length = (size_t)snprintf(name + 1, sizeof name - 1, "%s", symbol) + 2, size = 0, at = 0;
  char *content = malloc(1 << 24);
  FILE *in = fopen(library, "rb");
  name[0] = 0;
  if (!content || !in)
    abort();
  size = fread(content, 1, 1 << 24, in);
  fclose(in);
  while (at + length <= size && memcmp(content + at, name, length) != 0)
    at++;
  if (at + length > size)
    abort();
  content[at + 1] = '_';
  snprintf(path, sizeof path, "%s/without-%s.so", folder ? folder : "/tmp", symbol);
  FILE *out = fopen(path, "wb");
  if (!out || fwrite(content, 1, size, out) != size || fclose(out) != 0)
    abort();
  free(content);
  return path;
}

#endif
