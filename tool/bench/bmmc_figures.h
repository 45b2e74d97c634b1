// Figures 9, 10 and 11 of the BMMC paper (section 6) for the machine of a report: from the rows of
// the suite `bmmc` that name a strategy, such as "bit reversal u32 2^30 by tile+banks".
//
//   Figure 9    times of each strategy on the largest arrays that were measured, beside a copy
//   Figure 10   bytes per second that the passes read and write
//   Figure 11   how many times faster than `naive`, for each size
//
// "All optimisations" are `tile+banks+iters`; of a random BMMC, for which the paper has no
// iterations, `tile+banks`. Private to bench/.
#ifndef PERMC_TOOL_BENCH_BMMC_FIGURES_H
#define PERMC_TOOL_BENCH_BMMC_FIGURES_H

#include "tool/bench/report.h"

bool bmmc_is_row(const bench_row *row);  // for the figures
// A table for each figure. Nothing where the report has no such rows.
void bmmc_print_tables(text *to, const bench_report *r);
// A panel for each (tool/reports/chart.h), from `top` on; returns where they end.
int bmmc_draw(text *svg, const bench_report *r, int top);

#endif
