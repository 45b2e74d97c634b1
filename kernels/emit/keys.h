// Private to kernels/emit/: the function that makes a key of elements (fusion/plan/plan.h, keys).
#ifndef PERMC_KERNELS_EMIT_KEYS_H
#define PERMC_KERNELS_EMIT_KEYS_H

#include "kernels/ops/op.h"

// uint32_t partition_key(x, y, ...), of an element of each array that the stage loads, as unsigned
// numbers: what it stores.
void c_keys_write(c_writer *w, const net_stage *s, text *out);

#endif
