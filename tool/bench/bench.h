// The door of `permc bench`: in come cases (suites.h, or made from a command line), out go rows of
// figures (report.h), shown as tables, plots and JSON.
//
//   bench_request r = {.expression = "sort", .data = {.types = "[1024]u32"}, .args = args};
//   bench_case c = {.suite = "", .series = "sort", .name = "sort", .property = BENCH_INTERP};
//   bench_row row;
//   if (bench_run_case(&c, &r, NULL, &bench_limits_default, &row))
//     bench_show_row(stdout, &row);    // sort   4.1 us   3.9 us   1.2%   2.00   55.0%  (cpu, ...
//
// In reading order:
//
//   suites.h, suites.c     the cases of each suite
//   check.c                whether the result of such a case is right
//   program.h, program.c   a compiled program as a contestant
//   permutation.h, .c      the permutations that some of them are given
//   lengths.h, lengths.c   the rows of unequal length that others are given
//   peer.h, peer.c         another program as a contestant, in a process of its own
//   contest.c              a case: its contestants are opened, take turns, give a row
//   report.h, report.c     rows as JSON, and back
//   show.c                 rows as a table, and compared with earlier ones
//   plot.c                 rows as curves
//   bmmc_figures.h, .c     figures 9 to 11 of the BMMC paper, as tables and as plots
//   hmm_figures.h, .c      tables II and III of the HMM paper
#ifndef PERMC_TOOL_BENCH_BENCH_H
#define PERMC_TOOL_BENCH_BENCH_H

#include "runtime/measure/measure.h"
#include "tool/bench/report.h"
#include "tool/bench/suites.h"
#include "tool/cli/program.h"

// What to run on what.
typedef struct bench_request {
  const char *file, *expression, *entry;  // file and expression may be NULL
  const char *program;                    // a text instead of a file; may be NULL
  cli_data data;
  const char *backend;
  const char *strategy;  // NULL: that of the options
  const char *layout;    // likewise
  unsigned threads;
  uint32_t ranks;             // threads that share arrays; 1: none
  const cli_arguments *args;  // for the settings of contexts
  const char *permutation;    // that the first argument, of u32, is to be; NULL: none
  const char
      *lengths;    // that the rows are to have whose offsets are the first argument; NULL: none
  unsigned draws;  // as bench_case has it
  bool gpu_only;   // a failure where the backend cuda finds no GPU that can do it
} bench_request;

// Measures and verifies a case, beside a copy, the peers in the folder `peers` (NULL: none) and the
// program that the case names. False: reported.
bool bench_run_case(const bench_case *c, const bench_request *request, const char *peers,
                    const bench_limits *limits, bench_row *row);

// ---- showing ---------------------------------------------------------------------------------

void bench_show_head(FILE *to, const bench_report *r);
void bench_show_row(FILE *to, const bench_row *row);
// Rows of the same name, suite, backend, strategy and number of threads.
void bench_show_changes(FILE *to, const bench_report *before, const bench_report *after);
// After the table: the figures of the BMMC paper and the tables of the HMM paper, where the report
// has their rows.
void bench_show_figures(FILE *to, const bench_report *r);
// An SVG picture: the rows as curves, and the figures of the BMMC paper where it has their rows.
void bench_draw(arena *a, text *svg, const bench_report *r);

#endif
