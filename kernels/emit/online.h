// A pass that only moves as data for the kernel that any matrix will do with
// (kernels/text/online.h).
#ifndef PERMC_KERNELS_EMIT_ONLINE_H
#define PERMC_KERNELS_EMIT_ONLINE_H

#include "kernels/text/writer.h"

typedef struct c_online {
  uint32_t bytes;                // of an element
  uint32_t threads, r, in, out;  // log2 of threads, elements of one, neighbours of one access
  uint64_t scratch_bytes;
  permc_online data;
} c_online;

// False: it is no pass of the strategy online that moves one array to another by maps that are
// affine in the index bits.
bool c_online_of(c_writer *w, const plan_pass *pass, c_online *out);

// The kernel's parameters and text, from behind its number on.
void c_online_write(c_writer *w, const c_online *o, text *out);
// "const permc_online permc_online_<number> = {...};"
void c_online_write_data(const permc_online *d, uint32_t number, text *out);

#endif
