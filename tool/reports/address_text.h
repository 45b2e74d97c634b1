// Memory accesses as text: numbers, decimal or hexadecimal, less than 2^48.
//
//   # Shared memory of a transpose of 4 x 4, in words: a line per access of a warp.
//   0 1 2 3          # in the order of the threads, those that take part
//   0, 4, 8, 12      # commas will do, too
//   0x10 0x14 24     # as many as there are, up to 1024
//
// In a TRACE a line is an access, and lines without an address say nothing. In a LIST all numbers
// come one after the other, on any lines.
#ifndef PERMC_TOOL_REPORTS_ADDRESS_TEXT_H
#define PERMC_TOOL_REPORTS_ADDRESS_TEXT_H

#include "kernels/banks/banks.h"

// Adds the accesses to *trace or, where that is NULL, the numbers to *list. False: *line, from 1 on,
// and *wrong say what is wrong with the text; line 0 is the whole of it.
typedef VEC(uint64_t) address_list;
bool address_text_read(arena *a, const char *bytes, size_t length, bank_trace *trace,
                       address_list *list, size_t *line, const char **wrong);

#endif
