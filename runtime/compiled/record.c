// Limits that compilers have reached, as texts in the cache:
//
//   reached 60 s, 0 bytes
#include "runtime/compiled/compiled.h"

#include <inttypes.h>
#include <stdio.h>

compiler_limits compile_record_find(const cache *c, const char key[CACHE_KEY]) {
  char content[CACHE_TEXT];
  compiler_limits r;
  bool found =
      c->folder[0] && cache_find_text(c, CACHE_RUNS, key, content) &&
      sscanf(content, "reached %" SCNu64 " s, %" SCNu64 " bytes", &r.seconds, &r.memory) == 2;
  return found ? r : (compiler_limits){0};
}

void compile_record_keep(const cache *c, const char key[CACHE_KEY],
                         const compiler_limits *reached) {
  char content[CACHE_TEXT], path[CACHE_PATH];
  const char *why;
  compiler_limits r = compile_record_find(c, key);
  r.seconds = reached->seconds > r.seconds ? reached->seconds : r.seconds;
  r.memory = reached->memory > r.memory ? reached->memory : r.memory;
  snprintf(content, sizeof content, "reached %" PRIu64 " s, %" PRIu64 " bytes\n", r.seconds,
           r.memory);
  if (c->folder[0])
    (void)!cache_keep_bytes(c, CACHE_RUNS, key, content, strlen(content), path, &why);
}

bool compile_record_forbids(const compiler_limits *reached, const compiler_limits *limits,
                            error *failure) {
  bool slow = reached->seconds >= limits->seconds;
  // The default is half of what other processes leave, which varies a little.
  bool large = reached->memory >= limits->memory - limits->memory / 8;
  if (slow || large)
    error_set(failure, SPAN_NONE,
              "the C compiler has reached its limit of %s with this program in an earlier run; "
              "give it more (%s)",
              slow ? "time" : "memory", slow ? "--compile-seconds" : "--compile-memory");
  return slow || large;
}
