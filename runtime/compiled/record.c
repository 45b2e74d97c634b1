// Records of compilations, as texts in the cache:
//
//   lost 1250000 us, over 0 us, reached 60 s, 0 bytes
#include "runtime/compiled/compiled.h"

#include <inttypes.h>
#include <stdio.h>

void compile_record_find(const cache *c, const char key[CACHE_KEY], compile_record *r) {
  char content[CACHE_TEXT];
  uint64_t lost, over;
  compiler_limits reached;
  *r = (compile_record){0};
  if (!c->folder[0])
    return;
  memcpy(r->key, key, CACHE_KEY);
  if (cache_find_text(c, CACHE_RUNS, key, content) &&
      sscanf(content,
             "lost %" SCNu64 " us, over %" SCNu64 " us, reached %" SCNu64 " s, %" SCNu64 " bytes",
             &lost, &over, &reached.seconds, &reached.memory) == 4) {
    r->lost = 1e-6 * (double)lost;
    r->over = 1e-6 * (double)over;
    r->reached = reached;
  }
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

void compile_record_add(const compile_record *more) {
  char content[CACHE_TEXT], path[CACHE_PATH];
  const char *why;
  compile_record r;
  cache c;
  if (!more->key[0])
    return;
  cache_look(&c);
  compile_record_find(&c, more->key, &r);
  snprintf(content, sizeof content,
           "lost %.0f us, over %.0f us, reached %" PRIu64 " s, %" PRIu64 " bytes\n",
           1e6 * (r.lost + more->lost), 1e6 * (more->over > r.over ? more->over : r.over),
           larger(r.reached.seconds, more->reached.seconds),
           larger(r.reached.memory, more->reached.memory));
  (void)!cache_keep_bytes(&c, CACHE_RUNS, more->key, content, strlen(content), path, &why);
}

bool compile_record_forbids(const compile_record *r, const compiler_limits *limits,
                            error *failure) {
  bool slow = r->reached.seconds >= limits->seconds;
  // The default is half of what other processes leave, which varies a little.
  bool large = r->reached.memory >= limits->memory - limits->memory / 8;
  if (slow || large)
    error_set(failure, SPAN_NONE,
              "the C compiler has reached its limit of %s with this program in an earlier run; "
              "give it more (%s)",
              slow ? "time" : "memory", slow ? "--compile-seconds" : "--compile-memory");
  return slow || large;
}
