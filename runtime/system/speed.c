// Copies, random places, and a chain of multiplications. See speed.h.
#include "runtime/system/speed.h"
#include "core/clock.h"
#include "core/number.h"
#include "core/text.h"
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

const machine_speed speed_usual = {
    2.7e-10, {9.2e-12, 1.1e-11, 2.7e-11}, 1.5e-11, {1.1e-9, 3e-9, 8.5e-9}};
// Of arrays that lie where the level says: each copy is of half as many.
static const double level_bytes[SPEED_LEVELS] = {1 << 19, 1 << 23, 1 << 26};

// Of arrays of so many bytes, from what it is at the levels: the logarithm of bytes counts.
static double between_levels(const double at[SPEED_LEVELS], double bytes) {
  for (int i = 0; i + 1 < SPEED_LEVELS; i++)
    if (bytes < level_bytes[i + 1]) {
      double part = log2(bytes / level_bytes[i]) / log2(level_bytes[i + 1] / level_bytes[i]);
      return part <= 0 ? at[i] : at[i] + part * (at[i + 1] - at[i]);
    }
  return at[SPEED_FAR];
}

double speed_byte_seconds(const machine_speed *s, double bytes, unsigned threads) {
  double one = between_levels(s->byte, bytes) / threads;
  double least = bytes >= level_bytes[SPEED_FAR] ? s->all : 0;
  return one > least ? one : least;
}

double speed_place_seconds(const machine_speed *s, double bytes) {
  return between_levels(s->place, bytes);
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

// Of a byte read or written by one of the threads.
static double measure_copy(char *memory, double bytes, unsigned threads) {
  copies c = {.memory = memory, .parts = (uint64_t)bytes / 2 / PART};
  double least = 1;
  for (int i = 0; i < TRIALS / (int)c.parts + 4; i++) {
    pool_run(threads, c.parts, 1, copy_parts, &c, NULL);
    qsort(c.seconds, c.parts, sizeof *c.seconds, compare_f64);
    double low = c.seconds[c.parts / 16];
    least = low < least ? low : least;
  }
  return least / (2 * PART);
}

// Of an element at a random place. The places wait for each other, what they hold for nothing. Others
// use the last cache and memory meanwhile, as they will when programs run: the median counts.
static double measure_place(const char *memory, double bytes) {
  enum { PLACES = 1 << 13, ELEMENT = 8 };
  uint64_t mask = (uint64_t)bytes / ELEMENT - 1, x = 1, sum = 0;
  const uint64_t *elements = (const uint64_t *)memory;
  volatile uint64_t sink;
  double seconds[TRIALS];
  for (uint64_t i = 0; i <= mask; i += ELEMENT)  // to where such an array lies
    sum += elements[i];
  for (int i = 0; i < TRIALS; i++) {
    double start = clock_seconds();
    for (int k = 0; k < PLACES; k++) {
      x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      sum += elements[x >> 32 & mask];
    }
    seconds[i] = clock_seconds() - start;
  }
  sink = sum;
  (void)sink;
  qsort(seconds, TRIALS, sizeof *seconds, compare_f64);
  return seconds[TRIALS / 2] / PLACES;
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
  for (int i = 0; i < SPEED_LEVELS; i++)
    s->place[i] = measure_place(memory, level_bytes[i]);
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
enum { SPEED_FIELDS = sizeof(machine_speed) / sizeof(double) };

static bool find(machine_speed *s, const char key[CACHE_KEY]) {
  double found[SPEED_FIELDS];
  char content[CACHE_TEXT], *at = content;
  cache c;
  cache_look(&c);
  if (!c.folder[0] || !cache_find_text(&c, CACHE_SPEED, key, content))
    return false;
  for (int i = 0; i < SPEED_FIELDS; i++) {
    char *end;
    uint64_t v = strtoull(at, &end, 10);
    if (end == at)
      return false;
    found[i] = 1e-15 * (double)(v ? v : 1);
    at = end;
  }
  memcpy(s, found, sizeof found);
  return true;
}

void speed_keep(const machine_speed *s) {
  double from[SPEED_FIELDS];
  char key[CACHE_KEY], path[CACHE_PATH];
  const char *why;
  FREED_BY(text_free) text content = {0};
  cache c;
  memcpy(from, s, sizeof from);
  for (int i = 0; i < SPEED_FIELDS; i++)
    text_printf(&content, "%" PRIu64 "\n", (uint64_t)(1e15 * from[i]));
  cache_open(&c);
  make_key(key);
  if (!content.failed)
    (void)!cache_keep_bytes(&c, CACHE_SPEED, key, content.data, content.length, path, &why);
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
