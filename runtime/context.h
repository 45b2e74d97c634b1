// What is inside a permc_value: for runtime/ only.
#ifndef PERMC_RUNTIME_CONTEXT_H
#define PERMC_RUNTIME_CONTEXT_H

#include "runtime/permc.h"
#include "runtime/values/value.h"

struct permc_value {
  array *components;
  size_t count;
};

#endif
