// Other people's code for what the suites of bench/run.py do, each a program that times itself:
//
//   std_sort --count 1048576     for each line of its input one turn, its seconds as a line; at the end
//                                of the input its name, or why what it has computed is wrong
//
// A program defines `this_peer` and links with peer.c, which has main. What it measures is one
// thing on its own random data, in memory of huge pages where there are such, faulted in before.
#ifndef PERMC_BENCH_PEER_H
#define PERMC_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer_options {
  uint64_t count;                // elements; 2^20 if not given
  uint64_t row;                  // elements in a row; all if not given
  uint64_t width;                // bytes in an element; 4 if not given
  unsigned threads;              // all processors if not given
  const char *algorithm, *type;  // of the peer's; its first ones if not given
  const char *offsets;           // a file of the 64-bit offsets of rows, NumPy's .npy; or NULL
} peer_options;

typedef struct peer {
  const char *name;
  unsigned most_threads;  // 0: as many as are asked for
  // Data, plans, threads: what is not measured. NULL, or why not.
  const char *(*prepare)(const peer_options *o);
  // The seconds of one run, everything that must be restored being restored before.
  bool (*turn)(double *seconds);
  // Whether the last turn's result is right: NULL, or what is wrong.
  const char *(*check)(void);
  // Words between blanks that --algorithm and --type allow: "best radix merge". NULL: none.
  const char *algorithms, *types;
  const char *(*chosen)(void);  // the algorithm that is measured; may be NULL
} peer;

extern const peer this_peer;

void *peer_memory(uint64_t bytes);  // NULL: there is none
void peer_random(void *memory, uint64_t bytes);
double peer_now(void);  // seconds
// One turn of work that may be repeated on the same data: short work is, see bench_time.
bool peer_time(bool (*work)(void *), void *with, double *seconds);

#ifdef __cplusplus
}
#endif

#endif
