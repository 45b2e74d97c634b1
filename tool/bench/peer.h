// Other programs as contestants. Private to bench/.
#ifndef PERMC_TOOL_BENCH_PEER_H
#define PERMC_TOOL_BENCH_PEER_H

#include "runtime/measure/measure.h"
#include <stdio.h>

typedef struct bench_peer {
  int process;
  FILE *to, *from;
  char path[512];
} bench_peer;

bool bench_peer_exists(const char *folder, const char *name);
// Starts FOLDER/NAME; `arguments` are words between blanks. False: reported.
bool bench_peer_open(bench_peer *p, const char *folder, const char *name, const char *arguments,
                     unsigned threads);
void bench_peer_close(bench_peer *p);
bench_turn bench_peer_turn;

#endif
