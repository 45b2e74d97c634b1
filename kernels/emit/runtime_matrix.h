// Private to kernels/emit/: the kernel of a pass whose matrix comes as data
// (kernels/schedule/runtime_matrix.h).
#ifndef PERMC_KERNELS_EMIT_RUNTIME_MATRIX_H
#define PERMC_KERNELS_EMIT_RUNTIME_MATRIX_H

#include "kernels/schedule/schedule.h"
#include "kernels/text/text.h"

// The kernel's parameters and text, from behind its number on.
void c_runtime_matrix_write(c_writer *w, const c_runtime_matrix *o, text *out);
// "const permc_runtime_matrix permc_runtime_matrix_<number> = {...};"
void c_runtime_matrix_write_data(const permc_runtime_matrix *d, uint32_t number, text *out);

#endif
