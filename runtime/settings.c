// The settings of a context (permc.h).
#include "fusion/plan/plan.h"
#include "kernels/banks/banks.h"
#include "runtime/compiled/compiler.h"
#include "runtime/context/context.h"
#include "runtime/cuda/cuda.h"

void permc_allow_extern(permc_context *c, bool allow) { c->allow_extern = allow; }

void permc_use_threads(permc_context *c, unsigned threads) { c->threads = threads; }

void permc_use_fast_floats(permc_context *c, bool fast) { c->fuse = fast; }

bool permc_use_isa(permc_context *c, const char *name) {
  c->isa = compiler_isa_named(name);
  if (!c->isa)
    context_error(c, "there is no instruction set '%s' here", name);
  return c->isa != NULL;
}

bool permc_use_cuda_stream(permc_context *c, void *stream) {
  context_clear(c);
  c->stream = stream;
  if (!c->gpu.open || cuda_use_stream(c->gpu.open, stream))
    return true;
  context_error(c, "%s", cuda_message(c->gpu.open));
  return false;
}

bool permc_use_strategy(permc_context *c, const char *name) {
  c->strategy = name ? plan_strategy_named(name) : NULL;
  if (name && !c->strategy)
    context_error(c, "there is no strategy '%s'", name);
  return !name || c->strategy;
}

bool permc_use_layout(permc_context *c, const char *name) {
  c->layout = name ? bank_layout_kind_and_seed(name, &c->layout_seed) : NULL;
  if (name && !c->layout)
    context_error(c, "there is no layout '%s'", name);
  return !name || c->layout;
}
