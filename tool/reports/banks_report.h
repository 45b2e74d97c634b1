// What the accesses of a trace or of a plan cost under every bank layout: the report of permc
// banks.
//
//   banks_report r = {.title = "t.trace", .request = {.banks = 4, .words = 16, .seed = 1}};
//   bank_trace_add(&memory, &r.trace, 4, (uint64_t[]){0, 4, 8, 12});    // all in bank 0
//   banks_report_make(&memory, &r);
//   r.patterns[0]                  // stride 4: 1 access, 4 time units
//   r.best->kind->name             // "optimal", without conflicts
//   banks_report_text(&out, &r);
#ifndef PERMC_TOOL_REPORTS_BANKS_REPORT_H
#define PERMC_TOOL_REPORTS_BANKS_REPORT_H

#include "kernels/banks/banks.h"

typedef struct banks_pattern {  // the accesses of one pattern
  bank_pattern pattern;
  uint64_t accesses, units;  // units: of the layout raw
} banks_pattern;

typedef struct banks_candidate {  // a layout, and what it costs
  const bank_layout_kind *kind;
  bank_layout *layout;  // NULL: `wrong` says why
  const char *wrong;
  bank_cost cost;
} banks_candidate;

typedef struct banks_report {
  const char *title;  // the file, or the entry of a program
  bool of_plan;
  const bank_layout_kind *only;  // NULL: all layouts
  bank_trace trace;
  bank_layout_request request;  // banks, words, seed

  uint64_t accesses;  // of the trace, each as often as it happens
  uint64_t raw;       // conflicts without a layout
  banks_pattern *patterns;
  size_t pattern_count;
  VEC(banks_candidate) candidates;
  const banks_candidate *best;
  const bank_layout *of_data;  // the default where indices are data; NULL: no access is random
} banks_report;

// From title, of_plan, only, trace and request. NULL, or why there is no layout at all.
const char *banks_report_make(arena *a, banks_report *r);
void banks_report_text(text *to, const banks_report *r);
void banks_report_json(text *to, const banks_report *r);

#endif
