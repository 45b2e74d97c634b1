// A plan on a GPU: its kernels compiled, its arrays placed in device memory, its passes recorded as
// one CUDA graph.
//
//   in    a Plan for a target whose lanes are threads (lane_bytes 0), its text; arrays
//   out   results, times, or a message
//
//   char why[CUDA_WHY];
//   cuda_device *d = cuda_open(0, why, sizeof why);
//   cuda_program *g = cuda_program_new(d, plan, &code, &(cuda_options){0}, &failure);
//   cuda_program_run(g, arguments, count, results, &failure);     // any number of times
//   cuda_program_free(g);
//
// For a plan of two passes, a0 -> a1 -> a2, and a table of roots:
//
//   text      permc_pass_0, permc_pass_1 (kernels/emit/emit.h)
//   cubins    one or several files, compiled by NVRTC in several threads for the device's own
//             architecture, or taken from the cache (runtime/system/cache.h)
//   memory    a buffer for each of a0, a1, a2; addresses of tables, then the table of roots
//   graph     permc_pass_0<<<blocks, threads>>>(0, a0, a1, imports) -> permc_pass_1(...)
//   run       a0 uploaded, graph launched, a2 downloaded
//
// Several devices (peers.h) have each array together, and each executes its part of the blocks of a
// pass; they wait for each other between passes. Routines of many rows are shared by rows.
// Blocks that wait for others, and other routines, are the first one's.
//
// Routines have kernels of their own (launch_table.h), in the same graph.
#ifndef PERMC_RUNTIME_GPU_PROGRAM_H
#define PERMC_RUNTIME_GPU_PROGRAM_H

#include "kernels/emit/emit.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/storage.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/peers.h"

typedef struct cuda_program cuda_program;

typedef struct cuda_options {
  // The devices of ranks, `d` being the first, for cuda_program_items alone: it has no arrays, and
  // no routines. NULL: it has.
  cuda_device *const *ranks;
  unsigned rank_count;  // at most CUDA_MOST_PEERS
  uint32_t shares;      // ... that arrays are in, of all ranks
  cuda_peers
      *peers;  // the devices that share the blocks of each pass, `d` being the first; NULL: `d`
  const atomic_bool *interrupted;  // may be NULL
  bool fuse;  // products and sums of floats may be rounded once: faster, other last bits
  bool no_cache;
  progress progress;  // told how many texts are compiled, where there are several
} cuda_options;

// From the plan and its text, whose kernels for runtime matrices become the program's. `d` and `p`
// must outlive it. NULL: *failure says why.
cuda_program *cuda_program_new(cuda_device *d, const plan *p, c_code *code, const cuda_options *o,
                               error *failure);
void cuda_program_free(cuda_program *g);  // NULL is allowed

// Runs it on arguments, by number, which stay as they are; arrays that the plan does not read may
// be {0}. `results`, by number: memory of the right size is reused, anything else is replaced.
// They are the caller's also on failure: *failure says why.
bool cuda_program_run(cuda_program *g, const array *arguments, size_t count, array *results,
                      error *failure);

// The items first ... last - 1 of a pass that is no routine (runtime/cpu/cpu.h), on the stream of
// device `rank`. By array of the plan: the address that element 0 has, or would have if the device
// had it; those of tables, too. False: the device's message says why.
bool cuda_program_items(const cuda_program *g, unsigned rank, uint32_t pass, uint64_t first,
                        uint64_t last, const cuda_address *addresses);

// A routine, of which the device executes all rows, or those of share `part`. *done: it has kernels
// for that. False: *failure.
bool cuda_program_routine(cuda_program *g, unsigned rank, uint32_t pass, bool all, uint32_t part,
                          const cuda_address *addresses, bool *done, error *failure);

// Seconds of the device's clock: of one run on the arguments of the last (they are still there),
// and of a copy of so many bytes within its memory; the mean of `runs`.
bool cuda_program_time(cuda_program *g, unsigned runs, double *seconds, error *failure);
// The same of one pass alone, on whatever its arrays hold.
bool cuda_program_time_pass(cuda_program *g, uint32_t pass, unsigned runs, double *seconds,
                            error *failure);
bool cuda_program_time_copy(cuda_program *g, uint64_t bytes, unsigned runs, double *seconds,
                            error *failure);

#endif
