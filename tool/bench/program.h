// A compiled program as a contestant. Private to bench/.
#ifndef PERMC_TOOL_BENCH_PROGRAM_H
#define PERMC_TOOL_BENCH_PROGRAM_H

#include "tool/bench/bench.h"

typedef struct bench_program {
  permc_context *context;
  permc_compiled *compiled;
  permc_value **arguments, **results;
  size_t argument_count, result_count;
  permc_times times;
  uint64_t passes;
  double predicted;
  double read_seconds;
  bench_repeats repeats;
  bool on_device;  // its clock and its copies are the device's
  bench_repeats copy_repeats;
  bool directs;   // its first argument has places or offsets, which are not among what a copy moves
  bool draws;     // each turn has another permutation
  uint64_t seed;  // of the last one
  char verified[48];  // how results are known to be right; "": they are too large to be looked at
} bench_program;

// Loads, reads, compiles and runs once. False: reported.
bool bench_program_open(bench_program *p, const bench_request *request);
void bench_program_close(bench_program *p);
bench_turn bench_program_turn;
bench_turn bench_device_copy_turn;  // of bench_program_copied, where it is on a device

uint64_t bench_program_elements(const bench_program *p);  // of the arguments
uint64_t bench_program_bytes(const bench_program *p);     // of arguments and results
uint64_t bench_program_copied(const bench_program *p);    // bytes of the copy beside it

// Whether the results that the last turn left are right. True: p->verified is set. False: reported.
bool bench_program_verify(bench_program *p, const bench_request *request, const bench_case *c);

#endif
