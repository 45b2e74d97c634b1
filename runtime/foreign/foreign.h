// Foreign C functions: `extern "m" cosf : f32 -> f32`, found by dlopen, or given by the caller of
// permc (permc_define_extern); called through libffi, element by element.
//
//   c_function e = {"m", "hypot", 2, (scalar_type[]){SCALAR_F64, SCALAR_F64}, SCALAR_F64, NULL};
//   foreign *f = foreign_open(&e, true, &why);
//   foreign_call(f, n, (const void *const[]){x, y}, out);   // out[i] = hypot(x[i], y[i])
//   foreign_close(f);
#ifndef PERMC_RUNTIME_FOREIGN_FOREIGN_H
#define PERMC_RUNTIME_FOREIGN_FOREIGN_H

#include "core/error.h"
#include "core/scalar/c_function.h"
#include "kernels/text/host.h"

typedef struct foreign foreign;

// The library's name is as the linker's -l takes it ("m": libm.so, libm.so.6), or a file's name
// ("libm.so.6", "./mine.so"), or "" for the C library and what else the program has loaded.
// NULL: *why names the library and the function; without a place in the source, which the caller
// may add. `allowed`: whether the user lets programs call C functions, besides those that are
// given.
foreign *foreign_open(const c_function *e, bool allowed, error *why);
void foreign_close(foreign *f);  // NULL is allowed

// The function itself, for code that knows its type.
permc_foreign foreign_function(const foreign *f);

// out[i] = function(in[0][i], in[1][i], ...) for i < n. Any threads at once.
void foreign_call(const foreign *f, size_t n, const void *const *in, void *out);

#endif
