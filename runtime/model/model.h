// The cost model of the backend `auto`: what each way to execute a program is predicted to take.
//
// In: a Trace, and the Plan for the processor that was made of it. Out: seconds. Each is a sum of
// counts times rates (model.c) times what the machine takes (runtime/system/speed.h). `auto`
// corrects them by what it sees while a program runs (runtime/adaptive/adaptive.h).
//
//   sort_network of 2^16 u32 by one thread with AVX-512
//
//                                counts                                    seconds
//   interp     1089 steps        40 MB of scalars, 33.6 M others           0.016
//   planning   1089 steps                                                  0.004
//   portable   3 passes          1.6 MB moved, 35.7 MB of minima           0.0008
//   text       544 nodes         0.23 MB                                   0.016
//   compile                      0.23 MB                                   1.6
//   compiled   3 passes          the same, 8.1 MB exchanged                0.0003
//
// So `auto` plans for one run (0.004 + 0.0008 is less than 0.016) and runs the passes uncompiled:
// writing the text to look for compiled code in the cache would take longer than all of the passes.
//
// With a GPU there are also the start of its driver (unless it runs), NVRTC in place of the
// compiler, and the way of the data there and back.
#ifndef PERMC_RUNTIME_MODEL_MODEL_H
#define PERMC_RUNTIME_MODEL_MODEL_H

#include "fusion/plan/plan.h"
#include "lang/trace.h"
#include "runtime/system/speed.h"

// Seconds of one pass.
typedef struct model_pass {
  double portable, compiled;
} model_pass;

typedef struct cost_model {
  machine_speed speed;
  double interp;    // the whole program, by interp
  double planning;  // from the Trace to the Plan
  double joins;     // the passes of a Trace that joins arrays, at least, portable
  // Of the Plan; 0 before model_add_plan.
  model_pass *passes;         // by pass
  double portable, compiled;  // their sums
  double bytes;               // of C text
  double text;                // writing the C text, and looking for its code in the cache
  double compile;             // by the C compiler, on processors that do nothing else
  double cuda, cuda_cached;   // the whole program by a GPU; where its code is in the cache
} cost_model;

cost_model model_of_trace(const trace *t, const machine_speed *speed, unsigned threads);
// `memory`: of m->passes. `gpu_runs`: its driver has been started.
void model_add_plan(cost_model *m, arena *memory, const plan *p, unsigned threads, bool gpu_runs);

// Of passes with so much C text: how many compilers work at once on `threads` processors, and how
// long; `headers`: they read those of the compiler as well; `lanes` are computed one by one
// (kernels/emit/emit.h).
unsigned model_compilers(uint64_t bytes, unsigned threads);
double model_compile_seconds(uint64_t bytes, bool headers, uint64_t lanes, unsigned threads);

// Of any backend that plans, as far as can be said before there is a Plan. Where planning is no
// large part of what interp takes, what the Plan says of arrays that are joined is worth waiting
// for.
double model_least_planned(const cost_model *m);
// Whether interp is done before there would be a Plan and its passes.
bool model_prefers_interp(const cost_model *m);
// Whether a GPU is faster than the processor, both with and without code in the cache.
bool model_prefers_gpu(const cost_model *m);

#endif
