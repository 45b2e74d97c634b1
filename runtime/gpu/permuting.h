// Private to runtime/gpu/: the routine permute (fusion/net/net.h) by the kernels of
// kernels/routines/permute/permute.h.
//
//   in    a pass that is the routine, and in each run the argument with the places
//   out   kernels compiled and a schedule on the device, when the places are known; launches
//
//   cuda_permuting *r = cuda_permuting_new(d, plan, pass);
//   cuda_permuting_prepare(r, d, p, &source, flag, &changed, &failure)    a schedule, unless p is the last one's
//   cuda_permuting_launch(r, d, addresses, between)       any number of times; may be recorded
//
// By one thread at a time.
#ifndef PERMC_RUNTIME_GPU_PERMUTING_H
#define PERMC_RUNTIME_GPU_PERMUTING_H

#include "core/error.h"
#include "fusion/plan/plan.h"
#include "runtime/cuda/code.h"
#include "runtime/cuda/cuda.h"

typedef struct cuda_permuting cuda_permuting;

// NULL: the pass is another, or memory is out.
cuda_permuting *cuda_permuting_new(cuda_device *d, const plan *p, const plan_pass *pass);
void cuda_permuting_free(cuda_permuting *r);  // NULL is allowed

net_id cuda_permuting_places(const cuda_permuting *r);  // the array of the places, an argument

// `places`: the elements of that array, a permutation. *changed: launches are others from now on;
// those before have ended, on all streams. Work goes to the stream of `d`. False: *failure says
// why.
bool cuda_permuting_prepare(cuda_permuting *r, cuda_device *d, const void *places,
                            const cuda_code_source *made_of, const atomic_bool *interrupted,
                            bool *changed, error *failure);
// The bytes of an array between launches; 0: there is none. It has one of its own for launches that
// may be recorded, after cuda_permuting_allocate. False: the device's message says why.
uint64_t cuda_permuting_between(const cuda_permuting *r);
bool cuda_permuting_allocate(cuda_permuting *r);
// `addresses`: of all arrays of the plan, by number. `between` 0: its own. False: the message of
// `d` says why.
bool cuda_permuting_launch(cuda_permuting *r, cuda_device *d, const cuda_address *addresses,
                           cuda_address between);

#endif
