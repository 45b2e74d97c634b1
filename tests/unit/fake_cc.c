// A C compiler that takes no time: FAKE_CC_TEMPLATE names a shared object that a compiler has made
// of a text with the constant TEMPLATE, and this one makes of the same text with another constant
// what the compiler would make. It is for programs with one such constant, in one file.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };
static const uint64_t template = UINT64_C(0x4563918200000000);

static size_t read_all(const char *path, char *bytes) {
  FILE *f = path ? fopen(path, "rb") : NULL;
  size_t length = f ? fread(bytes, 1, MOST_BYTES - 1, f) : 0;
  bytes[length] = 0;
  if (f)
    fclose(f);
  return length;
}

int main(int count, char **words) {
  static char text[MOST_BYTES], code[MOST_BYTES];
  const char *source = NULL, *product = NULL;
  if (count > 1 && strcmp(words[1], "--version") == 0)
    return puts("fake 1.0") < 0;
  for (int i = 1; i < count; i++) {
    size_t length = strlen(words[i]);
    if (length > 2 && strcmp(words[i] + length - 2, ".c") == 0)
      source = words[i];
    if (i + 1 < count && strcmp(words[i], "-o") == 0)
      product = words[i + 1];
  }
  read_all(source, text);
  size_t length = read_all(getenv("FAKE_CC_TEMPLATE"), code);
  const char *found = strstr(text, "0x45639182");
  uint64_t constant = found ? strtoull(found, NULL, 16) : 0;
  for (size_t i = 0; i + sizeof constant <= length; i++)
    if (memcmp(code + i, &template, sizeof template) == 0)
      memcpy(code + i, &constant, sizeof constant);
  FILE *f = product && constant ? fopen(product, "wb") : NULL;
  return !f || fwrite(code, 1, length, f) != length || fclose(f) != 0;
}
