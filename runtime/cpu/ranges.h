// Ranges of profilers (runtime/system/profiler.h) around passes, by the names that their functions
// have. Without a profiler a plan has no lines, and nothing is done.
//
//   pass_range_begin(plan, 3, 1);     the name of c_pass_name
//   ...
//   pass_range_end(plan);
#ifndef PERMC_RUNTIME_CPU_RANGES_H
#define PERMC_RUNTIME_CPU_RANGES_H

#include "fusion/plan/plan.h"

// Around so many passes from this one on: its name, and how many they are.
void pass_range_begin(const plan *p, uint32_t first, uint32_t count);
void pass_range_end(const plan *p);

#endif
