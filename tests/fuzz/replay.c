// replay FOLDER: a fuzz target on the files of a folder, for builds without libFuzzer.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int not_hidden(const struct dirent *entry) { return entry->d_name[0] != '.'; }

// The target ends the process where it finds a fault; the file is the last one named.
static int replay(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *from = fopen(path, "rb"), *to = NULL;
  char *bytes = NULL;
  size_t size = 0;
  if (from)
    to = open_memstream(&bytes, &size);
  for (int c = to ? getc(from) : EOF; c != EOF; c = getc(from))
    putc(c, to);
  if (!from || ferror(from) || !to || fclose(to) != 0) {
    perror(path);
    return -1;
  }
  fclose(from);
  puts(path);
  fflush(stdout);
  uint8_t *exact = malloc(size ? size : 1);  // so that a sanitizer sees a byte too many
  if (!exact)
    return -1;
  memcpy(exact, bytes, size);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  free(bytes);
  return 0;
}

int main(int argc, char **argv) {
  struct dirent **names;
  const char *folder = argc > 1 ? argv[1] : ".";
  int count = scandir(folder, &names, not_hidden, alphasort), failed = count < 1;
  if (count < 0)
    perror(folder);
  for (int i = 0; i < count; i++) {
    failed += replay(folder, names[i]->d_name) != 0;
    free(names[i]);
  }
  if (count >= 0)
    free(names);
  printf("%d passed, %d failed, 0 skipped\n", count > failed ? count - failed : 0, failed);
  return failed > 0;
}
