#include "runtime/hmm/memory.h"

#include "runtime/system/memory.h"

#include <stdio.h>

bool hmm_memory_fits(double bytes, char why[HMM_MEMORY_WHY]) {
  const char *owner = "";
  uint64_t limit = interp_memory_limit(&owner);
  char needed[32], has[32];
  if (bytes <= (double)limit)
    return true;
  interp_format_bytes(needed, sizeof needed, bytes < 0x1p64 ? (uint64_t)bytes : UINT64_MAX);
  interp_format_bytes(has, sizeof has, limit);
  snprintf(why, HMM_MEMORY_WHY, "%s of memory; %s %s", needed, owner, has);
  return false;
}
