// The main program of all peers: options, turns on demand. See peer.h.
#include "peer.h"

#include "core/clock.h"
#include "runtime/measure/measure.h"
#include "runtime/system/pool.h"
#include "runtime/values/value.h"
#include <stdio.h>
#include <string.h>

// ---- for the peers ------------------------------------------------------------------------------

void *peer_memory(uint64_t bytes) {
  void *memory = array_memory(bytes);
  if (memory)
    memset(memory, 1, (size_t)bytes);
  return memory;
}

void peer_random(void *memory, uint64_t bytes) {  // SplitMix64, Steele, Lea and Flood 2014
  uint64_t state = 1, *word = memory;
  for (uint64_t i = 0; i < bytes / sizeof *word; i++) {
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    word[i] = z ^ (z >> 31);
  }
}

double peer_now(void) { return clock_seconds(); }

bool peer_time(bool (*work)(void *), void *with, double *seconds) {
  static bench_repeats repeats;
  return bench_time(&repeats, work, with, seconds);
}

// ---- options ------------------------------------------------------------------------------------

// The word of `list` that `wanted` is, as far as the list's first blank or end; NULL: it is none.
static const char *find_word(const char *list, const char *wanted) {
  size_t length = strlen(wanted);
  for (const char *word = list; word; word = strchr(word, ' ') ? strchr(word, ' ') + 1 : NULL)
    if (strncmp(word, wanted, length) == 0 && (word[length] == ' ' || !word[length]))
      return word;
  return NULL;
}

typedef struct number_option {
  const char *name;
  uint64_t *number;
} number_option;

typedef struct word_option {
  const char *name, *words;
  const char **word;
} word_option;

// Takes an option and its value. False: it is none, or not such.
static bool read_option(const number_option *numbers, const word_option *words, const char *name,
                        const char *value) {
  for (; numbers->name; numbers++)
    if (strcmp(name, numbers->name) == 0)
      return (*numbers->number = strtoull(value, NULL, 10)) > 0;
  for (; words->name; words++)
    if (strcmp(name, words->name) == 0 && find_word(words->words, value))
      return (*words->word = value) != NULL;
  return false;
}

static bool read_options(int argc, char **argv, peer_options *o) {
  uint64_t threads = o->threads;
  const number_option numbers[] = {{"--count", &o->count},
                                   {"--row", &o->row},
                                   {"--width", &o->width},
                                   {"--threads", &threads},
                                   {NULL, NULL}};
  const word_option words[] = {{"--algorithm", this_peer.algorithms, &o->algorithm},
                               {"--type", this_peer.types, &o->type},
                               {NULL, NULL, NULL}};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--offsets") == 0 && i + 1 < argc)
      o->offsets = argv[++i];
    else if (strcmp(argv[i], "--kernel") == 0 && find_word(this_peer.algorithms, "kernel"))
      o->algorithm = "kernel";
    else if (i + 1 == argc || !read_option(numbers, words, argv[i], argv[i + 1]))
      return false;
    else
      i++;
  }
  o->threads = (unsigned)threads;
  return true;
}

static void say_words(const char *option, const char *words) {
  fprintf(stderr, " [%s ", option);
  for (const char *c = words; *c; c++)
    fputc(*c == ' ' ? '|' : *c, stderr);
  fputc(']', stderr);
}

static void say_usage(const char *program) {
  fprintf(stderr, "usage: %s [--count N] [--row N] [--width BYTES] [--threads N]", program);
  if (this_peer.algorithms)
    say_words("--algorithm", this_peer.algorithms);
  if (find_word(this_peer.algorithms, "kernel"))
    fprintf(stderr, " [--kernel]");
  if (this_peer.types)
    say_words("--type", this_peer.types);
  fprintf(stderr, "\n");
}

// ---- running ------------------------------------------------------------------------------------

// Each line of input asks for a turn; at its end comes what was measured.
static bool serve(void) {
  double seconds;
  for (int c = getchar(); c != EOF; c = getchar()) {
    if (!this_peer.turn(&seconds))
      return false;
    printf("%.9g\n", seconds);
    fflush(stdout);
  }
  const char *wrong = this_peer.check(), *chosen = this_peer.chosen ? this_peer.chosen() : "";
  if (wrong)
    fprintf(stderr, "%s: %s\n", this_peer.name, wrong);
  else
    printf("%s%s%s\n", this_peer.name, *chosen ? ", " : "", chosen);
  return !wrong;
}

int main(int argc, char **argv) {
  peer_options o = {.count = 1 << 20, .threads = pool_processors()};
  if (!read_options(argc, argv, &o)) {
    say_usage(argv[0]);
    return 2;
  }
  if (o.width == 0)
    o.width = o.type && strcmp(o.type, "u32pair") == 0 ? 8 : 4;
  if (o.row == 0 || o.row > o.count)
    o.row = o.count;
  if (this_peer.most_threads && o.threads > this_peer.most_threads)
    o.threads = this_peer.most_threads;
  const char *wrong = this_peer.prepare(&o);
  if (wrong) {
    fprintf(stderr, "%s: %s\n", this_peer.name, wrong);
    return 1;
  }
  return serve() ? 0 : 1;
}
