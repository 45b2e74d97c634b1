// The main program of all peers: options, turns on demand, figures. See peer.h.
#include "peer.h"

#include "runtime/bench_report.h"
#include "runtime/pool.h"
#include "runtime/value.h"
#include <stdio.h>

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

double peer_now(void) { return bench_now(); }

bool peer_time(bool (*work)(void *), void *with, double *seconds) {
  static bench_repeats repeats;
  return bench_time(&repeats, work, with, seconds);
}

// ---- options ------------------------------------------------------------------------------------

static bool read_options(int argc, char **argv, peer_options *o, bool *turns) {
  for (int i = 1; i < argc; i++) {
    static const char *const names[] = {"--count", "--row", "--width", "--threads"};
    uint64_t *fields[] = {&o->count, &o->row, &o->width, NULL}, number = 0;
    if (strcmp(argv[i], "--turns") == 0) {
      *turns = true;
      continue;
    }
    size_t k = 0;
    while (k < 4 && strcmp(argv[i], names[k]) != 0)
      k++;
    if (k == 4 || i + 1 == argc || (number = strtoull(argv[i + 1], NULL, 10)) == 0)
      return false;
    if (fields[k])
      *fields[k] = number;
    else
      o->threads = (unsigned)number;
    i++;
  }
  return true;
}

// ---- running ------------------------------------------------------------------------------------

static bool say_wrong(void) {
  const char *wrong = this_peer.check();
  if (wrong)
    fprintf(stderr, "%s: %s\n", this_peer.name, wrong);
  return !wrong;
}

// Each line of input asks for a turn.
static bool serve(void) {
  double seconds;
  for (int c = getchar(); c != EOF; c = getchar()) {
    if (!this_peer.turn(&seconds))
      return false;
    printf("%.9g\n", seconds);
    fflush(stdout);
  }
  return say_wrong();
}

static bool turn(void *with, double *seconds) {
  (void)with;
  return this_peer.turn(seconds);
}

static bool measure(const peer_options *o) {
  bench_contestant one = {.name = this_peer.name, .turn = turn};
  if (!bench_measure(&one, 1, &bench_limits_default) || !say_wrong())
    return false;
  bench_row row = {.x = o->row,
                   .elements = o->count,
                   .bytes = 2 * o->count * o->width,
                   .threads = o->threads,
                   .seconds = one.figures};
  snprintf(row.series, sizeof row.series, "%s", this_peer.name);
  snprintf(row.name, sizeof row.name, "%s", this_peer.name);
  snprintf(row.verified, sizeof row.verified, "by itself");
  text json = {0};
  bench_row_write(&json, &row, "");
  printf("%s\n", json.data ? json.data : "");
  text_free(&json);
  bench_contestants_free(&one, 1);
  return true;
}

int main(int argc, char **argv) {
  peer_options o = {.count = 1 << 20, .width = 4, .threads = pool_processors()};
  bool turns = false;
  if (!read_options(argc, argv, &o, &turns)) {
    fprintf(stderr, "usage: %s [--count N] [--row N] [--width BYTES] [--threads N] [--turns]\n",
            argv[0]);
    return 2;
  }
  if (o.row == 0 || o.row > o.count)
    o.row = o.count;
  if (this_peer.most_threads && o.threads > this_peer.most_threads)
    o.threads = this_peer.most_threads;
  const char *wrong = this_peer.prepare(&o);
  if (wrong) {
    fprintf(stderr, "%s: %s\n", this_peer.name, wrong);
    return 1;
  }
  return (turns ? serve() : measure(&o)) ? 0 : 1;
}
