// What the files of permc bench share.
//
//   verbs/bench.c           the verb: options, cases, rows
//   bench/program.c   a compiled program as a contestant; whether its result is right
//   bench/peer.c      another program as a contestant, in a process of its own
//   bench/show.c      rows as a table, compared with earlier ones, as a plot
#ifndef PERMC_TOOL_BENCH_BENCH_H
#define PERMC_TOOL_BENCH_BENCH_H

#include "runtime/tune/measure.h"
#include "tool/bench/report.h"
#include "tool/bench/suites.h"
#include "tool/cli.h"

// ---- programs --------------------------------------------------------------------------------

// What to run on what. Of types, sizes and files one at most is given.
typedef struct bench_request {
  const char *file, *expression, *entry;  // file and expression may be NULL
  const char *program;                    // a text instead of a file; may be NULL
  const char *types;
  const permc_size *sizes;
  size_t size_count;
  const char *const *paths;
  size_t path_count;
  uint64_t seed;
  const char *backend;
  const char *strategy;  // NULL: that of the options
  const char *layout;    // likewise
  unsigned threads;
  const cli_arguments *given;  // for the options of the cpu backend
  bool allow_extern;
  bool gpu_only;  // a failure where the backend cuda finds no GPU that can do it
} bench_request;

typedef struct bench_program {
  permc_context *context;
  permc_compiled *compiled;
  permc_value **arguments, **results;
  size_t argument_count, result_count;
  permc_times times;
  uint64_t passes;
  double read_seconds;
  bench_repeats repeats;
  bool on_device;  // its clock and its copies are the device's
  bench_repeats copy_repeats;
  char verified[48];  // how results are known to be right; "": they are too large to be looked at
} bench_program;

// Loads, reads, compiles and runs once. False: printed.
bool bench_program_open(bench_program *p, const bench_request *request);
void bench_program_close(bench_program *p);
bench_turn bench_program_turn;
bench_turn bench_device_copy_turn;  // of half of the program's bytes, where it is on a device

uint64_t bench_program_elements(const bench_program *p);  // of the arguments
uint64_t bench_program_bytes(const bench_program *p);     // of arguments and results

// Whether the results that the last turn left are right. True: p->verified is set. False: printed.
bool bench_program_verify(bench_program *p, const bench_request *request, const bench_case *c);

// ---- peers -----------------------------------------------------------------------------------

typedef struct bench_peer {
  int process;
  FILE *to, *from;
  char path[512];
} bench_peer;

bool bench_peer_exists(const char *folder, const char *name);
// Starts FOLDER/NAME; `arguments` are words between blanks. False: printed.
bool bench_peer_open(bench_peer *p, const char *folder, const char *name, const char *arguments,
                     unsigned threads);
void bench_peer_close(bench_peer *p);
bench_turn bench_peer_turn;

// ---- showing ---------------------------------------------------------------------------------

void bench_show_head(FILE *to, const bench_report *r);
void bench_show_row(FILE *to, const bench_row *row);
// Rows of the same name, suite, backend, strategy and number of threads.
void bench_show_changes(FILE *to, const bench_report *before, const bench_report *after);
// After the table: the figures of the BMMC paper, where the report has their rows.
void bench_show_figures(FILE *to, const bench_report *r);
void bench_show_plot(text *svg, const bench_report *r);

#endif
