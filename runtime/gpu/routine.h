// A routine of a plan (fusion/net/net.h) on a GPU: its kernels (kernels/routines/), compiled, and
// its temporary arrays.
//
//   cuda_routine *c;
//   if (cuda_routine_new(&c, d, plan, r, &source, &failure) && c && cuda_routine_place(c, addresses, &failure))
//     cuda_routine_launch(c);            // any number of times; may be recorded
//   cuda_routine_call(c, d, others, temporaries);   // on arrays of a call, on its stream
//   cuda_routine_free(c);
#ifndef PERMC_RUNTIME_GPU_ROUTINE_H
#define PERMC_RUNTIME_GPU_ROUTINE_H

#include "core/error.h"
#include "fusion/plan/plan.h"
#include "kernels/emit/emit.h"
#include "kernels/routines/launch.h"
#include "runtime/cpu/storage.h"
#include "runtime/cuda/code.h"
#include "runtime/cuda/cuda.h"

typedef struct cuda_routine cuda_routine;

// *out NULL: it has no kernels. False: *failure says why.
bool cuda_routine_new(cuda_routine **out, cuda_device *d, const plan *p, const plan_pass *pass,
                      const cuda_code_source *s, error *failure);
// Whether it makes the keys that another pass would make for it (fusion/plan/plan.h, keys).
bool cuda_routine_makes_keys(const cuda_routine *c);
// How a pass is executed: by its kernel, or by that routine (NULL: it is none, or the host's).
// `passes`, by pass, are zeros at first.
void cuda_describe_pass(storage_pass *passes, const plan *p, uint32_t number,
                        const c_pass_facts *facts, const cuda_routine *c);
void cuda_routine_free(cuda_routine *c);  // NULL is allowed
// Where the arrays of the plan are, by number, in launches from now on. It has temporaries of its
// own.
bool cuda_routine_place(cuda_routine *c, const cuda_address *addresses, error *failure);
// False: the device's message says why.
bool cuda_routine_launch(const cuda_routine *c);
// Launches kernels one after the other, on arrays at these addresses.
bool cuda_launch_all(cuda_device *d, uint32_t count, const routine_launch *launches,
                     const cuda_kernel *kernels, const cuda_address *addresses);
// On other arrays, with other temporaries, of so many bytes at a multiple of 256; by several
// threads at once, each with its own.
uint64_t cuda_routine_bytes(const cuda_routine *c);
bool cuda_routine_call(const cuda_routine *c, cuda_device *d, const cuda_address *addresses,
                       cuda_address temporaries);

// ---- written down, for other programs (runtime/ahead/) -------------------------------------------

// The GPU that launches are for.
typedef struct cuda_machine {
  uint32_t multiprocessors, shared_per_block;
} cuda_machine;

// The same without a device.
bool cuda_routine_describe(cuda_routine **out, const cuda_machine *m, const plan *p,
                           const plan_pass *pass, error *failure);
void cuda_routine_write(const cuda_routine *c, text *out);  // the text of its kernels
// Its launches in their order, on such arrays; of one of them the parameters, of 8 bytes each:
// returns how many.
const routine_launch *cuda_routine_launches(cuda_routine *c, const cuda_address *addresses,
                                            cuda_address temporaries, uint32_t *count);
uint32_t cuda_routine_parameters(const cuda_routine *c, const routine_launch *l,
                                 uint64_t values[LAUNCH_PARAMETERS]);
// What is to be 0 before the first launch.
cuda_address cuda_routine_state(const cuda_routine *c, uint64_t *bytes);

#endif
