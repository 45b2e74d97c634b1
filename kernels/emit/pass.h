// Private to kernels/emit/: one pass as a C function: the tile's base addresses, then its phases,
// each a loop over threads.
#ifndef PERMC_KERNELS_EMIT_PASS_H
#define PERMC_KERNELS_EMIT_PASS_H

#include "kernels/emit/emit.h"
#include "kernels/text/text.h"

// Adds `void permc_pass_<number>(...)` to `out`, or what follows the number of a kernel, the
// functions that it calls to `functions`, and what it needs to w->definitions.
c_pass_facts c_pass_write(c_writer *w, c_context *c, text *out, text *functions, uint32_t number);

// The kernel of passes that are one, whose blocks look back (fusion/plan/plan.h).
c_pass_facts c_pass_write_look_back(c_writer *w, c_context *c, text *out, text *functions,
                                    const plan_look_back *l);

#endif
