// Copies, and a chain of multiplications. See speed.h.
#include "runtime/system/speed.h"
#include "core/clock.h"
#include "runtime/system/cache.h"
#include "runtime/system/memory.h"
#include "runtime/system/pool.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

const machine_speed speed_usual = {2.7e-10, {9.2e-12, 1.1e-11, 2.7e-11}, 1.5e-11};
// Of arrays that lie where the level says: each copy is of half as many.
static const double level_bytes[SPEED_LEVELS] = {1 << 19, 1 << 23, 1 << 26};

double speed_byte_seconds(const machine_speed *s, double bytes, unsigned threads) {
  double one = s->byte[SPEED_FAR], least = 0;
  for (int i = 0; i + 1 < SPEED_LEVELS; i++)
    if (bytes < level_bytes[i + 1]) {
      double part = log2(bytes / level_bytes[i]) / log2(level_bytes[i + 1] / level_bytes[i]);
      one = part <= 0 ? s->byte[i] : s->byte[i] + part * (s->byte[i + 1] - s->byte[i]);
      break;
    }
  if (bytes >= level_bytes[SPEED_FAR])
    least = s->all;
  return one / threads > least ? one / threads : least;
}

// ---- measuring ---------------------------------------------------------------------------------

// Other work on the machine only makes times longer: of many short ones the least, or of copies,
// which also differ by themselves, the lowest quarter counts.
enum { TRIALS = 20, CHAIN = 5000, PART = 1 << 18, PAGE = 1 << 12, MOST_PARTS = 1 << 7 };

static double measure_cycle(void) {
  const double cycles = 4;  // of a multiplication and an addition that wait for each other
  double least = 1;
  volatile uint64_t sink;
  for (int i = 0; i < TRIALS; i++) {
    uint64_t x = (uint64_t)i;
    double start = clock_seconds();
    for (int k = 0; k < CHAIN; k++)
      x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double seconds = clock_seconds() - start;
    sink = x;
    least = seconds < least ? seconds : least;
  }
  (void)sink;
  return least / (cycles * CHAIN);
}

typedef struct copies {
  char *memory;
  uint64_t parts;  // are copied to as many behind them
  double seconds[MOST_PARTS];
} copies;

static bool copy_parts(void *with, unsigned worker, uint64_t first, uint64_t last) {
  copies *c = with;
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    char *from = c->memory + i * PART, *to = from + c->parts * PART;
    double start = clock_seconds();
    for (int k = 0; k < PART; k += PAGE)  // by the first cache, as passes do; more may go past it
      memcpy(to + k, from + k, PAGE);
    c->seconds[i] = clock_seconds() - start;
  }
  return true;
}

static int compare_seconds(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Of a byte read or written by one of the threads.
static double measure_copy(char *memory, double bytes, unsigned threads) {
  copies c = {.memory = memory, .parts = (uint64_t)bytes / 2 / PART};
  double least = 1;
  for (int i = 0; i < TRIALS / (int)c.parts + 4; i++) {
    pool_run(threads, c.parts, 1, copy_parts, &c, NULL);
    qsort(c.seconds, c.parts, sizeof *c.seconds, compare_seconds);
    double low = c.seconds[c.parts / 16];
    least = low < least ? low : least;
  }
  return least / (2 * PART);
}

static bool measure(machine_speed *s) {
  size_t bytes = (size_t)level_bytes[SPEED_FAR];
  if (memory_limit(NULL) < 8 * bytes)  // it is for other things
    return false;
  void *memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  madvise(memory, bytes, MADV_HUGEPAGE);
  memset(memory, 1, bytes);
  s->cycle = measure_cycle();
  for (int i = 0; i < SPEED_LEVELS; i++)
    s->byte[i] = measure_copy(memory, level_bytes[i], 1);
  unsigned all = pool_processors();
  s->all = measure_copy(memory, level_bytes[SPEED_FAR], all) / all;
  munmap(memory, bytes);
  return true;
}

// ---- keeping -----------------------------------------------------------------------------------

bool speed_processor_name(char out[64]) {
#if defined(__x86_64__)
  unsigned r[12];
  if ((unsigned)__get_cpuid_max(0x80000000, NULL) < 0x80000004U)
    return false;
  for (unsigned i = 0; i < 3; i++)
    __cpuid(0x80000002 + i, r[4 * i], r[4 * i + 1], r[4 * i + 2], r[4 * i + 3]);
  memcpy(out, r, sizeof r);
  out[sizeof r] = 0;
  size_t length = strlen(out), blanks = strspn(out, " ");
  memmove(out, out + blanks, length - blanks + 1);
  for (length -= blanks; length > 0 && out[length - 1] == ' ';)
    out[--length] = 0;
  return length > 0;
#else
  (void)out;
  return false;
#endif
}

// Of this processor, and as many of them: a folder may be shared by machines.
static void make_key(char key[CACHE_KEY]) {
  char words[160], name[64] = "";
  (void)!speed_processor_name(name);
  snprintf(words, sizeof words, "permc " PERMC_VERSION " speed\n%s, %u processors\n", name,
           pool_processors());
  digest d = digest_start();
  digest_add(&d, words, strlen(words));
  digest_finish_hex(&d, key);
}

// In femtoseconds: the same in every locale.
#define FIELDS "cycle %" PRIu64 " near %" PRIu64 " middle %" PRIu64 " far %" PRIu64 " all %" PRIu64
enum { SPEED_FIELDS = 5 };

static bool find(machine_speed *s, const char key[CACHE_KEY]) {
  double *const to[SPEED_FIELDS] = {&s->cycle, &s->byte[0], &s->byte[1], &s->byte[2], &s->all};
  uint64_t v[SPEED_FIELDS];
  char content[CACHE_TEXT];
  cache c;
  cache_look(&c);
  if (!c.folder[0] || !cache_find_text(&c, CACHE_SPEED, key, content) ||
      sscanf(content, FIELDS, &v[0], &v[1], &v[2], &v[3], &v[4]) != SPEED_FIELDS)
    return false;
  for (int i = 0; i < SPEED_FIELDS; i++)
    *to[i] = 1e-15 * (double)(v[i] ? v[i] : 1);
  return true;
}

void speed_keep(const machine_speed *s) {
  const double from[SPEED_FIELDS] = {s->cycle, s->byte[0], s->byte[1], s->byte[2], s->all};
  char key[CACHE_KEY], content[CACHE_TEXT], path[CACHE_PATH];
  uint64_t v[SPEED_FIELDS];
  const char *why;
  cache c;
  for (int i = 0; i < SPEED_FIELDS; i++)
    v[i] = (uint64_t)(1e15 * from[i]);
  snprintf(content, sizeof content, FIELDS "\n", v[0], v[1], v[2], v[3], v[4]);
  cache_open(&c);
  make_key(key);
  (void)!cache_keep_bytes(&c, CACHE_SPEED, key, content, strlen(content), path, &why);
}

machine_speed speed_of_machine(bool measured) {
  machine_speed s = speed_usual;
  char key[CACHE_KEY];
  make_key(key);
  if (find(&s, key) || !measured)
    return s;
  if (measure(&s))
    speed_keep(&s);
  return s;
}
