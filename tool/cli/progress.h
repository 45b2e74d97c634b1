// The line that shows on a terminal how far long work is. It appears after a second, is the last
// line of standard error while the work goes on, and leaves no trace:
//
//   permc: reading 45 %, 1.2 GiB/s, 3 s left        permc: compiling, 12 s
//
// Contexts tell of their stages (permc_on_progress); a thread draws. Nothing is drawn where
// standard error is no terminal, or one without cursor control (TERM=dumb). NO_COLOR: not dimmed.
#ifndef PERMC_TOOL_CLI_PROGRESS_H
#define PERMC_TOOL_CLI_PROGRESS_H

#include "runtime/permc.h"

void cli_progress_start(void);                    // at most once, by main
void cli_progress_watch(permc_context *context);  // shows its stages
// The verb's own work, instead of the stages of contexts from now on: they cost nothing then.
void cli_progress_work(const char *stage, const char *unit, uint64_t done, uint64_t total);
void cli_progress_clear(void);  // before anything is printed: the line appears again later
void cli_progress_end(void);

#endif
