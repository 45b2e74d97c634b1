// What its caller knows to hold, of a call that is made for its other results.
#ifndef PERMC_CORE_ENSURE_H
#define PERMC_CORE_ENSURE_H

#include <assert.h>
#include <stdbool.h>

static inline void ensure(bool holds) {
  assert(holds);
  (void)holds;
}

#endif
