// A routine of many rows (fusion/net/net.h) on several GPUs: each executes it on its part of the
// rows.
//
//   cuda_rows *r;
//   if (cuda_rows_new(&r, peers, plan, pass, &source, &failure) && r && cuda_rows_place(r, addresses, &failure))
//     cuda_rows_launch(r);               // any number of times; may be recorded
//   cuda_rows_free(r);
//
// Or one GPU executes it on one part of the rows, for a rank:
//
//   if (cuda_rows_new_part(&r, d, parts, plan, pass, &source, &failure) && r)
//     cuda_rows_run_part(r, part, addresses);
#ifndef PERMC_RUNTIME_GPU_ROWS_H
#define PERMC_RUNTIME_GPU_ROWS_H

#include "runtime/cuda/peers.h"
#include "runtime/gpu/routine.h"

typedef struct cuda_rows cuda_rows;

// *out NULL: it has no kernels, or its rows cannot be divided. False: *failure says why.
bool cuda_rows_new(cuda_rows **out, cuda_peers *peers, const plan *p, const plan_pass *pass,
                   const cuda_code_source *s, error *failure);
void cuda_rows_free(cuda_rows *r);  // NULL is allowed
// Where the arrays of the plan are, by number.
bool cuda_rows_place(cuda_rows *r, const cuda_address *addresses, error *failure);
// False: the message of the first of them says why.
bool cuda_rows_launch(const cuda_rows *r);

// The rows are divided among `parts`, of which `d` executes any.
bool cuda_rows_new_part(cuda_rows **out, cuda_device *d, uint32_t parts, const plan *p,
                        const plan_pass *pass, const cuda_code_source *s, error *failure);
// On the stream of `d`; addresses are those of whole arrays. False: the message of `d` says why.
bool cuda_rows_run_part(cuda_rows *r, uint32_t part, const cuda_address *addresses);

#endif
