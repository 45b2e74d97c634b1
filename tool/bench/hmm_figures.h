// Tables II and III of the HMM paper (section VIII) for the machine of a report: from the rows of
// the suite `hmm`, such as "random u32 2^22 by tiled" and "1000 random of 2^22 u32 by tiled".
//
//   Table II    five permutations of n elements of 32 and of 64 bits, by each strategy; published, and
//               on this machine, beside a copy
//   Table III   many random permutations of 2^22 elements: the least, the mean and the greatest time
//
// The paper calls its figures milliseconds; its GPU would be some hundred times slower than its
// memory is then, so that only ratios can be compared. Private to bench/.
#ifndef PERMC_TOOL_BENCH_HMM_FIGURES_H
#define PERMC_TOOL_BENCH_HMM_FIGURES_H

#include "tool/bench/report.h"

// Nothing where the report has no such rows.
void hmm_print_tables(text *to, const bench_report *r);

#endif
