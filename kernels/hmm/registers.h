// Private to kernels/hmm: what the threads of a plan hold in registers while a machine
// executes it with words (hmm/plan.h), and what they compute.
//
// A slot of a pass is in 2^r registers of each thread, as its phase has it. The lanes of a warp
// compute together, each node of an op for 32 cosets at once, by the functions that interp has its
// results from (core/scalar/scalar.h), so that results are equal to the bit.
//
//   2^r = 4 registers, an op with the direction of register bit 1, coordinate x1 ^ t0 (t0: a bit of
//   the thread)
//     cosets            registers 0, 2 and 1, 3
//     element 0 is in   register 0 of even lanes, 2 of odd ones: the register bit is XORed with t0
#ifndef PERMC_KERNELS_HMM_REGISTERS_H
#define PERMC_KERNELS_HMM_REGISTERS_H

#include "kernels/hmm/plan.h"
#include "kernels/schedule/schedule.h"

typedef struct hmm_registers hmm_registers;

// NULL, or a sentence: what the pass computes that threads here cannot.
const char *hmm_registers_problem(const plan *of, uint32_t number);
// What the registers of a warp take.
uint64_t hmm_registers_bytes(const c_pass *pass);
// Of so many warps at once. `pass` and `arrays` must outlive it: what gathers and scatters read and
// write lies in these when the phase is computed.
hmm_registers *hmm_registers_new(arena *a, const c_pass *pass, const hmm_arrays *arrays,
                                 uint64_t warps);
// Of the lanes at gather or scatter `number` of the phase that the warp has computed last: which
// elements of the array, or HMM_IDLE.
const uint64_t *hmm_registers_places(const hmm_registers *r, uint64_t warp, uint32_t number);
// Where the register of a lane is. `number`: r bits, and above them the part of a complex number.
unsigned char *hmm_register(const hmm_registers *r, uint32_t phase, uint64_t warp, uint32_t slot,
                            uint32_t number, uint32_t lane);
// What a thread that holds nothing but padding puts in scratch in its place.
const unsigned char *hmm_register_padding(const hmm_registers *r, uint32_t phase, uint32_t slot,
                                          uint32_t number);
// Before the first access of the phase: what loads leave out is padding.
void hmm_registers_begin(hmm_registers *r, uint32_t phase, uint64_t warp);
// All ops of the phase. `item`: which tile of the pass; `block_warp`: which warp of its block.
void hmm_registers_compute(hmm_registers *r, uint32_t phase, uint64_t warp, uint64_t item,
                           uint64_t block_warp);

#endif
