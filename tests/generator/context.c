// A context for many small programs: no thread and no stack of its own for each call, which would
// take longer than the programs.
#include "tests/generator/program.h"

#include "runtime/context/context.h"

permc_context *random_program_context(void) {
  permc_context *c = permc_context_new();
  if (c) {
    c->in_place = true;
    c->limits.stack = (size_t)4 << 20;
  }
  return c;
}
