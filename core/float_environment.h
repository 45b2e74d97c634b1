// The way with floats that programs expect, around a call from a caller who may have another
// (rounding, denormals, exceptions) and gets it back. The C library does that in a tenth of a
// microsecond; where only vectors have anything of it to say, this in less.
//
//   float_environment e = float_environment_enter();
//   ...
//   float_environment_leave(&e);
#ifndef PERMC_CORE_FLOAT_ENVIRONMENT_H
#define PERMC_CORE_FLOAT_ENVIRONMENT_H

#include <fenv.h>
#include <stdbool.h>

typedef struct float_environment {
  bool vectors_alone;
  unsigned vectors;
  fenv_t all;
} float_environment;

static inline float_environment float_environment_enter(void) {
  float_environment e = {0};
#if defined(__x86_64__)
  const unsigned short usual_control = 0x37f;
  const unsigned usual = 0x1f80;
  unsigned short control;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  __asm__ volatile("stmxcsr %0" : "=m"(e.vectors));
  e.vectors_alone = control == usual_control;
  if (e.vectors_alone) {
    __asm__ volatile("ldmxcsr %0" : : "m"(usual));
    return e;
  }
#endif
  fegetenv(&e.all);
  fesetenv(FE_DFL_ENV);
  return e;
}

static inline void float_environment_leave(const float_environment *e) {
#if defined(__x86_64__)
  if (e->vectors_alone) {
    __asm__ volatile("ldmxcsr %0" : : "m"(e->vectors));
    return;
  }
#endif
  fesetenv(&e->all);
}

#endif
