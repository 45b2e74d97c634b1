// All that happens to the text of a program before it runs: lexer, layout, parser, names, types,
// and elaboration of every entry at n = 0 ... 4 under small limits; and the formatter, whose output
// must be formatted already and parse as the text did. The context, and with it the standard
// library, serves all inputs.
#include "core/hash.h"
#include "runtime/context/context.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good, const char *what, permc_context *c) {
  if (good)
    return;
  fprintf(stderr, "fuzz_program: %s\n%s", what, permc_message(c));
  abort();
}

// Programs of the size that fuzzing makes stay far below these; those that do not, end soon.
static permc_context *new_context(void) {
  permc_context *c = permc_context_new();
  if (!c)
    abort();
  c->in_place = true;
  c->limits.steps = 20000;
  c->limits.calls = 400;
  c->limits.operations = 20000;
  c->limits.memory = (size_t)32 << 20;
  c->limits.stack = (size_t)4 << 20;
  return c;
}

// An error and nothing else fails a call; each is text with a place or a file's name.
static void check_messages(permc_context *c, bool good) {
  const char *message = permc_message(c);
  size_t length = strlen(message);
  bool failed = strstr(message, "error: ") || strstr(message, "permc: ");
  require(good || failed, "a failure without an error", c);
  require(!length || message[length - 1] == '\n', "a message without an end", c);
}

static void check_format(permc_context *c, const char *bytes, size_t length, bool loaded) {
  char *once = permc_format(c, "fuzz.perm", bytes, length);
  check_messages(c, once != NULL);
  if (!once) {
    require(!loaded && strstr(permc_message(c), ": error: "), "a program cannot be formatted", c);
    return;
  }
  char *twice = permc_format(c, "fuzz.perm", once, strlen(once));
  require(twice != NULL, "formatting breaks a program", c);
  require(!strcmp(once, twice), "formatting is not idempotent", c);
  free(once);
  free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static permc_context *c;
  if (!c)
    c = new_context();
  // A name in a folder that does not exist: no import of it can be read.
  bool loaded = permc_load_text(c, "/nonexistent/fuzz.perm", (const char *)data, size);
  check_messages(c, loaded);
  if (loaded)
    check_messages(c, permc_check(c, NULL, NULL, 0));
  // Formatting parses three times: it takes its turn.
  if (hash_bytes(data, size) % 4 == 0)
    check_format(c, (const char *)data, size, loaded);
  return 0;
}
