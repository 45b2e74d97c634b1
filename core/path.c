// See path.h.
#include "core/path.h"

#include "core/memory.h"

bool path_is_beside(const char *program, const char *path) {
  const char *slash = strrchr(program, '/');
  size_t length = slash ? (size_t)(slash - program) + 1 : 0;
  FREED char *folder = malloc(length + 2), *real = NULL, *file = NULL;
  if (folder) {
    memcpy(folder, program, length);
    memcpy(folder + length, ".", 2);
    real = realpath(folder, NULL);
    file = realpath(path, NULL);
  }
  size_t count = real ? strlen(real) : 0;
  return real && file && !strncmp(real, file, count) && (file[count] == '/' || !strcmp(real, "/"));
}
