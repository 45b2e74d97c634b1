// The door of `permc bench`: in come a program and its arguments, out goes a row of figures
// (report.h), shown in a table and written as JSON.
//
//   bench_request r = {.name = "sort", .series = "sort", .expression = "sort", .entry = "-e",
//                      .data = {.types = "[1024]u32"}, .ranks = 1, .args = args};
//   bench_row row;
//   if (bench_measure_program(&r, &bench_limits_default, &row))
//     bench_show_row(stdout, &row);    // sort   4.1 us   3.9 us   1.2%   2.00   55.0%  (cpu, ...
//
// In reading order: contest.c (a program and a copy: opened, taking turns, verified), report.c (rows
// as JSON, and back), show.c (rows as a table, and compared with earlier ones). Suites of programs,
// beside other people's code for the same tasks, are in bench/run.py, which asks for turns.
#ifndef PERMC_TOOL_BENCH_BENCH_H
#define PERMC_TOOL_BENCH_BENCH_H

#include "runtime/measure/measure.h"
#include "tool/bench/report.h"
#include "tool/cli/program.h"

// What to run on what.
typedef struct bench_request {
  const char *name, *series;              // of the row: "sort n=10", "sort"
  const char *file, *expression, *entry;  // file and expression may be NULL
  cli_data data;
  const char *backend;
  unsigned threads;           // 0: as many as there are processors
  uint32_t ranks;             // threads that share arrays; 1: none
  const cli_arguments *args;  // for the settings of contexts
} bench_request;

// Measures a program in turn with a copy of as many bytes, and verifies its results by interp, as
// far as they are small. False: reported.
bool bench_measure_program(const bench_request *request, const bench_limits *until, bench_row *row);
// The same, but that standard input asks for the turns, by a line for each: an empty one for one of
// the program, "copy" for one of the copy. The answer is a line with the seconds of a run. At the
// end of the input the results go to the files of -o, if there are any; then interp does not verify
// them. The row has no figures.
bool bench_serve_turns(const bench_request *request, bench_row *row);

// ---- showing ---------------------------------------------------------------------------------

void bench_show_head(FILE *to, const bench_report *r);
void bench_show_row(FILE *to, const bench_row *row);
// Rows of the same name, suite, backend, strategy and number of threads.
void bench_show_changes(FILE *to, const bench_report *before, const bench_report *after);

#endif
