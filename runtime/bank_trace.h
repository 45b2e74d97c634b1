// Traces of memory accesses, as text.
//
//   # Shared memory of a transpose of 4 x 4, in words: a line per access of a warp.
//   0 1 2 3          # in the order of the threads, those that take part
//   0, 4, 8, 12      # commas will do, too
//   0x10 0x14 24     # as many as there are, up to 1024
//
// Lines without an address say nothing. Addresses are numbers of words (of as many bytes as a bank
// is wide), decimal or hexadecimal, less than 2^48.
#ifndef PERMC_RUNTIME_BANK_TRACE_H
#define PERMC_RUNTIME_BANK_TRACE_H

#include "kernels/banks.h"

// Adds the accesses of a text. False: *line, from 1 on, and *wrong say what is wrong with it; line
// 0 is the whole of it.
bool bank_trace_read(arena *a, const char *bytes, size_t length, bank_trace *out, size_t *line,
                     const char **wrong);

#endif
