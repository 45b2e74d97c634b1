// C functions that a program calls: what `extern` declares. A row of a Trace and of a Net; how they
// are called: runtime/foreign/foreign.h.
//
//   extern "m" hypot : f64 -> f64 -> f64        {"m", "hypot", 2, {f64, f64}, f64, NULL}
#ifndef PERMC_CORE_SCALAR_C_FUNCTION_H
#define PERMC_CORE_SCALAR_C_FUNCTION_H

#include "core/scalar/scalar.h"

enum { C_FUNCTION_TYPES = 64 };  // at most, with the result

// A function that the caller of permc has given for the `extern` of that name
// (permc_define_extern). With `with`, which is not NULL: that comes before the operands. It lives
// as long as the context.
typedef struct c_callback {
  struct c_callback *next;  // given before it
  const char *name;
  uint32_t arity;
  scalar_type *types;  // of the parameters, then the result; NULL: those of the declaration
  void (*function)(void);
  void *with;
} c_callback;

typedef struct c_function {
  const char *library, *name;
  uint32_t arity;
  scalar_type *parameters;
  scalar_type result;
  const c_callback *callback;  // instead of the library's; NULL: there is none
} c_function;

#endif
