// How far long work is, told to whoever wants to know while it goes on.
//
//   progress p = {.report = on_progress, .with = bar};     // {0}: nobody
//   progress_report(&p, 3, 40);                            // 3 of 40 done
#ifndef PERMC_CORE_PROGRESS_H
#define PERMC_CORE_PROGRESS_H

#include <stdint.h>

typedef struct progress {
  void (*report)(void *with, uint64_t done,
                 uint64_t total);  // total 0: not known; else at least done
  void *with;
} progress;

static inline void progress_report(const progress *p, uint64_t done, uint64_t total) {
  if (p->report)
    p->report(p->with, total && done > total ? total : done, total);
}

#endif
