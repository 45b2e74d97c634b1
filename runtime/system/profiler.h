// Names for profilers: ranges of NVTX, the interface of NVIDIA's tools. A tool that attaches to the
// process gives the path of its library in NVTX_INJECTION64_PATH, as Nsight Systems does; without
// it nothing is loaded, and nothing is done.
//
//   if (profiler_wants_names())
//     places = ...;
//   profiler_begin("pass 0, sort.perm:12");     ranges of a thread nest
//   profiler_end();
#ifndef PERMC_RUNTIME_SYSTEM_PROFILER_H
#define PERMC_RUNTIME_SYSTEM_PROFILER_H

#include <stdbool.h>

// Whether code shall say where in a program it comes from: a tool is attached, or PERMC_PROFILE is
// set, for tools that read the names of functions (perf, gdb).
bool profiler_wants_names(void);
void profiler_begin(const char *name);
void profiler_end(void);

#endif
