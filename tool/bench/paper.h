// Figures 9, 10 and 11 of the BMMC paper (section 6) for the machine of a report: from the rows of
// the suite `bmmc` that name a strategy, such as "bit reversal u32 2^30 by tile+banks".
//
//   Figure 9    times of each strategy on the largest arrays that were measured, beside a copy
//   Figure 10   bytes per second, of what each pass reads and writes
//   Figure 11   how many times faster than `naive`, for each size
//
// "All optimisations" are `tile+banks+iters`; of a random BMMC, for which the paper has no
// iterations, `tile+banks`.
#ifndef PERMC_TOOL_BENCH_PAPER_H
#define PERMC_TOOL_BENCH_PAPER_H

#include "tool/bench/report.h"

// Whether the row is for the figures; whether a report has any.
bool bench_paper_row(const bench_row *row);
bool bench_paper_in(const bench_report *r);

// A table for each figure. Nothing where there are no rows.
void bench_paper_tables(text *to, const bench_report *r);
// A panel for each (bench/plot.h), from `top` on; returns where they end.
int bench_paper_draw(text *svg, const bench_report *r, int top);

#endif
