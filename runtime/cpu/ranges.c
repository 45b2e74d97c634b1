#include "runtime/cpu/ranges.h"
#include "kernels/emit/emit.h"
#include "runtime/system/profiler.h"

#include <stdio.h>

void pass_range_begin(const plan *p, uint32_t first, uint32_t count) {
  char name[C_PASS_NAME], range[C_PASS_NAME + 32];
  if (!p->lines)
    return;
  if (count > 0)
    c_pass_name(p, first, name);
  snprintf(range, sizeof range, count > 1 ? "%s, %u passes" : "%s", count ? name : "permc", count);
  profiler_begin(range);
}

void pass_range_end(const plan *p) {
  if (p->lines)
    profiler_end();
}
