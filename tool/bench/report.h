// What was measured: rows of figures with where and when, as JSON and back.
//
//   {"permc": "0.2.0", "date": "2026-11-21T14:00:00Z", "processors": 2, ...
//    "rows": [
//      {"suite": "sort", "series": "sort u32", "name": "sort u32 2^20", ...
//       "seconds": {"runs": 31, "median": 0.00123, "least": 0.00121, "low": 0.00122,
//                   "high": 0.00125},
//       "beside": [{"name": "copy", "seconds": {...},
//                   "ratio": {"runs": 31, "median": 4.1, "least": 0, "low": 4.0, "high": 4.2}}]}
//    ]}
//
// A ratio is permc's time divided by the copy's, in the same round: less than 1 is faster. Rows of
// bench/run.py have more members, and peers beside the copy; what is not read here is left out.
#ifndef PERMC_TOOL_BENCH_REPORT_H
#define PERMC_TOOL_BENCH_REPORT_H

#include "core/text.h"
#include "runtime/measure/measure.h"

typedef struct bench_row {
  char suite[16], series[48], name[96], backend[16];
  char strategy[32];         // that was asked for; "": none
  char device[160];          // that it ran on; "": the processor
  char verified[48];         // how the result is known to be right; "": it was not checked
  uint64_t elements, bytes;  // of the arguments; of arguments and results
  uint64_t passes;           // over memory; 0: not known
  unsigned threads;
  double elaborate, plan, compile, read;  // seconds before the first run
  double predicted;                       // seconds of a run, by the cost model; 0: not known
  bench_figures seconds;
  bool has_copy;
  bench_figures copy, copy_ratio;  // seconds of the copy; of the row's to the copy's
} bench_row;

typedef struct bench_report {
  char permc[16], date[32], system[96], processor[96], features[32];
  char built_by[64];   // the compiler of permc
  char compiler[256];  // the one of its programs
  unsigned processors;
  double load;  // the system's load in the last minute before the first row
  VEC(bench_row) rows;
} bench_report;

// Fills in all but the rows.
void bench_report_begin(bench_report *r);
void bench_report_write(text *to, const bench_report *r);
// False: *wrong has a sentence. The rows are in the arena.
bool bench_report_read(arena *memory, const char *bytes, size_t length, bench_report *r,
                       text *wrong);

#endif
